/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GET /v1/datasets/ID/variables: a data set with every category of every level, in one answer: what
 * a page needs to let people choose. */
#include "serve/v1.h"

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

static void write_level(const serve_variable *variable, size_t level, size_t language,
                        cellar_text *out)
{
    const serve_level *l = &variable->levels[level];
    serve_json_open(out, '{');
    serve_json_pair(out, "id", l->id);
    v1_text(out, "label", &l->label, language);
    serve_json_name(out, "categories");
    serve_json_open(out, '[');
    for (size_t c = 0; c < l->n_categories; c++)
        write_category(variable, level, c, language, out);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
}

cellar_status v1_variables(cellar_site *site, const serve_call *call, serve_reply *reply,
                           cellar_error *err)
{
    cellar_text *out = &reply->body;
    cellar_status status;
    const serve_dataset *dataset = v1_find_dataset(site, call->segments[1], reply, &status);
    (void) err;
    if (dataset == NULL)
        return status;
    serve_json_open(out, '{');
    v1_write_dataset(dataset, call->language, out);
    serve_json_name(out, "variables");
    serve_json_open(out, '[');
    for (size_t v = 0; v < dataset->n_variables; v++) {
        const serve_variable *variable = &dataset->variables[v];
        serve_json_open(out, '{');
        v1_write_variable(variable, call->language, out);
        serve_json_name(out, "levels");
        serve_json_open(out, '[');
        for (size_t l = 0; l < variable->n_levels; l++)
            write_level(variable, l, call->language, out);
        serve_json_close(out, ']');
        serve_json_close(out, '}');
    }
    serve_json_close(out, ']');
    serve_json_close(out, '}');
    return v1_finish(reply);
}
