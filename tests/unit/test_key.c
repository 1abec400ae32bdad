/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Key files: made private, refused when they are not; secrets by use; record keys. */
#include "check.h"

#include <fcntl.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <cellar/key.h>

#include "base/text.h"
#include "data/record_key.h"
#include "fail_every.h"
#include "scratch.h"

static cellar_error err;

static cellar_key *read_key(scratch *place, const char *name)
{
    cellar_key *key;
    if (cellar_key_read(scratch_path(place, name), &key, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return key;
}

static void test_create_and_read(void **state)
{
    scratch *place = *state;
    cellar_key *key;
    unsigned char noise[32], records[32];
    assert_int_equal(cellar_key_create(scratch_path(place, "k1"), "census 2026", &err), CELLAR_OK);
    assert_int_equal(scratch_mode(place, "k1"), 0600);
    key = read_key(place, "k1");
    assert_int_equal(strlen(cellar_key_id(key)), 16);
    assert_string_equal(cellar_key_edition(key), "census 2026");
    assert_int_equal(strlen(cellar_key_created(key)), 10);
    cellar_key_secret(key, CELLAR_KEY_NOISE, noise);
    cellar_key_secret(key, CELLAR_KEY_RECORDS, records);
    assert_memory_not_equal(noise, records, 32);
    cellar_key_free(key);
    assert_int_equal(cellar_key_create(scratch_path(place, "k1"), NULL, &err), CELLAR_ERR_EXISTS);
    assert_int_equal(cellar_key_create(scratch_path(place, "k2"), "two\nlines", &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_key_create(scratch_path(place, "k2"), NULL, &err), CELLAR_OK);
    key = read_key(place, "k2");
    assert_null(cellar_key_edition(key));
    cellar_key_free(key);
}

static void test_rotation_keeps_the_old_key(void **state)
{
    scratch *place = *state;
    char id[17], name[40];
    cellar_key *key;
    assert_int_equal(cellar_key_create(scratch_path(place, "r"), "a", &err), CELLAR_OK);
    key = read_key(place, "r");
    memcpy(id, cellar_key_id(key), sizeof id);
    cellar_key_free(key);
    assert_int_equal(cellar_key_rotate(scratch_path(place, "r"), "b", &err), CELLAR_OK);
    key = read_key(place, "r");
    assert_string_not_equal(cellar_key_id(key), id);
    assert_string_equal(cellar_key_edition(key), "b");
    cellar_key_free(key);
    snprintf(name, sizeof name, "r.%s", id);
    assert_int_equal(scratch_mode(place, name), 0600);
    key = read_key(place, name);
    assert_string_equal(cellar_key_id(key), id);
    cellar_key_free(key);
}

static int fsyncs_until_failure;
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    if (fsyncs_until_failure <= 0 || --fsyncs_until_failure > 0)
        return __real_fsync(fd);
    errno = EIO;
    return -1;
}

/* Whatever sync fails, the old key is there under one of its two names. */
static void test_a_failed_rotation_keeps_the_old_key(void **state)
{
    scratch *place = *state;
    char path[400], kept[500];
    int n = 1;
    snprintf(path, sizeof path, "%s", scratch_path(place, "k"));
    for (;; n++) {
        cellar_key *old, *now;
        scratch_walk(place, 1);
        assert_int_equal(cellar_key_create(path, NULL, &err), CELLAR_OK);
        assert_int_equal(cellar_key_read(path, &old, &err), CELLAR_OK);
        snprintf(kept, sizeof kept, "%s.%s", path, cellar_key_id(old));
        fsyncs_until_failure = n;
        if (cellar_key_rotate(path, NULL, &err) == CELLAR_OK) {
            cellar_key_free(old);
            break;
        }
        assert_int_equal(cellar_key_read(path, &now, &err), CELLAR_OK);
        if (strcmp(cellar_key_id(now), cellar_key_id(old)) != 0)
            assert_int_equal(access(kept, F_OK), 0);
        else
            assert_int_equal(access(kept, F_OK), -1);
        cellar_key_free(now);
        cellar_key_free(old);
    }
    assert_true(n > 3); /* the kept name, the new key, its name */
    fsyncs_until_failure = 0;
}

static void test_what_others_could_read_is_refused(void **state)
{
    scratch *place = *state;
    cellar_key *key;
    char target[400];
    assert_int_equal(cellar_key_create(scratch_path(place, "open"), NULL, &err), CELLAR_OK);
    snprintf(target, sizeof target, "%s", scratch_path(place, "open"));
    assert_int_equal(symlink(target, scratch_path(place, "link")), 0);
    assert_int_equal(cellar_key_read(scratch_path(place, "link"), &key, &err), CELLAR_ERR_RULE);
    assert_null(key);
    chmod(target, 0640);
    assert_int_equal(cellar_key_read(target, &key, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "chmod 600"));
    assert_int_equal(cellar_key_rotate(target, NULL, &err), CELLAR_ERR_RULE);
    chmod(target, 0600);
    chmod(place->folder, 0770); /* who can rename there could bring an old key back */
    assert_int_equal(cellar_key_read(target, &key, &err), CELLAR_ERR_RULE);
    assert_int_equal(cellar_key_rotate(target, NULL, &err), CELLAR_ERR_RULE);
    chmod(place->folder, 0700);
    assert_int_equal(cellar_key_read(place->folder, &key, &err), CELLAR_ERR_RULE);
    assert_int_equal(cellar_key_read(scratch_path(place, "none"), &key, &err), CELLAR_ERR_IO);
    if (geteuid() == 0) { /* only root can give a file away */
        assert_int_equal(chown(target, 1, 1), 0);
        assert_int_equal(cellar_key_read(target, &key, &err), CELLAR_ERR_RULE);
        assert_non_null(strstr(err.message, "another user"));
    }
}

static void test_damaged_files_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "cellar key 2\n",
        "cellar key 1\n",
        "cellar key 1\nid 0\ncreated 2026-11-15\nsecret 00\n",
        "cellar key 1\nid 0000000000000000\ncreated 2026-11-15\n"
        "secret 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
        "cellar key 1\nid 0000000000000000\ncreated 2026-11-15 and a while\n"
        "secret 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
        "cellar key 1\nid 0000000000000000\ncreated 2026-11-15\n"
        "secret zz112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n",
    };
    scratch *place = *state;
    cellar_key *key;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        scratch_write(place, "bad", bad[i]);
        chmod(scratch_path(place, "bad"), 0600);
        assert_int_equal(cellar_key_read(scratch_path(place, "bad"), &key, &err), CELLAR_ERR_INPUT);
        assert_null(strstr(err.message, "0011"));
    }
}

