/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Value labels of SPSS, Stata and SAS files as code lists. */
#include "data/statfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/statfile_parse.h"

typedef struct statfile_label {
    const char *set;   /* the label set it belongs to */
    const char *code;  /* the value as text */
    const char *label; /* "" when it has none */
    readstat_value_t value;
    size_t order; /* as in the file */
} statfile_label;

typedef struct statfile_labels {
    cellar_statfile_run run;
    size_t column;
    cellar_arena *arena;
    cellar_text text;
    const char *set;              /* of the column, NULL when it has none */
    readstat_variable_t variable; /* a copy, for its missing values */
    statfile_label *labels;       /* of all sets: some formats tell the columns' sets last */
    size_t n_labels, capacity;
} statfile_labels;

enum { STATFILE_LABELS_BYTES = 1 << 30 };

static const char *labels_keep(statfile_labels *labels, const char *text, size_t length,
                               const char *what)
{
    cellar_statfile_run *run = &labels->run;
    const char *copy;

    run->status = cellar_statfile_text(run, text, length, what, &labels->text);
    if (run->status != CELLAR_OK)
        return NULL;
    copy = cellar_arena_copy(labels->arena, labels->text.bytes, labels->text.length);
    if (copy == NULL)
        run->status = cellar_fail_memory(run->err, "value labels");
    return copy;
}

static const char *labels_keep_name(statfile_labels *labels, const char *label_set)
{
    return labels_keep(labels, label_set, strnlen(label_set, labels->run.name_bytes),
                       "the name of a label set");
}

/* The missing values of a text column point into memory that ends with the variable. */
static int labels_keep_variable(statfile_labels *labels, const readstat_variable_t *variable)
{
    readstat_missingness_t *missingness = &labels->variable.missingness;

    labels->variable = *variable;
    for (long i = 0; i < 2 * missingness->missing_ranges_count; i++) {
        readstat_value_t *bound = &missingness->missing_ranges[i];
        if (readstat_value_type_class(*bound) != READSTAT_TYPE_CLASS_STRING)
            continue;
        const char *text = bound->v.string_value != NULL ? bound->v.string_value : "";
        bound->v.string_value = labels_keep(labels, text, strlen(text), "a missing value");
        if (bound->v.string_value == NULL)
            return 0;
    }
    return 1;
}

static int labels_on_variable(int index, readstat_variable_t *variable, const char *label_set,
                              void *context)
{
    statfile_labels *labels = context;
    if (labels->run.status != CELLAR_OK)
        return READSTAT_HANDLER_ABORT;
    if (index < 0 || (size_t) index != labels->column || label_set == NULL || label_set[0] == '\0')
        return READSTAT_HANDLER_OK;
    labels->set = labels_keep_name(labels, label_set);
    if (labels->set == NULL || !labels_keep_variable(labels, variable))
        return READSTAT_HANDLER_ABORT;
    return READSTAT_HANDLER_OK;
}

static int labels_on_label(const char *label_set, readstat_value_t value, const char *label,
                           void *context)
{
    statfile_labels *labels = context;
    cellar_statfile_run *run = &labels->run;
    statfile_label *last = labels->n_labels > 0 ? &labels->labels[labels->n_labels - 1] : NULL;
    statfile_label kept = {.value = value, .order = labels->n_labels};

    if (run->status != CELLAR_OK)
        return READSTAT_HANDLER_ABORT;
    if (label_set == NULL || readstat_value_is_system_missing(value) ||
        readstat_value_is_tagged_missing(value))
        return READSTAT_HANDLER_OK; /* no category */
    if (label == NULL)
        label = "";
    if (last != NULL && strcmp(last->set, label_set) == 0)
        kept.set = last->set;
    else
        kept.set = labels_keep_name(labels, label_set);
    if (kept.set != NULL)
        kept.label = labels_keep(labels, label, strlen(label), "a value label");
    if (kept.label == NULL)
        return READSTAT_HANDLER_ABORT;
    run->status = cellar_statfile_value_text(run, value, "a labelled value", &labels->text);
    if (run->status != CELLAR_OK)
        return READSTAT_HANDLER_ABORT;
    kept.code = cellar_arena_copy(labels->arena, labels->text.bytes, labels->text.length);
    if (readstat_value_type_class(value) == READSTAT_TYPE_CLASS_STRING)
        kept.value.v.string_value = kept.code;
    if (kept.code == NULL || !cellar_grow(&labels->labels, &labels->capacity, labels->n_labels + 1,
                                          sizeof *labels->labels)) {
        run->status = cellar_fail_memory(run->err, "value labels");
        return READSTAT_HANDLER_ABORT;
    }
    labels->labels[labels->n_labels++] = kept;
    return READSTAT_HANDLER_OK;
}

