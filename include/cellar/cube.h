/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes: every table of a universe, measured together under one guarantee and estimated so that all
 * totals add. A cube is public. docs/cube.md explains what it is and what its numbers mean;
 * cellar/cube_inference.h has intervals and tests. */
#ifndef CELLAR_CUBE_H
#define CELLAR_CUBE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/estimate.h>
#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A cube that was built; immutable. */
typedef struct cellar_cube cellar_cube;

/* ---- life cycle ------------------------------------------------------------ */

/* Opens a cube; the file is mapped, so this takes the time of reading its heading. Refuses what is
 * no cube, or one of another version (CELLAR_ERR_INPUT). Free it with cellar_cube_close(). On
 * failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_open(const char *path, cellar_cube **out,
                                                           cellar_error *err);
CELLAR_API void cellar_cube_close(cellar_cube *cube); /* NULL is fine */

/* 1 when the file begins as a cube does; 0 for others, and for what cannot be read. */
CELLAR_API int cellar_cube_is_file(const char *path);

/* Checks the whole file: every digest, that every table equals the estimate from the measured ones,
 * and that all tables add. CELLAR_ERR_INPUT names what does not hold. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_verify(const cellar_cube *cube,
                                                             const char *name, cellar_error *err);

/* Computes the certificate again from the measured tables that the heading lists: the file may
 * claim less than that and never more (CELLAR_ERR_INPUT, which names what it claims). Takes about
 * as long as the last step of `cube plan`. Whoever answers from a cube calls it after opening. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_recertify(const cellar_cube *cube,
                                                                const char *name,
                                                                cellar_error *err);

/* ---- queries --------------------------------------------------------------- */

/* A JSON object: unit, neighbours, certificate, ledger and how it was made. */
CELLAR_API const char *cellar_cube_description(const cellar_cube *cube);
CELLAR_API size_t cellar_cube_n_variables(const cellar_cube *cube);
CELLAR_API const char *cellar_cube_variable(const cellar_cube *cube, size_t variable);
/* Levels of a variable above its total; the last has its categories. */
CELLAR_API size_t cellar_cube_n_levels(const cellar_cube *cube, size_t variable);
CELLAR_API size_t cellar_cube_n_categories(const cellar_cube *cube, size_t variable, size_t level);
CELLAR_API size_t cellar_cube_n_tables(const cellar_cube *cube);

/* What is known about one table of the universe. `name` is valid until the next call that takes the
 * cube. */
typedef struct cellar_cube_table_info {
    char name[256]; /* "region x sex"; "total" */
    size_t n_variables;
    uint64_t n_cells;
    const char *mechanism; /* that it was measured with; NULL: it has no noise of its own */
    int is_exact;          /* 1: published as it was counted, or summed from such a table */
    double sd;             /* of the noise of a cell: the largest */
} cellar_cube_table_info;

/* Of a table by its number, which is below cellar_cube_n_tables(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_table_at(const cellar_cube *cube,
                                                               size_t table,
                                                               cellar_cube_table_info *out,
                                                               cellar_error *err);

/* ---- asking ------------------------------------------------------------------ */

/* Categories that are shown as one. */
typedef struct cellar_cube_group {
    const char *code, *label; /* label: NULL for the code */
    const char *const *codes;
    size_t n_codes;
} cellar_cube_group;

/* One variable of a table: all categories of a level, or some of them, or groups of them, which
 * have names that neither totals nor other categories have. */
typedef struct cellar_cube_side {
    const char *variable;
    size_t level;             /* 1 is the coarsest; 0: the finest */
    const char *const *codes; /* only these, in the order of the code list; NULL: all */
    size_t n_codes;
    const cellar_cube_group *groups; /* instead of categories; NULL: none */
    size_t n_groups;
} cellar_cube_side;

typedef struct cellar_cube_question {
    const cellar_cube_side *sides; /* none: the total */
    size_t n_sides;
    int margins; /* 1: with all totals; needs every category of every variable, once */
} cellar_cube_question;

/* The table with its standard errors; stored values add exactly between all tables of the cube. A
 * table that is not in the universe is refused (CELLAR_ERR_RULE), and the message names those
 * inside that come nearest. Free *out with cellar_estimate_free(). On failure it is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_ask(const cellar_cube *cube,
                                                          const cellar_cube_question *question,
                                                          cellar_estimate **out, cellar_error *err);

/* The same with non-negative whole numbers beside the estimates (cellar_estimate_round()), which
 * add within this table only. Groups that share a category are refused (CELLAR_ERR_ARGUMENT): whole
 * numbers of them could contradict each other. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_cube_ask_whole(const cellar_cube *cube, const cellar_cube_question *question,
                      cellar_estimate **out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
