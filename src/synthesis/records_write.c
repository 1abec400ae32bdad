/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of records. Fields are escaped once; a row is copied together from them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/urn.h"
#include "synthesis/synthesis.h"
#include "table/formats/csv_fields.h"
#include "table/formats/sheet.h"

typedef struct writing {
    const cellar_synthesis *records;
    const cellar_synthesis_write_options *options;
    cellar_records_file *file;
    cellar_text *fields; /* of each column: its fields, one after the other */
    size_t **starts;     /* of each column: where the field of a category begins */
    cellar_text rows;
} writing;

cellar_synthesis_write_options cellar_synthesis_write_options_default(void)
{
    return (cellar_synthesis_write_options){0};
}

/* ---- fields -------------------------------------------------------------------------- */

/* Which of the languages of a schema is asked for. */
static cellar_status find_language(const cellar_schema *schema, const char *name, size_t *out,
                                   cellar_error *err)
{
    *out = 0;
    if (name == NULL)
        return CELLAR_OK;
    for (size_t l = 0; l < cellar_schema_n_languages(schema); l++)
        if (strcmp(cellar_schema_language(schema, l), name) == 0) {
            *out = l;
            return CELLAR_OK;
        }
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "no variable has labels in the language '%.50s'",
                       name);
}

static int text_order(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Two categories with one label could not be told apart in the records. */
static cellar_status check_labels(const synthesis_column *column, size_t language,
                                  cellar_error *err)
{
    const size_t n = cellar_schema_n_leaves(column->schema, column->variable);
    const char **labels = cellar_alloc(n, sizeof *labels);
    cellar_status status = CELLAR_OK;

    if (labels == NULL)
        return cellar_fail_memory(err, "the labels of records");
    for (size_t c = 0; c < n; c++)
        labels[c] = cellar_schema_label(column->schema, column->variable, c, language);
    qsort(labels, n, sizeof *labels, text_order);
    for (size_t c = 1; c < n && status == CELLAR_OK; c++)
        if (strcmp(labels[c - 1], labels[c]) == 0)
            status = cellar_fail(
                err, CELLAR_ERR_ARGUMENT,
                "variable '%.200s': two categories have the label '%.200s'; write codes",
                cellar_schema_variable(column->schema, column->variable), labels[c]);
    cellar_free(labels);
    return status;
}

static cellar_status fill_fields(writing *w, size_t v, cellar_error *err)
{
    const synthesis_column *column = &w->records->columns[v];
    const size_t n = cellar_schema_n_leaves(column->schema, column->variable);
    const char delimiter = cellar_records_file_delimiter(w->file);
    const int neutralise = w->options->neutralise_formulas;
    size_t language = 0;
    cellar_status status = CELLAR_OK;

    if (w->options->labels) {
        CELLAR_TRY(find_language(column->schema, w->options->language, &language, err));
        CELLAR_TRY(check_labels(column, language, err));
    }
    w->starts[v] = cellar_alloc(n + 1, sizeof *w->starts[v]);
    if (w->starts[v] == NULL)
        return cellar_fail_memory(err, "the codes of records");
    for (size_t c = 0; c < n; c++) {
        const char *code = w->options->labels
                               ? cellar_schema_label(column->schema, column->variable, c, language)
                               : cellar_schema_code(column->schema, column->variable, c);
        if (v > 0)
            cellar_text_add_char(&w->fields[v], delimiter);
        cellar_csv_add_between(&w->fields[v], code, delimiter, neutralise);
        w->starts[v][c + 1] = w->fields[v].length;
    }
    if (w->fields[v].failed)
        return cellar_fail_memory(err, "the codes of records");
out:
    return status;
}

static void add_header(writing *w)
{
    const char delimiter = cellar_records_file_delimiter(w->file);
    const int neutralise = w->options->neutralise_formulas;
    for (size_t v = 0; v < w->records->n_columns; v++) {
        if (v > 0)
            cellar_text_add_char(&w->rows, delimiter);
        cellar_csv_add_between(&w->rows, cellar_synthesis_variable(w->records, v), delimiter,
                               neutralise);
    }
    if (w->options->count_column != NULL) {
        cellar_text_add_char(&w->rows, delimiter);
        cellar_csv_add_between(&w->rows, w->options->count_column, delimiter, neutralise);
    }
    cellar_text_add_char(&w->rows, '\n');
}

/* ---- rows ------------------------------------------------------------------------------ */

static void add_fields(writing *w, size_t combination)
{
    const uint32_t *categories = w->records->categories + combination * w->records->n_columns;
    for (size_t v = 0; v < w->records->n_columns; v++) {
        const size_t *at = w->starts[v] + categories[v];
        cellar_text_add(&w->rows, w->fields[v].bytes + at[0], at[1] - at[0]);
    }
}

static cellar_status end_row(writing *w, cellar_error *err)
{
    cellar_text_add_char(&w->rows, '\n');
    return w->rows.length >= CELLAR_CSV_FLUSH_BYTES
               ? cellar_records_file_add(w->file, &w->rows, err)
               : CELLAR_OK;
}

static cellar_status write_sorted(writing *w, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t k = 0; k < w->records->n_combinations; k++)
        for (uint64_t i = 0; i < w->records->counts[k]; i++) {
            add_fields(w, k);
            CELLAR_TRY(end_row(w, err));
        }
out:
    return status;
}

