/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One canonical table: counted, protected, recorded and written, in the order that a crash at any
 * point asks for. Whatever can be refused without counting was refused before. */
#include "serve/vault.h"

#include <math.h>
#include <string.h>

#include <cellar/charged.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "release/charge/charged.h"
#include "serve/released.h"
#include "serve/rules_parts.h"

/* ---- files ----------------------------------------------------------------------------------- */

/* Titles, labels and dates are the site's: what is written here must be the same whenever a request
 * is asked again. */
static cellar_table_write_options write_options(const vault_set *set)
{
    cellar_table_write_options write = cellar_table_write_options_default();
    write.format = CELLAR_TABLE_JSONSTAT;
    write.matrix = set->dataset.id;
    return write;
}

/* ---- kind budget ------------------------------------------------------------------------------
 */

/* The cost that was shown is the cost that is charged; anything else is a mistake of ours, found
 * before it is paid. */
static cellar_status check_price(const vault_set *set, const cellar_prepared *prepared,
                                 const serve_price *price, cellar_error *err)
{
    const cellar_certificate *certificate = cellar_prepared_certificate(prepared);
    cellar_amounts amounts;
    cellar_status status;
    if (certificate == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE, "no guarantee could be computed");
    status = cellar_amounts_from_certificate(certificate, set->prices.options.delta, &amounts, err);
    if (status == CELLAR_OK && set->prices.by_rho)
        status = cellar_amounts_claim_rho(&amounts, err);
    if (status == CELLAR_OK && (amounts.epsilon_nano != price->amounts.epsilon_nano ||
                                amounts.delta_atto != price->amounts.delta_atto ||
                                amounts.rho_nano != price->amounts.rho_nano))
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "the certificate of the table is not that of its class");
    return status;
}

cellar_status vault_draw_charged(vault_set *set, const serve_table *table, const char *analyst,
                                 const serve_price *price, const vault_place *place,
                                 int *is_counted, cellar_error *err)
{
    cellar_payment payment = cellar_payment_default();
    cellar_charged_file file = cellar_charged_file_default();
    cellar_text path = {0};
    cellar_table *counts = NULL;
    cellar_prepared *prepared = NULL;
    cellar_release *release = NULL;
    cellar_spend_result result;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(vault_place_path(set, place, &path, err));
    payment.dataset = set->text.ledger.dataset;
    payment.request = place->request.bytes;
    payment.edition = set->text.records.data.edition;
    payment.analyst = analyst;
    payment.accept_delta = cellar_plan_has_text(&set->text.budget.accept, "delta");
    file.path = path.bytes;
    file.write = write_options(set);
    *is_counted = 1;
    CELLAR_TRY(serve_records_count(&set->text.records, &set->counter, &set->axes, table, NULL,
                                   &counts, err));
    CELLAR_TRY(
        cellar_protect_prepare(counts, price->mechanism, &set->prices.options, &prepared, err));
    CELLAR_TRY(check_price(set, prepared, price, err));
    pthread_mutex_lock(&set->ledger->lock);
    status = cellar_prepared_spend(prepared, set->ledger->ledger, &payment, &file, &result,
                                   &release, err);
    pthread_mutex_unlock(&set->ledger->lock);
out:
    cellar_release_free(release);
    cellar_prepared_free(prepared);
    cellar_table_free(counts);
    cellar_text_clear(&path);
    return status;
}

/* ---- kind cell-key -----------------------------------------------------------------------------
 */

/* Rules on released values judge the whole table before anybody sees it. */
static cellar_status judge(const vault_set *set, const serve_table *table,
                           const cellar_release *release, cellar_arena *arena,
                           serve_verdict *verdict, cellar_error *err)
{
    const serve_rules *rules = set->dataset.rules;
    const uint64_t n_cells = serve_table_n_cells(&set->dataset, table);
    serve_tally tally = {0};
    size_t broken;
    *verdict = (serve_verdict){.is_allowed = 1};
    if (rules == NULL || rules->n == 0)
        return CELLAR_OK;
    tally.n_met = cellar_arena_alloc(arena, rules->n, sizeof *tally.n_met);
    if (tally.n_met == NULL)
        return cellar_fail_memory(err, "a verdict");
    for (uint64_t index = 0; index < n_cells; index++) {
        const cellar_released_cell cell = cellar_release_at(release, index);
        const serve_value value = {.count = (double) cell.released,
                                   .se = NAN,
                                   .low = NAN,
                                   .high = NAN,
                                   .status = cell.status};
        serve_tally_add(&tally, rules, &value, 1);
    }
    broken = serve_tally_judge(&tally, &set->dataset, table);
    if (broken == SIZE_MAX)
        return CELLAR_OK;
    *verdict = (serve_verdict){
        .refusal = {.rule = rules->items[broken].name,
                    .detail = "a rule on released values refuses the table; it was not published"}};
    return CELLAR_OK;
}

