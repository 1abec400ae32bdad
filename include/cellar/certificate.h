/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates: the guarantee of what is released, computed from its distribution. All bounds are
 * proven: enclosures rounded outward, for the worst of all counts. */
#ifndef CELLAR_CERTIFICATE_H
#define CELLAR_CERTIFICATE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/cell_key.h>
#include <cellar/dirichlet.h>
#include <cellar/export.h>
#include <cellar/mechanism.h>
#include <cellar/output.h>
#include <cellar/status.h>
#include <cellar/terms.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_certificate cellar_certificate; /* immutable */

typedef enum cellar_verdict {
    CELLAR_VERDICT_HOLDS,
    CELLAR_VERDICT_FAILS,
    CELLAR_VERDICT_UNKNOWN /* nothing could be proved either way */
} cellar_verdict;

/* "holds", "fails", "unknown". */
CELLAR_API const char *cellar_verdict_name(cellar_verdict verdict);
/* The way back: 1 when there is a verdict of that name. */
CELLAR_API int cellar_verdict_find(const char *name, cellar_verdict *out);

/* What is released, to whom, about what. Start from cellar_certify_options_default(), which
 * assumes the least: one record in one cell. */
typedef struct cellar_certify_options {
    cellar_neighbours neighbours;
    cellar_negatives negatives;
    cellar_domain domain;
    cellar_parameter_choice choice;
    uint64_t n_cells;              /* released cells that one record touches, d [1] */
    uint64_t max_weight;           /* the largest weight of a record [1] */
    uint64_t max_per_unit;         /* records of a unit, m [1] */
    const char *unit;              /* "person"; NULL: "record" */
    const char *reviewers;         /* who reviewed categories drafted from the data; or NULL */
    const char *const *invariants; /* NULL-terminated: true totals that are published; or NULL */
    uint64_t min_count;            /* no true count is below, which is known from the data [0] */
    uint64_t population;           /* units in the population; 0: not known */
    int parallel;                  /* 1: the mechanisms protect tables of different units */
    /* Multiplies the counted work that a certificate takes at most, usually 200 million steps (some
     * seconds), and that of one question about one cell, usually 60 million; beyond it proven
     * bounds stand for what was not looked at, and a warning says so. 0: no limit [1].
     */
    double effort;
    /* Exact decimals, such as "0.1". */
    const char *const *epsilons;
    size_t n_epsilons;
    const char *const *deltas;
    size_t n_deltas;
} cellar_certify_options;

/* One record in one cell: add-remove, negatives kept, domains declared, no questions. */
CELLAR_API cellar_certify_options cellar_certify_options_default(void);

/* A mechanism, and how many sets of options->n_cells released cells one record touches under it. */
typedef struct cellar_certify_part {
    const cellar_mechanism *mechanism;
    uint64_t times; /* at least 1 */
} cellar_certify_part;

/* The guarantee at one epsilon. */
typedef struct cellar_profile_point {
    double epsilon;
    double delta;               /* approximate differential privacy */
    double delta_lower;         /* the true one is not below; equals delta but for rounding when
                                 * one cell is concerned */
    double delta_probabilistic; /* P(|loss| > epsilon); NAN: not computed */
    int probabilistic_is_bound; /* 1: some counts, cells or weights may all have less */
    double delta_published;     /* as published for this mechanism; NAN: nothing is */
    int64_t count, neighbour;   /* the worst case, drawn from `count` */
    int everywhere;             /* 1: every count is as bad */
} cellar_profile_point;

/* The epsilon that goes with a delta. */
typedef struct cellar_epsilon_at {
    double delta;
    double epsilon; /* INFINITY: no epsilon has that delta */
    double lower;   /* no smaller epsilon has it */
} cellar_epsilon_at;

/* A guarantee of everything together; epsilon is NAN when the method has nothing to say. */
typedef struct cellar_guarantee {
    double epsilon, delta;
} cellar_guarantee;

typedef struct cellar_composition {
    uint64_t n_parts; /* cells times releases, times two under substitution */
    cellar_guarantee basic, advanced, tight;
    double lower; /* the tight epsilon is not below */
    int is_tight; /* 0: composed from an envelope of several worst cases */
    double rho;   /* zero-concentrated; NAN: none is known */
} cellar_composition;

/* ---- life cycle ------------------------------------------------------------ */

/* Certifies the mechanisms released together, up to 4,096 different ones. Options that contradict
 * each other are refused (CELLAR_ERR_ARGUMENT); so is a certificate whose two computations disagree
 * (CELLAR_ERR_RULE). Keeps nothing of its arguments. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_certify(const cellar_certify_part *parts, size_t n,
                                                         const cellar_certify_options *options,
                                                         cellar_certificate **out,
                                                         cellar_error *err);
/* The certificate of cell keys, whose verdict is `fails`: with the probability that differencing
 * two released cells reveals a record. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_certify_cell_key(const cellar_cell_key *cell_key, const cellar_certify_options *options,
                        cellar_certificate **out, cellar_error *err);
/* The certificate of a table drawn as a whole: pure epsilon ln((n+A)/A) for substitution, and for
 * add-remove with the further factor when options->population is the public number of units. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_certify_dirichlet(const cellar_dirichlet *dirichlet, const cellar_certify_options *options,
                         cellar_certificate **out, cellar_error *err);
CELLAR_API void cellar_certificate_free(cellar_certificate *certificate); /* NULL is fine */

/* ---- queries --------------------------------------------------------------- */

/* Whether the guarantee holds. */
CELLAR_API cellar_verdict cellar_certificate_verdict(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
/* Why, as a sentence; NULL when it holds. */
CELLAR_API const char *cellar_certificate_reason(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
/* The smallest epsilon with delta 0, rounded up; INFINITY: there is none. */
CELLAR_API double cellar_certificate_pure_epsilon(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
/* The same as an exact decimal, or NULL. */
CELLAR_API const char *cellar_certificate_pure_exact(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
/* The largest probability of a released value that only one of two neighbours can give. */
CELLAR_API double cellar_certificate_infinite(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
CELLAR_API size_t cellar_certificate_n_points(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
CELLAR_API cellar_profile_point cellar_certificate_point(const cellar_certificate *certificate,
                                                         size_t index) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_certificate_n_epsilons(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
CELLAR_API cellar_epsilon_at cellar_certificate_epsilon_at(const cellar_certificate *certificate,
                                                           size_t index) CELLAR_NONNULL(1);
CELLAR_API cellar_composition cellar_certificate_composition(const cellar_certificate *certificate)
    CELLAR_NONNULL(1);
/* The i-th warning, as a sentence; NULL beyond the last. */
CELLAR_API const char *cellar_certificate_warning(const cellar_certificate *certificate,
                                                  size_t index) CELLAR_NONNULL(1);

/* ---- output ---------------------------------------------------------------- */

/* One JSON object, as docs/certificates.md describes it. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_certificate_write_json(
    const cellar_certificate *certificate, cellar_output *output, cellar_error *err);
/* The same for people, in words a release committee can read. `explain`: also what the numbers
 * mean, and the attack where there is no guarantee. */
CELLAR_API void cellar_certificate_write(const cellar_certificate *certificate, int explain,
                                         cellar_output *output);

#ifdef __cplusplus
}
#endif

#endif