/* Fisher and Yates, on the combination of each record. */
static cellar_status write_shuffled(writing *w, cellar_error *err)
{
    const size_t n = (size_t) w->records->n_records;
    uint32_t *order = NULL;
    cellar_rng *rng = NULL;
    cellar_status status = CELLAR_OK;

    if (w->records->n_combinations > UINT32_MAX)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "too many combinations to shuffle");
    order = cellar_alloc(n, sizeof *order);
    if (order == NULL)
        return cellar_fail_memory(err, "the order of records");
    for (size_t k = 0, at = 0; k < w->records->n_combinations; k++)
        for (uint64_t i = 0; i < w->records->counts[k]; i++)
            order[at++] = (uint32_t) k;
    CELLAR_TRY(cellar_rng_create_secure(&rng, err));
    for (size_t i = n; i > 0; i--) {
        uint64_t pick;
        uint32_t kept;
        CELLAR_TRY(cellar_uniform_below(rng, i, &pick, err));
        kept = order[pick];
        order[pick] = order[i - 1];
        add_fields(w, kept);
        CELLAR_TRY(end_row(w, err));
    }
out:
    cellar_rng_free(rng);
    cellar_free(order);
    return status;
}

static cellar_status write_counted(writing *w, cellar_error *err)
{
    const char delimiter = cellar_records_file_delimiter(w->file);
    cellar_status status = CELLAR_OK;
    for (size_t k = 0; k < w->records->n_combinations; k++) {
        add_fields(w, k);
        cellar_text_add_char(&w->rows, delimiter);
        cellar_text_add_u64(&w->rows, w->records->counts[k]);
        CELLAR_TRY(end_row(w, err));
    }
out:
    return status;
}

/* ---- the file ----------------------------------------------------------------------------- */

static cellar_status check(const cellar_synthesis *records,
                           const cellar_synthesis_write_options *options, cellar_error *err)
{
    if (options->count_column == NULL)
        return CELLAR_OK;
    if (options->count_column[0] == '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the column of counts needs a name");
    if (options->shuffle)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "combinations that are written once, with their counts, are in the "
                           "order of their categories and are not shuffled");
    for (size_t v = 0; v < records->n_columns; v++)
        if (strcmp(cellar_synthesis_variable(records, v), options->count_column) == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "the records have a variable called '%.200s'; name the column of "
                               "counts otherwise",
                               options->count_column);
    return CELLAR_OK;
}

/* What the description says about this file besides. */
static json_t *describe_file(const writing *w)
{
    json_t *all = json_copy(w->records->description);
    const cellar_synthesis_write_options *o = w->options;
    json_t *layout =
        json_pack("{s:s, s:s, s:s*}", "values", o->labels ? "labels" : "codes", "order",
                  o->shuffle ? "shuffled" : "by category", "count_column", o->count_column);
    if (all == NULL || json_object_set_new(all, "layout", layout) != 0) {
        json_decref(all);
        return NULL;
    }
    return all;
}

cellar_status cellar_synthesis_write(const cellar_synthesis *synthesis, const char *path,
                                     const cellar_synthesis_write_options *options,
                                     cellar_error *err)
{
    const cellar_synthesis_write_options defaults = cellar_synthesis_write_options_default();
    writing w = {.records = synthesis, .options = options != NULL ? options : &defaults};
    json_t *description = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(check(synthesis, w.options, err));
    CELLAR_TRY(cellar_records_file_open(path, w.options->replace, &w.file, err));
    w.fields = cellar_alloc(synthesis->n_columns, sizeof *w.fields);
    w.starts = cellar_alloc(synthesis->n_columns, sizeof *w.starts);
    description = describe_file(&w);
    if (w.fields == NULL || w.starts == NULL || description == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the codes of records"));
    for (size_t v = 0; v < synthesis->n_columns; v++)
        CELLAR_TRY(fill_fields(&w, v, err));
    add_header(&w);
    CELLAR_TRY(w.options->count_column != NULL ? write_counted(&w, err)
               : w.options->shuffle            ? write_shuffled(&w, err)
                                               : write_sorted(&w, err));
    CELLAR_TRY(cellar_records_file_add(w.file, &w.rows, err));
    CELLAR_TRY(cellar_records_file_commit(w.file, description, err));
out:
    for (size_t v = 0; v < synthesis->n_columns && w.fields != NULL && w.starts != NULL; v++) {
        cellar_text_clear(&w.fields[v]);
        cellar_free(w.starts[v]);
    }
    cellar_free(w.fields);
    cellar_free(w.starts);
    cellar_text_clear(&w.rows);
    json_decref(description);
    cellar_records_file_discard(w.file);
    return status;
}
