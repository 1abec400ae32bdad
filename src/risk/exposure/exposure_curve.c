/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/exposure/exposure_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/text.h"
#include "math/rational.h"
#include "table/table.h"

enum { SHARE_PLACES = 18 };
#define SHARE_TOTAL UINT64_C(1000000000000000000)

/* ---- counts to steps -------------------------------------------------------- */

/* Counts below this are tallied, the few above are sorted: the work is linear in the cells. */
enum { SMALL_COUNTS = 1 << 16 };

typedef struct curve_tally {
    uint64_t *small; /* how many cells have each small count */
    uint64_t *large; /* the other counts */
    size_t n_large, large_capacity;
} curve_tally;

static int tally_add(curve_tally *tally, uint64_t count)
{
    if (count < SMALL_COUNTS) {
        tally->small[count]++;
        return 1;
    }
    if (!cellar_grow(&tally->large, &tally->large_capacity, tally->n_large + 1,
                     sizeof *tally->large))
        return 0;
    tally->large[tally->n_large++] = count;
    return 1;
}

static size_t tally_n_distinct(const curve_tally *tally)
{
    size_t n = 0;
    for (size_t c = 1; c < SMALL_COUNTS; c++)
        n += tally->small[c] > 0;
    for (size_t i = 0; i < tally->n_large; i++)
        n += i == 0 || tally->large[i] != tally->large[i - 1];
    return n;
}

/* Adds cells of a count no smaller than those before; 0 when there are too many people. */
static int curve_append(cellar_exposure_curve *curve, uint64_t count, uint64_t n_cells)
{
    uint64_t people;
    if (curve->n_steps == 0 || curve->steps[curve->n_steps - 1].count != count)
        curve->steps[curve->n_steps++] =
            (cellar_exposure_step){.count = count, .below = curve->n_people};
    curve->steps[curve->n_steps - 1].n_cells += n_cells;
    curve->n_cells += n_cells;
    return !__builtin_mul_overflow(count, n_cells, &people) &&
           !__builtin_add_overflow(curve->n_people, people, &curve->n_people);
}

static cellar_status curve_fill(cellar_exposure_curve *curve, curve_tally *tally, cellar_error *err)
{
    int ok = 1;
    if (tally->n_large > 0)
        qsort(tally->large, tally->n_large, sizeof *tally->large, cellar_order_u64);
    curve->steps = cellar_alloc(tally_n_distinct(tally), sizeof *curve->steps);
    if (curve->steps == NULL)
        return cellar_fail_memory(err, "an exposure curve");
    for (size_t c = 1; ok && c < SMALL_COUNTS; c++)
        if (tally->small[c] > 0)
            ok = curve_append(curve, c, tally->small[c]);
    for (size_t i = 0; ok && i < tally->n_large; i++)
        ok = curve_append(curve, tally->large[i], 1);
    return ok ? CELLAR_OK : cellar_fail(err, CELLAR_ERR_OVERFLOW, "there are 2^64 people or more");
}

/* One count after the other: of an array or of a table. */
typedef struct curve_source {
    const uint64_t *counts;
    const cellar_table *table;
    size_t n;
} curve_source;

static uint64_t source_count(const curve_source *source, size_t i)
{
    return source->counts != NULL ? source->counts[i] : cellar_table_cell(source->table, i).count;
}

static cellar_status curve_make(const curve_source *source, double n_possible, uint64_t total,
                                cellar_exposure_curve **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_exposure_curve *curve = cellar_alloc(1, sizeof *curve);
    curve_tally tally = {.small = cellar_alloc(SMALL_COUNTS, sizeof *tally.small)};
    int ok = curve != NULL && tally.small != NULL;

    *out = NULL;
    for (size_t i = 0; ok && i < source->n; i++)
        ok = tally_add(&tally, source_count(source, i));
    if (!ok) {
        status = cellar_fail_memory(err, "an exposure curve");
        goto out;
    }
    CELLAR_TRY(curve_fill(curve, &tally, err));
    if (curve->n_people == 0) {
        status = cellar_fail(err, CELLAR_ERR_INPUT, "exposure needs at least one person");
        goto out;
    }
    curve->total = total > 0 ? total : curve->n_people;
    curve->n_possible = fmax(n_possible, (double) curve->n_cells);
    *out = curve;
    curve = NULL;
out:
    cellar_exposure_curve_free(curve);
    cellar_free(tally.small);
    cellar_free(tally.large);
    return status;
}

