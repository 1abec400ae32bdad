/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON for programs, written as it is said: one object, numbers that read back exactly. */
#ifndef CELLAR_CLI_JSON_OUT_H
#define CELLAR_CLI_JSON_OUT_H

#include <stdint.h>

#include <cellar/output.h>

/* A document being written. Start from {output, 0, 0}. */
typedef struct cli_json {
    cellar_output *output;
    int depth;
    int n_written; /* values so far in the innermost object or array: 0 or more */
} cli_json;

/* Each value takes the key it has in its object; NULL within an array and at the top. An object
 * or array begun is ended with the same bracket's partner; ending the outermost ends the line. */
void cli_json_begin(cli_json *json, const char *key, char bracket); /* '{' or '[' */
void cli_json_end(cli_json *json, char bracket);                    /* '}' or ']' */
/* A text, or null; bytes that are not UTF-8 become question marks. */
void cli_json_text(cli_json *json, const char *key, const char *text);
void cli_json_count(cli_json *json, const char *key, uint64_t number);
/* A real number, with digits enough to read back the same; null when it is not finite. */
void cli_json_real(cli_json *json, const char *key, double number);
void cli_json_truth(cli_json *json, const char *key, int truth);
void cli_json_null(cli_json *json, const char *key);

#endif
