/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of a plan as a tree: the plain part of YAML, with the line of everything. */
#ifndef CELLAR_PLAN_YAML_H
#define CELLAR_PLAN_YAML_H

#include <stddef.h>

#include <cellar/status.h>

#include "base/memory.h"

typedef enum plan_node_kind { PLAN_NODE_TEXT, PLAN_NODE_LIST, PLAN_NODE_MAP } plan_node_kind;

typedef struct plan_node plan_node;
struct plan_node {
    plan_node_kind kind;
    size_t line;      /* from 1 */
    const char *key;  /* within a map */
    const char *text; /* of a text; "" when nothing is written */
    plan_node *first; /* of a list or map */
    plan_node *next;  /* in the list or map it belongs to */
    size_t n;         /* of a list or map */
};

/* Reads one document into the arena. Refused: anchors and aliases (a few lines could stand for
 * gigabytes), tags, nesting beyond any plan, keys that are not plain texts or that repeat. On
 * failure *out is NULL and the message names file and line. */
cellar_status cellar_plan_yaml_parse(const char *name, const char *bytes, size_t length,
                                     cellar_arena *arena, plan_node **out, cellar_error *err);

#endif
