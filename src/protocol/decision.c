/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/decision.h"

#include <math.h>
#include <string.h>

#include <sodium.h>

#include <cellar/exposure.h>
#include <cellar/selection.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/estimate.h"
#include "protocol/invitation.h"
#include "protocol/keys.h"
#include "protocol/lines.h"

static const char HEADER[] = "cellar collect decision 1";

/* Said in every decision, word for word; the first is of the setting. */
static const char FIXED[] =
    "at most the share 'bound' of these people is in groups of fewer than k with the same values";
static const char STATISTICAL[] =
    "of 'population' other people drawn likewise, at most the share 'bound' is expected in groups "
    "of fewer than k with the same values, unless a chance of 'delta' has come true";
static const char ATTRIBUTES[] =
    "this bounds how few share a row, and no attribute disclosure: what a group has in common is "
    "known of each of its members";
static const char MARGINS[] =
    "the counts of single columns were known to the curator exactly, rare values included";
static const char *const words[] = {ATTRIBUTES, "this is not differential privacy", MARGINS};
enum { N_WORDS = sizeof words / sizeof *words };

static const char *first_words(const cellar_invitation *invitation)
{
    return invitation->population > 0 ? STATISTICAL : FIXED;
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
    static const char *const names[] = {"", "curator", "shuffler", "analyst"};
    if (keys->role != role ||
        memcmp(&keys->identity, &invitation->identities[role], sizeof keys->identity) != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "these are not the keys that the invitation names for the %s",
                           names[role]);
    return CELLAR_OK;
}

/* ---- deciding -------------------------------------------------------------- */

typedef struct choice {
    size_t n_columns, columns[CELLAR_MAX_VARIABLES];
    double bound;
    int theorem;
} choice;

/* What is bounded: the exposure at k/n of those who were counted; or, for other people, with the
 * worst margins they may have, Q_p(n,k) <= Q_J(t) + P(Bin(n-1,t) <= k-2): whoever shares values of
 * probability t or more is in a small group with at most that chance, and the others are no more
 * than Q_J(t). The chance is given a tenth of what is allowed. */
typedef struct question {
    cellar_exposure_curve *curves[CELLAR_MAX_VARIABLES];
    double threshold, chance;
} question;

static cellar_status question_fixed(const cellar_collect_margins *margins,
                                    const cellar_invitation *invitation, question *out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    out->threshold = (double) invitation->k / (double) margins->n_people;
    for (size_t c = 0; c < invitation->n_columns; c++) {
        size_t n_codes = cellar_codelist_n_codes(invitation->codes[c]);
        CELLAR_TRY(cellar_exposure_curve_from_counts(margins->counts[c], n_codes, n_codes,
                                                     &out->curves[c], err));
    }
out:
    return status;
}

static cellar_status question_statistical(const cellar_collect_margins *margins,
                                          const cellar_invitation *invitation, question *out,
                                          cellar_error *err)
{
    double n_values = 0, radius, allowed = cellar_invitation_exposure(invitation);
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < invitation->n_columns; c++)
        n_values += (double) cellar_codelist_n_codes(invitation->codes[c]);
    radius = estimate_radius(margins->n_people, n_values, (double) invitation->delta / 1e18);
    out->threshold = estimate_threshold(invitation->population, invitation->k, allowed / 10);
    out->chance = allowed / 10;
    for (size_t c = 0; c < invitation->n_columns; c++)
        CELLAR_TRY(estimate_worst_curve(margins->counts[c],
                                        cellar_codelist_n_codes(invitation->codes[c]),
                                        margins->n_people, radius, &out->curves[c], err));
out:
    return status;
}

/* The bound of the chosen set once more, to tell the theorem. */
static cellar_status choice_fill(const question *asked, uint64_t mask, size_t n_columns,
                                 choice *chosen, cellar_error *err)
{
    const cellar_exposure_curve *of_set[CELLAR_MAX_VARIABLES];
    cellar_exposure_bound bounds[2];
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < n_columns; c++)
        if (mask >> c & 1) {
            of_set[chosen->n_columns] = asked->curves[c];
            chosen->columns[chosen->n_columns++] = c;
        }
    if (chosen->n_columns == 0)
        return CELLAR_OK;
    CELLAR_TRY(
        cellar_exposure_bounds(of_set, chosen->n_columns, asked->threshold, NULL, bounds, err));
    chosen->bound = bounds[0].value + asked->chance;
    chosen->theorem = bounds[0].theorem;
