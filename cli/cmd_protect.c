/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar protect: from a table of true counts to a release. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#include "json_out.h"
#include "options.h"
#include "protect.h"
#include "reader.h"
#include "terminal.h"

#define AT(member) offsetof(protect_values, member)
static const cli_option protect_options[] = {
    SECTION("How to protect"),
    TEXT("mechanism", "SPEC", mechanism,
         "what is done to each cell, such as discrete-laplace:epsilon=1 (see cellar "
         "mechanism)"),
    CHOICE("negatives", "keep|zero", negatives,
           "what becomes of released values below zero; has to be said, for zero biases totals"),
    TEXT("total-epsilon", "E", total_epsilon,
         "split E evenly over the cells that one record touches; the spec then names no epsilon"),
    TEXT("delta", "D", account.delta,
         "the delta at which epsilon is stated and charged, for mechanisms without a pure epsilon; "
         "with --total-epsilon it finds the sigma of gaussian and discrete-gaussian"),
    FLAG("per-cell", per_cell, "the parameters of the spec are meant for each cell"),
    NUMBER("threshold", "T", threshold, 1, INT64_MAX,
           "released values below T become zero, too, or what --below says"),
    CHOICE("below", "zero|suppress", below,
           "what becomes of released values below the threshold: zero, or a cell marked as "
           "suppressed, zeros among them [zero]"),
    FLAG("forecast", forecast,
         "before anything is drawn, print how many cells are expected and how far the sum will be "
         "off; computed from true counts, so confidential: keep it out of logs"),
    NUMBER("max-cells", "N", max_cells, 1, 0,
           "refuse when more empty cells would be listed [100000000]"),
    SECTION("Where the noise comes from"),
    CHOICE("noise", "secure|keyed", noise,
           "fresh noise, or noise that a key repeats for the same table, described and counted "
           "alike [secure]"),
    TEXT("key", "FILE", key, "the key of keyed noise; cellar key makes one"),
    TEXT("edition", "NAME", edition,
         "the edition of the data that was counted, which must be the key's"),
    SECTION("What is protected"),
    MANY("domain", "VAR=FILE", domain,
         "declare the categories of a variable that the table's file does not declare; may be "
         "repeated"),
    FLAG("domain-public", domain_public,
         "you assert that categories found in the data are public knowledge"),
    TEXT("unit", "NAME", unit,
         "what a person's share in the data is called [record, or what the dataset of --ledger "
         "says]"),
    CHOICE("neighbours", "add-remove|substitute", neighbours,
           "whether a unit is in the data is hidden, or which categories it has [add-remove, or "
           "what the dataset of --ledger says]"),
    NUMBER("per-unit", "M", per_unit, 1, 0, "a unit has at most M records in the table [1]"),
    NUMBER("max-weight", "W", max_weight, 1, CELLAR_WEIGHT_BOUND_MAX,
           "no record weighs more than W, which a weighted table was clipped to; its sums are "
           "released"),
    CHOICE("chosen", "advance|public|data", chosen,
           "how the parameters were chosen: in advance, from public data, or from these data"),
    MANY("accept", "WHAT", accept,
         "release all the same: no-protection (values that show as much about one record as true "
         "counts do) or large-epsilon (above 10); every file then says so; may be repeated"),
    TEXT("date", "DAY", date, "the day of the release, such as 2026-07-01 [today]"),
    SECTION("Who pays"),
    TEXT("ledger", "FILE", account.ledger,
         "charge the release to this ledger before anything is drawn (cellar ledger makes one)"),
    TEXT("ledger-key", "FILE", account.key, "the ledger's key [LEDGER.key]"),
    TEXT("dataset", "NAME", account.dataset,
         "the dataset of the ledger that pays; keyed noise depends on its name"),
    TEXT("request", "ID", account.request,
         "the name of this release in the ledger: asked again, it is finished or found, never "
         "redrawn"),
    TEXT("analyst", "NAME", account.analyst,
         "the analyst whose share pays too; needed where the dataset is shared out among analysts"),
    FLAG("accept-delta", account.accept_delta,
         "a delta of one over the population or more is meant"),
    SECTION("Writing the release"),
    OUTPUT(path,
           "write to FILE, and beside a CSV or a spreadsheet its certificate as FILE.cellar.json"),
    FLAG("force", force, "replace existing files"),
    CHOICE("format", "csv|json|px|sdmx|csvw|ods|xlsx", format,
           "CSV, JSON-stat, PC-Axis, SDMX-CSV, CSV with a CSVW description, or a spreadsheet [by "
           "the file's ending]"),
    FLAG("zeros", zeros, "write cells released as zero too (csv, sdmx)"),
    FLAG("sparse", sparse, "write only the cells that are not zero (json)"),
    CLI_ABOUT_OPTIONS(AT(about)),
    FLAG("json", json, "print a summary as JSON; the release goes to -o"),
    NUMBER("threads", "N", threads, 1, 1024, "use so many processors [all]"),
    SECTION("Other"),
};

