/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar mechanism: what a mechanism does to a count, without any data. */
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/mechanism.h>

#include "json_out.h"
#include "options.h"
#include "terminal.h"

enum { NUMBERS_MAX = 100000 };

typedef struct mechanism_values {
    const char *counts, *released, *path;
    int negatives, force, json;
} mechanism_values;

#define AT(member) offsetof(mechanism_values, member)
static const cli_option mechanism_options[] = {
    SECTION("What to show"),
    TEXT("counts", "LIST", counts, "for these true counts, such as 0,1,2 or 0..5 [0..5]"),
    TEXT("released", "LIST", released, "also the probability of each of these released values"),
    CHOICE("negatives", "keep|zero", negatives,
           "what becomes of released values below zero [keep]"),
    SECTION("Writing it"),
    OUTPUT(path, "write to a file [standard output]"),
    FLAG("force", force, "replace an existing file"),
    FLAG("json", json, "print JSON"),
    SECTION("Other"),
};

static const char *const mechanism_examples[] = {
    "cellar mechanism",
    "cellar mechanism discrete-laplace:epsilon=1 --counts 0..3 --released -2..5",
    "cellar mechanism gaussian:epsilon=0.5,delta=1e-6,calibration=analytic --json", NULL};

static const cli_command mechanism_command = {
    "mechanism",
    "[SPEC] [options]",
    "Shows what a mechanism does to a true count: its parameters, the presence (the chance that "
    "the "
    "released value is 1 or more), mean, variance and entropy of the released value, and the "
    "probabilities of released values. Without SPEC, lists the mechanisms.",
    mechanism_options,
    sizeof mechanism_options / sizeof mechanism_options[0],
    mechanism_examples};

/* ---- lists of numbers ------------------------------------------------------ */

typedef struct numbers {
    int64_t *items;
    size_t n;
} numbers;

static int number_read(const char *text, const char **end, int64_t *out)
{
    char *stop;
    errno = 0;
    *out = strtoll(text, &stop, 10);
    *end = stop;
    return stop != text && errno == 0 && *out >= -(INT64_C(1) << 62) && *out <= INT64_C(1) << 62;
}

/* Reads "0,1,5..9". */
static int numbers_read(const char *option, const char *text, int64_t smallest, numbers *out)
{
    const char *at = text;
    out->items = cli_alloc(NUMBERS_MAX, sizeof *out->items);
    for (;;) {
        int64_t first, last;
        if (!number_read(at, &at, &first))
            return cli_usage("--%s: '%s' is no list of whole numbers such as 0,1,2 or 0..5", option,
                             text);
        last = first;
        if (strncmp(at, "..", 2) == 0 && !number_read(at + 2, &at, &last))
            return cli_usage("--%s: a range reads 0..5, not '%s'", option, text);
        if (first < smallest || last < first)
            return cli_usage("--%s: numbers are at least %" PRId64 " and ranges rise, got '%s'",
                             option, smallest, text);
        if (last - first >= NUMBERS_MAX - (int64_t) out->n)
            return cli_usage("--%s: more than %d numbers", option, NUMBERS_MAX);
        for (int64_t x = first; x <= last; x++)
            out->items[out->n++] = x;
        if (*at == '\0')
            return CLI_GO_ON;
        if (*at++ != ',')
            return cli_usage("--%s: '%s' is no list of whole numbers such as 0,1,2 or 0..5", option,
                             text);
    }
}

/* ---- for programs ---------------------------------------------------------- */

/* A parameter appears as a number, or as its word. */
static void mechanism_json_parameters(cli_json *json, const cellar_mechanism *m)
{
    cli_json_begin(json, "parameters", '{');
    for (size_t i = 0; i < cellar_mechanism_n_parameters(m); i++) {
        double value = cellar_mechanism_parameter_value(m, i);
        if (value == value)
            cli_json_real(json, cellar_mechanism_parameter_name(m, i), value);
        else
            cli_json_text(json, cellar_mechanism_parameter_name(m, i),
                          cellar_mechanism_parameter_text(m, i));
    }
    cli_json_end(json, '}');
}

