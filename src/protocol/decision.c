/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/decision.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/choice.h"
#include "protocol/decision_words.h"
#include "protocol/keys.h"
#include "protocol/paper.h"

static const char HEADER[] = "cellar collect decision 1";

/* ---- rounds and keys ------------------------------------------------------- */

cellar_status round_of(const cellar_invitation *invitation, const cellar_decision *decision,
                       collect_round *out, cellar_error *err)
{
    if (decision != NULL && decision->n_columns == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the decision releases no column: there is no second round");
    if (decision == NULL)
        round_one(invitation, out);
    else
        round_two(invitation, decision->id, decision->n_columns, out);
    return CELLAR_OK;
}

cellar_status keys_check(const cellar_collect_keys *keys, const cellar_invitation *invitation,
                         cellar_collect_role role, cellar_error *err)
{
    if (keys->role != role ||
        memcmp(&keys->identity, &invitation->identities[role], sizeof keys->identity) != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "these are not the keys that the invitation names for the %s",
                           keys_role_word(role));
    return CELLAR_OK;
}

/* ---- writing ---------------------------------------------------------------- */

/* A column, the values that are redacted, and by what chance others are. */
static void column_write(const cellar_invitation *invitation, size_t column, const redaction *r,
                         cellar_text *text)
{
    const cellar_codelist *codes = invitation->codes[column];
    lines_add(text, "column", invitation->names[column]);
    if (r->levels == NULL)
        return;
    for (size_t v = 0; v < cellar_codelist_n_codes(codes); v++)
        if (r->levels[v])
            lines_add(text, "redact", cellar_codelist_code(codes, v));
    lines_add_share(text, "cover", r->cover);
}

/* Rounded up to twelve digits after the point, but not beyond what it was found to be within. */
static uint64_t bound_units(double bound, uint64_t allowed)
{
    uint64_t units = (uint64_t) fmin(ceil(bound * 1e12), 1e12) * 1000000;
    return units < allowed ? units : allowed;
}

/* Writes, signs and reads what was chosen. */
static cellar_status decision_make(const choice *chosen, const cellar_collect_margins *margins,
                                   const cellar_invitation *invitation,
                                   const cellar_collect_keys *curator, cellar_decision **out,
                                   cellar_error *err)
{
    cellar_text text = {0};
    cellar_status status = CELLAR_OK;

    paper_write_head(HEADER, invitation, &text);
    lines_add_number(&text, "people", margins->n_people);
    decision_write_terms(invitation, &text);
    if (invitation->terms.is_open)
        lines_add_hex(&text, "tally", margins->tally_id, sizeof margins->tally_id);
    lines_add_share(&text, "bound", bound_units(chosen->bound, invitation->terms.exposure));
    if (invitation->terms.model.kind != CELLAR_COLLECT_NO_MODEL)
        lines_add_share(&text, "worst", bound_units(chosen->worst, LINES_ONE));
    lines_add_number(&text, "theorem", (uint64_t) chosen->theorem);
    lines_add_number(&text, "columns", chosen->n_columns);
    for (size_t i = 0; i < chosen->n_columns; i++)
        column_write(invitation, chosen->columns[i], &chosen->redactions[i], &text);
    decision_write_words(invitation, &text);
    lines_sign(&text, curator);
    if (text.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a decision"));
    CELLAR_TRY(
        cellar_decision_parse("the decision", text.bytes, text.length, invitation, out, err));
out:
    cellar_text_clear(&text);
    return status;
}

cellar_status cellar_decision_create(const cellar_collect_margins *margins,
                                     const cellar_invitation *invitation,
                                     const cellar_collect_keys *curator, cellar_decision **out,
                                     cellar_error *err)
{
    return cellar_decision_create_known(margins, NULL, 0, invitation, curator, out, err);
}

cellar_status cellar_decision_create_known(const cellar_collect_margins *margins,
                                           const cellar_collect_joints *const *joints, size_t n,
                                           const cellar_invitation *invitation,
                                           const cellar_collect_keys *curator,
                                           cellar_decision **out, cellar_error *err)
{
    choice chosen = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    if (terms_have_file(&invitation->terms))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the invitation promises a decision by a %s: that file is needed",
                           cellar_collect_model_kind_name(invitation->terms.model.kind));
    CELLAR_TRY(choice_make(margins, invitation, &chosen, err));
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(choice_refine(margins, joints[i], invitation, &chosen, err));
    CELLAR_TRY(decision_make(&chosen, margins, invitation, curator, out, err));
out:
    choice_clear(&chosen);
    return status;
}

cellar_status cellar_decision_create_modelled(const cellar_collect_margins *margins,
                                              const cellar_collect_model *model,
                                              const cellar_invitation *invitation,
                                              const cellar_collect_keys *curator,
                                              cellar_decision **out, cellar_error *err)
{
    const model_terms *promised = &invitation->terms.model;
    choice chosen = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    if (cellar_collect_model_kind_of(model) != promised->kind ||
        memcmp(cellar_collect_model_id(model), promised->file, sizeof promised->file) != 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "this is not the model that the invitation names: its kind or the "
                               "hash of its file is another"));
    CELLAR_TRY(choice_make_modelled(margins, invitation, model, &chosen, err));
    CELLAR_TRY(decision_make(&chosen, margins, invitation, curator, out, err));
out:
    choice_clear(&chosen);
    return status;
}

