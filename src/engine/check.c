/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be asked of a database, and how a question reads its variables. */
#include <string.h>

#include "base/error.h"
#include "engine/dialect.h"
#include "engine/question.h"

static cellar_status refuse(const char *why, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "%s", why);
}

/* Where a part of "schema.table" ends: at a point or at the end; NULL: a quote is not closed. */
static const char *end_of_part(const char *part)
{
    const char *end = part + strcspn(part, ".");
    if (part[0] != '"')
        return end;
    end = strchr(part + 1, '"');
    return end != NULL && (end[1] == '.' || end[1] == '\0') ? end + 1 : NULL;
}

int sql_next_part(const char **at, const char **name, size_t *length)
{
    const char *end = end_of_part(*at);
    const int is_quoted = **at == '"';
    if (end == NULL || end - *at <= (is_quoted ? 2 : 0))
        return 0;
    *name = *at + is_quoted;
    *length = (size_t) (end - *at) - (is_quoted ? 2 : 0);
    *at = end + (*end == '.');
    return end[0] != '.' || end[1] != '\0';
}

/* A name that is cut off may be another column's. */
static cellar_status check_length(const sql_dialect *d, const char *name, size_t length,
                                  cellar_error *err)
{
    if (d->name_bytes == 0 || length <= d->name_bytes)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.*s': names for %s have at most %zu bytes",
                       (int) (length < 200 ? length : 200), name, d->name, d->name_bytes);
}

/* Dialects in which a backslash escapes do not agree how a name is escaped. */
static cellar_status check_escapes(const sql_dialect *d, const char *name, cellar_error *err)
{
    if (d->literal != SQL_ESCAPED || (strchr(name, '\\') == NULL && strchr(name, d->quote) == NULL))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                       "'%.200s': names for %s have no backslash and no %c", name, d->name,
                       d->quote);
}

static cellar_status check_table(const sql_dialect *d, const char *table, cellar_error *err)
{
    const char *at = table, *name;
    cellar_status status = CELLAR_OK;
    size_t length;
    if (table == NULL || table[0] == '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the table of the database has no name");
    while (*at != '\0') {
        if (!sql_next_part(&at, &name, &length))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "'%.200s' names no table: expected TABLE or SCHEMA.TABLE, a part "
                               "with a point in it in double quotes",
                               table);
        CELLAR_TRY(check_length(d, name, length, err));
    }
    return check_escapes(d, table, err);
out:
    return status;
}

cellar_status sql_check_name(const sql_dialect *d, const char *name, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (name == NULL)
        return CELLAR_OK;
    CELLAR_TRY(check_length(d, name, strlen(name), err));
    status = check_escapes(d, name, err);
out:
    return status;
}

static cellar_status check_names(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                                 const sql_dialect *d, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(check_table(d, source->table, err));
    CELLAR_TRY(sql_check_name(d, spec->weight_column, err));
    CELLAR_TRY(sql_check_name(d, spec->record_key_column, err));
    CELLAR_TRY(sql_check_name(d, spec->unit_column, err));
    for (size_t v = 0; v < spec->n_variables; v++)
        CELLAR_TRY(sql_check_name(d, spec->variables[v].column, err));
    for (size_t i = 0; i < source->n_order_by; i++)
        CELLAR_TRY(sql_check_name(d, source->order_by[i], err));
out:
    return status;
}

cellar_status sql_check(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                        cellar_sql_dialect dialect, cellar_error *err)
{
    const sql_dialect *d = sql_dialect_of(dialect);
    if (spec->n_variables == 0 || spec->n_variables > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a table has 1 to %d variables, not %zu",
                           CELLAR_MAX_VARIABLES, spec->n_variables);
    if (source->keep_missing && (spec->weight_column != NULL || spec->unit_column != NULL ||
                                 spec->record_key_column != NULL || spec->record_id_column != NULL))
        return refuse("only cells leave a database, and they do not say which record has which "
                      "weight, unit or key: export the records, and build the store of the file",
                      err);
    if (spec->record_id_column != NULL)
        return refuse("record keys are not derived in a database, which would have to know the "
                      "secret: store them in a column (--record-key)",
                      err);
    if (spec->reader.count_column != NULL)
        return refuse("a column of counts is not read from a database; every row is one record",
                      err);
    if (spec->record_key_column != NULL && spec->key_range == 0 && d->decimal_key == NULL)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s has no exact decimals: store record keys as whole numbers, and give "
                           "their range (--key-range)",
                           d->name);
    for (size_t k = 0; source->set != NULL && k < source->set->n; k++)
        if (source->set->n > spec->n_variables || source->set->variables[k] >= spec->n_variables)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a table has a variable that is not there");
    if ((spec->unit_column != NULL) != (spec->max_per_unit > 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a unit needs both its column and the number of records it may have");
    if (spec->unit_column != NULL && !d->has_windows)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s cannot bound the records of units: it has no windows", d->name);
    if (spec->unit_column != NULL && source->n_order_by == 0)
        return refuse("rows of a database have no order: name the columns that say which records "
                      "of a unit come first (--order-by)",
                      err);
    return check_names(spec, source, d, err);
}

cellar_tabulate_set sql_set_of(const cellar_tabulate_spec *spec, const cellar_sql_source *source)
{
    cellar_tabulate_set all = {.n = spec->n_variables};
    for (size_t v = 0; v < all.n; v++)
        all.variables[v] = (uint8_t) v;
    return source->set != NULL ? *source->set : all;
}

const char *sql_variable_name(const cellar_variable_spec *variable)
{
    return variable->name != NULL ? variable->name : variable->column;
}

static cellar_missing_policy policy_of(const cellar_tabulate_spec *spec,
                                       const cellar_sql_source *source,
                                       const cellar_variable_spec *variable)
{
    if (source->keep_missing)
        return CELLAR_MISSING_DROP;
    return variable->missing_policy != CELLAR_MISSING_UNDECIDED ? variable->missing_policy
                                                                : spec->missing_policy;
}

cellar_status sql_make_coder(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                             size_t v, cellar_coder **out, cellar_error *err)
{
    const cellar_variable_spec *variable = &spec->variables[v];
    const cellar_coder_spec coder = {.variable = sql_variable_name(variable),
                                     .encoding = CELLAR_ENCODING_UTF8,
                                     .missing = spec->missing,
                                     .n_missing = spec->n_missing,
                                     .missing_policy = policy_of(spec, source, variable),
                                     .recode = &variable->recode,
                                     .codelist = variable->codelist,
                                     .level = variable->level};
    return cellar_coder_create(&coder, out, err);
}