static const char *const protect_examples[] = {
    "cellar protect table.json --mechanism discrete-laplace:epsilon=1 --negatives keep -o out.csv",
    "cellar protect margins.json --mechanism laplace --total-epsilon 2 --negatives zero -o "
    "out.json",
    "cellar protect keyed.json --mechanism cell-key:file=matrix.csv --negatives zero -o out.csv",
    NULL};

static const cli_command protect_command = {
    "protect",
    "TABLE --mechanism SPEC --negatives keep|zero [options]",
    "Perturbs every cell of a table (a file that cellar tabulate wrote), zeros included, and "
    "writes what can be published. Nothing that is printed depends on true counts unless "
    "--forecast asks for it.",
    protect_options,
    sizeof protect_options / sizeof protect_options[0],
    protect_examples};

/* ---- what the options say ---------------------------------------------------- */

static int protect_check_noise(const protect_values *values)
{
    int keyed = values->noise == 2;
    if (!keyed && values->key != NULL)
        return cli_usage("--key belongs to --noise keyed");
    if (!keyed && values->edition != NULL && values->account.ledger == NULL)
        return cli_usage("--edition belongs to --noise keyed or to --ledger");
    if (keyed && cli_protect_is_joint(values->mechanism))
        return cli_usage("--noise keyed is for mechanisms that draw each cell by itself");
    return CLI_GO_ON;
}

static int protect_check_account(const protect_values *values)
{
    const protect_account *account = &values->account;
    if (account->ledger == NULL && (account->key != NULL || account->request != NULL ||
                                    account->analyst != NULL || account->accept_delta))
        return cli_usage("--ledger-key, --request, --analyst and --accept-delta belong to "
                         "--ledger");
    if (account->ledger == NULL && account->dataset != NULL && values->noise != 2)
        return cli_usage("--dataset belongs to --ledger or to --noise keyed");
    return CLI_GO_ON;
}

static int protect_check_accept(const cli_words *accept)
{
    for (size_t i = 0; i < accept->n; i++)
        if (strcmp(accept->items[i], "no-protection") != 0 &&
            strcmp(accept->items[i], "large-epsilon") != 0)
            return cli_usage("--accept must be no-protection or large-epsilon, not '%s'",
                             accept->items[i]);
    return CLI_GO_ON;
}

