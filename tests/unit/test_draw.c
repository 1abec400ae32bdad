/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two ways of drawing a release, each against the exact law of every cell.
 *
 * Sampled laws are compared by the DKW inequality, probabilities of two cells together by
 * Hoeffding's, each at 1e-9 and fewer than 2,000 of them: 2e-6 for the file. With 10,000 copies a
 * distribution function wrong by more than 2 x 0.033 escapes with chance 1e-9. Seeds are
 * fixed. */
#include <math.h>

#include "check.h"

#include "fail_every.h"
#include "release/draw/draw.h"
#include "small_table.h"

enum {
    N_COPIES = 10000 / CHECK_SHARE,
    MAX_CELLS = 64,
    REACH = 12,
    MAX_LANES = 3
}; /* numbers beyond REACH are pooled */

static double bound(void)
{
    return sqrt(log(2 / 1e-9) / (2.0 * N_COPIES));
}

/* What came out of the copies: for each index how often each number, 0 when not listed. */
typedef struct tally {
    uint64_t seen[MAX_CELLS][2 * REACH + 1];
    uint64_t listed[MAX_CELLS], both[MAX_CELLS][MAX_CELLS];
} tally;

static void tally_add(tally *t, const cellar_cells *cells, uint64_t n_indices)
{
    size_t next = 0;
    for (uint64_t index = 0; index < n_indices; index++) {
        int64_t value = 0;
        if (next < cells->n && cells->index[next] == index)
            value = (int64_t) cells->count[next++];
        else
            continue;
        assert_true(value != 0);
        value = value > REACH ? REACH : value < -REACH ? -REACH : value;
        t->seen[index][value + REACH]++;
    }
    assert_int_equal(next, cells->n); /* in canonical order, each once */
    for (size_t i = 0; i < cells->n; i++) {
        t->listed[cells->index[i]]++;
        for (size_t k = 0; k < i; k++)
            t->both[cells->index[i]][cells->index[k]]++;
    }
}

/* P(released number after listing <= value), 0 standing for not listed. */
static double exact_cdf(const cellar_mechanism *m, const cellar_listing *listing, int64_t count,
                        int64_t value)
{
    if (listing->negatives == CELLAR_NEGATIVES_KEEP)
        return cellar_mechanism_cdf(m, count, value);
    if (value < 0)
        return 0;
    return cellar_mechanism_cdf(m, count,
                                value < listing->threshold ? listing->threshold - 1 : value);
}

static void check_cell(const tally *t, const cellar_draw *draw, uint64_t index)
{
    int64_t count = (int64_t) cellar_table_at(draw->table, index).count;
    double sum = 0, worst = 0;
    if (!cellar_draw_has(draw, index)) {
        assert_int_equal(t->listed[index], 0);
        return;
    }
    for (int64_t value = -REACH; value < REACH; value++) {
        uint64_t n = value == 0 ? N_COPIES - t->listed[index] : t->seen[index][value + REACH];
        sum += (double) n / N_COPIES;
        worst = fmax(worst, fabs(sum - exact_cdf(draw->mechanism, &draw->listing, count, value)));
    }
    if (!(worst < bound()))
        fail_msg("cell %llu: the law is off by %g", (unsigned long long) index, worst);
}

/* Cells are independent: two are listed together as often as their probabilities say. */
static void check_pairs(const tally *t, const cellar_draw *draw, uint64_t n_indices)
{
    double listed[MAX_CELLS];
    for (uint64_t i = 0; i < n_indices; i++) {
        int64_t count = (int64_t) cellar_table_at(draw->table, i).count;
        listed[i] = !cellar_draw_has(draw, i)
                        ? 0
                        : 1 - (exact_cdf(draw->mechanism, &draw->listing, count, 0) -
                               exact_cdf(draw->mechanism, &draw->listing, count, -1));
        for (uint64_t k = 0; k < i; k++)
            assert_true(fabs((double) t->both[i][k] / N_COPIES - listed[i] * listed[k]) < bound());
    }
}

typedef cellar_status way(cellar_draw *draw, cellar_error *err);

