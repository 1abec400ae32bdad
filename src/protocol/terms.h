/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terms of an invitation: how many, how safe, and by which rules it is decided. */
#ifndef CELLAR_PROTOCOL_TERMS_H
#define CELLAR_PROTOCOL_TERMS_H

#include <cellar/collect.h>

#include "protocol/lines.h"

/* The model that a decision rests on, but for a share of the people. */
typedef struct model_terms {
    cellar_collect_model_kind kind;
    unsigned char file[CELLAR_COLLECT_ID_BYTES]; /* of a sample or a cube; so below */
    uint64_t n_people;
    uint64_t tolerance;
} model_terms;

/* Shares and epsilon are in units of 10^-18. */
typedef struct collect_terms {
    uint64_t n_people, k, exposure;
    uint64_t population; /* of other people; 0: the same people answer twice */
    uint64_t epsilon;    /* of each message of round one; 0: values are told as they are */
    int is_open;         /* the tally is published, and everybody can check the decision */
    uint64_t hide;       /* of the redactions of a column at most this share is conditional; 0:
                            nothing is redacted */
    uint64_t redacted;   /* at most this share of the entries of a column, on average */
    uint64_t order;    /* of the sets of columns that may be asked for: 2 or 3; 0: round one only */
    uint64_t common;   /* asked of values that at least so many have, no fewer than k */
    model_terms model; /* that the decision rests on */
    uint64_t payload;  /* bytes of the attachment that goes with a row, padded to this; 0: none */
    uint64_t delta;    /* the decision may be wrong with this probability; 0: it is certain */
} collect_terms;

/* Writes what the specification says; what it must be is for terms_take() to tell. */
cellar_status terms_add(const cellar_invitation_spec *spec, cellar_text *text, cellar_error *err);
/* The lines about the model, if there is one: the same in an invitation and in its decision. */
void terms_add_model(const model_terms *model, cellar_text *text);
cellar_status terms_take(cellar_lines *lines, collect_terms *out, cellar_error *err);

/* 1 when the model was counted, and is in a file. */
static inline int terms_have_file(const collect_terms *terms)
{
    return terms->model.kind == CELLAR_COLLECT_SAMPLE || terms->model.kind == CELLAR_COLLECT_CUBE;
}

/* 1 when the margins of round two are not known exactly: values were randomised, other people
 * answer, or some redact by chance. */
static inline int terms_estimate(const collect_terms *terms)
{
    return terms->population > 0 || terms->epsilon > 0 || terms->hide > 0;
}

#endif
