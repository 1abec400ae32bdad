/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of results that need not have the same fields: one list, shown to people, programs and
 * spreadsheets. */
#ifndef CELLAR_CLI_RESULTS_H
#define CELLAR_CLI_RESULTS_H

#include <stdint.h>

#include <cellar/output.h>

#include "json_out.h"

typedef enum cli_field_kind {
    CLI_FIELD_TEXT,
    CLI_FIELD_REAL,
    CLI_FIELD_COUNT,
    CLI_FIELD_BAR
} cli_field_kind;

typedef struct cli_field {
    cli_field_kind kind;
    char *key;
    const char *group; /* NULL, or the object that holds the field in JSON (group.key elsewhere);
                          a constant */
    char *text;
    double real;
    uint64_t count;
} cli_field;

typedef struct cli_result {
    cli_field *fields;
    size_t n, capacity;
} cli_result;

/* {0} is an empty list. */
typedef struct cli_results {
    cli_result *items;
    size_t n, capacity;
} cli_results;

void cli_results_clear(cli_results *results);

/* Begins a result; the fields that follow are its. */
void cli_results_begin(cli_results *results, const char *measure);
void cli_results_text(cli_results *results, const char *key, const char *text);
void cli_results_real(cli_results *results, const char *key, double number);
void cli_results_count(cli_results *results, const char *key, uint64_t number);
/* A share of 0..1 as a bar, for readers only: JSON and CSV have no such field. */
void cli_results_bar(cli_results *results, double share);
/* A field of the object `group`; fields of one group are given one after the other. */
void cli_results_member(cli_results *results, const char *group, const char *key, double number);

/* The fields of the first result within the object that is open, the measure left out. */
void cli_results_json_header(const cli_results *results, cli_json *json);
/* As an array under `key`. */
void cli_results_json(const cli_results *results, cli_json *json, const char *key);
/* One row each, one column for every key that occurs. Texts that a spreadsheet would compute get a
 * leading apostrophe. Of no results nothing is written. */
void cli_results_csv(const cli_results *results, cellar_output *output);
/* For a reader: aligned columns with four digits, results with the same keys under one header. The
 * fields named in `details` (comma-separated; NULL: none) are left to --csv and --json, and so are
 * columns without a value. While there are more than six columns, those that are the same in all
 * rows stand in a line above; one row of more than six columns is written as a list
 * (results_people.c). */
void cli_results_people(const cli_results *results, const char *details, cellar_output *output);

/* The name of a field as a column: key, or group.key. */
enum { CLI_FIELD_NAME_BYTES = 512 };
void cli_field_name(const cli_field *field, char name[CLI_FIELD_NAME_BYTES]);
/* The field of that name, or NULL. */
const cli_field *cli_result_find(const cli_result *result, const char *name);

/* ---- where an answer goes ---- */

/* Opened before the work is done: no computation of minutes ends at a file that exists already.
 * `path` NULL is the standard output. Answers CLI_GO_ON, or an exit code after a message, and then
 * *output is NULL. */
int cli_answer_open(const char *path, const cellar_output_options *how, cellar_output **output);
/* Commits what was written, or discards it unless `result` is CLI_GO_ON; answers an exit code. */
int cli_answer_close(cellar_output *output, int result);

#endif
