/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/counting/stored.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/counting/tabulation.h"

cellar_status cellar_stored_admission(const cellar_stored_file *file,
                                      const cellar_tabulate_spec *spec, cellar_admission *admission,
                                      cellar_error *err)
{
    if (spec->record_id_column != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: record keys were made when the store was built; name them "
                           "(--record-key %s)",
                           file->name, file->columns[CELLAR_STORED_KEY].name);
    if (spec->record_key_column == NULL)
        return CELLAR_OK;
    if (spec->key_range > 0 && (file->key_is_decimal || spec->key_range != file->key_range))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: the record keys of the store have another range", file->name);
    admission->key_range = file->key_range;
    return CELLAR_OK;
}

/* ---- what was counted ---------------------------------------------------------- */

/* Two lists of texts, one after the other. NULL when memory ends. */
static const char **join(const char *const *first, size_t n_first, const char *const *second,
                         size_t n_second)
{
    const char **all = cellar_alloc(n_first + n_second, sizeof *all);
    for (size_t i = 0; all != NULL && i < n_first + n_second; i++)
        all[i] = i < n_first ? first[i] : second[i - n_first];
    return all;
}

/* The variable with the column and the steps that it was built with. */
static cellar_variable_spec original(const cellar_stored_file *file,
                                     const cellar_tabulate_spec *spec,
                                     const cellar_variable_spec *asked, size_t column)
{
    const cellar_variable_spec *stored = &file->variables[column].spec;
    cellar_variable_spec out = *asked;
    out.name = asked->name != NULL ? asked->name : asked->column;
    out.column = stored->column;
    if (!cellar_recode_is_plain(&stored->recode))
        out.recode = stored->recode;
    if (cellar_tabulation_policy(spec, asked) == CELLAR_MISSING_UNDECIDED)
        out.missing_policy = stored->missing_policy;
    return out;
}

/* The conditions of the store and those asked for, which stay the caller's. */
static cellar_status all_conditions(const cellar_stored_file *file,
                                    const cellar_condition *const *asked, size_t n_asked,
                                    cellar_condition **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n_asked; i++)
        out[file->n_where + i] = (cellar_condition *) asked[i];
    for (size_t i = 0; i < file->n_where; i++)
        CELLAR_TRY(cellar_condition_parse(file->where[i], &out[i], err));
out:
    return status;
}

cellar_status cellar_stored_describe(const cellar_stored_file *file,
                                     const cellar_tabulate_spec *spec, const size_t *columns,
                                     const cellar_condition *const *conditions, char **out,
                                     cellar_error *err)
{
    cellar_tabulate_spec said = *spec;
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    const char **missing = join(file->missing, file->n_missing, spec->missing, spec->n_missing);
    const char **where = join(file->where, file->n_where, spec->where, spec->n_where);
    cellar_condition **all = cellar_alloc(file->n_where + spec->n_where, sizeof *all);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (missing == NULL || where == NULL || all == NULL) {
        status = cellar_fail_memory(err, "a description of the table");
        goto out;
    }
    for (size_t v = 0; v < spec->n_variables; v++)
        variables[v] = original(file, spec, &spec->variables[v], columns[v]);
    said.variables = variables;
    said.missing = missing;
    said.n_missing += file->n_missing;
    said.where = where;
    said.n_where += file->n_where;
    if (spec->missing_policy == CELLAR_MISSING_UNDECIDED)
        said.missing_policy = file->missing_policy;
    if (file->bad_rows == CELLAR_BAD_ROWS_SKIP)
        said.reader.bad_rows = CELLAR_BAD_ROWS_SKIP;
    if (spec->record_key_column != NULL) {
        said.record_key_column = file->key_is_derived ? NULL : spec->record_key_column;
        said.record_id_column = file->key_is_derived ? spec->record_key_column : NULL;
        said.key_range = file->key_is_decimal ? 0 : file->key_range;
    }
    CELLAR_TRY(all_conditions(file, conditions, spec->n_where, all, err));
    CELLAR_TRY(cellar_tabulation_describe(&said, (const cellar_condition *const *) all, out, err));
out:
    for (size_t i = 0; all != NULL && i < file->n_where; i++)
        cellar_condition_free(all[i]);
    cellar_free(all);
    cellar_free(missing);
    cellar_free(where);
    return status;
}
