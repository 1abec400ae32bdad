/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one way to charge. A certificate is computed when a release is prepared. The price follows
 * from it, and the release prints it: there is no second computation that could differ. */
#include "release/charge/charged.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "ledger/ledger.h"
#include "privacy/certificate.h"
#include "release/charge/fingerprint.h"
#include "release/files/release_file.h"

/* ---- the charge ------------------------------------------------------------- */

/* One spec when all tables have the same, else each with its number of cells. */
static void charge_add_mechanisms(const cellar_charged_set *set, cellar_text *out)
{
    const char *first = set->prepared[0]->protection.facts.mechanism;
    int same = 1;
    for (size_t t = 1; t < set->n; t++)
        same &= strcmp(set->prepared[t]->protection.facts.mechanism, first) == 0;
    if (same) {
        cellar_text_add_string(out, first);
        return;
    }
    cellar_text_add_string(out, "list of ");
    for (size_t t = 0; t < set->n; t++) {
        const cellar_release_facts *facts = &set->prepared[t]->protection.facts;
        cellar_text_printf(out, "%s%llu x %s", t > 0 ? "; " : "",
                           (unsigned long long) facts->cells_per_record, facts->mechanism);
    }
}

/* The data of all tables and how they are protected: other data are another request. */
static cellar_status charge_digest(const cellar_charged_set *set, char out[CELLAR_FINGERPRINT_TEXT],
                                   cellar_error *err)
{
    char before[CELLAR_FINGERPRINT_TEXT] = "";
    for (size_t t = 0; t < set->n; t++) {
        const cellar_prepared *prepared = set->prepared[t];
        cellar_status status = cellar_protect_fingerprint(
            t == 0 ? set->form : before, prepared->table, &prepared->options, out, err);
        if (status != CELLAR_OK)
            return status;
        memcpy(before, out, sizeof before);
    }
    return CELLAR_OK;
}

static cellar_status charge_price(const cellar_charged_set *set, cellar_amounts *out,
                                  cellar_error *err)
{
    const json_t *certificate;
    if (set->certificate != NULL)
        return cellar_amounts_from_certificate(set->certificate, set->delta, out, err);
    certificate = json_object_get(set->prepared[0]->description, "certificate");
    return cellar_fail(err, CELLAR_ERR_RULE, "there is no guarantee to charge for: %s",
                       json_string_value(json_object_get(certificate, "reason")));
}

static cellar_status payment_check(const cellar_payment *payment, cellar_error *err)
{
    return payment->dataset != NULL && payment->request != NULL
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_ARGUMENT, "a charge needs a dataset and a request");
}

/* The edition that is named, or the first one of the dataset. */
static const char *payment_edition(const cellar_payment *payment, const cellar_ledger *ledger)
{
    const cellar_ledger_entry *dataset = cellar_ledger_find_dataset(ledger, payment->dataset);
    return payment->edition != NULL || dataset == NULL ? payment->edition : dataset->edition;
}

static cellar_status charge_check(const cellar_charged_set *set, cellar_error *err)
{
    for (size_t t = 0; t < set->n; t++)
        if (set->prepared[t]->protection.facts.noise == CELLAR_NOISE_SEEDED)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "a simulation, drawn from a seed, cannot be published or charged");
    return CELLAR_OK;
}

/* ---- spending ---------------------------------------------------------------- */

cellar_status cellar_charged_draw(const cellar_charged_set *set, const char *path,
                                  const char *stamp, cellar_error *err)
{
    cellar_release **releases = cellar_alloc(set->n, sizeof *releases);
    cellar_status status = CELLAR_OK;
    if (releases == NULL)
        return cellar_fail_memory(err, "a release");
    for (size_t t = 0; t < set->n; t++)
        CELLAR_TRY(cellar_prepared_draw(set->prepared[t], stamp, &releases[t], err));
    CELLAR_TRY(set->write(set->context, path, stamp, releases, err));
out:
    for (size_t t = 0; t < set->n; t++)
        cellar_release_free(releases[t]);
    cellar_free(releases);
    return status;
}

static cellar_status charged_produce(void *context, const char *staged_path, const char *stamp,
                                     cellar_error *err)
{
    return cellar_charged_draw(context, staged_path, stamp, err);
}

