/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/interval_box.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

/* The part of the error that either side of the box may use. */
static const double BOX_SHARE = 0.05;

static int by_low(const void *left, const void *right)
{
    const cellar_box_side *a = left, *b = right;
    return a->low != b->low ? (a->low > b->low) - (a->low < b->low)
                            : (a->number > b->number) - (a->number < b->number);
}

static cellar_status box_init(cellar_box *box, const cellar_reading *r, double tail,
                              cellar_error *err)
{
    double cell_tail = BOX_SHARE * tail / (double) r->n_parts;
    *box = (cellar_box){.channel = &r->channel, .total = r->number};
    box->tail = (1 - 2 * BOX_SHARE) * tail;
    box->sides = cellar_alloc(r->n_parts, sizeof *box->sides);
    if (box->sides == NULL)
        return cellar_fail_memory(err, "the interval of a sum");
    for (size_t i = 0; i < r->n_parts; i++) { /* equal ones stand together */
        cellar_box_side *side;
        if (i > 0 && r->parts[i] == r->parts[i - 1]) {
            box->sides[box->n_sides - 1].n_cells++;
            continue;
        }
        side = &box->sides[box->n_sides++];
        side->number = r->parts[i];
        side->n_cells = 1;
        cellar_interval_count(&(cellar_reading){.number = side->number, .channel = r->channel},
                              cell_tail, &side->low, &side->high);
    }
    qsort(box->sides, box->n_sides, sizeof *box->sides, by_low);
    return CELLAR_OK;
}

cellar_status cellar_interval_sum(const cellar_reading *r, double tail, double *low, double *high,
                                  cellar_error *err)
{
    cellar_box box = {0};
    cellar_status status = CELLAR_OK;
    *low = *high = 0;
    if (r->n_parts == 0)
        return CELLAR_OK;
    CELLAR_TRY(box_init(&box, r, tail, err));
    for (size_t i = 0; i < box.n_sides; i++) {
        *low += (double) box.sides[i].n_cells * box.sides[i].low;
        *high += (double) box.sides[i].n_cells * box.sides[i].high;
    }
    if (cellar_channel_is_additive(&r->channel))
        CELLAR_TRY(cellar_box_clamped(&box, low, high, err));
    else
        CELLAR_TRY(cellar_box_kernel(&box, low, high, err));
    *high = fmax(*high, *low);
out:
    cellar_free(box.sides);
    return status;
}
