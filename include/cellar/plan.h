/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans: a set of tables that is released together, with its cost and its accuracy, known before
 * anything is drawn; and its run, which writes all files or none. docs/plans.md describes what a
 * plan can hold. */
#ifndef CELLAR_PLAN_H
#define CELLAR_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/certificate.h>
#include <cellar/export.h>
#include <cellar/ledger.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_plan cellar_plan; /* immutable */

enum { CELLAR_PLAN_DIGEST_TEXT = 65 };

/* ---- life cycle ------------------------------------------------------------ */

/* Reads a plan and the code lists and recode maps it names; files are looked for in the plan's
 * folder. No data are read. On failure *out is NULL and the message names line, place and reason:
 * "plan.yaml:12: tables[2].epsilon: expected a positive decimal". */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_plan_read(const char *path, cellar_plan **out,
                                                           cellar_error *err);
/* The same from memory; `name` stands for the file in messages, `folder` (with its slash, or NULL)
 * is where files are looked for. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_plan_parse(const char *name, const char *folder,
                                                            const char *bytes, size_t length,
                                                            cellar_plan **out, cellar_error *err);
CELLAR_API void cellar_plan_free(cellar_plan *plan); /* NULL is fine */

/* Where the tables are counted when the plan names a table of a database (data: table: ...): places
 * as cellar_tabulate_at() takes them, which outlive the plan. A plan of a file is refused
 * (CELLAR_ERR_ARGUMENT). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_plan_ask(cellar_plan *plan,
                                                          const char *const *places,
                                                          size_t n_places, cellar_error *err)
    CELLAR_NONNULL(1, 2);

/* ---- queries --------------------------------------------------------------- */

CELLAR_API const char *cellar_plan_title(const cellar_plan *plan) CELLAR_NONNULL(1); /* or NULL */
/* The tables of the plan, by name. */
CELLAR_API size_t cellar_plan_n_tables(const cellar_plan *plan) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_plan_table_name(const cellar_plan *plan, size_t table);
/* Where the release pack appears, or NULL when the plan does not say. */
CELLAR_API const char *cellar_plan_folder(const cellar_plan *plan) CELLAR_NONNULL(1);

/* Where the cube of a plan with a universe appears (cellar/cube_plan.h); NULL when it has none. */
CELLAR_API const char *cellar_plan_cube_file(const cellar_plan *plan);

/* ---- checking -------------------------------------------------------------- */

/* Start from cellar_plan_options_default(). */
typedef struct cellar_plan_options {
    int without_counts; /* 1: as if every count were zero: nothing then depends on the data but
                           categories that were read off them */
    int n_threads;      /* 0: one per processor */
    cellar_progress progress;
} cellar_plan_options;

/* With counts, one thread per processor, no reports of progress. */
CELLAR_API cellar_plan_options cellar_plan_options_default(void);

/* The cells of one margin of one table, at one level of its hierarchies. */
typedef struct cellar_plan_cells {
    const char *margin;      /* "region*sex", "total"; an upper level is marked: "region^*sex" */
    int is_inner;            /* the cells that all others sum */
    int is_summed;           /* 1: not released, but added up by users from released cells */
    uint64_t n_cells;        /* structural zeros included */
    uint64_t n_structural;   /* of them, which stay zero */
    double sd_low, sd_high;  /* of a cell: the smallest and the largest */
    double bias;             /* of a cell: the one furthest from 0 */
    double sum_bias, sum_sd; /* of the total that adds up all of these cells */
    double false_positives;  /* empty cells with a positive released value, expected */
    int is_biased;           /* 1: the bias of a total exceeds its standard deviation */
} cellar_plan_cells;

typedef struct cellar_plan_table {
    const char *name;
    const char *mechanism;          /* of each cell, the canonical spec */
    const char *epsilon;            /* of the whole table, an exact decimal; NULL: it has none */
    uint64_t cells_per_record;      /* d */
    uint64_t n_cells, n_structural; /* cells; of them structural zeros, which stay zero */
    double rows;                    /* cells listed, expected */
    double bytes;                   /* of the data in all formats, about */
    double false_positives;         /* over all cells */
    const cellar_plan_cells *cells;
    size_t n_cells_groups;
} cellar_plan_table;

/* What a plan will do. All but d, costs and certificate is computed from true counts unless
 * without_counts was asked for: confidential. */
typedef struct cellar_plan_figures {
    const cellar_plan_table *tables;
    size_t n_tables;
    uint64_t cells_per_record; /* d of the whole set of tables */
    uint64_t n_cells;
    double rows, bytes, false_positives;
    const cellar_certificate *certificate; /* of the whole set of tables */
    int is_confidential;
    const char *const *refusals; /* why the plan may not run, with the remedy */
    size_t n_refusals;
    const char *const *remarks; /* what should be known */
    size_t n_remarks;
} cellar_plan_figures;

