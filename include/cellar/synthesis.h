/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synthetic records: made-up people whose tables are those of a release.
 *
 * Records are computed from what is public already: a release, a table of whole numbers computed
 * from releases, a cube. Nothing true is read, so this is post-processing: pure and approximate
 * guarantees stay as they are and nothing is charged. No record was copied; one may coincide with a
 * real person; what protects people is the certificate, which goes along with the records.
 * docs/synthesis.md explains all of it. */
#ifndef CELLAR_SYNTHESIS_H
#define CELLAR_SYNTHESIS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/cube.h>
#include <cellar/estimate.h>
#include <cellar/export.h>
#include <cellar/random.h>
#include <cellar/release.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What every file of synthetic records says. */
#define CELLAR_SYNTHETIC_STATEMENT                                                                 \
    "synthetic: no record was copied; one may coincide with a real person; what protects people "  \
    "is the certificate"

/* Records: combinations of categories, each with how many records have it; immutable. */
typedef struct cellar_synthesis cellar_synthesis;

/* ---- from a release: exactly its values ---------------------------------------- */

/* Start from cellar_synthesis_options_default(). */
typedef struct cellar_synthesis_options {
    int ignore_margins;   /* 1: margins and upper levels that are not the sums of the inner cells
                             are ignored; else such a release is refused [0] */
    uint64_t max_records; /* refuse to make more [1000000000] */
} cellar_synthesis_options;

/* The values in brackets. */
CELLAR_API cellar_synthesis_options cellar_synthesis_options_default(void);

/* As many records of each inner cell as its released value says: counting the records gives the
 * release back. Refuses (CELLAR_ERR_RULE) negative values, values that are not shown, margins that
 * do not add, and a simulation; the message names what helps. `options` may be NULL. On failure
 * *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_synthesis_from_release(
    const cellar_release *release, const cellar_synthesis_options *options, cellar_synthesis **out,
    cellar_error *err) CELLAR_NONNULL(1);

/* The same from the whole numbers of an estimate: what `fit` makes of releases, or a table of a
 * cube with whole numbers. Refuses estimates that have none. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_synthesis_from_estimate(
    const cellar_estimate *estimate, const cellar_synthesis_options *options,
    cellar_synthesis **out, cellar_error *err) CELLAR_NONNULL(1);

/* The same from a file of either kind, in CSV, JSON-stat or PC-Axis. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_synthesis_from_file(const char *path, const cellar_synthesis_options *options,
                           cellar_synthesis **out, cellar_error *err);

CELLAR_API void cellar_synthesis_free(cellar_synthesis *synthesis); /* NULL is fine */

/* ---- from a cube: a model of its tables --------------------------------------------- */

/* Which variable depends on which, and the tables of the cube that say how; immutable. Every
 * variable is drawn given some of those before it, within a table that the cube has, so that these
 * tables are the cliques of a junction tree. The variables are chosen by mutual information, less
 * what noise adds to it, and all of it is computed from the cube. */
typedef struct cellar_synthesis_model cellar_synthesis_model;

/* Start from cellar_synthesis_model_options_default(). */
typedef struct cellar_synthesis_model_options {
    uint64_t n_records;       /* [0: the total that the cube estimates] */
    uint64_t max_records;     /* refuse to make more [100000000] */
    uint64_t max_table_cells; /* tables of more cells are not used [1000000] */
} cellar_synthesis_model_options;

/* The values in brackets. */
CELLAR_API cellar_synthesis_model_options cellar_synthesis_model_options_default(void);

/* `options` may be NULL; the cube outlives the model. Refuses a cube whose total is not positive
 * (CELLAR_ERR_RULE). On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_synthesis_model_create(
    const cellar_cube *cube, const cellar_synthesis_model_options *options,
    cellar_synthesis_model **out, cellar_error *err) CELLAR_NONNULL(1);
CELLAR_API void cellar_synthesis_model_free(cellar_synthesis_model *model); /* NULL is fine */

/* One variable, in the order in which they are drawn. */
typedef struct cellar_synthesis_factor {
    const char *variable;
    const char *given;  /* the variables that it depends on, "region x sex"; "": none */
    double information; /* in nats, between it and them, less what noise adds on average */
    double gain;        /* that, less what the noise of the table costs the model */
} cellar_synthesis_factor;
CELLAR_API size_t cellar_synthesis_model_n_factors(const cellar_synthesis_model *model)
    CELLAR_NONNULL(1);
