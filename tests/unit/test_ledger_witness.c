/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A witness: older copies of a ledger are refused, whatever moment a program was stopped at. */
#include "ledger_place.h"

#include <errno.h>
#include <string.h>

/* The witness as it is, or from a text. */
static char *witness_read(scratch *place)
{
    static char bytes[1 << 16];
    FILE *file = fopen(scratch_path(place, "witness"), "rb");
    size_t n;
    assert_non_null(file);
    n = fread(bytes, 1, sizeof bytes - 1, file);
    bytes[n] = '\0';
    fclose(file);
    return bytes;
}

static void witness_write(scratch *place, const char *bytes, size_t length)
{
    FILE *file = fopen(scratch_path(place, "witness"), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static cellar_status open_again(scratch *place, cellar_ledger **ledger)
{
    cellar_key *key = the_key(place);
    cellar_status status = cellar_ledger_open(scratch_path(place, "ledger"), key, ledger, &err);
    cellar_key_free(key);
    return status;
}

static void charge_one(cellar_ledger *ledger, const char *request)
{
    cellar_charge charge = charge_for(request, "0.1", NULL);
    cellar_charge_state before;
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    assert_int_equal(before, CELLAR_CHARGE_NONE);
}

static uint64_t n_seen(scratch *place, const cellar_ledger *ledger)
{
    cellar_sighting seen;
    CHECK_OK(cellar_witness_read(ledger, scratch_path(place, "witness"), &seen, &err));
    return seen.n_entries;
}

/* A copy of any age is refused, also by a program that had the newer one open. */
static void test_older_copies_are_refused(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place), *other;
    cellar_charge charge = charge_for("more", "0.1", NULL);
    cellar_charge_state before;
    char name[16];

    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "copy%d", i);
        copy_file(place, "ledger", name);
        charge_one(ledger, name);
        assert_int_equal(n_seen(place, ledger), 3 + i);
    }
    cellar_ledger_close(ledger);
    copy_file(place, "ledger", "newest");
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "copy%d", i);
        copy_file(place, name, "ledger");
        assert_int_equal(open_again(place, &other), CELLAR_ERR_RULE);
        assert_null(other);
        assert_non_null(strstr(err.message, "restored from an older copy"));
        assert_non_null(strstr(err.message, "cellar ledger adopt"));
    }
    copy_file(place, "newest", "ledger");
    ledger = reopen(place);
    copy_file(place, "copy2", "ledger"); /* while it is open */
    assert_int_not_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_OK);
    cellar_ledger_close(ledger);
}

/* A copy that was spent from while the witness was an old one, too, has as many entries as the
 * newest ledger, and others. */
static void test_another_history_of_the_same_length(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place);
    copy_file(place, "ledger", "older");
    copy_file(place, "witness", "older witness");
    charge_one(ledger, "one");
    cellar_ledger_close(ledger);
    copy_file(place, "witness", "newest witness");
    copy_file(place, "older", "ledger");
    copy_file(place, "older witness", "witness");
    ledger = reopen(place);
    charge_one(ledger, "another");
    cellar_ledger_close(ledger);
    copy_file(place, "newest witness", "witness");
    assert_int_equal(open_again(place, &ledger), CELLAR_ERR_RULE);
    assert_null(ledger);
    assert_non_null(strstr(err.message, "saw another history up to entry 3"));
}

/* A program is stopped after an entry is on disk and before, or while, the witness is told: the
 * last line lacks any number of its bytes. Nobody is refused, and the next entry mends it. */
static void test_a_line_that_was_cut_short(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place);
    char before[4096], after[4096];
    size_t n_before, n_after;

    snprintf(before, sizeof before, "%s", witness_read(place));
    charge_one(ledger, "1");
    snprintf(after, sizeof after, "%s", witness_read(place));
    cellar_ledger_close(ledger);
    copy_file(place, "ledger", "newest");
    n_before = strlen(before);
    n_after = strlen(after);
    assert_memory_equal(before, after, n_before);
    for (size_t length = n_before; length <= n_after; length++) {
        copy_file(place, "newest", "ledger");
        witness_write(place, after, length);
        CHECK_OK(open_again(place, &ledger));
        assert_int_equal(n_seen(place, ledger), length == n_after ? 3 : 2);
        charge_one(ledger, "2");
        assert_int_equal(n_seen(place, ledger), 4);
        cellar_ledger_close(ledger);
        copy_file(place, "newest", "ledger");
        assert_int_equal(open_again(place, &ledger), CELLAR_ERR_RULE);
    }
}

/* Only lines under the key count, and of these the newest, wherever it stands. */
static void test_lines_that_do_not_count(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place);
    char text[8192], first[300], forged[300];
    const char *lines, *second;

    charge_one(ledger, "1");
    lines = witness_read(place);
    second = strchr(lines + 1, '\n');
    snprintf(first, sizeof first, "%.*s", (int) (second - lines), lines);
    snprintf(forged, sizeof forged, "\ncellar-witness 1 %s 0 99 %s %s", cellar_ledger_id(ledger),
             cellar_ledger_head(ledger), cellar_ledger_head(ledger));
    snprintf(text, sizeof text, "%s%s%s\n\ncellar-witness 1 \nx%s", lines, first, forged, first);
    witness_write(place, text, strlen(text));
    assert_int_equal(n_seen(place, ledger), 3);
    charge_one(ledger, "2");
    assert_int_equal(n_seen(place, ledger), 4);
    cellar_ledger_close(ledger);
    for (int i = 0; i < 2; i++) { /* one that knows nothing of the ledger, and none */
        if (i == 0)
            witness_write(place, forged, strlen(forged));
        else
            unlink(scratch_path(place, "witness"));
        assert_int_equal(open_again(place, &ledger), CELLAR_ERR_RULE);
        assert_non_null(strstr(err.message, i == 0 ? "knows nothing" : "cannot be asked"));
    }
}

