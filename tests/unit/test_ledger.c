/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger: amounts, caps, requests asked again, a history that cannot be changed unseen. */
#include "check.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#include <cellar/ledger.h>
#include <cellar/output.h>

#include "base/error.h"
#include "fail_every.h"
#include "privacy/ledger.h"
#include "scratch.h"

static cellar_error err;

#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        if ((call) != CELLAR_OK)                                                                   \
            fail_msg("%s", err.message);                                                           \
    } while (0)

/* ---- amounts ------------------------------------------------------------------------ */

static void test_amounts_round_up(void **state)
{
    static const struct {
        const char *epsilon, *delta;
        int64_t nano, atto;
    } cases[] = {
        {"0.5", "1e-6", 500000000, 1000000000000},
        {"0.1", "1e-18", 100000000, 1},
        {"0.0000000001", "1e-300", 1, 1},
        {"1.0000000001", "0.0000000000000000011", 1000000001, 2},
        {"0", "0", 0, 0},
        {"9223372036.8547758", "9.2", 9223372036854775800, 9200000000000000000},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_amounts amounts;
        CHECK_OK(cellar_amounts_read(cases[i].epsilon, cases[i].delta, NULL, &amounts, &err));
        assert_int_equal(amounts.epsilon_nano, cases[i].nano);
        assert_int_equal(amounts.delta_atto, cases[i].atto);
        assert_int_equal(amounts.rho_nano, CELLAR_NO_RHO);
    }
}

static void test_amounts_of_doubles(void **state)
{
    static const struct {
        double epsilon, delta, rho;
        int64_t nano, atto, rho_nano;
    } cases[] = {
        {0.5, 0x1p-30, 2, 500000000, 931322575, 2000000000}, /* 2^-30 = 931322574.6.. atto */
        {0.1, 1e-300, NAN, 100000001, 1, CELLAR_NO_RHO},     /* the double lies above 0.1 */
        {0, 0, 0, 0, 0, 0},
        {3, 1, 0x1p-100, 3000000000, 1000000000000000000, 1},
        {5e-324, 5e-324, 5e-324, 1, 1, 1},
        {9223372035.0, 9.0, 4.5, 9223372035000000000, 9000000000000000000, 4500000000},
    };
    static const double bad[] = {-1, NAN, INFINITY, 1e10, 1e300};
    cellar_amounts amounts;
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_OK(cellar_amounts_of_bounds(cases[i].epsilon, cases[i].delta, cases[i].rho, &amounts,
                                          &err));
        assert_int_equal(amounts.epsilon_nano, cases[i].nano);
        assert_int_equal(amounts.delta_atto, cases[i].atto);
        assert_int_equal(amounts.rho_nano, cases[i].rho_nano);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cellar_amounts_of_bounds(bad[i], 0, NAN, &amounts, &err),
                         CELLAR_ERR_ARGUMENT);
}

static void test_amounts_refused(void **state)
{
    static const char *const bad[] = {"-1", "", "x", "1e30", "nan", "inf", "1,5", "0x1"};
    cellar_amounts amounts;
    (void) state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(cellar_amounts_read(bad[i], NULL, NULL, &amounts, &err),
                         CELLAR_ERR_ARGUMENT);
}

static void test_amount_texts(void **state)
{
    static const struct {
        int64_t value;
        const char *nano, *atto;
    } cases[] = {{0, "0", "0"},
                 {1, "0.000000001", "0.000000000000000001"},
                 {1500000000, "1.5", "0.0000000015"},
                 {INT64_MAX, "9223372036.854775807", "9.223372036854775807"}};
    char text[CELLAR_AMOUNT_TEXT];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_amount_text_nano(cases[i].value, text);
        assert_string_equal(text, cases[i].nano);
        cellar_amount_text_atto(cases[i].value, text);
        assert_string_equal(text, cases[i].atto);
    }
}

/* ---- a ledger to try things on --------------------------------------------------------- */

