/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error of a cube beside other ways to spend the same budget: tables and charts of
 * docs/cube-comparison.md.
 *     cube_comparison FOLDER [published]
 * writes code lists and charts into FOLDER and tables on the standard output; `published` adds the
 * benchmark of the literature, which takes some seconds. No data are read: errors depend on none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/cellar.h>

enum { VARIABLES_MAX = 14, ORDER_MAX = 3, TEXT_BYTES = 1 << 16 };

/* A domain: variables with so many categories, all tables of at most three of them. */
typedef struct domain {
    const char *name, *file;
    size_t n;
    int sizes[VARIABLES_MAX];
} domain;

static const domain SMALL_COUNTRY = {"The small country (8, 2, 6, 16 and 8 categories)",
                                     "cube-small-country.svg",
                                     5,
                                     {8, 2, 6, 16, 8}};
static const domain ADULT = {
    "Adult, its nine categorical attributes", "cube-adult.svg", 9, {9, 16, 7, 15, 6, 5, 2, 42, 2}};
static const domain ADULT_FULL = {"Adult, fourteen attributes as in the literature",
                                  NULL,
                                  14,
                                  {100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2}};

/* Root mean squares over all tables of 0, 1, 2, 3 variables. */
enum { CUBE, INDEPENDENT, FIT, INNER, N_WAYS };
static const char *const ways[N_WAYS] = {"cube", "independent noise", "fit", "inner cells only"};
typedef struct errors {
    double sd[N_WAYS][ORDER_MAX + 1];
    double n[ORDER_MAX + 1];
    double cells_sd; /* of the cube: over all cells of the largest tables */
    double loss_to_bound, loss_to_optimum;
} errors;

/* ---- release every finest table with its margins, and fit each ------------------------------ */

/* The variance of any cell, margins included, of a table whose cells and margins all have noise of
 * variance 1 and are fitted (docs/totals.md): the product of n / (n + 1). For one variable least
 * squares from n cells and their total leaves every one of them the share n / (n + 1) of its
 * variance, and with all margins a table is the product of its variables. */
static double fitted_variance(const domain *d, unsigned table)
{
    double variance = 1;
    for (size_t i = 0; i < d->n; i++)
        variance *= (table >> i & 1) != 0 ? d->sizes[i] / (d->sizes[i] + 1.0) : 1;
    return variance;
}

