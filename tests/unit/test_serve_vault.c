/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vault: what it draws, what it refuses, and what it never does twice. */
#include <cellar/release_file.h>

#include "fail_every.h"
#include "vault_place.h"

#define DRAW(table, cost) vault_state(vault_ask_draw(vault, "census", table, cost))

static size_t n_charges(const cellar_vault *vault)
{
    cellar_balance balance;
    CHECK_OK(cellar_ledger_balance(vault->ledgers[0].ledger, "census", NULL, &balance, &err));
    return balance.n_charges;
}

/* ---- drawing ----------------------------------------------------------------------------- */

static void test_draw(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    json_t *reply = vault_ask_draw(vault, "census", "sex*region^1", "0.1");
    cellar_release *release;
    char path[600];
    assert_string_equal(vault_text(reply, "state"), "drawn");
    assert_string_equal(vault_text(reply, "table"), "region^1*sex");
    assert_string_equal(vault_text(reply, "cost"), "rho 0.03125");
    snprintf(path, sizeof path, "%s/public/%s", ((scratch *) *state)->folder,
             vault_text(reply, "file"));
    CHECK_OK(cellar_release_read(path, CELLAR_TABLE_AUTO, &release, &err));
    assert_string_equal(cellar_schema_variable(cellar_release_schema(release), 0), "region^1");
    assert_int_equal(cellar_schema_n_categories(cellar_release_schema(release), 0), 2);
    assert_true(cellar_stamp_is_sound(cellar_release_ledger(release)));
    cellar_release_free(release);
    json_decref(reply);
    /* the same table in any order and case is found, for any cost, and not paid again */
    assert_string_equal(DRAW("Region^1*SEX", "0.000001"), "exists");
    assert_string_equal(DRAW("sex*region^1", "7"), "exists");
    assert_int_equal(n_charges(vault), 1);
    assert_string_equal(DRAW("sex*region", "7"), "drawn");
    assert_int_equal(n_charges(vault), 2);
    cellar_vault_close(vault);
    vault = vault_open_here(*state);
    assert_string_equal(DRAW("sex*region", "7"), "exists");
    assert_int_equal(n_charges(vault), 2);
    cellar_vault_close(vault);
}

/* Counts of every level are sums of the same records. */
static void test_levels(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    vault_set *set = &vault->sets[1]; /* with keys */
    const serve_table fine = {{2, 1}}, coarse = {{1, 0}};
    cellar_table *counts, *sums;
    CHECK_OK(serve_records_count(&set->text.records, &set->counter, &set->axes, &fine, &set->keys,
                                 &counts, &err));
    CHECK_OK(serve_records_count(&set->text.records, &set->counter, &set->axes, &coarse, &set->keys,
                                 &sums, &err));
    for (uint64_t land = 0; land < 2; land++) {
        const cellar_cell sum = cellar_table_at(sums, land);
        uint64_t count = 0, key = 0;
        for (uint64_t index = 6 * land; index < (land == 0 ? 6 : 10); index++) {
            const cellar_cell cell = cellar_table_at(counts, index);
            count += cell.count;
            key = (key + cell.key) % cellar_table_key_range(counts);
        }
        assert_int_equal(sum.count, count);
        assert_int_equal(sum.key, key);
    }
    assert_int_equal(cellar_table_n_records(counts), 400);
    cellar_table_free(counts);
    cellar_table_free(sums);
    cellar_vault_close(vault);
}

static void test_refusals(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    assert_string_equal(DRAW("sex", "0.124"), "refused: max-cost");
    assert_string_equal(DRAW("sex", "nothing"), "refused: max-cost");
    assert_string_equal(DRAW("sex", "-1"), "refused: max-cost");
    assert_string_equal(DRAW("total", "1"), "refused: total");
    assert_string_equal(DRAW("region*sex*age*edu", "1"), "refused: class");
    assert_string_equal(DRAW("sex*age*edu*job", "1"), "drawn"); /* at most 100 cells */
    assert_string_equal(DRAW("sex*sex", "1"), "wrong");
    assert_string_equal(DRAW("wealth", "1"), "wrong");
    assert_string_equal(DRAW("sex=F", "1"), "wrong"); /* a filter is no part of a table */
    assert_int_equal(n_charges(vault), 1);
    cellar_vault_close(vault);
}

