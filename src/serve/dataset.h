/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A data set that is served: one table of many variables, each of which can be summed out. What is
 * here depends on no count. */
#ifndef CELLAR_SERVE_DATASET_H
#define CELLAR_SERVE_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>
#include <cellar/table.h>

#include "base/memory.h"
#include "serve/guarantee.h"

/* Texts in the languages of the site, in its order; all are set (the first stands for those that
 * the configuration leaves out). */
typedef struct serve_texts {
    const char *const *in;
} serve_texts;

typedef struct serve_category {
    const char *code;
    serve_texts label;
    serve_texts note; /* in == NULL: none */
    size_t parent;    /* its position in the level above; SIZE_MAX: that level does not have it */
} serve_category;

/* One level of a variable: a code list. */
typedef struct serve_level {
    const char *id; /* "region^1"; of the finest level the code of the variable */
    serve_texts label;
    const serve_category *categories;
    size_t n_categories;
    const uint32_t *by_code; /* positions in the order of codes, for searching; NULL: none */
} serve_level;

typedef enum serve_role { SERVE_ROLE_PLAIN, SERVE_ROLE_TIME, SERVE_ROLE_GEO } serve_role;

typedef struct serve_variable {
    const char *code;
    serve_texts label, note;
    serve_role role;
    const serve_level *levels; /* the coarsest first; the last is the finest */
    size_t n_levels;
    int is_constant; /* 1: one category that everybody has, such as the year of a census. It is in
                        no canonical table: sources, rules and vault do not know it. */
} serve_variable;

/* Where the values come from, and so what is promised. */
typedef enum serve_kind { SERVE_RELEASES, SERVE_CUBE, SERVE_BUDGET, SERVE_CELL_KEY } serve_kind;

/* 1 when a vault draws its tables, so that there can be more of them than there are. */
static inline int serve_kind_grows(serve_kind kind)
{
    return kind == SERVE_BUDGET || kind == SERVE_CELL_KEY;
}

typedef struct serve_source serve_source;       /* source.h */
typedef struct serve_rules serve_rules;         /* rules.h */
typedef struct serve_prices serve_prices;       /* price.h */
typedef struct serve_cell_note serve_cell_note; /* cell_notes.h */

enum { SERVE_CONTENT_LABELS = 4 };

/* Everything belongs to the site, and stays as it is until the next reload. */
typedef struct serve_dataset {
    const char *id; /* in addresses: letters, digits, '-' and '_' */
    serve_kind kind;
    const char *population; /* whose budget it is */
    const char *joint;      /* what all tables of a budget or pack together promise; NULL: the
                             * source says */
    cellar_promise promise; /* the same in numbers */
    const char *unit;       /* what is protected: "person" */
    serve_texts title, note, source_name, contact, counted; /* counted: "persons" */
    serve_texts contents_label; /* of the contents as a variable; in == NULL: in English */
    serve_texts content_labels[SERVE_CONTENT_LABELS]; /* by serve_content; of counts `counted` */
    const serve_cell_note *cell_notes;
    size_t n_cell_notes;
    const char *updated, *next_update; /* dates; next_update or NULL */
    const char *const *languages;      /* of the site; the first is the default */
    size_t n_languages;
    const serve_variable *variables; /* a fixed order, which is that of canonical tables */
    size_t n_variables;
    uint64_t max_cells;       /* of one answer */
    serve_source *source;     /* where values come from */
    const serve_rules *rules; /* what may be asked; NULL: everything */
    serve_prices *prices;     /* of drawing a table; NULL: nothing is drawn, or at no price */
    const char *caveat;       /* a sentence that every answer carries; NULL: none */
    void *own;                /* what only its maker knows (dataset_open.c) */
} serve_dataset;

/* ---- canonical tables ------------------------------------------------------- */

/* What is protected and charged: a set of variables at one level each. levels[v] is 0 when variable
 * v is summed out, else the number of its level, from 1 (the coarsest). */
typedef struct serve_table {
    unsigned char levels[CELLAR_MAX_VARIABLES];
} serve_table;

enum { SERVE_TABLE_TEXT = 4096 };

/* "region^1*sex", in the order of the data set; the finest level has no mark; "total" for none. */
void serve_table_text(const serve_dataset *dataset, const serve_table *table,
                      char out[SERVE_TABLE_TEXT]);
/* The way back, in any order of the variables. CELLAR_ERR_INPUT says what is not there. */
cellar_status serve_table_parse(const serve_dataset *dataset, const char *text, serve_table *out,
                                cellar_error *err);
size_t serve_table_n_variables(const serve_dataset *dataset, const serve_table *table);
/* UINT64_MAX when there are more. */
uint64_t serve_table_n_cells(const serve_dataset *dataset, const serve_table *table);
/* 1 when `coarse` can be added up from `fine`: no variable more, no level finer. */
int serve_table_is_below(const serve_dataset *dataset, const serve_table *coarse,
                         const serve_table *fine);

/* By code, as it is written or else without regard to case, as clients ask; NULL when there is
 * none.
 */
const serve_variable *serve_find_variable(const serve_dataset *dataset, const char *code);
const serve_level *serve_find_level(const serve_variable *variable, const char *id);
/* SIZE_MAX when there is none. */
size_t serve_find_category(const serve_level *level, const char *code);
/* The positions of the categories in the order that serve_find_category() searches; NULL when
 * memory ends. */
const uint32_t *serve_index_codes(const serve_category *categories, size_t n, cellar_arena *arena);

#endif
