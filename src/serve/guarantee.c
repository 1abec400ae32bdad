/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/guarantee.h"

#include <math.h>

#include <sodium.h>

#include "ledger/ledger.h"

void serve_digest(const void *bytes, size_t length, char out[SERVE_ID_TEXT])
{
    unsigned char hash[(SERVE_ID_TEXT - 1) / 2];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    sodium_bin2hex(out, SERVE_ID_TEXT, hash, sizeof hash);
}

cellar_promise serve_promise_of_cap(const cellar_amounts *cap, cellar_neighbours neighbours)
{
    const int by_rho = cap->rho_nano != CELLAR_NO_RHO;
    return (cellar_promise){.covers = "budget",
                            .epsilon = by_rho ? NAN : (double) cap->epsilon_nano / 1e9,
                            .delta = by_rho ? NAN : (double) cap->delta_atto / 1e18,
                            .rho = by_rho ? (double) cap->rho_nano / 1e9 : NAN,
                            .neighbours = neighbours};
}

json_t *serve_promise_json(const cellar_promise *promise, const char *unit)
{
    if (promise->covers == NULL)
        return NULL;
    /* json_real() makes nothing of NAN, and * leaves out what is nothing */
    return json_pack("{s:s, s:s, s:s, s:o*, s:o*, s:o*}", "covers", promise->covers, "unit", unit,
                     "neighbours", cellar_neighbours_name(promise->neighbours), "epsilon",
                     json_real(promise->epsilon), "delta", json_real(promise->delta), "rho",
                     json_real(promise->rho));
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
