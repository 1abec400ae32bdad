/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/group.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

uint64_t cellar_group_n_values(const cellar_group *group)
{
    uint64_t n = group->n_never;
    for (size_t i = 0; i < group->n_parts; i++)
        n += group->parts[i].times;
    return n;
}

/* ln of a share near one is taken of what is missing to one: at 10^9 members the last digit of the
 * share matters. */
double cellar_group_log_all(const cellar_group *group, size_t part)
{
    double weight = group->parts[part].weight, n = (double) group->size, rest = 0;
    if (group->has_prior)
        return lbeta(n, group->total) - lbeta(n, weight); /* gammas would cancel */
    if (weight <= 0.5 * n)
        return n * log(weight / n);
    for (size_t i = 0; i < group->n_parts; i++)
        rest += group->parts[i].weight * (double) (group->parts[i].times - (i == part));
    return n * log1p(-rest / n);
}

double cellar_group_homogeneous(const cellar_group *group)
{
    double sum = 0;
    for (size_t i = 0; i < group->n_parts; i++)
        sum += (double) group->parts[i].times * exp(cellar_group_log_all(group, i));
    return fmin(sum, 1);
}

/* ---- from parts to the whole ----------------------------------------------------- */

void cellar_risk_finish(cellar_risk *risk, double homogeneous)
{
    double *s = risk->scenario;
    s[2] = fmax(0, homogeneous - s[0] - s[1] - s[3]);
    s[4] = fmax(0, 1 - homogeneous - s[5] - s[6] - s[7]);
    risk->value = s[0] + s[7];
    risk->claim = s[0] + s[1] + s[6] + s[7];
    risk->right = fmin(risk->right, risk->value);
    risk->false_claim = s[1] + s[6] + (s[7] - (risk->right - s[0]));
    risk->precision = risk->claim > 0 ? risk->right / risk->claim : NAN;
}

void cellar_risk_compose(const cellar_presence *presence, uint64_t size, uint64_t n_values,
                         double homogeneous, const cellar_group_spread *spread, cellar_risk *out)
{
    double others = (double) (n_values - 1), absent0 = presence_absent(presence, 0);
    double all_but_one = pow(absent0, others);
    double *s = out->scenario;

    s[0] = homogeneous * presence_present(presence, size) * all_but_one;
    s[1] = homogeneous * presence_absent(presence, size) * others * presence_present(presence, 0) *
           pow(absent0, others - 1);
    s[3] = homogeneous * presence_absent(presence, size) * all_but_one;
    s[5] = spread->empty;
    s[6] = spread->stray;
    s[7] = spread->shown;
    out->right = s[0] + fmin(spread->right, spread->shown);
    cellar_risk_finish(out, homogeneous);
}

/* Values that never occur are absent, or the one that is shown and nobody has. */
static void spread_add_never(const cellar_group *group, cellar_group_spread *spread)
{
    double never = (double) group->n_never, absent = presence_absent(group->presence, 0);
    double all = pow(absent, never);
    double stray = spread->empty * never * presence_present(group->presence, 0);
    spread->stray = spread->stray * all + (never > 0 ? stray * pow(absent, never - 1) : 0);
    spread->empty *= all;
    spread->shown *= all;
    spread->right *= all;
}

cellar_status cellar_group_assess(const cellar_group *group, cellar_risk *out, cellar_error *err)
{
    cellar_group_spread spread = {0};
    cellar_group occurring = *group;
    cellar_status status = CELLAR_OK;
    int spreads = group->size >= 2 && (group->n_parts > 1 || group->parts[0].times > 1);

    occurring.n_never = 0;
    if (spreads && group->size <= CELLAR_GROUP_SMALL)
        status = cellar_group_by_product(&occurring, &spread, err);
    else if (spreads && group->has_prior)
        status = cellar_group_by_window(&occurring, &spread, err);
    else if (spreads)
        status = cellar_group_by_saddle(&occurring, &spread, err);
    if (status != CELLAR_OK)
        return status;
    spread_add_never(group, &spread);
    cellar_risk_compose(group->presence, group->size, cellar_group_n_values(group),
                        cellar_group_homogeneous(group), &spread, out);
    return CELLAR_OK;
}
