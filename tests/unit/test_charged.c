/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charged releases: the price is what the release prints; a refusal charges nothing; a known
 * request is found and never drawn again. */
#include "fail_every.h"

#include <jansson.h>
#include <math.h>

#include "release_samples.h" /* before the next, which has a global error */

#include "ledger_place.h"

/* ---- a ledger and a table ------------------------------------------------------------- */

static cellar_ledger *open_book(scratch *place, cellar_neighbours neighbours, int by_rho)
{
    cellar_key *key = the_key(place);
    cellar_ledger_dataset dataset = dataset_named("census");
    cellar_ledger *ledger;
    dataset.neighbours = neighbours;
    dataset.cap = by_rho ? amounts_of(NULL, NULL, "1000") : amounts_of("1000", "1e-4", NULL);
    CHECK_OK(cellar_ledger_create(scratch_path(place, "ledger"), key, &err));
    cellar_key_free(key);
    ledger = reopen(place);
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    return ledger;
}

static cellar_protect_options person(void)
{
    cellar_protect_options options = keep();
    options.unit = "person";
    options.per_cell = 1;
    options.accept = CELLAR_ACCEPT_LARGE_EPSILON;
    return options;
}

static cellar_status prepare(const cellar_table *table, const char *spec, const cellar_mechanism *m,
                             const cellar_protect_options *options, cellar_prepared **out,
                             cellar_error *error)
{
    return m != NULL ? cellar_protect_prepare(table, m, options, out, error)
                     : cellar_protect_prepare_dirichlet(table, spec, options, out, error);
}

/* Spends on "census" for the file of that name. */
static cellar_status spend_on(scratch *place, cellar_prepared *prepared, cellar_ledger *ledger,
                              const char *request, const char *name, cellar_spend_result *result,
                              cellar_release **release)
{
    const cellar_payment payment = {.dataset = "census", .request = request};
    const cellar_charged_file file = {.path = scratch_path(place, name)};
    return cellar_prepared_spend(prepared, ledger, &payment, &file, result, release, &err);
}

/* ---- the price is what is printed ------------------------------------------------------ */

typedef struct price_case {
    const char *label, *spec;
    const small_table *table;
    const char *delta;
    int by_rho, substitute;
    uint64_t per_unit, max_weight;
} price_case;

static const small_table with_margins = {.n_variables = 2,
                                         .sizes = {3, 4},
                                         .domain = CELLAR_DOMAIN_DECLARED,
                                         .margins = {.all = 1},
                                         .n_cells = 3,
                                         .index = {0, 5, 11},
                                         .count = {2, 1, 900}};
static const small_table weighted = {.n_variables = 2,
                                     .sizes = {3, 4},
                                     .domain = CELLAR_DOMAIN_DECLARED,
                                     .n_cells = 3,
                                     .index = {0, 5, 11},
                                     .count = {2, 1, 900},
                                     .with_weights = 1,
                                     .max_weight = 2};

static const price_case prices[] = {
    {"one cell", "laplace:epsilon=0.75", &plain, NULL, 0, 0, 1, 0},
    {"one cell and a delta that is not needed", "laplace:epsilon=0.75", &plain, "1e-7", 0, 0, 1, 0},
    {"four cells", "laplace:epsilon=0.3", &with_margins, NULL, 0, 0, 1, 0},
    {"units", "laplace:epsilon=0.3", &with_margins, NULL, 0, 0, 3, 0},
    {"substitution", "laplace:epsilon=0.3", &plain, NULL, 0, 1, 1, 0},
    {"weights", "laplace:epsilon=0.3", &weighted, NULL, 0, 0, 1, 2},
    {"rho", "gaussian:sigma=4", &plain, NULL, 1, 0, 1, 0},
    {"rho of units under substitution", "gaussian:sigma=9", &with_margins, NULL, 1, 1, 2, 0},
    {"epsilon at a delta", "gaussian:sigma=4", &plain, "1e-7", 0, 0, 1, 0},
    {"epsilon at a usual delta", "gaussian:sigma=4", &with_margins, "0.000001", 0, 0, 1, 0},
    {"epsilon at the other usual delta", "gaussian:sigma=4", &plain, "1e-9", 0, 0, 1, 0},
    {"counts replaced", "poisson:alpha=20", &plain, "1e-5", 0, 0, 1, 0},
    {"cells drawn together", "multinomial-dirichlet:alpha=20", &plain, NULL, 0, 1, 1, 0},
};