static cellar_key *the_key(scratch *place)
{
    cellar_key *key;
    if (access(scratch_path(place, "key"), F_OK) != 0)
        CHECK_OK(cellar_key_create(scratch_path(place, "key"), NULL, &err));
    CHECK_OK(cellar_key_read(scratch_path(place, "key"), &key, &err));
    return key;
}

static cellar_ledger *reopen(scratch *place)
{
    cellar_key *key = the_key(place);
    cellar_ledger *ledger;
    CHECK_OK(cellar_ledger_open(scratch_path(place, "ledger"), key, &ledger, &err));
    cellar_key_free(key);
    return ledger;
}

static cellar_amounts amounts_of(const char *epsilon, const char *delta, const char *rho)
{
    cellar_amounts amounts;
    CHECK_OK(cellar_amounts_read(epsilon, delta, rho, &amounts, &err));
    return amounts;
}

static cellar_ledger_dataset dataset_named(const char *name)
{
    return (cellar_ledger_dataset){.name = name,
                                   .edition = "1",
                                   .unit = "person",
                                   .neighbours = "add-remove",
                                   .population = 1000,
                                   .cap = amounts_of("1", "1e-6", NULL)};
}

static cellar_ledger *fresh(scratch *place)
{
    cellar_key *key = the_key(place);
    cellar_ledger_dataset dataset = dataset_named("census");
    cellar_ledger *ledger;
    CHECK_OK(cellar_ledger_create(scratch_path(place, "ledger"), key, &err));
    cellar_key_free(key);
    ledger = reopen(place);
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    return ledger;
}

static cellar_charge charge_for(const char *request, const char *epsilon, const char *delta)
{
    return (cellar_charge){.request = request,
                           .dataset = "census",
                           .edition = "1",
                           .unit = "person",
                           .neighbours = "add-remove",
                           .mechanism = "discrete-laplace:epsilon=0.5",
                           .n_cells = 1,
                           .what = "age by sex",
                           .amounts = amounts_of(epsilon, delta, NULL)};
}

/* Writes the stamp and a number that differs at each draw. */
typedef struct draw {
    int n_draws, fail;
} draw;

static cellar_status draw_output(void *context, const char *staged, const char *stamp,
                                 cellar_error *error)
{
    draw *d = context;
    cellar_output *output;
    cellar_status status = cellar_output_open(staged, NULL, &output, error);
    d->n_draws++;
    if (status != CELLAR_OK)
        return status;
    cellar_output_printf(output, "{\"ledger\": \"%s\", \"released\": %d}\n", stamp, d->n_draws);
    if (d->fail) {
        cellar_output_discard(output);
        return cellar_fail(error, CELLAR_ERR_IO, "no luck");
    }
    return cellar_output_commit(output, error);
}

static cellar_status spend(cellar_ledger *ledger, const cellar_charge *charge, const char *path,
                           draw *d, cellar_spend_result *result)
{
    cellar_spend_options options = {.path = path};
    return cellar_ledger_spend(ledger, charge, &options, draw_output, d, result, &err);
}

/* ---- spending -------------------------------------------------------------------------- */

static void test_a_request_is_drawn_once(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r1", "0.4", NULL);
    cellar_spend_result result;
    cellar_balance balance;
    draw d = {0, 0};
    char path[400];

    snprintf(path, sizeof path, "%s", scratch_path(place, "table.json"));
    CHECK_OK(spend(ledger, &charge, path, &d, &result));
    assert_int_equal(result.is_new, 1);
    assert_int_equal(result.state, CELLAR_CHARGE_DONE);
    assert_int_equal(scratch_mode(place, "table.json"), 0644);
    CHECK_OK(spend(ledger, &charge, path, &d, &result));
    assert_int_equal(result.is_new, 0);
    assert_int_equal(d.n_draws, 1);
    CHECK_OK(cellar_ledger_balance(ledger, "census", NULL, &balance, &err));
    assert_int_equal(balance.spent.epsilon_nano, 400000000);
    assert_int_equal(balance.left.epsilon_nano, 600000000);

    charge.what = "something else";
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_RULE);
    charge.what = "age by sex";
    unlink(path);
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_RULE);
    assert_int_equal(d.n_draws, 1);
    cellar_ledger_close(ledger);
}

