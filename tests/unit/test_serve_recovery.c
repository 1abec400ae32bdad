/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a vault finds when it is opened again: interrupted draws, lost files, copies and backups;
 * and who signed its configuration. tests/crash/vault_storm.py kills vaults for it. */
#include "fail_every.h"
#include "vault_place.h"

#define DRAW(table) vault_state(vault_ask_draw(vault, "census", table, "1"))

static cellar_status try_open(scratch *place)
{
    cellar_vault *vault;
    cellar_status status = cellar_vault_open(scratch_path(place, "site.yaml"), NULL, &vault, &err);
    cellar_vault_close(vault);
    return status;
}

static int64_t n_wasted(cellar_vault *vault)
{
    json_t *reply = vault_ask(vault, "{\"do\": \"balance\", \"dataset\": \"census\"}");
    int64_t n = json_integer_value(json_object_get(json_object_get(reply, "wasted"), "n_charges"));
    json_decref(reply);
    return n;
}

/* The path of the file of a table that is drawn, or exists. */
static const char *file_of(cellar_vault *vault, scratch *place, const char *table)
{
    static char path[600];
    json_t *reply = vault_ask_draw(vault, "census", table, "1");
    snprintf(path, sizeof path, "%s/public/%s", place->folder, vault_text(reply, "file"));
    json_decref(reply);
    return path;
}

/* ---- interrupted --------------------------------------------------------------------------------
 */

/* Charged, and never drawn: the charge is wasted, which is reported, and the next one is new. */
static void test_charged(void **state)
{
    cellar_ledger *ledger = reopen(*state);
    cellar_charge charge = charge_for("serve/1/census/1/sex", NULL, NULL);
    cellar_charge_state before;
    cellar_vault *vault;
    json_t *reply;
    charge.amounts = amounts_of(NULL, NULL, "0.125");
    CHECK_OK(cellar_ledger_charge(ledger, &charge, scratch_path(*state, "public/x.json"), &before,
                                  &err));
    cellar_ledger_close(ledger);
    vault = vault_open_here(*state);
    assert_int_equal(n_wasted(vault), 1);
    reply = vault_ask(vault, "{\"do\": \"cost\", \"dataset\": \"census\", \"table\": \"sex\"}");
    assert_true(json_is_false(json_object_get(reply, "exists")));
    json_decref(reply);
    assert_string_equal(DRAW("sex"), "drawn");
    assert_string_equal(DRAW("sex"), "exists");
    assert_int_equal(n_wasted(vault), 1);
    assert_int_equal(cellar_ledger_state(vault->ledgers[0].ledger, "serve/2/census/1/sex"),
                     CELLAR_CHARGE_DONE);
    cellar_vault_close(vault);
}

/* Drawn and recorded, and without its name: it gets its name, and nothing is drawn. */
static void test_staged(void **state)
{
    cellar_ledger *ledger = reopen(*state);
    cellar_charge charge = charge_for("serve/1/census/1/sex", NULL, NULL);
    cellar_text staged = {0};
    cellar_charge_state before;
    char digest[CELLAR_LEDGER_HASH_TEXT], path[400];
    draw d = {0};
    int found;
    charge.amounts = amounts_of(NULL, NULL, "0.125");
    snprintf(path, sizeof path, "%s", scratch_path(*state, "public/x.json"));
    CHECK_OK(cellar_ledger_charge(ledger, &charge, path, &before, &err));
    CHECK_OK(cellar_ledger_staged_path(ledger, charge.request, path, &staged, &err));
    CHECK_OK(draw_output(&d, staged.bytes, "stamp", &err));
    CHECK_OK(cellar_ledger_digest(NULL, staged.bytes, NULL, &found, digest, &err));
    CHECK_OK(cellar_ledger_note_staged(ledger, charge.request, digest, &err));
    cellar_text_clear(&staged);
    cellar_ledger_close(ledger);
    /* the name it gets is not one that the vault gives, which is then noticed */
    assert_int_equal(try_open(*state), CELLAR_ERR_RULE);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(unlink(path), 0);
    CHECK_OK(try_open(*state));
    ledger = reopen(*state);
    assert_int_equal(cellar_ledger_state(ledger, charge.request), CELLAR_CHARGE_DONE);
    cellar_ledger_close(ledger);
}