static void mechanism_json_row(cli_json *json, const cellar_mechanism *m, int64_t count,
                               cellar_negatives negatives, const numbers *released)
{
    cellar_moments moments;
    cellar_mechanism_moments(m, count, negatives, &moments);
    cli_json_begin(json, NULL, '{');
    cli_json_count(json, "count", (uint64_t) count);
    cli_json_real(json, "presence", moments.presence);
    cli_json_real(json, "mean", moments.mean);
    cli_json_real(json, "variance", moments.variance);
    cli_json_real(json, "entropy", moments.entropy);
    if (released->n > 0) {
        cli_json_begin(json, "pmf", '[');
        for (size_t i = 0; i < released->n; i++) {
            cli_json_begin(json, NULL, '{');
            cli_json_real(json, "released", (double) released->items[i]);
            cli_json_real(json, "probability",
                          cellar_mechanism_released_pmf(m, count, released->items[i], negatives));
            cli_json_end(json, '}');
        }
        cli_json_end(json, ']');
    }
    cli_json_end(json, '}');
}

static void mechanism_write_json(const cellar_mechanism *m, cellar_negatives negatives,
                                 const numbers *counts, const numbers *released,
                                 cellar_output *output)
{
    cli_json json = {.output = output};
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "mechanism", cellar_mechanism_name(m));
    cli_json_text(&json, "spec", cellar_mechanism_spec(m));
    cli_json_count(&json, "revision", cellar_mechanism_revision(m));
    mechanism_json_parameters(&json, m);
    cli_json_text(&json, "negatives", cellar_negatives_name(negatives));
    cli_json_begin(&json, "rows", '[');
    for (size_t i = 0; i < counts->n; i++)
        mechanism_json_row(&json, m, counts->items[i], negatives, released);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

/* ---- for people ------------------------------------------------------------ */

static void grid_add_integer(cli_grid *grid, int64_t value)
{
    char text[40];
    snprintf(text, sizeof text, "%" PRId64, value);
    cli_grid_add(grid, text);
}

static void mechanism_write_parameters(const cellar_mechanism *m, cellar_output *output)
{
    cellar_output_printf(output, "%s, revision %u\n", cellar_mechanism_spec(m),
                         (unsigned) cellar_mechanism_revision(m));
    for (size_t i = 0; i < cellar_mechanism_n_parameters(m); i++)
        if (cellar_mechanism_parameter_is_derived(m, i))
            cellar_output_printf(output, "%s = %.17g (derived)\n",
                                 cellar_mechanism_parameter_name(m, i),
                                 cellar_mechanism_parameter_value(m, i));
    cellar_output_string(output, "\n");
}

/* A row for each released value, a column for each count, a bar where there is one count. */
static void mechanism_write_probabilities(const cellar_mechanism *m, cellar_negatives negatives,
                                          const numbers *counts, const numbers *released,
                                          cellar_output *output)
{
    size_t with_bar = counts->n == 1;
    cli_grid grid = {.n_columns = 1 + counts->n + with_bar};
    cli_grid_add(&grid, "released");
    for (size_t i = 0; i < counts->n; i++) {
        char text[40];
        snprintf(text, sizeof text, "P(.|%" PRId64 ")", counts->items[i]);
        cli_grid_add(&grid, text);
    }
    if (with_bar)
        cli_grid_add(&grid, "");
    for (size_t k = 0; k < released->n; k++) {
        double p = 0;
        grid_add_integer(&grid, released->items[k]);
        for (size_t i = 0; i < counts->n; i++) {
            p = cellar_mechanism_released_pmf(m, counts->items[i], released->items[k], negatives);
            cli_grid_add_number(&grid, p);
        }
        if (with_bar)
            cli_grid_add_bar(&grid, p);
    }
    cellar_output_string(output, "\n");
    cli_grid_write(&grid, with_bar ? 3 : UINT64_MAX, output);
    cli_grid_clear(&grid);
}

