/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/collect.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/batch.h"
#include "protocol/decision.h"
#include "protocol/invitation.h"
#include "protocol/response.h"
#include "protocol/tally.h"

int margins_count(cellar_collect_margins *margins, const cellar_invitation *invitation,
                  const unsigned char body[MESSAGE_VALUE_BYTES])
{
    size_t column;
    uint32_t level;
    if (!value_read(invitation, body, &column, &level))
        return 0;
    margins->counts[column][level]++;
    return 1;
}

cellar_status margins_create(const cellar_invitation *invitation, cellar_collect_margins **out,
                             cellar_error *err)
{
    cellar_collect_margins *margins = cellar_alloc(1, sizeof *margins);
    int ok = margins != NULL;
    if (ok)
        margins->counts = cellar_alloc(invitation->n_columns, sizeof *margins->counts);
    ok = ok && margins->counts != NULL;
    for (size_t c = 0; ok && c < invitation->n_columns; c++) {
        margins->counts[c] =
            cellar_alloc(cellar_codelist_n_codes(invitation->codes[c]), sizeof *margins->counts[c]);
        margins->n_columns += margins->counts[c] != NULL;
        ok = margins->counts[c] != NULL;
    }
    *out = margins;
    return ok ? CELLAR_OK : cellar_fail_memory(err, "margins");
}

/* An honest submission has one message for each column, and is taken whole: totals differ only when
 * somebody sent messages that no participant of ours sends. */
cellar_status margins_check(const cellar_invitation *invitation, cellar_collect_margins *margins,
                            cellar_error *err)
{
    for (size_t c = 0; c < margins->n_columns; c++) {
        uint64_t total = 0;
        for (size_t v = 0; v < cellar_codelist_n_codes(invitation->codes[c]); v++)
            total += margins->counts[c][v];
        if (c > 0 && total != margins->n_people)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "column '%.200s': its total is not that of the first column; "
                               "somebody sent forged messages",
                               invitation->names[c]);
        margins->n_people = total;
    }
    if (margins->n_people < invitation->terms.n_people)
        return cellar_fail(err, CELLAR_ERR_RULE, "fewer people than announced could be counted");
    return CELLAR_OK;
}

typedef struct counting {
    const cellar_invitation *invitation;
    cellar_collect_margins *margins;
} counting;

/* In an open collection what was counted is kept for the tally. */
static int count_value(void *context, const unsigned char *id, const unsigned char *body)
{
    const counting *c = context;
    cellar_collect_margins *margins = c->margins;
    if (!margins_count(margins, c->invitation, body))
        return 0;
    if (margins->rows != NULL) {
        unsigned char *row = margins->rows + TALLY_ROW_BYTES * margins->n_rows++;
        memcpy(row, id, MESSAGE_ID_BYTES);
        memcpy(row + MESSAGE_ID_BYTES, body, MESSAGE_VALUE_BYTES);
    }
    return 1;
}

/* Room for all messages of an open collection. */
static cellar_status margins_reserve(const cellar_invitation *invitation, size_t n_messages,
                                     cellar_collect_margins *margins, cellar_error *err)
{
    if (!invitation->terms.is_open)
        return CELLAR_OK;
    margins->rows = cellar_alloc(n_messages + 1, TALLY_ROW_BYTES);
    return margins->rows != NULL ? CELLAR_OK : cellar_fail_memory(err, "a tally");
}

cellar_status cellar_collect_margins_read(const char *batch_path,
                                          const cellar_invitation *invitation,
                                          const cellar_collect_keys *curator,
                                          cellar_collect_margins **out,
                                          cellar_collect_report *report, cellar_error *err)
{
    collect_round round;
    collect_batch batch = {0};
    counting all = {invitation, NULL};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    round_one(invitation, &round);
    CELLAR_TRY(margins_create(invitation, &all.margins, err));
    CELLAR_TRY(collect_batch_read(batch_path, &round, &batch, err));
    CELLAR_TRY(margins_reserve(invitation, batch.n, all.margins, err));
    CELLAR_TRY(collect_batch_open_all(&batch, &round, curator, count_value, &all, report, err));
    CELLAR_TRY(margins_check(invitation, all.margins, err));
    tally_finish(&round, all.margins);
    *out = all.margins;
    all.margins = NULL;
out:
    collect_batch_clear(&batch);
    cellar_collect_margins_free(all.margins);
    return status;
}

void cellar_collect_margins_free(cellar_collect_margins *margins)
{
    if (margins == NULL)
        return;
    for (size_t c = 0; c < margins->n_columns; c++)
        cellar_free(margins->counts[c]);
    cellar_free(margins->counts);
    cellar_free(margins->rows);
    cellar_free(margins);
}

uint64_t cellar_collect_margins_n_people(const cellar_collect_margins *margins)
{
    return margins->n_people;
}

uint64_t cellar_collect_margins_count(const cellar_collect_margins *margins, size_t column,
                                      size_t level)
{
    return margins->counts[column][level];
}

double cellar_collect_margins_share(const cellar_collect_margins *margins,
                                    const cellar_invitation *invitation, size_t column,
                                    size_t level)
{
    size_t n_codes = cellar_codelist_n_codes(invitation->codes[column]);
    response told = response_of(invitation->terms.epsilon, n_codes);
    double keep = response_keep(&told);
    double reported = (double) margins->counts[column][level] / (double) margins->n_people;
    return (reported - (1 - keep) / (double) n_codes) / keep;
}
