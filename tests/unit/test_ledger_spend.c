/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spending: caps, requests asked again, what is refused, what the statement says. */
#include "ledger_place.h"

#include <fcntl.h>
#include <string.h>

#include <sodium.h>

static void test_a_request_is_drawn_once(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r1", "0.4", NULL);
    cellar_spend_result result;
    cellar_balance balance;
    draw d = {0, 0, 0};
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
    charge.content = "of other data";
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_RULE);
    assert_null(strstr(err.message, "stays charged")); /* that is another matter */
    charge.content = NULL;
    CHECK_OK(spend(ledger, &charge, path, &d, &result));
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
    draw d = {0, 0, 0};

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
    draw d = {0, 1, 0};
    char path[400];

    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_IO);
    assert_non_null(strstr(err.message, "request 'r' stays charged with epsilon 0.4, delta 0 "
                                        "(entry 3), and its output is lost"));
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    d.fail = 0;
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_RULE);
    assert_int_equal(d.n_draws, 1);
    CHECK_OK(cellar_ledger_balance(ledger, "census", NULL, &balance, &err));
    assert_int_equal(balance.spent.epsilon_nano, 400000000);
    assert_int_equal(access(path, F_OK), -1);
    cellar_ledger_close(ledger);
}

/* The output is complete when the disk fills up, and its digest cannot be recorded. */
static void test_a_full_disk_says_what_stays_charged(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r", "0.4", NULL);
    cellar_spend_result result;
    draw d = {0, 0, 1};
    char path[400];

    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_IO);
    limit_files(RLIM_INFINITY);
    assert_non_null(strstr(err.message, "request 'r' stays charged with epsilon 0.4, delta 0 "
                                        "(entry 3), and its output is lost: mend what failed and "
                                        "ask under a new request"));
    assert_int_equal(result.state, CELLAR_CHARGE_CHARGED);
    d.fill_disk = 0;
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_RULE);
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    assert_int_equal(d.n_draws, 1);
    assert_int_equal(access(path, F_OK), -1);
    CHECK_OK(cellar_ledger_verify(ledger, &err));
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
    draw d = {0, 0, 0}, none = {0, 0, 0};
    char path[400], digest[CELLAR_LEDGER_HASH_TEXT];
    cellar_text staged = {0};
    int found;

    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    CHECK_OK(cellar_ledger_charge(ledger, &lost, path, &before, &err));
    CHECK_OK(cellar_ledger_staged_path(ledger, "lost", path, &staged, &err));
    CHECK_OK(draw_output(&d, staged.bytes, "", &err));
    assert_int_equal(spend(ledger, &lost, path, &none, &result), CELLAR_ERR_RULE);
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    assert_int_equal(access(staged.bytes, F_OK), -1);

    cellar_text_reset(&staged);
    CHECK_OK(cellar_ledger_charge(ledger, &finish, path, &before, &err));
    CHECK_OK(cellar_ledger_staged_path(ledger, "finish", path, &staged, &err));
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

/* What waits for its name is no longer what was recorded. */
static void test_an_exchanged_output_is_not_published(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r", "0.1", NULL);
    cellar_charge_state before;
    cellar_spend_result result;
    draw d = {0, 0, 0}, none = {0, 0, 0};
    char path[400], digest[CELLAR_LEDGER_HASH_TEXT];
    cellar_text staged = {0};
    int found;

    snprintf(path, sizeof path, "%s", scratch_path(place, "t"));
    CHECK_OK(cellar_ledger_charge(ledger, &charge, path, &before, &err));
    CHECK_OK(cellar_ledger_staged_path(ledger, "r", path, &staged, &err));
    CHECK_OK(draw_output(&d, staged.bytes, "", &err));
    CHECK_OK(cellar_ledger_digest(staged.bytes, path, NULL, &found, digest, &err));
    CHECK_OK(cellar_ledger_note_staged(ledger, "r", digest, &err));
    unlink(staged.bytes);
    CHECK_OK(draw_output(&d, staged.bytes, "", &err)); /* another number */
    assert_int_equal(spend(ledger, &charge, path, &none, &result), CELLAR_ERR_RULE);
    assert_int_equal(result.state, CELLAR_CHARGE_LOST);
    assert_int_equal(none.n_draws, 0);
    assert_int_equal(access(path, F_OK), -1);
    cellar_text_clear(&staged);
    cellar_ledger_close(ledger);
}

/* Who works on a request keeps all others from it, and from no other request. */
static void test_a_request_is_held_alone(void **state)
{
    scratch *place = *state;
    cellar_ledger *a = fresh(place), *b = reopen(place);
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET}; /* anywhere in the file */
    CHECK_OK(cellar_ledger_hold(a, "r", &err));
    assert_int_equal(fcntl(b->lock_fd, F_OFD_GETLK, &lock), 0);
    assert_int_equal(lock.l_type, F_WRLCK);
    CHECK_OK(cellar_ledger_hold(b, "another", &err));
    cellar_ledger_let_go(b, "another");
    cellar_ledger_let_go(a, "r");
    lock = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_int_equal(fcntl(b->lock_fd, F_OFD_GETLK, &lock), 0);
    assert_int_equal(lock.l_type, F_UNLCK);
    cellar_ledger_close(a);
    cellar_ledger_close(b);
}

