/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attacks on the two kinds of data sets that a vault draws. Each test bounds what the attack may
 * achieve and prints what it did: docs/table-builder-attacks.md quotes the figures. */
#include <math.h>

#include <cellar/cell_key.h>
#include <cellar/random.h>
#include <cellar/release_file.h>

#include "serve/floor.h"
#include "vault_place.h"

static const uint64_t KEYS = UINT64_C(1) << 32;

/* ---- noise, as the vault adds it ----------------------------------------------------------------
 */

static cellar_cell_key *open_keys(scratch *place)
{
    char spec[500];
    cellar_cell_key *cell_key;
    snprintf(spec, sizeof spec, "cell-key:file=%s", scratch_path(place, "matrix.csv"));
    CHECK_OK(cellar_cell_key_create(spec, KEYS, &cell_key, &err));
    return cell_key;
}

/* The released value of a cell whose records have a random sum of keys. */
static int64_t keyed(const cellar_cell_key *cell_key, int64_t count, uint64_t *state)
{
    const uint64_t key = next_random(state) % KEYS;
    int64_t released;
    cellar_cell_key_apply(cell_key, &count, &key, 1, &released);
    return released;
}

static double share(size_t n, size_t of)
{
    return (double) n / (double) of;
}

/* ---- averaging: different questions with the same true answer (Asghar and Kaafar)
 * ----------------- */

enum { N_AVERAGED = 4000 / CHECK_SHARE };

/* The log-likelihood of a count given one answer that sums `parts` cells of large counts, each with
 * the noise of the matrix's last row. */
static void add_likelihood(const cellar_matrix *matrix, int64_t answer, int parts, int64_t low,
                           double *log_likelihood, size_t n)
{
    const size_t row = cellar_matrix_n_rows(matrix) - 1;
    cellar_matrix_row facts;
    cellar_matrix_row_at(matrix, row, &facts);
    for (size_t i = 0; i < n; i++) {
        double p = 0;
        for (size_t a = 0; a < facts.n_changes; a++) {
            const int64_t left =
                answer - (low + (int64_t) i) - cellar_matrix_change(matrix, row, a);
            if (parts == 1)
                p += left == 0 ? cellar_matrix_probability(matrix, row, a) : 0;
            for (size_t b = 0; parts == 2 && b < facts.n_changes; b++)
                p += cellar_matrix_change(matrix, row, b) == left
                         ? cellar_matrix_probability(matrix, row, a) *
                               cellar_matrix_probability(matrix, row, b)
                         : 0;
        }
        log_likelihood[i] += log(p);
    }
}

/* How often the exact count is found from one answer of the cell itself and `n` that sum two cells
 * (or, with `parts` 1, from n + 1 answers of the cell itself): by averaging, and by the likelihood.
 */
static void average(scratch *place, size_t n, int parts, double *by_mean, double *by_likelihood)
{
    enum { LOW = 70, RANGE = 61 };
    cellar_cell_key *cell_key = open_keys(place);
    const cellar_matrix *matrix = cellar_cell_key_matrix(cell_key);
    uint64_t state = 11 + n;
    size_t n_mean = 0, n_likelihood = 0;
    for (size_t trial = 0; trial < N_AVERAGED; trial++) {
        double likelihood[RANGE] = {0}, sum = 0, weights = 0;
        size_t best = 0;
        for (size_t i = 0; i <= n; i++) {
            const int in_two = parts == 2 && i > 0;
            const int64_t answer = in_two
                                       ? keyed(cell_key, 47, &state) + keyed(cell_key, 53, &state)
                                       : keyed(cell_key, 100, &state);
            sum += (double) answer / (in_two ? 2 : 1);
            weights += 1.0 / (in_two ? 2 : 1);
            add_likelihood(matrix, answer, in_two ? 2 : 1, LOW, likelihood, RANGE);
        }
        for (size_t i = 1; i < RANGE; i++)
            if (likelihood[i] > likelihood[best])
                best = i;
        n_mean += fabs(sum / weights - 100) < 0.5;
        n_likelihood += best + LOW == 100;
    }
    *by_mean = share(n_mean, N_AVERAGED);
    *by_likelihood = share(n_likelihood, N_AVERAGED);
    cellar_cell_key_free(cell_key);
}