/* Both list the same values, with the same chance for the others. */
static int redactions_same(const cellar_invitation *invitation, const cellar_decision *decision,
                           const choice *chosen)
{
    for (size_t i = 0; i < decision->n_columns; i++) {
        const redaction *a = &decision->redactions[i], *b = &chosen->redactions[i];
        size_t n = cellar_codelist_n_codes(invitation->codes[decision->columns[i]]);
        if ((a->levels == NULL) != (b->levels == NULL) || a->cover != b->cover ||
            (a->levels != NULL && memcmp(a->levels, b->levels, n) != 0))
            return 0;
    }
    return 1;
}

cellar_status cellar_decision_check(const cellar_decision *decision,
                                    const cellar_invitation *invitation,
                                    const cellar_collect_margins *margins, cellar_error *err)
{
    choice chosen = {0};
    int same;
    cellar_status status = CELLAR_OK;

    if (!invitation->terms.is_open)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the invitation does not promise a tally to check the decision with");
    CELLAR_TRY(choice_make(margins, invitation, &chosen, err));
    same =
        decision->n_people == margins->n_people && decision->n_columns == chosen.n_columns &&
        decision->theorem == chosen.theorem &&
        (double) decision->bound / 1e18 >= fmin(chosen.bound, 1) - 1e-12 &&
        memcmp(decision->columns, chosen.columns, chosen.n_columns * sizeof *chosen.columns) == 0 &&
        redactions_same(invitation, decision, &chosen);
    if (!same || memcmp(decision->tally_id, margins->tally_id, sizeof margins->tally_id) != 0)
        status = cellar_fail(err, CELLAR_ERR_RULE, "the decision does not follow from the tally");
out:
    choice_clear(&chosen);
    return status;
}

/* ---- reading --------------------------------------------------------------- */

/* Values of the column, in its order. */
static cellar_status take_redaction(cellar_lines *lines, const cellar_codelist *codes,
                                    redaction *out, cellar_error *err)
{
    size_t next = 0, n_codes = cellar_codelist_n_codes(codes);
    cellar_status status = CELLAR_OK;

    if (!lines_next_is(lines, "redact"))
        return CELLAR_OK;
    out->levels = cellar_alloc(n_codes, 1);
    if (out->levels == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a redaction"));
    while (lines_next_is(lines, "redact")) {
        const char *code;
        size_t length, level;
        CELLAR_TRY(lines_take(lines, "redact", &code, &length, err));
        level = cellar_codelist_find(codes, code, length);
        if (level == CELLAR_NO_CODE || level < next)
            CELLAR_TRY(lines_fail(lines, "values of the column above, in its order", err));
        out->levels[level] = 1;
        next = level + 1;
    }
    CELLAR_TRY(lines_take_share(lines, "cover", &out->cover, err));
out:
    return status;
}

/* Columns of the invitation, in its order. */
static cellar_status take_columns(cellar_lines *lines, const cellar_invitation *invitation,
                                  cellar_decision *decision, cellar_error *err)
{
    uint64_t n;
    size_t next = 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take_number(lines, "columns", &n, err));
    for (uint64_t i = 0; i < n; i++) {
        const char *name;
        size_t length;
        CELLAR_TRY(lines_take(lines, "column", &name, &length, err));
        while (next < invitation->n_columns &&
               !lines_value_is(name, length, invitation->names[next]))
            next++;
        if (next == invitation->n_columns)
            CELLAR_TRY(lines_fail(lines, "columns of the invitation above, in its order", err));
        decision->columns[decision->n_columns++] = next++;
        if (invitation->terms.hide > 0)
            CELLAR_TRY(take_redaction(lines, invitation->codes[next - 1],
                                      &decision->redactions[decision->n_columns - 1], err));
    }
out:
    return status;
}

