/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules from a configuration: names become variables and levels of the data set. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "serve/rules_parts.h"

#define KEY(name, of_kind, member)                                                                 \
    .key = (name), .kind = (of_kind), .offset = offsetof(serve_rule_text, member)

const plan_field serve_rule_fields[] = {{KEY("name", PLAN_TEXT, name), .required = 1},
                                        {KEY("text", PLAN_TEXT, text)},
                                        {KEY("when", PLAN_TEXTS, when)},
                                        {KEY("max_variables", PLAN_COUNT, max_variables)},
                                        {KEY("max_cells", PLAN_COUNT, max_cells)},
                                        {KEY("finest", PLAN_TEXTS, finest)},
                                        {KEY("forbid", PLAN_TEXTS, forbid)},
                                        {KEY("allow", PLAN_TEXTS, allow)},
                                        {KEY("max_share", PLAN_NUMBER, max_share)},
                                        {KEY("values", PLAN_TEXT, values)},
                                        {KEY("of", PLAN_CHOICE, of), .words = "cells|nonzero"},
                                        {KEY("min_total", PLAN_COUNT, min_total)},
                                        {.key = NULL}};

/* What one rule is made from and into. */
typedef struct making {
    const char *name; /* of the configuration */
    const serve_dataset *dataset;
    const serve_rule_text *text;
    cellar_arena *arena;
    cellar_error *err;
} making;

#define FAIL(m, key, ...)                                                                          \
    cellar_plan_fail((m)->name, &(m)->text->place, (key), (m)->err, __VA_ARGS__)

/* ---- levels ----------------------------------------------------------------- */

/* The level that "age^1" names: by its id, or by its number. 0: there is none. */
static size_t find_level(const serve_variable *variable, const char *text, size_t code_length)
{
    uint64_t number;
    for (size_t l = 0; l + 1 < variable->n_levels; l++)
        if (strcmp(variable->levels[l].id, text) == 0)
            return l + 1;
    if (text[code_length] == '^' &&
        cellar_parse_u64(text + code_length + 1, strlen(text + code_length + 1), &number) &&
        number >= 1 && number <= variable->n_levels)
        return (size_t) number;
    return 0;
}

/* Sets levels[v] for "age^1", and for "age" the level `unmarked` stands for: 1, or (SIZE_MAX) the
 * finest. */
static cellar_status read_level(const making *m, const char *key, const char *text, size_t unmarked,
                                serve_table *out)
{
    for (size_t v = 0; v < m->dataset->n_variables; v++) {
        const serve_variable *variable = &m->dataset->variables[v];
        size_t length = strlen(variable->code), level;
        if (strcmp(text, variable->code) == 0)
            level = unmarked < variable->n_levels ? unmarked : variable->n_levels;
        else
            level =
                strncmp(text, variable->code, length) == 0 ? find_level(variable, text, length) : 0;
        if (level == 0)
            continue;
        if (out->levels[v] != 0)
            return FAIL(m, key, "variable '%.60s' is given twice", variable->code);
        out->levels[v] = (unsigned char) level;
        return CELLAR_OK;
    }
    return FAIL(m, key, "the data set has no variable or level '%.60s'", text);
}

static cellar_status read_levels(const making *m, const char *key, const plan_list *list,
                                 size_t unmarked, serve_table *out)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < list->n && status == CELLAR_OK; i++)
        status = read_level(m, key, ((const char *const *) list->items)[i], unmarked, out);
    return status;
}

static cellar_status read_tables(const making *m, serve_rule *rule)
{
    const plan_list *list = &m->text->allow;
    serve_table *tables = cellar_arena_alloc(m->arena, list->n, sizeof *tables);
    cellar_error why;
    if (tables == NULL)
        return cellar_fail_memory(m->err, "rules");
    for (size_t i = 0; i < list->n; i++)
        if (serve_table_parse(m->dataset, ((const char *const *) list->items)[i], &tables[i],
                              &why) != CELLAR_OK)
            return FAIL(m, "allow", "%s", why.message);
    rule->tables = tables;
    rule->n_tables = list->n;
    return CELLAR_OK;
}

/* ---- limits ----------------------------------------------------------------- */

/* "1..2", or "0". */
static int read_values(const char *text, uint64_t *first, uint64_t *last)
{
    const char *dots = strstr(text, "..");
    if (dots == NULL)
        return cellar_parse_u64(text, strlen(text), first) && (*last = *first, 1);
    return cellar_parse_u64(text, (size_t) (dots - text), first) &&
           cellar_parse_u64(dots + 2, strlen(dots + 2), last) && *first <= *last;
}