/* All options that are missing, in one sentence. */
static int protect_check_missing(const protect_values *values)
{
    const protect_account *account = &values->account;
    const int to_file = values->path != NULL && strcmp(values->path, "-") != 0;
    const struct {
        int is_missing;
        const char *what;
    } needs[] = {
        {values->mechanism == NULL, "how to protect (--mechanism SPEC)"},
        {values->negatives == 0, "what becomes of negative values (--negatives keep|zero)"},
        {account->ledger != NULL && account->dataset == NULL,
         "which dataset of the ledger pays (--dataset NAME)"},
        {account->ledger != NULL && account->request == NULL,
         "what the release is called in the ledger (--request ID)"},
        {account->ledger != NULL && !to_file,
         "the file of the release, which a ledger requires (-o FILE)"},
        {account->ledger == NULL && values->path == NULL && values->format != 2 &&
             values->format != 3,
         "the file of the release (-o FILE; json and px may go to standard output with --format)"},
        {values->noise == 2 && values->key == NULL, "the key of the noise (--key FILE)"},
        {values->noise == 2 && values->edition == NULL, "the edition of the data (--edition NAME)"},
    };
    char text[1024] = "";
    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++)
        if (needs[i].is_missing)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                     text[0] != '\0' ? "; " : "", needs[i].what);
    return text[0] == '\0' ? CLI_GO_ON : cli_usage("protect: say %s", text);
}

static int protect_check(const protect_values *values, const cli_words *files)
{
    if (files->n == 0)
        return cli_usage("protect: name the table, a file that cellar tabulate wrote");
    if (files->n > 1)
        return cli_usage("protect takes one table, and '%s' is a second", files->items[1]);
    if (protect_check_missing(values) != CLI_GO_ON)
        return CLI_USAGE;
    if (values->total_epsilon != NULL && values->per_cell)
        return cli_usage("--total-epsilon and --per-cell exclude each other");
    if (values->json && (values->path == NULL || strcmp(values->path, "-") == 0))
        return cli_usage("--json and the release cannot both go to standard output");
    if (protect_check_account(values) != CLI_GO_ON ||
        protect_check_accept(&values->accept) != CLI_GO_ON)
        return CLI_USAGE;
    return protect_check_noise(values);
}

/* ---- what is said ------------------------------------------------------------- */

/* Before anything is drawn: what each cell gets, and, where it was asked for, what to expect. */
static void protect_print_forecast(const protect_values *values, const protect_run *run)
{
    const cellar_forecast *f = &run->forecast;
    unsigned long long d = (unsigned long long) f->cells_per_record;
    if (run->options.max_weight > 0)
        cli_message("a record weighs at most %llu: weighted sums, rounded to whole numbers, are "
                    "released",
                    (unsigned long long) run->options.max_weight);
    if (f->total_epsilon[0] != '\0')
        cli_message(
            "total epsilon %s: a record touches %llu cell%s, a unit has at most %llu "
            "record%s; %s for each cell",
            f->total_epsilon, d, d == 1 ? "" : "s", (unsigned long long) run->options.max_per_unit,
            run->options.max_per_unit == 1 ? "" : "s", cellar_mechanism_spec(run->mechanism));
    else if (values->total_epsilon != NULL)
        cli_message(
            "total epsilon at most %s at delta %s: a record touches %llu cell%s, a unit has at "
            "most %llu record%s; %s for each cell",
            values->total_epsilon, values->account.delta, d, d == 1 ? "" : "s",
            (unsigned long long) run->options.max_per_unit,
            run->options.max_per_unit == 1 ? "" : "s", cellar_mechanism_spec(run->mechanism));
    else
        cli_message("a record touches %llu cell%s; %s for each cell", d, d == 1 ? "" : "s",
                    cellar_mechanism_spec(run->mechanism));
    if (!values->forecast)
        return;
    cli_message("confidential: of %llu cells expect about %.6g to be listed, %.6g of them false "
                "positives",
                (unsigned long long) f->n_possible, f->size, f->false_positives);
    cli_message("confidential: the sum of the inner cells has an expected bias of %+.6g", f->bias);
}

