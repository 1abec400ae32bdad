/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON-stat 2.0 as PxWebApi 2 answers it: one dataset with a dense array of values, and in
 * `extension` what px files know. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "serve/address.h"
#include "serve/formats.h"
#include "serve/json.h"
#include "table/formats/sheet.h"

enum { JSONSTAT_DATE = 10 }; /* characters of 2026-11-18 */

void serve_json_axes(const serve_grid *grid, const char *name, size_t first, size_t last,
                     cellar_text *out)
{
    serve_json_name(out, name);
    serve_json_open(out, '[');
    for (size_t a = first; a < last; a++)
        serve_json_string(out, grid->axes[a].code);
    serve_json_close(out, ']');
}

/* ---- dimensions --------------------------------------------------------------- */

static void jsonstat_add_units(const serve_grid *grid, cellar_text *out)
{
    const serve_question *question = grid->question;
    serve_json_name(out, "unit");
    serve_json_open(out, '{');
    for (size_t i = 0; i < question->n_contents; i++) {
        const serve_content content = question->contents[i];
        serve_json_name(out, serve_content_code(content));
        serve_json_open(out, '{');
        serve_json_pair(out, "base",
                        serve_content_label(question->dataset, SERVE_COUNT, question->language));
        serve_json_name(out, "decimals");
        serve_json_integer(out, serve_grid_content_decimals(grid, content));
        serve_json_close(out, '}');
    }
    serve_json_close(out, '}');
}

static void jsonstat_add_category_notes(const serve_grid *grid, size_t a, cellar_text *out)
{
    int is_open = 0;
    for (size_t i = 0; i < grid->axes[a].n; i++) {
        const serve_heading heading = serve_grid_heading(grid, a, i);
        if (heading.note == NULL)
            continue;
        if (!is_open) {
            serve_json_name(out, "note");
            serve_json_open(out, '{');
            is_open = 1;
        }
        serve_json_name(out, heading.code);
        serve_json_open(out, '[');
        serve_json_string(out, heading.note);
        serve_json_close(out, ']');
    }
    if (is_open)
        serve_json_close(out, '}');
}

static void jsonstat_add_category(const serve_grid *grid, size_t a, cellar_text *out)
{
    serve_json_name(out, "category");
    serve_json_open(out, '{');
    serve_json_name(out, "index");
    serve_json_open(out, '{');
    for (size_t i = 0; i < grid->axes[a].n; i++) {
        serve_json_name(out, serve_grid_heading(grid, a, i).code);
        serve_json_integer(out, (int64_t) i);
    }
    serve_json_close(out, '}');
    serve_json_name(out, "label");
    serve_json_open(out, '{');
    for (size_t i = 0; i < grid->axes[a].n; i++) {
        const serve_heading heading = serve_grid_heading(grid, a, i);
        serve_json_pair(out, heading.code, heading.label);
    }
    serve_json_close(out, '}');
    jsonstat_add_category_notes(grid, a, out);
    if (grid->axes[a].side == NULL)
        jsonstat_add_units(grid, out);
    serve_json_close(out, '}');
}

/* One code list, and the one address where it can be read. */
static void jsonstat_add_codelist(const serve_dataset *dataset, const serve_variable *variable,
                                  size_t l, size_t language, const serve_format_options *options,
                                  cellar_text *out)
{
    const serve_level *level = &variable->levels[l];
    cellar_text id = {0}, href = {0};

    serve_codelist_add_id(&id, dataset, level);
    cellar_text_add_string(&href, options->base_url != NULL ? options->base_url : "");
    cellar_text_add_string(&href, "/api/v2/codelists/");
    if (!id.failed)
        serve_address_add(&href, id.bytes);
    cellar_text_printf(&href, "?lang=%s", dataset->languages[language]);
    if (id.failed || href.failed)
        out->failed = 1;
    else {
        serve_json_open(out, '{');
        serve_json_pair(out, "id", id.bytes);
        serve_json_pair(out, "label", level->label.in[language]);
        serve_json_pair(out, "type", l + 1 == variable->n_levels ? "Valueset" : "Aggregation");
        serve_json_name(out, "links");
        serve_json_raw(out, "[{\"rel\":\"metadata\"");
        serve_json_pair(out, "hreflang", dataset->languages[language]);
        serve_json_pair(out, "href", href.bytes);
        serve_json_close(out, '}');
        serve_json_close(out, ']');
        serve_json_close(out, '}');
    }
    cellar_text_clear(&id);
    cellar_text_clear(&href);
}

