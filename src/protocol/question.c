/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions for pairs, then triples: signed, and limited to values known to be common enough. */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/joint.h"
#include "protocol/paper.h"

static const char HEADER[] = "cellar collect question 1";
static const char WORDS[] =
    "who has a combination of which a part is not listed answers 'other'; what is listed tells "
    "everybody which values are shared by at least 'common' people";

/* ---- what to ask ----------------------------------------------------------- */

/* Single columns as joints of one column each. */
static cellar_status singles_make(const cellar_collect_margins *margins,
                                  const cellar_invitation *invitation, joint **out,
                                  cellar_error *err)
{
    *out = cellar_alloc(invitation->n_columns, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "a question");
    for (size_t c = 0; c < invitation->n_columns; c++) {
        joint *j = &(*out)[c];
        j->set = (column_set){1, {c}};
        for (uint32_t v = 0; v < cellar_codelist_n_codes(invitation->codes[c]); v++) {
            const uint32_t levels[JOINT_MOST] = {v};
            if (margins->counts[c][v] > 0 && !joint_add(j, levels, margins->counts[c][v]))
                return cellar_fail_memory(err, "a question");
        }
    }
    return CELLAR_OK;
}

/* A set whose exposure alone is too large stays so in company: it is not worth asking about. */
static int joint_is_safe(const joint *j, const cellar_collect_margins *margins,
                         const cellar_invitation *invitation)
{
    return (double) joint_exposed(j, invitation->terms.k) <=
           cellar_invitation_exposure(invitation) * (double) margins->n_people;
}

static int set_is_known(const joint *const *safe, size_t n, const column_set *set)
{
    for (size_t i = 0; i < n; i++)
        if (column_set_same(&safe[i]->set, set))
            return 1;
    return 0;
}

/* All sets of one column more whose parts are all safe. */
static void sets_grow(const joint *const *safe, size_t n, const cellar_invitation *invitation,
                      column_set *asked, size_t *n_asked)
{
    for (size_t i = 0; i < n; i++) {
        column_set set = safe[i]->set;
        size_t last = set.columns[set.n++ - 1];
        for (size_t c = last + 1; c < invitation->n_columns && *n_asked < JOINT_SETS_MAX; c++) {
            int all = 1;
            set.columns[set.n - 1] = c;
            for (size_t left_out = 0; left_out < set.n && all; left_out++) {
                column_set part = column_set_without(&set, left_out);
                all = set_is_known(safe, n, &part);
            }
            if (all)
                asked[(*n_asked)++] = set;
        }
    }
}

/* ---- writing --------------------------------------------------------------- */

static void numbers_add(cellar_text *text, const char *name, const size_t *numbers, size_t n)
{
    cellar_text_add_string(text, name);
    for (size_t i = 0; i < n; i++)
        cellar_text_printf(text, " %zu", numbers[i]);
    cellar_text_add_char(text, '\n');
}

static void known_add(cellar_text *text, const joint *j, uint64_t common)
{
    uint64_t n = 0;
    for (size_t i = 0; i < j->n_cells; i++)
        n += j->cells[i].count >= common;
    numbers_add(text, "set", j->set.columns, j->set.n);
    lines_add_number(text, "cells", n);
    for (size_t i = 0; i < j->n_cells; i++) {
        size_t levels[JOINT_MOST] = {0};
        for (size_t c = 0; c < j->set.n; c++)
            levels[c] = j->cells[i].levels[c];
        if (j->cells[i].count >= common)
            numbers_add(text, "cell", levels, j->set.n);
    }
}

static void question_write(const joint *const *safe, size_t n, const column_set *asked,
                           size_t n_asked, const cellar_invitation *invitation, cellar_text *text)
{
    paper_write_head(HEADER, invitation, text);
    lines_add_number(text, "order", asked[0].n);
    lines_add_number(text, "common", invitation->terms.common);
    lines_add_number(text, "known", n);
    for (size_t i = 0; i < n; i++)
        known_add(text, safe[i], invitation->terms.common);
    lines_add_number(text, "asked", n_asked);
    for (size_t i = 0; i < n_asked; i++)
        numbers_add(text, "set", asked[i].columns, asked[i].n);
    lines_add(text, "note", WORDS);
}

