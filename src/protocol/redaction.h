/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditional redaction with random cover (section 8.1): whoever has one of the listed values of a
 * column redacts it, and everybody else redacts the column with a probability, so that a redaction
 * does not give the value away. A redacted entry is a value of its own. */
#ifndef CELLAR_PROTOCOL_REDACTION_H
#define CELLAR_PROTOCOL_REDACTION_H

#include "protocol/estimate.h"
#include "protocol/message.h"

#define REDACTED_CODE "(redacted)"

typedef struct redaction {
    unsigned char
        *levels;    /* 1: whoever has it redacts it; NULL: nothing of the column is redacted */
    uint64_t cover; /* the chance for everybody else, in units of 10^-18 */
} redaction;

/* What is known of a column, and what may be done to it. */
typedef struct redaction_terms {
    double hide;   /* of the redactions at most this share comes from the list, on average */
    double most;   /* of the entries at most this share is redacted, on average */
    double people; /* who redact by chance; 0: an expectation is enough, of other people */
    double tail;   /* chance may do worse than allowed for with this probability, each way, for
                      each value */
} redaction_terms;

/* Lists the rarest values, as far as their shares may be below `threshold` and the terms allow.
 * `ranges` are the values' in their order. Free out->levels. */
cellar_status redaction_plan(const share_range *ranges, size_t n_values,
                             const redaction_terms *terms, double threshold, redaction *out,
                             cellar_error *err);
/* The ranges of what is left, the redacted entries last: *n_left of them, at most n_values + 1. */
void redaction_apply(const redaction *r, const share_range *ranges, size_t n_values,
                     const redaction_terms *terms, share_range *left, size_t *n_left);
/* The largest share of entries that is redacted, on average. */
double redaction_share(const redaction *r, const share_range *ranges, size_t n_values);

/* What the participant says of its value in this column: the value, or n_values for redacted. It
 * follows from the ticket, so that sending again says the same. */
uint32_t redaction_draw(const redaction *r, size_t n_values, const collect_round *round,
                        const unsigned char ticket[TICKET_BYTES], size_t column, uint32_t level);

#endif