static void test_existing_files_are_found_before_paying(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r", "0.4", NULL);
    cellar_spend_result result;
    draw d = {0, 0, 0};
    char path[400];
    scratch_write(place, "there", "x");
    snprintf(path, sizeof path, "%s", scratch_path(place, "there"));
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_EXISTS);
    unlink(path);
    assert_int_equal(symlink("nowhere", path), 0);
    assert_int_equal(spend(ledger, &charge, path, &d, &result), CELLAR_ERR_EXISTS);
    if (geteuid() != 0) { /* to whom every folder is open */
        assert_int_equal(chmod(place->folder, 0500), 0);
        assert_int_equal(spend(ledger, &charge, scratch_path(place, "t"), &d, &result),
                         CELLAR_ERR_IO);
        assert_int_equal(chmod(place->folder, 0700), 0);
    }
    assert_int_equal(cellar_ledger_state(ledger, "r"), CELLAR_CHARGE_NONE);
    assert_int_equal(spend(ledger, &charge, "-", &d, &result), CELLAR_ERR_ARGUMENT);
    cellar_ledger_close(ledger);
}

/* Who can only write to a sticky folder knows the request, and takes the name under which its
 * output would wait if the name followed from the request alone. The charge must not become a loss.
 */
static void test_nobody_can_take_a_staged_name(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_charge charge = charge_for("r1", "0.4", NULL);
    cellar_spend_result result;
    draw d = {0};
    unsigned char hash[16];
    char hex[33], name[64], inner[400], path[400];

    crypto_generichash(hash, sizeof hash, (const unsigned char *) "r1", 2, NULL, 0);
    snprintf(name, sizeof name, ".cellar-%s.staged",
             sodium_bin2hex(hex, sizeof hex, hash, sizeof hash));
    snprintf(path, sizeof path, "%s", scratch_path(place, name));
    snprintf(inner, sizeof inner, "%.300s/theirs", path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mkdir(inner, 0700), 0); /* so that it cannot be cleared away */
    CHECK_OK(spend(ledger, &charge, scratch_path(place, "t"), &d, &result));
    assert_int_equal(result.state, CELLAR_CHARGE_DONE);
    rmdir(inner);
    cellar_ledger_close(ledger);
}

/* SQLite rolls back by the journal that lies beside the file: nobody else may put one there. The
 * folder of an output may be shared if it is sticky; else it is refused before anything is paid. */
static void test_folders_of_others_are_refused(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_key *key = the_key(place);
    cellar_charge charge = charge_for("r1", "0.4", NULL);
    cellar_spend_result result;
    draw d = {0};
    char path[400];

    snprintf(path, sizeof path, "%s", scratch_path(place, "ledger"));
    assert_int_equal(chmod(place->folder, 0770), 0);
    assert_int_equal(spend(ledger, &charge, scratch_path(place, "t"), &d, &result),
                     CELLAR_ERR_RULE);
    assert_int_equal(cellar_ledger_state(ledger, "r1"), CELLAR_CHARGE_NONE);
    assert_int_equal(chmod(place->folder, 01777), 0);
    CHECK_OK(spend(ledger, &charge, scratch_path(place, "t"), &d, &result));
    cellar_ledger_close(ledger);
    assert_int_equal(cellar_ledger_open(path, key, &ledger, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "others can write to the folder (mode 1777)"));
    assert_int_equal(cellar_ledger_create(scratch_path(place, "other"), key, &err),
                     CELLAR_ERR_RULE);
    assert_int_equal(chmod(place->folder, 0755), 0);
    CHECK_OK(cellar_ledger_open(path, key, &ledger, &err));
    cellar_ledger_close(ledger);
    cellar_key_free(key);
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
    charge.request = "tiny"; /* 1e-18/2 is more than nothing */
    charge.amounts = amounts_of("0.000000001", NULL, NULL);
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_BUDGET);
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
    charge.amounts = amounts_of("0.1", NULL, NULL);
    charge.analyst = "bob"; /* shares are there, and he has none */
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_RULE);
    charge.analyst = NULL;
    assert_int_equal(cellar_ledger_charge(ledger, &charge, "/x", &before, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "--analyst"));
    CHECK_OK(cellar_ledger_add_analyst(ledger, "census", "bob", amounts_of("2", NULL, NULL), &err));
    charge.amounts = amounts_of("0.7", NULL, NULL);
    charge.analyst = "bob"; /* the dataset's cap counts too */
    CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    charge.request = "a3";
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
    charge.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
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
                 {CELLAR_UNCHARGED_INVARIANT, "have the same true count"},
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_request_is_drawn_once),
        TEST(test_over_the_cap_nothing_happens),
        TEST(test_a_failed_draw_stays_paid),
        TEST(test_a_full_disk_says_what_stays_charged),
        TEST(test_interrupted_requests),
        TEST(test_an_exchanged_output_is_not_published),
        TEST(test_a_request_is_held_alone),
        TEST(test_existing_files_are_found_before_paying),
        TEST(test_nobody_can_take_a_staged_name),
        TEST(test_folders_of_others_are_refused),
        TEST(test_rho),
        TEST(test_analysts),
        TEST(test_what_is_refused),
        TEST(test_uncharged_entries_change_the_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
