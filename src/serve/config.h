/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A configuration as it is written (docs/table-builder.md). The site and the vault read the same
 * file; what only one of them needs is a tree that it reads itself. */
#ifndef CELLAR_SERVE_CONFIG_H
#define CELLAR_SERVE_CONFIG_H

#include "plan/schema.h"
#include "serve/texts.h"

typedef struct serve_config_site {
    const plan_node *title; /* texts */
    plan_list languages;    /* of const char * */
    const char *base_url, *license;
    uint64_t max_cells, calls, window_seconds;          /* 0: not given */
    const char *tokens, *audit, *state, *page, *agency; /* paths */
    struct { /* texts: what "contents" and each of them is called */
        const plan_node *label, *se, *noise_low95, *noise_high95;
    } contents;
} serve_config_site;

typedef struct serve_config_variable {
    plan_place place;
    const char *name;
    const plan_node *label, *note;   /* texts */
    int role;                        /* 1 time, 2 geo */
    const char *codelist;            /* a path; where the source does not bring the categories */
    int hierarchy;                   /* 1: the levels of the code list are levels here */
    const plan_node *levels;         /* a list of texts: labels, the coarsest first */
    const plan_node *labels, *notes; /* of categories: maps from codes to texts */
} serve_config_variable;

typedef struct serve_config_cell_note {
    plan_place place;
    const plan_node *cells; /* a map from levels to codes */
    const plan_node *note;  /* texts */
} serve_config_cell_note;

typedef struct serve_config_dataset {
    plan_place place;
    const char *id;
    int kind;                  /* one more than serve_kind */
    const char *cube, *folder; /* paths */
    const char *population, *unit, *updated, *next_update, *period;
    const plan_node *title, *note, *source, *contact, *counted; /* texts */
    plan_list variables;                                        /* of serve_config_variable */
    plan_list cell_notes;                                       /* of serve_config_cell_note */
    plan_list rules;                                            /* of serve_rule_text */
    plan_list accept;                                           /* of const char * */
    const plan_node *records, *ledger, *budget, *cell_key;      /* serve_drawn_read() */
    uint64_t step_ms; /* of a vault: replies come at multiples of it [0: by public sizes] */
    uint64_t max_cells;
} serve_config_dataset;

enum { SERVE_CONFIG_DIGEST_TEXT = 65 };

typedef struct serve_config {
    const char *name, *folder;             /* of the file; the folder with its slash, or "" */
    char digest[SERVE_CONFIG_DIGEST_TEXT]; /* of the bytes that were read */
    uint64_t version;
    serve_config_site site;
    plan_list datasets;
    serve_languages languages;
    cellar_arena *arena; /* of all of it */
} serve_config;

/* Reads a configuration. On failure *out is NULL and the message names file, line and place. */
cellar_status serve_config_read(const char *path, serve_config **out, cellar_error *err);
void serve_config_free(serve_config *config); /* NULL is fine */

static inline const serve_config_dataset *serve_config_dataset_at(const serve_config *config,
                                                                  size_t i)
{
    return (const serve_config_dataset *) config->datasets.items + i;
}

/* For reading trees of a configuration with cellar_plan_read_map(); clear its path afterwards. */
plan_reading serve_config_reading(const serve_config *config, cellar_error *err);

#endif
