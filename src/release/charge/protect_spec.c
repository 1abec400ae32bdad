/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a table and the words of a mechanism to a release, whoever pays: the whole way in one call,
 * as the packages for R and Python take it. */
#include "base/error.h"
#include "release/charge/charged.h"

enum { SPEC_MAX = 4096 };

cellar_status cellar_protect_follow_dataset(const cellar_ledger *ledger, const char *name,
                                            cellar_protect_options *options, cellar_error *err)
{
    const cellar_ledger_entry *dataset =
        name != NULL ? cellar_ledger_find_dataset(ledger, name) : NULL;
    if (dataset == NULL)
        return CELLAR_OK; /* spending refuses it */
    if (options->neighbours != CELLAR_NEIGHBOURS_DEFAULT &&
        options->neighbours != dataset->neighbours)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "--neighbours %s: dataset '%s' accounts under %s, and these cannot be "
                           "added",
                           cellar_neighbours_name(options->neighbours), name,
                           cellar_neighbours_name(dataset->neighbours));
    options->neighbours = dataset->neighbours;
    if (options->unit == NULL)
        options->unit = dataset->unit;
    return CELLAR_OK;
}

/* *mechanism is for the caller to free, after *out; NULL where the cells are drawn together. */
static cellar_status prepare(const cellar_table *table, const char *spec,
                             const cellar_protect_options *options, cellar_mechanism **mechanism,
                             cellar_prepared **out, cellar_error *err)
{
    char whole[SPEC_MAX];
    cellar_status status =
        cellar_protect_complete_spec(table, spec, options, whole, sizeof whole, err);
    if (status != CELLAR_OK)
        return status;
    if (cellar_mechanism_spec_is(whole, "cell-key"))
        return cellar_protect_prepare_cell_keys(table, whole, options, out, err);
    if (cellar_mechanism_spec_is(whole, "multinomial-dirichlet"))
        return cellar_protect_prepare_dirichlet(table, whole, options, out, err);
    status = cellar_mechanism_create(whole, mechanism, err);
    return status == CELLAR_OK ? cellar_protect_prepare(table, *mechanism, options, out, err)
                               : status;
}

/* Cell keys cost no budget: the ledger notes them, once nothing is left that could be refused. */
static cellar_status note(cellar_prepared *prepared, cellar_ledger *ledger,
                          const cellar_payment *payment, const cellar_charged_file *file,
                          cellar_release **out, cellar_error *err)
{
    cellar_table_write_options write;
    cellar_release_file *place = NULL;
    char stamp[CELLAR_STAMP_TEXT];
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_charged_choose(prepared, file, &write, err));
    CELLAR_TRY(cellar_release_file_open(file->path, &write, file->replace, &place, err));
    CELLAR_TRY(cellar_prepared_note(prepared, ledger, payment, stamp, err));
    CELLAR_TRY(cellar_prepared_draw(prepared, stamp, out, err));
    CELLAR_TRY(cellar_release_file_write(place, *out, err));
out:
    cellar_release_file_discard(place);
    return status;
}

static cellar_status spend(cellar_prepared *prepared, cellar_ledger *ledger,
                           const cellar_payment *payment, const cellar_charged_file *file,
                           cellar_release **out, cellar_error *err)
{
    cellar_spend_result result;
    const cellar_status status =
        cellar_prepared_spend(prepared, ledger, payment, file, &result, out, err);
    return status == CELLAR_OK && *out == NULL /* asked before: the recorded file stands */
               ? cellar_release_read(file->path, CELLAR_TABLE_AUTO, out, err)
               : status;
}

cellar_status cellar_protect_spec(const cellar_table *table, const char *spec,
                                  const cellar_protect_options *options, cellar_ledger *ledger,
                                  const cellar_payment *payment, const cellar_charged_file *file,
                                  cellar_release **out, cellar_error *err)
{
    cellar_protect_options followed = *options;
    cellar_mechanism *mechanism = NULL;
    cellar_prepared *prepared = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (ledger != NULL)
        CELLAR_TRY(cellar_protect_follow_dataset(ledger, payment->dataset, &followed, err));
    CELLAR_TRY(prepare(table, spec, &followed, &mechanism, &prepared, err));
    if (ledger == NULL)
        CELLAR_TRY(cellar_prepared_draw(prepared, NULL, out, err));
    else if (cellar_mechanism_spec_is(spec, "cell-key"))
        CELLAR_TRY(note(prepared, ledger, payment, file, out, err));
    else
        CELLAR_TRY(spend(prepared, ledger, payment, file, out, err));
out:
    if (status != CELLAR_OK) {
        cellar_release_free(*out);
        *out = NULL;
    }
    cellar_prepared_free(prepared);
    cellar_mechanism_free(mechanism);
    return status;
}
