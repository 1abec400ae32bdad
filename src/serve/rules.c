/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judges canonical tables before anything is drawn. Each rule says no to a table only if it says no
 * to every finer one: limits grow with the table, and so does what `when` asks for. */
#include "serve/rules.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "serve/rules_parts.h"

int serve_table_has(const serve_dataset *dataset, const serve_table *table,
                    const serve_table *least)
{
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (table->levels[v] < least->levels[v])
            return 0;
    return 1;
}

/* A variable that is finer than a rule allows; SIZE_MAX: none is. */
static size_t find_too_fine(const serve_dataset *dataset, const serve_table *table,
                            const serve_table *finest)
{
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (finest->levels[v] > 0 && table->levels[v] > finest->levels[v])
            return v;
    return SIZE_MAX;
}

static int is_below_one(const serve_dataset *dataset, const serve_table *table,
                        const serve_rule *rule)
{
    for (size_t i = 0; i < rule->n_tables; i++)
        if (serve_table_is_below(dataset, table, &rule->tables[i]))
            return 1;
    return 0;
}

static int rule_breaks(const serve_dataset *dataset, const serve_rule *rule,
                       const serve_table *table)
{
    switch (rule->kind) {
    case SERVE_RULE_VARIABLES:
        return serve_table_n_variables(dataset, table) > rule->limit;
    case SERVE_RULE_CELLS:
        return serve_table_n_cells(dataset, table) > rule->limit;
    case SERVE_RULE_FINEST:
        return find_too_fine(dataset, table, &rule->levels) != SIZE_MAX;
    case SERVE_RULE_FORBID:
        return serve_table_has(dataset, table, &rule->levels);
    case SERVE_RULE_ALLOW:
        return !is_below_one(dataset, table, rule);
    case SERVE_RULE_SHARE:
    case SERVE_RULE_TOTAL:
        break; /* on released values */
    }
    return 0;
}

static const serve_rule *find_broken(const serve_dataset *dataset, const serve_table *table)
{
    const serve_rules *rules = dataset->rules;
    for (size_t i = 0; rules != NULL && i < rules->n; i++)
        if (serve_table_has(dataset, table, &rules->items[i].when) &&
            rule_breaks(dataset, &rules->items[i], table))
            return &rules->items[i];
    return NULL;
}

int serve_rules_allow(const serve_dataset *dataset, const serve_table *table)
{
    return find_broken(dataset, table) == NULL;
}

/* ---- sentences -------------------------------------------------------------- */

const char *serve_rule_kind_text(serve_rule_kind kind)
{
    static const char *const texts[] = {"max_variables", "max_cells", "finest",   "forbid",
                                        "allow",         "max_share", "min_total"};
    return texts[kind];
}

/* "age^1 and region"; a variable whose every level is meant has no mark. */
static void add_levels(cellar_text *out, const serve_dataset *dataset, const serve_table *levels,
                       size_t unmarked)
{
    size_t n = serve_table_n_variables(dataset, levels), i = 0;
    for (size_t v = 0; v < dataset->n_variables; v++) {
        const serve_variable *variable = &dataset->variables[v];
        size_t level = levels->levels[v];
        if (level == 0)
            continue;
        cellar_text_printf(out, "%s%s",
                           i == 0       ? ""
                           : i + 1 == n ? " and "
                                        : ", ",
                           level == unmarked ? variable->code : variable->levels[level - 1].id);
        i++;
    }
}

static void add_tables(cellar_text *out, const serve_dataset *dataset, const serve_rule *rule)
{
    enum { SHOWN = 3 };
    char name[SERVE_TABLE_TEXT];
    for (size_t i = 0; i < rule->n_tables && i < SHOWN; i++) {
        serve_table_text(dataset, &rule->tables[i], name);
        cellar_text_printf(out, "%s%s", i == 0 ? "" : ", ", name);
    }
    if (rule->n_tables > SHOWN)
        cellar_text_printf(out, " and %zu others", rule->n_tables - SHOWN);
}