static void test_averaging(void **state)
{
    static const char *const same[] = {"sex",     "sex*job", "sex*region^1",
                                       "sex*edu", "sex*age", "sex*region"};
    cellar_vault *vault;
    double mean, likelihood, floor_mean, floor_likelihood;
    size_t n = 0;
    average(*state, 15, 1, &mean, &likelihood);
    print_message("averaging: 16 independent answers: exact in %.1f %% by the mean, %.1f %% by the "
                  "likelihood\n",
                  100 * mean, 100 * likelihood);
    assert_true(mean > 0.8 && likelihood > mean);
    for (n = 0; n <= 16; n += n == 0 ? 1 : n) {
        average(*state, n, 2, &mean, &likelihood);
        print_message("averaging: the cell and %zu sums of two: exact in %.1f %% and %.1f %%\n", n,
                      100 * mean, 100 * likelihood);
    }
    /* the floor stops it: sums of 2 to 5 cells */
    vault = vault_open_here(*state);
    n = 0;
    while (n < 5 &&
           strcmp(vault_state(vault_ask_draw(vault, "keyed", same[n], NULL)), "drawn") == 0)
        n++;
    cellar_vault_close(vault);
    average(*state, n - 1, 2, &floor_mean, &floor_likelihood);
    print_message("averaging: the floor of 0.9 ends it after %zu tables, before an exact count in "
                  "%.1f %% and %.1f %% (as if all sums had two cells)\n",
                  n, 100 * floor_mean, 100 * floor_likelihood);
    assert_int_equal(n, 4);
    assert_true(floor_mean < 0.55);
}

/* The same attack on a budget: every answer is paid, and the error of the best average of all that
 * the cap pays is the one that the cap promises. */
static void test_averaging_budget(void **state)
{
    enum { N_TABLES = 16, N_TRIALS = 4000 / CHECK_SHARE };
    cellar_mechanism *mechanism;
    cellar_rng *rng;
    double sum_squares = 0, expected = 16.0 / N_TABLES, found;
    (void) state;
    CHECK_OK(cellar_mechanism_create("discrete-gaussian:sigma=4", &mechanism, &err));
    CHECK_OK(cellar_rng_create_seeded(7, 0, &rng, &err));
    for (size_t trial = 0; trial < N_TRIALS; trial++) {
        int64_t counts[N_TABLES], released[N_TABLES];
        double mean = 0;
        for (size_t t = 0; t < N_TABLES; t++)
            counts[t] = 100;
        CHECK_OK(cellar_mechanism_sample_many(mechanism, counts, N_TABLES, rng, released, &err));
        for (size_t t = 0; t < N_TABLES; t++)
            mean += (double) (released[t] - 100) / N_TABLES;
        sum_squares += mean * mean;
    }
    found = sqrt(sum_squares / N_TRIALS);
    print_message(
        "averaging, budget: %d tables of sigma 4 (rho 0.5 in all): the mean errs by %.3f, "
        "promised %.3f\n",
        N_TABLES, found, sqrt(expected));
    assert_true(fabs(found / sqrt(expected) - 1) < (CHECK_SHARE > 1 ? 0.3 : 0.06));
    cellar_rng_free(rng);
    cellar_mechanism_free(mechanism);
}

/* ---- differencing: Bob
 * ------------------------------------------------------------------------------ */

/* The largest gain of an attacker who has to say whether a shift of `mu` standard deviations of
 * normal noise is there. */
static double gain_bound(double mu)
{
    return erf(mu / 2 / sqrt(2));
}

/* Two cells, of which one holds Bob as well if he has what is asked about. Equal records have equal
 * noise, so that cells that differ prove it. */
