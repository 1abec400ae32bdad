/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the programs of this folder share: rows that set what a paper printed beside what Cellar
 * computes and end in a verdict, and the files that belong to them.
 *
 *     PROGRAM [--data DIR] [OUTPUT]
 *
 * prints the rows and, given a folder, writes them there as CSV and as Markdown, with the numbers
 * and the charts of every figure. Data that cannot be shipped is looked for in DIR. */
#ifndef EXAMPLES_REPORT_H
#define EXAMPLES_REPORT_H

#include <stddef.h>

#include <cellar/chart.h>
#include <cellar/output.h>
#include <cellar/status.h>

typedef struct report report;

/* Reads the command line. `paper` names the program's files, `title` is the paper's. Everything
 * here ends the program with a message when it cannot go on: these are examples. */
report *report_begin(int argc, char **argv, const char *paper, const char *title);
/* Ends the files and frees the report. The program's exit status: 1 when a row differs. */
int report_end(report *r);

/* Ends the program when a call of the library failed. */
void report_check(cellar_status status, const cellar_error *err);

/* The path of a file of DIR, or NULL when it is not there. Valid until the next call. */
const char *report_data(report *r, const char *name);

/* ---- rows ------------------------------------------------------------------------ */

/* The table, figure or section that the next rows are about. */
void report_item(report *r, const char *item);

/* Agrees when ours, rounded as printed, is what is printed ("0.0283", "5,974", "about 14"). */
void report_rounds(report *r, const char *quantity, const char *published, double ours);
/* Agrees within simulation error when the two are at most three standard errors of their difference
 * (and the rounding of the printed one) apart: a false alarm in 370. NAN: no error of its own.
 * Farther apart it is not reproduced, as docs/errata.md says under `erratum`; NULL: it differs. */
void report_simulated(report *r, const char *quantity, const char *published, double published_se,
                      double ours, double se, const char *erratum);
/* The paper errs, as docs/errata.md says under `erratum`: `formula` is what its formula gives
 * (NAN: it has none), `ours` is right. Differs if both agree with what is printed. */
void report_errs(report *r, const char *quantity, const char *published, double formula,
                 double ours, const char *erratum);
/* The paper prints no such number; `formula` as above, `erratum` may be NULL. */
void report_beyond(report *r, const char *quantity, double formula, double ours,
                   const char *erratum);
/* What is printed is neither right nor wrong: `verdict` says in a few words what it is, for
 * instance true but not tight. Differs unless `holds`. */
void report_remark(report *r, const char *quantity, const char *published, double formula,
                   double ours, int holds, const char *verdict, const char *erratum);
/* A statement in words: agrees when it holds. */
void report_claim(report *r, const char *quantity, const char *published, int holds,
                  const char *ours, ...) CELLAR_PRINTF(5, 6);
/* Nothing was computed: the data is not to be had, or there is nothing to compute. */
void report_no_data(report *r, const char *quantity, const char *why);
void report_drawing(report *r, const char *what);

/* ---- files ----------------------------------------------------------------------- */

/* A file of the folder, NULL without a folder. Closing NULL does nothing. */
cellar_output *report_open(report *r, const char *name);
void report_close(cellar_output *output);
/* One line of CSV: numbers with all their digits, separated by commas, after `label` if any. */
void report_line(cellar_output *output, const char *label, const double *values, size_t n);

/* An empty chart. `x` and `y` label the axes; `log_x` makes the first one logarithmic. */
cellar_chart *report_chart(const char *title, const char *description, const char *x, int log_x,
                           const char *y);
/* Each adds one series. */
void report_curve(cellar_chart *chart, const char *name, const double *x, const double *y,
                  size_t n);
void report_points(cellar_chart *chart, const char *name, const double *x, const double *y,
                   size_t n);
void report_steps(cellar_chart *chart, const char *name, const double *x, const double *y,
                  size_t n);
/* Writes the chart as NAME.svg, without a folder nowhere, and frees it. */
void report_draw(report *r, cellar_chart *chart, const char *name);

#endif