static void check_way(way *run, int n_lanes, const cellar_table *table, const char *spec,
                      cellar_listing listing, uint64_t seed)
{
    static tally t;
    uint64_t n_indices = cellar_schema_n_indices(cellar_table_schema(table));
    cellar_mechanism *mechanism = NULL;
    cellar_zeros *zeros = NULL;
    cellar_rng *rngs[MAX_LANES] = {NULL};
    cellar_draw draw = {.table = table, .listing = listing, .rngs = rngs};
    cellar_error err = {""};

    t = (tally){0};
    assert_true(n_indices <= MAX_CELLS);
    if (cellar_mechanism_create(spec, &mechanism, &err) != CELLAR_OK ||
        cellar_zeros_create(mechanism, listing, &zeros, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cellar_pool_create(n_lanes, &draw.pool, NULL), CELLAR_OK);
    for (int lane = 0; lane < n_lanes; lane++)
        assert_int_equal(cellar_rng_create_seeded(seed, (uint64_t) lane, &rngs[lane], NULL),
                         CELLAR_OK);
    draw.mechanism = mechanism;
    draw.zeros = zeros;
    for (int copy = 0; copy < N_COPIES; copy++) {
        assert_int_equal(run(&draw, &err), CELLAR_OK);
        tally_add(&t, &draw.out.cells, n_indices);
        cellar_cells_clear(&draw.out.cells);
        draw.out = (cells_builder){0};
    }
    for (uint64_t index = 0; index < n_indices; index++)
        check_cell(&t, &draw, index);
    check_pairs(&t, &draw, n_indices);
    for (int lane = 0; lane < n_lanes; lane++)
        cellar_rng_free(rngs[lane]);
    cellar_pool_free(draw.pool);
    cellar_zeros_free(zeros);
    cellar_mechanism_free(mechanism);
}

static const uint64_t one_margin[] = {1};
static const small_table tables[] = {
    {.n_variables = 1,
     .sizes = {5},
     .n_cells = 2,
     .index = {1, 3},
     .count = {1, 6},
     .domain = CELLAR_DOMAIN_DECLARED},
    {.n_variables = 2,
     .sizes = {3, 4},
     .n_cells = 3,
     .index = {0, 5, 11},
     .count = {2, 1, 9},
     .domain = CELLAR_DOMAIN_DECLARED,
     .margins = {.all = 1},
     .rules = "x = c0 & y = c1\n"},
    {.n_variables = 2,
     .sizes = {3, 2},
     .n_cells = 3,
     .index = {1, 2, 5},
     .count = {3, 0, 1},
     .domain = CELLAR_DOMAIN_DECLARED,
     .margins = {.masks = one_margin, .n_masks = 1}},
    {.n_variables = 1,
     .sizes = {4},
     .n_cells = 2,
     .index = {0, 2},
     .count = {0, 4},
     .domain = CELLAR_DOMAIN_DECLARED,
     .with_statuses = 1,
     .status = {CELLAR_CELL_STRUCTURAL_ZERO, CELLAR_CELL_NORMAL}},
};

static void both_ways_have_the_exact_law(void **state)
{
    static const struct {
        const char *spec;
        cellar_listing listing;
    } cases[] = {
        {"discrete-laplace:epsilon=0.7", {CELLAR_NEGATIVES_KEEP, 1}},
        {"discrete-laplace:epsilon=0.7", {CELLAR_NEGATIVES_ZERO, 1}},
        {"laplace:epsilon=0.4", {CELLAR_NEGATIVES_ZERO, 3}},
        {"identity", {CELLAR_NEGATIVES_KEEP, 1}},
        {"discrete-gaussian:sigma=2", {CELLAR_NEGATIVES_KEEP, 1}},
        {"truncated-laplace:epsilon=0.5,m=3", {CELLAR_NEGATIVES_KEEP, 1}},
        {"poisson:alpha=0.3", {CELLAR_NEGATIVES_KEEP, 1}},
        {"negbin:alpha=0.5,sigma=0.5", {CELLAR_NEGATIVES_ZERO, 2}},
        {"max-entropy:variance=2,m=3", {CELLAR_NEGATIVES_KEEP, 1}},
    };
    uint64_t seed = 100;
    (void) state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            cellar_table *table = small_table_create(&tables[i]);
            check_way(cellar_draw_sparse, k == 1 ? MAX_LANES : 1, table, cases[k].spec,
                      cases[k].listing, seed++);
            if (k < 3)
                check_way(cellar_draw_dense, 1, table, cases[k].spec, cases[k].listing, seed++);
            cellar_table_free(table);
        }
}

