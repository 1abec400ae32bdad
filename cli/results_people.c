/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Results for a reader: few columns, few digits. */
#include <math.h>
#include <string.h>

#include "results.h"
#include "terminal.h"

enum { FEW_COLUMNS = 6, MOST_COLUMNS = 64 };

/* Consecutive results that share a header, and the columns shown. */
typedef struct people_block {
    const cli_results *results;
    size_t first, last;
    cli_words names;
} people_block;

static int field_is_missing(const cli_field *field)
{
    return field == NULL || (field->kind == CLI_FIELD_REAL && isnan(field->real)) ||
           (field->kind == CLI_FIELD_TEXT && field->text[0] == '\0');
}

static int field_equal(const cli_field *a, const cli_field *b)
{
    if (field_is_missing(a) || field_is_missing(b) || a->kind != b->kind)
        return 0;
    switch (a->kind) {
    case CLI_FIELD_TEXT:
        return strcmp(a->text, b->text) == 0;
    case CLI_FIELD_REAL:
        return a->real == b->real;
    case CLI_FIELD_COUNT:
        return a->count == b->count;
    case CLI_FIELD_BAR:
        return 0;
    }
    return 0;
}

static const cli_field *block_field(const people_block *block, size_t row, size_t column)
{
    return cli_result_find(&block->results->items[row], block->names.items[column]);
}

/* The measure always stays: it names the row. */
static int block_is_constant(const people_block *block, size_t column)
{
    if (column == 0)
        return 0;
    for (size_t i = block->first + 1; i < block->last; i++)
        if (!field_equal(block_field(block, block->first, column), block_field(block, i, column)))
            return 0;
    return block->last - block->first > 1;
}

static int block_has_value(const people_block *block, const char *name)
{
    for (size_t i = block->first; i < block->last; i++)
        if (!field_is_missing(cli_result_find(&block->results->items[i], name)))
            return 1;
    return 0;
}

static void block_add_names(people_block *block, const cli_words *details)
{
    char name[CLI_FIELD_NAME_BYTES];
    const cli_result *result = &block->results->items[block->first];
    for (size_t f = 0; f < result->n; f++) {
        cli_field_name(&result->fields[f], name);
        if (cli_words_find(details, name) == (size_t) -1 &&
            cli_words_find(&block->names, name) == (size_t) -1 && block_has_value(block, name))
            cli_words_add(&block->names, name, strlen(name));
    }
}

/* The first result after i with other keys than i. */
static size_t people_alike(const cli_results *results, size_t i)
{
    size_t j = i + 1;
    for (; j < results->n && results->items[j].n == results->items[i].n; j++)
        for (size_t f = 0; f < results->items[i].n; f++)
            if (strcmp(results->items[i].fields[f].key, results->items[j].fields[f].key) != 0)
                return j;
    return j;
}

/* A text in the last column is not cut: nothing follows it. */
static void block_add_cell(const cli_field *field, int is_last, cli_grid *grid)
{
    if (field_is_missing(field))
        cli_grid_add(grid, NULL);
    else if (field->kind == CLI_FIELD_TEXT && is_last)
        cli_grid_add_whole(grid, field->text);
    else if (field->kind == CLI_FIELD_TEXT)
        cli_grid_add(grid, field->text);
    else if (field->kind == CLI_FIELD_COUNT)
        cli_grid_add_count(grid, field->count);
    else if (field->kind == CLI_FIELD_BAR)
        cli_grid_add_bar(grid, field->real);
    else
        cli_grid_add_number(grid, field->real);
}

/* One row as a list of names and values. */
static void block_write_list(const people_block *block, cellar_output *output)
{
    cli_grid grid = {.n_columns = 2, .is_list = 1};
    for (size_t c = 0; c < block->names.n; c++) {
        const cli_field *field = block_field(block, block->first, c);
        if (field->kind == CLI_FIELD_BAR) /* compares rows, and there is one */
            continue;
        cli_grid_add(&grid, block->names.items[c]);
        block_add_cell(field, 1, &grid);
    }
    cli_grid_write(&grid, 0, output);
    cli_grid_clear(&grid);
}

/* Chooses the columns of the table. While there are too many, those that are the same in all rows
 * are written into a line above it instead, from the left. Answers how many are left. */
static size_t block_choose(const people_block *block, size_t shown[MOST_COLUMNS],
                           cellar_output *output)
{
    size_t n = 0, left = block->names.n;
    for (size_t c = 0; c < block->names.n && n < MOST_COLUMNS; c++) {
        cli_grid one = {.n_columns = 1};
        if (left <= FEW_COLUMNS || !block_is_constant(block, c)) {
            shown[n++] = c;
            continue;
        }
        block_add_cell(block_field(block, block->first, c), 1, &one);
        cellar_output_printf(output, "%s%s %s", left < block->names.n ? ", " : "",
                             block->names.items[c], one.cells.items[0]);
        cli_grid_clear(&one);
        left--;
    }
    cellar_output_string(output, left < block->names.n ? "\n" : "");
    return n;
}

static void block_write_table(const people_block *block, cellar_output *output)
{
    size_t shown[MOST_COLUMNS] = {0};
    cli_grid grid = {.n_columns = block_choose(block, shown, output)};
    uint64_t right = 0;

    for (size_t k = 0; k < grid.n_columns; k++) {
        const cli_field *field = block_field(block, block->first, shown[k]);
        cli_grid_add(&grid, block->names.items[shown[k]]);
        right |= (uint64_t) (field->kind == CLI_FIELD_REAL || field->kind == CLI_FIELD_COUNT) << k;
    }
    for (size_t i = block->first; i < block->last; i++)
        for (size_t k = 0; k < grid.n_columns; k++)
            block_add_cell(block_field(block, i, shown[k]), k + 1 == grid.n_columns, &grid);
    cli_grid_write(&grid, right, output);
    cli_grid_clear(&grid);
}

void cli_results_people(const cli_results *results, const char *details, cellar_output *output)
{
    cli_words left_out = {0};
    if (details != NULL)
        cli_words_split(&left_out, details, ',', 0);
    for (size_t i = 0; i < results->n;) {
        people_block block = {.results = results, .first = i, .last = people_alike(results, i)};
        block_add_names(&block, &left_out);
        cellar_output_string(output, i > 0 && block.names.n > 0 ? "\n" : "");
        if (block.last - block.first == 1 && block.names.n > FEW_COLUMNS)
            block_write_list(&block, output);
        else if (block.names.n > 0)
            block_write_table(&block, output);
        cli_words_clear(&block.names);
        i = block.last;
    }
    cli_words_clear(&left_out);
}
