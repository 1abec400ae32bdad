/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages a person reads: one HTML file each, with its charts inside. A page loads nothing, runs
 * nothing and asks nothing of the network; every label in it is text, whatever it says.
 *
 * The type is the gate: the page for the public is made from releases alone. The page for the
 * committee is computed from true counts, and confidential. */
#ifndef CELLAR_REPORT_H
#define CELLAR_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/certificate.h>
#include <cellar/cube.h>
#include <cellar/export.h>
#include <cellar/plan.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from cellar_report_options_default(). Strings stay the caller's. */
typedef struct cellar_report_options {
    const char *title;        /* of the page [made from what it is about] */
    const char *const *names; /* public: what each release is called, such as its file's name; NULL:
                                 numbered */
    const char *const *titles; /* public: what each release is about, as its heading; NULL, or one
                                  that is NULL: its name is */
    const cellar_certificate *together; /* public: of all releases, made as one list; or NULL */
    cellar_protection_level level; /* public: of all releases together [that of each is said] */
    const char *signer;            /* public: the id of the key whose signature of the releases was
                                      verified; NULL: the page says that none was [NULL] */
    uint64_t max_rows;             /* public: so many rows of a table at most; 0: none [200] */
    const char *charts; /* a folder that exists: every chart goes there, too, as SVG and PNG; or
                           NULL */
    int replace;        /* 1: existing files are replaced [0] */
    cellar_progress progress;
} cellar_report_options;

/* The values in brackets. */
CELLAR_API cellar_report_options cellar_report_options_default(void);

/* Writes the page about `n` releases to `path` ("-": standard output), readable by all: what is
 * released, what its certificate says, the noise, how to test with it, the numbers. It reads
 * nothing but the releases; a mechanism that lives in a file of its own is named, not opened.
 * `options` may be NULL. On failure there is no page. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_report_public(const cellar_release *const *releases, size_t n,
                     const cellar_report_options *options, const char *path, cellar_error *err);

/* The page about the releases of a pack, as its index.html: the `extra` of
 * cellar_plan_run_options. `context` is not read. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_report_pack(void *context, const char *folder,
                                                             const cellar_plan_pack *pack,
                                                             cellar_error *err);

/* Writes the page about a cube to `path`, readable by all: its guarantee first, then the tables
 * that `questions` ask for (none: some of two variables) with 95 % intervals, the error of every
 * table, the certificate. Of `options` `names` has one name, the file's; `titles` and `together`
 * are not used. It reads nothing but the cube. On failure there is no page. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_report_cube(const cellar_cube *cube,
                                                             const cellar_cube_question *questions,
                                                             size_t n,
                                                             const cellar_report_options *options,
                                                             const char *path, cellar_error *err);

/* ---- the page for the committee: confidential ----------------------------------- */

/* What the committee decides about. Start from cellar_committee_options_default(); arrays and
 * strings stay the caller's. */
typedef struct cellar_committee_options {
    const size_t *qid; /* variables of the table that an attacker knows; required */
    size_t n_qid;
    const size_t *sensitive; /* those to be learnt, jointly; required */
    size_t n_sensitive;
    const char *const *mechanisms; /* complete specs of single cells; the first is the one planned;
                                      required */
    size_t n_mechanisms;
    const char *const *epsilons; /* decimals, increasing, at which mechanisms with an epsilon are
                                    looked at; NULL: 41 from 0.01 to 100 */
    size_t n_epsilons;
    const cellar_release *release; /* made from the table, to be looked at, too; or NULL */
    const cellar_cube *cube;       /* of a plan with a universe: built by it, to be looked at, too;
                                      or NULL */
    cellar_negatives negatives;    /* of what is planned [keep] */
    uint64_t copies, seed;         /* simulated copies for what analysts lose [30, 1] */
    size_t n_groups;               /* so many of the most exposed groups are named [20] */
    int n_threads;                 /* 0: one per processor; the page is the same */
} cellar_committee_options;

/* The values in brackets; variables and mechanisms are required. */
CELLAR_API cellar_committee_options cellar_committee_options_default(void);

/* Writes the page about what is planned for a table to `path`, with mode 0600: risk against
 * epsilon, what analysts lose, delta, exposure, the most exposed groups, the noise, the
 * certificate, what is not covered, and a checklist to sign. A number that a module refuses is
 * left out, with its reason. `options` may be NULL. On failure there is no page. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_report_committee(const cellar_table *table, const cellar_committee_options *committee,
                        const cellar_report_options *options, const char *path, cellar_error *err);

/* What an attacker knows and wants to learn, as variables of a plan. */
typedef struct cellar_plan_attack {
    const char *const *known;
    size_t n_known;
    const char *const *sensitive;
    size_t n_sensitive;
} cellar_plan_attack;

/* The same about a plan: it counts the data and assesses what the plan releases, each table with
 * the mechanism it will have, and certifies all of them together with the plan's unit. Of
 * `committee` only the epsilons, copies, seed, groups and threads are used. A plan that may not run
 * has a page that says so. A plan with a universe has the page of its cube: errors against the true
 * tables, and the attack on the finest tables that it can use. On failure there is no page. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_report_plan(const cellar_plan *plan, const cellar_plan_attack *attack,
                   const cellar_committee_options *committee, const cellar_report_options *options,
                   const char *path, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
