/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small data set to serve, with a source that makes its values up: five variables, 240 finest
 * cells. */
#ifndef CELLAR_TESTS_SERVE_SMALL_H
#define CELLAR_TESTS_SERVE_SMALL_H

#include <math.h>
#include <string.h>

#include "plan/schema.h"
#include "serve/rules.h"
#include "serve/source.h"

/* Codes of all levels: "1", "2", ... */
static const char *const small_codes[] = {"1", "2", "3", "4", "5", "6", "7", "8"};
#define SMALL_CATEGORY(k)                                                                          \
    {                                                                                              \
        .code = #k, .label = {small_codes + (k) -1}, .parent = SIZE_MAX                            \
    }
static const serve_category small_categories[] = {
    SMALL_CATEGORY(1), SMALL_CATEGORY(2), SMALL_CATEGORY(3), SMALL_CATEGORY(4),
    SMALL_CATEGORY(5), SMALL_CATEGORY(6), SMALL_CATEGORY(7), SMALL_CATEGORY(8)};
#define SMALL_LEVEL(name, n)                                                                       \
    {                                                                                              \
        .id = (name), .label = {small_codes}, .categories = small_categories, .n_categories = (n)  \
    }
static const serve_level small_region[] = {SMALL_LEVEL("region^1", 2), SMALL_LEVEL("region^2", 4),
                                           SMALL_LEVEL("region", 8)};
static const serve_level small_age[] = {SMALL_LEVEL("age^1", 3), SMALL_LEVEL("age", 6)};
static const serve_level small_sex[] = {SMALL_LEVEL("sex", 2)};
static const serve_level small_work[] = {SMALL_LEVEL("work", 5)};
static const serve_level small_faith[] = {SMALL_LEVEL("faith", 3)};
#define SMALL_VARIABLE(name)                                                                       \
    {                                                                                              \
        .code = #name, .label = {small_codes}, .levels = small_##name,                             \
        .n_levels = sizeof small_##name / sizeof small_##name[0]                                   \
    }
static const serve_variable small_variables[] = {SMALL_VARIABLE(region), SMALL_VARIABLE(age),
                                                 SMALL_VARIABLE(sex), SMALL_VARIABLE(work),
                                                 SMALL_VARIABLE(faith)};
enum { SMALL_VARIABLES = 5, SMALL_TABLES = 4 * 3 * 2 * 2 * 2 };

/* ---- the source -------------------------------------------------------------- */

/* Tables below one of `fine` exist; all do when there is none. */
typedef struct small_source {
    serve_source base;
    serve_table fine[8];
    size_t n_fine;
    double (*value)(const serve_table *table, const size_t *at); /* NULL: 10 everywhere */
    size_t n_asked;
} small_source;

static cellar_status small_status(const serve_source *source, const serve_dataset *dataset,
                                  const serve_table *table, serve_status *out, cellar_error *err)
{
    const small_source *s = (const small_source *) source;
    (void) err;
    *out = (serve_status){.exists = s->n_fine == 0, .is_exact = 1, .from = *table, .sd = 2};
    for (size_t i = 0; i < s->n_fine && !out->exists; i++)
        if (serve_table_is_below(dataset, table, &s->fine[i])) {
            out->exists = 1;
            out->is_exact = memcmp(table, &s->fine[i], sizeof *table) == 0;
            out->from = s->fine[i];
        }
    return CELLAR_OK;
}

static cellar_status small_ask(const serve_source *source, const serve_cut *cut, double tail,
                               serve_value *out, cellar_error *err)
{
    small_source *s = (small_source *) (uintptr_t) source;
    size_t at[CELLAR_MAX_VARIABLES] = {0}, n = 1;
    (void) err, (void) tail;
    s->n_asked++;
    for (size_t i = 0; i < cut->n_sides; i++)
        n *= cut->sides[i].n_picks;
    for (size_t k = 0; k < n; k++) {
        size_t rest = k;
        double value;
        for (size_t i = cut->n_sides; i-- > 0; rest /= cut->sides[i].n_picks)
            at[i] = cut->sides[i].picks[rest % cut->sides[i].n_picks].members[0];
        value = s->value != NULL ? s->value(&cut->table, at) : 10;
        out[k] = (serve_value){.count = value, .se = 2, .low = value - 4, .high = value + 4};
    }
    return CELLAR_OK;
}

static size_t small_nearest(const serve_source *source, const serve_dataset *dataset,
                            const serve_table *table, serve_table *out, size_t room)
{
    const small_source *s = (const small_source *) source;
    size_t n = 0;
    (void) dataset;
    (void) table;
    for (; n < s->n_fine && n < room; n++)
        out[n] = s->fine[n];
    return n;
}

static const serve_source_ops small_ops = {
    .status = small_status, .ask = small_ask, .nearest = small_nearest};

/* ---- the data set -------------------------------------------------------------- */

static const char *const small_languages[] = {"en"};

static inline serve_dataset small_dataset(serve_kind kind, small_source *source)
{
    source->base.ops = &small_ops;
    return (serve_dataset){.id = "small",
                           .kind = kind,
                           .population = "everybody",
                           .unit = "person",
                           .title = {small_codes},
                           .counted = {small_codes},
                           .updated = "2026-11-18",
                           .languages = small_languages,
                           .n_languages = 1,
                           .variables = small_variables,
                           .n_variables = SMALL_VARIABLES,
                           .max_cells = 100000,
                           .source = &source->base};
}

/* The table with that number, below SMALL_TABLES. */
static inline serve_table small_table(size_t number)
{
    serve_table table = {{0}};
    for (size_t v = 0; v < SMALL_VARIABLES; v++) {
        table.levels[v] = (unsigned char) (number % (small_variables[v].n_levels + 1));
        number /= small_variables[v].n_levels + 1;
    }
    return table;
}

/* Rules from a configuration that has nothing else: "rules: [...]". */
static inline cellar_status small_rules(const char *text, size_t length,
                                        const serve_dataset *dataset, cellar_arena *arena,
                                        const serve_rules **out, cellar_error *err)
{
    static const plan_field fields[] = {{.key = "rules",
                                         .kind = PLAN_MAPS,
                                         .fields = serve_rule_fields,
                                         .size = sizeof(serve_rule_text),
                                         .required = 1},
                                        {.key = NULL}};
    plan_reading reading = {.name = "site.yaml", .folder = "", .arena = arena, .err = err};
    plan_list texts = {NULL, 0};
    plan_node *tree;
    cellar_status status = cellar_plan_yaml_parse("site.yaml", text, length, arena, &tree, err);
    if (status == CELLAR_OK)
        status = cellar_plan_read_map(&reading, tree, fields, &texts);
    cellar_text_clear(&reading.path);
    return status == CELLAR_OK ? serve_rules_make("site.yaml", &texts, dataset, arena, out, err)
                               : status;
}

#endif