static void test_over_the_cap_nothing_happens(void **state)
{
    static const struct {
        const char *epsilon, *delta;
        cellar_status status;
    } cases[] = {{"0.600000001", NULL, CELLAR_OK},
                 {"0.4", NULL, CELLAR_ERR_BUDGET},
                 {"0.399999999", "0.0000010000001", CELLAR_ERR_BUDGET},
                 {"0.39999999901", NULL, CELLAR_ERR_BUDGET},
                 {"0.399999999", "1e-6", CELLAR_OK},
                 {"0", "1e-18", CELLAR_ERR_BUDGET},
                 {"0.000000000001", NULL, CELLAR_ERR_BUDGET}};
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_spend_result result;
    draw d = {0, 0};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char request[16], path[400];
        int before = d.n_draws;
        size_t n_entries = cellar_ledger_n_entries(ledger);
        cellar_charge charge;
        snprintf(request, sizeof request, "r%zu", i);
        charge = charge_for(request, cases[i].epsilon, cases[i].delta);
        snprintf(path, sizeof path, "%s", scratch_path(place, request));
        assert_int_equal(spend(ledger, &charge, path, &d, &result), cases[i].status);
        if (cases[i].status == CELLAR_OK)
            continue;
        assert_int_equal(d.n_draws, before);
        assert_int_equal(cellar_ledger_n_entries(ledger), n_entries);
        assert_int_equal(access(path, F_OK), -1);
        assert_non_null(strstr(err.message, "left"));
    }
    CHECK_OK(cellar_ledger_verify(ledger, &err));
    cellar_ledger_close(ledger);
}

static void test_a_failed_draw_stays_paid(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r", "0.4", NULL);
    cellar_spend_result result;
    cellar_balance balance;
    draw d = {0, 1};
    char path[400];

    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_IO);
    assert_non_null(strstr(err.message, "stays charged"));
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    d.fail = 0;
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_RULE);
    assert_int_equal(d.n_draws, 1);
    CHECK_OK(cellar_ledger_balance(ledger, "census", NULL, &balance, &err));
    assert_int_equal(balance.spent.epsilon_nano, 400000000);
    assert_int_equal(access(path, F_OK), -1);
    cellar_ledger_close(ledger);
}

/* What a run leaves that was stopped after each step, and what the next run makes of it. */
static void test_interrupted_requests(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge lost = charge_for("lost", "0.1", NULL),
                  finish = charge_for("finish", "0.1", NULL);
    cellar_charge named = charge_for("named", "0.1", NULL), gone = charge_for("gone", "0.1", NULL);
    cellar_charge_state before;
    cellar_spend_result result;
    draw d = {0, 0}, none = {0, 0};
    char path[400], digest[CELLAR_LEDGER_HASH_TEXT];
    cellar_text staged = {0};
    int found;

    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    CHECK_OK(cellar_ledger_charge(ledger, &lost, path, &before, &err));
    CHECK_OK(cellar_ledger_staged_path("lost", path, &staged, &err));
    CHECK_OK(draw_output(&d, staged.bytes, "", &err));
    assert_int_equal(spend(ledger, &lost, path, &none, &result), CELLAR_ERR_RULE);
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    assert_int_equal(access(staged.bytes, F_OK), -1);

    cellar_text_reset(&staged);
    CHECK_OK(cellar_ledger_charge(ledger, &finish, path, &before, &err));
    CHECK_OK(cellar_ledger_staged_path("finish", path, &staged, &err));
    CHECK_OK(draw_output(&d, staged.bytes, "", &err));
    CHECK_OK(cellar_ledger_digest(staged.bytes, path, NULL, &found, digest, &err));
    CHECK_OK(cellar_ledger_note_staged(ledger, "finish", digest, &err));
    CHECK_OK(spend(ledger, &finish, path, &none, &result));
    assert_int_equal(result.state, CELLAR_CHARGE_DONE);
    scratch_expect(place, "t", "{\"ledger\": \"\", \"released\": 2}\n");

    snprintf(path, sizeof path, "%s", scratch_path(place, "t2"));
    CHECK_OK(cellar_ledger_charge(ledger, &named, path, &before, &err));
    CHECK_OK(draw_output(&d, path, "", &err));
    CHECK_OK(cellar_ledger_digest(NULL, path, NULL, &found, digest, &err));
    CHECK_OK(cellar_ledger_note_staged(ledger, "named", digest, &err));
    CHECK_OK(spend(ledger, &named, path, &none, &result));
    assert_int_equal(result.state, CELLAR_CHARGE_DONE);

    snprintf(path, sizeof path, "%s", scratch_path(place, "t3"));
    CHECK_OK(cellar_ledger_charge(ledger, &gone, path, &before, &err));
    CHECK_OK(cellar_ledger_note_staged(ledger, "gone", digest, &err));
    assert_int_equal(spend(ledger, &gone, path, &none, &result), CELLAR_ERR_RULE);
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    assert_int_equal(none.n_draws, 0);
    CHECK_OK(cellar_ledger_verify(ledger, &err));
    cellar_text_clear(&staged);
    cellar_ledger_close(ledger);
}

