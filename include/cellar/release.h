/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases: tables that can be published. The type is the gate: what publishes takes a release
 * only. */
#ifndef CELLAR_RELEASE_H
#define CELLAR_RELEASE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/acceptance.h>
#include <cellar/certificate.h>
#include <cellar/dirichlet.h>
#include <cellar/export.h>
#include <cellar/key.h>
#include <cellar/mechanism.h>
#include <cellar/progress.h>
#include <cellar/random.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Released values and how they were made; immutable. It holds no path, host, user, number of
 * dropped rows or true count. */
typedef struct cellar_release cellar_release;

/* Where the randomness came from. */
typedef enum cellar_noise_source {
    CELLAR_NOISE_SECURE,      /* the operating system's entropy */
    CELLAR_NOISE_KEYED,       /* a pseudo-random function of table and cell under a key */
    CELLAR_NOISE_RECORD_KEYS, /* the keys of the records in the cell */
    CELLAR_NOISE_SEEDED       /* a seed: a simulation, never to be published */
} cellar_noise_source;

/* What becomes of released values below a threshold, zeros and negative ones among them. Either way
 * it is decided by the released values alone: the guarantee is the same. */
typedef enum cellar_below {
    CELLAR_BELOW_ZERO,    /* they become 0 */
    CELLAR_BELOW_SUPPRESS /* they are not shown: such a cell has the status SUPPRESSED */
} cellar_below;

/* A cell of a release. */
typedef struct cellar_released_cell {
    uint64_t index;
    int64_t released;
    cellar_cell_status status; /* NORMAL, STRUCTURAL_ZERO or SUPPRESSED (`released` is then 0) */
} cellar_released_cell;

/* ---- protecting a table; cellar/charged.h has the same at a price ------------- */

/* Start from cellar_protect_options_default(). Strings and generators stay the caller's. */
typedef struct cellar_protect_options {
    cellar_negatives negatives; /* required [CELLAR_NEGATIVES_UNDECIDED] */
    int64_t threshold;  /* released values below it become 0, so it needs CELLAR_NEGATIVES_ZERO
                           [0: none] */
    cellar_below below; /* what becomes of them; suppressing needs a threshold [zero] */
    uint64_t max_cells; /* refuse when an empty table would list more [100000000] */

    /* One of them is required when a record touches several cells (d > 1). */
    int per_cell;              /* 1: the caller knows that the parameters are those of one cell */
    const char *total_epsilon; /* a decimal that epsilon x d x max_per_unit x max_weight, twice
                                  that under substitution, may not exceed; see
                                  cellar_protect_share(). Of a mechanism without an epsilon the
                                  certificate of all cells together at `delta` may not exceed it;
                                  see cellar_protect_calibrate() */

    int domain_public;            /* 1: observed domains are asserted to be public; recorded */
    const char *unit;             /* what is protected: "person" ["record" when NULL] */
    cellar_neighbours neighbours; /* what is hidden about it [CELLAR_NEIGHBOURS_DEFAULT] */
    uint64_t max_per_unit;        /* the largest number of records of a unit [1] */
    uint64_t max_weight; /* of a record; required for a weighted table, whose sums are released */
    cellar_parameter_choice choice;
    unsigned accept;    /* the sum of what is accepted (cellar/acceptance.h) [0: nothing] */
    const char *date;   /* "2026-07-01" [today, UTC] */
    const char *ledger; /* the stamp of the charge ["unaccounted, not for publication"] */
    const char *delta;  /* the delta to charge, a decimal, at which the certificate states epsilon
                           first; mechanisms without a pure epsilon need one unless rho is charged
                           [NULL: none] */

    /* Noise: fresh entropy unless one of these is given. */
    const cellar_key *key; /* keyed noise: the same table has the same values however often it is
                              asked for, and no other table has any of their noise */
    const char *edition;   /* with `key`: the edition of the data, which must be the key's */
    const char *dataset;   /* with `key`: the data set that was counted, if the edition does not
                              name it; another name is other noise [NULL] */
    cellar_rng *rng;       /* a seeded generator makes a simulation, which cannot be written */

    int n_threads; /* 0: one per processor */
    cellar_progress progress;
} cellar_protect_options;

/* The values in brackets; negatives have to be chosen. */
CELLAR_API cellar_protect_options cellar_protect_options_default(void);

/* What to expect, before anything is drawn. Computed from true counts: confidential, but for
 * empty_size, which does not depend on them. */