static void protect_print_method(const protect_values *values, const protect_run *run)
{
    if (run->ledger != NULL && values->unit == NULL && run->options.unit != NULL)
        cli_message("the unit is '%s' and neighbours are %s, as dataset '%s' of the ledger says",
                    run->options.unit, cellar_neighbours_name(run->options.neighbours),
                    values->account.dataset);
    if (run->mechanism != NULL)
        protect_print_forecast(values, run);
    else if (cli_protect_is_cell_key(run->spec))
        cli_message("cell keys give no differential privacy; the certificate says what a "
                    "difference of two cells gives away");
    else
        cli_message("all cells are drawn together: %s%s", cellar_prepared_mechanism(run->prepared),
                    cellar_prepared_shows_total(run->prepared)
                        ? "; the total is the table's own and is released exactly"
                        : "");
}

static cellar_status protect_json(const protect_run *run, const protect_values *values,
                                  cellar_error *err)
{
    const cellar_release *release = run->release;
    cli_json json = {0};
    cellar_status status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "mechanism", cellar_release_mechanism(release));
    cli_json_count(&json, "revision", cellar_release_mechanism_revision(release));
    cli_json_text(&json, "negatives", cellar_negatives_name(cellar_release_negatives(release)));
    cli_json_count(&json, "threshold", (uint64_t) cellar_release_threshold(release));
    cli_json_text(&json, "below",
                  cellar_release_below(release) == CELLAR_BELOW_SUPPRESS ? "suppress" : "zero");
    cli_json_text(&json, "unit", cellar_release_unit(release));
    cli_json_text(&json, "neighbours", cellar_neighbours_name(cellar_release_neighbours(release)));
    cli_json_count(&json, "per_unit", cellar_release_max_per_unit(release));
    cli_json_count(&json, "cells_per_record", cellar_release_cells_per_record(release));
    cli_json_truth(&json, "weighted", cellar_release_is_weighted(release));
    cli_json_count(&json, "max_weight", cellar_release_max_weight(release));
    cli_json_text(&json, "total_epsilon", cellar_release_total_epsilon(release));
    cli_json_text(&json, "noise", cellar_noise_source_name(cellar_release_noise(release)));
    cli_json_text(&json, "key_id", cellar_release_key_id(release));
    cli_json_text(&json, "parameter_choice",
                  cellar_parameter_choice_name(cellar_release_choice(release)));
    cli_json_text(&json, "date", cellar_release_date(release));
    cli_json_text(&json, "verdict", cellar_verdict_name(cellar_release_verdict(release)));
    cli_json_text(&json, "protection", cellar_protection_level_name(cellar_release_level(release)));
    cli_json_text(&json, "ledger", cellar_release_ledger(release));
    cli_json_count(&json, "cells", cellar_release_n_cells(release));
    if (values->forecast && run->mechanism != NULL) {
        cli_json_begin(&json, "expected", '{');
        cli_json_truth(&json, "confidential", 1);
        cli_json_count(&json, "possible_cells", run->forecast.n_possible);
        cli_json_real(&json, "cells", run->forecast.size);
        cli_json_real(&json, "cells_if_empty", run->forecast.empty_size);
        cli_json_real(&json, "false_positives", run->forecast.false_positives);
        cli_json_real(&json, "bias_of_total", run->forecast.bias);
        cli_json_end(&json, '}');
    }
    cli_json_text(&json, "output", values->path);
    cli_json_end(&json, '}');
    return cellar_output_commit(json.output, err);
}

/* ---- the work ------------------------------------------------------------------ */

/* Everything but the draw. */
static cellar_status protect_prepare(protect_run *run, cellar_error *err)
{
    cellar_status status;
    run->options.progress = cli_progress_begin();
    if (run->mechanism != NULL)
        status =
            cellar_protect_prepare(run->table, run->mechanism, &run->options, &run->prepared, err);
    else if (cli_protect_is_cell_key(run->spec))
        status = cellar_protect_prepare_cell_keys(run->table, run->spec, &run->options,
                                                  &run->prepared, err);
    else
        status = cellar_protect_prepare_dirichlet(run->table, run->spec, &run->options,
                                                  &run->prepared, err);
    if (status == CELLAR_OK && run->mechanism != NULL)
        status = cellar_prepared_forecast(run->prepared, &run->forecast, err);
    cli_progress_end();
    return status;
}