static void test_bob(void **state)
{
    enum { N_TRIALS = 20000 / CHECK_SHARE };
    cellar_cell_key *cell_key = open_keys(*state);
    uint64_t bits = 5, where;
    size_t n_found = 0, n_false = 0;
    const double most = cellar_matrix_difference(cellar_cell_key_matrix(cell_key), &where);
    for (size_t trial = 0; trial < N_TRIALS; trial++) {
        const int64_t counts[2] = {40, 41};
        const uint64_t others = next_random(&bits) % KEYS, bob = next_random(&bits) % KEYS;
        const uint64_t keys[2] = {others, (others + bob) % KEYS};
        int64_t released[2], same[2];
        cellar_cell_key_apply(cell_key, counts, keys, 2, released);
        cellar_cell_key_apply(cell_key, (int64_t[]){40, 40}, (uint64_t[]){others, others}, 2, same);
        n_found += released[0] != released[1];
        n_false += same[0] != same[1];
    }
    print_message("Bob, cell keys: found in %.1f %% (at most %.1f %%), never wrongly (%zu)\n",
                  100 * share(n_found, N_TRIALS), 100 * most, n_false);
    assert_int_equal(n_false, 0);
    assert_true(share(n_found, N_TRIALS) > 0.5);
    assert_true(share(n_found, N_TRIALS) < most + 0.02 * sqrt(CHECK_SHARE));
    cellar_cell_key_free(cell_key);
}

/* The same on a budget: the two tables have independent noise, and whoever knows everybody but Bob
 * gains at most what rho allows. */
static void test_bob_budget(void **state)
{
    enum { N_TABLES = 16, N_TRIALS = 20000 / CHECK_SHARE };
    cellar_mechanism *mechanism;
    cellar_rng *rng;
    size_t n_yes[2] = {0, 0};
    double gain, bound = gain_bound(sqrt(2 * 0.5));
    (void) state;
    CHECK_OK(cellar_mechanism_create("discrete-gaussian:sigma=4", &mechanism, &err));
    CHECK_OK(cellar_rng_create_seeded(8, 0, &rng, &err));
    for (size_t trial = 0; trial < 2 * N_TRIALS; trial++) {
        int64_t counts[N_TABLES], released[N_TABLES], sum = 0;
        for (size_t t = 0; t < N_TABLES; t++)
            counts[t] = 40 + (int64_t) (trial % 2);
        CHECK_OK(cellar_mechanism_sample_many(mechanism, counts, N_TABLES, rng, released, &err));
        for (size_t t = 0; t < N_TABLES; t++)
            sum += released[t] - 40;
        n_yes[trial % 2] += 2 * sum > N_TABLES;
    }
    gain = share(n_yes[1], N_TRIALS) - share(n_yes[0], N_TRIALS);
    print_message(
        "Bob, budget: %d tables, rho 0.5 in all: right %.1f %% of the time when a guess is "
        "50 %%; the bound is %.1f %%\n",
        N_TABLES, 50 + 50 * gain, 50 + 50 * bound);
    assert_true(gain < bound + 0.02 * sqrt(CHECK_SHARE));
    cellar_rng_free(rng);
    cellar_mechanism_free(mechanism);
}

/* ---- tables of a vault
 * -------------------------------------------------------------------------------- */

static cellar_release *draw_release(cellar_vault *vault, scratch *place, const char *dataset,
                                    const char *folder, const char *table)
{
    json_t *reply =
        vault_ask_draw(vault, dataset, table, strcmp(dataset, "census") == 0 ? "1" : NULL);
    cellar_release *release;
    char path[600];
    snprintf(path, sizeof path, "%s/%s/%s", place->folder, folder, vault_text(reply, "file"));
    if (vault_text(reply, "file")[0] == '\0')
        fail_msg("%s: %s", table, vault_text(reply, "detail"));
    json_decref(reply);
    CHECK_OK(cellar_release_read(path, CELLAR_TABLE_AUTO, &release, &err));
    return release;
}

