/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The classical measures of anonymity: k-anonymity, l-diversity, t-closeness, delta-disclosure and
 * beta-likeness, group by group. Computed from true counts, so confidential. */
#ifndef CELLAR_ANONYMITY_H
#define CELLAR_ANONYMITY_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What comes first in the list of groups. */
typedef enum cellar_anonymity_order {
    CELLAR_ORDER_SIZE,      /* the fewest records; so when there is no sensitive variable */
    CELLAR_ORDER_DISTINCT,  /* the least diverse */
    CELLAR_ORDER_ENTROPY,   /* by the entropy of the sensitive variable */
    CELLAR_ORDER_CLOSENESS, /* the farthest from the whole, equal distance */
    CELLAR_ORDER_ORDERED,   /* ordered distance */
    CELLAR_ORDER_HIERARCHICAL,
    CELLAR_ORDER_DISCLOSURE, /* the largest |ln| of a ratio */
    CELLAR_ORDER_LIKENESS,   /* the largest relative gain */
    CELLAR_ORDER_RISK        /* the likeliest to be re-identified; of a weighted table */
} cellar_anonymity_order;

typedef struct cellar_anonymity_options {
    uint64_t k;              /* groups of fewer than k records are reported; required, from 1 */
    int has_sensitive;       /* 1: `sensitive` is a variable */
    size_t sensitive;        /* its position in the table */
    double recursive_c;      /* c of recursive (c,l)-diversity, above 0; NAN: not asked for */
    const size_t *wildcards; /* NULL: a missing value is a level like any other; else, of each
                                quasi-identifier, the category that matches every value, or
                                CELLAR_NO_CODE (cellar_schema_find_missing()) */
    cellar_anonymity_order order;
} cellar_anonymity_options;

/* Everything undecided: k is 0 (required), c is NAN, missing values are a level. */
CELLAR_API cellar_anonymity_options cellar_anonymity_options_default(void);

/* A group: the records with the same quasi-identifiers. All but the size look at the records that
 * match it: with a wildcard these may be more than its own, and of other groups. */
typedef struct cellar_anonymity_group {
    const uint32_t *categories; /* one for each quasi-identifier */
    uint64_t size;              /* its own records */
    uint64_t n_matches;         /* its k */
    double population; /* of a weighted table, a sample: the sum of the weights of the matching
                          records, sdcMicro's Fk (n_matches is its fk); else NAN */
    double risk;       /* that a record of it is re-identified (see below); else NAN */
    /* Below: of the sensitive variable; 0 without one. */
    uint64_t n_distinct;   /* distinct l-diversity */
    double entropy_l;      /* exp of the entropy: entropy l-diversity for every l up to it */
    uint64_t recursive_l;  /* the largest l with r_1 < c (r_l + ... + r_m), 0 if none */
    double t_equal;        /* t-closeness: earth mover's distance to the whole, exact but for one
                              division: all values equally far apart, */
    double t_ordered;      /* apart by their ranks, */
    double t_hierarchical; /* by the height of the lowest common node; = t_equal without one */
    double delta;          /* the largest |ln(p_g/p)|: INFINITY when a value is absent */
    double beta;           /* the largest (p_g - p)/p, at least 0 */
    int enhanced;          /* 1: no gain is above -ln p: enhanced beta-likeness holds for `beta` */
} cellar_anonymity_group;

typedef struct cellar_anonymity_summary {
    uint64_t n_records, n_groups;
    uint64_t k;                           /* achieved: the least n_matches */
    uint64_t groups_below, records_below; /* below the k asked for */
    cellar_anonymity_group worst;         /* each measure's worst value over all groups */
    double expected; /* of a weighted table: the sum of all records' risks, the expected number of
                        re-identifications; else NAN. Divided by n_records, the global risk */
    uint64_t n_uniques; /* records that nobody else in the data matches */
} cellar_anonymity_summary;

typedef struct cellar_anonymity cellar_anonymity;

/* Measures the groups of the quasi-identifiers `qid` (positions in the table). The result keeps no
 * pointer to its arguments; free it with cellar_anonymity_free(). On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_anonymity_create(const cellar_table *table, const size_t *qid, size_t n_qid,
                        const cellar_anonymity_options *options, cellar_anonymity **out,
                        cellar_error *err) CELLAR_NONNULL(4);
CELLAR_API void cellar_anonymity_free(cellar_anonymity *anonymity); /* NULL is fine */
CELLAR_API cellar_anonymity_summary cellar_anonymity_summarise(const cellar_anonymity *anonymity)
    CELLAR_NONNULL(1);
/* The groups, worst first; equal ones in canonical order. */
CELLAR_API cellar_anonymity_group cellar_anonymity_group_at(const cellar_anonymity *anonymity,
                                                            size_t position) CELLAR_NONNULL(1);

/* The risk that a record of a sample is re-identified: E[1/F] over the number F of people in the
 * population who share its values, given the `sample` records that do and the `population` their
 * weights stand for; F negative binomial (Benedetti and Franconi). 1/sample when the weights stand
 * for no more people than there are records; NAN without records. */
CELLAR_API double cellar_reidentification_risk(uint64_t sample, double population);

/* ---- other people: statistical diversity and closeness ---------------------- */

enum { CELLAR_DIVERSITY_L_MAX = 1000 };

/* Start from cellar_diversity_options_default(). */
typedef struct cellar_diversity_options {
    uint64_t population; /* of how many people, on average; required, from 1 */
    uint64_t l;   /* groups of fewer than l sensitive values are not diverse; required, from 1 */
    double t;     /* groups farther than this from the whole are not close; NAN: not asked */
    double delta; /* the table is a sample: bands that hold with probability 1 - delta, of
                     declared domains; NAN: no bands */
} cellar_diversity_options;

/* l and the population are required. */
CELLAR_API cellar_diversity_options cellar_diversity_options_default(void);

/* A share of people: its estimate, and the band that holds it; [0,1] without a delta. */
typedef struct cellar_diversity_share {
    double value, lower, upper;
} cellar_diversity_share;

typedef struct cellar_diversity {
    cellar_diversity_share below_l; /* expected in groups of fewer than l distinct values, among
                                       other people drawn from the same shares */
    cellar_diversity_share
        beyond_t; /* in groups whose sensitive values are distributed at a total
                     variation distance of more than t from all; NAN: not asked */
} cellar_diversity;

/* What the groups of `qid` say about a sensitive variable of a population, of which the records of
 * the table are a sample. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_diversity_estimate(const cellar_table *table, const size_t *qid, size_t n_qid,
                          size_t sensitive, const cellar_diversity_options *options,
                          cellar_diversity *out, cellar_error *err) CELLAR_NONNULL(1, 5, 6);

#ifdef __cplusplus
}
#endif

#endif
