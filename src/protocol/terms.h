/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms of an invitation: how many, how safe, and by which rules it is decided. */
#ifndef CELLAR_PROTOCOL_TERMS_H
#define CELLAR_PROTOCOL_TERMS_H

#include <cellar/collect.h>

#include "protocol/lines.h"

/* Shares and epsilon are in units of 10^-18. */
typedef struct collect_terms {
    uint64_t n_people, k, exposure;
    uint64_t population; /* of other people; 0: the same people answer twice */
    uint64_t epsilon;    /* of each message of round one; 0: values are told as they are */
    int is_open;         /* the tally is published, and everybody can check the decision */
    uint64_t hide;       /* of the redactions of a column at most this share is conditional; 0:
                            nothing is redacted */
    uint64_t redacted;   /* at most this share of the entries of a column, on average */
    uint64_t order;  /* of the sets of columns that may be asked for: 2 or 3; 0: round one only */
    uint64_t common; /* asked of values that at least so many have, no fewer than k */
    int is_modelled; /* decided as if columns were independent, but for the tolerance */
    uint64_t tolerance; /* a share of people */
    uint64_t payload;   /* bytes of the attachment that goes with a row, padded to this; 0: none */
    uint64_t delta;     /* the decision may be wrong with this probability; 0: it is certain */
} collect_terms;

/* Writes what the specification says; what it must be is for terms_take() to tell. */
cellar_status terms_add(const cellar_invitation_spec *spec, cellar_text *text, cellar_error *err);
cellar_status terms_take(cellar_lines *lines, collect_terms *out, cellar_error *err);

/* 1 when the margins of round two are not known exactly: values were randomised, other people
 * answer, or some redact by chance. */
static inline int terms_estimate(const collect_terms *terms)
{
    return terms->population > 0 || terms->epsilon > 0 || terms->hide > 0;
}

#endif
