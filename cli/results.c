/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

/* ---- filling ---------------------------------------------------------------- */

/* Room for one more element, doubling. */
static void *results_grow(void *items, size_t n, size_t *capacity, size_t size)
{
    void *bigger;
    if (n < *capacity)
        return items;
    *capacity = *capacity > 0 ? 2 * *capacity : 8;
    bigger = cli_alloc(*capacity, size);
    if (n > 0)
        memcpy(bigger, items, n * size);
    free(items);
    return bigger;
}

void cli_results_clear(cli_results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        for (size_t f = 0; f < results->items[i].n; f++) {
            free(results->items[i].fields[f].key);
            free(results->items[i].fields[f].text);
        }
        free(results->items[i].fields);
    }
    free(results->items);
    *results = (cli_results){0};
}

static char *results_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(cli_alloc(size, 1), text, size);
}

static cli_field *results_add(cli_results *results, const char *key, cli_field_kind kind)
{
    cli_result *result = &results->items[results->n - 1];
    result->fields =
        results_grow(result->fields, result->n, &result->capacity, sizeof *result->fields);
    result->fields[result->n] = (cli_field){.kind = kind, .key = results_copy(key)};
    return &result->fields[result->n++];
}

void cli_results_begin(cli_results *results, const char *measure)
{
    results->items =
        results_grow(results->items, results->n, &results->capacity, sizeof *results->items);
    results->items[results->n++] = (cli_result){0};
    cli_results_text(results, "measure", measure);
}

void cli_results_text(cli_results *results, const char *key, const char *text)
{
    results_add(results, key, CLI_FIELD_TEXT)->text = results_copy(text);
}

void cli_results_real(cli_results *results, const char *key, double number)
{
    results_add(results, key, CLI_FIELD_REAL)->real = number;
}

void cli_results_count(cli_results *results, const char *key, uint64_t number)
{
    results_add(results, key, CLI_FIELD_COUNT)->count = number;
}

void cli_results_bar(cli_results *results, double share)
{
    results_add(results, "", CLI_FIELD_BAR)->real = share;
}

void cli_results_member(cli_results *results, const char *group, const char *key, double number)
{
    cli_field *field = results_add(results, key, CLI_FIELD_REAL);
    field->group = group;
    field->real = number;
}

/* ---- for programs ----------------------------------------------------------- */

static void results_json_field(const cli_field *field, cli_json *json)
{
    switch (field->kind) {
    case CLI_FIELD_TEXT:
        cli_json_text(json, field->key, field->text);
        break;
    case CLI_FIELD_REAL:
        cli_json_real(json, field->key, field->real);
        break;
    case CLI_FIELD_COUNT:
        cli_json_count(json, field->key, field->count);
        break;
    case CLI_FIELD_BAR:
        break;
    }
}

void cli_results_json_header(const cli_results *results, cli_json *json)
{
    for (size_t f = 1; results->n > 0 && f < results->items[0].n; f++)
        results_json_field(&results->items[0].fields[f], json);
}

static int results_same_group(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

void cli_results_json(const cli_results *results, cli_json *json, const char *key)
{
    cli_json_begin(json, key, '[');
    for (size_t i = 0; i < results->n; i++) {
        const cli_result *result = &results->items[i];
        const char *group = NULL;
        cli_json_begin(json, NULL, '{');
        for (size_t f = 0; f < result->n; f++) {
            const cli_field *field = &result->fields[f];
            if (!results_same_group(group, field->group)) {
                if (group != NULL)
                    cli_json_end(json, '}');
                if (field->group != NULL)
                    cli_json_begin(json, field->group, '{');
                group = field->group;
            }
            results_json_field(field, json);
        }
        if (group != NULL)
            cli_json_end(json, '}');
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

/* ---- columns ---------------------------------------------------------------- */

void cli_field_name(const cli_field *field, char name[CLI_FIELD_NAME_BYTES])
{
    if (field->group != NULL)
        snprintf(name, CLI_FIELD_NAME_BYTES, "%s.%s", field->group, field->key);
    else
        snprintf(name, CLI_FIELD_NAME_BYTES, "%s", field->key);
}

const cli_field *cli_result_find(const cli_result *result, const char *name)
{
    char own[CLI_FIELD_NAME_BYTES];
    for (size_t f = 0; f < result->n; f++) {
        cli_field_name(&result->fields[f], own);
        if (strcmp(own, name) == 0)
            return &result->fields[f];
    }
    return NULL;
}

static void results_columns(const cli_results *results, cli_words *names)
{
    char name[CLI_FIELD_NAME_BYTES];
    for (size_t i = 0; i < results->n; i++)
        for (size_t f = 0; f < results->items[i].n; f++) {
            cli_field_name(&results->items[i].fields[f], name);
            if (results->items[i].fields[f].kind != CLI_FIELD_BAR &&
                cli_words_find(names, name) == (size_t) -1)
                cli_words_add(names, name, strlen(name));
        }
}

static void results_csv_text(const char *text, cellar_output *output)
{
    int formula = text[0] != '\0' && strchr("=+-@\t\r", text[0]) != NULL;
    cellar_output_string(output, formula ? "\"'" : "\"");
    for (; *text != '\0'; text++)
        cellar_output_write(output, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    cellar_output_string(output, "\"");
}

static void results_csv_field(const cli_field *field, cellar_output *output)
{
    if (field == NULL || (field->kind == CLI_FIELD_REAL && isnan(field->real)))
        return;
    if (field->kind == CLI_FIELD_TEXT)
        results_csv_text(field->text, output);
    else if (field->kind == CLI_FIELD_COUNT)
        cellar_output_printf(output, "%" PRIu64, field->count);
    else
        cellar_output_printf(output, "%.17g", field->real);
}

void cli_results_csv(const cli_results *results, cellar_output *output)
{
    cli_words names = {0};
    if (results->n == 0)
        return;
    results_columns(results, &names);
    for (size_t c = 0; c < names.n; c++) {
        cellar_output_string(output, c > 0 ? "," : "");
        results_csv_text(names.items[c], output);
    }
    cellar_output_string(output, "\n");
    for (size_t i = 0; i < results->n; i++) {
        for (size_t c = 0; c < names.n; c++) {
            cellar_output_string(output, c > 0 ? "," : "");
            results_csv_field(cli_result_find(&results->items[i], names.items[c]), output);
        }
        cellar_output_string(output, "\n");
    }
    cli_words_clear(&names);
}

/* ---- where an answer goes ----------------------------------------------------- */

int cli_answer_open(const char *path, const cellar_output_options *how, cellar_output **output)
{
    cellar_error err;
    cellar_status status = cellar_output_open(path != NULL ? path : "-", how, output, &err);
    if (status == CELLAR_OK)
        return CLI_GO_ON;
    *output = NULL;
    return cli_exit(status, &err);
}

int cli_answer_close(cellar_output *output, int result)
{
    cellar_error err;
    if (result == CLI_GO_ON)
        return cli_exit(cellar_output_commit(output, &err), &err);
    cellar_output_discard(output);
    return result;
}