/* Numbers by value, then text bytewise; the same value in the order of the file. */
static int labels_compare(const void *a, const void *b)
{
    const statfile_label *x = a, *y = b;
    int x_text = readstat_value_type_class(x->value) == READSTAT_TYPE_CLASS_STRING;
    int y_text = readstat_value_type_class(y->value) == READSTAT_TYPE_CLASS_STRING;
    int by_value;

    if (x_text != y_text)
        return x_text - y_text;
    if (x_text)
        by_value = strcmp(x->code, y->code);
    else {
        double x_number = readstat_double_value(x->value);
        double y_number = readstat_double_value(y->value);
        by_value = (x_number > y_number) - (x_number < y_number);
    }
    return by_value != 0 ? by_value : (x->order > y->order) - (x->order < y->order);
}

/* Keeps the labels of the column's set whose values are categories of it. */
static void labels_select(statfile_labels *labels)
{
    size_t n = 0;
    for (size_t i = 0; i < labels->n_labels; i++) {
        statfile_label *label = &labels->labels[i];
        if (labels->set != NULL && strcmp(label->set, labels->set) == 0 && label->code[0] != '\0' &&
            !readstat_value_is_missing(label->value, &labels->variable))
            labels->labels[n++] = *label;
    }
    labels->n_labels = n;
    if (n > 0)
        qsort(labels->labels, n, sizeof *labels->labels, labels_compare);
}

/* A value labelled twice has its first label that says something. */
static cellar_status labels_to_codelist(const statfile_labels *labels, cellar_codelist **out,
                                        cellar_error *err)
{
    cellar_status status;
    cellar_codelist *list = NULL;

    CELLAR_TRY(cellar_codelist_create(&list, err));
    for (size_t i = 0, next; i < labels->n_labels; i = next) {
        const char *code = labels->labels[i].code, *label = labels->labels[i].label;
        for (next = i + 1; next < labels->n_labels; next++) {
            if (strcmp(labels->labels[next].code, code) != 0)
                break;
            if (label[0] == '\0')
                label = labels->labels[next].label;
        }
        CELLAR_TRY(cellar_codelist_add(list, code, label[0] != '\0' ? label : NULL, NULL,
                                       CELLAR_CODE_PLAIN, err));
    }
    CELLAR_TRY(cellar_codelist_finish(list, err));
    *out = list;
    list = NULL;
out:
    cellar_codelist_free(list);
    return status;
}

cellar_status cellar_statfile_list_labels(cellar_statfile *file, size_t column,
                                          cellar_codelist **out, cellar_error *err)
{
    static const readstat_callbacks_t handlers = {.variable = labels_on_variable,
                                                  .value_label = labels_on_label};
    cellar_status status = CELLAR_OK;
    statfile_labels labels = {.run = {.file = file, .err = err}, .column = column};

    *out = NULL;
    labels.arena = cellar_arena_create(STATFILE_LABELS_BYTES);
    if (labels.arena == NULL)
        return cellar_fail_memory(err, "value labels");
    CELLAR_TRY(cellar_statfile_parse(&labels.run, &handlers));
    if (file->format == CELLAR_DATA_DTA && file->cut) { /* ReadStat takes what is there */
        status =
            cellar_fail(err, CELLAR_ERR_INPUT,
                        "%s: the value labels end too early: the file is cut short", file->name);
        goto out;
    }
    labels_select(&labels);
    if (labels.n_labels > 0)
        CELLAR_TRY(labels_to_codelist(&labels, out, err));
out:
    cellar_free(labels.labels);
    cellar_text_clear(&labels.text);
    cellar_arena_free(labels.arena);
    return status;
}

cellar_status cellar_statfile_labels(const char *path, cellar_data_format format, size_t column,
                                     cellar_codelist **out, cellar_error *err)
{
    cellar_statfile file;
    cellar_status status = cellar_statfile_open(path, format, &file, err);

    *out = NULL;
    if (status != CELLAR_OK)
        return status;
    status = cellar_statfile_list_labels(&file, column, out, err);
    cellar_statfile_close(&file);
    return status;
}

/* ---- by name -------------------------------------------------------------- */

static cellar_status labels_find_column(const char *path, cellar_data_format format,
                                        const char *column, size_t *index, cellar_error *err)
{
    char **names;
    size_t n_names, i = 0;
    cellar_status status = cellar_statfile_columns(path, format, &names, &n_names, err);

    if (status != CELLAR_OK)
        return status;
    while (i < n_names && strcmp(names[i], column) != 0)
        i++;
    *index = i;
    if (i == n_names)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: the file has no column '%s'", path, column);
    cellar_columns_free(names, n_names);
    return status;
}

cellar_status cellar_codelist_from_labels(const char *path, const cellar_reader_options *options,
                                          const char *column, cellar_codelist **out,
                                          cellar_error *err)
{
    cellar_data_format format = options != NULL ? options->format : CELLAR_DATA_AUTO;
    size_t index = 0;
    cellar_status status;

    *out = NULL;
    if (format == CELLAR_DATA_AUTO)
        format = cellar_statfile_format(path);
    if (format == CELLAR_DATA_TEXT)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: a text file has no value labels; SPSS and Stata files do", path);
    status = labels_find_column(path, format, column, &index, err);
    if (status == CELLAR_OK)
        status = cellar_statfile_labels(path, format, index, out, err);
    if (status == CELLAR_OK && *out == NULL)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: column '%s' has no value labels", path, column);
    return status;
}
