/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/dirichlet.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "mechanism/parameter.h"
#include "random/urn.h"

static const char NAME[] = "multinomial-dirichlet";
enum { REVISION = 1 };

struct cellar_dirichlet {
    cellar_parameter_list parameters;
    char *spec;
};

static const cellar_parameter_rule dirichlet_parameters[] = {
    {.name = "alpha", .required = 1, .above = "0", .at_most = "1000000"},
    {.name = "total",
     .kind = CELLAR_PARAMETER_INTEGER,
     .at_least = "0",
     .at_most = "1000000000000"},
    {.name = "cells", .kind = CELLAR_PARAMETER_INTEGER, .at_least = "1", .at_most = "4294967296"},
    {0},
};

/* ---- life cycle ------------------------------------------------------------ */

static cellar_status dirichlet_write_spec(cellar_dirichlet *d, cellar_error *err)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, NAME);
    for (size_t i = 0; i < d->parameters.n; i++)
        cellar_text_printf(&text, "%c%s=%s", i == 0 ? ':' : ',', d->parameters.items[i].name,
                           d->parameters.items[i].text);
    if (text.failed) {
        cellar_text_clear(&text);
        return cellar_fail_memory(err, "a mechanism");
    }
    d->spec = text.bytes;
    return CELLAR_OK;
}

cellar_status cellar_dirichlet_create(const char *spec, cellar_dirichlet **out, cellar_error *err)
{
    size_t length = strlen(NAME);
    cellar_dirichlet *d = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (strncmp(spec, NAME, length) != 0 || (spec[length] != ':' && spec[length] != '\0'))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "expected multinomial-dirichlet:alpha=..., got '%.60s'", spec);
    d = cellar_alloc(1, sizeof *d);
    if (d == NULL)
        return cellar_fail_memory(err, "a mechanism");
    CELLAR_TRY(cellar_parameter_list_parse(dirichlet_parameters, NAME,
                                           spec[length] == ':' ? spec + length + 1 : NULL,
                                           &d->parameters, err));
    CELLAR_TRY(dirichlet_write_spec(d, err));
    *out = d;
    d = NULL;
out:
    cellar_dirichlet_free(d);
    return status;
}

void cellar_dirichlet_free(cellar_dirichlet *d)
{
    if (d == NULL)
        return;
    cellar_parameter_list_clear(&d->parameters);
    cellar_free(d->spec);
    cellar_free(d);
}

/* ---- what it is ------------------------------------------------------------ */

const char *cellar_dirichlet_spec(const cellar_dirichlet *d)
{
    return d->spec;
}

uint32_t cellar_dirichlet_revision(const cellar_dirichlet *d)
{
    (void) d;
    return REVISION;
}

double cellar_dirichlet_alpha(const cellar_dirichlet *d)
{
    return cellar_parameter_find(&d->parameters, "alpha")->nearest;
}

static int64_t dirichlet_integer(const cellar_dirichlet *d, const char *name)
{
    const cellar_parameter *p = cellar_parameter_find(&d->parameters, name);
    return p != NULL ? fmpz_get_si(fmpq_numref(p->value)) : -1;
}

int64_t cellar_dirichlet_total(const cellar_dirichlet *d)
{
    return dirichlet_integer(d, "total");
}

int64_t cellar_dirichlet_n_cells(const cellar_dirichlet *d)
{
    return dirichlet_integer(d, "cells");
}

/* ---- its distribution --------------------------------------------------------------- */

/* ln Gamma(x + n) / Gamma(x) */
static long double log_rising(long double x, int64_t n)
{
    int sign;
    return lgammal_r(x + (long double) n, &sign) - lgammal_r(x, &sign);
}

/* n!/prod b_k! prod (a_k + alpha)_{b_k} / (N + K alpha)_n, with rising factorials (x)_b. */
double cellar_dirichlet_log_pmf(const cellar_dirichlet *d, const int64_t *counts,
                                const int64_t *released, size_t n)
{
    long double alpha = (long double) cellar_dirichlet_alpha(d), sum = 0, all = 0;
    int64_t total = 0;
    for (size_t k = 0; k < n; k++) {
        long double x = (long double) counts[k] + alpha;
        if (released[k] < 0)
            return -INFINITY;
        all += x;
        total += released[k];
        sum += log_rising(x, released[k]) - log_rising(1, released[k]);
    }
    return (double) (sum + log_rising(1, total) - log_rising(all, total));
}

/* ---- drawing --------------------------------------------------------------- */

/* The urn begins with q a_k + p of colour k, alpha = p/q, and gains q a draw. */
static cellar_status dirichlet_weights(const cellar_dirichlet *d, const int64_t *counts, size_t n,
                                       uint64_t *weights, uint64_t *added, cellar_error *err)
{
    const cellar_parameter *alpha = cellar_parameter_find(&d->parameters, "alpha");
    uint64_t p, product;
    if (!fmpz_abs_fits_ui(fmpq_numref(alpha->value)) ||
        !fmpz_abs_fits_ui(fmpq_denref(alpha->value)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: alpha has too many decimals", NAME);
    p = fmpz_get_ui(fmpq_numref(alpha->value));
    *added = fmpz_get_ui(fmpq_denref(alpha->value));
    for (size_t k = 0; k < n; k++)
        if (counts[k] < 0 || __builtin_mul_overflow((uint64_t) counts[k], *added, &product) ||
            __builtin_add_overflow(product, p, &weights[k]))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: alpha has too many decimals", NAME);
    return CELLAR_OK;
}

cellar_status cellar_dirichlet_sample(const cellar_dirichlet *d, const int64_t *counts, size_t n,
                                      int64_t total, cellar_rng *rng, int64_t *released,
                                      cellar_error *err)
{
    int64_t n_wanted = cellar_dirichlet_n_cells(d), total_wanted = cellar_dirichlet_total(d);
    cellar_status status = CELLAR_OK;
    uint64_t *weights = NULL, added;

    memset(released, 0, n * sizeof *released);
    if (n == 0 || total < 0 || (n_wanted >= 0 && (size_t) n_wanted != n) ||
        (total_wanted >= 0 && total_wanted != total))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: the table is not that of the spec '%s'",
                           NAME, d->spec);
    weights = cellar_alloc(n, sizeof *weights);
    if (weights == NULL)
        return cellar_fail_memory(err, "an urn");
    CELLAR_TRY(dirichlet_weights(d, counts, n, weights, &added, err));
    CELLAR_TRY(cellar_urn_draw(weights, n, added, (size_t) total, rng, released, err));
out:
    if (status != CELLAR_OK)
        cellar_wipe(released, n * sizeof *released);
    cellar_wipe(weights, n * sizeof *weights);
    cellar_free(weights);
    return status;
}
