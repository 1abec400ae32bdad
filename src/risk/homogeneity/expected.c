/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What both ways share, and which one is taken. */
#include "risk/homogeneity/expected.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/cell.h"
#include "risk/homogeneity/expected_work.h"

/* Few groups are multiplied out. Many go the fast way; if the mean is so small beside the numbers
 * met that it is not right to 1e-10, they go the slow way after all, at worst with all digits. */
enum { MANY_KINDS = 4096 };
typedef struct expected_way {
    cellar_status (*run)(cellar_expected_work *work, cellar_error *err);
    double floor;
    double least, least_part; /* means from there on, and above that part of the largest numbers
                               * met, are right to 1e-10 */
} expected_way;
static const expected_way ways[] = {{cellar_expected_circles, 0, 0, 1e-2},
                                    {cellar_expected_products, 1e-24, 1e-10, 0},
                                    {cellar_expected_products, 1e-306, 0, 0}};

void cellar_expected_homogeneous(const cellar_groups *g, double *out)
{
    for (size_t i = 0; i < g->n_kinds; i++) {
        const cellar_group_kind *kind = &g->kinds[i];
        double n = (double) kind->size, sum = 0;
        for (size_t k = 0; k < kind->n_positive; k++) {
            double rest = (double) (kind->size - g->counts[kind->first + k]);
            double share = (double) g->counts[kind->first + k] / n;
            sum += exp(n * (share > 0.5 ? log1p(-rest / n) : log(share)));
        }
        out[i] = fmin(sum, 1);
    }
}

/* ---- one kind of group ---------------------------------------------------------------------- */

int cellar_expected_is_small(const cellar_expected_work *w, size_t kind)
{
    const cellar_group_kind *k = &w->run->groups->kinds[kind];
    return k->n_positive > 1 && k->size <= w->degree;
}

const uint64_t *cellar_expected_counts(const cellar_expected_work *w, size_t kind)
{
    return w->run->groups->counts + w->run->groups->kinds[kind].first;
}

/* Values that never occur are absent, or the stray one. */
LANES_INLINE void add_body(const cellar_expected_work *w, size_t index,
                           const cellar_lanes at[PRODUCT_N_KINDS], cellar_expected_sums *sums)
{
    const cellar_group_kind *kind = &w->run->groups->kinds[index];
    double hom = w->run->homogeneous[index], weight = w->run->weights[index];
    double norm = w->norms[kind->size], zeros = (double) kind->n_zeros;
    double others = zeros + (double) kind->n_positive - 1;
    cellar_lanes absent = w->table->absent[kind->size], present = w->table->present[kind->size];
    cellar_lanes all = w->absent_powers[kind->n_zeros] * norm, stray = {0}, value, s1;
    const cellar_lanes *powers = w->absent_powers + (size_t) others;

    if (kind->n_zeros > 0)
        stray = zeros * norm * w->table->present[0] * w->absent_powers[kind->n_zeros - 1];
    s1 = hom * present * powers[0];
    value = s1 + at[PRODUCT_SHOWN] * all;
    w->values[index] = value;
    sums->at[SUM_1] += weight * s1;
    if (others > 0)
        sums->at[SUM_2] += weight * hom * absent * others * w->table->present[0] * powers[-1];
    sums->at[SUM_4] += weight * hom * absent * powers[0];
    sums->at[SUM_6] += weight * at[PRODUCT_EMPTY] * all;
    sums->at[SUM_7] += weight * (at[PRODUCT_STRAY] * all + at[PRODUCT_EMPTY] * stray);
    sums->at[SUM_8] += weight * at[PRODUCT_SHOWN] * all;
    sums->at[SUM_RIGHT] += weight * (s1 + at[PRODUCT_RIGHT] * all / (double) kind->size);
}

typedef void add_way(const cellar_expected_work *, size_t, const cellar_lanes *,
                     cellar_expected_sums *);