/* Bob is the only one without a job, in the vault itself: F against F with a job. */
static void write_factory(scratch *place, uint64_t seed, const char *bob)
{
    FILE *file = fopen(scratch_path(place, "people.csv"), "w");
    uint64_t state = seed;
    assert_non_null(file);
    fputs("region,sex,age,edu,job,rkey\n", file);
    for (size_t i = 0; i < 60; i++) {
        const uint64_t key = next_random(&state) % 1000000000;
        fprintf(file, "N1,%s,0,a,yes,0.%09llu\n", i % 2 ? "F" : "M", (unsigned long long) key);
    }
    fprintf(file, "N1,%s,0,a,no,0.%09llu\n", bob,
            (unsigned long long) (next_random(&state) % 1000000000));
    assert_int_equal(fclose(file), 0);
}

static int cells_differ(scratch *place)
{
    cellar_vault *vault = vault_open_here(place);
    cellar_release *all = draw_release(vault, place, "keyed", "keyed", "sex");
    cellar_release *old = draw_release(vault, place, "keyed", "keyed", "sex*job");
    const int differ = cellar_release_at(all, 0).released != cellar_release_at(old, 0).released;
    cellar_release_free(all);
    cellar_release_free(old);
    cellar_vault_close(vault);
    return differ;
}

static void test_bob_vault(void **state)
{
    write_factory(*state, 3, "M"); /* not in question: the cells have the same records */
    assert_int_equal(cells_differ(*state), 0);
}

/* ---- trackers over filters
 * ------------------------------------------------------------------------------- */

/* A filter is a view of a canonical table: there is no message that has one, and whatever order,
 * case or wording a table is asked for in, it is drawn and paid once. */
static void test_trackers(void **state)
{
    static const char *const filters[] = {
        "sex*age=3",  "sex where age=3", "sex;age=3", "sex*!age",       "sex*age^0",
        "sex*age^2",  "sex*age*",        "*sex",      "sex\\u0000*age", "sex*sex^1",
        "sex/../age", "sex*age[3]",      "sex|age",   "sex*region^1^1", "",
    };
    cellar_vault *vault = vault_open_here(*state);
    uint64_t bits = 9;
    cellar_balance balance;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        assert_string_equal(vault_state(vault_ask_draw(vault, "census", filters[i], "1")), "wrong");
    for (size_t i = 0; i < 1000 / CHECK_SHARE; i++) {
        static const char *const names[] = {"region^1", "sex", "age"};
        size_t order[] = {0, 1, 2};
        char table[64] = "";
        for (size_t k = 0; k < 3; k++) {
            const size_t other = next_random(&bits) % 3, swap = order[k];
            order[k] = order[other];
            order[other] = swap;
        }
        for (size_t k = 0; k < 3; k++)
            snprintf(table + strlen(table), sizeof table - strlen(table), "%s%s", k > 0 ? "*" : "",
                     names[order[k]]);
        for (char *c = table; *c != '\0'; c++)
            if (next_random(&bits) % 2 && *c >= 'a' && *c <= 'z')
                *c = (char) (*c - 'a' + 'A');
        assert_string_equal(vault_state(vault_ask_draw(vault, "census", table, "1")),
                            i == 0 ? "drawn" : "exists");
    }
    CHECK_OK(cellar_ledger_balance(vault->ledgers[0].ledger, "census", NULL, &balance, &err));
    assert_int_equal(balance.n_charges, 1);
    cellar_vault_close(vault);
}

/* ---- differencing of editions
 * ------------------------------------------------------------------------------ */

