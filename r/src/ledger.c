/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ledgers: made, shown and verified. What is paid for is drawn by protect.c. */
#include "routines.h"

#include <unistd.h>

/* ---- making one -------------------------------------------------------------------- */

static cellar_status read_dataset(SEXP given, cellar_ledger_dataset *out, cellar_error *err)
{
    *out = cellar_ledger_dataset_default();
    out->name = glue_needed_text(given, "dataset");
    out->edition = glue_text(given, "edition");
    out->unit = glue_text(given, "unit");
    (void) cellar_neighbours_find(glue_text(given, "neighbours"), &out->neighbours);
    out->population = (uint64_t) glue_whole(given, "population", 0);
    out->accept_delta = (int) glue_whole(given, "accept_delta", 0);
    return cellar_amounts_parse_cap(glue_text(given, "epsilon"), glue_text(given, "delta"),
                                    glue_text(given, "rho"), &out->cap, err);
}

/* A key that is there already is used; one that was made for nothing is taken away. */
SEXP cellar_r_create_ledger(SEXP path, SEXP key_path, SEXP given)
{
    const char *name = glue_utf8(path), *key_name = glue_utf8(key_path),
               *witness = glue_text(given, "witness");
    cellar_ledger_dataset dataset;
    cellar_key *key = NULL;
    cellar_error err;
    int made_key = 0;
    cellar_status status = read_dataset(given, &dataset, &err);
    if (status == CELLAR_OK && access(key_name, F_OK) != 0) {
        status = cellar_key_create(key_name, NULL, &err);
        made_key = status == CELLAR_OK;
    }
    if (status == CELLAR_OK)
        status = cellar_key_read(key_name, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_create_with(name, key, &dataset, witness, &err);
    cellar_key_free(key);
    if (status != CELLAR_OK && made_key && access(name, F_OK) != 0)
        unlink(key_name);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

SEXP cellar_r_adopt_ledger(SEXP path, SEXP key_path, SEXP witness)
{
    const char *name = glue_utf8(path), *key_name = glue_utf8(key_path),
               *file = witness == R_NilValue ? NULL : glue_utf8(witness);
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status = cellar_key_read(key_name, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_adopt(name, key, file, &err);
    cellar_key_free(key);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

/* What is said to a ledger that is open, by what R gave. */
typedef cellar_status ledger_act(cellar_ledger *ledger, SEXP given, cellar_error *err);

static SEXP act_on(SEXP path, SEXP key_path, SEXP given, ledger_act *act)
{
    SEXP handle = PROTECT(glue_new(GLUE_LEDGER));
    const char *name = glue_utf8(path), *key = glue_utf8(key_path);
    cellar_ledger *ledger = NULL;
    cellar_error err;
    cellar_status status = cellar_ledger_open_file(name, key, &ledger, &err);
    glue_put(handle, ledger);
    if (status == CELLAR_OK)
        status = act(ledger, given, &err);
    glue_close(handle);
    UNPROTECT(1);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

/* A share of an analyst; without a cap an edition; else a dataset. */
static cellar_status add(cellar_ledger *ledger, SEXP given, cellar_error *err)
{
    const char *analyst = glue_text(given, "analyst"), *edition = glue_text(given, "edition");
    cellar_ledger_dataset dataset;
    cellar_status status;
    if (!glue_whole(given, "has_cap", 0))
        return cellar_ledger_add_edition(ledger, glue_needed_text(given, "dataset"), edition, err);
    status = read_dataset(given, &dataset, err);
    if (status != CELLAR_OK)
        return status;
    return analyst != NULL
               ? cellar_ledger_add_analyst(ledger, dataset.name, analyst, dataset.cap, err)
               : cellar_ledger_add_dataset(ledger, &dataset, err);
}

static cellar_status enter(cellar_ledger *ledger, SEXP given, cellar_error *err)
{
    const char *name = glue_needed_text(given, "dataset"), *edition = glue_text(given, "edition");
    const cellar_ledger_entry *dataset = cellar_ledger_find_dataset(ledger, name);
    if (edition == NULL && dataset != NULL)
        edition = dataset->edition;
    return cellar_ledger_enter(ledger, name, edition,
                               (cellar_uncharged) glue_whole(given, "kind", 0),
                               glue_needed_text(given, "what"), err);
}

SEXP cellar_r_add_to_ledger(SEXP path, SEXP key_path, SEXP given)
{
    return act_on(path, key_path, given, add);
}

SEXP cellar_r_enter_in_ledger(SEXP path, SEXP key_path, SEXP given)
{
    return act_on(path, key_path, given, enter);
}

/* ---- showing one --------------------------------------------------------------------- */

/* The history: one row for each entry. */
static SEXP history_of(const cellar_ledger *ledger)
{
    static const char *const names[] = {"number",  "kind",    "time",      "dataset", "edition",
                                        "analyst", "request", "mechanism", "what",    NULL};
    const size_t n = cellar_ledger_n_entries(ledger);
    SEXP list = PROTECT(glue_list(names)), words[9];
    double *numbers = glue_reals(list, 0, n);
    for (R_xlen_t c = 1; c < 9; c++)
        words[c] = glue_words(list, c, n);
    for (size_t i = 0; i < n; i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        const char *texts[9] = {NULL,           cellar_entry_kind_name(entry->kind),
                                entry->time,    entry->dataset,
                                entry->edition, entry->analyst,
                                entry->request, entry->mechanism,
                                entry->what};
        numbers[i] = (double) entry->number;
        for (size_t c = 1; c < 9; c++)
            glue_set_word(words[c], i, texts[c]);
    }
    UNPROTECT(1);
    return list;
}

/* An amount as an exact decimal. */
static SEXP amounts_of(const cellar_amounts *amounts, int by_rho)
{
    static const char *const names[] = {"epsilon", "delta", "rho", NULL};
    char text[CELLAR_AMOUNT_TEXT];
    SEXP list = PROTECT(glue_list(names));
    for (R_xlen_t i = 0; i < 3; i++)
        SET_VECTOR_ELT(list, i, glue_string(NULL));
    if (by_rho) {
        cellar_amount_text_nano(amounts->rho_nano, text);
        SET_VECTOR_ELT(list, 2, glue_string(text));
    } else {
        cellar_amount_text_nano(amounts->epsilon_nano, text);
        SET_VECTOR_ELT(list, 0, glue_string(text));
        cellar_amount_text_atto(amounts->delta_atto, text);
        SET_VECTOR_ELT(list, 1, glue_string(text));
    }
    UNPROTECT(1);
    return list;
}

static SEXP dataset_of(cellar_ledger *ledger, const cellar_ledger_entry *entry, const char *analyst)
{
    static const char *const names[] = {"dataset", "analyst", "unit",    "neighbours", "cap",
                                        "spent",   "left",    "charges", "statement",  NULL};
    cellar_balance balance;
    SEXP list;
    if (cellar_ledger_balance(ledger, entry->dataset, analyst, &balance, NULL) != CELLAR_OK)
        return R_NilValue;
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_string(entry->dataset));
    SET_VECTOR_ELT(list, 1, glue_string(analyst));
    SET_VECTOR_ELT(list, 2, glue_string(entry->unit));
    SET_VECTOR_ELT(list, 3, glue_string(cellar_neighbours_name(entry->neighbours)));
    SET_VECTOR_ELT(list, 4, amounts_of(&balance.cap, balance.by_rho));
    SET_VECTOR_ELT(list, 5, amounts_of(&balance.spent, balance.by_rho));
    SET_VECTOR_ELT(list, 6, amounts_of(&balance.left, balance.by_rho));
    SET_VECTOR_ELT(list, 7, glue_number((double) balance.n_charges));
    SET_VECTOR_ELT(
        list, 8,
        glue_string(analyst == NULL ? cellar_ledger_statement(ledger, entry->dataset) : NULL));
    UNPROTECT(1);
    return list;
}

/* Datasets and the shares of analysts, in the order of the history. */
static SEXP balances_of(cellar_ledger *ledger)
{
    const size_t n = cellar_ledger_n_entries(ledger);
    R_xlen_t found = 0;
    SEXP list;
    for (size_t i = 0; i < n; i++) {
        const cellar_entry_kind kind = cellar_ledger_entry_at(ledger, i)->kind;
        found += kind == CELLAR_ENTRY_DATASET || kind == CELLAR_ENTRY_ANALYST;
    }
    list = PROTECT(Rf_allocVector(VECSXP, found));
    found = 0;
    for (size_t i = 0; i < n; i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        const cellar_ledger_entry *dataset =
            entry->kind == CELLAR_ENTRY_ANALYST ? cellar_ledger_find_dataset(ledger, entry->dataset)
                                                : entry;
        if (entry->kind == CELLAR_ENTRY_DATASET || entry->kind == CELLAR_ENTRY_ANALYST)
            SET_VECTOR_ELT(list, found++, dataset_of(ledger, dataset, entry->analyst));
    }
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_ledger(SEXP path, SEXP key_path)
{
    static const char *const names[] = {"id", "head", "witness", "balances", "history", NULL};
    SEXP handle = PROTECT(glue_new(GLUE_LEDGER)), list;
    const char *name = glue_utf8(path), *key = glue_utf8(key_path);
    cellar_ledger *ledger = NULL;
    cellar_error err;
    const cellar_status status = cellar_ledger_open_file(name, key, &ledger, &err);
    glue_put(handle, ledger);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_string(cellar_ledger_id(ledger)));
    SET_VECTOR_ELT(list, 1, glue_string(cellar_ledger_head(ledger)));
    SET_VECTOR_ELT(list, 2, glue_string(cellar_ledger_witness(ledger)));
    SET_VECTOR_ELT(list, 3, balances_of(ledger));
    SET_VECTOR_ELT(list, 4, history_of(ledger));
    glue_close(handle);
    UNPROTECT(2);
    return list;
}

/* Reads everything again; with the file of a release (NULL: none) compares it with its entry. */
SEXP cellar_r_verify_ledger(SEXP path, SEXP key_path, SEXP against)
{
    const char *name = glue_utf8(path), *key = glue_utf8(key_path),
               *file = against == R_NilValue ? NULL : glue_utf8(against);
    cellar_ledger *ledger = NULL;
    cellar_against found = {0, NULL, CELLAR_CHARGE_NONE};
    cellar_error err;
    cellar_status status = cellar_ledger_open_file(name, key, &ledger, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_verify(ledger, &err);
    if (status == CELLAR_OK && file != NULL)
        status = cellar_ledger_verify_against(ledger, file, &found, &err);
    cellar_ledger_close(ledger);
    return status == CELLAR_OK ? glue_number((double) found.number) : glue_fail(status, &err);
}

/* What the whole cap is for the population of a sample: epsilon and delta, then the assumptions. */
SEXP cellar_r_amplify_ledger(SEXP path, SEXP key_path, SEXP given)
{
    static const char *const names[] = {"epsilon", "delta", "assumptions", NULL};
    const char *name = glue_utf8(path), *key = glue_utf8(key_path),
               *dataset = glue_needed_text(given, "dataset");
    cellar_sampling sampling = cellar_sampling_default();
    cellar_amplified found = {0, 0};
    cellar_ledger *ledger = NULL;
    cellar_error err;
    cellar_status status;
    SEXP list, words;
    size_t n = 0;
    sampling.scheme = (cellar_sampling_scheme) glue_whole(given, "scheme", 0);
    sampling.rate = glue_real(given, "rate", sampling.rate);
    sampling.unit = glue_text(given, "unit");
    sampling.is_panel = (int) glue_whole(given, "panel", 0);
    sampling.has_calibrated_weights = (int) glue_whole(given, "calibrated_weights", 0);
    status = cellar_ledger_open_file(name, key, &ledger, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_amplify(ledger, dataset, &sampling, &found, &err);
    cellar_ledger_close(ledger);
    if (status != CELLAR_OK)
        return glue_fail(status, &err);
    while (cellar_sampling_assumption(sampling.scheme, n) != NULL)
        n++;
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_number(found.epsilon));
    SET_VECTOR_ELT(list, 1, glue_number(found.delta));
    words = glue_words(list, 2, n);
    for (size_t i = 0; i < n; i++)
        glue_set_word(words, i, cellar_sampling_assumption(sampling.scheme, i));
    UNPROTECT(1);
    return list;
}
