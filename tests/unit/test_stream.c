/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams give the bytes of a file whatever it is packed in, or say what is wrong with it. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "base/memory.h"
#include "data/stream.h"

enum { TEXT_BYTES = 700000, PACKED_LIMIT = 2 * TEXT_BYTES };

static unsigned char *make_text(void)
{
    unsigned char *text = cellar_alloc(TEXT_BYTES, 1);
    uint32_t seed = 12345;
    assert_non_null(text);
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        seed = seed * 1664525u + 1013904223u;
        text[i] = (unsigned char) ("abcdefgh,\"\n\r 0123"[(seed >> 24) % 17]);
    }
    return text;
}

/* One gzip member; answers its length. */
static size_t pack(const void *bytes, size_t length, unsigned char *out, size_t room)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *) (uintptr_t) bytes;
    z.avail_in = (uInt) length;
    z.next_out = out;
    z.avail_out = (uInt) room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

/* Reads to the end in pieces of `step` bytes. */
static cellar_status read_all(cellar_stream *stream, unsigned char *out, size_t room, size_t step,
                              size_t *n_out, cellar_error *err)
{
    size_t got;
    *n_out = 0;
    do {
        assert_true(*n_out + step <= room);
        cellar_status status = cellar_stream_read(stream, out + *n_out, step, &got, err);
        if (status != CELLAR_OK)
            return status;
        assert_true(got <= step);
        *n_out += got;
    } while (got == step);
    assert_int_equal(cellar_stream_read(stream, out, 1, &got, err), CELLAR_OK);
    assert_int_equal(got, 0);
    return CELLAR_OK;
}

static cellar_status unpack(const void *bytes, size_t length, unsigned char *out, size_t room,
                            size_t step, size_t *n_out, cellar_error *err)
{
    cellar_stream *stream;
    cellar_status status = cellar_stream_open_memory("memory", bytes, length, &stream, err);
    if (status != CELLAR_OK)
        return status;
    status = read_all(stream, out, room, step, n_out, err);
    if (status == CELLAR_OK && length > 0)
        assert_true(cellar_stream_fraction(stream) == 1);
    cellar_stream_close(stream);
    return status;
}

static void test_memory(void **state)
{
    static const size_t steps[] = {1, 2, 3, 4096, 65537, TEXT_BYTES};
    unsigned char *text = make_text(), *out = cellar_alloc(2 * TEXT_BYTES, 1);
    unsigned char *packed = cellar_alloc(PACKED_LIMIT, 1);
    size_t n_packed, n;
    cellar_error err;

    (void) state;
    n_packed = pack(text, 300000, packed, PACKED_LIMIT);
    n_packed += pack("", 0, packed + n_packed, PACKED_LIMIT - n_packed);
    n_packed +=
        pack(text + 300000, TEXT_BYTES - 300000, packed + n_packed, PACKED_LIMIT - n_packed);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        assert_int_equal(unpack(text, TEXT_BYTES, out, 2 * TEXT_BYTES, steps[i], &n, &err), 0);
        assert_int_equal(n, TEXT_BYTES);
        assert_memory_equal(out, text, n);
        assert_int_equal(unpack(packed, n_packed, out, 2 * TEXT_BYTES, steps[i], &n, &err), 0);
        assert_int_equal(n, TEXT_BYTES);
        assert_memory_equal(out, text, n);
    }
    /* zeros after the last member are padding */
    memset(packed + n_packed, 0, 300000);
    assert_int_equal(unpack(packed, n_packed + 300000, out, 2 * TEXT_BYTES, 999, &n, &err), 0);
    assert_int_equal(n, TEXT_BYTES);
    for (size_t length = 0; length < 4; length++) {
        assert_int_equal(unpack("a,b", length, out, 100, 7, &n, &err), 0);
        assert_int_equal(n, length);
    }
    cellar_free(packed);
    cellar_free(out);
    cellar_free(text);
}

/* A gzip file cut anywhere is an error; one changed byte is an error or changes nothing (the
 * header has fields, such as the time, that no check covers). */
static void test_damage(void **state)
{
    unsigned char *text = make_text(), *out = cellar_alloc(TEXT_BYTES, 1);
    unsigned char packed[4096], damaged[4096];
    size_t n_packed = pack(text, 3000, packed, sizeof packed), n;
    cellar_error err;

    (void) state;
    for (size_t length = 2; length < n_packed; length++) {
        assert_int_equal(unpack(packed, length, out, TEXT_BYTES, 500, &n, &err), CELLAR_ERR_INPUT);
        assert_string_equal(err.message,
                            "memory: the gzip data ends too early: the file is cut short");
    }
    for (size_t i = 2; i < n_packed; i++) {
        memcpy(damaged, packed, n_packed);
        damaged[i] ^= 0x10;
        cellar_status status = unpack(damaged, n_packed, out, TEXT_BYTES, 500, &n, &err);
        assert_true(status == CELLAR_ERR_INPUT ||
                    (i < 10 && n == 3000 && memcmp(out, text, 3000) == 0));
    }
    memcpy(packed + n_packed, "garbage", 7);
    assert_int_equal(unpack(packed, n_packed + 7, out, TEXT_BYTES, 500, &n, &err),
                     CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "memory: the gzip data is damaged (incorrect header check)");
    cellar_free(out);
    cellar_free(text);
}

