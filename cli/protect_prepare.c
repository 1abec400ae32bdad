/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What cellar protect reads and opens before anything is drawn. */
#include "protect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/key.h>

#include "ledger_open.h"

int cli_protect_is_cell_key(const char *spec)
{
    return cellar_mechanism_spec_is(spec, "cell-key");
}

int cli_protect_is_joint(const char *spec)
{
    return cli_protect_is_cell_key(spec) || cellar_mechanism_spec_is(spec, "multinomial-dirichlet");
}

/* ---- the run ------------------------------------------------------------------- */

static int protect_read_domains(const protect_values *values, protect_run *run)
{
    run->codelists = cli_alloc(values->domain.n, sizeof *run->codelists);
    for (size_t i = 0; i < values->domain.n; i++) {
        const char *text = values->domain.items[i], *equals = strchr(text, '=');
        cellar_codelist *list = NULL;
        cellar_error err;
        cellar_status status;
        if (equals == NULL)
            return cli_usage("--domain must be VARIABLE=FILE, not '%s'", text);
        cli_words_add(&run->domain_names, text, (size_t) (equals - text));
        status = cellar_codelist_read(equals + 1, &list, &err);
        run->codelists[i] = (cellar_named_codelist){run->domain_names.items[i], list};
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
    }
    return CLI_GO_ON;
}

/* The spec with its share of the total, which is no place for a share of its own. */
static int protect_make_spec(const protect_values *values, protect_run *run)
{
    const int is_gaussian = cellar_mechanism_spec_is(values->mechanism, "gaussian") ||
                            cellar_mechanism_spec_is(values->mechanism, "discrete-gaussian");
    const size_t size = strlen(values->mechanism) + 96;
    cellar_error err;
    cellar_status status;

    if (values->total_epsilon != NULL && strstr(values->mechanism, "epsilon=") != NULL)
        return cli_usage(
            is_gaussian ? "--total-epsilon and --delta find sigma: leave epsilon and delta out "
                          "of the spec"
                        : "--total-epsilon gives each cell its epsilon: leave it out of the "
                          "spec");
    run->spec = cli_alloc(size, 1);
    status = cellar_protect_complete_spec(run->table, values->mechanism, &run->options, run->spec,
                                          size, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

static void protect_set_options(const protect_values *values, protect_run *run)
{
    cellar_protect_options *options = &run->options;
    *options = cellar_protect_options_default();
    options->negatives = (cellar_negatives) values->negatives;
    options->threshold = (int64_t) values->threshold.value;
    options->below = values->below == 2 ? CELLAR_BELOW_SUPPRESS : CELLAR_BELOW_ZERO;
    if (values->max_cells.given)
        options->max_cells = values->max_cells.value;
    options->per_cell = values->per_cell;
    options->total_epsilon = values->total_epsilon;
    options->domain_public = values->domain_public;
    options->unit = values->unit;
    options->neighbours = (cellar_neighbours) values->neighbours;
    if (values->per_unit.given)
        options->max_per_unit = values->per_unit.value;
    options->max_weight = values->max_weight.value;
    options->choice = (cellar_parameter_choice) values->chosen;
    for (size_t i = 0; i < values->accept.n; i++)
        options->accept |= cellar_acceptance_find(values->accept.items[i]);
    options->date = values->date;
    options->delta = values->account.delta;
    options->edition = values->edition;
    options->dataset = values->account.dataset;
    options->n_threads = (int) values->threads.value;
}

/* Opens the ledger, whose dataset says what is hidden about a unit unless the user has said the
 * same. */
static int protect_open_ledger(const protect_values *values, protect_run *run)
{
    cellar_error err;
    cellar_status status;
    int result;
    if (values->account.ledger == NULL)
        return CLI_GO_ON;
    result = cli_ledger_open(values->account.ledger, values->account.key, &run->ledger);
    if (result != CLI_GO_ON)
        return result;
    status =
        cellar_protect_follow_dataset(run->ledger, values->account.dataset, &run->options, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

/* Opens what will hold the release; one that is charged first waits elsewhere. */
static int protect_open(const protect_values *values, protect_run *run)
{
    cellar_error err;
    cellar_status status;
    run->write = cellar_table_write_options_default();
    run->write.zeros = values->zeros;
    run->write.sparse = values->sparse;
    if (cli_about_options(&values->about, &run->roles, &run->write) != CLI_GO_ON)
        return CLI_USAGE;
    if (values->format > 0)
        run->write.format = (cellar_table_format) (CELLAR_TABLE_AUTO + values->format);
    if (values->account.ledger != NULL) {
        if (run->write.format == CELLAR_TABLE_AUTO)
            run->write.format = cellar_table_format_of_path(values->path);
        if (run->write.format == CELLAR_TABLE_AUTO)
            return cli_usage("%s: the name does not show the format; say --format", values->path);
        if (!cli_protect_is_cell_key(run->spec))
            return CLI_GO_ON;
        status = cellar_release_file_check(run->table, run->options.below, &run->write,
                                           &err); /* before it is noted */
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
    }
    status = cellar_release_file_open(values->path != NULL ? values->path : "-", &run->write,
                                      values->force, &run->file, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

int cli_protect_prepare(const protect_values *values, const char *path, protect_run *run)
{
    cellar_table_read_options how = cellar_table_read_options_default();
    cellar_status status;
    cellar_error err;
    int result = protect_read_domains(values, run);

    if (result != CLI_GO_ON)
        return result;
    how.codelists = run->codelists;
    how.n_codelists = values->domain.n;
    status = cellar_table_read(path, &how, &run->table, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    protect_set_options(values, run);
    result = protect_open_ledger(values, run);
    if (result == CLI_GO_ON)
        result = protect_make_spec(values, run);
    if (result != CLI_GO_ON)
        return result;
    if (!cli_protect_is_joint(run->spec))
        status = cellar_mechanism_create(run->spec, &run->mechanism, &err);
    if (status == CELLAR_OK && values->key != NULL)
        status = cellar_key_read(values->key, &run->key, &err);
    run->options.key = run->key;
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    return protect_open(values, run);
}

void cli_protect_clear(protect_run *run)
{
    cli_roles_clear(&run->roles);
    for (size_t i = 0; run->codelists != NULL && i < run->domain_names.n; i++)
        cellar_codelist_free((cellar_codelist *) run->codelists[i].codelist);
    free(run->codelists);
    cli_words_clear(&run->domain_names);
    free(run->spec);
    cellar_release_free(run->release);
    cellar_prepared_free(run->prepared);
    cellar_release_file_discard(run->file);
    cellar_ledger_close(run->ledger);
    cellar_key_free(run->key);
    cellar_mechanism_free(run->mechanism);
    cellar_table_free(run->table);
}