/* The same identifier has the same key whatever the other records are; keys fill their range. */
static void test_record_keys(void **state)
{
    enum { N = 20000, RANGE = 256 };
    static const uint64_t ranges[] = {1, 2, 256, 4096, UINT64_C(1000000000000000000)};
    unsigned char secret[32], other[32];
    int hits[RANGE] = {0}, n_same = 0;
    double chi = 0;
    (void) state;
    memset(secret, 7, sizeof secret);
    memset(other, 8, sizeof other);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        assert_true(cellar_key_record(secret, "person 1", 8, ranges[i]) < ranges[i]);
    for (int i = 0; i < N; i++) {
        char id[32];
        int length = snprintf(id, sizeof id, "person %d", i);
        uint64_t key = cellar_key_record(secret, id, (size_t) length, RANGE);
        assert_int_equal(key, cellar_key_record(secret, id, (size_t) length, RANGE));
        hits[key]++;
        n_same += key == cellar_key_record(other, id, (size_t) length, RANGE);
    }
    for (int k = 0; k < RANGE; k++)
        chi +=
            (hits[k] - (double) N / RANGE) * (hits[k] - (double) N / RANGE) / ((double) N / RANGE);
    assert_true(chi < 255 + 6 * 22.6); /* six standard deviations; the secrets are fixed */
    assert_true(n_same < 200);         /* 78 expected */
}

