/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists: the levels of variables, and which finest categories each of theirs holds. */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/address.h"
#include "serve/json.h"
#include "serve/pxweb2.h"

/* A level of a variable of a data set. */
typedef struct codelist_place {
    const serve_dataset *dataset;
    const serve_variable *variable;
    size_t level; /* from 0 */
} codelist_place;

/* The finest categories in the order of those of a coarser level that hold them: of category c they
 * are order[start[c] .. start[c + 1]). */
typedef struct codelist_map {
    size_t *start;
    uint32_t *order;
} codelist_map;

static int codelist_find(const cellar_site *site, const char *id, codelist_place *out)
{
    for (size_t i = 0; i < site->n_datasets; i++) {
        const serve_dataset *dataset = &site->datasets[i];
        const size_t n = strlen(dataset->id);
        if (strncasecmp(id, dataset->id, n) != 0 || id[n] != '.')
            continue;
        for (size_t v = 0; v < dataset->n_variables; v++) {
            const serve_level *level = serve_find_level(&dataset->variables[v], id + n + 1);
            if (level != NULL) {
                *out = (codelist_place){dataset, &dataset->variables[v],
                                        (size_t) (level - dataset->variables[v].levels)};
                return 1;
            }
        }
    }
    return 0;
}

/* The category of the coarser level above a finest one; SIZE_MAX when it has none. */
static size_t codelist_above(const codelist_place *place, size_t category)
{
    for (size_t l = place->variable->n_levels - 1; l > place->level && category != SIZE_MAX; l--)
        category = place->variable->levels[l].categories[category].parent;
    return category;
}

static int codelist_map_make(const codelist_place *place, cellar_arena *arena, codelist_map *out)
{
    const size_t n_fine = place->variable->levels[place->variable->n_levels - 1].n_categories;
    const size_t n = place->variable->levels[place->level].n_categories;
    size_t *fill = cellar_arena_alloc(arena, n + 1, sizeof *fill);
    out->start = cellar_arena_alloc(arena, n + 2, sizeof *out->start);
    out->order = cellar_arena_alloc(arena, n_fine, sizeof *out->order);
    if (fill == NULL || out->start == NULL || out->order == NULL)
        return 0;
    for (size_t i = 0; i < n_fine; i++) {
        const size_t above = codelist_above(place, i);
        out->start[above < n ? above + 1 : n + 1]++;
    }
    for (size_t c = 0; c < n; c++)
        out->start[c + 1] += out->start[c];
    for (size_t i = 0; i < n_fine; i++) {
        const size_t above = codelist_above(place, i);
        if (above < n)
            out->order[out->start[above] + fill[above]++] = (uint32_t) i;
    }
    return 1;
}

static void codelist_add_value(const codelist_place *place, const codelist_map *map, size_t c,
                               size_t language, cellar_text *out)
{
    const serve_category *fine = place->variable->levels[place->variable->n_levels - 1].categories;
    const serve_category *category = &place->variable->levels[place->level].categories[c];
    serve_json_open(out, '{');
    serve_json_pair(out, "code", category->code);
    serve_json_pair(out, "label", category->label.in[language]);
    serve_json_name(out, "valueMap");
    serve_json_open(out, '[');
    for (size_t i = map->start[c]; i < map->start[c + 1]; i++)
        serve_json_string(out, fine[map->order[i]].code);
    serve_json_close(out, ']');
    if (category->note.in != NULL) {
        serve_json_name(out, "notes");
        serve_json_raw(out, "[{\"mandatory\":false");
        serve_json_pair(out, "text", category->note.in[language]);
        serve_json_close(out, '}');
        serve_json_close(out, ']');
    }
    serve_json_close(out, '}');
}

static void codelist_add_links(const cellar_site *site, const char *id, size_t language,
                               cellar_text *out)
{
    cellar_text path = {0};
    cellar_text_add_string(&path, SERVE_PXWEB2_PREFIX "/codelists/");
    serve_address_add(&path, id);
    serve_json_name(out, "links");
    serve_json_open(out, '[');
    for (size_t l = 0; l < site->n_languages && !path.failed; l++)
        serve_json_link(out, site, l == language ? "self" : "alternate", path.bytes, l);
    serve_json_close(out, ']');
    out->failed |= path.failed;
    cellar_text_clear(&path);
}

static void codelist_add_head(const cellar_site *site, const codelist_place *place, const char *id,
                              size_t language, cellar_text *out)
{
    const int is_finest = place->level + 1 == place->variable->n_levels;
    serve_json_pair(out, "id", id);
    serve_json_pair(out, "label", place->variable->levels[place->level].label.in[language]);
    serve_json_pair(out, "language", site->languages[language]);
    serve_json_name(out, "languages");
    serve_json_open(out, '[');
    for (size_t l = 0; l < site->n_languages; l++)
        serve_json_string(out, site->languages[l]);
    serve_json_close(out, ']');
    serve_json_name(out, "elimination");
    serve_json_bool(out, !place->variable->is_constant);
    serve_json_pair(out, "type", is_finest ? "Valueset" : "Aggregation");
}

cellar_status serve_pxweb2_codelist(cellar_site *site, const serve_call *call, serve_reply *reply,
                                    cellar_error *err)
{
    cellar_text *out = &reply->body, id = {0};
    codelist_place place;
    codelist_map map;

    if (!codelist_find(site, call->segments[1], &place))
        return serve_reply_problem(reply, 404, "There is no code list '%.200s'.",
                                   call->segments[1]);
    serve_codelist_add_id(&id, place.dataset, &place.variable->levels[place.level]);
    if (id.failed || !codelist_map_make(&place, call->arena, &map)) {
        cellar_text_clear(&id);
        return cellar_fail_memory(err, "a code list");
    }
    serve_reply_json(reply);
    serve_json_open(out, '{');
    codelist_add_head(site, &place, id.bytes, call->language, out);
    serve_json_name(out, "values");
    serve_json_open(out, '[');
    for (size_t c = 0; c < place.variable->levels[place.level].n_categories; c++)
        codelist_add_value(&place, &map, c, call->language, out);
    serve_json_close(out, ']');
    codelist_add_links(site, id.bytes, call->language, out);
    serve_json_close(out, '}');
    cellar_text_clear(&id);
    return CELLAR_OK;
}
