/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Value labels of SPSS, Stata and SAS files. */
#include "statread/parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

typedef struct statfile_label {
    const char *set;   /* the label set it belongs to */
    const char *code;  /* the value as text */
    const char *label; /* "" when it has none */
    readstat_value_t value;
    size_t order; /* as in the file */
} statfile_label;

/* A column asked for that names a label set. */
typedef struct labelled_column {
    const char *set;
    readstat_variable_t variable; /* a copy, for its missing values */
} labelled_column;

typedef struct statfile_labels {
    cellar_statfile_run run;
    char *wanted; /* by variable: 1 where it is asked for */
    labelled_column **column_of;
    size_t n_variables; /* up to the last asked for */
    cellar_arena *arena;
    cellar_text text;
    statfile_label *labels; /* of all sets: some formats tell the columns' sets last */
    size_t n_labels, capacity;
    statfile_label *chosen; /* those of one column */
    size_t n_chosen;
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
static int labels_keep_variable(statfile_labels *labels, const readstat_variable_t *variable,
                                readstat_variable_t *kept)
{
    readstat_missingness_t *missingness = &kept->missingness;

    *kept = *variable;
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
    labelled_column *column;

    if (labels->run.status != CELLAR_OK)
        return READSTAT_HANDLER_ABORT;
    if (index < 0 || (size_t) index >= labels->n_variables || !labels->wanted[index] ||
        label_set == NULL || label_set[0] == '\0')
        return READSTAT_HANDLER_OK;
    column = cellar_arena_alloc(labels->arena, 1, sizeof *column);
    if (column == NULL) {
        labels->run.status = cellar_fail_memory(labels->run.err, "value labels");
        return READSTAT_HANDLER_ABORT;
    }
    column->set = labels_keep_name(labels, label_set);
    if (column->set == NULL || !labels_keep_variable(labels, variable, &column->variable))
        return READSTAT_HANDLER_ABORT;
    labels->column_of[index] = column;
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

/* Chooses the labels of the column's set whose values are categories of it. */
static void labels_choose(statfile_labels *labels, labelled_column *column)
{
    labels->n_chosen = 0;
    for (size_t i = 0; i < labels->n_labels; i++) {
        const statfile_label *label = &labels->labels[i];
        if (strcmp(label->set, column->set) == 0 && label->code[0] != '\0' &&
            !readstat_value_is_missing(label->value, &column->variable))
            labels->chosen[labels->n_chosen++] = *label;
    }
    if (labels->n_chosen > 0)
        qsort(labels->chosen, labels->n_chosen, sizeof *labels->chosen, labels_compare);
}

/* A value labelled twice has its first label that says something. */
static cellar_status labels_tell(const statfile_labels *labels, size_t column,
                                 cellar_label_callback *tell, void *context)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0, next; i < labels->n_chosen && status == CELLAR_OK; i = next) {
        const char *code = labels->chosen[i].code, *label = labels->chosen[i].label;
        for (next = i + 1; next < labels->n_chosen; next++) {
            if (strcmp(labels->chosen[next].code, code) != 0)
                break;
            if (label[0] == '\0')
                label = labels->chosen[next].label;
        }
        status = tell(context, column, code, label, labels->run.err);
    }
    return status;
}

static cellar_status labels_prepare(statfile_labels *labels, const size_t *columns,
                                    size_t n_columns)
{
    for (size_t i = 0; i < n_columns; i++)
        if (columns[i] >= labels->n_variables)
            labels->n_variables = columns[i] + 1;
    labels->arena = cellar_arena_create(STATFILE_LABELS_BYTES);
    labels->wanted = cellar_alloc(labels->n_variables, 1);
    labels->column_of = cellar_alloc(labels->n_variables, sizeof *labels->column_of);
    if (labels->arena == NULL || labels->wanted == NULL || labels->column_of == NULL)
        return cellar_fail_memory(labels->run.err, "value labels");
    for (size_t i = 0; i < n_columns; i++)
        labels->wanted[columns[i]] = 1;
    return CELLAR_OK;
}

cellar_status cellar_statfile_list_labels(cellar_statfile *file, const size_t *columns,
                                          size_t n_columns, cellar_label_callback *label,
                                          void *context, cellar_error *err)
{
    static const readstat_callbacks_t handlers = {.variable = labels_on_variable,
                                                  .value_label = labels_on_label};
    cellar_status status = CELLAR_OK;
    statfile_labels labels = {.run = {.file = file, .err = err}};

    CELLAR_TRY(labels_prepare(&labels, columns, n_columns));
    CELLAR_TRY(cellar_statfile_parse(&labels.run, &handlers));
    if (file->format == CELLAR_DATA_DTA && file->cut) { /* ReadStat takes what is there */
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "the value labels end too early: the file is cut short");
        goto out;
    }
    labels.chosen = cellar_alloc(labels.n_labels, sizeof *labels.chosen);
    if (labels.chosen == NULL) {
        status = cellar_fail_memory(err, "value labels");
        goto out;
    }
    for (size_t i = 0; i < n_columns; i++) {
        labelled_column *column = labels.column_of[columns[i]];
        if (column == NULL)
            continue;
        labels_choose(&labels, column);
        CELLAR_TRY(labels_tell(&labels, i, label, context));
    }
out:
    cellar_free(labels.labels);
    cellar_free(labels.chosen);
    cellar_free(labels.column_of);
    cellar_free(labels.wanted);
    cellar_text_clear(&labels.text);
    cellar_arena_free(labels.arena);
    return status;
}