typedef struct cellar_forecast {
    uint64_t cells_per_record; /* d */
    uint64_t n_possible;       /* cells of the table; structural zeros count too */
    double empty_size;         /* cells listed if every count were zero */
    double size;               /* cells listed */
    double false_positives;    /* empty cells with a positive released value */
    double bias;               /* of the sum of all released inner cells */
    char total_epsilon[80];    /* epsilon x d x max_per_unit x max_weight, twice that under
                                  substitution; "" without epsilon */
} cellar_forecast;

/* Checks all that cellar_release_protect() checks, with the same refusals, and draws nothing. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_protect_forecast(
    const cellar_table *table, const cellar_mechanism *mechanism,
    const cellar_protect_options *options, cellar_forecast *out, cellar_error *err);

/* The share of one cell when `total_epsilon` is split evenly over n_parts: the largest decimal of
 * 15 digits whose n_parts-fold does not exceed it. Fails when the text is no positive decimal. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_protect_share(const char *total_epsilon,
                                                               uint64_t n_parts, char out[64],
                                                               cellar_error *err);

/* The spec of "gaussian" or "discrete-gaussian" whose sigma, a decimal of four digits, is the
 * smallest at which the certificate of all cells that a unit touches states an epsilon of at most
 * options->total_epsilon at options->delta; neighbours, max_per_unit and max_weight count too.
 * CELLAR_ERR_RULE when no sigma does. (The epsilon of discrete-gaussian is not monotone in sigma:
 * there a smaller one may keep the total as well.) */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_protect_calibrate(const char *name, const cellar_table *table,
                         const cellar_protect_options *options, char out[64], cellar_error *err);

/* Writes the spec of one cell into `out` of `size` bytes: `spec` with its share of
 * options->total_epsilon as its epsilon, or with the sigma of cellar_protect_calibrate(). Without a
 * total, and where the spec has an epsilon or (Gaussian noise) any parameters, as it is. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_protect_complete_spec(
    const cellar_table *table, const char *spec, const cellar_protect_options *options, char *out,
    size_t size, cellar_error *err) CELLAR_NONNULL(1, 2, 3, 4);

/* Perturbs every cell of the table, sampling zeros included, each independently with exactly the
 * distribution of the mechanism; structural zeros stay. A cell is listed if and only if its
 * released value is not zero. Of a weighted table the weighted sums are perturbed, each rounded
 * half up to a whole number first; a record then changes a cell by at most max_weight. The release
 * shares the table's schema and keeps no other pointer.
 *
 * Refuses with CELLAR_ERR_RULE: an observed domain that is not asserted to be public; more than
 * max_cells expected; a table whose cells are marked suppressed, not available or unreliable (a
 * mark that depends on the data is not covered by any mechanism); a weighted table without
 * max_weight, or clipped to a larger bound; an epsilon above its share of the total; keyed noise
 * for a table that does not say what was counted (cellar_table_tabulation()); a level of
 * protection that has to be accepted and is not, unless the release is a simulation. On
 * failure *out is NULL and nothing was drawn that could be seen. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_release_protect(
    const cellar_table *table, const cellar_mechanism *mechanism,
    const cellar_protect_options *options, cellar_release **out, cellar_error *err);

/* The same with cell keys: `spec` is "cell-key:file=..." (cellar/cell_key.h). The table must hold
 * record keys, which determine the released values: nothing is drawn. A cell without records has no
 * key and stays zero. There is no differential privacy, and the certificate says so; per_cell,
 * total_epsilon and the noise of `options` are ignored. Weighted tables are refused. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_release_protect_cell_keys(
    const cellar_table *table, const char *spec, const cellar_protect_options *options,
    cellar_release **out, cellar_error *err);

/* The same with "multinomial-dirichlet:..." (cellar/dirichlet.h), which draws all cells of a table
 * without margins together. Unless the spec names a total, the table's own is released exactly: an
 * invariant, which the certificate names. Weighted tables are refused. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_release_protect_dirichlet(
    const cellar_table *table, const char *spec, const cellar_protect_options *options,
    cellar_release **out, cellar_error *err);

CELLAR_API void cellar_release_free(cellar_release *release); /* NULL is fine */

/* ---- the released values --------------------------------------------------- */

/* The variables and categories; they live as long as the release. */
CELLAR_API const cellar_schema *cellar_release_schema(const cellar_release *release)
    CELLAR_NONNULL(1);
