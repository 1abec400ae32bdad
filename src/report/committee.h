/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the committee's page: confidential. */
#ifndef CELLAR_REPORT_COMMITTEE_H
#define CELLAR_REPORT_COMMITTEE_H

#include <cellar/risk.h>

#include "report/report.h"

enum { COMMITTEE_MAX_MECHANISMS = 6 }; /* so many series a reader can tell apart */

typedef struct cellar_committee {
    const cellar_table *table;
    const cellar_schema *schema;
    const cellar_committee_options *what;
    const cellar_report_options *options;
    cellar_page page;
    cellar_groups *groups;
    cellar_mechanism *planned[COMMITTEE_MAX_MECHANISMS];
    size_t n_epsilons;
    char (*epsilons)[48]; /* as decimals */
    double *grid;         /* the same as numbers */
    double top;           /* the largest value drawn in the chart under way */
    int is_of_plan;       /* 1: one table of a plan, whose certificate is another section's */
    int64_t threshold;    /* of what is planned */
} cellar_committee;

/* Makes the groups, the grid and the mechanisms, and frees them; the page stays. */
cellar_status cellar_committee_open(cellar_committee *run, cellar_error *err);
void cellar_committee_close(cellar_committee *run);

/* Marks the epsilon planned with a line from `low` up to `high`; NAN: nothing is marked. */
cellar_status cellar_committee_mark(cellar_chart *chart, double epsilon, double low, double high,
                                    cellar_error *err);
/* The epsilon of a cell that is planned, NAN when the mechanism has none. */
double cellar_committee_planned_epsilon(const cellar_committee *run);
/* The bound that certificates are marked at: pure, else the tight one; NAN: there is none. */
double cellar_committee_joint_epsilon(const cellar_certificate *certificate);

/* The facts of a table and its sections under headings of that level, the certificate aside. */
cellar_status cellar_committee_table(cellar_committee *run, int level, cellar_error *err);

/* The grid of epsilons, as asked for or the usual one. */
cellar_status cellar_committee_grid(cellar_committee *run, cellar_error *err);
/* The text of a parameter of a mechanism, NULL when it has none of that name. */
const char *cellar_committee_parameter(const cellar_mechanism *mechanism, const char *name);
/* A mechanism with one parameter at another value. *out is NULL when the value is not allowed. */
cellar_status cellar_committee_vary(const cellar_mechanism *mechanism, const char *name,
                                    const char *value, cellar_mechanism **out, cellar_error *err);

/* The spec of a mechanism of the plan without its epsilon: what a curve over epsilon is called.
 * NULL when memory ends; free it with cellar_free(). */
char *cellar_committee_label(const cellar_committee *run, size_t m);

/* Tells how far the work is, and asks whether to go on. */
cellar_status cellar_committee_step(const cellar_committee *run, const char *stage, double fraction,
                                    cellar_error *err);

/* The risk of what is planned in one paragraph; then the sections, in their order. */
cellar_status cellar_committee_summary(cellar_committee *run, cellar_error *err);
cellar_status cellar_committee_risk(cellar_committee *run, cellar_error *err);
cellar_status cellar_committee_surface(cellar_committee *run, cellar_error *err);
cellar_status cellar_committee_utility(cellar_committee *run, cellar_error *err);
cellar_status cellar_committee_release(cellar_committee *run, cellar_error *err);
cellar_status cellar_committee_delta(cellar_committee *run, cellar_error *err);
cellar_status cellar_committee_noise(cellar_committee *run, cellar_error *err);
void cellar_committee_not_covered(cellar_page *page);
void cellar_committee_checklist(cellar_page *page);

/* Delta against epsilon: certificates by name, at the same epsilons (committee_delta.c). */
typedef cellar_status cellar_committee_certifier(void *context, size_t i,
                                                 const char *const *epsilons, size_t n,
                                                 cellar_certificate **out, cellar_error *err);
cellar_status cellar_committee_profiles(cellar_page *page, const char *const *names, size_t n,
                                        double planned, cellar_committee_certifier *certify,
                                        void *context, cellar_error *err);
cellar_status cellar_committee_exposure(cellar_committee *run, cellar_error *err);
cellar_status cellar_committee_groups(cellar_committee *run, cellar_error *err);

/* The guarantee of a mechanism of the plan for all that one record touches, with these epsilons.
 * On failure *out is NULL. */
cellar_status cellar_committee_certify(const cellar_committee *run,
                                       const cellar_mechanism *mechanism,
                                       const char *const *epsilons, size_t n,
                                       cellar_certificate **out, cellar_error *err);

#endif
