/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of every verb that reads records. */
#ifndef CELLAR_CLI_READER_H
#define CELLAR_CLI_READER_H

#include <cellar/microdata.h>

#include "json_out.h"
#include "options.h"

typedef struct cli_reader {
    const char *count, *delimiter;
    int no_header, encoding, bad_rows;
    cli_words missing;
    cli_number max_columns, max_row_mib, reader_memory_mib, threads;
} cli_reader;

/* The rows of an option table for a cli_reader at that offset in the verb's values. */
/* clang-format off */
#define CLI_READER_OPTIONS(at)                                                                     \
    {CLI_SECTION, "Reading the file", NULL, NULL, 0, 0, 0, 0},                                     \
    {CLI_TEXT, "count", "COLUMN",                                                                  \
     "each row stands for that many records, as in R's as.data.frame(table); none: each row is "   \
     "one record, whatever its columns are called",                                                \
     (at) + offsetof(cli_reader, count), 0, 0, 0},                                                 \
    {CLI_TEXT, "delimiter", "CHAR",                                                                \
     "one character between fields, or tab [comma; tab for .tsv and .tab]",                        \
     (at) + offsetof(cli_reader, delimiter), 0, 0, 0},                                             \
    {CLI_FLAG, "no-header", NULL, "the first line is data; columns are named V1, V2, ...",         \
     (at) + offsetof(cli_reader, no_header), 0, 0, 0},                                             \
    {CLI_CHOICE, "encoding", "utf-8|latin1|windows-1252", "of a text file [utf-8]",                \
     (at) + offsetof(cli_reader, encoding), 0, 0, 0},                                              \
    {CLI_CHOICE, "bad-rows", "error|skip",                                                         \
     "what to do with a row that cannot be read; skipped ones are counted [error]",                \
     (at) + offsetof(cli_reader, bad_rows), 0, 0, 0},                                              \
    {CLI_MANY, "missing", "TEXT",                                                                  \
     "a value that means missing, besides the empty one; may be repeated",                         \
     (at) + offsetof(cli_reader, missing), 0, 0, 0},                                               \
    {CLI_NUMBER, "max-columns", "N", "refuse a file that has more columns [100000]",               \
     (at) + offsetof(cli_reader, max_columns), 0, 1, 100000000},                                   \
    {CLI_NUMBER, "max-row-mib", "N",                                                               \
     "refuse a text file whose header or row is longer than so many MiB [4]",                      \
     (at) + offsetof(cli_reader, max_row_mib), 0, 1, CELLAR_MAX_ROW_MIB},                          \
    {CLI_NUMBER, "reader-memory-mib", "N",                                                         \
     "memory for reading an SPSS, Stata or SAS file [256 and 8 times its size, at most 4096]",     \
     (at) + offsetof(cli_reader, reader_memory_mib), 0, 1, 1 << 20},                               \
    {CLI_NUMBER, "threads", "N", "use so many processors; the result is the same [all]",           \
     (at) + offsetof(cli_reader, threads), 0, 1, 1024}
/* clang-format on */

/* What the options say, for the library. Answers CLI_GO_ON or CLI_USAGE with a message. */
int cli_reader_options(const cli_reader *reader, cellar_reader_options *out);

/* The data themselves are never replaced, --force or not. Answers CLI_GO_ON or CLI_USAGE with a
 * message; `output` may be NULL. */
int cli_reader_spare(const char *path, const char *output);

/* "12 rows read, 10 counted; 2 dropped for missing values" on standard error. */
void cli_reader_report(const char *path, const cellar_row_report *rows);
/* Warnings when a column called n may hold numbers of records, or when the file may have another
 * delimiter. */
void cli_reader_suspect(const char *path, const cellar_row_report *rows);
/* The same as the object "rows" of a JSON document. */
void cli_reader_json(cli_json *json, const cellar_row_report *rows);

#endif
