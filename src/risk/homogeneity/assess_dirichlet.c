/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The multinomial-Dirichlet mechanism: the cells of a table depend on each other, but whether a set
 * of cells stays empty has a closed form. */
#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/cell.h"
#include "risk/homogeneity/groups.h"
#include "risk/homogeneity/quantile.h"

typedef struct urn {
    double alpha, total; /* added to a cell; records drawn */
    double all;          /* alpha of all cells and the true records */
} urn;

/* ln P(cells of weight `weight` together get nothing):
 * Gamma(T) Gamma(T - w + n) / (Gamma(T + n) Gamma(T - w)) = B(n, T) / B(n, T - w). */
static double urn_log_none(const urn *u, double weight)
{
    double rest = u->all - weight;
    if (u->total <= 0)
        return 0;
    return rest <= 0 ? -INFINITY : lbeta(u->total, u->all) - lbeta(u->total, rest);
}

/* P(of the group's cells exactly the one of weight `own` gets something): all others get nothing,
 * less that all do. */
static double urn_alone(const urn *u, double group, double own)
{
    double others = urn_log_none(u, group - own), all = urn_log_none(u, group);
    return others == -INFINITY ? 0 : exp(others) * -expm1(all - others);
}

/* What the cells of a group add to its scenarios. As the members of a group are as many whatever
 * their values, the chance that a cell is alone depends on its own count only. */
typedef struct urn_group {
    const urn *u;
    double size, weight; /* members; with the alpha of all cells */
    double n_cells;
    double shown, right, stray;
    double shown_one, stray_one; /* the parts in which all members have one value */
    double one;                  /* P(they have) */
} urn_group;

/* A cell with that many members, `probability` being the chance that it has them. */
static void urn_add(urn_group *g, double count, double probability)
{
    double alone = probability * urn_alone(g->u, g->weight, count + g->u->alpha);
    int is_one = count == g->size;
    if (count > 0) {
        g->shown += alone;
        g->right += alone * count / g->size;
    } else {
        g->stray += alone;
    }
    if (is_one) {
        g->one += probability;
        g->shown_one += alone;
        g->stray_one += probability * (g->n_cells - 1) * urn_alone(g->u, g->weight, g->u->alpha);
    }
}

/* A cell whose members are drawn with a share: all counts that are not too unlikely. */
static void urn_add_drawn(urn_group *g, double share)
{
    double middle = g->size * share, wide = 40 + 13 * sqrt(middle * (1 - share));
    uint64_t first = middle > wide ? (uint64_t) (middle - wide) : 0;
    uint64_t last = (uint64_t) fmin(g->size, middle + wide);
    for (uint64_t count = first; count <= last; count++)
        urn_add(g, (double) count, dbinom((double) count, g->size, share, 0));
}

static void urn_assess(const urn *u, const cellar_groups *g, const cellar_group_kind *kind,
                       cellar_risk_measure measure, cellar_risk *out)
{
    double zeros = (double) kind->n_zeros, none;
    urn_group group = {.u = u, .size = (double) kind->size};
    double *s = out->scenario;

    group.n_cells = zeros + (double) kind->n_positive;
    group.weight = group.size + group.n_cells * u->alpha;
    for (size_t k = 0; k < kind->n_positive; k++) {
        double count = (double) g->counts[kind->first + k];
        if (measure == CELLAR_RISK_EXPECTED && kind->n_positive > 1)
            urn_add_drawn(&group, count / group.size);
        else
            urn_add(&group, count, 1);
    }
    group.stray += zeros * urn_alone(u, group.weight, u->alpha);
    none = exp(urn_log_none(u, group.weight));
    s[0] = group.shown_one;
    s[1] = group.stray_one;
    s[2] = s[4] = 0;
    s[3] = group.one * none;
    s[5] = (1 - group.one) * none;
    s[6] = fmax(0, group.stray - group.stray_one);
    s[7] = fmax(0, group.shown - group.shown_one);
    out->right = group.right;
    cellar_risk_finish(out, group.one);
}

cellar_status cellar_risk_assess_dirichlet(const cellar_groups *g, double alpha, uint64_t n_cells,
                                           uint64_t total, const cellar_risk_options *options,
                                           cellar_risk_summary *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int by_person = options->average == CELLAR_RISK_BY_PERSON;
    urn u = {alpha, (double) total, (double) n_cells * alpha + (double) g->n_records};
    double *weights = cellar_alloc(g->n_kinds, sizeof *weights);
    double *values = cellar_alloc(g->n_kinds, sizeof *values), levels[CELLAR_RISK_N_QUANTILES];
    cellar_weighted weighted = {values, weights, g->n_kinds};

    if (weights == NULL || values == NULL) {
        status = cellar_fail_memory(err, "the risk of groups");
        goto out;
    }
    if (options->measure > CELLAR_RISK_EXPECTED || options->method != CELLAR_RISK_EXACT ||
        !(alpha > 0)) {
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                             "of the multinomial-dirichlet mechanism the local and the expected "
                             "risk are known, exactly");
        goto out;
    }
    *out = (cellar_risk_summary){.sd = NAN};
    for (size_t i = 0; i < g->n_kinds; i++) {
        const cellar_group_kind *kind = &g->kinds[i];
        cellar_risk risk;
        weights[i] = (double) kind->times * (by_person ? (double) kind->size : 1) /
                     (double) (by_person ? g->n_records : g->n_groups);
        urn_assess(&u, g, kind, options->measure, &risk);
        values[i] = risk.value;
        cellar_risk_add(&out->mean, &risk, weights[i]);
    }
    for (size_t i = 0; i < CELLAR_RISK_N_QUANTILES; i++)
        levels[i] = cellar_risk_quantile_level(i);
    CELLAR_TRY(cellar_weighted_quantiles(&weighted, levels, CELLAR_RISK_N_QUANTILES, out->quantiles,
                                         &out->maximum, err));
    cellar_risk_frame(g, options->average, out);
out:
    cellar_free(weights);
    cellar_free(values);
    return status;
}
