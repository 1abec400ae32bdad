/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages and values as some programs write them and DuckDB does not: the format's rules about them,
 * in files of one column and one page that are put together here. */
#include "check.h"

#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/text.h"
#include "data/parquet/cursor.h"
#include "data/parquet/texts.h"
#include "data/parquet/value.h"

/* ---- Thrift's compact protocol, as far as heads need it ------------------------ */

enum { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };

static void add_number(cellar_text *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        cellar_text_add_char(out, (char) (value | 0x80));
    cellar_text_add_char(out, (char) value);
}

/* A field `step` after the last one. */
static void add_field(cellar_text *out, int step, int type)
{
    cellar_text_add_char(out, (char) (step << 4 | type));
}

static void add_i32(cellar_text *out, int step, uint32_t value)
{
    add_field(out, step, I32);
    add_number(out, (uint64_t) value << 1 ^ (value >> 31 ? 0x1ffffffffU : 0));
}

static void add_i64(cellar_text *out, int step, uint64_t value)
{
    add_field(out, step, I64);
    add_number(out, value << 1);
}

static void add_list(cellar_text *out, int step, int n, int type)
{
    add_field(out, step, LIST);
    cellar_text_add_char(out, (char) (n << 4 | type));
}

static void end_struct(cellar_text *out)
{
    cellar_text_add_char(out, 0);
}

/* ---- files --------------------------------------------------------------------- */

/* A page of a column of 32-bit numbers. */
typedef struct sample {
    uint32_t physical; /* 0: that of these numbers, 1 */
    int is_optional, is_repeated;
    int is_second;                 /* of the second kind */
    uint32_t codec;                /* as it is numbered in files */
    uint32_t n, n_nulls;           /* rows */
    uint32_t size;                 /* unpacked */
    uint32_t rep_bytes, def_bytes; /* of levels */
    int64_t checksum;              /* -1: none */
    const void *bytes;
    uint32_t length;
} sample;

static void add_page(cellar_text *out, const sample *s)
{
    add_i32(out, 1, s->is_second ? 3 : 0);
    add_i32(out, 1, s->size);
    add_i32(out, 1, s->length);
    if (s->checksum >= 0)
        add_i32(out, 1, (uint32_t) s->checksum);
    add_field(out, (s->is_second ? 8 : 5) - (s->checksum >= 0 ? 4 : 3), STRUCT);
    add_i32(out, 1, s->n);
    if (s->is_second) {
        add_i32(out, 1, s->n_nulls);
        add_i32(out, 1, s->n);
        add_i32(out, 1, 0);
        add_i32(out, 1, s->def_bytes);
        add_i32(out, 1, s->rep_bytes);
    } else {
        add_i32(out, 1, 0);
        add_i32(out, 1, 3);
        add_i32(out, 1, 3);
    }
    end_struct(out);
    end_struct(out);
    cellar_text_add(out, s->bytes, s->length);
}

static void add_chunk(cellar_text *out, const sample *s, size_t length)
{
    add_i64(out, 2, 4);
    add_field(out, 1, STRUCT);
    add_i32(out, 1, s->physical > 0 ? s->physical : 1);
    add_list(out, 1, 0, I32);
    add_list(out, 1, 0, BINARY);
    add_i32(out, 1, s->codec);
    add_i64(out, 1, s->n);
    add_i64(out, 1, length);
    add_i64(out, 1, length);
    add_i64(out, 2, 4);
    end_struct(out);
    end_struct(out);
}

static void add_footer(cellar_text *out, const sample *s, size_t length)
{
    add_i32(out, 1, 1);
    add_list(out, 1, 2, STRUCT);
    add_field(out, 4, BINARY);
    cellar_text_add(out, "\1r", 2);
    add_i32(out, 1, 1);
    end_struct(out);
    add_i32(out, 1, s->physical > 0 ? s->physical : 1);
    add_i32(out, 2, s->is_repeated ? 2 : s->is_optional ? 1 : 0);
    add_field(out, 1, BINARY);
    cellar_text_add(out, "\1n", 2);
    end_struct(out);
    add_i64(out, 1, s->n);
    add_list(out, 1, 1, STRUCT);
    add_list(out, 1, 1, STRUCT);
    add_chunk(out, s, length);
    add_i64(out, 1, length);
    add_i64(out, 1, s->n);
    end_struct(out);
    end_struct(out);
}

