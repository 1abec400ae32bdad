/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/decision.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/choice.h"
#include "protocol/keys.h"
#include "protocol/paper.h"

static const char HEADER[] = "cellar collect decision 1";

/* Said in every decision, word for word; the first and the last depend on the terms. */
static const char FIXED[] =
    "at most the share 'bound' of these people is in groups of fewer than k with the same values";
static const char RANDOMISED[] =
    "at most the share 'bound' of these people is in groups of fewer than k with the same values, "
    "unless a chance of 'delta' has come true";
static const char STATISTICAL[] =
    "of 'population' other people drawn likewise, at most the share 'bound' is expected in groups "
    "of fewer than k with the same values, unless a chance of 'delta' has come true";
static const char ATTRIBUTES[] =
    "this bounds how few share a row, and no attribute disclosure: what a group has in common is "
    "known of each of its members";
static const char NOT_PRIVATE[] = "this is not differential privacy";
static const char MARGINS[] =
    "the counts of single columns were known to the curator exactly, rare values included";
static const char RESPONSES[] =
    "each value was randomised by its sender before it was counted: round one is locally "
    "differentially private with 'epsilon-value' and 'epsilon-record', round two is not";

static const char REDACTIONS[] =
    "whoever has a value after 'redact' says '(redacted)', and so does anybody else with chance "
    "'cover': of a column's redactions at most the share 'hide' is expected to be no chance";

static const char JOINTS[] =
    "so were those of combinations of up to 'order' columns whose parts are shared by at least "
    "'common' people, as far as the curator asked for them";

static const char MODELLED[] = "if columns are independent but for the share 'tolerance' of "
                               "people, at most the share 'bound' is "
                               "expected in groups of fewer than k with the same values; no more "
                               "than 'worst' is if they are not";
static const char CHECKED[] = "the analyst counts after round two, and uses no table in which more "
                              "than the share 'exposure' is";
static const char PAYLOADS[] = "a payload of up to 'payload' bytes goes to the analyst with each "
                               "row: nothing here bounds what "
                               "it shows, and one that shows its person makes the row theirs";

/* What the decision repeats of the invitation. */
static void terms_write(const cellar_invitation *invitation, cellar_text *text)
{
    const collect_terms *terms = &invitation->terms;
    lines_add_number(text, "k", terms->k);
    lines_add_share(text, "exposure", terms->exposure);
    if (terms->population > 0)
        lines_add_number(text, "population", terms->population);
    if (terms->epsilon > 0) {
        lines_add_share(text, "epsilon-value", terms->epsilon);
        cellar_text_add_string(text, "epsilon-record ");
        cellar_text_add_decimal(
            text, (cellar_int128) terms->epsilon * (cellar_int128) invitation->n_columns,
            LINES_SCALE);
        cellar_text_add_char(text, '\n');
    }
    if (terms->hide > 0)
        lines_add_share(text, "hide", terms->hide);
    if (terms->order > 0) {
        lines_add_number(text, "order", terms->order);
        lines_add_number(text, "common", terms->common);
    }
    if (terms->is_modelled) {
        lines_add(text, "model", "independence");
        lines_add_share(text, "tolerance", terms->tolerance);
    }
    if (terms->payload > 0)
        lines_add_number(text, "payload", terms->payload);
    if (terms->delta > 0)
        lines_add_share(text, "delta", terms->delta);
}

static void words_write(const cellar_invitation *invitation, cellar_text *text)
{
    const collect_terms *terms = &invitation->terms;
    lines_add(text, "note",
              terms->population > 0 ? STATISTICAL
              : terms->is_modelled  ? MODELLED
              : terms->delta > 0    ? RANDOMISED
                                    : FIXED);
    if (terms->is_modelled)
        lines_add(text, "note", CHECKED);
    lines_add(text, "note", ATTRIBUTES);
    if (terms->hide > 0)
        lines_add(text, "note", REDACTIONS);
    if (terms->payload > 0)
        lines_add(text, "note", PAYLOADS);
    lines_add(text, "note", NOT_PRIVATE);
    lines_add(text, "note", terms->epsilon > 0 ? RESPONSES : MARGINS);
    if (terms->order > 0)
        lines_add(text, "note", JOINTS);
}

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
    cellar_text text = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    CELLAR_TRY(choice_make(margins, invitation, &chosen, err));
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(choice_refine(margins, joints[i], invitation, &chosen, err));
    paper_write_head(HEADER, invitation, &text);
    lines_add_number(&text, "people", margins->n_people);
    terms_write(invitation, &text);
    if (invitation->terms.is_open)
        lines_add_hex(&text, "tally", margins->tally_id, sizeof margins->tally_id);
    lines_add_share(&text, "bound", bound_units(chosen.bound, invitation->terms.exposure));
    if (invitation->terms.is_modelled)
        lines_add_share(&text, "worst", bound_units(chosen.worst, LINES_ONE));
    lines_add_number(&text, "theorem", (uint64_t) chosen.theorem);
    lines_add_number(&text, "columns", chosen.n_columns);
    for (size_t i = 0; i < chosen.n_columns; i++)
        column_write(invitation, chosen.columns[i], &chosen.redactions[i], &text);
    words_write(invitation, &text);
    lines_sign(&text, curator);
    if (text.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a decision"));
    CELLAR_TRY(
        cellar_decision_parse("the decision", text.bytes, text.length, invitation, out, err));
out:
    choice_clear(&chosen);
    cellar_text_clear(&text);
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
    CELLAR_TRY(
        take_fixed(lines, invitation, terms_write, "the terms of the invitation, repeated", err));
    if (invitation->terms.is_open)
        CELLAR_TRY(
            lines_take_hex(lines, "tally", decision->tally_id, sizeof decision->tally_id, err));
    CELLAR_TRY(lines_take_share(lines, "bound", &decision->bound, err));
    if (invitation->terms.is_modelled)
        CELLAR_TRY(lines_take_share(lines, "worst", &decision->worst, err));
    CELLAR_TRY(lines_take_number(lines, "theorem", &theorem, err));
    CELLAR_TRY(take_columns(lines, invitation, decision, err));
    if (decision->n_columns == 0 || invitation->terms.is_modelled
            ? theorem != 0
            : theorem < (invitation->terms.order > 0 ? 1 : 2) || theorem > 3)
        CELLAR_TRY(lines_fail(lines, "theorem 2 or 3 above, or no column, or a model", err));
    decision->theorem = (int) theorem;
    CELLAR_TRY(take_fixed(lines, invitation, words_write,
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