/* ---- life ------------------------------------------------------------------- */

cellar_status cellar_exposure_curve_from_counts(const uint64_t *counts, size_t n,
                                                uint64_t n_possible, cellar_exposure_curve **out,
                                                cellar_error *err)
{
    return curve_make(&(curve_source){.counts = counts, .n = n},
                      n_possible > 0 ? (double) n_possible : (double) n, 0, out, err);
}

/* 1 when the cells of the table are those of the curve: nothing to sum, nothing to leave out. */
static int curve_is_whole(const cellar_table *table, size_t n)
{
    const cellar_schema *schema = cellar_table_schema(table);
    int whole = n == cellar_schema_n_variables(schema);
    for (size_t v = 0; whole && v < n; v++)
        whole = cellar_schema_n_categories(schema, v) == cellar_schema_n_leaves(schema, v);
    return whole;
}

cellar_status cellar_exposure_curve_create(const cellar_table *table, const size_t *variables,
                                           size_t n, cellar_exposure_curve **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_table *margin = NULL;
    double n_possible = 1;

    *out = NULL;
    if (n == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "exposure needs at least one column");
    CELLAR_TRY(cellar_table_check_variables(table, variables, n, err));
    for (size_t v = 0; v < n; v++)
        n_possible *= (double) cellar_schema_n_leaves(cellar_table_schema(table), variables[v]);
    if (!curve_is_whole(table, n)) {
        CELLAR_TRY(cellar_table_create_margin(table, variables, n, &margin, err));
        table = margin;
    }
    CELLAR_TRY(curve_make(&(curve_source){.table = table, .n = cellar_table_n_cells(table)},
                          n_possible, 0, out, err));
out:
    cellar_table_free(margin);
    return status;
}

/* A share in units of 10^-18. */
static cellar_status curve_parse_share(const char *text, uint64_t *share, cellar_error *err)
{
    cellar_int128 value;
    int exact;
    if (!cellar_parse_decimal(text, strlen(text), SHARE_PLACES, &value, &exact) || value < 0 ||
        value > (cellar_int128) SHARE_TOTAL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.40s' is not a share from 0 to 1", text);
    if (!exact)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "share %.60s has more than %d decimal places",
                           text, SHARE_PLACES);
    *share = (uint64_t) value;
    return CELLAR_OK;
}

cellar_status cellar_exposure_curve_from_shares(const char *const *shares, size_t n,
                                                cellar_exposure_curve **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t *counts = cellar_alloc(n, sizeof *counts);
    cellar_uint128 sum = 0;
    const uint64_t slack = SHARE_TOTAL / 1000000;

    *out = NULL;
    if (counts == NULL)
        return cellar_fail_memory(err, "shares");
    for (size_t i = 0; i < n; i++) {
        CELLAR_TRY(curve_parse_share(shares[i], &counts[i], err));
        sum += counts[i];
    }
    if (sum < SHARE_TOTAL - slack || sum > SHARE_TOTAL + slack) {
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                             "the shares must add up to 1, give or take 1e-6, not to %.9g",
                             (double) sum / (double) SHARE_TOTAL);
        goto out;
    }
    CELLAR_TRY(
        curve_make(&(curve_source){.counts = counts, .n = n}, (double) n, SHARE_TOTAL, out, err));
out:
    cellar_free(counts);
    return status;
}

cellar_status cellar_exposure_curve_create_tight(const char *threshold, uint64_t n_cells,
                                                 cellar_exposure_curve **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_exposure_curve *curve = NULL;
    uint64_t t, together, rest = 0;

    *out = NULL;
    CELLAR_TRY(curve_parse_share(threshold, &t, err));
    if (!__builtin_mul_overflow(t, n_cells, &together) && together <= SHARE_TOTAL)
        rest = SHARE_TOTAL - together;
    if (n_cells == 0 || t == 0 || rest <= t) {
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                             "%llu cells of share %.40s must leave a larger share for one more",
                             (unsigned long long) n_cells, threshold);
        goto out;
    }
    curve = cellar_alloc(1, sizeof *curve);
    if (curve != NULL)
        curve->steps = cellar_alloc(2, sizeof *curve->steps);
    if (curve == NULL || curve->steps == NULL) {
        status = cellar_fail_memory(err, "an exposure curve");
        goto out;
    }
    curve_append(curve, t, n_cells);
    curve_append(curve, rest, 1);
    curve->total = SHARE_TOTAL;
    curve->n_possible = (double) curve->n_cells;
    *out = curve;
    curve = NULL;