/* A configuration for another edition, in other folders. */
static void write_edition(scratch *place)
{
    char text[8192];
    cellar_ledger *ledger = reopen(place);
    CHECK_OK(cellar_ledger_add_edition(ledger, "census", "2", &err));
    CHECK_OK(cellar_ledger_add_edition(ledger, "others", "2", &err));
    cellar_ledger_close(ledger);
    snprintf(text, sizeof text, "%s", vault_config);
    for (char *at; (at = strstr(text, "edition: '1'")) != NULL;)
        at[10] = '2';
    memcpy(strstr(text, "folder: public"), "folder: backup", 14);
    memcpy(strstr(text, "folder: keyed"), "folder: other", 13);
    scratch_write(place, "site.yaml", text);
    assert_int_equal(mkdir(scratch_path(place, "backup"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(place, "other"), 0755), 0);
}

/* One person more in the second edition. With cell keys every other cell stays as it was, so that a
 * change is hers; on a budget all cells are drawn anew, and charged to the same cap. */
static void test_editions(void **state)
{
    scratch *place = *state;
    cellar_vault *vault = vault_open_here(place);
    cellar_release *first = draw_release(vault, place, "keyed", "keyed", "sex*age");
    cellar_release *paid = draw_release(vault, place, "census", "public", "sex*age");
    cellar_release *second, *again;
    cellar_balance balance;
    FILE *file = fopen(scratch_path(place, "people.csv"), "a");
    size_t n_changed = 0, n_paid = 0;
    cellar_vault_close(vault);
    assert_non_null(file);
    fputs("N1,F,2,a,yes,0.3\n", file);
    assert_int_equal(fclose(file), 0);
    write_edition(place);
    vault = vault_open_here(place);
    second = draw_release(vault, place, "keyed", "other", "sex*age");
    again = draw_release(vault, place, "census", "backup", "sex*age");
    for (uint64_t index = 0; index < 8; index++) {
        const int is_hers = index == 2; /* F, 2 */
        const int changed =
            cellar_release_at(first, index).released != cellar_release_at(second, index).released;
        assert_true(is_hers || !changed);
        n_changed += (size_t) changed;
        n_paid +=
            cellar_release_at(paid, index).released != cellar_release_at(again, index).released;
    }
    CHECK_OK(cellar_ledger_balance(vault->ledgers[0].ledger, "census", NULL, &balance, &err));
    print_message("editions: cells that changed with one person: %zu of 8 with cell keys (no other "
                  "cell than hers can), %zu of 8 on a budget, which paid twice (%zu charges)\n",
                  n_changed, n_paid, balance.n_charges);
    assert_true(n_paid >= 3);
    assert_int_equal(balance.n_charges, 2);
    cellar_vault_close(vault);
    cellar_release_free(first);
    cellar_release_free(second);
    cellar_release_free(paid);
    cellar_release_free(again);
    vault_empty(scratch_path(place, "other"));
}

/* ---- refusals and replies as oracles
 * ------------------------------------------------------------------------- */

/* All replies to a sequence of messages, one after the other. */
static void collect_replies(scratch *place, cellar_text *out)
{
    static const char *const tables[] = {"sex",
                                         "sex*age",
                                         "region*sex*age*edu",
                                         "total",
                                         "edu",
                                         "sex*age*edu*job",
                                         "sex",
                                         "job*region^1",
                                         "region*age",
                                         "sex*job",
                                         "sex*edu",
                                         "age*job",
                                         "wealth",
                                         "region*edu*job",
                                         "region"};
    static const char *const queries[] = {"balance", "statement", "tables"};
    cellar_vault *vault = vault_open_here(place);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int keyed_too = 0; keyed_too < 2; keyed_too++) {
            json_t *reply = vault_ask_draw(vault, keyed_too ? "keyed" : "census", tables[i],
                                           keyed_too ? NULL : "0.1");
            char *text = json_dumps(reply, JSON_SORT_KEYS);
            cellar_text_printf(out, "%s\n", text);
            free(text);
            json_decref(reply);
        }
    for (size_t i = 0; i < 3; i++) {
        char message[100], *text;
        json_t *reply;
        snprintf(message, sizeof message, "{\"do\": \"%s\", \"dataset\": \"census\"}", queries[i]);
        reply = vault_ask(vault, message);
        text = json_dumps(reply, JSON_SORT_KEYS);
        cellar_text_printf(out, "%s\n", text);
        free(text);
        json_decref(reply);
    }
    cellar_vault_close(vault);
}