static void add_plain(const cellar_expected_work *w, size_t index, const cellar_lanes *at,
                      cellar_expected_sums *sums)
{
    add_body(w, index, at, sums);
}

#if defined(__x86_64__)
LANES_AVX2 static void add_avx2(const cellar_expected_work *w, size_t index, const cellar_lanes *at,
                                cellar_expected_sums *sums)
{
    add_body(w, index, at, sums);
}

LANES_AVX512 static void add_avx512(const cellar_expected_work *w, size_t index,
                                    const cellar_lanes *at, cellar_expected_sums *sums)
{
    add_body(w, index, at, sums);
}

static add_way *const add_ways[] = {add_plain, add_avx2, add_avx512};
#else
static add_way *const add_ways[] = {add_plain};
#endif

void cellar_expected_add(const cellar_expected_work *w, size_t index,
                         const cellar_lanes at[PRODUCT_N_KINDS], cellar_expected_sums *sums)
{
    add_ways[lanes_way()](w, index, at, sums);
}

/* A large group: one mechanism after the other. */
static cellar_status expected_large(const cellar_expected_work *w, size_t index,
                                    cellar_expected_sums *sums, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_groups *g = w->run->groups;
    const cellar_group_kind *kind = &g->kinds[index];
    double *weights = cellar_alloc(kind->n_positive, sizeof *weights), weight;
    cellar_group_part *parts = cellar_alloc(kind->n_positive, sizeof *parts);

    if (weights == NULL || parts == NULL) {
        status = cellar_fail_memory(err, "the risk of a group");
        goto out;
    }
    for (size_t k = 0; k < kind->n_positive; k++)
        weights[k] = (double) g->counts[kind->first + k];
    weight = w->run->weights[index];
    for (size_t lane = 0; lane < CELLAR_LANES; lane++) {
        cellar_group group = {.presence = w->run->presences[lane],
                              .size = kind->size,
                              .floor = w->floor > 0 ? w->floor : 1e-24};
        cellar_risk risk;
        if (lane >= w->run->n_lanes) {
            w->values[index][lane] = 0;
            continue;
        }
        cellar_group_set_parts(&group, parts, weights, kind->n_positive);
        group.n_never = kind->n_zeros;
        CELLAR_TRY(cellar_group_assess(&group, &risk, err));
        w->values[index][lane] = risk.value;
        sums->at[SUM_1][lane] += weight * risk.scenario[0];
        sums->at[SUM_2][lane] += weight * risk.scenario[1];
        sums->at[SUM_4][lane] += weight * risk.scenario[3];
        sums->at[SUM_6][lane] += weight * risk.scenario[5];
        sums->at[SUM_7][lane] += weight * risk.scenario[6];
        sums->at[SUM_8][lane] += weight * risk.scenario[7];
        sums->at[SUM_RIGHT][lane] += weight * risk.right;
    }
out:
    cellar_free(weights);
    cellar_free(parts);
    return status;
}

cellar_status cellar_expected_add_rest(const cellar_expected_work *w, size_t kind,
                                       cellar_expected_sums *sums, cellar_error *err)
{
    static const cellar_lanes nothing[PRODUCT_N_KINDS];
    if (w->run->groups->kinds[kind].size > w->degree)
        return expected_large(w, kind, sums, err);
    cellar_expected_add(w, kind, nothing, sums);
    return CELLAR_OK;
}

/* ---- means ---------------------------------------------------------------------------------- */

void cellar_expected_sum(cellar_expected_work *w, const cellar_expected_sums *chunks,
                         size_t n_chunks)
{
    for (size_t i = 0; i < n_chunks; i++)
        for (int k = 0; k < N_SUMS; k++)
            w->total.at[k] += chunks[i].at[k];
}

