/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/kernels/kernel_row.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/kernels/kernel_cells.h"

enum {
    RUN_MAX = 1 << 20,   /* thresholds of a table made by a run */
    BALLS_MAX = 1 << 16, /* and of one made by balls */
};

/* ---- in balls ---------------------------------------------------------------- */

typedef struct cellar_kernel_part {
    const cellar_kernel *k;
    int64_t count;
    int index;
    cellar_histogram *histogram;
} part;

static void row_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const cellar_kernel_row *r = context;
    cellar_kernel_cdf_balls(r->k, r->count, first, n, bits, out);
}

static cellar_law row_law(const cellar_kernel_row *r)
{
    return (cellar_law){row_cdf_balls, r, INT64_MAX};
}

static void part_p_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const part *p = context;
    if (p->k->law->part_balls != NULL)
        p->k->law->part_balls(p->k, p->count, p->index, first, n, bits, out);
    else
        p->k->law->p_balls(p->k, p->count, first, n, bits, out);
}

/* P(2c)/P(c) is a product of c ratios, each at most the bound at b: ln 4 < 3/2. */
static int part_settles(const void *context, int64_t b)
{
    const part *p = context;
    const cellar_count_law *law = p->k->law;
    long double bound;
    if (law->settles != NULL)
        return law->settles(p->k, p->count, b);
    bound = law->part_balls != NULL ? law->part_ratio_bound(p->k, p->count, p->index, b)
                                    : law->ratio_bound(p->k, p->count, b);
    return (long double) b * (1 - bound) >= 1.5L;
}

/* ---- making --------------------------------------------------------------------- */

/* The table by a run; *out is NULL when it needs too many thresholds. A distribution has several
 * times its standard deviation of them, so that the widest need not be tried. */
static cellar_status table_by_run(const cellar_kernel_row *r, cellar_inverse **out,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_kernel_cells cells = {0};
    cellar_law law = row_law(r);
    double mean, variance = 0;
    int found;

    *out = NULL;
    if (r->k->law->mean_variance != NULL)
        r->k->law->mean_variance(r->k, r->count, &mean, &variance);
    if (sqrt(variance) > RUN_MAX / 8.0)
        return CELLAR_OK;
    if (r->k->law->part_balls != NULL && r->count >= r->k->law->parts_from)
        return CELLAR_OK;
    CELLAR_TRY(cellar_kernel_cells_make(r->k, r->count, &law, RUN_MAX, &cells, &found, err));
    if (found)
        CELLAR_TRY(cellar_inverse_create_list(law, cells.first, cells.list, cells.n, out, err));
out:
    cellar_kernel_cells_clear(&cells);
    return status;
}

/* The same by balls, for distributions that no run covers. */
static cellar_status table_by_balls(const cellar_kernel_row *r, cellar_inverse **out,
                                    cellar_error *err)
{
    const cellar_mechanism *m = &r->k->base;
    int64_t low, high;
    m->ops->support(m, r->count, 0x1p-64, &low, &high);
    if ((uint64_t) (high - low) > BALLS_MAX)
        return CELLAR_OK;
    return cellar_inverse_create(row_law(r), low > 0 ? low - 1 : 0, high, (size_t) 2 * BALLS_MAX,
                                 out, err);
}

cellar_status cellar_kernel_row_table(const cellar_kernel_row *r, cellar_inverse **out,
                                      cellar_error *err)
{
    cellar_status status = table_by_run(r, out, err);
    if (status == CELLAR_OK && *out == NULL && r->k->law->part_balls == NULL)
        status = table_by_balls(r, out, err);
    return status;
}

static cellar_status row_make_parts(cellar_kernel_row *r, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int n = r->k->law->part_balls != NULL ? CELLAR_KERNEL_PARTS : 1;
    for (int i = 0; i < n && status == CELLAR_OK; i++) {
        part *p = cellar_alloc(1, sizeof *p);
        if (p == NULL)
            return cellar_fail_memory(err, "a sampler");
        *p = (part){.k = r->k, .count = r->count, .index = i};
        r->parts[i] = p;
        status = cellar_histogram_create((cellar_wide_law){part_p_balls, part_settles, p},
                                         &p->histogram, err);
    }
    return status;
}

cellar_status cellar_kernel_row_create(const cellar_kernel *k, int64_t count,
                                       cellar_kernel_row **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_kernel_row *r = cellar_alloc(1, sizeof *r);

    *out = NULL;
    if (r == NULL)
        return cellar_fail_memory(err, "a sampler");
    r->k = k;
    r->count = count;
    CELLAR_TRY(cellar_kernel_row_table(r, &r->inverse, err));
    r->has_table = r->inverse != NULL;
    if (!r->has_table)
        CELLAR_TRY(row_make_parts(r, err));
    *out = r;
    r = NULL;
out:
    cellar_kernel_row_free(r);
    return status;
}

void cellar_kernel_row_free(cellar_kernel_row *r)
{
    if (r == NULL)
        return;
    cellar_inverse_free(r->inverse);
    for (int i = 0; i < CELLAR_KERNEL_PARTS; i++)
        if (r->parts[i] != NULL) {
            cellar_histogram_free(r->parts[i]->histogram);
            cellar_free(r->parts[i]);
        }
    cellar_free(r);
}

cellar_status cellar_kernel_row_draw_wide(const cellar_kernel_row *r, cellar_rng *rng,
                                          int64_t *value, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t part_value = 0;
    *value = 0;
    for (int i = 0; i < CELLAR_KERNEL_PARTS && r->parts[i] != NULL; i++) {
        CELLAR_TRY(cellar_histogram_draw(r->parts[i]->histogram, rng, &part_value, err));
        *value += part_value;
    }
out:
    cellar_wipe(&part_value, sizeof part_value);
    return status;
}