/* The witness cannot be told that a request was charged: nothing is drawn. */
static void test_nothing_is_drawn_unseen(void **state)
{
    enum { LARGE = 1 << 18 };
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place);
    cellar_charge charge = charge_for("r", "0.4", NULL);
    cellar_spend_result result;
    draw d = {0, 0, 0};
    FILE *file = fopen(scratch_path(place, "witness"), "ab");
    char path[400];

    assert_non_null(file);
    for (int i = 0; i < LARGE; i++)
        fputc('\n', file);
    fclose(file);
    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    limit_files(LARGE); /* enough for the ledger */
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_IO);
    limit_files(RLIM_INFINITY);
    assert_non_null(strstr(err.message, "write to the witness"));
    assert_non_null(strstr(err.message, "request 'r' stays charged with epsilon 0.4, delta 0"));
    assert_int_equal(result.state, CELLAR_CHARGE_CHARGED);
    assert_int_equal(n_seen(place, ledger), 2);
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_RULE);
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    assert_int_equal(n_seen(place, ledger), 4);
    assert_int_equal(d.n_draws, 0);
    cellar_ledger_close(ledger);
}

static int files_sync = 1;
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    if (files_sync)
        return __real_fsync(fd);
    errno = EIO;
    return -1;
}

/* What the witness heard must be on its disk, or it may forget. SQLite syncs by itself. */
static void test_nothing_is_drawn_before_the_witness_is_synced(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place);
    cellar_charge charge = charge_for("r", "0.4", NULL);
    cellar_spend_result result;
    draw d = {0, 0, 0};
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    files_sync = 0;
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_IO);
    files_sync = 1;
    assert_non_null(strstr(err.message, "write to the witness"));
    assert_int_equal(d.n_draws, 0);
    cellar_ledger_close(ledger);
}

static cellar_status adopt(scratch *place, const char *witness)
{
    cellar_key *key = the_key(place);
    char path[400];
    cellar_status status;
    snprintf(path, sizeof path, "%s", scratch_path(place, "ledger"));
    status = cellar_ledger_adopt(path, key, witness, &err);
    cellar_key_free(key);
    return status;
}

/* Adopting is on record, and each adoption makes all copies from before it too old: one that is
 * adopted again does not reach the generation of the first. */
static void test_adoptions(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place);
    const cellar_ledger_entry *entry;

    copy_file(place, "ledger", "copy");
    charge_one(ledger, "1");
    cellar_ledger_close(ledger);
    copy_file(place, "ledger", "newest");
    assert_int_equal(adopt(place, NULL), CELLAR_ERR_ARGUMENT);
    for (uint64_t generation = 1; generation <= 3; generation++) {
        copy_file(place, "copy", "ledger");
        CHECK_OK(adopt(place, NULL));
        ledger = reopen(place);
        assert_int_equal(cellar_ledger_n_entries(ledger), 3);
        entry = cellar_ledger_entry_at(ledger, 2);
        assert_int_equal(entry->kind, CELLAR_ENTRY_ADOPT);
        assert_int_equal(entry->generation, generation);
        assert_int_equal(entry->has_gap, 1);
        assert_non_null(strstr(cellar_ledger_statement(ledger, "census"), "adopted"));
        CHECK_OK(cellar_ledger_verify(ledger, &err));
        cellar_ledger_close(ledger);
        if (generation == 1)
            copy_file(place, "ledger", "first");
    }
    copy_file(place, "first", "ledger");
    assert_int_equal(open_again(place, &ledger), CELLAR_ERR_RULE);
    copy_file(place, "newest", "ledger");
    assert_int_equal(open_again(place, &ledger), CELLAR_ERR_RULE);
}

/* A witness at another place: copies from before are refused by the old one. Stopped between the
 * entry and the witness, the ledger is refused until it is adopted again. */
static void test_another_witness(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh_seen(place);
    char other[400];

    cellar_ledger_close(ledger);
    snprintf(other, sizeof other, "%s", scratch_path(place, "other"));
    copy_file(place, "ledger", "copy");
    CHECK_OK(adopt(place, other));
    ledger = reopen(place);
    assert_int_equal(cellar_ledger_entry_at(ledger, 2)->has_gap, 0);
    assert_null(strstr(cellar_ledger_statement(ledger, "census"), "adopted"));
    cellar_ledger_close(ledger);
    copy_file(place, "ledger", "newest");
    copy_file(place, "copy", "ledger");
    assert_int_equal(open_again(place, &ledger), CELLAR_ERR_RULE);
    copy_file(place, "newest", "ledger");
    scratch_write(place, "other", ""); /* not told yet */
    assert_int_equal(open_again(place, &ledger), CELLAR_ERR_RULE);
    CHECK_OK(adopt(place, NULL));
    ledger = reopen(place);
    charge_one(ledger, "1");
    cellar_ledger_close(ledger);
    scratch_write(place, "taken", "a file of its own");
    assert_int_equal(adopt(place, scratch_path(place, "taken")), CELLAR_ERR_INPUT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_older_copies_are_refused),
        TEST(test_another_history_of_the_same_length),
        TEST(test_a_line_that_was_cut_short),
        TEST(test_lines_that_do_not_count),
        TEST(test_nothing_is_drawn_unseen),
        TEST(test_nothing_is_drawn_before_the_witness_is_synced),
        TEST(test_adoptions),
        TEST(test_another_witness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