static int n_bits(unsigned set)
{
    int n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

/* The budget is split evenly over all tables of three variables and their eight margins each; users
 * take a margin from the best table that has it. */
static void fit_errors(const domain *d, double rho, errors *out)
{
    double n_tables = 0, n[ORDER_MAX + 1] = {0}, sum[ORDER_MAX + 1] = {0}, noise;
    for (unsigned set = 0; set < 1u << d->n; set++)
        n_tables += n_bits(set) == ORDER_MAX;
    noise = n_tables * (1 << ORDER_MAX) / (2 * rho);
    for (unsigned margin = 0; margin < 1u << d->n; margin++) {
        double best = INFINITY;
        if (n_bits(margin) > ORDER_MAX)
            continue;
        for (unsigned table = 0; table < 1u << d->n; table++)
            if (n_bits(table) == ORDER_MAX && (table & margin) == margin)
                best = fmin(best, noise * fitted_variance(d, table));
        sum[n_bits(margin)] += best;
        n[n_bits(margin)]++;
    }
    for (size_t k = 0; k <= ORDER_MAX; k++)
        out->sd[FIT][k] = sqrt(sum[k] / n[k]);
}

/* ---- the design of a cube ---------------------------------------------------------------------
 */

static cellar_status write_lists(const domain *d, const char *folder, cellar_error *err)
{
    for (size_t i = 0; i < d->n; i++) {
        char path[512];
        FILE *file;
        snprintf(path, sizeof path, "%s/v%zu.csv", folder, i);
        file = fopen(path, "w");
        if (file == NULL) {
            snprintf(err->message, sizeof err->message, "%.200s: cannot be written", path);
            return CELLAR_ERR_IO;
        }
        fputs("code\n", file);
        for (int code = 0; code < d->sizes[i]; code++)
            fprintf(file, "%d\n", code);
        fclose(file);
    }
    return CELLAR_OK;
}

/* The plan. With `exactly` the tables of fewer variables count next to nothing, and every cell of
 * the others counts equally, as in the literature. */
static void write_plan(const domain *d, size_t order, double rho, int exactly, char *out)
{
    size_t at = (size_t) snprintf(out, TEXT_BYTES,
                                  "plan: 1\ndata: {file: none.csv}\nnegatives: keep\n"
                                  "parameter_choice: advance\nbudget: {rho: %.8g}\nvariables:\n",
                                  rho);
    for (size_t i = 0; i < d->n; i++)
        at += (size_t) snprintf(out + at, TEXT_BYTES - at, "  - {name: v%zu, codelist: v%zu.csv}\n",
                                i, i);
    at += (size_t) snprintf(out + at, TEXT_BYTES - at,
                            "universe:\n  file: x.cube\n  up_to: %zu\n  objective: %s\n", order,
                            exactly ? "cells" : "tables");
    if (exactly && order > 1)
        at += (size_t) snprintf(out + at, TEXT_BYTES - at, "  tables:\n");
    for (size_t i = 0; exactly && order > 1 && i < d->n; i++)
        at += (size_t) snprintf(out + at, TEXT_BYTES - at, "    - {by: [v%zu], weight: 1e-9}\n", i);
    for (size_t i = 0; exactly && order > 2 && i < d->n; i++)
        for (size_t j = i + 1; j < d->n; j++)
            at += (size_t) snprintf(out + at, TEXT_BYTES - at,
                                    "    - {by: [v%zu, v%zu], weight: 1e-9}\n", i, j);
}

static void take_errors(const cellar_cube_design *design, size_t order, errors *out)
{
    double cells = 0, sum = 0;
    *out = (errors){.loss_to_bound = cellar_cube_design_loss_to_bound(design),
                    .loss_to_optimum = cellar_cube_design_loss_to_optimum(design)};
    for (size_t t = 0; t < cellar_cube_design_n_tables(design); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        const size_t k = table.n_variables;
        out->n[k]++;
        out->sd[CUBE][k] += table.sd * table.sd;
        out->sd[INDEPENDENT][k] += table.independent_sd * table.independent_sd;
        out->sd[INNER][k] += table.inner_sd * table.inner_sd;
        cells += k == order ? (double) table.n_cells : 0;
        sum += k == order ? (double) table.n_cells * table.sd * table.sd : 0;
    }
    out->cells_sd = sqrt(sum / cells);
    for (size_t way = 0; way < N_WAYS; way++)
        for (size_t k = 0; k <= order; k++)
            out->sd[way][k] = sqrt(out->sd[way][k] / out->n[k]);
}

static cellar_status design_errors(const domain *d, const char *folder, size_t order, double rho,
                                   int exactly, errors *out, cellar_error *err)
{
    static char text[TEXT_BYTES];
    char place[512];
    cellar_plan *plan = NULL;
    cellar_cube_design *design = NULL;
    cellar_status status = write_lists(d, folder, err);
    snprintf(place, sizeof place, "%s/", folder);
    write_plan(d, order, rho, exactly, text);
    if (status == CELLAR_OK)
        status = cellar_plan_parse("plan", place, text, strlen(text), &plan, err);
    if (status == CELLAR_OK)
        status = cellar_cube_design_create(plan, &design, err);
    if (status == CELLAR_OK)
        take_errors(design, order, out);
    cellar_cube_design_free(design);
    cellar_plan_free(plan);
    return status;
}

/* ---- tables and charts -------------------------------------------------------------------------
 */

static cellar_status draw(const domain *d, const errors *e, const char *folder, cellar_error *err)
{
    const double x[ORDER_MAX + 1] = {0, 1, 2, 3};
    cellar_chart_options options = cellar_chart_options_default();
    const cellar_output_options how = {.shared = 1, .replace = 1};
    cellar_chart *chart = NULL;
    char path[512];
    cellar_status status;
    options.title = d->name;
    options.description = "Standard deviations of the noise of a cell against the number of "
                          "variables of its table, for four ways to spend one budget. That of the "
                          "cube is nearly the same for all tables and the smallest but for the "
                          "finest ones.";
    options.x = (cellar_chart_axis){"variables of the table", 0, 0, ORDER_MAX};
    options.y = (cellar_chart_axis){"standard deviation of a cell at rho = 1/2", 1, NAN, NAN};
    status = cellar_chart_create(&options, &chart, err);
    for (size_t way = 0; way < N_WAYS && status == CELLAR_OK; way++)
        status = cellar_chart_add_curve(chart, ways[way], x, e->sd[way], ORDER_MAX + 1, err);
    snprintf(path, sizeof path, "%s/%s", folder, d->file);
    if (status == CELLAR_OK)
        status = cellar_chart_write_svg(chart, path, &how, err);
    cellar_chart_free(chart);
    return status;
}

static cellar_status compare(const domain *d, const char *folder, errors *out, cellar_error *err)
{
    cellar_status status = design_errors(d, folder, ORDER_MAX, 0.5, 0, out, err);
    if (status != CELLAR_OK)
        return status;
    fit_errors(d, 0.5, out);
    printf("| %s | tables | cube | independent noise | `fit` | inner cells only |\n"
           "|---|---|---|---|---|---|\n",
           d->name);
    for (size_t k = 0; k <= ORDER_MAX; k++)
        printf("| %zu variable%s | %.0f | %.2f | %.2f | %.2f | %.2f |\n", k, k == 1 ? "" : "s",
               out->n[k], out->sd[CUBE][k], out->sd[INDEPENDENT][k], out->sd[FIT][k],
               out->sd[INNER][k]);
    printf("\n");
    return draw(d, out, folder, err);
}

/* The rho of Gaussian noise that has epsilon at delta = 1e-6 (Balle and Wang 2018, Theorem 8). */
static double rho_of(double epsilon)
{
    double low = 1e-6, high = 100;
    for (int i = 0; i < 200; i++) {
        const double rho = sqrt(low * high), mu = sqrt(2 * rho);
        const double delta = (erfc((epsilon / mu - mu / 2) / M_SQRT2) -
                              exp(epsilon) * erfc((epsilon / mu + mu / 2) / M_SQRT2)) /
                             2;
        if (delta < 1e-6)
            low = rho;
        else
            high = rho;
    }
    return low;
}

/* Standard deviations are proportional to 1 / sqrt(rho). */
static void show_epsilons(const errors *e)
{
    static const double epsilons[] = {0.5, 1, 2, 4};
    printf("| epsilon at delta 1e-6 | rho | cube | independent noise | `fit` | inner cells only "
           "|\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < 4; i++) {
        const double rho = rho_of(epsilons[i]), factor = sqrt(0.5 / rho);
        printf("| %g | %.4f | %.1f | %.1f | %.1f | %.1f |\n", epsilons[i], rho,
               factor * e->sd[CUBE][2], factor * e->sd[INDEPENDENT][2], factor * e->sd[FIT][2],
               factor * e->sd[INNER][2]);
    }
    printf("\n");
}

static cellar_status show_published(const char *folder, cellar_error *err)
{
    static const double optimum[] = {3.0468, 6.3587, 10.5153};
    cellar_status status = CELLAR_OK;
    printf(
        "| %s | published optimum | cube | ratio | proven to be within |\n|---|---|---|---|---|\n",
        ADULT_FULL.name);
    for (size_t k = 1; k <= 3 && status == CELLAR_OK; k++) {
        errors e;
        status = design_errors(&ADULT_FULL, folder, k, 0.5, 1, &e, err);
        if (status == CELLAR_OK)
            printf("| exactly %zu variable%s | %.4f | %.4f | %.3f | %.2f %% |\n", k,
                   k == 1 ? "" : "s", optimum[k - 1], e.cells_sd, e.cells_sd / optimum[k - 1],
                   100 * (e.loss_to_bound - 1));
    }
    return status;
}

int main(int argc, char **argv)
{
    errors small, adult;
    cellar_error err = {"usage: cube_comparison FOLDER [published]"};
    cellar_status status = argc == 2 || argc == 3 ? CELLAR_OK : CELLAR_ERR_ARGUMENT;
    if (status == CELLAR_OK)
        status = compare(&SMALL_COUNTRY, argv[1], &small, &err);
    if (status == CELLAR_OK)
        status = compare(&ADULT, argv[1], &adult, &err);
    if (status == CELLAR_OK)
        show_epsilons(&small);
    if (status == CELLAR_OK && argc == 3)
        status = show_published(argv[1], &err);
    if (status != CELLAR_OK)
        fprintf(stderr, "%s\n", err.message);
    return status != CELLAR_OK;
}