static void forget_draws(scratch *place)
{
    vault_empty(scratch_path(place, "public"));
    vault_empty(scratch_path(place, "keyed"));
    assert_int_equal(mkdir(scratch_path(place, "public"), 0755), 0);
    assert_int_equal(mkdir(scratch_path(place, "keyed"), 0755), 0);
    assert_int_equal(remove(scratch_path(place, "ledger")), 0);
    vault_make_ledger(place, "0.3", NULL);
    vault_write_site(place, "0.3");
}

/* The replies, refusals included, and the steps at which they come are the same whatever the
 * records: nobody, one person more, everybody alike. */
static void test_oracles(void **state)
{
    static const struct {
        uint64_t seed;
        size_t n;
    } samples[] = {{1, 400}, {1, 401}, {2, 400}, {1, 0}};
    cellar_text replies[4] = {{0}};
    uint64_t times[4];
    for (size_t i = 0; i < 4; i++) {
        forget_draws(*state);
        vault_write_people(*state, samples[i].seed, samples[i].n);
        times[i] = still_time;
        collect_replies(*state, &replies[i]);
        times[i] = still_time - times[i];
        assert_string_equal(replies[0].bytes, replies[i].bytes);
        assert_int_equal(times[0], times[i]);
    }
    assert_non_null(strstr(replies[0].bytes, "refused"));
    assert_non_null(strstr(replies[0].bytes, "drawn"));
    for (size_t i = 0; i < 4; i++)
        cellar_text_clear(&replies[i]);
}

/* ---- exhausting the budget
 * --------------------------------------------------------------------------------------- */

/* One analyst cannot spend what another has; nobody can spend more than the cap; what exists is
 * answered all the same. */
static void test_exhaustion(void **state)
{
    static const char *const tables[] = {"region", "region^1", "sex", "age", "edu", "job"};
    cellar_ledger *ledger = reopen(*state);
    cellar_token_spec spec = cellar_token_spec_default();
    cellar_vault *vault;
    cellar_balance balance;
    size_t n_drawn = 0;
    char mallory[CELLAR_TOKEN_TEXT];
    CHECK_OK(cellar_ledger_add_analyst(ledger, "census", "mallory", amounts_of(NULL, NULL, "0.5"),
                                       &err));
    CHECK_OK(
        cellar_ledger_add_analyst(ledger, "census", "alice", amounts_of(NULL, NULL, "0.5"), &err));
    cellar_ledger_close(ledger);
    spec.roles = "analyst";
    spec.name = spec.analyst = "mallory";
    CHECK_OK(cellar_token_create(scratch_path(*state, "tokens"), &spec, mallory, &err));
    vault = vault_open_here(*state);
    memcpy(vault_token, mallory, sizeof mallory);
    for (size_t i = 0; i < 6; i++)
        n_drawn +=
            strcmp(vault_state(vault_ask_draw(vault, "census", tables[i], "1")), "drawn") == 0;
    assert_int_equal(n_drawn, 4); /* of rho 0.125 */
    spec.name = spec.analyst = "alice";
    CHECK_OK(cellar_token_create(scratch_path(*state, "tokens"), &spec, vault_token, &err));
    assert_string_equal(vault_state(vault_ask_draw(vault, "census", "sex", "1")), "exists");
    assert_string_equal(vault_state(vault_ask_draw(vault, "census", "edu", "1")), "drawn");
    CHECK_OK(cellar_ledger_balance(vault->ledgers[0].ledger, "census", "alice", &balance, &err));
    assert_int_equal(balance.left.rho_nano, 375000000);
    cellar_vault_close(vault);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VAULT_TEST(test_averaging),  cmocka_unit_test(test_averaging_budget),
        VAULT_TEST(test_bob),        cmocka_unit_test(test_bob_budget),
        VAULT_TEST(test_bob_vault),  VAULT_TEST(test_trackers),
        VAULT_TEST(test_editions),   VAULT_TEST(test_oracles),
        VAULT_TEST(test_exhaustion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