/* Counts the data and computes all figures; nothing is drawn. A plan that a rule refuses is still
 * an answer: look at `refusals`. Free *out with cellar_plan_figures_free(), before the plan. On
 * failure it is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_plan_check(const cellar_plan *plan,
                                                            const cellar_plan_options *options,
                                                            cellar_plan_figures **out,
                                                            cellar_error *err);
CELLAR_API void cellar_plan_figures_free(cellar_plan_figures *figures); /* NULL is fine */

/* ---- comparing --------------------------------------------------------------- */

/* What a plan wants to know: the cells of one margin of one table. */
typedef struct cellar_plan_target {
    const char *table, *margin;
    int is_inner;
    uint64_t n_cells;
    double weight; /* of a cell: the table's */
} cellar_plan_target;

/* One way to spend the same budget. */
typedef struct cellar_plan_strategy {
    const char *name;  /* as docs/plans.md lists them */
    const char *about; /* what is released, in words */
    int is_possible;   /* 0: there is nothing to release, or the budget cannot be split so */
    uint64_t cells_per_record;
    const double *sd;          /* of a cell of each target; NAN: it cannot be had */
    const unsigned char *sums; /* 1: users get that target by adding up */
    double loss;               /* sum over all cells of all targets of weight times variance */
    double margins_loss;       /* the same for margins alone; NAN: there are no others */
} cellar_plan_strategy;

typedef struct cellar_plan_comparison {
    const char *budget;    /* of every strategy, a decimal */
    int is_rho;            /* 1: of rho; 0: of epsilon */
    const char *found_for; /* "epsilon 1 at delta 1e-6", for which that rho was found; or NULL */
    const cellar_plan_target *targets;
    size_t n_targets;
    const cellar_plan_strategy *strategies;
    size_t n_strategies;
    size_t recommended; /* of them */
    const char *reason; /* as a sentence */
} cellar_plan_comparison;

/* Sets the natural strategies side by side: the inner cells only, which users add up; the margins
 * only; everything; the plan as it is; the split that is optimal for its weights; and a cube of
 * what it releases (docs/cube.md). They depend on no count. Needs a budget, or an epsilon for each
 * table. Free *out with cellar_plan_comparison_free(). On failure it is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_plan_compare(const cellar_plan *plan,
                                                              const cellar_plan_options *options,
                                                              cellar_plan_comparison **out,
                                                              cellar_error *err);
CELLAR_API void cellar_plan_comparison_free(cellar_plan_comparison *comparison); /* NULL is fine */

/* ---- running ---------------------------------------------------------------- */

/* What is in a pack that is being made. */
typedef struct cellar_plan_pack {
    const cellar_plan *plan;
    const char *const *names;  /* of the tables */
    const char *const *titles; /* of the tables; NULL: it has none */
    const char *ending;        /* of the first file of each, such as ".csv" */
    const cellar_release *const *releases;
    size_t n;
    const cellar_certificate *certificate; /* of the whole set of tables */
    cellar_protection_level level;         /* of the whole set of tables */
} cellar_plan_pack;

/* Writes more files into the folder of a pack, plain files without folders of their own. They
 * appear with all others, or not at all. */
typedef cellar_status cellar_plan_extra(void *context, const char *folder,
                                        const cellar_plan_pack *pack, cellar_error *err);

/* Start from cellar_plan_run_options_default(). */
typedef struct cellar_plan_run_options {
    int n_threads; /* 0: one per processor */
    cellar_progress progress;
    const char *date;         /* of the releases [today, UTC] */
    cellar_plan_extra *extra; /* or NULL */
    void *extra_context;
} cellar_plan_run_options;

/* Dated today, one thread per processor, no further files. */
CELLAR_API cellar_plan_run_options cellar_plan_run_options_default(void);

typedef struct cellar_plan_run_result {
    int is_new;     /* 1: drawn now; 0: an earlier run of the request had drawn it */
    int is_charged; /* 1: a ledger paid */
    char stamp[CELLAR_STAMP_TEXT];
} cellar_plan_run_result;

/* Checks the plan, charges its ledger, draws all tables, and lets the release pack appear in one
 * step: data in every format asked for, certificate.json, method-note.md and the manifest. Run
 * again after whatever happened, it finishes what an interrupted run had drawn and recorded, finds
 * what is done, and never draws a request twice. Refused (CELLAR_ERR_RULE, CELLAR_ERR_BUDGET)
 * before anything is drawn or paid, but for rules on released counts, whose draw stays paid.
 * Without a ledger the releases say that they are unaccounted. `options` may be NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_plan_run(const cellar_plan *plan,
                                                          const cellar_plan_run_options *options,
                                                          cellar_plan_run_result *out,
                                                          cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