/* What the release says about the ledger. A table that was noted before is not noted again. */
static cellar_status note(vault_set *set, const cellar_prepared *prepared, const vault_place *place,
                          char stamp[CELLAR_STAMP_TEXT], cellar_error *err)
{
    cellar_payment payment = cellar_payment_default();
    cellar_status status = CELLAR_OK;
    payment.dataset = set->text.ledger.dataset;
    payment.request = place->request.bytes;
    payment.edition = set->text.records.data.edition;
    pthread_mutex_lock(&set->ledger->lock);
    if (place->noted > 0)
        cellar_ledger_note_stamp(set->ledger->ledger, place->noted, stamp);
    else
        status = cellar_prepared_note(prepared, set->ledger->ledger, &payment, stamp, err);
    pthread_mutex_unlock(&set->ledger->lock);
    return status;
}

static cellar_status publish(const vault_set *set, const cellar_release *release,
                             const vault_place *place, cellar_error *err)
{
    const cellar_table_write_options write = write_options(set);
    cellar_release_file *file = NULL;
    cellar_text path = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(vault_place_path(set, place, &path, err));
    CELLAR_TRY(cellar_release_file_open(path.bytes, &write, 1, &file, err));
    CELLAR_TRY(cellar_release_file_write(file, release, err));
out:
    cellar_release_file_discard(file);
    cellar_text_clear(&path);
    return status;
}

static cellar_status keyed_prepare(const vault_set *set, const cellar_table *counts,
                                   cellar_prepared **out, cellar_error *err)
{
    cellar_protect_options options = cellar_protect_options_default();
    options.negatives = CELLAR_NEGATIVES_KEEP; /* a matrix makes none */
    options.unit = set->dataset.unit;
    options.n_threads = 1;
    return cellar_protect_prepare_cell_keys(counts, set->spec, &options, out, err);
}

/* A table whose file was lost is made again only if it will be the same. */
static cellar_status check_again(const vault_set *set, const cellar_prepared *prepared,
                                 const vault_place *place, serve_verdict *verdict,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *verdict = (serve_verdict){.is_allowed = 1};
    if (place->noted == 0)
        return CELLAR_OK;
    pthread_mutex_lock(&set->ledger->lock);
    status = cellar_prepared_check_note(prepared, set->ledger->ledger, place->noted, err);
    pthread_mutex_unlock(&set->ledger->lock);
    if (status != CELLAR_ERR_RULE)
        return status;
    *verdict = (serve_verdict){
        .refusal = {.rule = "gone",
                    .detail = "the table was made from other records or keys, and its file is not "
                              "there any more; restore the file from a copy"}};
    return CELLAR_OK;
}

cellar_status vault_draw_keyed(vault_set *set, const serve_table *table, const vault_place *place,
                               cellar_arena *arena, serve_verdict *verdict, int *is_counted,
                               cellar_error *err)
{
    char stamp[CELLAR_STAMP_TEXT];
    cellar_table *counts = NULL;
    cellar_prepared *prepared = NULL;
    cellar_release *draft = NULL, *release = NULL;
    cellar_status status = CELLAR_OK;

    *is_counted = 1;
    CELLAR_TRY(serve_records_count(&set->text.records, &set->counter, &set->axes, table, &set->keys,
                                   &counts, err));
    CELLAR_TRY(keyed_prepare(set, counts, &prepared, err));
    CELLAR_TRY(check_again(set, prepared, place, verdict, err));
    if (!verdict->is_allowed)
        goto out;
    CELLAR_TRY(cellar_prepared_draw(prepared, NULL, &draft, err));
    CELLAR_TRY(judge(set, table, draft, arena, verdict, err));
    if (!verdict->is_allowed)
        goto out;
    CELLAR_TRY(note(set, prepared, place, stamp, err));
    CELLAR_TRY(cellar_prepared_draw(prepared, stamp, &release, err)); /* keys: the same values */
    CELLAR_TRY(publish(set, release, place, err));
out:
    cellar_release_free(draft);
    cellar_release_free(release);
    cellar_prepared_free(prepared);
    cellar_table_free(counts);
    return status;
}