cellar_status cellar_charged_spend(const cellar_charged_set *set, cellar_ledger *ledger,
                                   const cellar_payment *payment, cellar_spend_result *result,
                                   cellar_error *err)
{
    const cellar_release_facts *facts = &set->prepared[0]->protection.facts;
    cellar_charged_set mine = *set; /* a context is not const */
    cellar_text mechanisms = {0};
    char content[CELLAR_FINGERPRINT_TEXT];
    cellar_charge charge = cellar_charge_default();
    cellar_status status = CELLAR_OK;

    charge.request = payment->request;
    charge.dataset = payment->dataset;
    charge.analyst = payment->analyst;
    charge.unit = facts->unit;
    charge.neighbours = facts->neighbours;
    charge.n_cells = 0; /* added up below */
    charge.max_per_unit = facts->max_per_unit;
    charge.max_weight = facts->max_weight;
    charge.what = set->what;
    charge.content = content;
    charge.accept_delta = payment->accept_delta;
    *result = (cellar_spend_result){.state = CELLAR_CHARGE_NONE};
    CELLAR_TRY(payment_check(payment, err));
    CELLAR_TRY(charge_check(set, err));
    charge.edition = payment_edition(payment, ledger);
    for (size_t t = 0; t < set->n; t++)
        charge.n_cells += set->prepared[t]->protection.facts.cells_per_record;
    charge_add_mechanisms(set, &mechanisms);
    if (mechanisms.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a charge"));
    charge.mechanism = mechanisms.bytes;
    CELLAR_TRY(charge_price(set, &charge.amounts, err));
    CELLAR_TRY(charge_digest(set, content, err));
    CELLAR_TRY(
        cellar_ledger_spend(ledger, &charge, &set->place, charged_produce, &mine, result, err));
out:
    cellar_text_clear(&mechanisms);
    return status;
}

/* ---- one table ----------------------------------------------------------------- */

/* What is released, in words: a request asked again must ask for the same. */
static void charged_describe(const cellar_prepared *prepared, cellar_text *out)
{
    const cellar_schema *schema = cellar_table_schema(prepared->table);
    const cellar_release_facts *facts = &prepared->protection.facts;
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        cellar_text_printf(out, "%s%s", v > 0 ? " x " : "", cellar_schema_variable(schema, v));
    if (facts->is_weighted)
        cellar_text_add_string(out, ", weighted");
    if (facts->negatives == CELLAR_NEGATIVES_ZERO)
        cellar_text_add_string(out, ", negatives as 0");
    if (facts->threshold > 0)
        cellar_text_printf(out, ", below %lld %s", (long long) facts->threshold,
                           facts->below == CELLAR_BELOW_SUPPRESS ? "suppressed" : "as 0");
}

/* Everything that decides what the file holds beside the numbers. */
static void charged_form(const cellar_table_write_options *write, cellar_text *out)
{
    const char *const texts[] = {write->title, write->structure_id, write->source, write->note,
                                 write->units, write->updated,      write->matrix};
    cellar_text_printf(out, "%d %d %d", (int) write->format, write->zeros, write->sparse);
    if (write->neutralise_formulas)
        cellar_text_add_string(out, " neutralised");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL)
            cellar_text_printf(out, " %zu %zu %s", i, strlen(texts[i]), texts[i]);
    for (size_t i = 0; i < write->n_roles; i++)
        cellar_text_printf(out, " %s is %s", write->roles[i].variable,
                           cellar_role_name(write->roles[i].role));
}

typedef struct charged_one {
    const cellar_table_write_options *write;
    cellar_release **release; /* kept for the caller */
} charged_one;

static cellar_status charged_write_one(void *context, const char *staged_path, const char *stamp,
                                       cellar_release **releases, cellar_error *err)
{
    const charged_one *one = context;
    cellar_release_file *file = NULL;
    cellar_status status = cellar_release_file_stage(staged_path, one->write, &file, err);
    (void) stamp;
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, releases[0], err);
    cellar_release_file_discard(file);
    *one->release = releases[0];
    releases[0] = NULL;
    return status;
}