/* What the metric is in the words of px: counts are a stock; nothing may be added up. */
static void jsonstat_add_measures(const serve_question *question, cellar_text *out)
{
    serve_json_name(out, "measuringType");
    serve_json_open(out, '{');
    for (size_t i = 0; i < question->n_contents; i++)
        serve_json_pair(out, serve_content_code(question->contents[i]),
                        question->contents[i] == SERVE_COUNT ? "Stock" : "Other");
    serve_json_close(out, '}');
}

static void jsonstat_add_dimension(const serve_grid *grid, size_t a,
                                   const serve_format_options *options, cellar_text *out)
{
    const serve_dataset *dataset = grid->question->dataset;
    const serve_axis *axis = &grid->axes[a];
    const serve_variable *variable =
        axis->side != NULL ? &dataset->variables[axis->side->variable] : NULL;

    serve_json_name(out, axis->code);
    serve_json_open(out, '{');
    serve_json_pair(out, "label", axis->label);
    if (axis->note != NULL) {
        serve_json_name(out, "note");
        serve_json_open(out, '[');
        serve_json_string(out, axis->note);
        serve_json_close(out, ']');
    }
    jsonstat_add_category(grid, a, out);
    serve_json_name(out, "extension");
    serve_json_open(out, '{');
    serve_json_name(out, "elimination");
    serve_json_bool(out, variable != NULL && !variable->is_constant);
    serve_json_pair(out, "show", "value");
    serve_json_name(out, "codelists");
    serve_json_open(out, '[');
    for (size_t l = 0; variable != NULL && variable->n_levels > 1 && l < variable->n_levels; l++)
        jsonstat_add_codelist(dataset, variable, l, grid->question->language, options, out);
    serve_json_close(out, ']');
    if (variable == NULL)
        jsonstat_add_measures(grid->question, out);
    serve_json_close(out, '}');
    serve_json_close(out, '}');
}

/* id and size; version 1 of JSON-stat has them and the roles inside `dimension`. */
static void jsonstat_add_ids(const serve_grid *grid, cellar_text *out)
{
    serve_json_axes(grid, "id", 0, grid->n_axes, out);
    serve_json_name(out, "size");
    serve_json_open(out, '[');
    for (size_t a = 0; a < grid->n_axes; a++)
        serve_json_integer(out, (int64_t) grid->axes[a].n);
    serve_json_close(out, ']');
}

/* The variables of a role, unless there is none. */
static void jsonstat_add_role(const serve_grid *grid, serve_role role, const char *name,
                              cellar_text *out)
{
    int is_open = 0;
    for (size_t a = 0; a < grid->n_axes; a++)
        if (grid->axes[a].side != NULL && grid->axes[a].role == role) {
            if (!is_open) {
                serve_json_name(out, name);
                serve_json_open(out, '[');
                is_open = 1;
            }
            serve_json_string(out, grid->axes[a].code);
        }
    if (is_open)
        serve_json_close(out, ']');
}

static void jsonstat_add_roles(const serve_grid *grid, cellar_text *out)
{
    serve_json_name(out, "role");
    serve_json_open(out, '{');
    jsonstat_add_role(grid, SERVE_ROLE_TIME, "time", out);
    jsonstat_add_role(grid, SERVE_ROLE_GEO, "geo", out);
    serve_json_name(out, "metric");
    serve_json_raw(out, "[\"" SERVE_CONTENTS_CODE "\"]");
    serve_json_close(out, '}');
}

static void jsonstat_add_dimensions(const serve_grid *grid, const serve_format_options *options,
                                    int version, cellar_text *out)
{
    if (version > 1) {
        jsonstat_add_roles(grid, out);
        jsonstat_add_ids(grid, out);
    }
    serve_json_name(out, "dimension");
    serve_json_open(out, '{');
    for (size_t a = 0; a < grid->n_axes; a++)
        jsonstat_add_dimension(grid, a, options, out);
    if (version == 1) {
        jsonstat_add_ids(grid, out);
        jsonstat_add_roles(grid, out);
    }
    serve_json_close(out, '}');
}