/* Far thresholds, where a number listed is a rarity: its law given that it is listed. */
static void rare_zeros_have_the_conditional_law(void **state)
{
    enum { N = 200000 / CHECK_SHARE };
    static const struct {
        const char *spec;
        int64_t threshold;
    } cases[] = {{"gaussian:sigma=3", 25},
                 {"poisson:alpha=0.1", 9},
                 {"truncated-normal:epsilon=0.1,m=20", 19},
                 {"discrete-laplace:epsilon=1", 30},
                 {"laplace:epsilon=0.05", 400}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_listing listing = {CELLAR_NEGATIVES_ZERO, cases[i].threshold};
        cellar_mechanism *m = NULL;
        cellar_zeros *zeros = NULL;
        cellar_search search = {0};
        static uint64_t seen[1000];
        double sum = 0, all, worst = 0;

        for (size_t k = 0; k < 1000; k++)
            seen[k] = 0;
        assert_int_equal(cellar_mechanism_create(cases[i].spec, &m, NULL), CELLAR_OK);
        assert_int_equal(cellar_zeros_create(m, listing, &zeros, NULL), CELLAR_OK);
        assert_int_equal(cellar_rng_create_seeded(3, i, &search.rng, NULL), CELLAR_OK);
        all = cellar_mechanism_survival(m, 0, cases[i].threshold - 1);
        assert_true(fabs(cellar_zeros_probability(zeros) / all - 1) < 1e-12);
        for (int n = 0; n < N; n++) {
            int64_t released;
            assert_int_equal(cellar_zeros_draw(zeros, &search, &released, NULL), CELLAR_OK);
            assert_true(released >= cases[i].threshold);
            released -= cases[i].threshold;
            seen[released < 999 ? released : 999]++;
        }
        for (int64_t k = 0; k < 999; k++) {
            double exact = 1 - cellar_mechanism_survival(m, 0, cases[i].threshold + k) / all;
            sum += (double) seen[k] / N;
            worst = fmax(worst, fabs(sum - exact));
        }
        assert_true(worst < sqrt(log(2 / 1e-9) / (2.0 * N)));
        cellar_rng_free(search.rng);
        cellar_search_clear(&search);
        cellar_zeros_free(zeros);
        cellar_mechanism_free(m);
    }
}

/* A mechanism that never lists a zero leaves all of them alone, however many there are. */
static void zeros_that_stay_are_not_visited(void **state)
{
    const small_table huge = {.n_variables = 3,
                              .sizes = {60000, 60000, 60000},
                              .n_cells = 1,
                              .index = {77},
                              .count = {5},
                              .domain = CELLAR_DOMAIN_DECLARED};
    cellar_table *table = small_table_create(&huge);
    cellar_mechanism *m = NULL;
    cellar_zeros *zeros = NULL;
    cellar_rng *rng = NULL;
    cellar_draw draw = {.table = table, .listing = {CELLAR_NEGATIVES_KEEP, 1}, .rngs = &rng};
    (void) state;

    assert_int_equal(cellar_mechanism_create("identity", &m, NULL), CELLAR_OK);
    assert_int_equal(cellar_zeros_create(m, draw.listing, &zeros, NULL), CELLAR_OK);
    assert_int_equal(cellar_pool_create(1, &draw.pool, NULL), CELLAR_OK);
    assert_int_equal(cellar_rng_create_seeded(1, 1, &rng, NULL), CELLAR_OK);
    draw.mechanism = m;
    draw.zeros = zeros;
    assert_int_equal(cellar_draw_sparse(&draw, NULL), CELLAR_OK);
    assert_int_equal(draw.out.cells.n, 1);
    assert_int_equal(draw.out.cells.index[0], 77);
    assert_int_equal(draw.out.cells.count[0], 5);
    cellar_cells_clear(&draw.out.cells);
    cellar_rng_free(rng);
    cellar_pool_free(draw.pool);
    cellar_zeros_free(zeros);
    cellar_mechanism_free(m);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_have_the_exact_law),
        cmocka_unit_test(rare_zeros_have_the_conditional_law),
        cmocka_unit_test(zeros_that_stay_are_not_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