/* Keys as they are read; decimals in units of 1e-18, exactly, however they are spelled. */
static void test_keys_that_are_read(void **state)
{
    static const struct {
        const char *text;
        uint64_t range;
        int ok;
        uint64_t key;
    } cases[] = {
        {"0.5", 0, 1, UINT64_C(500000000000000000)},
        {"0.000000000000000001", 0, 1, 1},
        {"0.999999999999999999", 0, 1, UINT64_C(999999999999999999)},
        {"0.0000000000000000010", 0, 1, 1},
        {"0.9999999999999999995", 0, 0, 0},
        {".25", 0, 1, UINT64_C(250000000000000000)},
        {"+0.25", 0, 1, UINT64_C(250000000000000000)},
        {"00.25", 0, 1, UINT64_C(250000000000000000)},
        {"2.5e-1", 0, 1, UINT64_C(250000000000000000)},
        {"0", 0, 1, 0},
        {"0.", 0, 1, 0},
        {"1", 0, 0, 0},
        {"1.0", 0, 0, 0},
        {"-0.1", 0, 0, 0},
        {"0.1x", 0, 0, 0},
        {"0.:", 0, 0, 0},
        {"0./", 0, 0, 0},
        {"", 0, 0, 0},
        {"255", 256, 1, 255},
        {"256", 256, 0, 0},
        {"0.5", 256, 0, 0},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t key = 0;
        int ok =
            cellar_record_key_parse(cases[i].text, strlen(cases[i].text), cases[i].range, &key);
        if (ok != cases[i].ok || (ok && key != cases[i].key))
            fail_msg("'%s': %d", cases[i].text, ok);
    }
    for (int n = 1; n <= 18; n++) { /* the short way and the general one agree */
        char text[32];
        uint64_t key;
        cellar_int128 general;
        int length = snprintf(text, sizeof text, "0.%.*s", n, "710384625901847263");
        assert_true(cellar_record_key_parse(text, (size_t) length, 0, &key));
        assert_true(cellar_parse_decimal(text, (size_t) length, 18, &general, NULL));
        assert_true((cellar_int128) key == general);
    }
}

/* 128 bits modulo 1000 are what long division of the hash gives. */
static void test_reduction_is_the_remainder(void **state)
{
    unsigned char secret[32] = {1};
    uint64_t fine, coarse;
    (void) state;
    for (int i = 0; i < 100; i++) {
        fine = cellar_key_record(secret, &i, sizeof i, UINT64_C(1000000));
        coarse = cellar_key_record(secret, &i, sizeof i, 1000);
        assert_int_equal(fine % 1000, coarse);
    }
}

static cellar_status scenario(void *context, cellar_error *e)
{
    cellar_key *key = NULL;
    cellar_status status = cellar_key_read(context, &key, e);
    cellar_key_free(key);
    return status;
}

static void test_memory_may_end(void **state)
{
    scratch *place = *state;
    assert_int_equal(cellar_key_create(scratch_path(place, "m"), NULL, &err), CELLAR_OK);
    check_fail_every(scenario, place->path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create_and_read),
        cmocka_unit_test(test_rotation_keeps_the_old_key),
        cmocka_unit_test(test_a_failed_rotation_keeps_the_old_key),
        cmocka_unit_test(test_what_others_could_read_is_refused),
        cmocka_unit_test(test_damaged_files_are_refused),
        cmocka_unit_test(test_record_keys),
        cmocka_unit_test(test_keys_that_are_read),
        cmocka_unit_test(test_reduction_is_the_remainder),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
