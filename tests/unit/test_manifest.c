/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A signed folder: every change of it is found, and confidential files are not signed. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cellar/manifest.h>

#include "fail_every.h"
#include "scratch.h"

static cellar_error err;

/* Ed25519 keys, a folder p with a file in it and one in a folder of it. */
static int setup(void **state)
{
    scratch *place;
    if (scratch_setup(state) != 0)
        return 1;
    place = *state;
    mkdir(scratch_path(place, "p"), 0755);
    mkdir(scratch_path(place, "p/sub"), 0755);
    scratch_write(place, "p/a.csv", "x\n");
    scratch_write(place, "p/sub/b.csv", "y\n");
    chmod(scratch_path(place, "p/a.csv"), 0644);
    chmod(scratch_path(place, "p/sub/b.csv"), 0644);
    return cellar_key_create(scratch_path(place, "key"), NULL, &err) != CELLAR_OK;
}

static int teardown(void **state)
{
    static const char *const names[] = {"p/sub/b.csv",       "p/sub/c.csv",   "p/sub",
                                        "p/a.csv",           "p/extra",       "p/link",
                                        "p/manifest.sha256", "p/manifest.sig"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(scratch_path(*state, names[i]));
    return scratch_teardown(state);
}

/* Neither is of a kind that Cellar recognises. */
static const char *const both[] = {"sub/b.csv", "a.csv"};

static cellar_status sign_accepting(scratch *place, unsigned accept, cellar_public_key *who)
{
    cellar_key *key;
    cellar_status status;
    cellar_manifest_findings found = {0};
    assert_int_equal(cellar_key_read(scratch_path(place, "key"), &key, &err), CELLAR_OK);
    *who = cellar_key_public(key);
    status = cellar_manifest_sign(scratch_path(place, "p"), key,
                                  &(cellar_manifest_accepted){accept, both, 2}, &found, &err);
    if (status == CELLAR_OK)
        assert_int_equal(found.n_files, 2);
    cellar_key_free(key);
    return status;
}

static cellar_status sign(scratch *place, cellar_public_key *who)
{
    return sign_accepting(place, 0, who);
}

static void verify_says(scratch *place, const cellar_public_key *who, const char *words)
{
    assert_int_equal(cellar_manifest_verify(scratch_path(place, "p"), who, NULL, &err),
                     CELLAR_ERR_INPUT);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, err.message);
}

static void test_the_lines_are_those_of_sha256sum(void **state)
{
    scratch *place = *state;
    size_t n = 0;
    assert_int_equal(cellar_manifest_write(scratch_path(place, "p"), &n, &err), CELLAR_OK);
    assert_int_equal(n, 2);
    /* printf 'x\n' | sha256sum, printf 'y\n' | sha256sum */
    scratch_expect(place, "p/manifest.sha256",
                   "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  a.csv\n"
                   "3bb2abb69ebb27fbfe63c7639624c6ec5e331b841a5bc8c3ebc10b9285e90877  sub/b.csv\n");
    assert_int_equal(cellar_manifest_check(scratch_path(place, "p"), &n, &err), CELLAR_OK);
}