/* What the certificate in a file asks for, read by other means than the charge was. */
static cellar_amounts printed_price(const cellar_release *release, const char *delta)
{
    json_t *c = json_loads(cellar_release_certificate(release), 0, NULL);
    const json_t *exact = json_object_get(c, "pure_epsilon_exact"),
                 *pure = json_object_get(c, "pure_epsilon"),
                 *first = json_array_get(json_object_get(c, "epsilon_at"), 0),
                 *rho = json_object_get(json_object_get(c, "composition"), "rho");
    const double epsilon = delta != NULL && !json_is_string(exact)
                               ? json_number_value(json_object_get(first, "epsilon"))
                               : json_number_value(pure);
    cellar_amounts amounts, texts;
    assert_non_null(c);
    assert_string_equal(json_string_value(json_object_get(c, "verdict")), "holds");
    CHECK_OK(cellar_amounts_from_bounds(
        epsilon, 0, json_is_number(rho) ? json_number_value(rho) : NAN, &amounts, &err));
    CHECK_OK(cellar_amounts_parse(json_string_value(exact), json_is_string(exact) ? NULL : delta,
                                  NULL, &texts, &err));
    amounts.delta_atto = texts.delta_atto;
    if (json_is_string(exact))
        amounts.epsilon_nano = texts.epsilon_nano;
    if (delta != NULL)
        assert_true(json_number_value(json_object_get(first, "delta")) == strtod(delta, NULL));
    json_decref(c);
    return amounts;
}

static void check_price(scratch *place, const price_case *one)
{
    cellar_protect_options options = person();
    cellar_table *table = small_table_create(one->table);
    cellar_mechanism *m = strchr(one->spec, '-') == NULL ? make(one->spec) : NULL;
    cellar_ledger *ledger = open_book(
        place, one->substitute ? CELLAR_NEIGHBOURS_SUBSTITUTE : CELLAR_NEIGHBOURS_ADD_REMOVE,
        one->by_rho);
    cellar_prepared *prepared;
    cellar_release *drawn, *read;
    cellar_spend_result result;
    const cellar_ledger_entry *charge;
    cellar_amounts printed;
    int is_checked;

    options.delta = one->delta;
    options.neighbours =
        one->substitute ? CELLAR_NEIGHBOURS_SUBSTITUTE : CELLAR_NEIGHBOURS_ADD_REMOVE;
    options.max_per_unit = one->per_unit;
    options.max_weight = one->max_weight;
    CHECK_OK(prepare(table, one->spec, m, &options, &prepared, &err));
    CHECK_OK(spend_on(place, prepared, ledger, "one", "one.json", &result, &drawn));
    assert_true(result.is_new);
    charge = cellar_ledger_find_request(ledger, "one", CELLAR_ENTRY_CHARGE);
    CHECK_OK(cellar_release_read(scratch_path(place, "one.json"), CELLAR_TABLE_AUTO, &read, &err));
    assert_string_equal(cellar_release_certificate(read), cellar_release_certificate(drawn));
    assert_string_equal(cellar_release_ledger(read), result.stamp);
    printed = printed_price(read, one->delta);
    if (one->by_rho
            ? charge->amounts.rho_nano != printed.rho_nano || printed.rho_nano <= 0
            : charge->amounts.epsilon_nano != printed.epsilon_nano ||
                  charge->amounts.delta_atto != printed.delta_atto || printed.epsilon_nano <= 0)
        fail_msg("%s: charged epsilon %lld, delta %lld, rho %lld; printed %lld, %lld, %lld",
                 one->label, (long long) charge->amounts.epsilon_nano,
                 (long long) charge->amounts.delta_atto, (long long) charge->amounts.rho_nano,
                 (long long) printed.epsilon_nano, (long long) printed.delta_atto,
                 (long long) printed.rho_nano);
    if (cellar_release_recertify(read, one->label, &is_checked, &err) != CELLAR_OK || !is_checked)
        fail_msg("%s: %s", one->label, err.message);
    cellar_release_free(read);
    cellar_release_free(drawn);
    cellar_prepared_free(prepared);
    cellar_ledger_close(ledger);
    cellar_mechanism_free(m);
    cellar_table_free(table);
    scratch_walk(place, 1);
}

