/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the fixed table of the tests in a format: write_sample FORMAT FILE. */
#include <stdio.h>

#include "../unit/check.h"

#include "../unit/table_samples.h"

#include <cellar/table_file.h>

static const cellar_variable_role roles[] = {{"region", CELLAR_ROLE_GEO}};

static const struct {
    const char *name;
    cellar_table_write_options options;
} formats[] = {
    {"csv", {.format = CELLAR_TABLE_CSV}},
    {"csv-zeros", {.format = CELLAR_TABLE_CSV, .zeros = 1, .neutralise_formulas = 1}},
    {"jsonstat",
     {.format = CELLAR_TABLE_JSONSTAT, .title = "A \"small\" table", .roles = roles, .n_roles = 1}},
    {"jsonstat-sparse", {.format = CELLAR_TABLE_JSONSTAT, .sparse = 1}},
    {"px", {.format = CELLAR_TABLE_PX, .title = "A \"small\" table", .roles = roles, .n_roles = 1}},
    {"sdmx", {.format = CELLAR_TABLE_SDMX, .zeros = 1}},
    {"csvw", {.format = CELLAR_TABLE_CSVW, .csv_name = "table.csv", .title = "A small table"}},
};

static int write_sample(const cellar_table_write_options *options, const char *path)
{
    static const cellar_output_options replace = {.replace = 1};
    cellar_table *table = sample_fixed_table();
    cellar_output *output = NULL;
    cellar_error err = {""};
    cellar_status status = cellar_output_open(path, &replace, &output, &err);

    if (status == CELLAR_OK)
        status = cellar_table_write(table, options, output, &err);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, &err);
    cellar_table_free(table);
    if (status != CELLAR_OK)
        fprintf(stderr, "%s\n", err.message);
    return status != CELLAR_OK;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, argv[1]) == 0)
            return write_sample(&formats[i].options, argv[2]);
    fprintf(stderr, "usage: write_sample FORMAT FILE\n");
    return 2;
}