/* The cap is reached exactly, and what exists stays. */
static void test_budget(void **state)
{
    static const char *const tables[] = {"region", "sex", "age", "edu", "job", "region^1"};
    cellar_vault *vault;
    remove(scratch_path(*state, "ledger"));
    vault_make_ledger(*state, "0.5", NULL); /* four tables of rho 0.125 */
    assert_int_equal(cellar_vault_open(scratch_path(*state, "site.yaml"), NULL, &vault, &err),
                     CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "another cap"));
    vault_write_site(*state, "0.5");
    vault = vault_open_here(*state);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(DRAW(tables[i], "1"), i < 4 ? "drawn" : "refused: budget");
    assert_string_equal(DRAW("sex", "1"), "exists");
    assert_int_equal(n_charges(vault), 4);
    cellar_vault_close(vault);
}

static void test_shares(void **state)
{
    cellar_ledger *ledger = reopen(*state);
    cellar_token_spec spec = cellar_token_spec_default();
    cellar_vault *vault;
    CHECK_OK(
        cellar_ledger_add_analyst(ledger, "census", "bob", amounts_of(NULL, NULL, "0.2"), &err));
    cellar_ledger_close(ledger);
    vault = vault_open_here(*state);
    assert_string_equal(DRAW("sex", "1"), "refused: share");
    spec.name = "bob";
    spec.roles = "analyst";
    spec.analyst = "bob";
    CHECK_OK(cellar_token_create(scratch_path(*state, "tokens"), &spec, vault_token, &err));
    assert_string_equal(DRAW("sex", "1"), "drawn");
    assert_string_equal(DRAW("age", "1"), "refused: share"); /* 0.075 is left of 0.2 */
    assert_string_equal(DRAW("age*sex", "1"), "drawn");
    cellar_vault_close(vault);
}

/* ---- messages ------------------------------------------------------------------------------ */

static void test_messages(void **state)
{
    static const struct {
        const char *message, *state;
    } cases[] = {
        {"", "wrong"},
        {"[]", "wrong"},
        {"{}", "wrong"},
        {"{\"do\": \"open\"}", "wrong"},
        {"{\"do\": 1}", "wrong"},
        {"{\"do\": \"cost\", \"dataset\": \"census\"}", "wrong"},
        {"{\"do\": \"cost\", \"dataset\": \"../census\", \"table\": \"sex\"}", "wrong"},
        {"{\"do\": \"cost\", \"dataset\": \"census\", \"table\": \"sex\", \"where\": \"sex=F\"}",
         "wrong"},
        {"{\"do\": \"cost\", \"dataset\": \"census\", \"table\": [\"sex\"]}", "wrong"},
        {"{\"do\": \"cost\", \"do\": \"draw\", \"dataset\": \"census\", \"table\": \"sex\"}",
         "wrong"},
        {"{\"do\": \"cost\", \"dataset\": \"census\", \"table\": \"sex\"}", "ok"},
        {"{\"do\": \"cost\", \"dataset\": \"census\", \"table\": \"sex\\u0000\"}", "wrong"},
        {"{\"do\": \"tables\", \"dataset\": \"census\", \"from\": \"x\"}", "wrong"},
        {"{\"do\": \"tables\", \"dataset\": \"census\", \"from\": \"18446744073709551615\"}", "ok"},
        {"{\"do\": \"balance\", \"dataset\": \"census\"}", "ok"},
        {"{\"do\": \"statement\", \"dataset\": \"keyed\"}", "ok"},
        {"{\"do\": \"draw\", \"dataset\": \"census\", \"table\": \"sex\", \"max_cost\": \"1\"}",
         "refused: token"},
        {"{\"do\": \"draw\", \"dataset\": \"census\", \"table\": \"sex\", \"max_cost\": \"1\", "
         "\"authorization\": \"Bearer cellar_\"}",
         "refused: token"},
        {"{\"do\": \"draw\", \"dataset\": \"census\", \"table\": \"sex\"}", "wrong"},
        {"{\"do\": \"draw\", \"dataset\": \"keyed\", \"table\": \"sex\", \"max_cost\": \"1\"}",
         "wrong"},
    };
    cellar_vault *vault = vault_open_here(*state);
    char message[400];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = vault_state(vault_ask(vault, cases[i].message));
        if (strcmp(found, cases[i].state) != 0)
            fail_msg("%s: %s", cases[i].message, found);
    }
    snprintf(message, sizeof message,
             "{\"do\": \"draw\", \"dataset\": \"census\", \"table\": \"sex\", \"max_cost\": \"1\", "
             "\"authorization\": \"Bearer %s\"}",
             vault_reader);
    assert_string_equal(vault_state(vault_ask(vault, message)), "refused: token");
    assert_int_equal(n_charges(vault), 0);
    cellar_vault_close(vault);
}

