/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar cube table and show: what is in a cube. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/cube_inference.h>

#include "cube.h"
#include "json_out.h"
#include "lists.h"
#include "results.h"
#include "terminal.h"

/* ---- the question ------------------------------------------------------------------------------
 */

/* A question under construction; all texts and arrays are its own. */
typedef struct asking {
    cli_words variables;
    cellar_cube_side *sides;
    cli_words *codes;           /* of each side */
    cellar_cube_group **groups; /* of each side */
    cli_words *members;         /* of each --group */
    char **names;               /* likewise */
    size_t n_groups;
} asking;

static size_t side_of(const asking *a, const char *name, size_t length)
{
    for (size_t i = 0; i < a->variables.n; i++)
        if (strlen(a->variables.items[i]) == length &&
            strncmp(a->variables.items[i], name, length) == 0)
            return i;
    return SIZE_MAX;
}

/* "A=rest": the side of A, and where the rest begins. */
static int split(const asking *a, const char *option, const char *text, char mark, size_t *side,
                 const char **rest)
{
    const char *at = strchr(text, mark);
    *side = at != NULL ? side_of(a, text, (size_t) (at - text)) : SIZE_MAX;
    if (at == NULL)
        return cli_usage("--%s %s: expected VARIABLE%c...", option, text, mark);
    if (*side == SIZE_MAX)
        return cli_usage("--%s %s: name the variable in --by", option, text);
    *rest = at + 1;
    return CLI_GO_ON;
}

static int read_levels(asking *a, const cube_values *values)
{
    for (size_t k = 0; k < values->level.n; k++) {
        size_t side;
        const char *rest;
        char *end;
        int result = split(a, "level", values->level.items[k], '=', &side, &rest);
        if (result != CLI_GO_ON)
            return result;
        a->sides[side].level = strtoul(rest, &end, 10);
        if (*rest == '\0' || *end != '\0' || a->sides[side].level == 0)
            return cli_usage("--level %s: expected a whole number of at least 1",
                             values->level.items[k]);
    }
    return CLI_GO_ON;
}

static int read_only(asking *a, const cube_values *values)
{
    for (size_t k = 0; k < values->only.n; k++) {
        size_t side;
        const char *rest;
        int result = split(a, "only", values->only.items[k], '=', &side, &rest);
        if (result != CLI_GO_ON)
            return result;
        cli_words_split(&a->codes[side], rest, ',', 1);
        a->sides[side].codes = (const char *const *) a->codes[side].items;
        a->sides[side].n_codes = a->codes[side].n;
    }
    return CLI_GO_ON;
}

static int read_groups(asking *a, const cube_values *values)
{
    for (size_t k = 0; k < values->group.n; k++) {
        size_t side;
        const char *rest, *equals;
        cellar_cube_side *of;
        int result = split(a, "group", values->group.items[k], ':', &side, &rest);
        if (result != CLI_GO_ON)
            return result;
        equals = strchr(rest, '=');
        if (equals == NULL || equals == rest)
            return cli_usage("--group %s: expected VARIABLE:NAME=CODE,CODE",
                             values->group.items[k]);
        a->names[k] = cli_alloc((size_t) (equals - rest) + 1, 1);
        memcpy(a->names[k], rest, (size_t) (equals - rest));
        cli_words_split(&a->members[k], equals + 1, ',', 1);
        a->n_groups = k + 1;
        of = &a->sides[side];
        if (a->groups[side] == NULL)
            a->groups[side] = cli_alloc(values->group.n, sizeof **a->groups);
        a->groups[side][of->n_groups++] =
            (cellar_cube_group){.code = a->names[k],
                                .codes = (const char *const *) a->members[k].items,
                                .n_codes = a->members[k].n};
        of->groups = a->groups[side];
    }
    return CLI_GO_ON;
}

