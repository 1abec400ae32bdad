/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which cells a fit has: those that some release holds, and those that were asked for. A sparse
 * table of many variables has far more possible totals than cells, and nobody wants most of them.
 */
#include "base/error.h"
#include "base/memory.h"
#include "release/adjustment/adjustment.h"
#include "table/schema/schema.h"

/* The margins of the releases, over the variables of the first. */
typedef struct wanted_margins {
    uint64_t *masks;
    size_t n, capacity;
    uint64_t hierarchies;
} wanted_margins;

static cellar_status wanted_add(wanted_margins *wanted, uint64_t mask, cellar_error *err)
{
    if (!cellar_grow(&wanted->masks, &wanted->capacity, wanted->n + 1, sizeof *wanted->masks))
        return cellar_fail_memory(err, "the margins of a fit");
    wanted->masks[wanted->n++] = mask;
    return CELLAR_OK;
}

static cellar_status wanted_add_release(wanted_margins *wanted, const cellar_schema *first,
                                        const cellar_schema *schema, cellar_error *err)
{
    size_t places[CELLAR_MAX_VARIABLES];
    cellar_status status = CELLAR_OK;
    for (size_t v = 0; v < schema->n_variables; v++) {
        places[v] = cellar_schema_find_variable(first, schema->axes[v].name);
        if (places[v] == CELLAR_NO_CODE)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "variable '%s' is not among those of the first release",
                               schema->axes[v].name);
        if (schema->axes[v].n_inner > 0)
            wanted->hierarchies |= UINT64_C(1) << places[v];
    }
    for (size_t m = 0; m < schema->n_margins && status == CELLAR_OK; m++) {
        uint64_t mask = 0;
        for (size_t v = 0; v < schema->n_variables; v++)
            mask |= (schema->margins[m] >> v & 1) << places[v];
        status = wanted_add(wanted, mask, err);
    }
    return status;
}

static cellar_status wanted_add_options(wanted_margins *wanted, const cellar_margins *margins,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    wanted->hierarchies |= margins->hierarchies;
    for (size_t m = 0; m < margins->n_masks && status == CELLAR_OK; m++)
        status = wanted_add(wanted, margins->masks[m], err);
    return status;
}

cellar_status cellar_adjustment_make_schema(const cellar_release *const *releases,
                                            size_t n_releases,
                                            const cellar_adjustment_options *options,
                                            cellar_schema **out, cellar_error *err)
{
    const cellar_schema *first = releases[0]->schema;
    wanted_margins wanted = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    for (size_t r = 0; r < n_releases; r++)
        CELLAR_TRY(wanted_add_release(&wanted, first, releases[r]->schema, err));
    CELLAR_TRY(wanted_add_options(&wanted, &options->margins, err));
    const cellar_margins margins = {.all = options->margins.all,
                                    .masks = wanted.masks,
                                    .n_masks = wanted.n,
                                    .hierarchies = wanted.hierarchies};
    CELLAR_TRY(cellar_schema_expand(first, &margins, out, err));
    if ((*out)->n_indices > options->max_cells)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "the fitted table would have %llu cells with its totals, more than "
                             "the %llu allowed (--max-cells); fewer margins make it smaller",
                             (unsigned long long) (*out)->n_indices,
                             (unsigned long long) options->max_cells);
out:
    if (status != CELLAR_OK) {
        cellar_schema_free(*out);
        *out = NULL;
    }
    cellar_free(wanted.masks);
    return status;
}
