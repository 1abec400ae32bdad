/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/decision_words.h"

#include "protocol/invitation.h"

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

static const char INDEPENDENT[] =
    "if columns are independent but for the share 'tolerance' of people, at most the share 'bound' "
    "is expected in groups of fewer than k with the same values; no more than 'worst' is if they "
    "are not";
static const char FITTED[] =
    "if columns hang together as among the people of the file 'model-file', fitted to the counts "
    "of "
    "single columns, but for the share 'tolerance' of people, at most the share 'bound' is "
    "expected "
    "in groups of fewer than k with the same values, unless a chance of 'delta' has come true in "
    "what the file shows; no more than 'worst' is if they do not";
static const char CHECKED[] = "the analyst counts after round two, and uses no table in which more "
                              "than the share 'exposure' is";
static const char PAYLOADS[] = "a payload of up to 'payload' bytes goes to the analyst with each "
                               "row: nothing here bounds what "
                               "it shows, and one that shows its person makes the row theirs";

void decision_write_terms(const cellar_invitation *invitation, cellar_text *text)
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
    terms_add_model(&terms->model, text);
    if (terms->payload > 0)
        lines_add_number(text, "payload", terms->payload);
    if (terms->delta > 0)
        lines_add_share(text, "delta", terms->delta);
}

void decision_write_words(const cellar_invitation *invitation, cellar_text *text)
{
    const collect_terms *terms = &invitation->terms;
    lines_add(text, "note",
              terms->population > 0                              ? STATISTICAL
              : terms->model.kind == CELLAR_COLLECT_INDEPENDENCE ? INDEPENDENT
              : terms->model.kind != CELLAR_COLLECT_NO_MODEL     ? FITTED
              : terms->delta > 0                                 ? RANDOMISED
                                                                 : FIXED);
    if (terms->model.kind != CELLAR_COLLECT_NO_MODEL)
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
