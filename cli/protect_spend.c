/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/certificate.h>

#include "terminal.h"

/* Everything but the draw: the certificate too. */
static cellar_status protect_prepare(protect_run *run, cellar_error *err)
{
    run->options.progress = cli_progress_begin();
    if (run->prepared != NULL)
        return CELLAR_OK;
    if (run->dirichlet != NULL)
        return cellar_protect_prepare_dirichlet(run->table, run->spec, &run->options,
                                                &run->prepared, err);
    return cellar_protect_prepare(run->table, run->mechanism, &run->options, &run->prepared, err);
}

cellar_status cli_protect_draw(protect_run *run, cellar_error *err)
{
    cellar_status status = protect_prepare(run, err);
    if (status == CELLAR_OK)
        status = cellar_prepared_draw(run->prepared, run->options.ledger, &run->release, err);
    cli_progress_end();
    return status;
}

/* Draws into the file where the release waits for its name; the charge is on disk. */
static cellar_status protect_produce(void *context, const char *staged_path, const char *stamp,
                                     cellar_error *err)
{
    protect_run *run = context;
    cellar_status status = cellar_release_file_stage(staged_path, &run->write, &run->file, err);
    run->options.ledger = stamp;
    if (status == CELLAR_OK)
        status = cli_protect_draw(run, err);
    if (status == CELLAR_OK)
        status = cellar_release_file_write(run->file, run->release, err);
    return status;
}

/* What the whole release costs one unit. All its cells are one plan, fixed before the first draw,
 * so that they may be composed tightly. */
static cellar_status protect_cost(const protect_values *values, const protect_run *run,
                                  cellar_charge *charge, cellar_error *err)
{
    static const char *const invariants[] = {"total", NULL};
    const cellar_certify_part part = {run->mechanism, 1};
    const char *deltas[] = {values->account.delta};
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *certificate = NULL;
    cellar_status status;
    if (run->options.neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE) /* the dataset's */
        options.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    options.negatives = (cellar_negatives) run->options.negatives;
    if (run->options.domain_public)
        options.domain = CELLAR_CERTIFICATE_DOMAIN_ASSERTED;
    options.choice = run->options.choice;
    options.n_cells = charge->n_cells;
    options.invariants = run->is_invariant ? invariants : NULL;
    options.per_unit = run->options.max_per_unit;
    if (run->options.max_weight > 0)
        options.max_weight = run->options.max_weight;
    options.deltas = deltas;
    options.n_deltas = deltas[0] != NULL;
    status = run->dirichlet != NULL
                 ? cellar_certify_dirichlet(run->dirichlet, &options, &certificate, err)
                 : cellar_certify(&part, 1, &options, &certificate, err);
    if (status == CELLAR_OK)
        status = cellar_amounts_of_certificate(certificate, values->account.delta, &charge->amounts,
                                               err);
    cellar_certificate_free(certificate);
    return status;
}

/* What is released, in words: a request asked again must ask for the same. */
static char *protect_what(const cellar_table *table, const cellar_protect_options *options)
{
    const cellar_schema *schema = cellar_table_schema(table);
    size_t size = 96, length = 0;
    char *what;
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        size += strlen(cellar_schema_variable(schema, v)) + 3;
    what = cli_alloc(size, 1);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        length += (size_t) snprintf(what + length, size - length, "%s%s", v > 0 ? " x " : "",
                                    cellar_schema_variable(schema, v));
    if (cellar_table_is_weighted(table))
        length += (size_t) snprintf(what + length, size - length, ", weighted");
    if (options->negatives == CELLAR_NEGATIVES_ZERO)
        length += (size_t) snprintf(what + length, size - length, ", negatives as 0");
    if (options->threshold > 0)
        snprintf(what + length, size - length, ", below %lld as 0", (long long) options->threshold);
    return what;
}

cellar_status cli_protect_spend(const protect_values *values, protect_run *run, cellar_error *err)
{
    static const char *const endings[] = {".cellar.json", "-metadata.json", NULL};
    const protect_account *account = &values->account;
    const cellar_ledger_entry *dataset = cellar_ledger_find_dataset(run->ledger, account->dataset);
    char *what = protect_what(run->table, &run->options), content[CELLAR_FINGERPRINT_TEXT],
         form[48];
    const char *slash = strrchr(values->path, '/');
    cellar_spend_options how = {.path = values->path, .endings = endings, .replace = values->force};
    cellar_charge charge = {
        .request = account->request,
        .dataset = account->dataset,
        .edition = values->edition != NULL || dataset == NULL ? values->edition : dataset->edition,
        .analyst = account->analyst,
        .unit = values->unit != NULL ? values->unit : "record",
        .neighbours = dataset != NULL ? dataset->neighbours : NULL,
        .mechanism = run->dirichlet != NULL ? cellar_dirichlet_spec(run->dirichlet)
                                            : cellar_mechanism_spec(run->mechanism),
        .n_cells = run->dirichlet != NULL ? 1 : run->forecast.cells_per_record,
        .max_per_unit = run->options.max_per_unit,
        .max_weight = run->options.max_weight,
        .what = what,
        .content = content,
        .accept_delta = account->accept_delta};
    cellar_spend_result result;
    cellar_status status = CELLAR_OK;

    run->write.csv_name = slash != NULL ? slash + 1 : values->path;
    status = protect_cost(values, run, &charge, err);
    snprintf(form, sizeof form, "%d %d %d", (int) run->write.format, values->zeros, values->sparse);
    if (status == CELLAR_OK)
        status = cellar_protect_fingerprint(form, run->table, &run->options, content, err);
    if (status == CELLAR_OK)
        status = protect_prepare(run, err);
    cli_progress_end();
    if (status == CELLAR_OK) /* what is left is drawing and writing */
        status =
            cellar_ledger_spend(run->ledger, &charge, &how, protect_produce, run, &result, err);
    if (status == CELLAR_OK && !result.is_new)
        cli_message("request '%s' was charged before: %s is its recorded output, nothing was drawn",
                    account->request, values->path);
    free(what);
    return status;
}
