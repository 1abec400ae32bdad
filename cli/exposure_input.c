/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What cellar exposure reads: a table of counts, or records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/table_file.h>
#include <cellar/tabulate.h>

#include "exposure.h"
#include "lists.h"
#include "terminal.h"

/* A source being read. */
typedef struct exposure_source {
    cellar_reader_options reader;
    cli_variables variables;
    char *by; /* the columns, with the sensitive one */
    int is_table;
} exposure_source;

static void source_clear(exposure_source *source)
{
    cli_variables_clear(&source->variables);
    free(source->by);
}

/* A CSV with a column `count` is a table, one with `released` a release, any other holds records;
 * --count says that it holds records. */
static int source_look(exposure_source *source, const char *path)
{
    cellar_table_format format = cellar_table_format_of_path(path);
    cellar_error err;
    char **names;
    size_t n;
    cellar_status status;

    source->is_table = format == CELLAR_TABLE_JSONSTAT || format == CELLAR_TABLE_PX;
    if (source->is_table || source->reader.count_column != NULL ||
        source->reader.rows_are_records || strcmp(path, "-") == 0)
        return CLI_GO_ON;
    status = cellar_columns_read(path, &source->reader, &names, &n, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    for (size_t i = 0; i < n; i++)
        source->is_table |= strcmp(names[i], "count") == 0 || strcmp(names[i], "released") == 0;
    cellar_columns_free(names, n);
    return CLI_GO_ON;
}

static int source_check_table(const exposure_values *values, const exposure_source *source,
                              const char *path)
{
    const cli_variable_options *v = &values->variables;
    if (v->recode.n + v->band.n + v->band_origin.n + v->band_closed.n + v->top.n + v->bottom.n > 0)
        return cli_usage("%s is a table: its categories are made already (--band, --top and the "
                         "like are for records)",
                         path);
    if (source->reader.count_column != NULL || source->reader.rows_are_records)
        return cli_usage("%s is a table: --count is for records", path);
    if (values->where.n > 0)
        return cli_usage("%s is a table: --where is for records", path);
    if (values->sample_weight != NULL)
        return cli_usage("%s is a table: --sample-weight is for records; a weighted table has its "
                         "weights",
                         path);
    if (exposure_says_missing(values, "drop"))
        return cli_usage("%s is a table: what is missing cannot be dropped any more", path);
    return CLI_GO_ON;
}

static int source_open(const exposure_values *values, const char *path, int with_sensitive,
                       exposure_source *source)
{
    cli_variable_options options = values->variables;
    cli_words names = {0};
    size_t size;
    int result = exposure_columns(values, &names);

    if (result == CLI_GO_ON && with_sensitive && values->sensitive != NULL &&
        cli_words_find(&names, values->sensitive) < names.n)
        result = cli_usage("--sensitive: '%s' is among --columns", values->sensitive);
    cli_words_clear(&names);
    if (result == CLI_GO_ON)
        result = cli_reader_options(&values->reader, &source->reader);
    if (result != CLI_GO_ON)
        return result;
    if (options.by_option == NULL)
        options.by_option = "columns";
    size = strlen(options.by) + (values->sensitive != NULL ? strlen(values->sensitive) : 0) + 4;
    source->by = cli_alloc(size, 1);
    if (with_sensitive && values->sensitive != NULL)
        snprintf(source->by, size, "%s,\"%s\"", options.by, values->sensitive);
    else
        snprintf(source->by, size, "%s", options.by);
    options.by = source->by;
    result = source_look(source, path);
    if (result == CLI_GO_ON && source->is_table)
        result = source_check_table(values, source, path);
    if (result == CLI_GO_ON)
        result = cli_variables_read(&options, path, &source->reader, &source->variables);
    return result;
}

/* ---- records ---------------------------------------------------------------- */

static cellar_tabulate_spec source_spec(const exposure_values *values, const char *path,
                                        const exposure_source *source)
{
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    spec.path = path;
    spec.reader = source->reader;
    spec.variables = source->variables.specs;
    spec.n_variables = source->variables.names.n;
    spec.missing = cli_words_items(&values->reader.missing);
    spec.n_missing = values->reader.missing.n;
    spec.missing_policy = source->variables.missing_policy;
    spec.where = cli_words_items(&values->where);
    spec.n_where = values->where.n;
    spec.weight_column = values->sample_weight;
    spec.n_threads = (int) values->reader.threads.value;
    return spec;
}

static int source_tabulate(const exposure_values *values, const char *path,
                           const exposure_source *source, cellar_table **table)
{
    cellar_tabulate_spec spec = source_spec(values, path, source);
    cellar_row_report rows;
    cellar_error err;
    cellar_status status;

    spec.progress = cli_progress_begin();
    status = cellar_tabulate(&spec, table, &rows, &err);
    cli_progress_end();
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    cli_reader_report(path, &rows);
    return CLI_GO_ON;
}

/* ---- tables ----------------------------------------------------------------- */

/* The positions of the columns asked for. */
static int source_find(const exposure_source *source, const char *path, const cellar_table *table,
                       size_t *variables)
{
    const cellar_schema *schema = cellar_table_schema(table);
    for (size_t i = 0; i < source->variables.names.n; i++) {
        variables[i] = cellar_schema_find_variable(schema, source->variables.names.items[i]);
        if (variables[i] == CELLAR_NO_CODE)
            return cli_usage("%s: the table has no variable '%s'", path,
                             source->variables.names.items[i]);
    }
    return CLI_GO_ON;
}

static int source_load(const char *path, const exposure_source *source, cellar_table **out,
                       int *has_more)
{
    const cli_variables *variables = &source->variables;
    cellar_named_codelist *lists = cli_alloc(variables->names.n, sizeof *lists);
    cellar_table_read_options options = cellar_table_read_options_default();
    size_t positions[CELLAR_MAX_VARIABLES];
    cellar_table *table = NULL;
    cellar_error err;
    cellar_status status;
    int result;

    options.codelists = lists;
    for (size_t i = 0; i < variables->names.n; i++)
        if (variables->specs[i].codelist != NULL)
            lists[options.n_codelists++] =
                (cellar_named_codelist){variables->names.items[i], variables->specs[i].codelist};
    if (cellar_table_format_of_path(path) == CELLAR_TABLE_AUTO)
        options.format = CELLAR_TABLE_CSV;
    status = cellar_table_read(path, &options, &table, &err);
    free(lists);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    if (cellar_table_is_weighted(table))
        cli_message(
            "%s: the table is weighted, and what follows does not use weights: it is computed "
            "from the numbers of records",
            path);
    *has_more = cellar_schema_cells_per_record(cellar_table_schema(table)) > 1 ||
                cellar_schema_n_variables(cellar_table_schema(table)) > variables->names.n;
    result = source_find(source, path, table, positions);
    if (result == CLI_GO_ON) {
        status = cellar_table_create_margin(table, positions, variables->names.n, out, &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    cellar_table_free(table);
    return result;
}

int exposure_read_table(const exposure_values *values, const char *path, cellar_table **table,
                        int *has_more)
{
    exposure_source source = {0};
    int result = source_open(values, path, 1, &source), more = 0;
    *table = NULL;
    if (result == CLI_GO_ON)
        result = source.is_table ? source_load(path, &source, table, &more)
                                 : source_tabulate(values, path, &source, table);
    if (has_more != NULL)
        *has_more = more;
    source_clear(&source);
    return result;
}

/* ---- what was asked --------------------------------------------------------- */

int exposure_columns(const exposure_values *values, cli_words *names)
{
    if (values->variables.by == NULL)
        return cli_usage("exposure: say which columns: --columns A,B,C");
    return cli_variables_names("columns", values->variables.by, names);
}

void exposure_query_clear(exposure_query *query)
{
    cli_words_clear(&query->thresholds);
    free(query->ks);
    free(query->populations);
}

static int query_thresholds(const char *text, cli_words *thresholds)
{
    int result = cli_list_decimals("threshold", text, thresholds);
    for (size_t i = 0; i < thresholds->n && result == CLI_GO_ON; i++) {
        double t = strtod(thresholds->items[i], NULL);
        if (!(t > 0 && t <= 1))
            result = cli_usage("--threshold: a threshold lies above 0 (by 1e-300 at least) and up "
                               "to 1, not %s",
                               thresholds->items[i]);
    }
    return result;
}

/* A decimal between two numbers; *out is left as it is when there is no text. */
static int query_real(const char *option, const char *text, double above, double up_to, double *out)
{
    int result;
    if (text == NULL)
        return CLI_GO_ON;
    result = cli_list_real(option, text, out);
    if (result == CLI_GO_ON && !(*out > above && *out <= up_to))
        result = cli_usage("--%s is out of range: %s", option, text);
    return result;
}

int exposure_query_read(const exposure_values *values, exposure_query *query)
{
    int result = CLI_GO_ON;
    query->delta = query->diversity_c = query->closeness_t = NAN;
    query->curve_excess = 0.001;
    if (values->threshold != NULL)
        result = query_thresholds(values->threshold, &query->thresholds);
    if (result == CLI_GO_ON && values->k != NULL)
        result = cli_list_counts("k", values->k, 1, &query->ks, &query->n_ks);
    if (result == CLI_GO_ON && values->population != NULL)
        result = cli_list_counts("population", values->population, 1, &query->populations,
                                 &query->n_populations);
    if (result == CLI_GO_ON && values->delta != NULL) {
        result = cli_list_real("delta", values->delta, &query->delta);
        if (result == CLI_GO_ON && !(query->delta > 0 && query->delta < 1))
            result = cli_usage("--delta must lie between 0 and 1, not %s", values->delta);
    }
    if (result == CLI_GO_ON)
        result = query_real("diversity-c", values->diversity_c, 0, 1e300, &query->diversity_c);
    if (result == CLI_GO_ON && values->closeness_t != NULL) {
        result = cli_list_real("closeness-t", values->closeness_t, &query->closeness_t);
        if (result == CLI_GO_ON && !(query->closeness_t >= 0 && query->closeness_t <= 1))
            result =
                cli_usage("--closeness-t is a distance from 0 to 1, not %s", values->closeness_t);
    }
    if (result == CLI_GO_ON)
        result = query_real("curve-excess", values->curve_excess, -1e-300, 1, &query->curve_excess);
    if (result == CLI_GO_ON && values->population != NULL && values->k == NULL)
        result = cli_usage("--population needs --k");
    return result;
}

/* ---- missing values ---------------------------------------------------------- */

const char *exposure_missing_as(const exposure_values *values, const char *column)
{
    const cli_words *said = &values->variables.missing_as;
    const char *of_all = NULL;
    for (size_t i = 0; i < said->n; i++) {
        const char *equals = strrchr(said->items[i], '='); /* the words hold none */
        const size_t length = equals != NULL ? (size_t) (equals - said->items[i]) : 0;
        if (equals == NULL)
            of_all = said->items[i];
        else if (strlen(column) == length && strncmp(column, said->items[i], length) == 0)
            return equals + 1;
    }
    return of_all;
}

int exposure_says_missing(const exposure_values *values, const char *word)
{
    const cli_words *said = &values->variables.missing_as;
    int says = 0;
    for (size_t i = 0; i < said->n; i++) {
        const char *equals = strrchr(said->items[i], '=');
        says |= strcmp(equals != NULL ? equals + 1 : said->items[i], word) == 0;
    }
    return says;
}

void exposure_add_missing(const exposure_values *values, exposure_answer *answer)
{
    const cli_words *said = &values->variables.missing_as;
    char *text;
    size_t size = sizeof "none declared", length = 0;
    for (size_t i = 0; i < said->n; i++)
        size += strlen(said->items[i]) + 2;
    text = cli_alloc(size, 1);
    snprintf(text, size, "none declared");
    for (size_t i = 0; i < said->n; i++)
        length += (size_t) snprintf(text + length, size - length, "%s%s", i > 0 ? ", " : "",
                                    said->items[i]);
    cli_results_text(&answer->header, "missing", text);
    free(text);
}

/* ---- profiles --------------------------------------------------------------- */

static int source_profiles(const exposure_values *values, const char *path,
                           const exposure_source *source, cellar_profiles **profiles)
{
    size_t all[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec = source_spec(values, path, source);
    cellar_table *table = NULL;
    cellar_row_report rows;
    cellar_error err;
    cellar_status status;
    int result = CLI_GO_ON, has_more;

    if (source->is_table) {
        result = source_load(path, source, &table, &has_more);
        if (result != CLI_GO_ON)
            return result;
        for (size_t i = 0; i < source->variables.names.n; i++)
            all[i] = i;
        status = cellar_profiles_create(table, all, source->variables.names.n, profiles, &err);
        cellar_table_free(table);
        return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
    }
    spec.progress = cli_progress_begin();
    status = cellar_profiles_read(&spec, profiles, &rows, &err);
    cli_progress_end();
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    cli_reader_report(path, &rows);
    return CLI_GO_ON;
}

int exposure_read_profiles(const exposure_values *values, const char *path,
                           cellar_profiles **profiles)
{
    exposure_source source = {0};
    int result = source_open(values, path, 0, &source);
    *profiles = NULL;
    if (result == CLI_GO_ON)
        result = source_profiles(values, path, &source, profiles);
    source_clear(&source);
    return result;
}

void exposure_add_profiles(const exposure_values *values, const cellar_profiles *profiles,
                           exposure_answer *answer)
{
    cli_results_begin(&answer->header, "data");
    cli_results_count(&answer->header, "records", cellar_profiles_n_people(profiles));
    cli_results_count(&answer->header, "columns", cellar_profiles_n_columns(profiles));
    exposure_add_missing(values, answer);
}