static int asking_read(asking *a, const cube_values *values)
{
    size_t n;
    int result = CLI_GO_ON;
    if (values->by != NULL)
        cli_words_split(&a->variables, values->by, ',', 1);
    n = a->variables.n + 1;
    a->sides = cli_alloc(n, sizeof *a->sides);
    a->codes = cli_alloc(n, sizeof *a->codes);
    a->groups = cli_alloc(n, sizeof *a->groups);
    a->members = cli_alloc(values->group.n + 1, sizeof *a->members);
    a->names = cli_alloc(values->group.n + 1, sizeof *a->names);
    for (size_t i = 0; i < a->variables.n; i++) {
        const char *name = a->variables.items[i], *mark = strrchr(name, '^');
        if (mark != NULL && mark[1 + strspn(mark + 1, "0123456789")] == '\0')
            return cli_usage("--by %s: give the level as --level %.*s=%s", name,
                             (int) (mark - name), name, mark[1] != '\0' ? mark + 1 : "1");
        a->sides[i].variable = name;
    }
    result = read_levels(a, values);
    if (result == CLI_GO_ON)
        result = read_only(a, values);
    if (result == CLI_GO_ON)
        result = read_groups(a, values);
    return result;
}

static void asking_clear(asking *a)
{
    for (size_t i = 0; a->codes != NULL && i <= a->variables.n; i++) {
        cli_words_clear(&a->codes[i]);
        free(a->groups[i]);
    }
    for (size_t k = 0; k < a->n_groups; k++) {
        cli_words_clear(&a->members[k]);
        free(a->names[k]);
    }
    free(a->sides);
    free(a->codes);
    free(a->groups);
    free(a->members);
    free(a->names);
    cli_words_clear(&a->variables);
}

/* ---- the answer --------------------------------------------------------------------------------
 */

typedef struct answer {
    const cellar_estimate *estimate;
    double *half_widths; /* of intervals; NULL: there are none */
    uint64_t limit;
    int whole; /* 1: it has whole numbers, and they are what is wanted */
} answer;

static void show_cells(const answer *a, cellar_output *output)
{
    const cellar_schema *schema = cellar_estimate_schema(a->estimate);
    const size_t n = cellar_estimate_n_cells(a->estimate);
    const size_t n_variables = cellar_schema_n_variables(schema);
    const size_t n_more = a->half_widths != NULL ? 2 : a->whole ? 1 : 0;
    cli_grid grid = {.n_columns = n_variables + 2 + n_more};
    for (size_t v = 0; v < n_variables; v++)
        cli_grid_add(&grid, cellar_schema_variable(schema, v));
    cli_grid_add(&grid, "estimate");
    cli_grid_add(&grid, "se");
    if (a->half_widths != NULL) {
        cli_grid_add(&grid, "from");
        cli_grid_add(&grid, "to");
    }
    if (a->whole)
        cli_grid_add(&grid, "whole");
    for (size_t i = 0; i < n && (a->limit == 0 || i < a->limit); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(a->estimate, i);
        uint32_t categories[CELLAR_MAX_VARIABLES];
        char text[40];
        cellar_schema_categories(schema, cell.index, categories);
        for (size_t v = 0; v < n_variables; v++)
            cli_grid_add(&grid, cellar_schema_code(schema, v, categories[v]));
        snprintf(text, sizeof text, "%.1f", cell.value);
        cli_grid_add(&grid, text);
        snprintf(text, sizeof text, "%.1f", cell.se);
        cli_grid_add(&grid, text);
        for (int side = -1; a->half_widths != NULL && side <= 1; side += 2) {
            snprintf(text, sizeof text, "%.1f", cell.value + side * a->half_widths[i]);
            cli_grid_add(&grid, text);
        }
        if (a->whole)
            cli_grid_add_count(&grid, (uint64_t) cell.whole);
    }
    cli_grid_write(&grid, ~(uint64_t) 0 << n_variables, output);
    cli_grid_clear(&grid);
    if (a->limit > 0 && n > a->limit)
        cellar_output_printf(output, "(%llu of %zu cells; --limit 0 shows all)\n",
                             (unsigned long long) a->limit, n);
    if (a->whole)
        cellar_output_string(output, "Whole numbers add within this table and to no other; "
                                     "standard errors are those of the estimates.\n");
}