static cellar_status read_share(const making *m, serve_rule *rule)
{
    rule->share = strtod(m->text->max_share, NULL);
    rule->of_nonzero = m->text->of == 2;
    if (!(rule->share >= 0 && rule->share < 1))
        return FAIL(m, "max_share", "expected a share of at least 0 and below 1");
    if (m->text->values == NULL)
        return FAIL(m, NULL, "'max_share' needs 'values', such as 0 or 1..2");
    if (!read_values(m->text->values, &rule->first, &rule->last))
        return FAIL(m, "values", "expected a whole number such as 0 or a range such as 1..2");
    if (rule->of_nonzero && rule->first == 0)
        return FAIL(m, "values", "no cell that is not 0 has the value 0");
    return CELLAR_OK;
}

/* The one limit that is given. */
static cellar_status read_kind(const making *m, serve_rule *rule)
{
    const serve_rule_text *text = m->text;
    const int given[] = {text->max_variables > 0, text->max_cells > 0, text->finest.n > 0,
                         text->forbid.n > 0,      text->allow.n > 0,   text->max_share != NULL,
                         text->min_total > 0};
    int n = 0;
    for (int kind = SERVE_RULE_VARIABLES; kind <= SERVE_RULE_TOTAL; kind++)
        if (given[kind]) {
            rule->kind = (serve_rule_kind) kind;
            n++;
        }
    if (n != 1)
        return FAIL(m, NULL,
                    "expected one limit: max_variables, max_cells, finest, forbid, allow, "
                    "max_share or min_total");
    if (rule->kind != SERVE_RULE_SHARE && (text->values != NULL || text->of != 0))
        return FAIL(m, NULL, "'values' and 'of' belong to 'max_share'");
    return CELLAR_OK;
}

static cellar_status read_rule(const making *m, serve_rule *rule)
{
    const serve_rule_text *text = m->text;
    cellar_status status = CELLAR_OK;
    rule->name = text->name;
    rule->text = text->text;
    CELLAR_TRY(read_kind(m, rule));
    CELLAR_TRY(read_levels(m, "when", &text->when, 1, &rule->when));
    rule->limit = text->max_variables + text->max_cells + text->min_total; /* one is not 0 */
    if (rule->kind == SERVE_RULE_FINEST)
        CELLAR_TRY(read_levels(m, "finest", &text->finest, SIZE_MAX, &rule->levels));
    if (rule->kind == SERVE_RULE_FORBID)
        CELLAR_TRY(read_levels(m, "forbid", &text->forbid, 1, &rule->levels));
    if (rule->kind == SERVE_RULE_ALLOW)
        CELLAR_TRY(read_tables(m, rule));
    if (rule->kind == SERVE_RULE_SHARE)
        CELLAR_TRY(read_share(m, rule));
out:
    return status;
}

/* ---- all of them ------------------------------------------------------------- */

static cellar_status make_verdicts(cellar_arena *arena, serve_rules *rules, cellar_error *err)
{
    int any = 0;
    for (size_t i = 0; i < rules->n; i++)
        any |= serve_rule_is_released(rules->items[i].kind);
    if (!any)
        return CELLAR_OK;
    rules->verdicts = cellar_arena_alloc(arena, 1, sizeof *rules->verdicts);
    if (rules->verdicts == NULL)
        return cellar_fail_memory(err, "rules");
    pthread_mutex_init(&rules->verdicts->lock, NULL);
    return CELLAR_OK;
}

cellar_status serve_rules_make(const char *name, const plan_list *texts,
                               const serve_dataset *dataset, cellar_arena *arena,
                               const serve_rules **out, cellar_error *err)
{
    serve_rules *rules = cellar_arena_alloc(arena, 1, sizeof *rules);
    serve_rule *items = cellar_arena_alloc(arena, texts->n, sizeof *items);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (rules == NULL || items == NULL)
        return cellar_fail_memory(err, "rules");
    for (size_t i = 0; i < texts->n && status == CELLAR_OK; i++) {
        const serve_rule_text *text = (const serve_rule_text *) texts->items + i;
        status = read_rule(&(making){name, dataset, text, arena, err}, &items[i]);
    }
    rules->items = items;
    rules->n = texts->n;
    if (status == CELLAR_OK)
        status = make_verdicts(arena, rules, err);
    if (status == CELLAR_OK)
        *out = rules;
    return status;
}
