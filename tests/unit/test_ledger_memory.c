/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ledger whose memory ends, ours or SQLite's, anywhere on its way. */
#include "fail_every.h"

#include <sqlite3.h>

#include "ledger_place.h"

/* Everything that can be done with a ledger, from nothing. */
static cellar_status whole_life(void *context, cellar_error *error)
{
    scratch *place = context;
    cellar_key *key = NULL;
    cellar_ledger *ledger = NULL;
    cellar_ledger_dataset dataset = dataset_named("census");
    cellar_charge charge = charge_for("r", "0.1", NULL);
    cellar_spend_result result;
    cellar_spend_options options = {.replace = 1};
    cellar_against against;
    draw d = {0, 0, 0};
    char path[400], output[400], witness[400];
    cellar_status status = CELLAR_OK;

    snprintf(path, sizeof path, "%s", scratch_path(place, "alloc"));
    snprintf(output, sizeof output, "%s", scratch_path(place, "alloc-out"));
    snprintf(witness, sizeof witness, "%s", scratch_path(place, "alloc-witness"));
    unlink(path);
    unlink(witness);
    options.path = output;
    CELLAR_TRY(cellar_key_read(scratch_path(place, "key"), &key, error));
    CELLAR_TRY(cellar_ledger_create_with(path, key, &dataset, witness, error));
    unlink(scratch_path(place, "alloc-other"));
    CELLAR_TRY(cellar_ledger_adopt(path, key, scratch_path(place, "alloc-other"), error));
    CELLAR_TRY(cellar_ledger_open(path, key, &ledger, error));
    CELLAR_TRY(cellar_ledger_add_edition(ledger, "census", "2", error));
    CELLAR_TRY(cellar_ledger_add_analyst(ledger, "census", "ana", dataset.cap, error));
    charge.analyst = "ana";
    CELLAR_TRY(
        cellar_ledger_enter(ledger, "census", "2", CELLAR_UNCHARGED_INVARIANT, "the total", error));
    CELLAR_TRY(cellar_ledger_spend(ledger, &charge, &options, draw_output, &d, &result, error));
    CELLAR_TRY(cellar_ledger_verify(ledger, error));
    CELLAR_TRY(cellar_ledger_verify_against(ledger, output, &against, error));
    if (cellar_ledger_statement(ledger, "census") == NULL)
        CELLAR_TRY(cellar_fail_memory(error, "the statement"));
out:
    cellar_ledger_close(ledger);
    cellar_key_free(key);
    return status;
}

static void test_memory_may_end(void **state)
{
    scratch *place = *state;
    cellar_key_free(the_key(place));
    check_fail_every(whole_life, place);
}

/* ---- SQLite's own memory -------------------------------------------------------------- */

/* SQLite keeps its allocator for the whole process, and so does this. */
static struct {
    sqlite3_mem_methods real;
    int64_t n_left; /* allocations until one fails; negative: none does */
    int64_t n_seen;
} starved = {.n_left = -1};

static int starved_now(void)
{
    starved.n_seen++;
    return starved.n_left >= 0 && starved.n_left-- == 0;
}

static void *starved_malloc(int size)
{
    return starved_now() ? NULL : starved.real.xMalloc(size);
}

static void *starved_realloc(void *old, int size)
{
    return starved_now() ? NULL : starved.real.xRealloc(old, size);
}

static int starve_install(void **state)
{
    sqlite3_mem_methods methods;
    (void) state;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &starved.real) != SQLITE_OK)
        return 1;
    methods = starved.real;
    methods.xMalloc = starved_malloc;
    methods.xRealloc = starved_realloc;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) != SQLITE_OK;
}

/* SQLite lives through some failures; through the others the answer is that memory ended. What is
 * on disk is whole either way, and nobody was charged twice. */
static void starved_check(scratch *place, int64_t n)
{
    cellar_key *key = the_key(place);
    cellar_ledger *ledger;
    cellar_status status;
    starved.n_left = n;
    status = whole_life(place, &err);
    starved.n_left = -1;
    if (status != CELLAR_OK && status != CELLAR_ERR_MEMORY)
        fail_msg("allocation %lld of SQLite failed, and the answer was %s: '%s'", (long long) n + 1,
                 cellar_status_name(status), err.message);
    if (access(scratch_path(place, "alloc"), F_OK) == 0) {
        CHECK_OK(cellar_ledger_open(scratch_path(place, "alloc"), key, &ledger, &err));
        CHECK_OK(cellar_ledger_verify(ledger, &err));
        cellar_ledger_close(ledger);
    }
    cellar_key_free(key);
}

static void test_memory_of_sqlite_may_end(void **state)
{
    enum { RUNS = 150 };
    scratch *place = *state;
    int64_t n_allocations;
    cellar_key_free(the_key(place));
    CHECK_OK(whole_life(place, &err));
    starved.n_seen = 0;
    CHECK_OK(whole_life(place, &err));
    n_allocations = starved.n_seen;
    assert_true(n_allocations > RUNS);
    for (int64_t i = 0; i < RUNS; i++) /* evenly spread */
        starved_check(place, i * n_allocations / RUNS);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_memory_may_end),
        TEST(test_memory_of_sqlite_may_end),
    };
    return cmocka_run_group_tests(tests, starve_install, NULL);
}