out:
    return status;
}

static cellar_status choice_make(const cellar_collect_margins *margins,
                                 const cellar_invitation *invitation, choice *chosen,
                                 cellar_error *err)
{
    cellar_selection_options options = cellar_selection_options_default();
    question asked = {{NULL}, 0, 0};
    cellar_selection *selection = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(invitation->population > 0 ? question_statistical(margins, invitation, &asked, err)
                                          : question_fixed(margins, invitation, &asked, err));
    options.measure = CELLAR_SELECTION_BOUNDED;
    options.k =
        invitation->population > 0 /* the threshold, as a count of the curves' total */
            ? (uint64_t) ceil(asked.threshold * (double) cellar_exposure_total(asked.curves[0]))
            : invitation->k;
    options.exposure = cellar_invitation_exposure(invitation) - asked.chance;
    CELLAR_TRY(cellar_selection_from_curves((const cellar_exposure_curve *const *) asked.curves,
                                            invitation->n_columns, &options, &selection, err));
    if (cellar_selection_n_sets(selection) > 0)
        CELLAR_TRY(choice_fill(&asked, cellar_selection_set_at(selection, 0).columns,
                               invitation->n_columns, chosen, err));
out:
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        cellar_exposure_curve_free(asked.curves[c]);
    cellar_selection_free(selection);
    return status;
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
    choice chosen = {0};
    cellar_text text = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    CELLAR_TRY(choice_make(margins, invitation, &chosen, err));
    cellar_text_printf(&text, "%s\n", HEADER);
    lines_add_hex(&text, "session", invitation->session, sizeof invitation->session);
    lines_add_number(&text, "people", margins->n_people);
    lines_add_number(&text, "k", invitation->k);
    lines_add_share(&text, "exposure", invitation->exposure);
    if (invitation->population > 0) {
        lines_add_number(&text, "population", invitation->population);
        lines_add_share(&text, "delta", invitation->delta);
    }
    lines_add_share(&text, "bound", bound_units(chosen.bound, invitation->exposure));
    lines_add_number(&text, "theorem", (uint64_t) chosen.theorem);
    lines_add_number(&text, "columns", chosen.n_columns);
    for (size_t i = 0; i < chosen.n_columns; i++)
        lines_add(&text, "column", invitation->names[chosen.columns[i]]);
    lines_add(&text, "note", first_words(invitation));
    for (size_t i = 0; i < N_WORDS; i++)
        lines_add(&text, "note", words[i]);
    lines_sign(&text, curator);
    if (text.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a decision"));
    CELLAR_TRY(
        cellar_decision_parse("the decision", text.bytes, text.length, invitation, out, err));
out:
    cellar_text_clear(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------- */

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
        while (next < invitation->n_columns && (strlen(invitation->names[next]) != length ||
                                                memcmp(invitation->names[next], name, length) != 0))
            next++;
        if (next == invitation->n_columns)
            CELLAR_TRY(lines_fail(lines, "columns of the invitation above, in its order", err));
        decision->columns[decision->n_columns++] = next++;
    }
out:
    return status;
}

static cellar_status take_note(cellar_lines *lines, const char *expected, cellar_error *err)
{
    const char *note;
    size_t length;
    cellar_status status = lines_take(lines, "note", &note, &length, err);
    if (status == CELLAR_OK && (length != strlen(expected) || memcmp(note, expected, length) != 0))
        status = lines_fail(lines, "what exposure does not bound, in the usual words", err);
    return status;
}

static cellar_status take_words(cellar_lines *lines, const cellar_invitation *invitation,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(take_note(lines, first_words(invitation), err));
    for (size_t i = 0; i < N_WORDS; i++)
        CELLAR_TRY(take_note(lines, words[i], err));
out:
    return status;
}

static cellar_status take_all(cellar_lines *lines, const cellar_invitation *invitation,
                              cellar_decision *decision, cellar_error *err)
{
    unsigned char session[CELLAR_COLLECT_ID_BYTES];
    uint64_t k, exposure, theorem, population = 0, delta = 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take_hex(lines, "session", session, sizeof session, err));
    CELLAR_TRY(lines_take_number(lines, "people", &decision->n_people, err));
    CELLAR_TRY(lines_take_number(lines, "k", &k, err));
    CELLAR_TRY(lines_take_share(lines, "exposure", &exposure, err));
    if (invitation->population > 0) {
        CELLAR_TRY(lines_take_number(lines, "population", &population, err));
        CELLAR_TRY(lines_take_share(lines, "delta", &delta, err));
    }
    CELLAR_TRY(lines_take_share(lines, "bound", &decision->bound, err));
    CELLAR_TRY(lines_take_number(lines, "theorem", &theorem, err));
    if (memcmp(session, invitation->session, sizeof session) != 0)
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_RULE, "%s: is about another collection", lines->name));
    if (k != invitation->k || exposure != invitation->exposure ||
        population != invitation->population || delta != invitation->delta)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "%s: k, the exposure allowed or the setting are not those of the "
                               "invitation",
                               lines->name));
    CELLAR_TRY(take_columns(lines, invitation, decision, err));
    if (decision->n_columns == 0 ? theorem != 0 : theorem != 2 && theorem != 3)
        CELLAR_TRY(lines_fail(lines, "theorem 2 or 3 above, or no column", err));
    decision->theorem = (int) theorem;
    CELLAR_TRY(take_words(lines, invitation, err));
    CELLAR_TRY(lines_end(lines, err));
