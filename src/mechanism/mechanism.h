/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a mechanism is inside: a table of functions, few of them required. */
#ifndef CELLAR_MECHANISM_MECHANISM_H
#define CELLAR_MECHANISM_MECHANISM_H

#include <cellar/mechanism.h>

#include "math/flint.h"
#include "mechanism/facts/facts.h"
#include "mechanism/law_row.h"
#include "mechanism/parameter.h"

typedef struct cellar_mechanism_ops {
    const char *name;    /* stable; written into certificates */
    uint32_t revision;   /* bump when any released number would change */
    const char *summary; /* one line for lists */
    size_t size;         /* of the object, whose first member is a cellar_mechanism */
    const cellar_parameter_rule *parameters;

    /* Optional. Derives what the parameters imply. The object is zeroed but for its base; on
     * failure `clear` is called on what there is. */
    cellar_status (*init)(cellar_mechanism *m, cellar_error *err);
    /* Optional. Releases what init made, not the object. */
    void (*clear)(cellar_mechanism *m);

    /* Required. Natural log of P(released | count); -INFINITY off the support. */
    double (*log_pmf)(const cellar_mechanism *m, int64_t count, int64_t released);
    /* Required. An enclosure of P(released | count) to about `bits` bits. */
    void (*pmf_ball)(const cellar_mechanism *m, int64_t count, int64_t released, int64_t bits,
                     arb_t out);
    /* Required. An interval outside which the mass is at most `tail`; tail == 0: the support,
     * INT64_MIN and INT64_MAX standing for unbounded ends. */
    void (*support)(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                    int64_t *high);
    /* Required. Draws for many cells at once; randomness only from `rng`. */
    cellar_status (*sample_many)(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                 cellar_rng *rng, int64_t *released, cellar_error *err);

    /* Optional: NULL means derived from the above, by summing log_pmf over the support. */
    double (*cdf)(const cellar_mechanism *m, int64_t count, int64_t released);
    double (*survival)(const cellar_mechanism *m, int64_t count, int64_t released);
    /* Mean, variance and entropy with negatives kept (presence is filled in for it). */
    void (*moments)(const cellar_mechanism *m, int64_t count, cellar_moments *out);
    /* The first two of them, where the entropy is a sum over a distribution that may be very wide.
     */
    void (*mean_variance)(const cellar_mechanism *m, int64_t count, double *mean, double *variance);
    /* An enclosure of P(more than `released` | count), for tails that are not summed. */
    void (*survival_ball)(const cellar_mechanism *m, int64_t count, int64_t released, int64_t bits,
                          arb_t out);
    /* And of P(at most `released` | count), precise however small: where it is not given, it is
     * what the other one leaves. */
    void (*cdf_ball)(const cellar_mechanism *m, int64_t count, int64_t released, int64_t bits,
                     arb_t out);

    /* Enclosures of P(first + i | count), i < n, where many together are cheaper. */
    void (*pmf_balls)(const cellar_mechanism *m, int64_t count, int64_t first, size_t n,
                      int64_t bits, arb_ptr out);

    /* The distribution of a count in double-doubles; 0 when there is none. */
    int (*law_row)(const cellar_mechanism *m, int64_t count, cellar_law_row *out);

    int is_additive; /* 1: P(released | count) depends on |released - count| only */
    int is_joint; /* 1: the distribution is that of one cell, and cells are not drawn independently:
                     nothing may be certified or drawn cell by cell */
    /* Optional. What certificates may rely on, with proofs. */
    const cellar_facts *facts;
} cellar_mechanism_ops;

/* The first member of each mechanism's own struct. */
struct cellar_mechanism {
    const cellar_mechanism_ops *ops;
    cellar_parameter_list parameters;
    char *spec; /* canonical */
};

/* All mechanisms; NULL-terminated. */
extern const cellar_mechanism_ops *const cellar_mechanism_registry[];

/* P(released | count), and P(more than released | count), as enclosures. The second sums pmf
 * balls over a finite support when there is no survival_ball. */
void cellar_mechanism_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                               int64_t bits, arb_t out);

/* Mean and variance with negatives kept, quickly for counts of any size. */
void cellar_mechanism_mean_variance(const cellar_mechanism *m, int64_t count, double *mean,
                                    double *variance);

/* Moments derived from log_pmf alone, with negatives set to zero or not: what
 * cellar_mechanism_moments() falls back on, and what the conformance suite compares with. */
void cellar_mechanism_moments_by_sum(const cellar_mechanism *m, int64_t count,
                                     cellar_negatives negatives, cellar_moments *out);

#endif
