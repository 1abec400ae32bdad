/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/published.h"

#include <math.h>
#include <string.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

int cellar_published_knows(const cellar_mechanism *mechanism)
{
    const char *name = cellar_mechanism_name(mechanism);
    return strcmp(name, "laplace") == 0 || strcmp(name, "gaussian") == 0;
}

/* The second term's sum over values: p^{n-1} (1-p), or its mean under the prior,
 * Gamma(a.) Gamma(n+a_k-1) (a.-a_k) / (Gamma(a_k) Gamma(n+a.)). */
static double published_one_other(const cellar_group *group, size_t part)
{
    double n = (double) group->size, weight = group->parts[part].weight;
    if (!group->has_prior)
        return exp(cellar_group_log_all(group, part) * (n - 1) / n) * (1 - weight / n);
    /* Gamma(a.) / Gamma(n+a.) = B(n-1, a.) / Gamma(n-1) / (n-1+a.), and the like for a_k */
    return exp(lbeta(n - 1, group->total) - lbeta(n - 1, weight)) * (group->total - weight) /
           (n - 1 + group->total);
}

/* P(e < 1/2), P(e >= 1/2 - n), ... are absence and presence of the rounded mechanism. */
void cellar_published_group(const cellar_group *group, int first_only, cellar_risk *out)
{
    const cellar_presence *p = group->presence;
    double n_values = (double) cellar_group_n_values(group), absent0 = presence_absent(p, 0);
    double others = 0;

    *out = (cellar_risk){NAN, {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, NAN, NAN, NAN, NAN};
    out->scenario[0] = cellar_group_homogeneous(group) * pow(absent0, n_values - 1) *
                       presence_present(p, group->size);
    out->scenario[7] = 0;
    if (!first_only && group->size >= 2) {
        for (size_t i = 0; i < group->n_parts; i++)
            others += (double) group->parts[i].times * published_one_other(group, i);
        out->scenario[7] = others * presence_present(p, group->size - 1) * presence_absent(p, 1) *
                           pow(absent0, n_values - 2);
    }
    out->value = out->scenario[0] + out->scenario[7];
}
