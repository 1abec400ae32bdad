/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups one by one, the most exposed first. */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/groups.h"
#include "risk/homogeneity/local.h"

typedef struct ranked {
    double value;
    uint32_t row, kind;
} ranked;

static int ranked_order(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static cellar_status rank_values(const cellar_groups *g, const cellar_mechanism *mechanism,
                                 int zeros_stay, double *values, cellar_error *err)
{
    cellar_presence *presence = cellar_alloc(1, sizeof *presence);
    if (presence == NULL)
        return cellar_fail_memory(err, "the order of groups");
    cellar_presence_init(presence, mechanism, CELLAR_PRESENCE_CACHED);
    if (zeros_stay)
        cellar_presence_keep_zeros(presence);
    for (size_t i = 0; i < g->n_kinds; i++) {
        const cellar_group_kind *kind = &g->kinds[i];
        cellar_risk risk;
        cellar_local(presence, g->counts + kind->first, kind->n_positive, kind->n_zeros, &risk);
        values[i] = risk.value;
    }
    cellar_free(presence);
    return CELLAR_OK;
}

cellar_status cellar_risk_rank(const cellar_groups *g, const cellar_mechanism *mechanism,
                               int zeros_stay, cellar_exposed_visitor *visit, void *context,
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double *values = cellar_alloc(g->n_kinds, sizeof *values);
    ranked *order = cellar_alloc(g->n_rows, sizeof *order);

    if (values == NULL || order == NULL) {
        status = cellar_fail_memory(err, "the order of groups");
        goto out;
    }
    CELLAR_TRY(rank_values(g, mechanism, zeros_stay, values, err));
    for (size_t i = 0; i < g->n_rows; i++)
        order[i] = (ranked){values[g->row_kind[i]], (uint32_t) i, g->row_kind[i]};
    qsort(order, g->n_rows, sizeof *order, ranked_order);
    for (size_t i = 0; i < g->n_rows; i++) {
        const cellar_group_kind *kind = &g->kinds[order[i].kind];
        cellar_exposed_group group = {
            g->categories != NULL ? g->categories + (size_t) order[i].row * g->n_qid : NULL,
            kind->size, kind->n_positive, order[i].value};
        if (visit(context, &group)) {
            status = cellar_fail(err, CELLAR_ERR_CANCELLED, "listing the groups was stopped");
            goto out;
        }
    }
out:
    cellar_free(values);
    cellar_free(order);
    return status;
}