/* ---- files
 * ---------------------------------------------------------------------------------------- */

static void test_gone(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    char path[600], away[600];
    snprintf(path, sizeof path, "%s", file_of(vault, *state, "age*edu"));
    snprintf(away, sizeof away, "%s", scratch_path(*state, "away.json"));
    assert_int_equal(rename(path, away), 0);
    assert_string_equal(DRAW("age*edu"), "refused: gone");
    cellar_vault_close(vault);
    vault = vault_open_here(*state);
    assert_string_equal(DRAW("age*edu"), "refused: gone");
    assert_string_equal(DRAW("age"), "drawn"); /* others are not affected */
    assert_int_equal(rename(away, path), 0);
    assert_string_equal(DRAW("age*edu"), "exists");
    cellar_vault_close(vault);
}

static void test_strangers(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    char path[600];
    snprintf(path, sizeof path, "%s", file_of(vault, *state, "sex"));
    cellar_vault_close(vault);
    scratch_write(*state, "public/note.json", "{}\n");
    assert_int_equal(try_open(*state), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "note.json"));
    assert_int_equal(unlink(scratch_path(*state, "public/note.json")), 0);
    /* the ledger knows a copy of what it charged, whatever it is called */
    copy_file(*state, path + strlen(((scratch *) *state)->folder) + 1, "public/copy.json");
    CHECK_OK(try_open(*state));
}

/* ---- backup and restore
 * ---------------------------------------------------------------------------- */

static void test_backup(void **state)
{
    scratch *place = *state;
    cellar_vault *vault;
    cellar_key *key = the_key(place);
    char path[400], before[1 << 16], text[8192];
    remove(scratch_path(place, "ledger"));
    vault_make_ledger(place, "2", "witness");
    vault = vault_open_here(place);
    assert_string_equal(DRAW("sex"), "drawn");
    snprintf(before, sizeof before, "%s",
             scratch_read(place, file_of(vault, place, "sex") + strlen(place->folder) + 1));
    copy_file(place, "ledger", "ledger.old");
    assert_string_equal(DRAW("age"), "drawn");
    copy_file(place, "ledger", "ledger.new");
    cellar_vault_close(vault);

    /* the newest ledger, restored with its releases: nothing is drawn again */
    remove(scratch_path(place, "ledger"));
    copy_file(place, "ledger.new", "ledger");
    assert_int_equal(chmod(scratch_path(place, "ledger"), 0600), 0);
    vault = vault_open_here(place);
    assert_string_equal(DRAW("sex"), "exists");
    assert_string_equal(DRAW("age"), "exists");
    assert_string_equal(
        scratch_read(place, file_of(vault, place, "sex") + strlen(place->folder) + 1), before);
    cellar_vault_close(vault);

    /* an older one is refused by its witness; adopted, it is refused for its gap; accepted, for the
     * release that it does not know */
    remove(scratch_path(place, "ledger"));
    copy_file(place, "ledger.old", "ledger");
    assert_int_equal(chmod(scratch_path(place, "ledger"), 0600), 0);
    assert_int_equal(try_open(place), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "older copy"));
    snprintf(path, sizeof path, "%s", scratch_path(place, "ledger"));
    CHECK_OK(cellar_ledger_adopt(path, key, NULL, &err));
    assert_int_equal(try_open(place), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "ledger-gap"));
    snprintf(text, sizeof text, "%s%s    accept: [ledger-gap]\n", VAULT_SITE, VAULT_BUDGET);
    scratch_write(place, "site.yaml", text);
    assert_int_equal(try_open(place), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "older than the releases"));
    cellar_key_free(key);
}

/* ---- signatures
 * --------------------------------------------------------------------------------------- */