static void test_existing_files_are_found_before_paying(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r", "0.4", NULL);
    cellar_spend_result result;
    draw d = {0, 0};
    char path[400];
    scratch_write(place, "there", "x");
    snprintf(path, sizeof path, "%s", scratch_path(place, "there"));
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_EXISTS);
    assert_int_equal(cellar_ledger_state(ledger, "r"), CELLAR_CHARGE_NONE);
    assert_int_equal(spend(ledger, &charge, "-", &d, &result), CELLAR_ERR_ARGUMENT);
    cellar_ledger_close(ledger);
}

static void test_rho(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_ledger_dataset dataset = dataset_named("gauss");
    cellar_charge charge = charge_for("pure", "0.3", NULL);
    cellar_charge_state before;
    cellar_balance balance;
    dataset.cap = amounts_of(NULL, NULL, "0.1");
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    charge.dataset = "gauss";
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err)); /* 0.3^2/2 = 0.045 */
    charge.request = "approximate";
    charge.amounts = amounts_of("0.3", "1e-9", NULL);
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err),
                     CELLAR_ERR_ARGUMENT);
    charge.amounts.rho_nano = 55000001;
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_BUDGET);
    charge.amounts.rho_nano = 55000000;
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    CHECK_OK(cellar_ledger_balance(ledger, "gauss", NULL, &balance, &err));
    assert_int_equal(balance.by_rho, 1);
    assert_int_equal(balance.left.rho_nano, 0);
    cellar_ledger_close(ledger);
}

static void test_analysts(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("a1", "0.3", NULL);
    cellar_charge_state before;
    CHECK_OK(
        cellar_ledger_add_analyst(ledger, "census", "ana", amounts_of("0.5", NULL, NULL), &err));
    assert_int_equal(
        cellar_ledger_add_analyst(ledger, "census", "ana", amounts_of("0.7", NULL, NULL), &err),
        CELLAR_ERR_RULE);
    charge.analyst = "ana";
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    charge.request = "a2";
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_BUDGET);
    assert_non_null(strstr(err.message, "ana"));
    charge.analyst = "bob"; /* no cap of his own: the dataset's counts */
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    charge.request = "a3";
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    charge.request = "a4";
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_BUDGET);
    cellar_ledger_close(ledger);
}