/* ---- about the table ------------------------------------------------------------ */

static void jsonstat_add_date(const char *name, const char *date, cellar_text *out)
{
    char day[JSONSTAT_DATE + 1];
    if (date == NULL || strlen(date) < JSONSTAT_DATE)
        return;
    memcpy(day, date, JSONSTAT_DATE);
    day[JSONSTAT_DATE] = '\0';
    serve_json_pair(out, name, day);
}

static void jsonstat_add_pair_if(const char *name, const char *text, cellar_text *out)
{
    if (text != NULL && text[0] != '\0')
        serve_json_pair(out, name, text);
}

/* A statement becomes a note. */
static void jsonstat_hear(void *context, const char *name, const char *part, const char *text)
{
    cellar_text *out = context, note = {0};
    cellar_text_printf(&note, "%s%s%s: %s", name, part != NULL ? ", " : "",
                       part != NULL ? part : "", text);
    if (note.failed)
        out->failed = 1;
    else
        serve_json_string(out, note.bytes);
    cellar_text_clear(&note);
}

static const char *jsonstat_text(const serve_grid *grid, serve_texts texts)
{
    return texts.in != NULL ? texts.in[grid->question->language] : NULL;
}

static void jsonstat_add_head(const serve_grid *grid, const serve_format_options *options,
                              int version, cellar_text *out)
{
    const serve_dataset *dataset = grid->question->dataset;
    const char *note = jsonstat_text(grid, dataset->note);
    cellar_text title = {0};

    if (version > 1) {
        serve_json_pair(out, "version", "2.0");
        serve_json_pair(out, "class", "dataset");
    }
    jsonstat_add_pair_if("href", options->self, out);
    serve_grid_add_title(grid, &title);
    if (title.failed)
        out->failed = 1;
    else
        serve_json_pair(out, "label", title.bytes);
    cellar_text_clear(&title);
    jsonstat_add_pair_if("source", jsonstat_text(grid, dataset->source_name), out);
    jsonstat_add_date("updated", dataset->updated, out);
    serve_json_name(out, "note");
    serve_json_open(out, '[');
    serve_grid_state_protection(grid, jsonstat_hear, out);
    if (note != NULL)
        serve_json_string(out, note);
    serve_cell_notes_state(grid, jsonstat_hear, out);
    serve_json_close(out, ']');
}

static void jsonstat_add_px(const serve_grid *grid, cellar_text *out)
{
    const serve_dataset *dataset = grid->question->dataset;
    serve_json_name(out, "px");
    serve_json_open(out, '{');
    serve_json_pair(out, "tableid", dataset->id);
    serve_json_pair(out, "matrix", dataset->id);
    serve_json_name(out, "decimals");
    serve_json_integer(out, serve_grid_decimals(grid));
    serve_json_name(out, "aggregallowed");
    serve_json_bool(out, 0);
    serve_json_pair(out, "language", dataset->languages[grid->question->language]);
    serve_json_pair(out, "contents", jsonstat_text(grid, dataset->title));
    serve_json_axes(grid, "heading", grid->n_stub, grid->n_axes, out);
    serve_json_axes(grid, "stub", 0, grid->n_stub, out);
    jsonstat_add_date("nextUpdate", dataset->next_update, out);
    serve_json_close(out, '}');
}

/* What Cellar promises, for programs. */
static void jsonstat_add_cellar(const serve_grid *grid, cellar_text *out)
{
    serve_json_name(out, "cellar");
    serve_json_open(out, '{');
    serve_json_pair(out, "unit", grid->question->dataset->unit);
    if (grid->answer != NULL) {
        serve_json_pair(out, "certificate", grid->answer->certificate_id);
        serve_json_pair(out, "guarantee", grid->answer->guarantee);
        serve_json_pair(out, "origin", grid->answer->origin);
    }
    serve_json_pair(out, "intervals", SERVE_INTERVAL_NOTE);
    serve_json_close(out, '}');
}

