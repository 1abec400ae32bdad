/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, and from true tables to releases. */
#include "routines.h"

/* ---- keys ---------------------------------------------------------------------- */

SEXP cellar_r_create_key(SEXP path, SEXP edition)
{
    const char *name = glue_utf8(path);
    cellar_error err;
    const cellar_status status =
        cellar_key_create(name, edition == R_NilValue ? NULL : glue_utf8(edition), &err);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

SEXP cellar_r_read_key(SEXP path)
{
    SEXP handle = PROTECT(glue_new(GLUE_KEY));
    const char *name = glue_utf8(path);
    cellar_key *key = NULL;
    cellar_error err;
    const cellar_status status = cellar_key_read(name, &key, &err);
    glue_put(handle, key);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_key_id(SEXP handle)
{
    const cellar_key *key = glue_get(handle, GLUE_KEY);
    return glue_string(cellar_key_id(key));
}

/* ---- options -------------------------------------------------------------------- */

unsigned glue_accepted(SEXP given)
{
    size_t n;
    const char **words = glue_texts(given, "accept", &n);
    unsigned accepted = 0;
    for (size_t i = 0; i < n; i++)
        accepted |= cellar_acceptance_find(words[i]);
    return accepted;
}

static cellar_protect_options read_options(SEXP given)
{
    cellar_protect_options out = cellar_protect_options_default();
    const char *below = glue_text(given, "below");
    (void) cellar_negatives_find(glue_text(given, "negatives"), &out.negatives);
    (void) cellar_neighbours_find(glue_text(given, "neighbours"), &out.neighbours);
    out.choice = (cellar_parameter_choice) glue_whole(given, "chosen", 0);
    if (below != NULL && strcmp(below, "suppress") == 0)
        out.below = CELLAR_BELOW_SUPPRESS;
    out.accept = glue_accepted(given);
    out.threshold = glue_whole(given, "threshold", 0);
    out.max_cells = (uint64_t) glue_whole(given, "max_cells", (int64_t) out.max_cells);
    out.per_cell = (int) glue_whole(given, "per_cell", 0);
    out.total_epsilon = glue_text(given, "total_epsilon");
    out.delta = glue_text(given, "delta");
    out.domain_public = (int) glue_whole(given, "domain_public", 0);
    out.unit = glue_text(given, "unit");
    out.max_per_unit = (uint64_t) glue_whole(given, "per_unit", 1);
    out.max_weight = (uint64_t) glue_whole(given, "max_weight", 0);
    out.date = glue_text(given, "date");
    out.key = glue_object(given, "key", GLUE_KEY);
    out.edition = glue_text(given, "edition");
    out.dataset = glue_text(given, "dataset");
    out.n_threads = (int) glue_whole(given, "threads", 0);
    out.progress = glue_progress();
    return out;
}

/* Who pays, and where the release appears. */
typedef struct purse {
    const char *ledger, *ledger_key;
    cellar_payment payment;
    cellar_charged_file file;
} purse;

static purse read_purse(SEXP given)
{
    purse out = {.payment = cellar_payment_default(), .file = cellar_charged_file_default()};
    out.ledger = glue_text(given, "ledger");
    out.ledger_key = glue_text(given, "ledger_key");
    out.payment.dataset = glue_text(given, "dataset");
    out.payment.request = glue_text(given, "request");
    out.payment.edition = glue_text(given, "edition");
    out.payment.analyst = glue_text(given, "analyst");
    out.payment.accept_delta = (int) glue_whole(given, "accept_delta", 0);
    out.file.path = glue_text(given, "output");
    return out;
}

/* ---- drawing ------------------------------------------------------------------------ */

static cellar_status draw(const cellar_table *table, const char *spec,
                          const cellar_protect_options *options, const purse *p,
                          cellar_release **out, cellar_error *err)
{
    cellar_ledger *ledger = NULL;
    cellar_status status = CELLAR_OK;
    if (p->ledger != NULL)
        status = cellar_ledger_open_file(p->ledger, p->ledger_key, &ledger, err);
    if (status == CELLAR_OK)
        status = cellar_protect_spec(table, spec, options, ledger, &p->payment, &p->file, out, err);
    cellar_ledger_close(ledger);
    return status;
}

SEXP cellar_r_protect(SEXP table_handle, SEXP spec, SEXP given)
{
    SEXP handle = PROTECT(glue_new(GLUE_RELEASE));
    const cellar_table *table = glue_get(table_handle, GLUE_TABLE);
    const char *mechanism = glue_utf8(spec);
    const cellar_protect_options options = read_options(given);
    const purse p = read_purse(given);
    cellar_release *release = NULL;
    cellar_error err;
    const cellar_status status = draw(table, mechanism, &options, &p, &release, &err);
    glue_put(handle, release);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}
