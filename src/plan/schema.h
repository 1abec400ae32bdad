/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a tree to structs by tables of fields: which keys there are, what each must be, and where it
 * goes. Messages name the line, the place ("tables[2].epsilon") and what was expected. */
#ifndef CELLAR_PLAN_SCHEMA_H
#define CELLAR_PLAN_SCHEMA_H

#include <stdint.h>

#include "base/text.h"
#include "plan/yaml.h"

/* What a field stores at its offset. */
typedef enum plan_field_kind {
    PLAN_TEXT,    /* const char *, not empty */
    PLAN_FILE,    /* const char *: a path, taken from the plan's folder */
    PLAN_DECIMAL, /* const char *: a decimal above 0, as it was typed */
    PLAN_NUMBER,  /* const char *: any decimal, as it was typed */
    PLAN_COUNT,   /* uint64_t, at least 1 */
    PLAN_TRUTH,   /* int: 1 yes, 2 no; 0 when not given */
    PLAN_CHOICE,  /* int: which word of `words` ("a|b|c"), from 1; 0 when not given */
    PLAN_TEXTS,   /* plan_list of const char *; one text stands for a list of one */
    PLAN_MAP,     /* a struct within the struct, by `fields` */
    PLAN_MAPS,    /* plan_list of structs of `size` bytes, by `fields` */
    PLAN_ANY      /* const plan_node *: the tree itself, for a reader of its own */
} plan_field_kind;

typedef struct plan_list {
    void *items;
    size_t n;
} plan_list;

typedef struct plan_field {
    const char *key;
    plan_field_kind kind;
    size_t offset;
    int required;
    const char *words;               /* of a choice */
    const struct plan_field *fields; /* of maps; ends with a field without a key */
    size_t size;                     /* of each of several maps */
} plan_field;

/* Where a struct came from; the first member of every struct that a PLAN_MAPS field makes, so that
 * later checks can say where. */
typedef struct plan_place {
    size_t line;
    const char *path; /* "tables[2]" */
} plan_place;

typedef struct plan_reading {
    const char *name;   /* of the plan's file */
    const char *folder; /* with its slash; "" for the current one */
    cellar_arena *arena;
    cellar_text path; /* of what is being read */
    cellar_error *err;
} plan_reading;

/* Fills the struct at `out` from a map. */
cellar_status cellar_plan_read_map(plan_reading *reading, const plan_node *map,
                                   const plan_field *fields, void *out);

/* "plan.yaml:12: tables[2].by: expected WHAT": what a reader of its own finds wrong in a tree. */
cellar_status cellar_plan_fail_node(plan_reading *reading, const plan_node *node,
                                    const char *expected);

/* "plan.yaml:12: tables[2].by: WHAT"; `key` may be NULL. */
cellar_status cellar_plan_fail(const char *name, const plan_place *place, const char *key,
                               cellar_error *err, const char *format, ...) CELLAR_PRINTF(5, 6);

#endif