cellar_status cellar_charged_choose(const cellar_prepared *prepared,
                                    const cellar_charged_file *file,
                                    cellar_table_write_options *out, cellar_error *err)
{
    const char *slash;
    if (file->path == NULL || strcmp(file->path, "-") == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "what is charged to a ledger goes to a file");
    slash = strrchr(file->path, '/');
    *out = file->write;
    if (out->format == CELLAR_TABLE_AUTO)
        out->format = cellar_table_format_of_path(file->path);
    if (out->format == CELLAR_TABLE_AUTO)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: the name does not show the format",
                           file->path);
    if (out->csv_name == NULL)
        out->csv_name = slash != NULL ? slash + 1 : file->path;
    return cellar_release_file_check(prepared->table, prepared->protection.facts.below, out, err);
}

cellar_payment cellar_payment_default(void)
{
    return (cellar_payment){0};
}

cellar_charged_file cellar_charged_file_default(void)
{
    return (cellar_charged_file){0};
}

cellar_status cellar_prepared_spend(cellar_prepared *prepared, cellar_ledger *ledger,
                                    const cellar_payment *payment, const cellar_charged_file *file,
                                    cellar_spend_result *result, cellar_release **out,
                                    cellar_error *err)
{
    static const char *const endings[] = {".cellar.json", "-metadata.json", NULL};
    cellar_table_write_options write;
    cellar_text what = {0}, form = {0};
    charged_one one = {&write, out};
    cellar_charged_set set = {.prepared = &prepared,
                              .n = 1,
                              .certificate = prepared->protection.certificate,
                              .delta = prepared->protection.facts.delta,
                              .place = {file->path, endings, file->replace},
                              .write = charged_write_one,
                              .context = &one};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    *result = (cellar_spend_result){.state = CELLAR_CHARGE_NONE};
    CELLAR_TRY(cellar_charged_choose(prepared, file, &write, err));
    charged_form(&write, &form);
    charged_describe(prepared, &what);
    if (what.failed || form.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a charge"));
    set.what = what.bytes;
    set.form = form.bytes;
    CELLAR_TRY(cellar_charged_spend(&set, ledger, payment, result, err));
out:
    if (status != CELLAR_OK) {
        cellar_release_free(*out);
        *out = NULL;
    }
    cellar_text_clear(&what);
    cellar_text_clear(&form);
    return status;
}

/* What decides the values of a release from cell keys. */
static cellar_status note_digest(const cellar_prepared *prepared, char out[CELLAR_FINGERPRINT_TEXT],
                                 cellar_error *err)
{
    return cellar_protect_fingerprint(cellar_prepared_mechanism(prepared), prepared->table,
                                      &prepared->options, out, err);
}

cellar_status cellar_prepared_check_note(const cellar_prepared *prepared,
                                         const cellar_ledger *ledger, size_t number,
                                         cellar_error *err)
{
    const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, number - 1);
    char content[CELLAR_FINGERPRINT_TEXT], keyed[CELLAR_LEDGER_HASH_TEXT];
    const cellar_status status = note_digest(prepared, content, err);
    if (status != CELLAR_OK || entry->content == NULL) /* noted by an earlier version */
        return status;
    cellar_ledger_content(ledger, content, keyed);
    return strcmp(entry->content, keyed) == 0
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_RULE,
                             "this was made before from other records, keys or options");
}

cellar_status cellar_prepared_note(const cellar_prepared *prepared, cellar_ledger *ledger,
                                   const cellar_payment *payment, char stamp[CELLAR_STAMP_TEXT],
                                   cellar_error *err)
{
    char content[CELLAR_FINGERPRINT_TEXT];
    cellar_status status = payment_check(payment, err);
    stamp[0] = '\0';
    if (status != CELLAR_OK)
        return status;
    if (prepared->protection.facts.noise != CELLAR_NOISE_RECORD_KEYS)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "%s is charged; only releases from cell keys are recorded without a charge",
            cellar_prepared_mechanism(prepared));
    status = note_digest(prepared, content, err);
    if (status == CELLAR_OK)
        status =
            cellar_ledger_enter_content(ledger, payment->dataset, payment_edition(payment, ledger),
                                        CELLAR_UNCHARGED_CELL_KEY, payment->request, content, err);
    if (status == CELLAR_OK)
        cellar_ledger_note_stamp(ledger, cellar_ledger_n_entries(ledger), stamp);
    return status;
}