static void test_what_is_refused(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_ledger_dataset dataset = dataset_named("big delta");
    cellar_charge charge = charge_for("r", "0.1", NULL);
    cellar_charge_state before;

    dataset.cap = amounts_of("1", "0.001", NULL); /* 1/1000 exactly */
    assert_int_equal(cellar_ledger_add_dataset(ledger, &dataset, &err), CELLAR_ERR_RULE);
    dataset.cap.delta_atto--;
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    dataset = dataset_named("accepted");
    dataset.cap = amounts_of("1", "0.01", NULL);
    dataset.accept_delta = 1;
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    charge.dataset = "accepted";
    charge.amounts = amounts_of("0.1", "0.002", NULL);
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_RULE);
    charge.accept_delta = 1;
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));

    assert_int_equal(cellar_ledger_add_dataset(ledger, &dataset, &err), CELLAR_ERR_RULE);
    dataset = dataset_named("no population");
    dataset.population = 0;
    assert_int_equal(cellar_ledger_add_dataset(ledger, &dataset, &err), CELLAR_ERR_ARGUMENT);
    dataset = dataset_named("two\nlines");
    assert_int_equal(cellar_ledger_add_dataset(ledger, &dataset, &err), CELLAR_ERR_ARGUMENT);
    dataset = dataset_named("both");
    dataset.cap.rho_nano = 1;
    assert_int_equal(cellar_ledger_add_dataset(ledger, &dataset, &err), CELLAR_ERR_ARGUMENT);

    charge = charge_for("q", "0.1", NULL);
    charge.neighbours = "substitute";
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_RULE);
    charge = charge_for("q", "0.1", NULL);
    charge.edition = "2";
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err),
                     CELLAR_ERR_ARGUMENT);
    CHECK_OK(cellar_ledger_add_edition(ledger, "census", "2", &err));
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    charge = charge_for("z", "0", NULL);
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err),
                     CELLAR_ERR_ARGUMENT);
    charge = charge_for("z", "0.1", NULL);
    charge.dataset = "none";
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_ledger_close(ledger);
}

static void test_uncharged_entries_change_the_statement(void **state)
{
    static const struct {
        cellar_uncharged kind;
        const char *says;
    } cases[] = {{CELLAR_UNCHARGED_CELL_KEY, "has no differential privacy"},
                 {CELLAR_UNCHARGED_INVARIANT, "agree on it"},
                 {CELLAR_UNCHARGED_ELSEWHERE, "is not known here"}};
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    for (size_t i = 0; i < 3; i++) {
        assert_null(strstr(cellar_ledger_statement(ledger, "census"), cases[i].says));
        CHECK_OK(cellar_ledger_enter(ledger, "census", "1", cases[i].kind, "table 7", &err));
        assert_non_null(strstr(cellar_ledger_statement(ledger, "census"), cases[i].says));
    }
    assert_null(cellar_ledger_statement(ledger, "none"));
    cellar_ledger_close(ledger);
}

/* ---- the history ------------------------------------------------------------------------- */

