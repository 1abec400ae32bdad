/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar risk table: the groups of a table or of records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "risk_run.h"
#include "terminal.h"

/* ---- reading -------------------------------------------------------------------------------- */

/* A name of either list that is empty or there twice; NULL if none is. */
static const char *names_wrong(const risk_table_run *r)
{
    size_t n = r->qid.n + r->sensitive.n;
    for (size_t i = 0; i < n; i++) {
        const char *name = i < r->qid.n ? r->qid.items[i] : r->sensitive.items[i - r->qid.n];
        for (size_t k = 0; k < i; k++)
            if (strcmp(name, k < r->qid.n ? r->qid.items[k] : r->sensitive.items[k - r->qid.n]) ==
                0)
                return name;
        if (name[0] == '\0')
            return name;
    }
    return NULL;
}

static int run_read_names(risk_table_run *r)
{
    const risk_values *v = r->values;
    if (v->qid == NULL || v->sensitive == NULL)
        return cli_usage("risk: say --qid A,B (what an attacker knows) and --sensitive Y");
    if (!cli_words_split(&r->qid, v->qid, ',', 1) ||
        !cli_words_split(&r->sensitive, v->sensitive, ',', 1))
        return cli_usage("--qid, --sensitive: a quote is not closed");
    if (names_wrong(r) != NULL)
        return cli_usage("--qid, --sensitive: '%s' is empty or named twice", names_wrong(r));
    if (r->qid.n + r->sensitive.n > CELLAR_MAX_VARIABLES)
        return cli_usage("risk table: at most %d columns", CELLAR_MAX_VARIABLES);
    return CLI_GO_ON;
}

static int run_read_table(risk_table_run *r)
{
    exposure_values read = r->values->read;
    size_t length = strlen(r->values->qid) + strlen(r->values->sensitive) + 2;
    char *columns = cli_alloc(length, 1);
    int result;
    snprintf(columns, length, "%s,%s", r->values->qid, r->values->sensitive);
    read.variables.by = columns;
    read.variables.by_option = "qid or --sensitive";
    result = exposure_read_table(&read, r->path, &r->table, &r->has_more);
    free(columns);
    return result;
}

/* A cell-key spec is its matrix, with cells without records left alone. */
static int run_read_mechanisms(risk_table_run *r)
{
    risk_values values = *r->values;
    char *spec = NULL;
    int result;
    r->is_dirichlet = strncmp(values.mechanism, "multinomial-dirichlet", 21) == 0;
    r->is_cell_key = strncmp(values.mechanism, "cell-key:", 9) == 0;
    if (r->is_cell_key) {
        size_t length = strlen(values.mechanism) + 1;
        spec = cli_alloc(length, 1);
        snprintf(spec, length, "ptable:%s", values.mechanism + 9);
        for (char *word = spec; (word = strstr(word, ",boundary=")) != NULL ||
                                (word = strstr(spec, ",large=")) != NULL;) {
            char *end = strchr(word + 1, ',');
            memmove(word, end != NULL ? end : word + strlen(word),
                    strlen(end != NULL ? end : "") + 1);
        }
        values.mechanism = spec;
        r->options.zeros_stay = 1;
    }
    result =
        risk_mechanisms_read(&values, !r->is_dirichlet && values.target == NULL, &r->mechanisms);
    if (r->is_cell_key && result == CLI_GO_ON && r->mechanisms.grid.specs.n == 1) {
        cli_words_clear(&r->mechanisms.grid.specs); /* answers speak of cell keys */
        cli_words_add(&r->mechanisms.grid.specs, r->values->mechanism,
                      strlen(r->values->mechanism));
    }
    free(spec);
    return result;
}

static int run_read_words(risk_table_run *r)
{
    const risk_values *v = r->values;
    int result = risk_measures(v->measure != NULL ? v->measure : "local,expected", NULL,
                               r->measures, &r->n_measures);
    if (result == CLI_GO_ON)
        result = risk_methods(v->method != NULL ? v->method : "exact", r->methods, &r->n_methods);
    r->options = cellar_risk_options_default();
    r->options.average = v->average == 2 ? CELLAR_RISK_BY_PERSON : CELLAR_RISK_BY_GROUP;
    if (v->copies.given)
        r->options.copies = v->copies.value;
    if (v->seed.given)
        r->options.seed = v->seed.value;
    r->options.n_threads = (int) v->read.reader.threads.value;
    return result;
}

