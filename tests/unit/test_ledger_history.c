/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A history that cannot be changed unseen, and where it may lie. */
#include "ledger_place.h"

#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

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
        "PRAGMA user_version=3",
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

/* A release tells the history it was charged in from one that was cut short or branched off. */
static void test_backups_are_found_by_releases(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge one = charge_for("1", "0.1", NULL), two = charge_for("2", "0.1", NULL);
    cellar_spend_result result;
    cellar_against against;
    draw d = {0, 0, 0};
    char first[400], second[400], text[300];

    snprintf(first, sizeof first, "%s", scratch_path(place, "first"));
    snprintf(second, sizeof second, "%s", scratch_path(place, "second"));
    CHECK_OK(spend(ledger, &one, first, &d, &result));
    copy_file(place, "ledger", "backup");
    CHECK_OK(spend(ledger, &two, second, &d, &result));
    CHECK_OK(cellar_ledger_verify_against(ledger, first, &against, &err));
    assert_string_equal(against.request, "1");
    CHECK_OK(cellar_ledger_verify_against(ledger, second, &against, &err));
    snprintf(text, sizeof text, "x=\"%.20s\"\r\n\"%.9s\"\n\"%s\";", result.stamp, result.stamp + 20,
             result.stamp + 29);
    scratch_write(place, "pieces", text); /* as PC-Axis breaks it */
    assert_int_equal(/* its stamp is good, its bytes are not those that were recorded */
                     cellar_ledger_verify_against(ledger, scratch_path(place, "pieces"), &against,
                                                  &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "recorded for request '2'"));
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

/* The same request from the same copy, drawn twice: nothing but chance tells the entries apart. */
static void test_no_two_draws_have_one_stamp(void **state)
{
    scratch *place = *state;
    cellar_charge charge = charge_for("1", "0.1", NULL);
    cellar_spend_result first, second;
    cellar_against against;
    draw d = {0, 0, 0};
    char path[400];

    cellar_ledger_close(fresh(place));
    snprintf(path, sizeof path, "%s", scratch_path(place, "table"));
    copy_file(place, "ledger", "backup");
    for (int i = 0; i < 2; i++) {
        cellar_ledger *ledger = reopen(place);
        CHECK_OK(spend(ledger, &charge, path, &d, i == 0 ? &first : &second));
        CHECK_OK(cellar_ledger_verify_against(ledger, path, &against, &err));
        cellar_ledger_close(ledger);
        rename(path, scratch_path(place, i == 0 ? "first" : "second"));
        if (i == 0)
            copy_file(place, "backup", "ledger");
    }
    assert_string_not_equal(first.stamp, second.stamp);
    {
        cellar_ledger *ledger = reopen(place);
        CHECK_OK(
            cellar_ledger_verify_against(ledger, scratch_path(place, "second"), &against, &err));
        assert_int_equal(
            cellar_ledger_verify_against(ledger, scratch_path(place, "first"), &against, &err),
            CELLAR_ERR_RULE);
        cellar_ledger_close(ledger);
    }
}

/* Chance, and not the clock, keeps entries apart. */
static void test_every_entry_has_a_nonce_of_its_own(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    for (size_t i = 1; i < ledger->n_entries; i++)
        assert_string_not_equal(ledger->entries[i]->nonce, ledger->entries[0]->nonce);
    assert_true(ledger->n_entries > 1);
    cellar_ledger_close(ledger);
}

/* A clock that went back does not put an entry before the one that it follows. */
static void test_times_never_go_back(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    char out[24];
    assert_string_equal(cellar_ledger_time(ledger, 0, out),
                        ledger->entries[ledger->n_entries - 1]->time);
    assert_string_equal(cellar_ledger_time(ledger, INT64_C(4102444800), out),
                        "2100-01-01T00:00:00Z");
    cellar_ledger_close(ledger);
}

/* Somebody who has the key appends entries that no program would. */
static void test_impossible_histories_are_found(void **state)
{
    scratch *place = *state;
    for (int twice = 0; twice < 2; twice++) {
        cellar_ledger *ledger = fresh(place);
        cellar_charge charge = charge_for("r", "0.1", NULL);
        cellar_charge_state before;
        cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_DONE, .request = "nobody asked"};
        CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
        if (twice)
            entry = *cellar_ledger_find_request(ledger, "r", CELLAR_ENTRY_CHARGE);
        CHECK_OK(cellar_ledger_begin(ledger, &err));
        CHECK_OK(cellar_ledger_append(ledger, &entry, &err));
        CHECK_OK(cellar_ledger_end(ledger, CELLAR_OK, &err));
        assert_int_equal(cellar_ledger_verify(ledger, &err), CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, twice ? "charged twice" : "without a charge"));
        cellar_ledger_close(ledger);
        unlink(scratch_path(place, "ledger"));
    }
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
    assert_int_equal(cellar_ledger_create("/proc/self/ledger", key, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "/proc/self/ledger: lies on"));
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_edits_are_found),
        TEST(test_another_key_is_told),
        TEST(test_backups_are_found_by_releases),
        TEST(test_no_two_draws_have_one_stamp),
        TEST(test_every_entry_has_a_nonce_of_its_own),
        TEST(test_times_never_go_back),
        TEST(test_impossible_histories_are_found),
        TEST(test_two_ledgers_on_one_file),
        TEST(test_where_a_ledger_may_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