static void json_cells(const answer *a, cellar_output *output)
{
    const cellar_schema *schema = cellar_estimate_schema(a->estimate);
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    cli_json_begin(&json, "cells", '[');
    for (size_t i = 0; i < cellar_estimate_n_cells(a->estimate); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(a->estimate, i);
        uint32_t categories[CELLAR_MAX_VARIABLES];
        cellar_schema_categories(schema, cell.index, categories);
        cli_json_begin(&json, NULL, '{');
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
            cli_json_text(&json, cellar_schema_variable(schema, v),
                          cellar_schema_code(schema, v, categories[v]));
        cli_json_real(&json, "estimate", cell.value);
        cli_json_real(&json, "se", cell.se);
        if (a->half_widths != NULL) {
            cli_json_real(&json, "low", cell.value - a->half_widths[i]);
            cli_json_real(&json, "high", cell.value + a->half_widths[i]);
        }
        if (a->whole)
            cli_json_count(&json, "whole", (uint64_t) cell.whole);
        cli_json_end(&json, '}');
    }
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

static int answer_print(const answer *a, int as_json)
{
    cellar_output *output = NULL;
    int result = cli_answer_open(NULL, NULL, &output);
    if (result == CLI_GO_ON && as_json)
        json_cells(a, output);
    else if (result == CLI_GO_ON)
        show_cells(a, output);
    return cli_answer_close(output, result);
}

static int answer_write(const answer *a, const cube_values *values)
{
    cellar_table_write_options write = {.format = CELLAR_TABLE_AUTO};
    cellar_release_file *file = NULL;
    cli_roles roles = {0};
    cellar_error err;
    int result;
    if (values->format > 0)
        write.format = (cellar_table_format) (CELLAR_TABLE_AUTO + values->format);
    result = cli_about_options(&values->about, &roles, &write);
    if (result == CLI_GO_ON) {
        cellar_status status =
            cellar_release_file_open(values->path, &write, values->force, &file, &err);
        if (status == CELLAR_OK)
            status = cellar_estimate_write(
                a->estimate, a->whole ? CELLAR_ESTIMATE_WHOLE : CELLAR_ESTIMATE_VALUES, file, &err);
        result = cli_exit(status, &err);
    }
    cellar_release_file_discard(file);
    cli_roles_clear(&roles);
    return result;
}

/* The probability of --interval; 0 when none is asked for. */
static int read_level(const char *text, double *out)
{
    char *end;
    *out = text != NULL ? strtod(text, &end) : 0;
    return text == NULL || (*text != '\0' && *end == '\0' && *out > 0 && *out < 1)
               ? CLI_GO_ON
               : cli_usage("--interval %s: expected a probability between 0 and 1, such as 0.95",
                           text);
}

static int check_options(const cube_values *values, double *level)
{
    if (values->whole && values->interval != NULL)
        return cli_usage("--whole has no --interval: intervals belong to the estimates");
    if (values->format > 0 && values->path == NULL)
        return cli_usage("--format is for --output");
    if (values->simultaneous && values->interval == NULL)
        return cli_usage("--simultaneous is for --interval");
    if (values->interval != NULL && values->path != NULL)
        return cli_usage("--interval is not for --output: the file has standard errors; --json "
                         "prints estimates with their intervals");
    return read_level(values->interval, level);
}

/* The table, and with a level the widths of its intervals. */
static cellar_status ask(const cellar_cube *cube, const cellar_cube_question *question,
                         const cube_values *values, double level, answer *out,
                         cellar_estimate **estimate, cellar_error *err)
{
    cellar_status status = values->whole ? cellar_cube_ask_whole(cube, question, estimate, err)
                                         : cellar_cube_ask(cube, question, estimate, err);
    const size_t n = status == CELLAR_OK ? cellar_estimate_n_cells(*estimate) : 0;
    if (status != CELLAR_OK || !(level > 0))
        return status;
    out->half_widths = cli_alloc(n + 1, sizeof *out->half_widths);
    return cellar_cube_half_widths(cube, question, level, values->simultaneous, out->half_widths, n,
                                   err);
}

int cli_cube_table(const char *path, const cube_values *values)
{
    asking a = {0};
    answer found = {.limit = values->limit.given ? values->limit.value : 40,
                    .whole = values->whole};
    cellar_cube *cube = NULL;
    cellar_estimate *estimate = NULL;
    cellar_error err;
    double level;
    int result = check_options(values, &level);
    if (result == CLI_GO_ON)
        result = asking_read(&a, values);
    if (result == CLI_GO_ON) {
        const cellar_cube_question question = {a.sides, a.variables.n, values->margins};
        cellar_status status = cellar_cube_open(path, &cube, &err);
        if (status == CELLAR_OK)
            status = ask(cube, &question, values, level, &found, &estimate, &err);
        if (status != CELLAR_OK)
            result = cli_exit(status, &err);
    }
    if (result == CLI_GO_ON) {
        found.estimate = estimate;
        result = values->path != NULL ? answer_write(&found, values)
                                      : answer_print(&found, values->json);
    }
    free(found.half_widths);
    cellar_estimate_free(estimate);
    cellar_cube_close(cube);
    asking_clear(&a);
    return result;
}

/* ---- what a cube holds
 * ----------------------------------------------------------------------------- */

static cellar_status show_universe(const cellar_cube *cube, const cube_values *values,
                                   cellar_output *output, cellar_error *err)
{
    const uint64_t limit = values->limit.given ? values->limit.value : 40;
    const size_t n = cellar_cube_n_tables(cube);
    cli_grid grid = {.n_columns = 4};
    static const char *const heads[] = {"sd", "cells", "measured", "table"};
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < 4; i++)
        cli_grid_add(&grid, heads[i]);
    for (size_t t = 0; status == CELLAR_OK && t < n && (limit == 0 || t < limit); t++) {
        cellar_cube_table_info info;
        status = cellar_cube_table_at(cube, t, &info, err);
        if (status != CELLAR_OK)
            break;
        cli_grid_add_number(&grid, info.sd);
        cli_grid_add_count(&grid, info.n_cells);
        cli_grid_add(&grid, info.is_exact ? "exact" : info.mechanism != NULL ? "yes" : "no");
        cli_grid_add_whole(&grid, info.name);
    }
    cli_grid_write(&grid, 3, output);
    cli_grid_clear(&grid);
    if (limit > 0 && n > limit)
        cellar_output_printf(output, "(%llu of %zu tables; --limit 0 shows all)\n",
                             (unsigned long long) limit, n);
    return status;
}

int cli_cube_show(const char *path, const cube_values *values)
{
    cellar_cube *cube = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    int result = CLI_GO_ON;
    cellar_status status = cellar_cube_open(path, &cube, &err);
    if (status == CELLAR_OK && values->verify)
        status = cellar_cube_verify(cube, path, &err);
    if (status == CELLAR_OK && values->verify)
        status = cellar_cube_recertify(cube, path, &err);
    if (status == CELLAR_OK) {
        result = cli_answer_open(NULL, NULL, &output);
        if (result == CLI_GO_ON && values->json)
            cellar_output_printf(output, "%s\n", cellar_cube_description(cube));
        else if (result == CLI_GO_ON)
            status = show_universe(cube, values, output, &err);
        result = cli_answer_close(output, status == CELLAR_OK ? result : CLI_FAILED);
    }
    if (status == CELLAR_OK && values->verify)
        cli_message(
            "%s: every digest fits, every estimate follows from the measured tables, every sum "
            "adds, the certificate is that of the measured tables; who made the cube only a "
            "signature can show",
            path);
    cellar_cube_close(cube);
    return status == CELLAR_OK ? result : cli_exit(status, &err);
}
