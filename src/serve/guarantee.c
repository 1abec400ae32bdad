/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/guarantee.h"

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

/* "epsilon 4.88656 at delta 1e-06"; 0 when the certificate has none. */
static int add_epsilon(const json_t *certificate, cellar_text *out)
{
    const json_t *pure = json_object_get(certificate, "pure_epsilon");
    const json_t *first = json_array_get(json_object_get(certificate, "epsilon_at"), 0);
    const json_t *epsilon = json_object_get(first, "epsilon");
    if (json_is_number(pure)) {
        add_bound(out, "epsilon", json_number_value(pure));
        return 1;
    }
    if (!json_is_number(epsilon))
        return 0;
    add_bound(out, "epsilon", json_number_value(epsilon));
    cellar_text_printf(out, " at delta %g", json_number_value(json_object_get(first, "delta")));
    return 1;
}

void serve_add_guarantee(const char *subject, const json_t *certificate, cellar_text *out)
{
    const char *verdict = json_string_value(json_object_get(certificate, "verdict"));
    const char *unit = json_string_value(json_object_get(certificate, "unit"));
    const char *neighbours = json_string_value(json_object_get(certificate, "neighbours"));
    const json_t *rho = json_object_get(json_object_get(certificate, "composition"), "rho");
    const size_t start = out->length;
    cellar_text_printf(out, "%s are differentially private for one %s: ", subject,
                       unit != NULL ? unit : "record");
    if (verdict == NULL || strcmp(verdict, "holds") != 0 || !add_epsilon(certificate, out)) {
        out->length = start;
        cellar_text_printf(out, "%s are not differentially private.", subject);
        return;
    }
    if (json_is_number(rho))
        add_bound(out, ", rho", json_number_value(rho));
    cellar_text_printf(out, " (%s).", neighbours != NULL ? neighbours : "add-remove");
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