static int run_open_groups(risk_table_run *r)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_error err;
    cellar_status status;
    how.replace = r->values->read.force;
    if (r->values->groups == NULL)
        return CLI_GO_ON;
    if (r->sensitive.n > 1 && r->values->sensitive_as != 1)
        return cli_usage("--groups: with several sensitive columns say --sensitive-as joint");
    status = cellar_output_open(r->values->groups, &how, &r->groups_out, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

/* ---- groups one by one ---------------------------------------------------------------------- */

static void csv_field(cellar_output *output, const char *text)
{
    int quote = strpbrk(text, ",\"\r\n") != NULL;
    if (strchr("=+-@\t", text[0]) != NULL && text[0] != '\0')
        cellar_output_string(output, "'");
    if (!quote) {
        cellar_output_string(output, text);
        return;
    }
    cellar_output_string(output, "\"");
    for (; *text != '\0'; text++)
        cellar_output_printf(output, *text == '"' ? "\"\"" : "%c", *text);
    cellar_output_string(output, "\"");
}

static int write_group(void *context, const cellar_exposed_group *group)
{
    risk_table_run *r = context;
    const cellar_schema *schema = cellar_table_schema(r->table);
    for (size_t v = 0; v < r->qid.n; v++) {
        csv_field(r->groups_out, cellar_schema_code(schema, v, group->categories[v]));
        cellar_output_string(r->groups_out, ",");
    }
    cellar_output_printf(r->groups_out, "%llu,%zu,%.17g\n", (unsigned long long) group->size,
                         group->n_present, group->value);
    return 0;
}

static int run_groups(risk_table_run *r)
{
    cellar_error err;
    cellar_status status;
    if (r->groups_out == NULL)
        return CLI_GO_ON;
    if (r->mechanisms.n != 1 || r->mechanisms.mechanisms == NULL)
        return cli_usage("--groups: with one mechanism of single cells, at one value of its "
                         "parameters");
    for (size_t v = 0; v < r->qid.n; v++) {
        csv_field(r->groups_out, r->qid.items[v]);
        cellar_output_string(r->groups_out, ",");
    }
    cellar_output_string(r->groups_out, "size,values_present,local_risk\n");
    status = cellar_risk_rank(r->groups, r->mechanisms.mechanisms[0], r->options.zeros_stay,
                              write_group, r, &err);
    if (status == CELLAR_OK) {
        status = cellar_output_commit(r->groups_out, &err);
        r->groups_out = NULL;
    }
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

/* ---- the whole ------------------------------------------------------------------------------ */

static void put_header(risk_table_run *r)
{
    cli_results *header = &r->answer->header;
    if (header->n == 0)
        cli_results_begin(header, "table");
    else
        return;
    cli_results_count(header, "groups", cellar_groups_n_groups(r->groups));
    cli_results_count(header, "homogeneous", cellar_groups_n_homogeneous(r->groups));
    cli_results_count(header, "heterogeneous",
                      cellar_groups_n_groups(r->groups) - cellar_groups_n_homogeneous(r->groups));
    if (r->sensitive.n > 1)
        cli_results_count(header, "partially_homogeneous", cellar_groups_n_partial(r->groups));
    cli_results_count(header, "levels", cellar_groups_n_values(r->groups));
    cli_results_count(header, "records", cellar_groups_n_records(r->groups));
    cli_results_text(header, "lower_bound", r->values->also_released || r->has_more ? "yes" : "no");
}

/* One target: a sensitive variable, or all together. */
static int run_target(risk_table_run *r, const size_t *sensitive, size_t n, const char *name)
{
    size_t qid[CELLAR_MAX_VARIABLES];
    cellar_error err;
    cellar_status status;
    int result;

    for (size_t v = 0; v < r->qid.n; v++)
        qid[v] = v;
    r->target_name = name;
    status = cellar_groups_create(r->table, qid, r->qid.n, sensitive, n, &r->groups, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    put_header(r);
    result = risk_run_hyper(r);
    if (result == CLI_GO_ON && r->is_attribute)
        result = risk_run_attack(r, sensitive[0]);
    else if (result == CLI_GO_ON)
        result = r->values->target != NULL ? risk_run_calibrate(r) : risk_run_measures(r);
    if (result == CLI_GO_ON)
        result = run_groups(r);
    cellar_groups_free(r->groups);
    r->groups = NULL;
    return result;
}

static int run_targets(risk_table_run *r)
{
    size_t sensitive[CELLAR_MAX_VARIABLES];
    int as = r->values->sensitive_as, result = CLI_GO_ON;
    for (size_t k = 0; k < r->sensitive.n; k++)
        sensitive[k] = r->qid.n + k;
    if (r->sensitive.n > 1 && as != 2)
        result = run_target(r, sensitive, r->sensitive.n, "jointly");
    for (size_t k = 0;
         k < r->sensitive.n && result == CLI_GO_ON && (r->sensitive.n == 1 || as != 1); k++)
        result = run_target(r, &sensitive[k], 1, r->sensitive.items[k]);
    return result;
}

static void run_notes(risk_table_run *r)
{
    if (r->values->also_released)
        risk_note(r->answer, "a lower bound: with margins or other tables released as well, an "
                             "attacker can do more");
    if (r->has_more && !r->values->also_released)
        risk_note(r->answer, "a lower bound if all of the file is released: it holds margins or "
                             "further variables, with which an attacker can do more");
    if (r->is_cell_key)
        risk_note(r->answer, "cell keys: over keys drawn afresh; the keys of the records fix one "
                             "outcome, the same at every release");
    if (r->is_dirichlet)
        risk_note(r->answer,
                  "multinomial-dirichlet: all %llu cells of the table are drawn together",
                  (unsigned long long) risk_run_n_cells(r));
}

int risk_run_table(const risk_values *values, const char *path, int is_attribute,
                   risk_answer *answer)
{
    risk_table_run r = {
        .values = values, .path = path, .is_attribute = is_attribute, .answer = answer};
    int result = run_read_names(&r);
    if (result == CLI_GO_ON && is_attribute && r.sensitive.n > 1)
        result = cli_usage("risk attribute: one --sensitive column");
    if (result == CLI_GO_ON)
        result = run_read_mechanisms(&r);
    if (result == CLI_GO_ON && is_attribute && (r.is_dirichlet || r.is_cell_key))
        result = cli_usage("risk attribute: for mechanisms that draw each cell on its own");
    if (result == CLI_GO_ON)
        result = run_read_words(&r);
    if (result == CLI_GO_ON)
        result = run_open_groups(&r);
    if (result == CLI_GO_ON)
        result = run_read_table(&r);
    if (result == CLI_GO_ON)
        result = run_targets(&r);
    if (result == CLI_GO_ON)
        run_notes(&r);
    cellar_output_discard(r.groups_out);
    risk_mechanisms_clear(&r.mechanisms);
    cellar_groups_free(r.groups);
    cellar_table_free(r.table);
    cli_words_clear(&r.qid);
    cli_words_clear(&r.sensitive);
    free(r.prior);
    return result;
}