static void run_sql(scratch *place, const char *name, const char *sql)
{
    sqlite3 *db;
    char *message = NULL;
    assert_int_equal(sqlite3_open(scratch_path(place, name), &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static void test_edits_are_found(void **state)
{
    static const char *const edits[] = {
        "DROP TRIGGER entry_is_never_changed",
        "CREATE TABLE more (x)",
        "CREATE INDEX i ON entry (body)",
        "PRAGMA user_version=2",
        "PRAGMA writable_schema=1; DELETE FROM sqlite_schema WHERE type = 'trigger'",
        /* with the schema put back as it was */
        "U:UPDATE entry SET body = replace(body, '100000000', '1') WHERE number = 3",
        "U:UPDATE entry SET mac = x'00' WHERE number = 3",
        "U:UPDATE entry SET body = body || ' ' WHERE number = 2",
        "U:UPDATE entry SET number = 9 WHERE number = 4",
        "D:DELETE FROM entry WHERE number = 3",
        "D:DELETE FROM entry",
        "D:DELETE FROM entry WHERE number = 1",
    };
    scratch *place = *state;
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        cellar_ledger *ledger = fresh(place);
        cellar_key *key = the_key(place);
        cellar_charge one = charge_for("1", "0.1", NULL), two = charge_for("2", "0.1", NULL);
        cellar_charge_state before;
        char sql[600];
        const char *edit = edits[i];
        CHECK_OK(cellar_ledger_charge(ledger, &one, "/x", &before, &err));
        CHECK_OK(cellar_ledger_charge(ledger, &two, "/x", &before, &err));
        cellar_ledger_close(ledger);
        if (edit[1] == ':') {
            const char *name = edit[0] == 'U' ? "changed" : "removed";
            snprintf(sql, sizeof sql,
                     "DROP TRIGGER entry_is_never_%s; %s; CREATE TRIGGER entry_is_never_%s BEFORE "
                     "%s ON entry BEGIN SELECT RAISE(ABORT, 'entries are never %s'); END",
                     name, edit + 2, name, edit[0] == 'U' ? "UPDATE" : "DELETE", name);
            edit = sql;
        }
        run_sql(place, "ledger", edit);
        if (cellar_ledger_open(scratch_path(place, "ledger"), key, &ledger, &err) == CELLAR_OK)
            fail_msg("not found: %s", edits[i]);
        assert_null(ledger);
        cellar_key_free(key);
        unlink(scratch_path(place, "ledger"));
    }
}

static void test_another_key_is_told(void **state)
{
    scratch *place = *state;
    cellar_key *key;
    cellar_ledger *ledger = fresh(place);
    cellar_ledger_close(ledger);
    CHECK_OK(cellar_key_create(scratch_path(place, "other"), NULL, &err));
    CHECK_OK(cellar_key_read(scratch_path(place, "other"), &key, &err));
    assert_int_equal(cellar_ledger_open(scratch_path(place, "ledger"), key, &ledger, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, cellar_key_id(key)));
    cellar_key_free(key);
}

static void copy_file(scratch *place, const char *from, const char *to)
{
    char command[1000], a[400];
    snprintf(a, sizeof a, "%s", scratch_path(place, from));
    snprintf(command, sizeof command, "cp '%s' '%s'", a, scratch_path(place, to));
    assert_int_equal(system(command), 0);
}

/* A release tells the history it was charged in from one that was cut short or branched off. */
static void test_backups_are_found_by_releases(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge one = charge_for("1", "0.1", NULL), two = charge_for("2", "0.1", NULL);
    cellar_spend_result result;
    cellar_against against;
    draw d = {0, 0};
    char first[400], second[400];

    snprintf(first, sizeof first, "%s", scratch_path(place, "first"));
    snprintf(second, sizeof second, "%s", scratch_path(place, "second"));
    CHECK_OK(spend(ledger, &one, first, &d, &result));
    copy_file(place, "ledger", "backup");
    CHECK_OK(spend(ledger, &two, second, &d, &result));
    CHECK_OK(cellar_ledger_verify_against(ledger, first, &against, &err));
    assert_int_equal(against.same_bytes, 1);
    assert_string_equal(against.request, "1");
    CHECK_OK(cellar_ledger_verify_against(ledger, second, &against, &err));
    scratch_write(place, "plain", "no stamp");
    assert_int_equal(
        cellar_ledger_verify_against(ledger, scratch_path(place, "plain"), &against, &err),
        CELLAR_ERR_INPUT);
    cellar_ledger_close(ledger);

    copy_file(place, "backup", "ledger");
    ledger = reopen(place);
    CHECK_OK(cellar_ledger_verify(ledger, &err));
    CHECK_OK(cellar_ledger_verify_against(ledger, first, &against, &err));
    assert_int_equal(cellar_ledger_verify_against(ledger, second, &against, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "cut short"));
    two.request = "other";
    CHECK_OK(spend(ledger, &two, scratch_path(place, "third"), &d, &result));
    assert_int_equal(cellar_ledger_verify_against(ledger, second, &against, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "another history"));
    cellar_ledger_close(ledger);
}

static void test_two_ledgers_on_one_file(void **state)
{
    scratch *place = *state;
    cellar_ledger *a = fresh(place), *b = reopen(place);
    cellar_charge one = charge_for("1", "0.6", NULL), two = charge_for("2", "0.6", NULL);
    cellar_charge_state before;
    CHECK_OK(cellar_ledger_charge(a, &one, "/x", &before, &err));
    assert_int_equal(cellar_ledger_charge(b, &two, "/x", &before, &err), CELLAR_ERR_BUDGET);
    CHECK_OK(cellar_ledger_charge(b, &one, "/x", &before, &err));
    assert_int_equal(before, CELLAR_CHARGE_CHARGED);
    assert_int_equal(cellar_ledger_n_entries(a), cellar_ledger_n_entries(b));
    assert_string_equal(cellar_ledger_head(a), cellar_ledger_head(b));
    cellar_ledger_close(a);
    cellar_ledger_close(b);
}

static void test_where_a_ledger_may_lie(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_key *key = the_key(place);
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path(place, "ledger"));
    cellar_ledger_close(ledger);
    assert_int_equal(scratch_mode(place, "ledger"), 0600);
    assert_int_equal(cellar_ledger_create(path, key, &err), CELLAR_ERR_EXISTS);
    assert_int_equal(cellar_ledger_check_place("/proc/self", &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "locks"));
    assert_int_equal(link(path, scratch_path(place, "second name")), 0);
    assert_int_equal(cellar_ledger_open(path, key, &ledger, &err), CELLAR_ERR_RULE);
    unlink(scratch_path(place, "second name"));
    assert_int_equal(symlink(path, scratch_path(place, "link")), 0);
    assert_int_equal(cellar_ledger_open(scratch_path(place, "link"), key, &ledger, &err),
                     CELLAR_ERR_RULE);
    chmod(path, 0666);
    assert_int_equal(cellar_ledger_open(path, key, &ledger, &err), CELLAR_ERR_RULE);
    chmod(path, 0600);
    scratch_write(place, "text", "this is no ledger, it is a text file of some length");
    chmod(scratch_path(place, "text"), 0600);
    assert_int_equal(cellar_ledger_open(scratch_path(place, "text"), key, &ledger, &err),
                     CELLAR_ERR_INPUT);
    assert_int_equal(cellar_ledger_open(scratch_path(place, "none"), key, &ledger, &err),
                     CELLAR_ERR_IO);
    cellar_key_free(key);
}

/* ---- memory ------------------------------------------------------------------------------ */

static cellar_status whole_life(void *context, cellar_error *error)
{
    scratch *place = context;
    cellar_key *key = NULL;
    cellar_ledger *ledger = NULL;
    cellar_ledger_dataset dataset = dataset_named("census");
    cellar_charge charge = charge_for("r", "0.1", NULL);
    cellar_spend_result result;
    cellar_spend_options options = {.replace = 1};
    draw d = {0, 0};
    char path[400], output[400];
    cellar_status status = CELLAR_OK;

    snprintf(path, sizeof path, "%s", scratch_path(place, "alloc"));
    snprintf(output, sizeof output, "%s", scratch_path(place, "alloc-out"));
    unlink(path);
    options.path = output;
    CELLAR_TRY(cellar_key_read(scratch_path(place, "key"), &key, error));
    CELLAR_TRY(cellar_ledger_create(path, key, error));
    CELLAR_TRY(cellar_ledger_open(path, key, &ledger, error));
    CELLAR_TRY(cellar_ledger_add_dataset(ledger, &dataset, error));
    CELLAR_TRY(cellar_ledger_spend(ledger, &charge, &options, draw_output, &d, &result, error));
    CELLAR_TRY(cellar_ledger_verify(ledger, error));
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_amounts_round_up),
        cmocka_unit_test(test_amounts_of_doubles),
        cmocka_unit_test(test_amounts_refused),
        cmocka_unit_test(test_amount_texts),
        TEST(test_a_request_is_drawn_once),
        TEST(test_over_the_cap_nothing_happens),
        TEST(test_a_failed_draw_stays_paid),
        TEST(test_interrupted_requests),
        TEST(test_existing_files_are_found_before_paying),
        TEST(test_rho),
        TEST(test_analysts),
        TEST(test_what_is_refused),
        TEST(test_uncharged_entries_change_the_statement),
        TEST(test_edits_are_found),
        TEST(test_another_key_is_told),
        TEST(test_backups_are_found_by_releases),
        TEST(test_two_ledgers_on_one_file),
        TEST(test_where_a_ledger_may_lie),
        TEST(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
