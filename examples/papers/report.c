/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH = 4096, N_WIDTH = 44 };

struct report {
    const char *paper, *data, *output; /* the folders may be NULL */
    const char *item;
    int item_is_new;
    int n_rows, n_differ;
    cellar_output *rows, *markdown; /* NULL without a folder */
    char path[MAX_PATH], data_path[MAX_PATH];
};

typedef struct row {
    const char *quantity, *published; /* NULL: nothing is printed */
    double formula;                   /* as the paper's formula gives it; NAN: none */
    double ours, se;                  /* NAN: none */
    const char *words;                /* instead of ours */
    const char *verdict, *erratum;    /* NULL: none */
} row;

static const char agrees[] = "agrees", differs[] = "DIFFERS";

void report_check(cellar_status status, const cellar_error *err)
{
    if (status == CELLAR_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

/* ---- files ----------------------------------------------------------------------- */

cellar_output *report_open(report *r, const char *name)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_error err;
    how.replace = 1;
    how.shared = 1;
    if (r->output == NULL)
        return NULL;
    snprintf(r->path, sizeof r->path, "%s/%s-%s", r->output, r->paper, name);
    report_check(cellar_output_open(r->path, &how, &output, &err), &err);
    return output;
}

void report_close(cellar_output *output)
{
    cellar_error err;
    if (output != NULL)
        report_check(cellar_output_commit(output, &err), &err);
}

void report_line(cellar_output *output, const char *label, const double *values, size_t n)
{
    if (output == NULL)
        return;
    if (label != NULL)
        cellar_output_printf(output, "%s,", label);
    for (size_t i = 0; i < n; i++)
        cellar_output_printf(output, "%.12g%c", values[i], i + 1 < n ? ',' : '\n');
}

const char *report_data(report *r, const char *name)
{
    FILE *file;
    if (r->data == NULL)
        return NULL;
    snprintf(r->data_path, sizeof r->data_path, "%s/%s", r->data, name);
    if ((file = fopen(r->data_path, "rb")) == NULL)
        return NULL;
    fclose(file);
    return r->data_path;
}

/* ---- charts ---------------------------------------------------------------------- */

cellar_chart *report_chart(const char *title, const char *description, const char *x, int log_x,
                           const char *y)
{
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart;
    cellar_error err;
    options.title = title;
    options.description = description;
    options.x.label = x;
    options.x.log = log_x;
    options.y.label = y;
    report_check(cellar_chart_create(&options, &chart, &err), &err);
    return chart;
}

void report_curve(cellar_chart *chart, const char *name, const double *x, const double *y, size_t n)
{
    cellar_error err;
    report_check(cellar_chart_add_curve(chart, name, x, y, n, &err), &err);
}

void report_points(cellar_chart *chart, const char *name, const double *x, const double *y,
                   size_t n)
{
    cellar_error err;
    report_check(cellar_chart_add_points(chart, name, x, y, n, &err), &err);
}

void report_steps(cellar_chart *chart, const char *name, const double *x, const double *y, size_t n)
{
    cellar_error err;
    report_check(cellar_chart_add_steps(chart, name, x, y, n, &err), &err);
}

void report_draw(report *r, cellar_chart *chart, const char *name)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_error err;
    how.replace = 1;
    how.shared = 1;
    if (r->output != NULL) {
        snprintf(r->path, sizeof r->path, "%s/%s-%s.svg", r->output, r->paper, name);
        report_check(cellar_chart_write_svg(chart, r->path, &how, &err), &err);
    }
    cellar_chart_free(chart);
}

/* ---- what is printed ------------------------------------------------------------- */

/* The first number of a text and half a unit of its last place; 0 when there is none. */
static int read_number(const char *text, double *value, double *half)
{
    char digits[64];
    size_t n = 0;
    int decimals = 0, point = 0;
    const char *at = text;
    while (*at != '\0' && !isdigit((unsigned char) *at))
        at++;
    for (; isdigit((unsigned char) *at) || *at == ',' || *at == '.'; at++) {
        if (*at == ',')
            continue;
        if (n + 1 < sizeof digits)
            digits[n++] = *at;
        decimals += point;
        point |= *at == '.';
    }
    digits[n] = '\0';
    *value = strtod(digits, NULL);
    *half = 0.5 * pow(10, -decimals) * (1 + 1e-9);
    return n > 0;
}

