/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cellar/random.h>

#include "fail_every.h"

static cellar_error err;

static const cellar_rng_scope SCOPE = {"2021", "discrete-laplace:epsilon=1", 1};
static const unsigned char KEY[CELLAR_RNG_KEY_BYTES] = {1, 2, 3};

static void draw(cellar_rng *rng, void *bytes, size_t length)
{
    assert_int_equal(cellar_rng_bytes(rng, bytes, length, &err), CELLAR_OK);
}

static void keyed(cellar_rng *rng, const char *predicate, void *bytes, size_t length)
{
    assert_int_equal(cellar_rng_select(rng, predicate, strlen(predicate), &err), CELLAR_OK);
    draw(rng, bytes, length);
}

/* Requests of any sizes, also across blocks, cut one and the same stream. */
static void test_seeded_stream_does_not_depend_on_the_requests(void **state)
{
    static unsigned char whole[200000], pieces[200000];
    static const size_t sizes[] = {1, 7, 64, 65536, 3, 100000};
    cellar_rng *a, *b;
    size_t at = 0;
    (void) state;

    assert_int_equal(cellar_rng_create_seeded(42, 0, &a, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_create_seeded(42, 0, &b, &err), CELLAR_OK);
    draw(a, whole, sizeof whole);
    for (size_t i = 0; at < sizeof pieces; i = (i + 1) % 6) {
        size_t n = sizes[i] < sizeof pieces - at ? sizes[i] : sizeof pieces - at;
        draw(b, pieces + at, n);
        at += n;
    }
    assert_memory_equal(whole, pieces, sizeof whole);
    cellar_rng_free(a);
    cellar_rng_free(b);
}

/* Seeds and streams are different streams; these bytes never change. */
static void test_seeded_stream_is_pinned(void **state)
{
    static const struct {
        uint64_t seed, stream;
        unsigned char want[8];
    } cases[] = {
        {UINT64_C(0), 0, {0x62, 0xcc, 0x42, 0x1f, 0x64, 0x91, 0xec, 0xf7}},
        {UINT64_C(0), 1, {0x50, 0xf2, 0x02, 0xe5, 0xfc, 0x49, 0xa7, 0xac}},
        {UINT64_C(1), 0, {0x65, 0x9b, 0x94, 0x61, 0xef, 0x64, 0x90, 0x1a}},
        {UINT64_C(18446744073709551615), 7, {0xb1, 0xc5, 0x05, 0x4f, 0x9e, 0x3e, 0x98, 0x62}},
    };
    (void) state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char got[8];
        cellar_rng *rng;
        assert_int_equal(cellar_rng_create_seeded(cases[i].seed, cases[i].stream, &rng, &err),
                         CELLAR_OK);
        draw(rng, got, sizeof got);
        assert_memory_equal(got, cases[i].want, sizeof got);
        cellar_rng_free(rng);
    }
}

static void test_only_secure_and_keyed_count_as_secure(void **state)
{
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_secure(&rng, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_is_secure(rng), 1);
    assert_int_equal(cellar_rng_select(rng, "x", 1, &err), CELLAR_ERR_ARGUMENT);
    cellar_rng_free(rng);
    assert_int_equal(cellar_rng_create_keyed(KEY, &SCOPE, &rng, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_is_secure(rng), 1);
    cellar_rng_free(rng);
    assert_int_equal(cellar_rng_create_seeded(1, 1, &rng, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_is_secure(rng), 0);
    cellar_rng_free(rng);
    cellar_rng_free(NULL);
}

static void test_keyed_bits_are_a_function_of_the_predicate(void **state)
{
    unsigned char first[64], other[64], again[64];
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_keyed(KEY, &SCOPE, &rng, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_bytes(rng, first, 1, &err), CELLAR_ERR_ARGUMENT);
    keyed(rng, "sex=f,age=30", first, sizeof first);
    keyed(rng, "sex=m,age=30", other, sizeof other);
    keyed(rng, "sex=f,age=30", again, sizeof again);
    assert_memory_equal(first, again, sizeof first);
    assert_memory_not_equal(first, other, sizeof first);
    cellar_rng_free(rng);
}

/* Every part of the scope and the key matter, and no two parts can be traded for each other. */
static void test_keyed_bits_depend_on_key_and_scope(void **state)
{
    static const unsigned char other_key[CELLAR_RNG_KEY_BYTES] = {1, 2, 4};
    const struct {
        const unsigned char *key;
        cellar_rng_scope scope;
    } cases[] = {
        {KEY, {"2021", "laplace:epsilon=1", 1}}, {other_key, {"2021", "laplace:epsilon=1", 1}},
        {KEY, {"2022", "laplace:epsilon=1", 1}}, {KEY, {"2021", "laplace:epsilon=2", 1}},
        {KEY, {"2021", "laplace:epsilon=1", 2}}, {KEY, {"2021l", "aplace:epsilon=1", 1}},
    };
    enum { N = sizeof cases / sizeof *cases };
    unsigned char bits[N][32];
    (void) state;
    for (size_t i = 0; i < N; i++) {
        cellar_rng *rng;
        assert_int_equal(cellar_rng_create_keyed(cases[i].key, &cases[i].scope, &rng, &err),
                         CELLAR_OK);
        keyed(rng, "p", bits[i], sizeof bits[i]);
        cellar_rng_free(rng);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(bits[i], bits[k], sizeof bits[i]);
    }
}

/* A child must not repeat the parent's bytes, nor the parent the child's. A child that has none, or
 * hangs, makes the test fail, too: the parent keeps no end of the pipe it could wait for, and the
 * child is given ten seconds. */
static void test_fork_parts_the_streams(void **state)
{
    enum { CHILD_SECONDS = 10 };
    unsigned char parent[64], child[64];
    int pipe_ends[2], exit_status;
    cellar_rng *rng;
    pid_t pid;
    (void) state;

    assert_int_equal(cellar_rng_create_secure(&rng, &err), CELLAR_OK);
    draw(rng, parent, 16); /* the buffer is filled before the fork */
    assert_int_equal(pipe(pipe_ends), 0);
    pid = fork();
    if (pid == 0) {
        int bad;
        alarm(CHILD_SECONDS);
        bad = cellar_rng_bytes(rng, child, sizeof child, NULL) != CELLAR_OK ||
              write(pipe_ends[1], child, sizeof child) != sizeof child;
        _exit(bad);
    }
    assert_true(pid > 0);
    close(pipe_ends[1]);
    draw(rng, parent, sizeof parent);
    assert_int_equal(read(pipe_ends[0], child, sizeof child), sizeof child);
    assert_int_equal(waitpid(pid, &exit_status, 0), pid);
    assert_int_equal(exit_status, 0);
    assert_memory_not_equal(parent, child, sizeof parent);
    close(pipe_ends[0]);
    cellar_rng_free(rng);
}

/* What was handed out is nowhere in the process any more, once the caller has wiped it: every
 * writable private mapping is searched for it. (Sanitizers map terabytes; they skip it.) */
#ifndef CELLAR_SANITIZE
static size_t mapping_count(const unsigned char *from, const unsigned char *to,
                            const unsigned char masked[32])
{
    size_t n = 0;
    for (; from + 32 <= to; from++) {
        size_t k = 0;
        while (k < 32 && from[k] == (masked[k] ^ 0x5a))
            k++;
        n += k == 32;
    }
    return n;
}

static size_t process_count(const unsigned char masked[32])
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512], mode[8];
    size_t n = 0;
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        void *from, *to;
        if (sscanf(line, "%p-%p %7s", &from, &to, mode) == 3 && strcmp(mode, "rw-p") == 0)
            n += mapping_count(from, to, masked);
    }
    fclose(maps);
    return n;
}

