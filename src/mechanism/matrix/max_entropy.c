/* SPDX-License-Identifier: GPL-3.0-or-later */
/* max-entropy: per true count a the distribution of largest entropy on max(0, a-m)..a+m
 * without 1..min, with mean a and the variance asked for. It is solved in floating point and then
 * fixed as decimals of 18 digits, the unit of decimal cell keys, so that the distribution is
 * exactly known. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/matrix/entropy_row.h"
#include "mechanism/matrix/matrix.h"
#include "mechanism/registry.h"

static const int64_t UNITS = INT64_C(1000000000000000000);

/* What is asked of every row, and room for one. */
typedef struct design {
    int64_t m, min;
    const cellar_parameter *stay, *mono; /* NULL, one value, or a value for each count from 1 */
    cellar_entropy_row row;
    int64_t *changes, *units;
    arb_ptr p;
} design;

static void design_clear(design *d)
{
    cellar_free(d->changes);
    cellar_free(d->units);
    if (d->p != NULL)
        _arb_vec_clear(d->p, 2 * d->m + 1);
}

static double parameter_or(const cellar_mechanism *m, const char *name, double otherwise)
{
    const cellar_parameter *p = cellar_parameter_find(&m->parameters, name);
    return p != NULL ? p->nearest : otherwise;
}

/* Counts 1..min cannot stay: the best they can do is 0 or min+1, of variance a (min+1-a). */
static cellar_status design_check(const design *d, cellar_error *err)
{
    int64_t lowest = (d->min + 1) * (d->min + 1) / 4;
    if (d->m < d->min)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "max-entropy: m must be >= min = %lld: a count of 1 becomes 0 or more "
                           "than min",
                           (long long) d->min);
    if (d->min > 0 && d->row.variance < (double) lowest) /* an integer below 2^53: exact */
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "max-entropy: variance must be >= %lld when counts 1..%lld are not "
                           "released, got %.15g",
                           (long long) lowest, (long long) d->min, d->row.variance);
    return CELLAR_OK;
}

/* Rows 0..m, or 0..m+min+1: the last is the first that nothing forbidden is near to. */
static size_t design_rows(const design *d)
{
    return (size_t) (d->m + 1 + (d->min > 0 ? d->min + 1 : 0));
}

/* A series has a value for each count that has a row of its own. */
static cellar_status design_check_series(const design *d, const cellar_parameter *p,
                                         cellar_error *err)
{
    size_t n = p != NULL ? cellar_parameter_n_values(p) : 1, n_counts = design_rows(d) - 1;
    if (n == 1 || n == n_counts)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "max-entropy: %s has %zu values: give one for all counts, or %zu, for the "
                       "counts 1 to %zu (the last serves larger counts too)",
                       p->name, n, n_counts, n_counts);
}

static cellar_status design_init(design *d, const cellar_mechanism *m, cellar_error *err)
{
    const cellar_parameter *form = cellar_parameter_find(&m->parameters, "form");
    cellar_status status = CELLAR_OK;

    d->m = (int64_t) parameter_or(m, "m", 0);
    d->min = (int64_t) parameter_or(m, "min", 0);
    d->row.variance = parameter_or(m, "variance", 0);
    d->stay = cellar_parameter_find(&m->parameters, "stay");
    d->mono = cellar_parameter_find(&m->parameters, "mono");
    d->row.at_most = form != NULL && cellar_parameter_is(form, 0, "at-most");
    d->changes = cellar_alloc((size_t) (2 * d->m + 1), sizeof *d->changes);
    d->units = cellar_alloc((size_t) (2 * d->m + 1), sizeof *d->units);
    d->p = _arb_vec_init(2 * d->m + 1);
    if (d->changes == NULL || d->units == NULL)
        return cellar_fail_memory(err, "a matrix");
    CELLAR_TRY(design_check_series(d, d->stay, err));
    CELLAR_TRY(design_check_series(d, d->mono, err));
    CELLAR_TRY(design_check(d, err));
out:
    return status;
}

static void design_support(design *d, int64_t count)
{
    d->row.n = 0;
    for (int64_t b = count > d->m ? count - d->m : 0; b <= count + d->m; b++)
        if (b < 1 || b > d->min)
            d->changes[d->row.n++] = b - count;
    d->row.changes = d->changes;
}

/* Two neighbouring changes that can take a few units more or less: the likeliest pair above zero
 * (where no monotony is asked), else one from zero. Answers the position of the first, or n. */
static size_t units_pair(const design *d)
{
    size_t best = d->row.n;
    int64_t most = 1000000000; /* what rounding moves is far less */
    for (size_t k = 0; k + 1 < d->row.n; k++) {
        int64_t less = d->units[k] < d->units[k + 1] ? d->units[k] : d->units[k + 1];
        if (d->changes[k] < 0 || d->changes[k + 1] != d->changes[k] + 1)
            continue;
        if (less > most && (d->changes[k] > 0 || best == d->row.n)) {
            best = k;
            most = d->changes[k] > 0 ? less : 1000000000;
        }
    }
    return best;
}