static void test_what_was_signed_verifies(void **state)
{
    scratch *place = *state;
    cellar_public_key who, read_back;
    const cellar_output_options shared = {.shared = 1};
    cellar_manifest_findings found = {0};
    assert_int_equal(sign(place, &who), CELLAR_OK);
    assert_int_equal(sign(place, &who), CELLAR_OK);
    assert_int_equal(cellar_public_key_write(&who, scratch_path(place, "pub"), &shared, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_public_key_read(scratch_path(place, "pub"), &read_back, &err),
                     CELLAR_OK);
    assert_memory_equal(&who, &read_back, sizeof who);
    assert_int_equal(cellar_manifest_verify(scratch_path(place, "p//"), &read_back, &found, &err),
                     CELLAR_OK);
    assert_int_equal(found.n_files, 2);
    assert_int_equal(found.accepted, 0);
}

static void test_every_change_is_found(void **state)
{
    scratch *place = *state;
    cellar_public_key who, other;
    assert_int_equal(sign(place, &who), CELLAR_OK);

    scratch_write(place, "p/sub/b.csv", "z\n");
    verify_says(place, &who, "p/sub/b.csv: changed");
    remove(scratch_path(place, "p/sub/b.csv"));
    verify_says(place, &who, "p/sub/b.csv: is in the manifest and not there");
    scratch_write(place, "p/sub/b.csv", "y\n");
    scratch_write(place, "p/sub/c.csv", "");
    verify_says(place, &who, "p/sub/c.csv: is not in the manifest");
    remove(scratch_path(place, "p/sub/c.csv"));
    scratch_write(place, "p/extra", "");
    verify_says(place, &who, "p/extra: is not in the manifest");
    remove(scratch_path(place, "p/extra"));
    assert_int_equal(cellar_manifest_verify(scratch_path(place, "p"), &who, NULL, &err), CELLAR_OK);

    /* A manifest made anew for changed files fits them, and has not been signed. */
    scratch_write(place, "p/a.csv", "w\n");
    assert_int_equal(cellar_manifest_write(scratch_path(place, "p"), NULL, &err), CELLAR_OK);
    verify_says(place, &who, "the signature is not that of the manifest");

    other = who;
    other.id[0] = other.id[0] == '0' ? '1' : '0';
    verify_says(place, &other, "was made with key");
}

/* Someone else's key with the id of the right one. */
static void test_another_key_does_not_verify(void **state)
{
    scratch *place = *state;
    cellar_public_key who, other;
    cellar_key *key;
    assert_int_equal(sign(place, &who), CELLAR_OK);
    assert_int_equal(cellar_key_create(scratch_path(place, "key2"), NULL, &err), CELLAR_OK);
    assert_int_equal(cellar_key_read(scratch_path(place, "key2"), &key, &err), CELLAR_OK);
    other = cellar_key_public(key);
    memcpy(other.id, who.id, sizeof other.id);
    verify_says(place, &other, "the signature is not that of the manifest");
    cellar_key_free(key);
}

static void test_what_must_not_be_signed(void **state)
{
    scratch *place = *state;
    cellar_public_key who;
    chmod(scratch_path(place, "p/a.csv"), 0600);
    assert_int_equal(sign(place, &who), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "p/a.csv: only its owner may read it"));
    assert_int_equal(access(scratch_path(place, "p/manifest.sig"), F_OK), -1);
    chmod(scratch_path(place, "p/a.csv"), 0644);
    assert_int_equal(symlink("a.csv", scratch_path(place, "p/link")), 0);
    assert_int_equal(sign(place, &who), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "plain files"));
    remove(scratch_path(place, "p/link"));
    assert_int_equal(symlink("p", scratch_path(place, "elsewhere")), 0);
    assert_int_equal(cellar_manifest_write(scratch_path(place, "elsewhere"), NULL, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "elsewhere: is a symbolic link"));
    remove(scratch_path(place, "elsewhere"));
    scratch_write(place, "p/extra", "");
    remove(scratch_path(place, "p/extra"));
    scratch_write(place, "p/manifest.sha256", "no manifest\n");
    assert_int_equal(sign(place, &who), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "manifest.sha256:1: expected a digest"));
}