static void test_the_price_is_printed(void **state)
{
    for (size_t i = 0; i < sizeof prices / sizeof *prices; i++)
        check_price(*state, &prices[i]);
}

/* ---- refusals ---------------------------------------------------------------------------- */

/* Prepares and spends; `spec` without a guarantee is accepted. */
static cellar_status attempt(scratch *place, cellar_ledger *ledger, const char *spec,
                             const cellar_protect_options *options, const char *request,
                             const char *name)
{
    cellar_table *table = small_table_create(&plain);
    cellar_mechanism *m = make(spec);
    cellar_prepared *prepared = NULL;
    cellar_release *release = NULL;
    cellar_spend_result result = {.is_new = 0};
    cellar_status status = cellar_protect_prepare(table, m, options, &prepared, &err);
    if (status == CELLAR_OK)
        status = spend_on(place, prepared, ledger, request, name, &result, &release);
    if (status != CELLAR_OK || !result.is_new)
        assert_null(release);
    cellar_release_free(release);
    cellar_prepared_free(prepared);
    cellar_mechanism_free(m);
    cellar_table_free(table);
    return status;
}

static void test_a_refusal_charges_nothing(void **state)
{
    static const struct {
        const char *spec, *delta, *unit, *request, *name, *says;
        int seeded;
        cellar_status want;
    } cases[] = {
        {"identity", NULL, "person", "r", "out.csv", "no guarantee to charge for", 0,
         CELLAR_ERR_RULE},
        {"gaussian:sigma=4", NULL, "person", "r", "out.csv", "has neither", 0, CELLAR_ERR_ARGUMENT},
        {"gaussian:sigma=4", "1", "person", "r", "out.csv", "below 1", 0, CELLAR_ERR_ARGUMENT},
        {"gaussian:sigma=4", "much", "person", "r", "out.csv", "a decimal", 0, CELLAR_ERR_ARGUMENT},
        {"laplace:epsilon=2", NULL, "person", "r", "out.csv", "", 0, CELLAR_ERR_BUDGET},
        {"laplace:epsilon=0.5", NULL, "household", "r", "out.csv", "household", 0, CELLAR_ERR_RULE},
        {"laplace:epsilon=0.5", NULL, "person", "r", "out", "format", 0, CELLAR_ERR_ARGUMENT},
        {"laplace:epsilon=0.5", NULL, "person", "r", "key.csv", "exists already", 0,
         CELLAR_ERR_EXISTS},
        {"laplace:epsilon=0.5", NULL, "person", NULL, "out.csv", "a request", 0,
         CELLAR_ERR_ARGUMENT},
        {"laplace:epsilon=0.5", NULL, "person", "r", "out.csv", "a simulation", 1, CELLAR_ERR_RULE},
    };
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    const size_t n_entries = cellar_ledger_n_entries(ledger);
    copy_file(place, "key", "key.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_protect_options options = person();
        const size_t n_files = scratch_walk(place, 0);
        cellar_status status;
        options.accept |= CELLAR_ACCEPT_NO_PROTECTION;
        options.unit = cases[i].unit;
        options.delta = cases[i].delta;
        if (cases[i].seeded)
            CHECK_OK(cellar_rng_create_seeded(1, 0, &options.rng, &err));
        status = attempt(place, ledger, cases[i].spec, &options, cases[i].request, cases[i].name);
        if (status != cases[i].want || strstr(err.message, cases[i].says) == NULL)
            fail_msg("case %zu: %s: %s", i, cellar_status_name(status), err.message);
        assert_int_equal(cellar_ledger_n_entries(ledger), n_entries);
        assert_int_equal(scratch_walk(place, 0), n_files);
        cellar_rng_free(options.rng);
    }
    cellar_ledger_close(ledger);
}