static cellar_text file_of(const sample *s)
{
    cellar_text out = {0};
    cellar_text_add_string(&out, "PAR1");
    add_page(&out, s);
    const size_t footer = out.length;
    add_footer(&out, s, footer - 4);
    const size_t length = out.length - footer;
    for (int i = 0; i < 4; i++)
        cellar_text_add_char(&out, (char) (length >> 8 * i & 0xff));
    cellar_text_add_string(&out, "PAR1");
    return out;
}

/* The values of a file, one blank between them. */
static cellar_status read_values(const sample *s, cellar_text *out, cellar_error *err)
{
    cellar_text bytes = file_of(s);
    parquet_file *file = NULL;
    parquet_cursor *cursor = NULL;
    uint32_t rows[8];
    cellar_status status = parquet_open_memory("f", bytes.bytes, bytes.length, &file, err);
    if (status == CELLAR_OK)
        status = parquet_cursor_create(file, 0, &cursor, err);
    if (status == CELLAR_OK)
        status = parquet_cursor_begin(cursor, 0, err);
    if (status == CELLAR_OK)
        status = parquet_cursor_next(cursor, s->n, rows, err);
    for (size_t i = 0; status == CELLAR_OK && i < s->n; i++) {
        const parquet_texts *texts = parquet_cursor_texts(cursor);
        if (rows[i] == PARQUET_MISSING)
            cellar_text_add_char(out, '-');
        else
            cellar_text_add(out, texts->bytes.bytes + texts->offsets[rows[i]],
                            (size_t) (texts->offsets[rows[i] + 1] - texts->offsets[rows[i]]));
        cellar_text_add_char(out, ' ');
    }
    parquet_cursor_free(cursor);
    parquet_close(file);
    cellar_text_clear(&bytes);
    return status;
}

static void check_values(const sample *s, const char *expected)
{
    cellar_text found = {0};
    cellar_error err = {""};
    if (read_values(s, &found, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_string_equal(found.bytes, expected);
    cellar_text_clear(&found);
}

static void check_refused(const sample *s, const char *expected)
{
    cellar_text found = {0};
    cellar_error err = {""};
    assert_int_equal(read_values(s, &found, &err), CELLAR_ERR_INPUT);
    assert_string_equal(err.message, expected);
    cellar_text_clear(&found);
}

/* ---- tests --------------------------------------------------------------------- */

static const unsigned char three[] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};

/* Adds the bytes as a member of a gzip file. */
static size_t add_member(const unsigned char *bytes, size_t n, unsigned char *out, size_t room)
{
    z_stream stream = {.next_in = (unsigned char *) bytes, .avail_in = (unsigned) n};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_out = out;
    stream.avail_out = (unsigned) room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    deflateEnd(&stream);
    return room - stream.avail_out;
}

static void test_gzip_members(void **state)
{
    unsigned char packed[200];
    sample s = {.codec = 2, .n = 3, .size = 12, .checksum = -1, .bytes = packed};
    (void) state;
    s.length = (uint32_t) add_member(three, 5, packed, sizeof packed);
    s.length += (uint32_t) add_member(three + 5, 7, packed + s.length, sizeof packed - s.length);
    check_values(&s, "1 2 3 ");
    s.length--;
    check_refused(&s, "f: the Parquet file is damaged: column 'n': a page cannot be unpacked");
}

/* Nothing but levels: there is no snappy stream to unpack. */
static void test_empty_second_page(void **state)
{
    (void) state;
    check_values(&(sample){.is_optional = 1,
                           .is_second = 1,
                           .codec = 1,
                           .n = 2,
                           .n_nulls = 2,
                           .size = 2,
                           .def_bytes = 2,
                           .checksum = -1,
                           .bytes = "\4\0",
                           .length = 2},
                 "- - ");
}

/* Repetition of a column without lists, said to be 0 throughout. */
static void test_needless_levels(void **state)
{
    unsigned char page[4 + sizeof three] = {6, 0, 6, 1};
    sample s = {.is_optional = 1,
                .is_second = 1,
                .n = 3,
                .size = sizeof page,
                .rep_bytes = 2,
                .def_bytes = 2,
                .checksum = -1,
                .bytes = page,
                .length = sizeof page};
    (void) state;
    memcpy(page + 4, three, sizeof three);
    check_values(&s, "1 2 3 ");
    s.rep_bytes = sizeof page;
    check_refused(&s, "f: the Parquet file is damaged: column 'n': the head of a page");
}

static void test_checksums(void **state)
{
    sample s = {.n = 3, .size = sizeof three, .bytes = three, .length = sizeof three};
    (void) state;
    s.checksum = (int64_t) crc32(0, three, sizeof three);
    check_values(&s, "1 2 3 ");
    s.checksum ^= 0x40000000;
    check_refused(&s, "f: the Parquet file is damaged: column 'n': the checksum of a page");
}

/* Also of the times of older programs, which have no type but their bytes. */
static void test_lists_are_refused(void **state)
{
    (void) state;
    for (uint32_t physical = 1; physical <= 3; physical += 2) {
        const sample s = {
            .physical = physical, .is_repeated = 1, .checksum = -1, .bytes = three, .length = 1};
        cellar_text found = {0};
        cellar_error err = {""};
        assert_int_equal(read_values(&s, &found, &err), CELLAR_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "f: column 'n' holds lists, "));
    }
}

