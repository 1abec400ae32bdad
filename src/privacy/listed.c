/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/listed.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "privacy/listed_sort.h"

enum { SUMS_MAX = 1 << 13, PRODUCTS_MAX = 1 << 17, ATOMS_MAX = 1 << 10 };
static const double CLOSE = 1e-11; /* losses are taken for one, the largest */

/* True losses lie between loss - raised - error and loss + error; masses are right to the relative
 * `mass_error`, but for `moved`, which has smaller losses. */
struct cellar_listed {
    cellar_atom *items; /* by rising loss */
    size_t n;
    double error, raised, mass_error, moved;
    double infinite, infinite_true;
};

void cellar_listed_free(cellar_listed *list)
{
    if (list == NULL)
        return;
    cellar_free(list->items);
    cellar_free(list);
}

/* For n losses, and as many to put them in order. */
static cellar_listed *listed_room(size_t n)
{
    cellar_listed *list = cellar_alloc(1, sizeof *list);
    cellar_atom *items = cellar_alloc(n > 0 ? 2 * n : 1, sizeof *items);
    if (list != NULL && items != NULL) {
        list->items = items;
        return list;
    }
    cellar_free(items);
    cellar_free(list);
    return NULL;
}

/* ---- making --------------------------------------------------------------------------- */

/* Sorts, and puts together what is close or small. */
static void listed_merge(cellar_listed *list, double small)
{
    size_t kept = 0, most = 1, together = 0;
    double first = 0;
    cellar_atoms_sort(list->items, list->items + list->n, list->n);
    for (size_t i = 0; i < list->n; i++) {
        cellar_atom next = list->items[i];
        int is_small = kept > 0 && list->items[kept - 1].mass < small;
        if (kept > 0 && (is_small || next.loss - first <= CLOSE)) {
            if (next.loss - first > CLOSE) {
                list->moved += list->items[kept - 1].mass;
                first = next.loss;
            }
            next.mass += list->items[kept - 1].mass;
            list->items[kept - 1] = next;
            most = ++together > most ? together : most;
            continue;
        }
        list->items[kept++] = next;
        first = next.loss;
        together = 1;
    }
    list->n = kept;
    list->raised += CLOSE;
    list->mass_error += (double) most * 0x1p-52;
}

static cellar_listed *listed_of_atoms(const cellar_atoms *atoms, double small)
{
    cellar_listed *list = listed_room(atoms->n);
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < atoms->n; i++)
        list->items[list->n++] = atoms->items[i];
    list->error = atoms->loss_error;
    list->moved = atoms->moved;
    list->mass_error = 0x1p-44 + atoms->mass_error;
    list->infinite = atoms->infinite;
    list->infinite_true = atoms->infinite_true;
    listed_merge(list, small);
    return list;
}

/* 1 - (1 - p)(1 - q), rounded up or down by far more than it is off. */
static double either(double p, double q, double slack)
{
    return p + q - p * q + slack * (p + q);
}

/* All sums of two lists, each once where they are the same; *is_large when there are too many. NULL
 * then, and when memory ends. */
static cellar_listed *listed_add(const cellar_listed *a, const cellar_listed *b, double small,
                                 int *is_large)
{
    cellar_listed *sum = NULL;
    double widest = 0, least = 1;
    size_t products = a == b ? a->n * (a->n + 1) / 2 : a->n * b->n;
    *is_large = a->n > SUMS_MAX || b->n > SUMS_MAX || products > PRODUCTS_MAX;
    if (!*is_large)
        sum = listed_room(products);
    if (sum == NULL)
        return NULL;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = a == b ? i : 0; k < b->n; k++) {
            double loss = a->items[i].loss + b->items[k].loss;
            double mass = a->items[i].mass * b->items[k].mass;
            sum->items[sum->n++] = (cellar_atom){a == b && k > i ? 2 * mass : mass, loss};
            widest = fmax(widest, fabs(loss));
            least = fmin(least, mass);
        }
    sum->error = a->error + b->error + widest * 0x1p-52;
    sum->raised = a->raised + b->raised;
    sum->mass_error = (a->mass_error + b->mass_error) * (1 + 1e-6) + 0x1p-52;
    sum->moved = a->moved + b->moved;
    sum->infinite = fmin(1, either(a->infinite, b->infinite, 1e-13));
    if (least < 1e-290) /* what is lost where numbers end */
        sum->infinite += 1e-300;
    sum->infinite_true = either(a->infinite_true, b->infinite_true, -1e-13);
    listed_merge(sum, small);
    *is_large = sum->n > SUMS_MAX;
    return sum;
}

/* *list becomes the sum of itself and `other`. */
static cellar_status listed_append(cellar_listed **list, const cellar_listed *other, double small,
                                   int *is_large, cellar_error *err)
{
    cellar_listed *sum = listed_add(*list, other, small, is_large);
    if (sum == NULL)
        return *is_large ? CELLAR_OK : cellar_fail_memory(err, "a list of privacy losses");
    cellar_listed_free(*list);
    *list = sum;
    return CELLAR_OK;
}

/* 1 when doubling `power` until `times` copies are held would make too many sums. Two copies of n
 * losses that lie on no lattice have n (n + 1) / 2 sums. Sums of losses that lie in d dimensions
 * grow by up to 2^d while all of them are likely, and by about 2^(d/2) when only those near the
 * middle are. */