static void mechanism_write_people(const cellar_mechanism *m, cellar_negatives negatives,
                                   const numbers *counts, const numbers *released,
                                   cellar_output *output)
{
    static const char *const head[] = {"count", "presence", "mean", "variance", "entropy"};
    cli_grid grid = {.n_columns = sizeof head / sizeof *head};
    mechanism_write_parameters(m, output);
    for (size_t i = 0; i < grid.n_columns; i++)
        cli_grid_add(&grid, head[i]);
    for (size_t i = 0; i < counts->n; i++) {
        cellar_moments moments;
        cellar_mechanism_moments(m, counts->items[i], negatives, &moments);
        grid_add_integer(&grid, counts->items[i]);
        cli_grid_add_number(&grid, moments.presence);
        cli_grid_add_number(&grid, moments.mean);
        cli_grid_add_number(&grid, moments.variance);
        cli_grid_add_number(&grid, moments.entropy);
    }
    cli_grid_write(&grid, UINT64_MAX, output);
    cli_grid_clear(&grid);
    if (released->n > 0)
        mechanism_write_probabilities(m, negatives, counts, released, output);
}

/* All mechanisms with a line each. */
static void mechanism_write_list(int as_json, cellar_output *output)
{
    cli_json json = {.output = output};
    cli_grid grid = {.n_columns = 2, .is_list = 1};
    const char *name;
    if (as_json) {
        cli_json_begin(&json, NULL, '{');
        cli_json_begin(&json, "mechanisms", '[');
    }
    for (size_t i = 0; (name = cellar_mechanism_known_name(i)) != NULL; i++) {
        if (as_json) {
            cli_json_begin(&json, NULL, '{');
            cli_json_text(&json, "mechanism", name);
            cli_json_text(&json, "summary", cellar_mechanism_known_summary(i));
            cli_json_end(&json, '}');
        }
        cli_grid_add(&grid, name);
        cli_grid_add(&grid, cellar_mechanism_known_summary(i));
    }
    if (as_json) {
        cli_json_end(&json, ']');
        cli_json_end(&json, '}');
    } else {
        cli_grid_write(&grid, 0, output);
    }
    cli_grid_clear(&grid);
}

/* ---- the run --------------------------------------------------------------- */

static int mechanism_run(const mechanism_values *values, const char *spec, const numbers *counts,
                         const numbers *released)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_negatives negatives =
        values->negatives == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    cellar_mechanism *m = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status = CELLAR_OK;

    how.replace = values->force;
    if (spec != NULL)
        status = cellar_mechanism_create(spec, &m, &err);
    if (status == CELLAR_ERR_ARGUMENT)
        return cli_usage("%s", err.message);
    if (status == CELLAR_OK)
        status = cellar_output_open(values->path != NULL ? values->path : "-", &how, &output, &err);
    if (status == CELLAR_OK) {
        if (m == NULL)
            mechanism_write_list(values->json, output);
        else if (values->json)
            mechanism_write_json(m, negatives, counts, released, output);
        else
            mechanism_write_people(m, negatives, counts, released, output);
        status = cellar_output_commit(output, &err);
    }
    cellar_mechanism_free(m);
    return cli_exit(status, &err);
}

int cli_mechanism(int argc, char **argv)
{
    mechanism_values values = {0};
    cli_words specs = {0};
    numbers counts = {0}, released = {0};
    int result = cli_options_parse(&mechanism_command, argc, argv, &values, &specs);

    if (result == CLI_GO_ON && specs.n > 1)
        result = cli_usage("mechanism takes one spec, and '%s' is a second", specs.items[1]);
    if (result == CLI_GO_ON)
        result = numbers_read("counts", values.counts != NULL ? values.counts : "0..5", 0, &counts);
    if (result == CLI_GO_ON && values.released != NULL)
        result = numbers_read("released", values.released, INT64_MIN, &released);
    if (result == CLI_GO_ON)
        result = mechanism_run(&values, specs.n > 0 ? specs.items[0] : NULL, &counts, &released);
    free(counts.items);
    free(released.items);
    cli_words_clear(&specs);
    cli_options_clear(&mechanism_command, &values);
    return result;
}