out:
    return status;
}

static cellar_status decision_fill(cellar_decision *decision, const char *name, const char *bytes,
                                   size_t length, const cellar_invitation *invitation,
                                   cellar_error *err)
{
    cellar_lines lines;
    const unsigned char *signer = invitation->identities[CELLAR_COLLECT_CURATOR].sign;
    size_t signed_length = length > LINES_SIGNATURE_LENGTH ? length - LINES_SIGNATURE_LENGTH : 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_begin(&lines, name, bytes, signed_length, HEADER, err));
    CELLAR_TRY(take_all(&lines, invitation, decision, err));
    CELLAR_TRY(lines_verify(name, bytes, length, signer, &signed_length, err));
    cellar_text_add(&decision->text, bytes, length);
    if (decision->text.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a decision"));
    crypto_generichash(decision->id, sizeof decision->id, (const unsigned char *) bytes, length,
                       NULL, 0);
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
    CELLAR_TRY(cellar_file_read(path, LINES_FILE_MAX, &bytes, &length, err));
    CELLAR_TRY(cellar_decision_parse(path, bytes, length, invitation, out, err));
out:
    cellar_free(bytes);
    return status;
}

void cellar_decision_free(cellar_decision *decision)
{
    if (decision == NULL)
        return;
    cellar_text_clear(&decision->text);
    cellar_free(decision);
}

/* ---- queries --------------------------------------------------------------- */

const char *cellar_decision_text(const cellar_decision *decision, size_t *length)
{
    if (length != NULL)
        *length = decision->text.length;
    return decision->text.bytes;
}

const unsigned char *cellar_decision_id(const cellar_decision *decision)
{
    return decision->id;
}

uint64_t cellar_decision_n_people(const cellar_decision *decision)
{
    return decision->n_people;
}

int cellar_decision_theorem(const cellar_decision *decision)
{
    return decision->theorem;
}

double cellar_decision_bound(const cellar_decision *decision)
{
    return (double) decision->bound / 1e18;
}

size_t cellar_decision_n_columns(const cellar_decision *decision)
{
    return decision->n_columns;
}

size_t cellar_decision_column(const cellar_decision *decision, size_t position)
{
    return decision->columns[position];
}
