/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/guarantee.h"

#include <math.h>
#include <string.h>

#include <sodium.h>

#include "ledger/ledger.h"

void serve_digest(const void *bytes, size_t length, char out[SERVE_ID_TEXT])
{
    unsigned char hash[(SERVE_ID_TEXT - 1) / 2];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    sodium_bin2hex(out, SERVE_ID_TEXT, hash, sizeof hash);
}

static void add_bound(cellar_text *out, const char *name, double value)
{
    char text[32];
    cellar_text_printf(out, "%s %s", name, cellar_bound_text(value, text));
}

serve_promise serve_promise_of_certificate(const char *covers, const json_t *certificate)
{
    const char *verdict = json_string_value(json_object_get(certificate, "verdict"));
    const char *neighbours = json_string_value(json_object_get(certificate, "neighbours"));
    const json_t *first = json_array_get(json_object_get(certificate, "epsilon_at"), 0);
    const json_t *rho = json_object_get(json_object_get(certificate, "composition"), "rho");
    const json_t *epsilon = json_object_get(certificate, "pure_epsilon");
    serve_promise promise = {.epsilon = NAN,
                             .rho = json_is_number(rho) ? json_number_value(rho) : NAN,
                             .neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE};
    if (!json_is_number(epsilon)) {
        epsilon = json_object_get(first, "epsilon");
        promise.delta = json_number_value(json_object_get(first, "delta"));
    }
    if (verdict == NULL || strcmp(verdict, "holds") != 0 || !json_is_number(epsilon))
        return promise;
    if (neighbours != NULL && !cellar_neighbours_find(neighbours, &promise.neighbours))
        return promise;
    promise.epsilon = json_number_value(epsilon);
    promise.covers = covers;
    return promise;
}

serve_promise serve_promise_of_cap(const cellar_amounts *cap, cellar_neighbours neighbours)
{
    const int by_rho = cap->rho_nano != CELLAR_NO_RHO;
    return (serve_promise){.covers = "budget",
                           .epsilon = by_rho ? NAN : (double) cap->epsilon_nano / 1e9,
                           .delta = by_rho ? NAN : (double) cap->delta_atto / 1e18,
                           .rho = by_rho ? (double) cap->rho_nano / 1e9 : NAN,
                           .neighbours = neighbours};
}

json_t *serve_promise_json(const serve_promise *promise, const char *unit)
{
    if (promise->covers == NULL)
        return NULL;
    /* json_real() makes nothing of NAN, and * leaves out what is nothing */
    return json_pack("{s:s, s:s, s:s, s:o*, s:o*, s:o*}", "covers", promise->covers, "unit", unit,
                     "neighbours", cellar_neighbours_name(promise->neighbours), "epsilon",
                     json_real(promise->epsilon), "delta", json_real(promise->delta), "rho",
                     json_real(promise->rho));
}

void serve_add_guarantee(const char *subject, const json_t *certificate, cellar_text *out)
{
    const serve_promise promise = serve_promise_of_certificate(subject, certificate);
    const char *unit = json_string_value(json_object_get(certificate, "unit"));
    if (promise.covers == NULL) {
        cellar_text_printf(out, "%s are not differentially private.", subject);
        return;
    }
    cellar_text_printf(out, "%s are differentially private for one %s: ", subject,
                       unit != NULL ? unit : "record");
    add_bound(out, "epsilon", promise.epsilon);
    if (promise.delta > 0)
        cellar_text_printf(out, " at delta %g", promise.delta);
    if (!isnan(promise.rho))
        add_bound(out, ", rho", promise.rho);
    cellar_text_printf(out, " (%s).", cellar_neighbours_name(promise.neighbours));
}

/* That of the ledger's statement: the cap holds whatever was asked after seeing what. The formula
 * is Proposition 1.3 of Bun and Steinke (2016). */
void serve_add_cap(const cellar_amounts *cap, const char *unit, cellar_neighbours neighbours,
                   cellar_text *out)
{
    const int by_rho = cap->rho_nano != CELLAR_NO_RHO;
    char cost[CELLAR_COST_TEXT];
    cellar_ledger_cost_text(cap, by_rho, cost);
    cellar_text_printf(out,
                       "All tables that are ever drawn from these data are together differentially "
                       "private for one %s: %s (%s%s).",
                       unit, cost,
                       by_rho ? "epsilon = rho + 2 sqrt(rho ln(1/delta)) for every delta; " : "",
                       cellar_neighbours_name(neighbours));
}