/* Whatever a file is called, its marks are read. */
static void test_confidential_files_are_not_signed(void **state)
{
    static const char *const files[][2] = {
        {"p/a.csv", "sex,count\nf,1\n"},
        {"p/a.csv", "sex,released,count\nf,2,1\n"},
        {"p/a.csv", "OBS_VALUE,CONF_STATUS\n1,F\n2,C\n"},
        {"p/a.csv", "{\"x\": [{\"confidential\" :\n true}]}"},
        {"p/a.csv", "NOTE=\"Confidential: true counts, not for publication.#cellar:\";\r\n"},
        {"p/a.csv", "<html><body class=\"confidential\">"},
        {"p/a.csv", "<svg><text>CONFIDENTIAL</text></svg>"},
        {"p/a.csv", "CONFIDENTIAL: computed from true counts\n2 tables"},
        {"p/a.csv", "Confidential: an assessment of the records\n"},
        {"p/a.csv", "cellar: confidential: of 12 cells expect about 8 to be listed"},
        {"p/a.csv", "cellar key 1\nid 0\n"},
    };
    static const char *const harmless[] = {"sex,counts\nf,1\n", "{\"confidential\": false}",
                                           "OBS_VALUE,CONF_STATUS\n1,F\n",
                                           "a file that calls nothing confidential"};
    scratch *place = *state;
    cellar_public_key who;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        remove(scratch_path(place, "p/manifest.sha256"));
        scratch_write(place, files[i][0], files[i][1]);
        assert_int_equal(sign_accepting(place, 7, &who), CELLAR_ERR_RULE);
        if (strstr(err.message, "p/a.csv: ") == NULL)
            fail_msg("case %zu: %s", i, err.message);
        assert_int_equal(access(scratch_path(place, "p/manifest.sig"), F_OK), -1);
    }
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        remove(scratch_path(place, "p/manifest.sha256"));
        scratch_write(place, "p/a.csv", harmless[i]);
        assert_int_equal(sign(place, &who), CELLAR_OK);
    }
}

/* What has to be accepted is, by name; the signature says so, and that cannot be changed. */
static void test_what_is_accepted_is_signed(void **state)
{
    static const struct {
        const char *text;
        unsigned needs;
        const char *words;
    } cases[] = {
        {"unaccounted, not for publication", CELLAR_ACCEPT_UNACCOUNTED, "accepts unaccounted\n"},
        {"{\"protection\": \"no-protection\"}", CELLAR_ACCEPT_NO_PROTECTION,
         "accepts no-protection\n"},
        {"{\"protection\":\"large-epsilon\", \"ledger\": \"unaccounted, not for publication\"}",
         CELLAR_ACCEPT_LARGE_EPSILON | CELLAR_ACCEPT_UNACCOUNTED,
         "accepts large-epsilon unaccounted\n"},
        {"{\"protection\": \"no-guarantee\"}", 0, "accepts nothing\n"},
        {"{\"protection\": \"guarantee\"}", 0, "accepts nothing\n"},
    };
    scratch *place = *state;
    cellar_manifest_findings found;
    cellar_public_key who;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char signature[1024], *at;
        remove(scratch_path(place, "p/manifest.sha256"));
        scratch_write(place, "p/sub/b.csv", cases[i].text);
        for (unsigned accept = 0; accept < 8; accept++)
            assert_int_equal(sign_accepting(place, accept, &who),
                             (cases[i].needs & ~accept) == 0 ? CELLAR_OK : CELLAR_ERR_RULE);
        assert_int_equal(cellar_manifest_verify(scratch_path(place, "p"), &who, &found, &err),
                         CELLAR_OK);
        assert_int_equal(found.accepted, cases[i].needs);
        snprintf(signature, sizeof signature, "%.1000s", scratch_read(place, "p/manifest.sig"));
        at = strstr(signature, cases[i].words);
        assert_non_null(at);
        memcpy(at + 8, strcmp(cases[i].words, "accepts nothing\n") == 0 ? "Nothing" : "everyth", 7);
        scratch_write(place, "p/manifest.sig", signature);
        verify_says(place, &who, "is no signature");
    }
}

