/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar ptable: transition matrices, designed or read, reported and written. */
#include "verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/matrix.h>

#include "json_out.h"
#include "options.h"
#include "ptable.h"
#include "terminal.h"

enum { KEYS_DEFAULT = 256, SPEC_MAX = 16000 };

#define AT(member) offsetof(ptable_values, member)
static const cli_option ptable_options[] = {
    SECTION("What to design"),
    TEXT("variance", "V", variance, "variance of the change of every count"),
    TEXT("m", "M", m, "largest change"),
    TEXT("min", "C", min, "never release 1 to C [0]"),
    TEXT("stay", "P[,P...]", stay,
         "least probability of no change: one, or one for each count from 1 [0]"),
    CHOICE("form", "equality|at-most", form,
           "meet the variance, or take it for a bound [equality]"),
    FLAG("mono", mono, "probabilities do not fall on the way up to no change"),
    TEXT("mono-rows", "yes|no[,...]", mono_rows, "the same for each count from 1"),
    SECTION("The same in the words of the R package ptable, with its defaults: --optim 1 --mono"),
    TEXT("D", "M", their_d, "--m"),
    TEXT("V", "V", their_v, "--variance"),
    TEXT("js", "C", their_js, "--min"),
    TEXT("pstay", "P[,P...]", their_pstay, "--stay"),
    CHOICE("optim", "1|2|3|4", optim, "1 to 3: --form at-most; 4: --form equality"),
    SECTION("What to read"),
    CHOICE("large", "last|rotate", large,
           "counts beyond the last row use the last row, or rows 501 to 750 in turn [as the layout "
           "has it]"),
    SECTION("Writing it"),
    OUTPUT(path, "write the matrix to a file"),
    CHOICE("format", "ptable|ons|cantabular", layout, "its layout [ptable]"),
    NUMBER("keys", "N", keys, 2, UINT32_MAX,
           "round probabilities to multiples of 1/N [256 for ons and cantabular]"),
    FLAG("force", force, "replace an existing file"),
    FLAG("probabilities", probabilities, "print the probability of every change"),
    FLAG("json", json, "print JSON"),
    SECTION("Other"),
};

static const char *const ptable_examples[] = {
    "cellar ptable design --variance 2 --m 5 --min 1 -o matrix.csv",
    "cellar ptable design --D 5 --V 3 --js 2 --probabilities",
    "cellar ptable design --D 4 --V 1 --pstay 0.5,0.5,0.7,0.8",
    "cellar ptable show matrix.csv --format ons --keys 4096 -o ons.csv", NULL};

static const cli_command ptable_command = {
    "ptable",
    "design|show [FILE] [options]",
    "Designs the matrix of largest entropy with the variance asked for, or reads a matrix from "
    "FILE (of R's ptable and tau-Argus, ONS or Cantabular); shows bias, variance, entropy and "
    "largest "
    "change by true count and which numbers are never released; writes it in any of these layouts.",
    ptable_options,
    sizeof ptable_options / sizeof ptable_options[0],
    ptable_examples};

/* ---- making it ------------------------------------------------------------- */

/* A matrix and what owns it. */
typedef struct ptable_source {
    cellar_mechanism *mechanism; /* of a design */
    cellar_matrix *read, *rounded;
    const cellar_matrix *matrix;
} ptable_source;

static void source_clear(ptable_source *source)
{
    cellar_mechanism_free(source->mechanism);
    cellar_matrix_free(source->read);
    cellar_matrix_free(source->rounded);
}

static cellar_status source_make(const ptable_values *values, const char *spec, const char *file,
                                 ptable_source *source, cellar_error *err)
{
    uint64_t n_keys = values->keys.value;
    cellar_status status;

    if (file == NULL) {
        status = cellar_mechanism_create(spec, &source->mechanism, err);
        if (status == CELLAR_OK)
            source->matrix = cellar_mechanism_matrix(source->mechanism);
    } else {
        status = cellar_matrix_read(file, (cellar_matrix_large) values->large, &source->read, err);
        source->matrix = source->read;
    }
    if (status != CELLAR_OK)
        return status;
    if (n_keys == 0 && values->layout >= 2 && cellar_matrix_n_keys(source->matrix) == 0)
        n_keys = KEYS_DEFAULT;
    if (n_keys == 0 || n_keys == cellar_matrix_n_keys(source->matrix))
        return CELLAR_OK;
    status = cellar_matrix_create_rounded(source->matrix, n_keys, &source->rounded, err);
    source->matrix = source->rounded;
    return status;
}

/* ---- for programs ---------------------------------------------------------- */

