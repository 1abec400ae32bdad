/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/recode_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "data/codelist_build.h"
#include "base/csv_record.h"

#define MAP_CATCH_ALL "*"

static cellar_status map_read_header(cellar_csv *csv, size_t *from, size_t *to, cellar_error *err)
{
    cellar_status status = cellar_csv_read_header(csv, err);

    if (status != CELLAR_OK)
        return status;
    *from = cellar_csv_find_column(csv, "from");
    *to = cellar_csv_find_column(csv, "to");
    if (csv->n_columns != 2 || *from == CELLAR_CSV_NO_COLUMN || *to == CELLAR_CSV_NO_COLUMN)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s:1: expected a header with the two columns from,to", csv->name);
    return CELLAR_OK;
}

static cellar_status map_read_pair(const cellar_csv *csv, size_t from, size_t to,
                                   cellar_codelist *pairs, cellar_error *err)
{
    const cellar_csv_field *value = &csv->fields[from], *becomes = &csv->fields[to];
    codelist_entry *entry;

    if (value->length == 0)
        return cellar_csv_fail(csv, from, err,
                               "is empty; empty fields are missing values and are not mapped");
    if (becomes->length == 0)
        return cellar_csv_fail(csv, to, err, "is empty; a value must become something");
    entry = cellar_codelist_new_entry(pairs, value->bytes, value->length, value->line, err);
    if (entry == NULL)
        return CELLAR_ERR_MEMORY;
    entry->labels[0] = cellar_arena_copy(pairs->arena, becomes->bytes, becomes->length);
    return entry->labels[0] != NULL ? CELLAR_OK : cellar_fail_memory(err, "a recode map");
}

static cellar_status map_read_pairs(cellar_csv *csv, cellar_codelist *pairs, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t from, to;
    int found;

    CELLAR_TRY(map_read_header(csv, &from, &to, err));
    for (;;) {
        CELLAR_TRY(cellar_csv_next(csv, &found, err));
        if (!found)
            break;
        CELLAR_TRY(map_read_pair(csv, from, to, pairs, err));
    }
    if (pairs->n_codes == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the map holds no values", csv->name);
    CELLAR_TRY(cellar_codelist_finish(pairs, err));
out:
    return status;
}

cellar_status cellar_recode_map_parse(const char *name, const char *bytes, size_t length,
                                      cellar_recode_map **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_recode_map *map = cellar_alloc(1, sizeof *map);
    cellar_csv csv;

    *out = NULL;
    if (map == NULL)
        return cellar_fail_memory(err, "a recode map");
    cellar_csv_init(&csv, name, bytes, length, ',');
    CELLAR_TRY(cellar_codelist_create_for_file(name, &map->pairs, err));
    map->pairs->n_languages = 1;
    map->pairs->languages[0] = "";
    map->pairs->code_column = "from";
    CELLAR_TRY(map_read_pairs(&csv, map->pairs, err));
    *out = map;
    map = NULL;
out:
    cellar_csv_clear(&csv);
    cellar_recode_map_free(map);
    return status;
}

cellar_status cellar_recode_map_read(const char *path, cellar_recode_map **out, cellar_error *err)
{
    char *bytes;
    size_t length;
    cellar_status status = cellar_file_read(path, CODELIST_MAX_FILE_BYTES, &bytes, &length, err);

    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_recode_map_parse(path, bytes, length, out, err);
    cellar_free(bytes);
    return status;
}

void cellar_recode_map_free(cellar_recode_map *map)
{
    if (map == NULL)
        return;
    cellar_codelist_free(map->pairs);
    cellar_free(map);
}

const char *cellar_recode_pairs_find(const cellar_codelist *pairs, const char *text, size_t length)
{
    size_t found = cellar_codelist_find(pairs, text, length);

    if (found == CELLAR_NO_CODE)
        found = cellar_codelist_find(pairs, MAP_CATCH_ALL, sizeof MAP_CATCH_ALL - 1);
    return found == CELLAR_NO_CODE ? NULL : cellar_codelist_label(pairs, found, 0);
}

typedef struct map_target {
    const char *text;
    size_t position; /* in the map */
} map_target;

static int map_target_compare(const void *left, const void *right)
{
    const map_target *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order != 0 ? order : (a->position > b->position) - (a->position < b->position);
}

static int map_position_compare(const void *left, const void *right)
{
    const map_target *a = left, *b = right;
    return (a->position > b->position) - (a->position < b->position);
}

/* Sorted by text, the first of equal targets stays; sorted by position, they are in order. */
cellar_status cellar_recode_pairs_add_targets(const cellar_codelist *pairs, cellar_codelist *list,
                                              cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = pairs->n_codes, n_kept = 0;
    map_target *targets = cellar_alloc(n, sizeof *targets);

    if (targets == NULL)
        return cellar_fail_memory(err, "the categories of a recode");
    for (size_t i = 0; i < n; i++)
        targets[i] = (map_target){.text = cellar_codelist_label(pairs, i, 0), .position = i};
    qsort(targets, n, sizeof *targets, map_target_compare);
    for (size_t i = 0; i < n; i++)
        if (n_kept == 0 || strcmp(targets[i].text, targets[n_kept - 1].text) != 0)
            targets[n_kept++] = targets[i];
    qsort(targets, n_kept, sizeof *targets, map_position_compare);
    for (size_t i = 0; i < n_kept; i++)
        CELLAR_TRY(cellar_codelist_add(list, targets[i].text, NULL, NULL, CELLAR_CODE_PLAIN, err));
out:
    cellar_free(targets);
    return status;
}