static int listed_will_be_large(const cellar_listed *power, size_t before, size_t n_list,
                                uint64_t times)
{
    double n = (double) power->n, dimensions, last, rest;
    uint64_t left = times;
    if (before == 0)
        return times > 1 && n * (n + 1) / 2 > SUMS_MAX;
    dimensions = fmax(1, ceil(log2(n / (double) before)));
    for (; left > 1; left >>= 1)
        n *= exp2(dimensions / 2);
    if (n > SUMS_MAX || dimensions > 1)
        return n > SUMS_MAX;
    /* Growth has settled: the last sums of two lists are foreseen, too. */
    last = exp2(floor(log2((double) times)));
    rest = n * sqrt((double) times / last - 1);
    return n * n / 4 > PRODUCTS_MAX || n * fmax((double) n_list, rest) > PRODUCTS_MAX;
}

/* Adds `times` copies of the atoms, by doubling. */
static cellar_status listed_append_many(cellar_listed **list, const cellar_atoms *atoms,
                                        uint64_t times, double small, int *is_large,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_listed *power = listed_of_atoms(atoms, small);
    size_t before = 0;
    if (power == NULL)
        return cellar_fail_memory(err, "a list of privacy losses");
    while (!*is_large && !listed_will_be_large(power, before, (*list)->n, times)) {
        if (times & 1)
            CELLAR_TRY(listed_append(list, power, small, is_large, err));
        times >>= 1;
        if (times == 0)
            break;
        before = power->n;
        if (!*is_large)
            CELLAR_TRY(listed_append(&power, power, small, is_large, err));
    }
    *is_large |= times > 0;
out:
    cellar_listed_free(power);
    return status;
}

cellar_status cellar_listed_create(const cellar_atoms *atoms, const uint64_t *times, size_t n,
                                   double small, cellar_listed **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_listed *list = listed_room(1);
    int is_large = 0;
    *out = NULL;
    if (list == NULL)
        return cellar_fail_memory(err, "a list of privacy losses");
    list->items[list->n++] = (cellar_atom){1, 0};
    for (size_t i = 0; i < n; i++) /* their sums are too many then, if there are any */
        is_large |=
            atoms[i].split > 0 || atoms[i].n > (n == 1 && times[0] == 1 ? SUMS_MAX : ATOMS_MAX);
    for (size_t i = 0; i < n && !is_large; i++)
        CELLAR_TRY(listed_append_many(&list, &atoms[i], times[i], small, &is_large, err));
    if (!is_large) {
        *out = list;
        list = NULL;
    }
out:
    cellar_listed_free(list);
    return status;
}

/* ---- questions -------------------------------------------------------------------------- */

/* The sum over listed losses above epsilon of mass times 1 - e^{epsilon - loss}. */
static double listed_sum(const cellar_listed *list, double epsilon)
{
    double sum = 0;
    for (size_t i = list->n; i-- > 0 && list->items[i].loss > epsilon;)
        sum += list->items[i].mass * -expm1(epsilon - list->items[i].loss);
    return sum;
}

/* Of listed_sum(): its terms, and the function expm1 of small arguments. */
static double listed_rounding(const cellar_listed *list)
{
    return ((double) list->n + 16) * 0x1p-52;
}

double cellar_listed_delta_upper(const cellar_listed *list, double epsilon)
{
    double sum = listed_sum(list, epsilon - list->error - fabs(epsilon) * 0x1p-50);
    return fmin(1, (sum * (1 + list->mass_error + listed_rounding(list)) + list->infinite) *
                       (1 + 0x1p-50));
}

double cellar_listed_delta_lower(const cellar_listed *list, double epsilon)
{
    double sum = listed_sum(list, epsilon + list->error + list->raised + fabs(epsilon) * 0x1p-50);
    sum = sum * (1 - list->mass_error - listed_rounding(list)) - list->moved * (1 + 1e-9);
    return fmax(sum, 0) + list->infinite_true * (1 - 0x1p-50);
}

/* What was given to a larger loss may be one below -epsilon. */
double cellar_listed_violation_upper(const cellar_listed *list, double epsilon)
{
    double sum = 0, slack = list->error + fabs(epsilon) * 0x1p-50;
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].loss > epsilon - slack ||
            list->items[i].loss < list->raised + slack - epsilon)
            sum += list->items[i].mass;
    return fmin(1, (sum * (1 + list->mass_error + listed_rounding(list)) + list->infinite +
                    list->moved * (1 + 1e-9)) *
                       (1 + 0x1p-50));
}

/* The epsilon at which a bound crosses delta: the last one above it, or the first one not. */
static double listed_cross(const cellar_listed *list,
                           double (*bound)(const cellar_listed *, double), double delta,
                           double high, int upper)
{
    double low = 0;
    for (int i = 0; i < 60 && high - low > 1e-10 * high; i++) {
        double middle = low + (high - low) / 2;
        if (bound(list, middle) > delta)
            low = middle;
        else
            high = middle;
    }
    return upper ? high : low;
}

/* No loss is above. */
static double listed_end(const cellar_listed *list)
{
    double last = list->n > 0 ? list->items[list->n - 1].loss : 0;
    return fmax(0, last + 2 * list->error + fabs(last) * 0x1p-48);
}

double cellar_listed_epsilon_upper(const cellar_listed *list, double delta)
{
    double end = listed_end(list);
    if (cellar_listed_delta_upper(list, 0) <= delta)
        return 0;
    if (cellar_listed_delta_upper(list, end) > delta)
        return INFINITY;
    return listed_cross(list, cellar_listed_delta_upper, delta, end, 1);
}

double cellar_listed_epsilon_lower(const cellar_listed *list, double delta)
{
    if (list->infinite_true * (1 - 0x1p-50) > delta)
        return INFINITY;
    if (cellar_listed_delta_lower(list, 0) <= delta)
        return 0;
    return listed_cross(list, cellar_listed_delta_lower, delta, listed_end(list), 0);
}