/* ---- a request asked again ------------------------------------------------------------------ */

static void read_bytes(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void test_a_known_request_is_found(void **state)
{
    static const char spec[] = "laplace:epsilon=0.25";
    static char before[4096], after[4096];
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_protect_options options = person(), other = person();
    size_t n_entries;
    CHECK_OK(attempt(place, ledger, spec, &options, "one", "one.csv"));
    n_entries = cellar_ledger_n_entries(ledger);
    read_bytes(scratch_path(place, "one.csv"), before, sizeof before);
    options.date = "2020-01-01"; /* decides nothing */
    CHECK_OK(attempt(place, ledger, spec, &options, "one", "one.csv"));
    read_bytes(scratch_path(place, "one.csv"), after, sizeof after);
    assert_string_equal(before, after);
    other.delta = "1e-8";
    assert_int_equal(attempt(place, ledger, spec, &other, "one", "one.csv"), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "something else"));
    assert_int_equal(attempt(place, ledger, spec, &options, "one", "two.csv"), CELLAR_ERR_RULE);
    assert_int_equal(attempt(place, ledger, "laplace:epsilon=0.2", &options, "one", "one.csv"),
                     CELLAR_ERR_RULE);
    assert_int_equal(cellar_ledger_n_entries(ledger), n_entries);
    cellar_ledger_close(ledger);
}

/* ---- the whole way in one call ----------------------------------------------------------- */

static void test_any_spec_in_one_call(void **state)
{
    static char written[4096], again[4096];
    scratch *place = *state;
    cellar_ledger *ledger = open_book(place, CELLAR_NEIGHBOURS_SUBSTITUTE, 0);
    const cellar_payment payment = {.dataset = "census", .request = "one"};
    cellar_charged_file file = {.path = scratch_path(place, "one.csv")};
    cellar_protect_options options = keep();
    cellar_table *table = small_table_create(&with_margins);
    cellar_release *release;
    size_t n_entries;

    options.total_epsilon = "2"; /* of four cells on both sides of a substitution */
    CHECK_OK(
        cellar_protect_spec(table, "laplace", &options, ledger, &payment, &file, &release, &err));
    assert_string_equal(cellar_release_mechanism(release), "laplace:epsilon=0.25");
    assert_string_equal(cellar_release_unit(release), "person");
    cellar_release_free(release);
    n_entries = cellar_ledger_n_entries(ledger);
    read_bytes(file.path, written, sizeof written);
    CHECK_OK(
        cellar_protect_spec(table, "laplace", &options, ledger, &payment, &file, &release, &err));
    read_bytes(file.path, again, sizeof again);
    assert_string_equal(written, again);
    assert_int_equal(cellar_ledger_n_entries(ledger), n_entries);
    cellar_release_free(release);

    options.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE;
    assert_int_equal(
        cellar_protect_spec(table, "laplace", &options, ledger, &payment, &file, &release, &err),
        CELLAR_ERR_ARGUMENT);
    assert_null(release);
    CHECK_OK(cellar_protect_spec(table, "laplace", &options, NULL, NULL, NULL, &release, &err));
    assert_string_equal(cellar_release_mechanism(release), "laplace:epsilon=0.5");
    cellar_release_free(release);
    file.path = NULL;
    options.neighbours = CELLAR_NEIGHBOURS_DEFAULT;
    assert_int_equal(
        cellar_protect_spec(table, "laplace", &options, ledger, &payment, &file, &release, &err),
        CELLAR_ERR_ARGUMENT);
    cellar_table_free(table);
    cellar_ledger_close(ledger);
}

