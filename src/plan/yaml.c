/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/yaml.h"

#include <string.h>

#include <yaml.h>

#include "base/error.h"
#include "base/text.h"

enum { YAML_DEPTH_MAX = 12, YAML_KEYS_MAX = 256 };

/* A parser and the event it is at. */
typedef struct reader {
    const char *name;
    cellar_arena *arena;
    yaml_parser_t parser;
    yaml_event_t event;
    int has_event;
    cellar_error *err;
} reader;

static cellar_status fail_at(const reader *r, size_t line, const char *what)
{
    return cellar_fail(r->err, CELLAR_ERR_INPUT, "%s:%zu: %s", r->name, line + 1, what);
}

/* What libyaml says, in its own words, where it says it. */
static cellar_status fail_parser(const reader *r)
{
    const yaml_parser_t *p = &r->parser;
    size_t line = p->error == YAML_READER_ERROR ? 0 : p->problem_mark.line;
    if (p->error == YAML_MEMORY_ERROR)
        return cellar_fail_memory(r->err, "a plan");
    return cellar_fail(r->err, CELLAR_ERR_INPUT, "%s:%zu: this is not YAML: %s%s%s", r->name,
                       line + 1, p->problem != NULL ? p->problem : "it cannot be read",
                       p->context != NULL ? " " : "", p->context != NULL ? p->context : "");
}

static cellar_status next_event(reader *r)
{
    if (r->has_event)
        yaml_event_delete(&r->event);
    r->has_event = yaml_parser_parse(&r->parser, &r->event);
    return r->has_event ? CELLAR_OK : fail_parser(r);
}

static size_t event_line(const reader *r)
{
    return r->event.start_mark.line;
}

static plan_node *new_node(reader *r, plan_node_kind kind)
{
    plan_node *node = cellar_arena_alloc(r->arena, 1, sizeof *node);
    if (node == NULL)
        return NULL;
    node->kind = kind;
    node->line = event_line(r) + 1;
    return node;
}

static cellar_status copy_scalar(reader *r, const char **out)
{
    const char *text = (const char *) r->event.data.scalar.value;
    size_t length = r->event.data.scalar.length;
    if (r->event.data.scalar.anchor != NULL)
        return fail_at(r, event_line(r), "a plan has no anchors ('&name')");
    if (r->event.data.scalar.tag != NULL)
        return fail_at(r, event_line(r), "a plan has no tags ('!name')");
    if (memchr(text, '\0', length) != NULL)
        return fail_at(r, event_line(r), "a text holds a zero byte");
    *out = cellar_arena_copy(r->arena, text, length);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(r->err, "a plan");
}

static cellar_status read_node(reader *r, int depth, plan_node **out);

static cellar_status check_collection(const reader *r, const yaml_char_t *anchor,
                                      const yaml_char_t *tag, int depth)
{
    if (anchor != NULL)
        return fail_at(r, event_line(r), "a plan has no anchors ('&name')");
    if (tag != NULL)
        return fail_at(r, event_line(r), "a plan has no tags ('!name')");
    if (depth >= YAML_DEPTH_MAX)
        return fail_at(r, event_line(r), "nested deeper than any plan is");
    return CELLAR_OK;
}

static cellar_status read_list(reader *r, int depth, plan_node **out)
{
    plan_node **link;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(check_collection(r, r->event.data.sequence_start.anchor,
                                r->event.data.sequence_start.tag, depth));
    *out = new_node(r, PLAN_NODE_LIST);
    if (*out == NULL)
        return cellar_fail_memory(r->err, "a plan");
    link = &(*out)->first;
    for (;;) {
        CELLAR_TRY(next_event(r));
        if (r->event.type == YAML_SEQUENCE_END_EVENT)
            break;
        CELLAR_TRY(read_node(r, depth + 1, link));
        link = &(*link)->next;
        (*out)->n++;
    }
out:
    return status;
}

static int has_key(const plan_node *map, const char *key)
{
    for (const plan_node *child = map->first; child != NULL; child = child->next)
        if (child->key != NULL && strcmp(child->key, key) == 0)
            return 1;
    return 0;
}

static cellar_status read_map(reader *r, int depth, plan_node **out)
{
    plan_node **link;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(check_collection(r, r->event.data.mapping_start.anchor,
                                r->event.data.mapping_start.tag, depth));
    *out = new_node(r, PLAN_NODE_MAP);
    if (*out == NULL)
        return cellar_fail_memory(r->err, "a plan");
    link = &(*out)->first;
    for (;;) {
        const char *key;
        CELLAR_TRY(next_event(r));
        if (r->event.type == YAML_MAPPING_END_EVENT)
            break;
        if ((*out)->n >= YAML_KEYS_MAX)
            CELLAR_TRY(fail_at(r, event_line(r), "more names than any plan has"));
        if (r->event.type != YAML_SCALAR_EVENT)
            CELLAR_TRY(fail_at(r, event_line(r), "expected 'name: value'"));
        CELLAR_TRY(copy_scalar(r, &key));
        if (has_key(*out, key))
            CELLAR_TRY(cellar_fail(r->err, CELLAR_ERR_INPUT, "%s:%zu: '%.60s' is given twice",
                                   r->name, event_line(r) + 1, key));
        CELLAR_TRY(next_event(r));
        CELLAR_TRY(read_node(r, depth + 1, link));
        (*link)->key = key;
        link = &(*link)->next;
        (*out)->n++;
    }
out:
    return status;
}

/* The node that begins at the current event; its last event is the current one afterwards. */
static cellar_status read_node(reader *r, int depth, plan_node **out)
{
    switch (r->event.type) {
    case YAML_SCALAR_EVENT:
        *out = new_node(r, PLAN_NODE_TEXT);
        return *out != NULL ? copy_scalar(r, &(*out)->text) : cellar_fail_memory(r->err, "a plan");
    case YAML_SEQUENCE_START_EVENT:
        return read_list(r, depth, out);
    case YAML_MAPPING_START_EVENT:
        return read_map(r, depth, out);
    case YAML_ALIAS_EVENT:
        return fail_at(r, event_line(r), "a plan has no aliases ('*name')");
    default:
        return fail_at(r, event_line(r), "expected a value");
    }
}

static cellar_status read_document(reader *r, plan_node **out)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(next_event(r)); /* the stream begins */
    CELLAR_TRY(next_event(r));
    if (r->event.type != YAML_DOCUMENT_START_EVENT)
        CELLAR_TRY(fail_at(r, 0, "the plan is empty"));
    CELLAR_TRY(next_event(r));
    CELLAR_TRY(read_node(r, 0, out));
    CELLAR_TRY(next_event(r)); /* the document ends */
    CELLAR_TRY(next_event(r));
    if (r->event.type != YAML_STREAM_END_EVENT)
        status = fail_at(r, event_line(r), "a plan is one document; a second one begins here");
out:
    return status;
}

cellar_status cellar_plan_yaml_parse(const char *name, const char *bytes, size_t length,
                                     cellar_arena *arena, plan_node **out, cellar_error *err)
{
    reader r = {.name = name, .arena = arena, .err = err};
    cellar_status status;
    *out = NULL;
    if (!cellar_utf8_valid(bytes, length))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: the plan is not UTF-8", name);
    if (!yaml_parser_initialize(&r.parser))
        return cellar_fail_memory(err, "a plan");
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *) bytes, length);
    status = read_document(&r, out);
    if (r.has_event)
        yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    if (status != CELLAR_OK)
        *out = NULL;
    return status;
}
