/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/threads.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <cellar/process.h>

#include "base/error.h"
#include "fail_every.h"

enum { MAX_LANES = 8, N_ITEMS = 10007 };

typedef struct work {
    int n_calls[MAX_LANES];      /* by lane: no lock needed, as the pool promises */
    unsigned char hits[N_ITEMS]; /* by item: each belongs to one piece */
    size_t grain;
    _Atomic int n_pieces;
    uint64_t fail_lanes; /* bit l: lane l fails */
    size_t fail_item;
} work;

static cellar_pool *pool_of(int n_lanes)
{
    cellar_pool *pool = NULL;
    cellar_error err = {""};
    if (cellar_pool_create(n_lanes, &pool, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return pool;
}

static cellar_status job_count(void *context, int lane, cellar_error *err)
{
    work *w = context;
    w->n_calls[lane]++;
    if (w->fail_lanes >> lane & 1)
        return cellar_fail(err, lane % 2 ? CELLAR_ERR_INPUT : CELLAR_ERR_RULE, "lane %d", lane);
    return CELLAR_OK;
}

static void test_run(void **state)
{
    (void) state;
    for (int n_lanes = 1; n_lanes <= MAX_LANES; n_lanes++) {
        cellar_pool *pool = pool_of(n_lanes);
        work w = {.fail_lanes = 0};
        assert_int_equal(cellar_pool_n_lanes(pool), n_lanes);
        for (int i = 0; i < 200; i++)
            assert_int_equal(cellar_pool_run(pool, job_count, &w, NULL), CELLAR_OK);
        for (int lane = 0; lane < MAX_LANES; lane++)
            assert_int_equal(w.n_calls[lane], lane < n_lanes ? 200 : 0);
        cellar_pool_free(pool);
    }
    cellar_pool_free(NULL);
}

static void test_lowest_lane_speaks(void **state)
{
    cellar_pool *pool = pool_of(MAX_LANES);
    (void) state;
    for (uint64_t lanes = 1; lanes < 1u << MAX_LANES; lanes++) {
        int lowest = __builtin_ctzll(lanes);
        char want[16];
        cellar_error err = {""};
        work w = {.fail_lanes = lanes};
        snprintf(want, sizeof want, "lane %d", lowest);
        assert_int_equal(cellar_pool_run(pool, job_count, &w, &err),
                         lowest % 2 ? CELLAR_ERR_INPUT : CELLAR_ERR_RULE);
        assert_string_equal(err.message, want);
    }
    cellar_pool_free(pool);
}

static cellar_status body_hit(void *context, size_t first, size_t last, int lane, cellar_error *err)
{
    work *w = context;
    if (first >= last || last > N_ITEMS || last - first > (w->grain ? w->grain : 1) || lane < 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "a wrong piece");
    atomic_fetch_add(&w->n_pieces, 1);
    for (size_t i = first; i < last; i++) {
        w->hits[i]++;
        if (w->fail_item == i + 1)
            return cellar_fail(err, CELLAR_ERR_INPUT, "item %zu", i);
    }
    return CELLAR_OK;
}

static void test_for(void **state)
{
    static const size_t sizes[] = {0, 1, 2, 99, 1000, N_ITEMS};
    static const size_t grains[] = {0, 1, 3, 64, N_ITEMS, SIZE_MAX / 2 + 1, SIZE_MAX};
    cellar_pool *pool = pool_of(4);
    (void) state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
            static work w;
            memset(&w, 0, sizeof w);
            w.grain = grains[g];
            assert_int_equal(cellar_pool_for(pool, sizes[s], grains[g], body_hit, &w, NULL),
                             CELLAR_OK);
            for (size_t i = 0; i < N_ITEMS; i++)
                assert_int_equal(w.hits[i], i < sizes[s]);
        }
    cellar_pool_free(pool);
}

static void test_for_stops(void **state)
{
    cellar_pool *pool = pool_of(1); /* one lane: what runs before the failure is certain */
    static work w;
    cellar_error err = {""};
    (void) state;
    w.grain = 10;
    w.fail_item = 25;
    assert_int_equal(cellar_pool_for(pool, 1000, 10, body_hit, &w, &err), CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "item 24");
    assert_int_equal(w.n_pieces, 3);
    cellar_pool_free(pool);
    pool = pool_of(4);
    assert_int_equal(cellar_pool_for(pool, 1000, 10, body_hit, &w, &err), CELLAR_ERR_INPUT);
    cellar_pool_free(pool);
}

static void test_default_lanes(void **state)
{
    cellar_pool *pool = pool_of(0);
    (void) state;
    assert_int_equal(cellar_pool_n_lanes(pool), cellar_process_n_processors());
    cellar_pool_free(pool);
}

/* The linker sends the library's pthread_create(3) through here (-Wl,--wrap=pthread_create). */
static int threads_left = INT_MAX;
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *argument)
{
    if (threads_left-- <= 0)
        return EAGAIN;
    return __real_pthread_create(thread, attributes, run, argument);
}

static void test_no_more_threads(void **state)
{
    (void) state;
    for (int n = 0; n < MAX_LANES - 1; n++) {
        cellar_pool *pool = NULL;
        cellar_error err = {""};
        threads_left = n;
        assert_int_equal(cellar_pool_create(MAX_LANES, &pool, &err), CELLAR_ERR_MEMORY);
        assert_null(pool);
        assert_string_equal(err.message, "cannot start 8 threads");
    }
    threads_left = INT_MAX;
}

static cellar_status pool_scenario(void *context, cellar_error *err)
{
    cellar_pool *pool = NULL;
    work w = {.fail_lanes = 0};
    cellar_status status = cellar_pool_create(3, &pool, err);
    (void) context;
    if (status == CELLAR_OK)
        status = cellar_pool_run(pool, job_count, &w, err);
    else
        assert_null(pool);
    cellar_pool_free(pool);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(pool_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run),           cmocka_unit_test(test_lowest_lane_speaks),
        cmocka_unit_test(test_for),           cmocka_unit_test(test_for_stops),
        cmocka_unit_test(test_default_lanes), cmocka_unit_test(test_no_more_threads),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