out:
    cellar_exposure_curve_free(curve);
    return status;
}

void cellar_exposure_curve_free(cellar_exposure_curve *curve)
{
    if (curve == NULL)
        return;
    cellar_free(curve->steps);
    cellar_free(curve);
}

/* ---- queries ---------------------------------------------------------------- */

size_t cellar_exposure_n_steps(const cellar_exposure_curve *curve)
{
    return curve->n_steps;
}

cellar_exposure_step cellar_exposure_step_at(const cellar_exposure_curve *curve, size_t step)
{
    return curve->steps[step];
}

uint64_t cellar_exposure_total(const cellar_exposure_curve *curve)
{
    return curve->total;
}

uint64_t cellar_exposure_n_cells(const cellar_exposure_curve *curve)
{
    return curve->n_cells;
}

double cellar_exposure_n_possible(const cellar_exposure_curve *curve)
{
    return curve->n_possible;
}

double cellar_exposure_n_empty(const cellar_exposure_curve *curve)
{
    return curve->n_possible - (double) curve->n_cells;
}

/* The first step whose count is not below the cutoff, n_steps when there is none. */
static size_t curve_find_step(const cellar_exposure_curve *curve, uint64_t cutoff)
{
    size_t low = 0, high = curve->n_steps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->steps[middle].count < cutoff)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t cellar_exposure_below(const cellar_exposure_curve *curve, uint64_t cutoff)
{
    size_t step = curve_find_step(curve, cutoff);
    return step < curve->n_steps ? curve->steps[step].below : curve->n_people;
}

double cellar_exposure_value(const cellar_exposure_curve *curve, uint64_t cutoff)
{
    return (double) cellar_exposure_below(curve, cutoff) / (double) curve->total;
}

/* p < t compares count/total with a decimal: in whole numbers, count < ceil(t total). */
cellar_status cellar_exposure_cutoff(const cellar_exposure_curve *curve, const char *threshold,
                                     uint64_t *cutoff, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t t;
    fmpz_t ceiling;

    fmpq_init(t);
    fmpz_init(ceiling);
    if (!cellar_rational_parse(threshold, strlen(threshold), t) || fmpq_sgn(t) < 0 ||
        fmpz_cmp(fmpq_numref(t), fmpq_denref(t)) > 0) {
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.60s' is not a threshold from 0 to 1",
                             threshold);
    } else {
        fmpz_set_ui(ceiling, curve->total);
        fmpz_mul(ceiling, ceiling, fmpq_numref(t));
        fmpz_cdiv_q(ceiling, ceiling, fmpq_denref(t));
        *cutoff = fmpz_get_ui(ceiling);
    }
    fmpz_clear(ceiling);
    fmpq_clear(t);
    return status;
}

/* ---- entropy ---------------------------------------------------------------- */

double cellar_exposure_entropy(const cellar_exposure_curve *curve)
{
    double sum = 0, lost = 0; /* Kahan: millions of steps leave no trace */
    for (size_t i = 0; i < curve->n_steps; i++) {
        double p = curve_share(curve, i);
        double term = -p * log(p) * (double) curve->steps[i].n_cells - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

/* Q is below_i for thresholds from share i-1 to share i, and everybody from the last share to 1. */
double cellar_exposure_integral(const cellar_exposure_curve *curve)
{
    double sum = 0, lost = 0, from = 0;
    for (size_t i = 0; i <= curve->n_steps; i++) {
        double to = i < curve->n_steps ? curve_share(curve, i) : 1;
        uint64_t below = i < curve->n_steps ? curve->steps[i].below : curve->n_people;
        double q = (double) below / (double) curve->total;
        double term = (i > 0 ? q * log(to / from) : 0) - lost, next = sum + term;
        lost = (next - sum) - term;
        sum = next;
        from = to;
    }
    return sum;
}

/* Markov's inequality on -ln p (Proposition 9). */
double cellar_exposure_entropy_bound(double entropy, double threshold)
{
    if (!(threshold > 0))
        return 0;
    return threshold >= 1 ? 1 : fmin(1, -entropy / log(threshold));
}
