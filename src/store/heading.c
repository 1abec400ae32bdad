/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/heading.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/text.h"
#include "data/codelist.h"
#include "data/recode_map.h"
#include "table/formats/extension.h"

/* ---- variables -------------------------------------------------------------- */

/* A JSON string of a text, which is cleared. */
static json_t *take_text(cellar_text *text)
{
    json_t *string = text->failed || text->bytes == NULL ? NULL : json_string(text->bytes);
    cellar_text_clear(text);
    return string;
}

static json_t *map_json(const cellar_recode_map *map)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, "from,to\n");
    for (size_t i = 0; i < cellar_codelist_n_codes(map->pairs); i++) {
        cellar_csv_add_field(&text, cellar_codelist_code(map->pairs, i), ',');
        cellar_text_add_char(&text, ',');
        cellar_csv_add_field(&text, cellar_codelist_label(map->pairs, i, 0), ',');
        cellar_text_add_char(&text, '\n');
    }
    return take_text(&text);
}

static json_t *recode_json(const cellar_recode *recode)
{
    json_t *map = recode->map != NULL ? map_json(recode->map) : NULL;
    if (recode->map != NULL && map == NULL)
        return NULL;
    /* s* and o*: what is NULL has no member */
    return json_pack("{s:o*, s:s*, s:s*, s:s*, s:s*, s:b}", "map", map, "bottom", recode->bottom,
                     "top", recode->top, "band", recode->band_width, "band_origin",
                     recode->band_origin, "band_closed_right", recode->band_closed_right);
}

static json_t *variable_json(const cellar_stored_file *file, size_t v)
{
    static const char *const domains[] = STORED_DOMAIN_WORDS;
    static const char *const policies[] = STORED_POLICY_WORDS;
    const cellar_stored_variable *variable = &file->variables[v];
    const cellar_stored_column *column = &file->columns[CELLAR_STORED_N_BESIDE + v];
    cellar_text list = {0};
    cellar_codelist_add_text(variable->list, &list);
    return json_pack("{s:s, s:s, s:s, s:b, s:s, s:b, s:i, s:o, s:o}", "name", variable->spec.name,
                     "column", variable->spec.column, "domain", domains[variable->domain], "public",
                     variable->spec.domain_public, "missing_as",
                     policies[variable->spec.missing_policy], "missing", column->least == 0,
                     "width", (int) column->width, "recode", recode_json(&variable->spec.recode),
                     "codelist", take_text(&list));
}

/* ---- the document ------------------------------------------------------------ */

static json_t *texts_json(const char *const *texts, size_t n)
{
    json_t *list = json_array();
    int failed = 0;
    for (size_t i = 0; i < n; i++)
        failed |= json_array_append_new(list, json_string(texts[i]));
    if (!failed)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *beside_json(const cellar_stored_file *file, cellar_stored_beside beside)
{
    const cellar_stored_column *column = &file->columns[beside];
    char range[32];
    switch (beside) {
    case CELLAR_STORED_KEY:
        snprintf(range, sizeof range, "%" PRIu64, file->key_range);
        return json_pack("{s:s, s:s, s:b, s:b}", "column", column->name, "range", range, "derived",
                         file->key_is_derived, "decimal", file->key_is_decimal);
    case CELLAR_STORED_UNIT:
        return json_pack("{s:s, s:I}", "column", column->name, "units", (json_int_t) column->limit);
    default:
        return json_pack("{s:s}", "column", column->name);
    }
}

static json_t *heading_json(const cellar_stored_file *file)
{
    static const char *const policies[] = STORED_POLICY_WORDS;
    static const char *const words[] = STORED_BESIDE_WORDS;
    json_t *variables = json_array(), *root;
    int failed = 0;
    for (size_t v = 0; v < file->n_variables; v++)
        failed |= json_array_append_new(variables, variable_json(file, v));
    root = json_pack(
        "{s:s, s:i, s:b, s:I, s:o, s:s, s:o, s:o, s:s*, s:b, s:{s:I, s:I}}", "kind", "store",
        "version", STORED_VERSION, "confidential", 1, "rows", (json_int_t) file->n_rows,
        "variables", variables, "missing_as", policies[file->missing_policy], "missing",
        texts_json(file->missing, file->n_missing), "where", texts_json(file->where, file->n_where),
        "sorted_by", file->sorted_by, "skip_bad_rows", file->bad_rows == CELLAR_BAD_ROWS_SKIP,
        "not_stored", "bad", (json_int_t) file->report.n_bad, "filtered",
        (json_int_t) file->report.n_filtered);
    for (unsigned b = 0; b < CELLAR_STORED_N_BESIDE; b++)
        if (file->columns[b].width > 0)
            failed |=
                json_object_set_new(root, words[b], beside_json(file, (cellar_stored_beside) b));
    if (!failed)
        return json_pack("{s:o}", "cellar", root);
    json_decref(root);
    return NULL;
}

cellar_status cellar_store_write_heading(const store_writer *w, const cellar_stored_file *file,
                                         cellar_error *err)
{
    stored_start start = {.version = STORED_VERSION};
    stored_tail tail = {.version = STORED_VERSION};
    json_t *document = heading_json(file);
    char *text =
        document != NULL ? cellar_json_text(document, JSON_SORT_KEYS | JSON_COMPACT) : NULL;
    json_decref(document);
    if (text == NULL)
        return cellar_fail_memory(err, "the heading of a store");
    memcpy(start.mark, STORED_MARK, sizeof start.mark);
    memcpy(tail.mark, STORED_MARK, sizeof tail.mark);
    tail.heading_at = cellar_output_size_bytes(w->output);
    tail.heading_length = strlen(text);
    cellar_stored_digest(&start, w->sums, w->n_sums * sizeof *w->sums, text,
                         (size_t) tail.heading_length, tail.digest);
    cellar_output_write(w->output, text, (size_t) tail.heading_length);
    cellar_output_write(w->output, &tail, sizeof tail);
    cellar_free(text);
    return CELLAR_OK;
}
