/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "json_out.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <cellar/text.h>

static void json_string(cli_json *json, const char *text)
{
    int valid = cellar_utf8_valid(text, strlen(text));
    cellar_output_string(json->output, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        unsigned char byte = (unsigned char) *c;
        if (byte == '"' || byte == '\\')
            cellar_output_printf(json->output, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            cellar_output_printf(json->output, "\\u%04x", byte);
        else
            cellar_output_write(json->output, byte < 0x80 || valid ? c : "?", 1);
    }
    cellar_output_string(json->output, "\"");
}

/* What stands before a value: the comma, a line of its own, the key. */
static void json_lead(cli_json *json, const char *key)
{
    if (json->n_written++ > 0)
        cellar_output_string(json->output, ",");
    if (json->depth > 0)
        cellar_output_printf(json->output, "\n%*s", 2 * json->depth, "");
    if (key != NULL) {
        json_string(json, key);
        cellar_output_string(json->output, ": ");
    }
}

void cli_json_begin(cli_json *json, const char *key, char bracket)
{
    json_lead(json, key);
    cellar_output_write(json->output, &bracket, 1);
    json->depth++;
    json->n_written = 0;
}

void cli_json_end(cli_json *json, char bracket)
{
    json->depth--;
    if (json->n_written > 0)
        cellar_output_printf(json->output, "\n%*s", 2 * json->depth, "");
    cellar_output_write(json->output, &bracket, 1);
    json->n_written = 1; /* what was ended is itself a value */
    if (json->depth == 0)
        cellar_output_string(json->output, "\n");
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    if (text == NULL) {
        cli_json_null(json, key);
        return;
    }
    json_lead(json, key);
    json_string(json, text);
}

void cli_json_count(cli_json *json, const char *key, uint64_t number)
{
    json_lead(json, key);
    cellar_output_printf(json->output, "%" PRIu64, number);
}

void cli_json_real(cli_json *json, const char *key, double number)
{
    if (!isfinite(number)) {
        cli_json_null(json, key);
        return;
    }
    json_lead(json, key);
    cellar_output_printf(json->output, "%.17g", number);
}

void cli_json_truth(cli_json *json, const char *key, int truth)
{
    json_lead(json, key);
    cellar_output_string(json->output, truth ? "true" : "false");
}

void cli_json_null(cli_json *json, const char *key)
{
    json_lead(json, key);
    cellar_output_string(json->output, "null");
}