static void test_queries(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    json_t *reply = vault_ask(vault, "{\"do\": \"cost\", \"dataset\": \"census\", \"table\": "
                                     "\"age*sex\"}");
    assert_string_equal(vault_text(reply, "table"), "sex*age");
    assert_string_equal(vault_text(reply, "cost"), "rho 0.03125");
    assert_string_equal(vault_text(reply, "amount"), "0.03125");
    assert_true(json_is_false(json_object_get(reply, "exists")));
    assert_true(json_real_value(json_object_get(reply, "sd")) > 3.99);
    json_decref(reply);
    assert_string_equal(DRAW("age*sex", "0.03125"), "drawn"); /* the cost shown is enough */
    reply = vault_ask(vault, "{\"do\": \"tables\", \"dataset\": \"census\"}");
    assert_int_equal(json_array_size(json_object_get(reply, "tables")), 1);
    json_decref(reply);
    reply = vault_ask(vault, "{\"do\": \"balance\", \"dataset\": \"census\"}");
    assert_string_equal(vault_text(json_object_get(reply, "budget"), "left"), "rho 1.96875");
    json_decref(reply);
    reply = vault_ask(vault, "{\"do\": \"statement\", \"dataset\": \"census\"}");
    assert_non_null(strstr(vault_text(reply, "statement"), "rho 0.03125"));
    json_decref(reply);
    cellar_vault_close(vault);
}

/* ---- at the same time ------------------------------------------------------------------------ */

enum { N_THREADS = 8, N_TABLES = 6 };
static const char *const wanted[N_TABLES] = {"sex*age", "sex*edu", "age*edu",
                                             "sex",     "job*sex", "region^1*job"};

typedef struct asking {
    cellar_vault *vault;
    size_t first;
    unsigned n_drawn;
} asking;

static void *ask_all(void *context)
{
    asking *a = context;
    for (size_t i = 0; i < N_TABLES; i++) {
        json_t *reply = vault_ask_draw(a->vault, "census", wanted[(a->first + i) % N_TABLES], "1");
        a->n_drawn += strcmp(vault_text(reply, "state"), "drawn") == 0;
        json_decref(reply);
    }
    return NULL;
}

static void test_together(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    pthread_t threads[N_THREADS];
    asking all[N_THREADS];
    unsigned n_drawn = 0;
    for (size_t t = 0; t < N_THREADS; t++) {
        all[t] = (asking){vault, t % 3, 0};
        assert_int_equal(pthread_create(&threads[t], NULL, ask_all, &all[t]), 0);
    }
    for (size_t t = 0; t < N_THREADS; t++) {
        assert_int_equal(pthread_join(threads[t], NULL), 0);
        n_drawn += all[t].n_drawn;
    }
    assert_int_equal(n_drawn, N_TABLES);
    assert_int_equal(n_charges(vault), N_TABLES);
    cellar_vault_close(vault);
}

/* ---- configurations ---------------------------------------------------------------------------
 */