/* A file of no known kind is signed by name only. The names are signed, and bind who verifies. */
static void test_unknown_files_are_accepted_by_name(void **state)
{
    static const char *const wrong[] = {"b.csv", "sub/b.csvx", "sub/b.cs", "",
                                        "a.csv\nfile sub/b.csv"};
    scratch *place = *state;
    cellar_manifest_findings found = {0};
    cellar_public_key who;
    cellar_key *key;
    char signature[1024], *at;

    assert_int_equal(cellar_key_read(scratch_path(place, "key"), &key, &err), CELLAR_OK);
    assert_int_equal(cellar_manifest_sign(scratch_path(place, "p"), key, NULL, NULL, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "p/a.csv: is no release"));
    assert_int_equal(cellar_manifest_sign(scratch_path(place, "p"), key,
                                          &(cellar_manifest_accepted){7, both + 1, 1}, NULL, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "p/sub/b.csv: is no release"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cellar_manifest_sign(scratch_path(place, "p"), key,
                                              &(cellar_manifest_accepted){7, &wrong[i], 1}, NULL,
                                              &err),
                         CELLAR_ERR_ARGUMENT);
    assert_int_equal(access(scratch_path(place, "p/manifest.sig"), F_OK), -1);
    cellar_key_free(key);

    assert_int_equal(sign(place, &who), CELLAR_OK);
    snprintf(signature, sizeof signature, "%.1000s", scratch_read(place, "p/manifest.sig"));
    at = strstr(signature, "accepts nothing\nfile a.csv\nfile sub/b.csv\ned25519 ");
    assert_non_null(at);
    assert_int_equal(cellar_manifest_verify(scratch_path(place, "p"), &who, &found, &err),
                     CELLAR_OK);
    assert_int_equal(found.n_unrecognised, 2);
    memcpy(strstr(at, "file a.csv"), "file c.csv", 10);
    scratch_write(place, "p/manifest.sig", signature);
    verify_says(place, &who, "the signature is not that of the manifest");
    memcpy(strstr(at, "file c.csv"), "File c.csv", 10);
    scratch_write(place, "p/manifest.sig", signature);
    verify_says(place, &who, "is no signature");
}

static void test_damaged_files_are_refused(void **state)
{
    static const char *const keys[] = {
        "", "cellar public key 1\n", "cellar public key 1\nid 0123456789abcdef\ned25519 00\n",
        "cellar public key 1\nid 0123456789abcdeX\ned25519 "
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
        "cellar public key 1\nid 0123456789abcdef\ned25519 "
        "00112233445566778899aabbccddeeff00112233445566778899aabbccddeefx\n"};
    scratch *place = *state;
    cellar_public_key who, key;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        scratch_write(place, "bad", keys[i]);
        assert_int_equal(cellar_public_key_read(scratch_path(place, "bad"), &key, &err),
                         CELLAR_ERR_INPUT);
    }
    assert_int_equal(sign(place, &who), CELLAR_OK);
    scratch_write(place, "p/manifest.sig", "cellar signature 1\nkey 0123456789abcdef\n");
    verify_says(place, &who, "is no signature");
    assert_int_equal(cellar_manifest_check(scratch_path(place, "none"), NULL, &err), CELLAR_ERR_IO);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    scratch *place = context;
    cellar_key *key = NULL;
    cellar_public_key who;
    char folder[400];
    cellar_status status = cellar_key_read(scratch_path(place, "key"), &key, e);
    snprintf(folder, sizeof folder, "%s", scratch_path(place, "p"));
    if (status == CELLAR_OK)
        status =
            cellar_manifest_sign(folder, key, &(cellar_manifest_accepted){0, both, 2}, NULL, e);
    if (status == CELLAR_OK) {
        who = cellar_key_public(key);
        status = cellar_manifest_verify(folder, &who, NULL, e);
    }
    cellar_key_free(key);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    check_fail_every(scenario, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_lines_are_those_of_sha256sum, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_was_signed_verifies, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_change_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_another_key_does_not_verify, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_must_not_be_signed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_confidential_files_are_not_signed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_is_accepted_is_signed, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unknown_files_are_accepted_by_name, setup, teardown),
        cmocka_unit_test_setup_teardown(test_damaged_files_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_allocation_may_fail, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
