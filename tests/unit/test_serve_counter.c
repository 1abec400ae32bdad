/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A vault whose records are a store: questions that wait for each other are counted in one pass,
 * and each gets the table that the file gives. */
#include "store_sample.h"
#include "vault_place.h"

#include <sched.h>

#include "plan/work.h"

enum { N_VARIABLES = 5, N_QUESTIONS = 20, N_TOGETHER = 16 };

/* Tables of one to five variables, at both levels of the region. */
static serve_table table_at(size_t i)
{
    const unsigned which = 1 + 3 * (unsigned) i % 47;
    serve_table table = {{(unsigned char) (which % 3)}};
    for (unsigned v = 1; v < N_VARIABLES; v++)
        table.levels[v] = (unsigned char) (which / 3 >> (v - 1) & 1);
    return table;
}

static void build_store(scratch *place, const vault_set *set)
{
    const size_t all[] = {0, 1, 2, 3, 4};
    cellar_variable_spec variables[N_VARIABLES];
    cellar_tabulate_spec spec =
        cellar_plan_tabulate_spec(&set->text.records, all, N_VARIABLES, NULL, variables);
    spec.record_key_column = "rkey";
    store_build(place, "people.store", &spec, "region");
}

/* The same site, with the store in place of the file. */
static void use_store(scratch *place)
{
    char text[8192];
    size_t n = 0;
    for (const char *from = vault_config, *at; *from != '\0'; from = at) {
        at = strstr(from, "people.csv");
        at = at != NULL ? at + strlen("people.csv") : from + strlen(from);
        n += (size_t) snprintf(text + n, sizeof text - n, "%.*s", (int) (at - from), from);
        if (*at != '\0')
            memcpy(text + n - 4, ".store", 7), n += 2;
    }
    scratch_write(place, "site.yaml", text);
}

typedef struct asking {
    vault_set *set;
    serve_table table;
    const serve_record_keys *keys;
    cellar_table *counts;
    cellar_status status;
} asking;

static void *ask(void *context)
{
    asking *a = context;
    cellar_error why;
    a->status = serve_records_count(&a->set->text.records, &a->set->counter, &a->set->axes,
                                    &a->table, a->keys, &a->counts, &why);
    return NULL;
}

static size_t n_waiting(serve_counter *counter)
{
    size_t n = 0;
    pthread_mutex_lock(&counter->lock);
    for (const counter_question *q = counter->waiting; q != NULL; q = q->next)
        n++;
    pthread_mutex_unlock(&counter->lock);
    return n;
}

/* Lets go of everybody at once, as if a pass had just ended. */
static void set_counting(serve_counter *counter, int is_counting)
{
    pthread_mutex_lock(&counter->lock);
    counter->is_counting = is_counting;
    pthread_cond_broadcast(&counter->answered);
    pthread_mutex_unlock(&counter->lock);
}

static void test_one_pass(void **state)
{
    cellar_vault *of_file = vault_open_here(*state), *of_store;
    vault_set *plain = &of_file->sets[1], *set;
    pthread_t threads[N_QUESTIONS];
    asking all[N_QUESTIONS];
    build_store(*state, plain);
    use_store(*state);
    of_store = vault_open_here(*state);
    set = &of_store->sets[1];
    assert_non_null(set->counter.store);
    assert_null(plain->counter.store);

    set_counting(&set->counter, 1);
    for (size_t i = 0; i < N_QUESTIONS; i++) {
        all[i] = (asking){.set = set, .table = table_at(i), .keys = i % 3 == 0 ? NULL : &set->keys};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &all[i]), 0);
    }
    while (n_waiting(&set->counter) < N_QUESTIONS)
        sched_yield();
    set_counting(&set->counter, 0);
    for (size_t i = 0; i < N_QUESTIONS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(set->counter.n_passes, (N_QUESTIONS + N_TOGETHER - 1) / N_TOGETHER);

    for (size_t i = 0; i < N_QUESTIONS; i++) {
        asking one = {.set = plain, .table = all[i].table, .keys = all[i].keys};
        ask(&one);
        assert_int_equal(one.status, CELLAR_OK);
        assert_int_equal(all[i].status, CELLAR_OK);
        check_same_table(one.counts, all[i].counts);
        cellar_table_free(one.counts);
        cellar_table_free(all[i].counts);
    }
    cellar_vault_close(of_store);
    cellar_vault_close(of_file);
}

/* One question that fails says why, and the others are answered. */
static void test_failure(void **state)
{
    static const serve_record_keys none = {.column = "nothing"};
    cellar_vault *vault = vault_open_here(*state);
    asking wrong, right;
    build_store(*state, &vault->sets[1]);
    cellar_vault_close(vault);
    use_store(*state);
    vault = vault_open_here(*state);
    wrong = (asking){.set = &vault->sets[1], .table = {{2, 1}}, .keys = &none};
    right = (asking){.set = &vault->sets[1], .table = {{2, 1}}};
    ask(&wrong);
    ask(&right);
    assert_int_not_equal(wrong.status, CELLAR_OK);
    assert_null(wrong.counts);
    assert_int_equal(right.status, CELLAR_OK);
    cellar_table_free(right.counts);
    cellar_vault_close(vault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {VAULT_TEST(test_one_pass), VAULT_TEST(test_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