cellar_status cellar_question_create(const cellar_collect_margins *margins,
                                     const cellar_collect_joints *pairs,
                                     const cellar_invitation *invitation,
                                     const cellar_collect_keys *curator, cellar_question **out,
                                     cellar_error *err)
{
    joint *singles = NULL;
    const joint **safe = NULL;
    column_set *asked = cellar_alloc(JOINT_SETS_MAX, sizeof *asked);
    cellar_text text = {0};
    size_t n = pairs != NULL ? pairs->n : invitation->n_columns, n_safe = 0, n_asked = 0;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    if (invitation->terms.order < (pairs != NULL ? 3 : 2))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "the invitation does not say that so much would be asked"));
    CELLAR_TRY(singles_make(margins, invitation, &singles, err));
    safe = cellar_alloc(n, sizeof *safe);
    if (safe == NULL || asked == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    for (size_t i = 0; i < n; i++) {
        const joint *j = pairs != NULL ? &pairs->joints[i] : &singles[i];
        if (joint_is_safe(j, margins, invitation))
            safe[n_safe++] = j;
    }
    sets_grow(safe, n_safe, invitation, asked, &n_asked);
    if (n_asked == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE, "there is nothing left that is safe to ask"));
    question_write(safe, n_safe, asked, n_asked, invitation, &text);
    lines_sign(&text, curator);
    if (text.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    CELLAR_TRY(
        cellar_question_parse("the question", text.bytes, text.length, invitation, out, err));
out:
    if (singles != NULL)
        joints_free(singles, invitation->n_columns);
    cellar_free(safe);
    cellar_free(asked);
    cellar_text_clear(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------- */

/* "name 1 2": n whole numbers, each below its limit. */
static cellar_status take_numbers(cellar_lines *lines, const char *name, size_t n,
                                  const size_t *limits, size_t *out, cellar_error *err)
{
    cellar_text again = {0};
    const char *value, *at;
    size_t length, taken = 0;
    int ok = 1;
    cellar_status status = CELLAR_OK;

    CELLAR_ASSERT(n <= JOINT_MOST);
    CELLAR_TRY(lines_take(lines, name, &value, &length, err));
    at = value;
    for (; taken < n && ok; taken++) {
        const char *end = memchr(at, ' ', length - (size_t) (at - value));
        size_t digits = end != NULL ? (size_t) (end - at) : length - (size_t) (at - value);
        uint64_t number;
        ok = cellar_parse_u64(at, digits, &number) && number < limits[taken];
        out[taken] = ok ? (size_t) number : 0;
        at += digits + (end != NULL);
    }
    numbers_add(&again, name, out, n); /* one text for one meaning */
    if (again.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    if (!ok || again.length != strlen(name) + 1 + length + 1 ||
        memcmp(again.bytes + strlen(name) + 1, value, length) != 0)
        CELLAR_TRY(lines_fail(lines, "columns or values of the invitation above", err));
out:
    cellar_text_clear(&again);
    return status;
}

/* Columns of the invitation, ascending. */
static cellar_status take_set(cellar_lines *lines, size_t order,
                              const cellar_invitation *invitation, column_set *out,
                              cellar_error *err)
{
    const size_t n = invitation->n_columns, limits[JOINT_MOST] = {n, n, n};
    cellar_status status = CELLAR_OK;

    out->n = order;
    CELLAR_TRY(take_numbers(lines, "set", order, limits, out->columns, err));
    for (size_t i = 1; i < order; i++)
        if (out->columns[i] <= out->columns[i - 1])
            CELLAR_TRY(lines_fail(lines, "ascending columns above", err));
out:
    return status;
}

static cellar_status take_known(cellar_lines *lines, size_t order,
                                const cellar_invitation *invitation, joint *out, cellar_error *err)
{
    size_t limits[JOINT_MOST] = {0}, levels[JOINT_MOST] = {0};
    uint64_t n;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(take_set(lines, order - 1, invitation, &out->set, err));
    for (size_t i = 0; i < out->set.n; i++)
        limits[i] = cellar_codelist_n_codes(invitation->codes[out->set.columns[i]]);
    CELLAR_TRY(lines_take_number(lines, "cells", &n, err));
    for (uint64_t c = 0; c < n; c++) {
        uint32_t cell[JOINT_MOST] = {0};
        CELLAR_TRY(take_numbers(lines, "cell", out->set.n, limits, levels, err));
        for (size_t i = 0; i < out->set.n; i++)
            cell[i] = (uint32_t) levels[i];
        if (!joint_add(out, cell, 0))
            CELLAR_TRY(cellar_fail_memory(err, "a question"));
    }
    n = out->n_cells;
    joint_sort(out); /* what was signed is in order already */
    if (n != out->n_cells)
        CELLAR_TRY(lines_fail(lines, "every cell once above", err));
out:
    return status;
}

static cellar_status take_sets(cellar_lines *lines, const cellar_invitation *invitation,
                               cellar_question *question, cellar_error *err)
{
    uint64_t n;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take_number(lines, "known", &n, err));
    if (n == 0 || n > JOINT_SETS_MAX)
        CELLAR_TRY(lines_fail(lines, "1 to 512 sets above", err));
    question->known = cellar_alloc((size_t) n, sizeof *question->known);
    if (question->known == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    question->n_known = (size_t) n;
    for (size_t i = 0; i < question->n_known; i++)
        CELLAR_TRY(take_known(lines, question->order, invitation, &question->known[i], err));
    CELLAR_TRY(lines_take_number(lines, "asked", &n, err));
    if (n == 0 || n > JOINT_SETS_MAX)
        CELLAR_TRY(lines_fail(lines, "1 to 512 sets above", err));
    question->asked = cellar_alloc((size_t) n, sizeof *question->asked);
    if (question->asked == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    for (; question->n_asked < n; question->n_asked++)
        CELLAR_TRY(
            take_set(lines, question->order, invitation, &question->asked[question->n_asked], err));
out:
    return status;
}

static cellar_status take_all(cellar_lines *lines, const cellar_invitation *invitation,
                              cellar_question *question, cellar_error *err)
{
    uint64_t order, common;
    cellar_text words = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take_number(lines, "order", &order, err));
    CELLAR_TRY(lines_take_number(lines, "common", &common, err));
    if (order < 2 || order > invitation->terms.order || common != invitation->terms.common)
        CELLAR_TRY(lines_fail(lines, "what the invitation says would be asked above", err));
    question->order = (size_t) order;
    CELLAR_TRY(take_sets(lines, invitation, question, err));
    lines_add(&words, "note", WORDS);
    CELLAR_TRY(lines_take_text(lines, &words, "the note of a question, word for word", err));
    CELLAR_TRY(lines_end(lines, err));
out:
    cellar_text_clear(&words);
    return status;
}

static cellar_status question_fill(cellar_question *question, const char *name, const char *bytes,
                                   size_t length, const cellar_invitation *invitation,
                                   cellar_error *err)
{
    cellar_lines lines;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(paper_begin(&lines, name, bytes, length, HEADER, invitation, err));
    CELLAR_TRY(take_all(&lines, invitation, question, err));
    CELLAR_TRY(lines_keep(bytes, length, &question->text, question->id, err));
out:
    return status;
}

cellar_status cellar_question_parse(const char *name, const char *bytes, size_t length,
                                    const cellar_invitation *invitation, cellar_question **out,
                                    cellar_error *err)
{
    cellar_question *question = cellar_alloc(1, sizeof *question);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (question == NULL)
        return cellar_fail_memory(err, "a question");
    CELLAR_TRY(question_fill(question, name, bytes, length, invitation, err));
    *out = question;
    question = NULL;
out:
    cellar_question_free(question);
    return status;
}

cellar_status cellar_question_read(const char *path, const cellar_invitation *invitation,
                                   cellar_question **out, cellar_error *err)
{
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_file_read_plain(path, LINES_FILE_MAX, &bytes, &length, err));
    CELLAR_TRY(cellar_question_parse(path, bytes, length, invitation, out, err));
out:
    cellar_free(bytes);
    return status;
}

void cellar_question_free(cellar_question *question)
{
    if (question == NULL)
        return;
    joints_free(question->known, question->n_known);
    cellar_free(question->asked);
    cellar_text_clear(&question->text);
    cellar_free(question);
}

const char *cellar_question_text(const cellar_question *question, size_t *length)
{
    if (length != NULL)
        *length = question->text.length;
    return question->text.bytes;
}

size_t cellar_question_order(const cellar_question *question)
{
    return question->order;
}

size_t cellar_question_n_asked(const cellar_question *question)
{
    return question->n_asked;
}
