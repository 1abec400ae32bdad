/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules inside. */
#ifndef CELLAR_SERVE_RULES_PARTS_H
#define CELLAR_SERVE_RULES_PARTS_H

#include <pthread.h>

#include "serve/rules.h"

typedef enum serve_rule_kind {
    SERVE_RULE_VARIABLES,
    SERVE_RULE_CELLS,
    SERVE_RULE_FINEST,
    SERVE_RULE_FORBID,
    SERVE_RULE_ALLOW,
    SERVE_RULE_SHARE, /* from here on judged on released values */
    SERVE_RULE_TOTAL
} serve_rule_kind;

/* The key of a kind in the configuration. */
const char *serve_rule_kind_text(serve_rule_kind kind);
static inline int serve_rule_is_released(serve_rule_kind kind)
{
    return kind >= SERVE_RULE_SHARE;
}

typedef struct serve_rule {
    const char *name, *text;
    serve_rule_kind kind;
    serve_table when;          /* levels at least so fine; 0: any, or none */
    uint64_t limit;            /* variables, cells or total */
    serve_table levels;        /* finest: at most so fine, 0: none; forbid: at least so fine */
    const serve_table *tables; /* allow: added up from one of these */
    size_t n_tables;
    double share; /* of cells with first..last, of all cells or of those that are not 0 */
    uint64_t first, last;
    int of_nonzero;
} serve_rule;

/* Verdicts on released tables: which rule refuses a table, if any. A table of fixed size, the
 * oldest is forgotten. */
enum { SERVE_VERDICTS = 1024 };
typedef struct serve_verdicts {
    pthread_mutex_t lock;
    struct {
        serve_table table, from;  /* that it was answered from */
        const serve_rule *broken; /* NULL: none */
    } items[SERVE_VERDICTS];
    size_t n, next;
} serve_verdicts;

struct serve_rules {
    const serve_rule *items;
    size_t n;
    serve_verdicts *verdicts; /* NULL: there are no rules on released values */
};

/* 1 when every variable of `least` is in the table at that level or a finer one. */
int serve_table_has(const serve_dataset *dataset, const serve_table *table,
                    const serve_table *least);
/* A refusal by that rule. */
cellar_status serve_rule_refuse(const serve_dataset *dataset, const serve_rule *rule,
                                const serve_table *table, cellar_arena *arena, serve_verdict *out,
                                cellar_error *err);

#endif
