/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts a CSV file by two columns with declared categories:
 *     api_count DATA.csv LISTS A B TABLE.json       (LISTS/A.csv and LISTS/B.csv are code lists) */
#include <stdio.h>

#include <cellar/cellar.h>

static cellar_status count(char **argument, cellar_codelist **lists, cellar_table **table,
                           cellar_output **output, cellar_error *err)
{
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_table_write_options write = cellar_table_write_options_default();
    cellar_status status = CELLAR_OK;

    write.format = CELLAR_TABLE_JSONSTAT;
    for (int i = 0; i < 2 && status == CELLAR_OK; i++) {
        char path[4096];
        variables[i] = cellar_variable_spec_default();
        snprintf(path, sizeof path, "%s/%s.csv", argument[2], argument[3 + i]);
        status = cellar_codelist_read(path, &lists[i], err);
        variables[i].column = argument[3 + i];
        variables[i].codelist = lists[i]; /* declared: nobody's record can add a category */
    }
    spec.path = argument[1];
    spec.variables = variables;
    spec.n_variables = 2;
    spec.margins.all = 1;
    if (status == CELLAR_OK)
        status = cellar_tabulate(&spec, table, NULL, err);
    if (status == CELLAR_OK) /* mode 0600, and only when it is complete */
        status = cellar_output_open(argument[5], NULL, output, err);
    if (status == CELLAR_OK)
        status = cellar_table_write(*table, &write, *output, err);
    if (status == CELLAR_OK) {
        status = cellar_output_commit(*output, err);
        *output = NULL;
    }
    return status;
}

int main(int argc, char **argv)
{
    cellar_codelist *lists[2] = {NULL, NULL};
    cellar_table *table = NULL;
    cellar_output *output = NULL;
    cellar_error err = {"usage: api_count DATA.csv LISTS A B TABLE.json"};
    cellar_status status = argc == 6 ? cellar_process_harden(&err) : CELLAR_ERR_ARGUMENT;
    if (status == CELLAR_OK)
        status = count(argv, lists, &table, &output, &err);
    if (status == CELLAR_OK)
        printf("%llu cells possible, a record touches %llu of them\n",
               (unsigned long long) cellar_schema_n_possible(cellar_table_schema(table)),
               (unsigned long long) cellar_schema_cells_per_record(cellar_table_schema(table)));
    else
        fprintf(stderr, "%s\n", err.message);
    cellar_output_discard(output);
    cellar_table_free(table);
    cellar_codelist_free(lists[0]);
    cellar_codelist_free(lists[1]);
    return status != CELLAR_OK;
}