static void test_signed(void **state)
{
    scratch *place = *state;
    cellar_key *key, *other;
    cellar_public_key signer, stranger;
    cellar_vault_options options = cellar_vault_options_default();
    cellar_vault *vault;
    char config[400];
    snprintf(config, sizeof config, "%s", scratch_path(place, "site.yaml"));
    CHECK_OK(cellar_key_create(scratch_path(place, "signing"), NULL, &err));
    CHECK_OK(cellar_key_create(scratch_path(place, "another"), NULL, &err));
    CHECK_OK(cellar_key_read(scratch_path(place, "signing"), &key, &err));
    CHECK_OK(cellar_key_read(scratch_path(place, "another"), &other, &err));
    signer = cellar_key_public(key);
    stranger = cellar_key_public(other);
    options.signer = &signer;
    assert_int_equal(cellar_vault_open(config, &options, &vault, &err), CELLAR_ERR_IO);
    CHECK_OK(cellar_config_sign(config, key, &err));
    CHECK_OK(cellar_config_verify(config, &signer, &err));
    CHECK_OK(cellar_vault_open(config, &options, &vault, &err));
    cellar_vault_close(vault);
    options.signer = &stranger;
    assert_int_equal(cellar_vault_open(config, &options, &vault, &err), CELLAR_ERR_RULE);
    options.signer = &signer;
    scratch_write(place, "edu.csv", "code\na\nb\nc\nd\n"); /* a code list is part of it */
    assert_int_equal(cellar_vault_open(config, &options, &vault, &err), CELLAR_ERR_RULE);
    scratch_write(place, "edu.csv", "code\na\nb\nc\n");
    CHECK_OK(cellar_config_verify(config, &signer, &err));
    scratch_write(place, "site.yaml", VAULT_SITE VAULT_BUDGET);
    assert_int_equal(cellar_config_verify(config, &signer, &err), CELLAR_ERR_RULE);
    scratch_write(place, "site.yaml.sig", "cellar configuration signature 1\nkey \n");
    assert_int_equal(cellar_config_verify(config, &signer, &err), CELLAR_ERR_RULE);
    cellar_key_free(key);
    cellar_key_free(other);
}

/* ---- when replies come
 * ---------------------------------------------------------------------------------- */

static void test_clock(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    vault_set *set = &vault->sets[0];
    const serve_table small = {{0, 1}};
    uint64_t time = 1000;
    vault_clock clock = {still_now_ms, still_sleep_ms, &time};
    vault_clock_round_up(&clock, 1000, 250);
    assert_int_equal(time, 1250);
    vault_clock_round_up(&clock, 1000, 250); /* on time */
    assert_int_equal(time, 1250);
    time += 1;
    vault_clock_round_up(&clock, 1000, 250);
    assert_int_equal(time, 1500);
    assert_int_equal(vault_step_ms(set, &small), 100); /* as configured */
    set->step_ms = 0;
    assert_int_equal(vault_step_ms(set, &small), 251); /* two cells, a thousand people */
    cellar_vault_close(vault);
}

/* ---- memory that ends
 * ------------------------------------------------------------------------------------ */

static cellar_status answer_scenario(void *context, cellar_error *error)
{
    cellar_vault *vault = NULL;
    char message[400], *reply = NULL;
    size_t length;
    cellar_status status =
        cellar_vault_open(scratch_path(context, "site.yaml"), NULL, &vault, error);
    snprintf(message, sizeof message,
             "{\"do\": \"cost\", \"dataset\": \"census\", \"table\": \"sex*age\"}");
    if (status == CELLAR_OK)
        status = cellar_vault_answer(vault, message, strlen(message), &reply, &length, error);
    free(reply);
    cellar_vault_close(vault);
    return status;
}

static void test_fail_every(void **state)
{
    scratch_write(*state, "site.yaml", VAULT_SITE VAULT_BUDGET);
    check_fail_every(answer_scenario, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        VAULT_TEST(test_charged),   VAULT_TEST(test_staged),     VAULT_TEST(test_gone),
        VAULT_TEST(test_strangers), VAULT_TEST(test_backup),     VAULT_TEST(test_signed),
        VAULT_TEST(test_clock),     VAULT_TEST(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