static int rounds_to(double ours, const char *published)
{
    double value, half;
    return read_number(published, &value, &half) && fabs(ours - value) <= half;
}

/* A whole number that is printed is meant exactly, when it is said to be wrong. */
static int is_wrong(double ours, const char *published)
{
    double value, half;
    if (!read_number(published, &value, &half))
        return 1;
    return fabs(ours - value) > (half < 0.4 ? half : 1e-9);
}

/* ---- rows ------------------------------------------------------------------------ */

static void show_number(char *out, size_t size, double value, double se)
{
    if (isnan(value))
        snprintf(out, size, "%s", "");
    else if (isnan(se))
        snprintf(out, size, "%.6g", value);
    else
        snprintf(out, size, "%.4g ± %.2g", value, se);
}

/* Bytes that do not begin a character take no room. */
static int padding(const char *text, int width)
{
    for (; *text != '\0'; text++)
        width -= ((unsigned char) *text & 0xC0) != 0x80;
    return width > 0 ? width : 0;
}

static void print_field(const char *text, int width)
{
    printf("%s%*s ", text, padding(text, width), "");
}

static void write_csv(cellar_output *output, const char *const *fields, size_t n)
{
    for (size_t i = 0; output != NULL && i < n; i++)
        cellar_output_printf(output, "\"%s\"%c", fields[i], i + 1 < n ? ',' : '\n');
}

static void write_markdown(report *r, const row *x, const char *formula, const char *ours,
                           const char *difference)
{
    if (r->markdown == NULL)
        return;
    cellar_output_printf(r->markdown, "| %s | %s | %s | %s | %s | %s | ",
                         r->item_is_new ? r->item : "", x->quantity,
                         x->published != NULL ? x->published : "", formula, ours, difference);
    if (x->erratum == NULL)
        cellar_output_printf(r->markdown, "%s |\n", x->verdict);
    else
        cellar_output_printf(r->markdown, "%s: [%s](errata.md#%s) |\n", x->verdict, x->erratum,
                             x->erratum);
}

static void add(report *r, const row *x)
{
    char formula[64], ours[64], difference[64] = "", verdict[128];
    const char *published = x->published != NULL ? x->published : "";
    const char *shown = x->words != NULL ? x->words : ours;
    const char *const fields[] = {r->paper, r->item, x->quantity, published,
                                  formula,  shown,   difference,  verdict};
    double value, half;
    show_number(formula, sizeof formula, x->formula, NAN);
    show_number(ours, sizeof ours, x->ours, x->se);
    if (!isnan(x->ours) && read_number(published, &value, &half))
        snprintf(difference, sizeof difference, fabs(x->ours - value) < 100 ? "%+.2g" : "%+.0f",
                 x->ours - value);
    snprintf(verdict, sizeof verdict, "%s%s%s", x->verdict, x->erratum != NULL ? ": " : "",
             x->erratum != NULL ? x->erratum : "");
    if (r->item_is_new)
        printf("%s\n", r->item);
    printf("  ");
    print_field(x->quantity, N_WIDTH);
    print_field(published, 18);
    print_field(shown, 18);
    printf("%s\n", verdict);
    write_csv(r->rows, fields, sizeof fields / sizeof *fields);
    write_markdown(r, x, formula, shown, difference);
    r->item_is_new = 0;
    r->n_rows++;
    r->n_differ += x->verdict == differs;
}

void report_item(report *r, const char *item)
{
    r->item = item;
    r->item_is_new = 1;
}

void report_rounds(report *r, const char *quantity, const char *published, double ours)
{
    add(r, &(row){quantity, published, NAN, ours, NAN, NULL,
                  rounds_to(ours, published) ? agrees : differs, NULL});
}