static void ptable_json_row(cli_json *json, const cellar_matrix *matrix, size_t r)
{
    cellar_matrix_row row;
    cellar_matrix_row_at(matrix, r, &row);
    cli_json_begin(json, NULL, '{');
    cli_json_count(json, "count", row.count);
    cli_json_real(json, "bias", row.bias);
    cli_json_real(json, "variance", row.variance);
    cli_json_real(json, "variance_asked", row.asked);
    cli_json_real(json, "entropy", row.entropy);
    cli_json_real(json, "stay", row.stay);
    cli_json_begin(json, "pmf", '[');
    for (size_t i = 0; i < row.n_changes; i++) {
        cli_json_begin(json, NULL, '{');
        cli_json_real(json, "released", (double) cellar_matrix_change(matrix, r, i) + (double) r);
        cli_json_real(json, "probability", cellar_matrix_probability(matrix, r, i));
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
    cli_json_end(json, '}');
}

static void ptable_write_json(const ptable_source *source, cellar_output *output)
{
    const cellar_matrix *matrix = source->matrix;
    cli_json json = {.output = output};
    uint64_t count;
    int64_t b;
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "spec",
                  source->mechanism != NULL ? cellar_mechanism_spec(source->mechanism) : NULL);
    cli_json_text(&json, "digest", cellar_matrix_digest(matrix));
    cli_json_text(&json, "large",
                  cellar_matrix_large_rule(matrix) == CELLAR_MATRIX_LARGE_ROTATE ? "rotate"
                                                                                 : "last");
    if (cellar_matrix_n_keys(matrix) > 0)
        cli_json_count(&json, "keys", cellar_matrix_n_keys(matrix));
    else
        cli_json_null(&json, "keys");
    cli_json_count(&json, "largest_change", cellar_matrix_largest_change(matrix));
    cli_json_begin(&json, "forbidden", '[');
    for (size_t i = 0; (b = cellar_matrix_forbidden(matrix, i)) >= 0; i++)
        cli_json_count(&json, NULL, (uint64_t) b);
    cli_json_end(&json, ']');
    cli_json_real(&json, "cell_key_difference", cellar_matrix_difference(matrix, &count));
    cli_json_begin(&json, "rows", '[');
    for (size_t r = 0; r < cellar_matrix_n_rows(matrix); r++)
        ptable_json_row(&json, matrix, r);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

/* ---- for people ------------------------------------------------------------ */

static void ptable_write_rows(const cellar_matrix *matrix, cellar_output *output)
{
    static const char *const head[] = {"count",    "lowest",  "highest", "bias",
                                       "variance", "entropy", "stay"};
    cli_grid grid = {.n_columns = sizeof head / sizeof *head};
    for (size_t i = 0; i < grid.n_columns; i++)
        cli_grid_add(&grid, head[i]);
    for (size_t r = 0; r < cellar_matrix_n_rows(matrix); r++) {
        cellar_matrix_row row;
        cellar_matrix_row_at(matrix, r, &row);
        cli_grid_add_count(&grid, row.count);
        cli_grid_add_number(&grid, (double) row.lowest);
        cli_grid_add_number(&grid, (double) row.highest);
        cli_grid_add_number(&grid, row.bias);
        cli_grid_add_number(&grid, row.variance);
        cli_grid_add_number(&grid, row.entropy);
        cli_grid_add_number(&grid, row.stay);
    }
    cli_grid_write(&grid, UINT64_MAX, output);
    cli_grid_clear(&grid);
}

static void ptable_write_probabilities(const cellar_matrix *matrix, cellar_output *output)
{
    cli_grid grid = {.n_columns = 3};
    cli_grid_add(&grid, "count");
    cli_grid_add(&grid, "released");
    cli_grid_add(&grid, "probability");
    for (size_t r = 0; r < cellar_matrix_n_rows(matrix); r++) {
        cellar_matrix_row row;
        cellar_matrix_row_at(matrix, r, &row);
        for (size_t i = 0; i < row.n_changes; i++) {
            cli_grid_add_count(&grid, row.count);
            cli_grid_add_number(&grid, (double) r + (double) cellar_matrix_change(matrix, r, i));
            cli_grid_add_number(&grid, cellar_matrix_probability(matrix, r, i));
        }
    }
    cellar_output_string(output, "\n");
    cli_grid_write(&grid, UINT64_MAX, output);
    cli_grid_clear(&grid);
}

/* What the figures mean for those who rely on them. */
static void ptable_write_notes(const cellar_matrix *matrix, cellar_output *output)
{
    uint64_t count;
    double differ = cellar_matrix_difference(matrix, &count);
    cellar_matrix_row row;
    int64_t b;

    cellar_output_printf(output, "\nlargest change: %" PRIu64 "\nnever released:",
                         cellar_matrix_largest_change(matrix));
    for (size_t i = 0; i < 20 && (b = cellar_matrix_forbidden(matrix, i)) >= 0; i++)
        cellar_output_printf(output, " %" PRId64, b);
    if (cellar_matrix_forbidden(matrix, 0) < 0)
        cellar_output_string(output, " nothing");
    cellar_output_string(output, cellar_matrix_forbidden(matrix, 20) >= 0 ? " ...\n" : "\n");
    cellar_matrix_row_at(matrix, 0, &row);
    if (row.stay >= 1)
        cellar_output_string(output, "a count of 0 is always released as 0, so that any other "
                                     "number proves a record: no differential privacy\n");
    for (size_t r = 1; r < cellar_matrix_n_rows(matrix); r++) {
        cellar_matrix_row_at(matrix, r, &row);
        if (row.variance < row.asked * (1 - 1e-9) && cellar_matrix_n_keys(matrix) == 0)
            cellar_output_printf(output, "count %zu: variance %.6g, less than the %.6g asked for\n",
                                 r, row.variance, row.asked);
    }
    cellar_output_printf(output,
                         "with cell keys, a cell and the same cell with one record more differ "
                         "with probability up to %.6g (count %" PRIu64 ")\n",
                         differ, count);
}

static void ptable_write_people(const ptable_source *source, int probabilities,
                                cellar_output *output)
{
    const cellar_matrix *matrix = source->matrix;
    size_t last = cellar_matrix_n_rows(matrix) - 1;
    if (source->mechanism != NULL)
        cellar_output_printf(output, "%s\n", cellar_mechanism_spec(source->mechanism));
    cellar_output_printf(output, "digest %s\n", cellar_matrix_digest(matrix));
    if (cellar_matrix_n_keys(matrix) > 0)
        cellar_output_printf(output, "%" PRIu64 " keys\n", cellar_matrix_n_keys(matrix));
    if (cellar_matrix_large_rule(matrix) == CELLAR_MATRIX_LARGE_ROTATE)
        cellar_output_string(output, "counts above 750 use rows 501 to 750 in turn\n\n");
    else
        cellar_output_printf(output, "row %zu serves all larger counts\n\n", last);
    ptable_write_rows(matrix, output);
    if (probabilities)
        ptable_write_probabilities(matrix, output);
    ptable_write_notes(matrix, output);
}

/* ---- the run --------------------------------------------------------------- */

static cellar_status ptable_save(const ptable_values *values, const cellar_matrix *matrix,
                                 cellar_error *err)
{
    static const cellar_matrix_layout layouts[] = {CELLAR_MATRIX_PTABLE, CELLAR_MATRIX_PTABLE,
                                                   CELLAR_MATRIX_ONS, CELLAR_MATRIX_CANTABULAR};
    cellar_output_options how = cellar_output_options_default();
    cellar_output *output;
    cellar_status status;
    how.replace = values->force;
    status = cellar_output_open(values->path, &how, &output, err);
    if (status != CELLAR_OK)
        return status;
    status = cellar_matrix_write(matrix, layouts[values->layout], 0, output, err);
    if (status == CELLAR_OK)
        return cellar_output_commit(output, err);
    cellar_output_discard(output);
    return status;
}

static int ptable_run(const ptable_values *values, const char *spec, const char *file)
{
    ptable_source source = {0};
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status = source_make(values, spec, file, &source, &err);
    int result;

    if (status == CELLAR_OK && values->path != NULL)
        status = ptable_save(values, source.matrix, &err);
    if (status == CELLAR_OK &&
        (values->path == NULL || strcmp(values->path, "-") != 0)) /* else the matrix is there */
        status = cellar_output_open("-", NULL, &output, &err);
    if (status == CELLAR_OK && output != NULL) {
        if (values->json)
            ptable_write_json(&source, output);
        else
            ptable_write_people(&source, values->probabilities, output);
        status = cellar_output_commit(output, &err);
    }
    result =
        status == CELLAR_ERR_ARGUMENT ? ptable_design_fail(values, &err) : cli_exit(status, &err);
    source_clear(&source);
    return result;
}

/* 1 when an option of a design was given. */
static int values_design(const ptable_values *v)
{
    return v->variance != NULL || v->m != NULL || v->min != NULL || v->stay != NULL ||
           ptable_design_theirs(v) || v->form != 0 || v->mono || v->mono_rows != NULL ||
           v->optim != 0;
}

int cli_ptable(int argc, char **argv)
{
    ptable_values values = {0};
    cli_words words = {0};
    char spec[SPEC_MAX] = "";
    int designs, result = cli_options_parse(&ptable_command, argc, argv, &values, &words);

    designs = words.n > 0 && strcmp(words.items[0], "design") == 0;
    if (result == CLI_GO_ON && (words.n == 0 || (!designs && strcmp(words.items[0], "show") != 0)))
        result = cli_usage("ptable: say design or show (cellar ptable --help)");
    if (result == CLI_GO_ON && words.n != (designs ? 1u : 2u))
        result =
            cli_usage(designs ? "ptable design takes options only" : "ptable show takes one file");
    if (result == CLI_GO_ON && designs && values.large != 0)
        result = cli_usage("ptable design: --large says how to read a matrix");
    if (result == CLI_GO_ON && !designs && values_design(&values))
        result = cli_usage("ptable show: a matrix that is read cannot be designed");
    if (result == CLI_GO_ON && designs)
        result = ptable_design_spec(&values, spec, sizeof spec);
    if (result == CLI_GO_ON)
        result = ptable_run(&values, spec, designs ? NULL : words.items[1]);
    cli_words_clear(&words);
    cli_options_clear(&ptable_command, &values);
    return result;
}