/* ---- what is known before the draw ------------------------------------------------------------
 */

static void test_prepared_releases_tell(void **state)
{
    static const char spec[] = "multinomial-dirichlet:alpha=20";
    cellar_protect_options options = person();
    cellar_table *table = small_table_create(&plain);
    cellar_mechanism *m = make("laplace:epsilon=0.25");
    cellar_prepared *prepared;
    cellar_forecast forecast, same;
    const cellar_payment payment = {.dataset = "census", .request = "one"};
    char stamp[CELLAR_STAMP_TEXT];
    (void) state;
    CHECK_OK(cellar_protect_prepare(table, m, &options, &prepared, &err));
    CHECK_OK(cellar_prepared_forecast(prepared, &forecast, &err));
    CHECK_OK(cellar_protect_forecast(table, m, &options, &same, &err));
    assert_true(forecast.size == same.size && forecast.bias == same.bias);
    assert_string_equal(forecast.total_epsilon, "0.25");
    assert_string_equal(cellar_prepared_mechanism(prepared), cellar_mechanism_spec(m));
    assert_int_equal(cellar_prepared_shows_total(prepared), 0);
    assert_string_equal(cellar_certificate_pure_exact(cellar_prepared_certificate(prepared)),
                        "0.25");
    assert_int_equal(cellar_prepared_note(prepared, NULL, &payment, stamp, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_prepared_free(prepared);
    options.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    CHECK_OK(cellar_protect_prepare_dirichlet(table, spec, &options, &prepared, &err));
    assert_int_equal(cellar_prepared_shows_total(prepared), 1);
    assert_int_equal(cellar_prepared_forecast(prepared, &forecast, &err), CELLAR_ERR_ARGUMENT);
    cellar_prepared_free(prepared);
    cellar_mechanism_free(m);
    cellar_table_free(table);
}

/* ---- memory ------------------------------------------------------------------------------- */

typedef struct whole {
    scratch *place;
    cellar_table *table;
    cellar_mechanism *mechanism;
    cellar_ledger *ledger;
    int n; /* requests so far */
} whole;

static cellar_status prepare_and_spend(void *context, cellar_error *error)
{
    whole *w = context;
    cellar_protect_options options = person();
    char request[32], name[32];
    cellar_payment payment = {.dataset = "census", .request = request};
    cellar_charged_file file = {.write = {.format = CELLAR_TABLE_CSVW, .title = "people"}};
    cellar_prepared *prepared = NULL;
    cellar_release *release = NULL;
    cellar_spend_result result;
    cellar_status status = CELLAR_OK;
    snprintf(request, sizeof request, "r%d", w->n);
    snprintf(name, sizeof name, "out%d.csv", w->n++);
    file.path = scratch_path(w->place, name);
    options.n_threads = 1;
    options.date = "2026-11-18";
    options.delta = "1e-7";
    CELLAR_TRY(cellar_protect_prepare(w->table, w->mechanism, &options, &prepared, error));
    CELLAR_TRY(
        cellar_prepared_spend(prepared, w->ledger, &payment, &file, &result, &release, error));
out:
    if (status != CELLAR_OK)
        assert_null(release);
    cellar_release_free(release);
    cellar_prepared_free(prepared);
    return status;
}

static void test_memory_may_end(void **state)
{
    whole w = {.place = *state,
               .table = small_table_create(&plain),
               .mechanism = make("laplace:epsilon=0.001"),
               .ledger = open_book(*state, CELLAR_NEIGHBOURS_ADD_REMOVE, 0)};
    check_fail_every(prepare_and_spend, &w);
    cellar_ledger_close(w.ledger);
    cellar_mechanism_free(w.mechanism);
    cellar_table_free(w.table);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_price_is_printed),     TEST(test_a_refusal_charges_nothing),
        TEST(test_a_known_request_is_found), cmocka_unit_test(test_prepared_releases_tell),
        TEST(test_memory_may_end),           TEST(test_any_spec_in_one_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
