/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the fixed table of the tests, or an estimate of its shape, in a format: write_sample
 * FORMAT FILE. */
#include <stdio.h>

#include "../unit/check.h"

#include "../unit/table_samples.h"

#include <cellar/table_file.h>

#include "release/estimate/estimate.h"

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

/* Made-up values in thousandths; every seventh standard error is not known. */
static cellar_status make_estimate(cellar_estimate **out, cellar_error *err)
{
    cellar_table *table = sample_fixed_table();
    const cellar_schema *schema = cellar_table_schema(table);
    const size_t n = (size_t) cellar_schema_n_indices(schema);
    int64_t *value = cellar_alloc(n, sizeof *value), *se = cellar_alloc(n, sizeof *se);
    json_t *computed = json_pack("{s:s}", "method", "made up");
    json_t *sources =
        json_pack("[{s:s, s:{s:s}}]", "protection", "guarantee", "certificate", "verdict", "holds");
    for (size_t i = 0; i < n; i++) {
        value[i] = (int64_t) (i * 1250 % 7001) - 500;
        se[i] = i % 7 == 6 ? CELLAR_SHEET_NO_ERROR : 1000 + (int64_t) i;
    }
    const cellar_estimate_parts parts = {schema, value, se, NULL, 3, computed, sources};
    const cellar_status status = cellar_estimate_create(&parts, out, err);
    cellar_free(value);
    cellar_free(se);
    json_decref(computed);
    json_decref(sources);
    cellar_table_free(table);
    return status;
}

static int write_estimate(const cellar_table_write_options *options, const char *path)
{
    cellar_estimate *estimate = NULL;
    cellar_release_file *file = NULL;
    cellar_error err = {""};
    cellar_status status = make_estimate(&estimate, &err);
    if (status == CELLAR_OK)
        status = cellar_release_file_open(path, options, 1, &file, &err);
    if (status == CELLAR_OK)
        status = cellar_estimate_write(estimate, CELLAR_ESTIMATE_VALUES, file, &err);
    cellar_release_file_discard(file);
    cellar_estimate_free(estimate);
    if (status != CELLAR_OK)
        fprintf(stderr, "%s\n", err.message);
    return status != CELLAR_OK;
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, argv[1]) == 0)
            return write_sample(&formats[i].options, argv[2]);
    for (size_t i = 0; argc == 3 && i < sizeof formats / sizeof *formats; i++)
        if (strncmp(argv[1], "estimate-", 9) == 0 && strcmp(formats[i].name, argv[1] + 9) == 0)
            return write_estimate(&formats[i].options, argv[2]);
    fprintf(stderr, "usage: write_sample FORMAT FILE\n");
    return 2;
}