/* Lines that follow from the invitation. */
static cellar_status take_fixed(cellar_lines *lines, const cellar_invitation *invitation,
                                void (*write)(const cellar_invitation *, cellar_text *),
                                const char *what, cellar_error *err)
{
    cellar_text expected = {0};
    cellar_status status;
    write(invitation, &expected);
    status = lines_take_text(lines, &expected, what, err);
    cellar_text_clear(&expected);
    return status;
}

static cellar_status take_all(cellar_lines *lines, const cellar_invitation *invitation,
                              cellar_decision *decision, cellar_error *err)
{
    uint64_t theorem;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take_number(lines, "people", &decision->n_people, err));
    CELLAR_TRY(take_fixed(lines, invitation, decision_write_terms,
                          "the terms of the invitation, repeated", err));
    if (invitation->terms.is_open)
        CELLAR_TRY(
            lines_take_hex(lines, "tally", decision->tally_id, sizeof decision->tally_id, err));
    CELLAR_TRY(lines_take_share(lines, "bound", &decision->bound, err));
    if (invitation->terms.model.kind != CELLAR_COLLECT_NO_MODEL)
        CELLAR_TRY(lines_take_share(lines, "worst", &decision->worst, err));
    CELLAR_TRY(lines_take_number(lines, "theorem", &theorem, err));
    CELLAR_TRY(take_columns(lines, invitation, decision, err));
    if (decision->n_columns == 0 || invitation->terms.model.kind != CELLAR_COLLECT_NO_MODEL
            ? theorem != 0
            : theorem < (invitation->terms.order > 0 ? 1 : 2) || theorem > 3)
        CELLAR_TRY(lines_fail(lines, "theorem 2 or 3 above, or no column, or a model", err));
    decision->theorem = (int) theorem;
    CELLAR_TRY(take_fixed(lines, invitation, decision_write_words,
                          "the note on what exposure does not bound, word for word", err));
    CELLAR_TRY(lines_end(lines, err));
out:
    return status;
}

static cellar_status decision_fill(cellar_decision *decision, const char *name, const char *bytes,
                                   size_t length, const cellar_invitation *invitation,
                                   cellar_error *err)
{
    cellar_lines lines;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(paper_begin(&lines, name, bytes, length, HEADER, invitation, err));
    CELLAR_TRY(take_all(&lines, invitation, decision, err));
    CELLAR_TRY(lines_keep(bytes, length, &decision->text, decision->id, err));
out:
    return status;
}

cellar_status cellar_decision_parse(const char *name, const char *bytes, size_t length,
                                    const cellar_invitation *invitation, cellar_decision **out,
                                    cellar_error *err)
{
    cellar_decision *decision = cellar_alloc(1, sizeof *decision);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (decision == NULL)
        return cellar_fail_memory(err, "a decision");
    CELLAR_TRY(decision_fill(decision, name, bytes, length, invitation, err));
    *out = decision;
    decision = NULL;
out:
    cellar_decision_free(decision);
    return status;
}

cellar_status cellar_decision_read(const char *path, const cellar_invitation *invitation,
                                   cellar_decision **out, cellar_error *err)
{
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_file_read_plain(path, LINES_FILE_MAX, &bytes, &length, err));
    CELLAR_TRY(cellar_decision_parse(path, bytes, length, invitation, out, err));
out:
    cellar_free(bytes);
    return status;
}

void cellar_decision_free(cellar_decision *decision)
{
    if (decision == NULL)
        return;
    for (size_t i = 0; i < decision->n_columns; i++)
        cellar_free(decision->redactions[i].levels);
    cellar_text_clear(&decision->text);
    cellar_free(decision);
}