/* Spark writes years beyond its range as times of day below 0. */
static void test_times_of_day(void **state)
{
    static const struct {
        parquet_physical physical;
        parquet_meaning meaning;
        int scale;
        int64_t time;
        const char *text; /* NULL: refused */
    } times[] = {
        {PARQUET_INT64, PARQUET_TIME, 6, 0, "00:00:00"},
        {PARQUET_INT64, PARQUET_TIME, 6, 86399999999, "23:59:59.999999"},
        {PARQUET_INT64, PARQUET_TIME, 6, 86400000000, "24:00:00"},
        {PARQUET_INT64, PARQUET_TIME, 6, 86400000001, NULL},
        {PARQUET_INT64, PARQUET_TIME, 6, -1, NULL},
        {PARQUET_INT64, PARQUET_TIMESTAMP, 6, -1, "1969-12-31 23:59:59.999999"},
        {PARQUET_INT96, PARQUET_TIMESTAMP, 9, 0, "1970-01-01 00:00:00"},
        {PARQUET_INT96, PARQUET_TIMESTAMP, 9, 86399999999999, "1970-01-01 23:59:59.999999999"},
        {PARQUET_INT96, PARQUET_TIMESTAMP, 9, -1, NULL},
        {PARQUET_INT96, PARQUET_TIMESTAMP, 9, INT64_MAX, NULL},
    };
    const uint32_t julian_day = 2440588;
    (void) state;
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        const parquet_column column = {
            .physical = times[i].physical, .meaning = times[i].meaning, .scale = times[i].scale};
        unsigned char bytes[12];
        cellar_text text = {0};
        memcpy(bytes, &times[i].time, 8);
        memcpy(bytes + 8, &julian_day, 4);
        assert_int_equal(
            parquet_add_value(&column, bytes, times[i].physical == PARQUET_INT96 ? 12 : 8, &text),
            times[i].text != NULL);
        if (times[i].text != NULL) {
            assert_int_equal(text.length, strlen(times[i].text));
            assert_memory_equal(text.bytes, times[i].text, strlen(times[i].text));
        }
        cellar_text_clear(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip_members),      cmocka_unit_test(test_empty_second_page),
        cmocka_unit_test(test_needless_levels),   cmocka_unit_test(test_checksums),
        cmocka_unit_test(test_lists_are_refused), cmocka_unit_test(test_times_of_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