/* The listed cells in canonical (index) order: those whose value is not zero, and structural
 * zeros that no rule of the schema declares. */
CELLAR_API size_t cellar_release_n_cells(const cellar_release *release) CELLAR_NONNULL(1);
CELLAR_API cellar_released_cell cellar_release_cell(const cellar_release *release, size_t position)
    CELLAR_NONNULL(1);
/* Any cell by its index, listed or not. */
CELLAR_API cellar_released_cell cellar_release_at(const cellar_release *release, uint64_t index)
    CELLAR_NONNULL(1);

/* ---- how they were made ---------------------------------------------------- */

/* The canonical spec, whose parameters are those of one cell. */
CELLAR_API const char *cellar_release_mechanism(const cellar_release *release);
CELLAR_API uint32_t cellar_release_mechanism_revision(const cellar_release *release);
CELLAR_API cellar_negatives cellar_release_negatives(const cellar_release *release);
CELLAR_API int64_t cellar_release_threshold(const cellar_release *release); /* 0: none */
/* When values below the threshold are suppressed, every cell that is not listed is below it (or a
 * structural zero); else it is a zero. */
CELLAR_API cellar_below cellar_release_below(const cellar_release *release);
CELLAR_API cellar_noise_source cellar_release_noise(const cellar_release *release);
/* The id of the key, NULL when there is none. */
CELLAR_API const char *cellar_release_key_id(const cellar_release *release) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_release_cells_per_record(const cellar_release *release)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_release_unit(const cellar_release *release) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_release_max_per_unit(const cellar_release *release) CELLAR_NONNULL(1);
/* 1 when the values are weighted sums; max_weight is then the bound on a record's weight, else 1.
 */
CELLAR_API int cellar_release_is_weighted(const cellar_release *release) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_release_max_weight(const cellar_release *release) CELLAR_NONNULL(1);
/* What the certificate hides about a unit. */
CELLAR_API cellar_neighbours cellar_release_neighbours(const cellar_release *release)
    CELLAR_NONNULL(1);
/* epsilon x d x max_per_unit x max_weight, twice that under substitution, as an exact decimal; NULL
 * for mechanisms without an epsilon. */
CELLAR_API const char *cellar_release_total_epsilon(const cellar_release *release)
    CELLAR_NONNULL(1);
CELLAR_API cellar_parameter_choice cellar_release_choice(const cellar_release *release)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_release_date(const cellar_release *release) CELLAR_NONNULL(1);
/* "unaccounted, not for publication" unless a ledger was charged. */
CELLAR_API const char *cellar_release_ledger(const cellar_release *release) CELLAR_NONNULL(1);
/* The verdict of the certificate. */
CELLAR_API cellar_verdict cellar_release_verdict(const cellar_release *release) CELLAR_NONNULL(1);
/* How well it protects. */
CELLAR_API cellar_protection_level cellar_release_level(const cellar_release *release)
    CELLAR_NONNULL(1);
/* What the certificate promises for one unit, in a sentence for those who see the table. */
CELLAR_API const char *cellar_release_guarantee(const cellar_release *release) CELLAR_NONNULL(1);
/* The certificate, a JSON object. */
CELLAR_API const char *cellar_release_certificate(const cellar_release *release) CELLAR_NONNULL(1);
/* Computes the certificate again from the mechanism that the release names, and compares: one that
 * claims more, as a forged one does, or names a mechanism or revision that is not known here, is
 * CELLAR_ERR_INPUT. Whether that mechanism was used, only a signature can show. *is_checked is 0
 * when there is nothing to compute it from: cellar_release_can_recertify() says no. `name` is the
 * file in messages. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_release_recertify(const cellar_release *release,
                                                                   const char *name,
                                                                   int *is_checked,
                                                                   cellar_error *err);
/* 0 for noise from a matrix of transition probabilities: a release names its file and does not
 * carry it, so that its certificate rests on the publisher's word. */
CELLAR_API int cellar_release_can_recertify(const cellar_release *release);
/* All of the above as one JSON object: what files carry. */
CELLAR_API const char *cellar_release_description(const cellar_release *release) CELLAR_NONNULL(1);

/* "secure", "keyed", "record-keys", "seeded". */
CELLAR_API const char *cellar_noise_source_name(cellar_noise_source source);

#ifdef __cplusplus
}
#endif

#endif