/* Draws and writes what nobody pays for; cell keys are noted in the ledger. */
static cellar_status protect_draw(protect_run *run, const cellar_payment *payment,
                                  cellar_error *err)
{
    char stamp[CELLAR_STAMP_TEXT];
    cellar_status status = CELLAR_OK;
    if (run->ledger != NULL)
        status = cellar_prepared_note(run->prepared, run->ledger, payment, stamp, err);
    if (status == CELLAR_OK)
        status = cellar_prepared_draw(run->prepared, run->ledger != NULL ? stamp : NULL,
                                      &run->release, err);
    cli_progress_end();
    return status == CELLAR_OK ? cellar_release_file_write(run->file, run->release, err) : status;
}

/* Charges the ledger, draws, and lets the release appear; or finds what was drawn before. */
static cellar_status protect_spend(const protect_values *values, protect_run *run,
                                   const cellar_payment *payment, cellar_error *err)
{
    cellar_charged_file file = cellar_charged_file_default();
    cellar_spend_result result;
    cellar_status status;

    file.path = values->path;
    file.write = run->write;
    file.replace = values->force;
    status = cellar_prepared_spend(run->prepared, run->ledger, payment, &file, &result,
                                   &run->release, err);
    cli_progress_end();
    if (status == CELLAR_OK && !result.is_new)
        cli_message("request '%s' was charged before: %s is its recorded output, nothing was drawn",
                    payment->request, values->path);
    return status;
}

static cellar_status protect_release(const protect_values *values, protect_run *run,
                                     cellar_error *err)
{
    const protect_account *account = &values->account;
    cellar_payment payment = cellar_payment_default();
    cellar_status status = protect_prepare(run, err);
    payment.dataset = account->dataset;
    payment.request = account->request;
    payment.edition = values->edition;
    payment.analyst = account->analyst;
    payment.accept_delta = account->accept_delta;
    if (status != CELLAR_OK)
        return status;
    protect_print_method(values, run);
    return run->ledger != NULL && !cli_protect_is_cell_key(run->spec)
               ? protect_spend(values, run, &payment, err)
               : protect_draw(run, &payment, err);
}

static int protect_run_it(const protect_values *values, protect_run *run)
{
    cellar_error err;
    cellar_status status = protect_release(values, run, &err);
    if (status == CELLAR_OK && run->release != NULL)
        cli_message("%zu cell%s released; certificate: %s; %s",
                    cellar_release_n_cells(run->release),
                    cellar_release_n_cells(run->release) == 1 ? "" : "s",
                    cellar_verdict_name(cellar_release_verdict(run->release)),
                    cellar_release_ledger(run->release));
    if (status == CELLAR_OK && run->release != NULL &&
        cellar_protection_level_stamp(cellar_release_level(run->release)) != NULL)
        cli_message("%s", cellar_protection_level_stamp(cellar_release_level(run->release)));
    if (status == CELLAR_OK && values->json && run->release != NULL)
        status = protect_json(run, values, &err);
    return cli_exit(status, &err);
}

int cli_protect(int argc, char **argv)
{
    protect_values values = {0};
    cli_words files = {0};
    protect_run run = {0};
    int result = cli_options_parse(&protect_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON)
        result = protect_check(&values, &files);
    if (result == CLI_GO_ON)
        result = cli_reader_spare(files.items[0], values.path);
    if (result == CLI_GO_ON)
        result = cli_protect_prepare(&values, files.items[0], &run);
    if (result == CLI_GO_ON)
        result = protect_run_it(&values, &run);
    cli_protect_clear(&run);
    cli_words_clear(&files);
    cli_options_clear(&protect_command, &values);
    return result;
}
