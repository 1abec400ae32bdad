/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/texts.h"

#include <string.h>

#include "base/error.h"

serve_texts serve_texts_same(const serve_languages *languages, const char *text,
                             cellar_arena *arena)
{
    const char **in = cellar_arena_alloc(arena, languages->n, sizeof *in);
    for (size_t i = 0; in != NULL && i < languages->n; i++)
        in[i] = text;
    return (serve_texts){in};
}

static size_t find_language(const serve_languages *languages, const char *tag)
{
    size_t i = 0;
    while (i < languages->n && strcmp(languages->tags[i], tag) != 0)
        i++;
    return i;
}

/* Those in the languages of the map; the first given stands for the others. */
static cellar_status read_each(plan_reading *r, const plan_node *map,
                               const serve_languages *languages, const char **in)
{
    const char *first = NULL;
    for (const plan_node *node = map->first; node != NULL; node = node->next) {
        const size_t i = find_language(languages, node->key);
        if (i == languages->n)
            return cellar_plan_fail_node(r, node, "one of the languages of the site");
        if (node->kind != PLAN_NODE_TEXT || node->text[0] == '\0')
            return cellar_plan_fail_node(r, node, "a text");
        in[i] = node->text;
        if (first == NULL || i == 0)
            first = node->text;
    }
    for (size_t i = 0; i < languages->n; i++)
        if (in[i] == NULL)
            in[i] = first;
    return CELLAR_OK;
}

cellar_status serve_texts_read(plan_reading *r, const plan_node *node,
                               const serve_languages *languages, serve_texts *out)
{
    const char **in;
    if (node == NULL)
        return CELLAR_OK;
    if (node->kind == PLAN_NODE_LIST || (node->kind == PLAN_NODE_TEXT && node->text[0] == '\0') ||
        (node->kind == PLAN_NODE_MAP && node->first == NULL))
        return cellar_plan_fail_node(r, node, "a text, or one in each language");
    in = cellar_arena_alloc(r->arena, languages->n, sizeof *in);
    if (in == NULL)
        return cellar_fail_memory(r->err, "a configuration");
    *out = (serve_texts){in};
    if (node->kind == PLAN_NODE_MAP)
        return read_each(r, node, languages, in);
    for (size_t i = 0; i < languages->n; i++)
        in[i] = node->text;
    return CELLAR_OK;
}