void report_simulated(report *r, const char *quantity, const char *published, double published_se,
                      double ours, double se, const char *erratum)
{
    double value = NAN, half = 0;
    double both = hypot(isnan(published_se) ? 0 : published_se, isnan(se) ? 0 : se);
    int close = read_number(published, &value, &half) && fabs(ours - value) <= half + 3 * both;
    const char *otherwise = erratum != NULL ? "not reproduced" : differs;
    add(r, &(row){quantity, published, NAN, ours, se, NULL,
                  close ? "agrees within simulation error" : otherwise, close ? NULL : erratum});
}

void report_errs(report *r, const char *quantity, const char *published, double formula,
                 double ours, const char *erratum)
{
    int wrong;
    if (isnan(ours)) /* what is printed cannot be */
        wrong = 1;
    else if (published == NULL)
        wrong = fabs(ours - formula) > 1e-9;
    else
        wrong = is_wrong(ours, published) || (!isnan(formula) && is_wrong(formula, published));
    add(r, &(row){quantity, published, formula, ours, NAN, NULL, wrong ? "paper errs" : differs,
                  wrong ? erratum : NULL});
}

void report_beyond(report *r, const char *quantity, double formula, double ours,
                   const char *erratum)
{
    add(r, &(row){quantity, NULL, formula, ours, NAN, NULL, "not printed", erratum});
}

void report_remark(report *r, const char *quantity, const char *published, double formula,
                   double ours, int holds, const char *verdict, const char *erratum)
{
    add(r, &(row){quantity, published, formula, ours, NAN, NULL, holds ? verdict : differs,
                  holds ? erratum : NULL});
}

void report_claim(report *r, const char *quantity, const char *published, int holds,
                  const char *ours, ...)
{
    char words[256];
    va_list arguments;
    va_start(arguments, ours);
    vsnprintf(words, sizeof words, ours, arguments);
    va_end(arguments);
    add(r, &(row){quantity, published, NAN, NAN, NAN, words, holds ? agrees : differs, NULL});
}

void report_no_data(report *r, const char *quantity, const char *why)
{
    char verdict[256];
    snprintf(verdict, sizeof verdict, "data cannot be had: %s", why);
    add(r, &(row){quantity, NULL, NAN, NAN, NAN, NULL, verdict, NULL});
}

void report_drawing(report *r, const char *what)
{
    add(r, &(row){what, NULL, NAN, NAN, NAN, NULL, "nothing to compute", NULL});
}

/* ---- life cycle ------------------------------------------------------------------ */

static void usage(const char *program)
{
    fprintf(stderr, "usage: %s [--data DIR] [OUTPUT]\n", program);
    exit(2);
}

report *report_begin(int argc, char **argv, const char *paper, const char *title)
{
    static const char *const names[] = {"paper",   "item", "quantity",   "published",
                                        "formula", "ours", "difference", "verdict"};
    report *r = calloc(1, sizeof *r);
    if (r == NULL)
        exit(1);
    r->paper = paper;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--data") == 0 && i + 1 < argc)
            r->data = argv[++i];
        else if (argv[i][0] == '-' || r->output != NULL)
            usage(argv[0]);
        else
            r->output = argv[i];
    }
    printf("%s\n", title);
    r->rows = report_open(r, "rows.csv");
    r->markdown = report_open(r, "rows.md");
    write_csv(r->rows, names, sizeof names / sizeof *names);
    if (r->markdown != NULL)
        cellar_output_printf(r->markdown,
                             "\n## %s\n\n| | quantity | published | printed formula | ours | "
                             "difference | verdict |\n|---|---|---|---|---|---|---|\n",
                             title);
    return r;
}

int report_end(report *r)
{
    int n_differ = r->n_differ;
    report_close(r->rows);
    report_close(r->markdown);
    printf("%d rows, %d of them differ\n\n", r->n_rows, n_differ);
    free(r);
    return n_differ > 0;
}