static void test_bytes_handed_out_are_wiped(void **state)
{
    static unsigned char bytes[32], masked[32];
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_secure(&rng, &err), CELLAR_OK);
    draw(rng, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        masked[i] = bytes[i] ^ 0x5a;
    assert_true(process_count(masked) >= 1); /* ours: the search does find what is there */
    cellar_wipe(bytes, sizeof bytes);
    assert_int_equal(process_count(masked), 0);
    cellar_rng_free(rng);
}
#else
static void test_bytes_handed_out_are_wiped(void **state)
{
    (void) state;
    skip();
}
#endif

/* Sanity, not proof: bits are balanced, neighbours unrelated, bytes uniform. False alarm below
 * 1e-9 each (normal approximation, 6.2 sd; for the sum of squares 1e-9 by Chernoff); the seed is
 * fixed. A bias of one bit in 10^4 out of 10^8 would be seen. */
static void test_bits_look_random(void **state)
{
    enum { N = 1 << 24 };
    unsigned char *bytes = test_malloc(N);
    uint64_t histogram[256] = {0};
    int64_t n_ones = 0, n_same = 0;
    double chi_square = 0;
    cellar_rng *rng;
    (void) state;

    assert_int_equal(cellar_rng_create_seeded(7, 0, &rng, &err), CELLAR_OK);
    draw(rng, bytes, N);
    for (size_t i = 0; i < N; i++) {
        histogram[bytes[i]]++;
        n_ones += __builtin_popcount(bytes[i]);
        n_same += 8 - __builtin_popcount((unsigned) (bytes[i] ^ bytes[i ^ 1]));
    }
    for (size_t v = 0; v < 256; v++) {
        double d = (double) histogram[v] - N / 256.0;
        chi_square += d * d / (N / 256.0);
    }
    assert_true(fabs((double) n_ones - 4.0 * N) < 6.2 * sqrt(2.0 * N));
    assert_true(fabs((double) n_same - 4.0 * N) < 6.2 * sqrt(4.0 * N));
    assert_true(chi_square < 255 + 6.2 * sqrt(2 * 255.0) + 2 * 20.8);
    assert_true(chi_square > 255 - 6.2 * sqrt(2 * 255.0));
    test_free(bytes);
    cellar_rng_free(rng);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    cellar_rng *rng = NULL;
    cellar_status status = cellar_rng_create_secure(&rng, e);
    (void) context;
    cellar_rng_free(rng);
    return status;
}

static void test_memory_may_end(void **state)
{
    (void) state;
    check_fail_every(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seeded_stream_does_not_depend_on_the_requests),
        cmocka_unit_test(test_seeded_stream_is_pinned),
        cmocka_unit_test(test_only_secure_and_keyed_count_as_secure),
        cmocka_unit_test(test_keyed_bits_are_a_function_of_the_predicate),
        cmocka_unit_test(test_keyed_bits_depend_on_key_and_scope),
        cmocka_unit_test(test_fork_parts_the_streams),
        cmocka_unit_test(test_bytes_handed_out_are_wiped),
        cmocka_unit_test(test_bits_look_random),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