static int64_t units_round(const arb_t p)
{
    arf_t scaled;
    fmpz_t nearest;
    int64_t units;
    arf_init(scaled);
    fmpz_init(nearest);
    arf_mul_si(scaled, arb_midref(p), UNITS, ARF_PREC_EXACT, ARF_RND_DOWN);
    arf_get_fmpz(nearest, scaled, ARF_RND_NEAR);
    units = fmpz_get_si(nearest);
    arf_clear(scaled);
    fmpz_clear(nearest);
    return units;
}

/* Whole units of 1e-18 that sum to 1 and, where two neighbouring changes are possible, have mean
 * zero exactly. */
static void design_fix(design *d)
{
    int64_t mass = -UNITS, change;
    cellar_int128 mean = 0;
    size_t pair, largest = 0;
    for (size_t k = 0; k < d->row.n; k++) {
        d->units[k] = units_round(d->p + k);
        mass += d->units[k];
        mean += (cellar_int128) d->units[k] * d->changes[k];
        largest = d->units[k] > d->units[largest] ? k : largest;
    }
    pair = units_pair(d);
    if (pair == d->row.n) {
        d->units[largest] -= mass;
        return;
    }
    change = d->changes[pair] * mass - (int64_t) mean;
    d->units[pair + 1] += change;
    d->units[pair] -= change + mass;
}

static cellar_status design_row(design *d, int64_t count, cellar_matrix *matrix, cellar_error *err)
{
    cellar_status status;
    int64_t end = 0;
    fmpq_t fraction;

    design_support(d, count);
    d->row.stay = d->stay != NULL ? cellar_parameter_number(d->stay, (size_t) count - 1) : 0;
    d->row.monotone = d->mono != NULL && cellar_parameter_is(d->mono, (size_t) count - 1, "yes");
    status = cellar_entropy_row_solve(&d->row, d->p, err);
    if (status != CELLAR_OK)
        return status;
    design_fix(d);
    matrix->rows[count].asked = d->row.variance;
    fmpq_init(fraction);
    for (size_t k = 0; status == CELLAR_OK && k < d->row.n; k++) {
        if (d->units[k] == 0)
            continue;
        end += d->units[k];
        fmpq_set_si(fraction, end, (ulong) UNITS);
        status = cellar_matrix_add(matrix, (size_t) count, d->changes[k], fraction, err);
    }
    fmpq_clear(fraction);
    return status;
}

static cellar_status max_entropy_init(cellar_mechanism *m, cellar_error *err)
{
    design d = {0};
    cellar_matrix *matrix = NULL;
    cellar_status status = CELLAR_OK;
    size_t n_rows;
    fmpq_t one;

    fmpq_init(one);
    fmpq_set_si(one, 1, 1);
    CELLAR_TRY(design_init(&d, m, err));
    n_rows = design_rows(&d);
    CELLAR_TRY(cellar_matrix_create(n_rows, CELLAR_MATRIX_LARGE_LAST, 0, &matrix, err));
    CELLAR_TRY(cellar_matrix_add(matrix, 0, 0, one, err)); /* mean 0 leaves zero no choice */
    for (size_t count = 1; count < n_rows; count++)
        CELLAR_TRY(design_row(&d, (int64_t) count, matrix, err));
    CELLAR_TRY(cellar_matrix_finish(matrix, err));
    status = cellar_matrix_mechanism_init(m, matrix, err);
    matrix = NULL;
out:
    cellar_matrix_free(matrix);
    design_clear(&d);
    fmpq_clear(one);
    return status;
}

static const char *const forms[] = {"equality", "at-most", NULL};
static const char *const yes_no[] = {"yes", "no", NULL};

static const cellar_parameter_rule max_entropy_parameters[] = {
    {.name = "variance", .required = 1, .at_least = "0.000001", .at_most = "40000"},
    {.name = "m",
     .kind = CELLAR_PARAMETER_INTEGER,
     .required = 1,
     .at_least = "1",
     .at_most = "200"}, /* CELLAR_ENTROPY_REACH_MAX */
    {.name = "min", .kind = CELLAR_PARAMETER_INTEGER, .at_least = "0", .at_most = "200"},
    {.name = "stay", .at_least = "0", .at_most = "1", .by_count = 1},
    {.name = "form", .kind = CELLAR_PARAMETER_WORD, .words = forms},
    {.name = "mono", .kind = CELLAR_PARAMETER_WORD, .words = yes_no, .by_count = 1},
    {0},
};

const cellar_mechanism_ops cellar_max_entropy_ops = {
    .name = "max-entropy",
    .revision = 1,
    .summary = "largest entropy for a given variance",
    .parameters = max_entropy_parameters,
    .init = max_entropy_init,
    CELLAR_MATRIX_SLOTS,
};
