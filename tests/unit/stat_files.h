/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SPSS, Stata and SAS files made in memory by ReadStat's writers, for the tests of the readers. */
#ifndef CELLAR_TESTS_STAT_FILES_H
#define CELLAR_TESTS_STAT_FILES_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

#include <readstat.h>

#include <cellar/microdata.h>

#include "base/memory.h"

typedef struct stat_file {
    unsigned char *bytes;
    size_t length, capacity;
} stat_file;

static inline ssize_t stat_file_write(const void *bytes, size_t length, void *context)
{
    stat_file *file = context;
    assert_true(cellar_grow(&file->bytes, &file->capacity, file->length + length, 1));
    memcpy(file->bytes + file->length, bytes, length);
    file->length += length;
    return (ssize_t) length;
}

static inline void stat_file_clear(stat_file *file)
{
    cellar_free(file->bytes);
    *file = (stat_file){0};
}

/* Lets the library find its program in the folder of the build, wherever the test lies. */
static inline void stat_find_program(void)
{
    setenv("CELLAR_STATREAD", CELLAR_STATREAD_BUILT, 1);
}

/* A kind of file: format, version (0: the writer's own choice) and compression. */
typedef struct stat_kind {
    const char *ending;
    cellar_data_format format;
    uint8_t version;
    readstat_compress_t compression;
} stat_kind;

static const stat_kind stat_kinds[] = {
    {".sav", CELLAR_DATA_SAV, 0, READSTAT_COMPRESS_NONE},
    {".sav", CELLAR_DATA_SAV, 0, READSTAT_COMPRESS_ROWS},
    {".zsav", CELLAR_DATA_SAV, 0, READSTAT_COMPRESS_BINARY},
    {".por", CELLAR_DATA_POR, 0, READSTAT_COMPRESS_NONE},
    {".dta", CELLAR_DATA_DTA, 108, READSTAT_COMPRESS_NONE},
    {".dta", CELLAR_DATA_DTA, 114, READSTAT_COMPRESS_NONE},
    {".dta", CELLAR_DATA_DTA, 117, READSTAT_COMPRESS_NONE},
    {".dta", CELLAR_DATA_DTA, 118, READSTAT_COMPRESS_NONE},
    {".sas7bdat", CELLAR_DATA_SAS, 0, READSTAT_COMPRESS_NONE},
    {".sas7bdat", CELLAR_DATA_SAS, 0, READSTAT_COMPRESS_ROWS},
    {".xpt", CELLAR_DATA_XPT, 5, READSTAT_COMPRESS_NONE},
    {".xpt", CELLAR_DATA_XPT, 8, READSTAT_COMPRESS_NONE},
};
enum { N_STAT_KINDS = sizeof stat_kinds / sizeof *stat_kinds };

static inline int stat_kind_is_spss(const stat_kind *kind)
{
    return kind->format == CELLAR_DATA_SAV || kind->format == CELLAR_DATA_POR;
}

static inline readstat_writer_t *stat_writer(void)
{
    readstat_writer_t *writer = readstat_writer_init();
    readstat_set_data_writer(writer, stat_file_write);
    readstat_writer_set_file_timestamp(writer, 1600000000);
    return writer;
}

static inline void stat_begin(readstat_writer_t *writer, const stat_kind *kind, long n_rows,
                              stat_file *file)
{
    readstat_error_t error = READSTAT_ERROR_OPEN;
    *file = (stat_file){0};
    if (kind->version != 0)
        readstat_writer_set_file_format_version(writer, kind->version);
    readstat_writer_set_compression(writer, kind->compression);
    if (kind->format == CELLAR_DATA_SAV)
        error = readstat_begin_writing_sav(writer, file, n_rows);
    else if (kind->format == CELLAR_DATA_POR)
        error = readstat_begin_writing_por(writer, file, n_rows);
    else if (kind->format == CELLAR_DATA_DTA)
        error = readstat_begin_writing_dta(writer, file, n_rows);
    else if (kind->format == CELLAR_DATA_SAS)
        error = readstat_begin_writing_sas7bdat(writer, file, n_rows);
    else if (kind->format == CELLAR_DATA_XPT)
        error = readstat_begin_writing_xport(writer, file, n_rows);
    assert_int_equal(error, READSTAT_OK);
}

static inline void stat_end(readstat_writer_t *writer)
{
    assert_int_equal(readstat_end_writing(writer), READSTAT_OK);
    readstat_writer_free(writer);
}

/* The people of the common file; NULL: missing. */
typedef struct stat_person {
    const char *place, *sex, *income;
} stat_person;

static const stat_person stat_people[] = {
    {"Basel", "1", "1000"},      {"Bern", "2", "-2.5"},     {"", "1", NULL},
    {"Zug  x", "9", "0.125"},    {"Basel", NULL, "123456"}, {"A\"b,c;d", "2", "0"},
    {"=1+2", "1", "1234567890"},
};
enum { N_STAT_PEOPLE = sizeof stat_people / sizeof *stat_people };

static inline void stat_put_number(readstat_writer_t *writer, const readstat_variable_t *variable,
                                   const char *text)
{
    readstat_error_t error;
    if (text == NULL)
        error = readstat_insert_missing_value(writer, variable);
    else
        error = readstat_insert_double_value(writer, variable, strtod(text, NULL));
    assert_int_equal(error, READSTAT_OK);
}

/* The columns PLACE, SEX and INCOME, `repeat` times the people above. SEX is labelled where the
 * format has labels, and its value 9 is declared missing in SPSS files. */
static inline void stat_make(const stat_kind *kind, int repeat, stat_file *file)
{
    readstat_writer_t *writer = stat_writer();
    readstat_variable_t *place, *sex, *income;
    int labelled = stat_kind_is_spss(kind) || kind->format == CELLAR_DATA_DTA;

    place = readstat_add_variable(writer, "PLACE", READSTAT_TYPE_STRING, 12);
    sex = readstat_add_variable(writer, "SEX", READSTAT_TYPE_DOUBLE, 0);
    income = readstat_add_variable(writer, "INCOME", READSTAT_TYPE_DOUBLE, 0);
    if (labelled) {
        readstat_label_set_t *set = readstat_add_label_set(writer, READSTAT_TYPE_DOUBLE, "SEXES");
        readstat_label_double_value(set, 9, "refused");
        readstat_label_double_value(set, 2, "woman");
        readstat_label_double_value(set, 1, "man");
        readstat_variable_set_label_set(sex, set);
    }
    if (stat_kind_is_spss(kind))
        readstat_variable_add_missing_double_value(sex, 9);
    stat_begin(writer, kind, (long) repeat * N_STAT_PEOPLE, file);
    for (int i = 0; i < repeat * N_STAT_PEOPLE; i++) {
        const stat_person *person = &stat_people[i % N_STAT_PEOPLE];
        assert_int_equal(readstat_begin_row(writer), READSTAT_OK);
        assert_int_equal(readstat_insert_string_value(writer, place, person->place), READSTAT_OK);
        stat_put_number(writer, sex, person->sex);
        stat_put_number(writer, income, person->income);
        assert_int_equal(readstat_end_row(writer), READSTAT_OK);
    }
    stat_end(writer);
}

#endif