static void check_config(scratch *place, const char *text, const char *complaint)
{
    cellar_vault *vault;
    scratch_write(place, "site.yaml", text);
    assert_int_not_equal(cellar_vault_open(scratch_path(place, "site.yaml"), NULL, &vault, &err),
                         CELLAR_OK);
    assert_null(vault);
    if (strstr(err.message, complaint) == NULL)
        fail_msg("not '%s' but '%s'", complaint, err.message);
}

/* One population, one budget; cell keys beside it only when somebody accepts that. */
static void test_populations(void **state)
{
    static const char *const beside =
        VAULT_SITE VAULT_BUDGET "  - id: keyed\n"
                                "    kind: cell-key\n"
                                "    title: People\n"
                                "    population: people\n"
                                "    folder: keyed\n" VAULT_RECORDS VAULT_LEDGER
                                "    cell_key: {matrix: matrix.csv, record_key: rkey, smallest_sd: "
                                "0.9}\n";
    char text[8192];
    cellar_vault *vault;
    json_t *reply;
    check_config(*state, beside, "guarantee-void");
    snprintf(text, sizeof text, "%s    accept: [guarantee-void]\n", beside);
    scratch_write(*state, "site.yaml", text);
    vault = vault_open_here(*state);
    reply = vault_ask_draw(vault, "census", "sex", "1");
    assert_non_null(strstr(vault_text(reply, "note"), "cell keys"));
    json_decref(reply);
    reply = vault_ask_draw(vault, "keyed", "sex", NULL);
    assert_string_equal(vault_text(reply, "state"), "drawn");
    assert_non_null(strstr(vault_text(reply, "note"), "cell keys"));
    json_decref(reply);
    cellar_vault_close(vault);
    *strstr(text, "dataset: census}\n    cell_key") = '\0';
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "dataset: others}\n    cell_key: {matrix: matrix.csv, record_key: rkey, smallest_sd: "
             "0.9}\n    accept: [guarantee-void]\n");
    check_config(*state, text, "the same dataset of the same ledger");
    *strstr(text, "population: people\n    folder: keyed") = '\0';
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "population: others\n    folder: keyed\n" VAULT_RECORDS VAULT_LEDGER
             "    cell_key: {matrix: matrix.csv, record_key: rkey, smallest_sd: 0.9}\n");
    check_config(*state, text, "the same population");
}

/* A table of cell keys whose file was lost is made again only from the same records and keys. */
static void test_lost(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    json_t *reply = vault_ask_draw(vault, "keyed", "sex", NULL);
    char file[200], people[1 << 16];
    char *kept;
    snprintf(file, sizeof file, "keyed/%s", vault_text(reply, "file"));
    kept = strdup(scratch_read(*state, file));
    json_decref(reply);
    assert_int_equal(unlink(scratch_path(*state, file)), 0);
    reply = vault_ask_draw(vault, "keyed", "sex", NULL);
    assert_string_equal(vault_text(reply, "state"), "drawn");
    assert_string_equal(scratch_read(*state, file), kept);
    json_decref(reply);
    cellar_vault_close(vault);
    free(kept);
    snprintf(people, sizeof people, "%s", scratch_read(*state, "people.csv"));
    strstr(people, "0.")[2] ^= 1; /* a record key */
    scratch_write(*state, "people.csv", people);
    assert_int_equal(unlink(scratch_path(*state, file)), 0);
    vault = vault_open_here(*state);
    reply = vault_ask_draw(vault, "keyed", "sex", NULL);
    assert_string_equal(vault_text(reply, "rule"), "gone");
    assert_int_not_equal(access(scratch_path(*state, file), F_OK), 0);
    json_decref(reply);
    cellar_vault_close(vault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VAULT_TEST(test_draw),    VAULT_TEST(test_levels),   VAULT_TEST(test_refusals),
        VAULT_TEST(test_budget),  VAULT_TEST(test_shares),   VAULT_TEST(test_messages),
        VAULT_TEST(test_queries), VAULT_TEST(test_together), VAULT_TEST(test_populations),
        VAULT_TEST(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
