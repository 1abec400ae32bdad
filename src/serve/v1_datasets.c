/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GET /v1/datasets, one of them, and one with every category of every level: in one answer what a
 * page needs to let people choose. */
#include "serve/rules_parts.h"
#include "serve/v1.h"

/* ---- all of them ----------------------------------------------------------------- */

const char *v1_kind_text(serve_kind kind)
{
    static const char *const texts[] = {[SERVE_RELEASES] = "releases",
                                        [SERVE_CUBE] = "cube",
                                        [SERVE_BUDGET] = "budget",
                                        [SERVE_CELL_KEY] = "cell-key"};
    return texts[kind];
}

static void write_head(const serve_dataset *dataset, size_t language, cellar_text *out)
{
    serve_json_pair(out, "id", dataset->id);
    v1_text(out, "title", &dataset->title, language);
    serve_json_pair(out, "kind", v1_kind_text(dataset->kind));
    serve_json_pair(out, "population", dataset->population);
    serve_json_pair(out, "unit", dataset->unit);
    v1_text(out, "counted", &dataset->counted, language);
    serve_json_pair(out, "updated", dataset->updated);
    serve_json_pair(out, "next_update", dataset->next_update);
}

cellar_status v1_datasets(cellar_site *site, const serve_call *call, serve_reply *reply,
                          cellar_error *err)
{
    cellar_text *out = &reply->body;
    (void) err;
    serve_json_open(out, '{');
    v1_text(out, "title", &site->title, call->language);
    serve_json_name(out, "languages");
    serve_json_open(out, '[');
    for (size_t i = 0; i < site->n_languages; i++)
        serve_json_string(out, site->languages[i]);
    serve_json_close(out, ']');
    serve_json_name(out, "datasets");
    serve_json_open(out, '[');
    for (size_t i = 0; i < site->n_datasets; i++) {
        serve_json_open(out, '{');
        write_head(&site->datasets[i], call->language, out);
        serve_json_close(out, '}');
    }
    serve_json_close(out, ']');
    serve_json_close(out, '}');
    return v1_finish(reply);
}

/* ---- one of them ------------------------------------------------------------------ */

static void write_category(const serve_variable *variable, size_t level, size_t category,
                           size_t language, cellar_text *out)
{
    const serve_category *c = &variable->levels[level].categories[category];
    const int has_parent = level > 0 && c->parent != SIZE_MAX;
    serve_json_open(out, '{');
    serve_json_pair(out, "code", c->code);
    v1_text(out, "label", &c->label, language);
    if (level > 0)
        serve_json_pair(out, "parent",
                        has_parent ? variable->levels[level - 1].categories[c->parent].code : NULL);
    if (c->note.in != NULL)
        v1_text(out, "note", &c->note, language);
    serve_json_close(out, '}');
}

/* With its categories, or how many there are. */
static void write_level(const serve_variable *variable, size_t level, int is_whole, size_t language,
                        cellar_text *out)
{
    const serve_level *l = &variable->levels[level];
    serve_json_open(out, '{');
    serve_json_pair(out, "id", l->id);
    v1_text(out, "label", &l->label, language);
    if (is_whole) {
        serve_json_name(out, "categories");
        serve_json_open(out, '[');
        for (size_t c = 0; c < l->n_categories; c++)
            write_category(variable, level, c, language, out);
        serve_json_close(out, ']');
    } else
        v1_integer(out, "categories", l->n_categories);
    serve_json_close(out, '}');
}

static void write_variable(const serve_variable *variable, int is_whole, size_t language,
                           cellar_text *out)
{
    static const char *const roles[] = {"plain", "time", "geo"};
    serve_json_open(out, '{');
    serve_json_pair(out, "code", variable->code);
    v1_text(out, "label", &variable->label, language);
    v1_text(out, "note", &variable->note, language);
    serve_json_pair(out, "role", roles[variable->role]);
    v1_bool(out, "constant", variable->is_constant);
    serve_json_name(out, "levels");
    serve_json_open(out, '[');
    for (size_t l = 0; l < variable->n_levels; l++)
        write_level(variable, l, is_whole, language, out);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
}

static void write_rules(const serve_rules *rules, cellar_text *out)
{
    serve_json_name(out, "rules");
    serve_json_open(out, '[');
    for (size_t i = 0; rules != NULL && i < rules->n; i++) {
        serve_json_open(out, '{');
        serve_json_pair(out, "name", rules->items[i].name);
        serve_json_pair(out, "kind", serve_rule_kind_text(rules->items[i].kind));
        serve_json_pair(out, "text", rules->items[i].text);
        serve_json_pair(out, "judged",
                        serve_rule_is_released(rules->items[i].kind) ? "released" : "before");
        serve_json_close(out, '}');
    }
    serve_json_close(out, ']');
}

static cellar_status reply_dataset(cellar_site *site, const serve_call *call, int is_whole,
                                   serve_reply *reply)
{
    cellar_text *out = &reply->body;
    cellar_status status;
    const serve_dataset *dataset = v1_find_dataset(site, call->segments[1], reply, &status);
    if (dataset == NULL)
        return status;
    serve_json_open(out, '{');
    write_head(dataset, call->language, out);
    v1_text(out, "note", &dataset->note, call->language);
    v1_text(out, "source", &dataset->source_name, call->language);
    v1_text(out, "contact", &dataset->contact, call->language);
    v1_integer(out, "max_cells", dataset->max_cells);
    serve_json_name(out, "variables");
    serve_json_open(out, '[');
    for (size_t v = 0; v < dataset->n_variables; v++)
        write_variable(&dataset->variables[v], is_whole, call->language, out);
    serve_json_close(out, ']');
    if (!is_whole)
        write_rules(dataset->rules, out);
    serve_json_close(out, '}');
    return v1_finish(reply);
}

cellar_status v1_dataset(cellar_site *site, const serve_call *call, serve_reply *reply,
                         cellar_error *err)
{
    (void) err;
    return reply_dataset(site, call, 0, reply);
}

cellar_status v1_variables(cellar_site *site, const serve_call *call, serve_reply *reply,
                           cellar_error *err)
{
    (void) err;
    return reply_dataset(site, call, 1, reply);
}