static void test_file(void **state)
{
    char path[] = "cellar-test-stream-XXXXXX";
    unsigned char *text = make_text(), *out = cellar_alloc(2 * TEXT_BYTES, 1);
    unsigned char *packed = cellar_alloc(PACKED_LIMIT, 1);
    size_t lengths[2] = {TEXT_BYTES, pack(text, TEXT_BYTES, packed, PACKED_LIMIT)}, n;
    unsigned char *contents[2] = {text, packed};
    cellar_stream *stream;
    cellar_error err;
    int fd = mkstemp(path);

    (void) state;
    assert_true(fd >= 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, contents[i], lengths[i], 0), (ssize_t) lengths[i]);
        assert_int_equal(cellar_stream_open(path, &stream, &err), CELLAR_OK);
        assert_string_equal(cellar_stream_name(stream), path);
        assert_true(cellar_stream_fraction(stream) == 0);
        assert_int_equal(cellar_stream_read(stream, out, 1000, &n, &err), CELLAR_OK);
        assert_int_equal(n, 1000);
        assert_true(cellar_stream_fraction(stream) > 0);
        assert_int_equal(read_all(stream, out + n, 2 * TEXT_BYTES - n, 4096, &n, &err), CELLAR_OK);
        assert_int_equal(n, TEXT_BYTES - 1000);
        assert_true(cellar_stream_fraction(stream) == 1);
        cellar_stream_close(stream);
    }
    close(fd);
    unlink(path);
    cellar_free(packed);
    cellar_free(out);
    cellar_free(text);
}

/* Standard input as a pipe, which cannot be sought: plain, gzipped, and shorter than the mark. */
static void test_stdin(void **state)
{
    unsigned char packed[64], out[64];
    size_t n_packed = pack("a,b\n1,2\n", 8, packed, sizeof packed), n;
    const struct {
        const void *bytes;
        size_t length, want;
    } cases[] = {{"a,b\n1,2\n", 8, 8}, {packed, n_packed, 8}, {"a", 1, 1}, {"", 0, 0}};
    int saved = dup(STDIN_FILENO);

    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int ends[2];
        cellar_stream *stream;
        cellar_error err;
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], cases[i].bytes, cases[i].length),
                         (ssize_t) cases[i].length);
        close(ends[1]);
        assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        close(ends[0]);
        assert_int_equal(cellar_stream_open("-", &stream, &err), CELLAR_OK);
        assert_string_equal(cellar_stream_name(stream), "standard input");
        assert_true(cellar_stream_fraction(stream) == -1);
        assert_int_equal(read_all(stream, out, sizeof out, 3, &n, &err), CELLAR_OK);
        assert_int_equal(n, cases[i].want);
        cellar_stream_close(stream);
    }
    assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
    close(saved);
}

static void test_errors(void **state)
{
    cellar_stream *stream = (cellar_stream *) 1;
    cellar_error err;

    (void) state;
    assert_int_equal(cellar_stream_open("no/such/file", &stream, &err), CELLAR_ERR_IO);
    assert_null(stream);
    assert_string_equal(err.message,
                        "no/such/file: cannot open the file: No such file or directory");
    assert_int_equal(cellar_stream_open(".", &stream, &err), CELLAR_ERR_IO);
    assert_null(stream);
    assert_string_equal(err.message, ".: cannot read the file: Is a directory");
    cellar_stream_close(NULL);
}

#ifdef CELLAR_FAIL_ALLOCATION
static void test_no_memory(void **state)
{
    unsigned char packed[64], out[64];
    size_t n_packed = pack("a,b\n1,2\n", 8, packed, sizeof packed), n = 0;
    cellar_error err;
    cellar_status status;
    int64_t allowed = 0;

    (void) state;
    do {
        cellar_memory_fail_after(allowed++);
        status = unpack(packed, n_packed, out, sizeof out, 9, &n, &err);
        assert_true(status == CELLAR_OK || status == CELLAR_ERR_MEMORY);
    } while (status != CELLAR_OK);
    cellar_memory_fail_after(-1);
    assert_true(allowed > 4);
    assert_int_equal(n, 8);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_file),      cmocka_unit_test(test_stdin),
        cmocka_unit_test(test_errors),
#ifdef CELLAR_FAIL_ALLOCATION
        cmocka_unit_test(test_no_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