CELLAR_API cellar_synthesis_factor
cellar_synthesis_model_factor(const cellar_synthesis_model *model, size_t factor) CELLAR_NONNULL(1);

/* Tables of the model without negative cells are scaled until they add to each other. 0 where they
 * do; else how many records they miss by, added up over the margin of a table that is furthest
 * away: the records then meet the model's tables by no better than that. */
CELLAR_API double cellar_synthesis_model_unmet(const cellar_synthesis_model *model)
    CELLAR_NONNULL(1);

/* Draws records: the tables of the model are met up to rounding, others as the model has them. A
 * cube pays for any number of sets; they all share its noise. `rng` is NULL for the secure
 * generator. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_synthesis_draw(const cellar_synthesis_model *model,
                                                                cellar_rng *rng,
                                                                cellar_synthesis **out,
                                                                cellar_error *err)
    CELLAR_NONNULL(1);

/* A table of the records beside that of the cube. */
typedef struct cellar_synthesis_fit {
    char name[256]; /* "region x sex" */
    size_t n_variables;
    uint64_t n_cells;
    int is_in_model;   /* 1: a table of the model, or below one */
    double sd;         /* of the noise of a cell of the cube's table: the largest */
    double difference; /* root mean square of records, scaled to the estimated total, less estimate;
                          the noise of the estimate alone makes it about sd */
    double largest;    /* the largest difference of a cell */
} cellar_synthesis_fit;
/* The tables of the cube that can be compared, and one of them by its number. */
CELLAR_API size_t cellar_synthesis_model_n_tables(const cellar_synthesis_model *model)
    CELLAR_NONNULL(1);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_synthesis_compare(
    const cellar_synthesis_model *model, const cellar_synthesis *synthesis, size_t table,
    cellar_synthesis_fit *out, cellar_error *err) CELLAR_NONNULL(1);

/* ---- the records ------------------------------------------------------------------ */

/* How many records there are; their variables, and the name of one. */
CELLAR_API uint64_t cellar_synthesis_n_records(const cellar_synthesis *synthesis) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_synthesis_n_variables(const cellar_synthesis *synthesis) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_synthesis_variable(const cellar_synthesis *synthesis, size_t variable)
    CELLAR_NONNULL(1);
/* Categories of a variable, and the code of one of them. */
CELLAR_API size_t cellar_synthesis_n_categories(const cellar_synthesis *synthesis, size_t variable)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_synthesis_code(const cellar_synthesis *synthesis, size_t variable,
                                             size_t category) CELLAR_NONNULL(1);
/* The different combinations in the order of their categories, and one of them: a category of each
 * variable (valid as long as the records) and how many records have it, at least one. */
CELLAR_API size_t cellar_synthesis_n_combinations(const cellar_synthesis *synthesis)
    CELLAR_NONNULL(1);
CELLAR_API const uint32_t *cellar_synthesis_combination(const cellar_synthesis *synthesis,
                                                        size_t combination, uint64_t *n_records)
    CELLAR_NONNULL(1);
/* A JSON object: the statement, how the records were made, and the descriptions, certificates
 * included, of what they were made from. */
CELLAR_API const char *cellar_synthesis_description(const cellar_synthesis *synthesis)
    CELLAR_NONNULL(1);

/* ---- files --------------------------------------------------------------------------- */

/* Start from cellar_synthesis_write_options_default(). Strings stay the caller's. */
typedef struct cellar_synthesis_write_options {
    int labels;               /* 1: labels of the code lists instead of codes [0] */
    const char *language;     /* with labels: which of several [NULL: the first] */
    const char *count_column; /* each combination once, with this column that says how many records
                                 it stands for [NULL: a row for each record] */
    int shuffle;              /* 1: in an order drawn by the secure generator; 0: in the order of
                                 categories. Either shows nothing about the data [0] */
    int neutralise_formulas;  /* 1: a name or code that a spreadsheet would take for a formula gets
                                 a leading ' [0] */
    int replace;              /* 1: files that exist are replaced [0] */
} cellar_synthesis_write_options;

/* The values in brackets. */
CELLAR_API cellar_synthesis_write_options cellar_synthesis_write_options_default(void);

/* Writes the records as text: .csv, .tsv, or either with .gz behind it. The description with the
 * digest of the file appears first, as PATH.synthetic.json; then the records, whole or not at all.
 * `options` may be NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_synthesis_write(
    const cellar_synthesis *synthesis, const char *path,
    const cellar_synthesis_write_options *options, cellar_error *err) CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