static void expected_means(const cellar_expected_work *w, cellar_risk *means)
{
    const cellar_lanes *total = w->total.at;
    double homogeneous = 0, weight = 0;

    for (size_t i = 0; i < w->run->groups->n_kinds; i++) {
        homogeneous += w->run->weights[i] * w->run->homogeneous[i];
        weight += w->run->weights[i];
    }
    for (size_t lane = 0; lane < w->run->n_lanes; lane++) {
        cellar_risk *mean = &means[lane];
        double *s = mean->scenario;
        s[0] = total[SUM_1][lane];
        s[1] = total[SUM_2][lane];
        s[3] = total[SUM_4][lane];
        s[5] = total[SUM_6][lane];
        s[6] = total[SUM_7][lane];
        s[7] = total[SUM_8][lane];
        mean->right = total[SUM_RIGHT][lane];
        cellar_risk_finish(mean, fmin(1, homogeneous / weight));
    }
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* From the mode outwards: what rounding piles up is less than 1e-13 where anything is left. */
static void poisson_row(size_t count, size_t degree, double *row)
{
    double mean = (double) count;
    row[count] = dpois(mean, mean, 0);
    for (size_t j = count; j < degree; j++)
        row[j + 1] = row[j] * mean / (double) (j + 1);
    for (size_t j = count; j > 0; j--)
        row[j - 1] = row[j] * (double) j / mean;
}

static cellar_status expected_tables(cellar_expected_work *w, cellar_error *err)
{
    const cellar_groups *g = w->run->groups;
    uint64_t n_most = g->n_values;
    size_t degree = 2;

    for (size_t i = 0; i < g->n_kinds; i++)
        if (g->kinds[i].size <= CELLAR_PRODUCT_MAX && g->kinds[i].size > degree)
            degree = (size_t) g->kinds[i].size;
    w->degree = degree;
    w->table = cellar_alloc_pages(sizeof *w->table);
    w->poisson = cellar_alloc(degree + 1, sizeof *w->poisson);
    w->absent_powers = cellar_alloc_pages((n_most + 1) * sizeof *w->absent_powers);
    if (w->table == NULL || w->poisson == NULL || w->absent_powers == NULL)
        return cellar_fail_memory(err, "the risk of groups");
    cellar_lane_table_init(w->table, w->run->presences, w->run->n_lanes);
    w->absent_powers[0] = (cellar_lanes){0} + 1;
    for (uint64_t i = 1; i <= n_most; i++)
        w->absent_powers[i] = w->absent_powers[i - 1] * w->table->absent[0];
    for (size_t count = 1; count <= degree; count++)
        poisson_row(count, degree, w->poisson[count]);
    for (size_t n = 1; n <= degree; n++)
        w->norms[n] = 1 / dpois((double) n, (double) n, 0);
    return CELLAR_OK;
}

static int means_are_right(const cellar_expected_work *w, const expected_way *way,
                           const cellar_risk *means)
{
    int yes = 1;
    for (size_t lane = 0; lane < w->run->n_lanes; lane++)
        yes &= means[lane].value >= way->least &&
               means[lane].value >= way->least_part * w->total.at[SUM_LARGEST][lane];
    return yes;
}

cellar_status cellar_expected_run(const cellar_expected *run, cellar_pool *pool,
                                  cellar_lanes *values, cellar_risk *means, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t way = run->groups->n_kinds >= MANY_KINDS ? 0 : 1;
    cellar_expected_work *w = cellar_alloc(1, sizeof *w);

    if (w == NULL)
        return cellar_fail_memory(err, "the risk of groups");
    w->run = run;
    w->pool = pool;
    w->values = values;
    CELLAR_TRY(expected_tables(w, err));
    for (int is_done = 0; !is_done; way++) {
        w->floor = ways[way].floor;
        w->total = (cellar_expected_sums){0};
        CELLAR_TRY(ways[way].run(w, err));
        expected_means(w, means);
        is_done = means_are_right(w, &ways[way], means);
    }
out:
    cellar_free(w->table);
    cellar_free(w->poisson);
    cellar_free(w->absent_powers);
    cellar_free(w);
    return status;
}