static void add_share(cellar_text *out, const serve_rule *rule)
{
    cellar_text_printf(out, "more than a share of %g of the %scells of this table has ",
                       rule->share, rule->of_nonzero ? "non-zero " : "");
    if (rule->first == rule->last)
        cellar_text_printf(out, "the released value %" PRIu64, rule->first);
    else
        cellar_text_printf(out, "released values of %" PRIu64 " to %" PRIu64, rule->first,
                           rule->last);
}

static void add_limit(cellar_text *out, const serve_dataset *dataset, const serve_rule *rule,
                      const serve_table *table)
{
    size_t v;
    switch (rule->kind) {
    case SERVE_RULE_VARIABLES:
        cellar_text_printf(out, "at most %" PRIu64 " variable%s, and this table has %zu",
                           rule->limit, rule->limit == 1 ? "" : "s",
                           serve_table_n_variables(dataset, table));
        break;
    case SERVE_RULE_CELLS:
        cellar_text_printf(out, "at most %" PRIu64 " cell%s, and this table has %s%" PRIu64,
                           rule->limit, rule->limit == 1 ? "" : "s",
                           serve_table_n_cells(dataset, table) == UINT64_MAX ? "at least " : "",
                           serve_table_n_cells(dataset, table));
        break;
    case SERVE_RULE_FINEST:
        v = find_too_fine(dataset, table, &rule->levels);
        cellar_text_printf(out, "variable '%s' is shown no finer than by '%s'",
                           dataset->variables[v].code,
                           dataset->variables[v].levels[rule->levels.levels[v] - 1].id);
        break;
    case SERVE_RULE_FORBID:
        cellar_text_add_string(out, "no table shows ");
        add_levels(out, dataset, &rule->levels, 1);
        if (serve_table_n_variables(dataset, &rule->levels) > 1)
            cellar_text_add_string(out, " together");
        break;
    case SERVE_RULE_ALLOW:
        cellar_text_add_string(out, "only tables that add up from ");
        add_tables(out, dataset, rule);
        break;
    case SERVE_RULE_SHARE:
        add_share(out, rule);
        break;
    case SERVE_RULE_TOTAL:
        cellar_text_printf(out, "the released values of this table add up to less than %" PRIu64,
                           rule->limit);
        break;
    }
}

/* The sentence of a refusal, in the arena; NULL when memory ends. */
static const char *sentence_of(const serve_dataset *dataset, const serve_rule *rule,
                               const serve_table *table, cellar_arena *arena)
{
    cellar_text text = {0};
    const char *out = NULL;
    cellar_text_printf(&text, "rule '%s': ", rule->name);
    if (serve_table_n_variables(dataset, &rule->when) > 0) {
        cellar_text_add_string(&text, "with ");
        add_levels(&text, dataset, &rule->when, 1);
        cellar_text_add_string(&text, ": ");
    }
    add_limit(&text, dataset, rule, table);
    if (rule->text != NULL)
        cellar_text_printf(&text, ". %s", rule->text);
    if (!text.failed)
        out = cellar_arena_copy(arena, text.bytes, text.length);
    cellar_text_clear(&text);
    return out;
}

cellar_status serve_rule_refuse(const serve_dataset *dataset, const serve_rule *rule,
                                const serve_table *table, cellar_arena *arena, serve_verdict *out,
                                cellar_error *err)
{
    *out = (serve_verdict){.refusal = {.rule = rule->name,
                                       .kind = serve_rule_kind_text(rule->kind),
                                       .detail = sentence_of(dataset, rule, table, arena)}};
    return out->refusal.detail != NULL ? CELLAR_OK : cellar_fail_memory(err, "a refusal");
}

cellar_status serve_rules_check(const serve_dataset *dataset, const serve_table *table,
                                cellar_arena *arena, serve_verdict *out, cellar_error *err)
{
    const serve_rule *broken = find_broken(dataset, table);
    if (broken != NULL)
        return serve_rule_refuse(dataset, broken, table, arena, out, err);
    *out = (serve_verdict){.is_allowed = 1};
    return CELLAR_OK;
}