/* People must be shown how the values are protected: each of those notes, by its number. */
typedef struct jsonstat_mandatory {
    cellar_text *out;
    size_t n;
} jsonstat_mandatory;

static void jsonstat_demand(void *context, const char *name, const char *part, const char *text)
{
    jsonstat_mandatory *mandatory = context;
    char number[24];
    (void) name;
    (void) part;
    (void) text;
    snprintf(number, sizeof number, "%zu", mandatory->n++);
    serve_json_name(mandatory->out, number);
    serve_json_bool(mandatory->out, 1);
}

static void jsonstat_add_extension(const serve_grid *grid, cellar_text *out)
{
    const char *contact = jsonstat_text(grid, grid->question->dataset->contact);
    jsonstat_mandatory mandatory = {out, 0};
    serve_json_name(out, "extension");
    serve_json_open(out, '{');
    serve_json_name(out, "noteMandatory");
    serve_json_open(out, '{');
    serve_grid_state_protection(grid, jsonstat_demand, &mandatory);
    serve_json_close(out, '}');
    jsonstat_add_px(grid, out);
    if (contact != NULL) {
        serve_json_name(out, "contact");
        serve_json_raw(out, "[{\"raw\":");
        serve_json_string(out, contact);
        serve_json_close(out, '}');
        serve_json_close(out, ']');
    }
    jsonstat_add_cellar(grid, out);
    serve_json_close(out, '}');
}

/* ---- values --------------------------------------------------------------------- */

static void jsonstat_add_values(const serve_grid *grid, cellar_text *out)
{
    const size_t n = grid->answer != NULL ? grid->n_rows * grid->n_columns : 0;
    int has_status = 0;

    serve_json_name(out, "value");
    serve_json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        const serve_number number = serve_grid_number(grid, i);
        if (i > 0)
            cellar_text_add_char(out, ',');
        if (number.has_number)
            serve_number_add(&number, out);
        else
            cellar_text_add_string(out, "null");
        has_status |= number.status != CELLAR_CELL_NORMAL;
    }
    serve_json_close(out, ']');
    if (!has_status)
        return;
    serve_json_name(out, "status");
    serve_json_open(out, '{');
    for (size_t i = 0; i < n; i++) {
        const serve_number number = serve_grid_number(grid, i);
        char index[24];
        if (number.status == CELLAR_CELL_NORMAL)
            continue;
        snprintf(index, sizeof index, "%zu", i);
        serve_json_pair(out, index, cellar_cell_status_name(number.status));
    }
    serve_json_close(out, '}');
}

static void jsonstat_add_members(const serve_grid *grid, const serve_format_options *options,
                                 int version, cellar_text *out)
{
    jsonstat_add_head(grid, options, version, out);
    jsonstat_add_dimensions(grid, options, version, out);
    jsonstat_add_extension(grid, out);
    jsonstat_add_values(grid, out);
}

void serve_jsonstat_add(const serve_grid *grid, const serve_format_options *options,
                        cellar_text *out)
{
    serve_json_open(out, '{');
    jsonstat_add_members(grid, options, 2, out);
    serve_json_close(out, '}');
}

cellar_status serve_write_jsonstat(const serve_answer *answer, const serve_format_options *options,
                                   cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    serve_grid_init(&grid, answer->question, answer);
    serve_jsonstat_add(&grid, options, out);
    return out->failed ? cellar_fail_memory(err, "an answer in JSON-stat") : CELLAR_OK;
}

cellar_status serve_write_jsonstat_1(const serve_answer *answer,
                                     const serve_format_options *options, cellar_text *out,
                                     cellar_error *err)
{
    serve_grid grid;
    serve_grid_init(&grid, answer->question, answer);
    serve_json_open(out, '{');
    serve_json_name(out, "dataset");
    serve_json_open(out, '{');
    jsonstat_add_members(&grid, options, 1, out);
    serve_json_close(out, '}');
    serve_json_close(out, '}');
    return out->failed ? cellar_fail_memory(err, "an answer in JSON-stat") : CELLAR_OK;
}
