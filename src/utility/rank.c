/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility/rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

/* ---- the n largest of many -------------------------------------------------------------- */

/* Puts `value` at the root of a heap whose least element is the root, in place of that. */
static void heap_sink(int64_t *heap, size_t n, int64_t value)
{
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= value)
            break;
        heap[i] = heap[child];
    }
    heap[i] = value;
}

/* The n largest of the values and of n_zeros zeros; a place that is left holds INT64_MIN. */
static void heap_fill(int64_t *heap, size_t n, const utility_cells *cells, uint64_t n_zeros)
{
    for (size_t i = 0; i < n; i++)
        heap[i] = INT64_MIN;
    for (uint64_t i = 0; i < n_zeros && i < n; i++)
        if (heap[0] < 0)
            heap_sink(heap, n, 0);
    for (size_t i = 0; i < cells->n; i++)
        if (cells->value[i] > heap[0])
            heap_sink(heap, n, cells->value[i]);
}

static size_t heap_above(const int64_t *heap, size_t n, int64_t least)
{
    size_t above = 0;
    for (size_t i = 0; i < n; i++)
        above += heap[i] > least;
    return above;
}

/* ---- the true table ------------------------------------------------------------------------ */

cellar_status cellar_utility_top_init(utility_top *top, const utility_frame *frame, size_t n,
                                      cellar_error *err)
{
    const utility_cells *original = &frame->original;
    utility_cells *chosen = &top->chosen;
    size_t places;

    *top = (utility_top){.n = n < original->n ? n : original->n};
    if (top->n == 0)
        return CELLAR_OK;
    chosen->index = cellar_alloc(top->n, sizeof *chosen->index);
    chosen->value = cellar_alloc(top->n, sizeof *chosen->value);
    if (chosen->index == NULL || chosen->value == NULL)
        return cellar_fail_memory(err, "the largest cells");
    heap_fill(chosen->value, top->n, original, 0);
    top->least = chosen->value[0];
    top->n_larger = heap_above(chosen->value, top->n, top->least);
    places = top->n - top->n_larger;
    for (size_t i = 0; i < original->n; i++) {
        int64_t value = original->value[i];
        top->n_equal += value == top->least;
        if (value > top->least || (value == top->least && places > 0)) {
            places -= value == top->least;
            chosen->index[chosen->n] = original->index[i];
            chosen->value[chosen->n++] = value;
        }
    }
    return CELLAR_OK;
}

void cellar_utility_top_clear(utility_top *top)
{
    cellar_utility_cells_clear(&top->chosen);
}

/* ---- copies --------------------------------------------------------------------------------- */

double cellar_utility_top_overlap(const utility_top *top, const utility_frame *frame,
                                  const utility_cells *released, int64_t *heap)
{
    double share_a, share_b, n_equal = 0, overlap = 0;
    int64_t least;
    utility_walk walk = {0};

    if (top->n == 0)
        return NAN;
    heap_fill(heap, top->n, released, frame->n_cells - released->n);
    least = heap[0];
    for (size_t i = 0; i < released->n; i++)
        n_equal += released->value[i] == least;
    if (least == 0)
        n_equal += (double) (frame->n_cells - released->n);
    share_b = (double) (top->n - heap_above(heap, top->n, least)) / n_equal;
    share_a = (double) (top->n - top->n_larger) / (double) top->n_equal;
    while (utility_walk_next(&walk, &frame->original, released)) {
        double a = walk.count > top->least ? 1 : share_a;
        double b = walk.released > least ? 1 : share_b;
        if (walk.count >= top->least && walk.released >= least)
            overlap += a * b;
    }
    return overlap / (double) top->n;
}

static int64_t cells_find(const utility_cells *cells, uint64_t index)
{
    size_t low = 0, high = cells->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cells->index[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < cells->n && cells->index[low] == index ? cells->value[low] : 0;
}

static int sign(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

double cellar_utility_top_tau(const utility_top *top, const utility_cells *released, int64_t *heap)
{
    const int64_t *a = top->chosen.value;
    double concordant = 0, differ_a = 0, differ_b = 0;
    for (size_t i = 0; i < top->n; i++)
        heap[i] = cells_find(released, top->chosen.index[i]);
    for (size_t i = 0; i < top->n; i++)
        for (size_t j = 0; j < i; j++) {
            int x = sign(a[i], a[j]), y = sign(heap[i], heap[j]);
            concordant += x * y;
            differ_a += x != 0;
            differ_b += y != 0;
        }
    return differ_a > 0 && differ_b > 0 ? concordant / sqrt(differ_a * differ_b) : NAN;
}
