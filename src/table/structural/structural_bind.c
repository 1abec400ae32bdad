/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/structural/structural_cover.h"

#include <string.h>

#include "base/error.h"
#include "table/structural/structural_rules.h"

/* What binding keeps at hand; all of it is freed at the end. */
typedef struct binder {
    const cellar_structural_rules *rules;
    const cellar_schema *schema;
    cellar_arena *arena;
    schema_axis *climbed[CELLAR_MAX_VARIABLES]; /* the variables with their inner nodes, on need */
    cellar_error *err;
} binder;

static cellar_status binder_fail_memory(const binder *b)
{
    return cellar_fail_memory(b->err, "the structural zeros");
}

static cellar_status binder_fail_unknown(const binder *b, const structural_word *word,
                                         const char *what, const char *const *known)
{
    const char *near = cellar_nearest_word(word->text, known);
    return cellar_fail(b->err, CELLAR_ERR_INPUT, "%s:%zu:%zu: %s '%s'%s%s%s", b->rules->name,
                       word->line, word->column, what, word->text,
                       near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                       near == NULL ? "" : "'?");
}

static cellar_status binder_unknown_variable(binder *b, const structural_word *word)
{
    const char *names[CELLAR_MAX_VARIABLES + 1] = {0};
    for (size_t v = 0; v < b->schema->n_variables; v++)
        names[v] = b->schema->axes[v].name;
    return binder_fail_unknown(b, word, "the table has no variable", names);
}

static cellar_status binder_unknown_code(binder *b, size_t v, const structural_word *word)
{
    const schema_axis *axis = &b->schema->axes[v];
    /* codes that were read off the data are not suggested: they are values of records */
    size_t n_codes =
        axis->domain == CELLAR_DOMAIN_OBSERVED ? 0 : cellar_codelist_n_codes(axis->codelist);
    cellar_text what = {0};
    cellar_status status;
    const char **codes = cellar_arena_alloc(b->arena, n_codes + 1, sizeof *codes);
    cellar_text_printf(&what, "variable '%s' has no code", axis->name);
    if (codes == NULL || what.failed) {
        cellar_text_clear(&what);
        return binder_fail_memory(b);
    }
    for (size_t k = 0; k < n_codes; k++)
        codes[k] = cellar_codelist_code(axis->codelist, k);
    status = binder_fail_unknown(b, word, what.bytes, codes);
    cellar_text_clear(&what);
    return status;
}

/* The variable with the inner nodes that the schema itself may do without. */
static cellar_status binder_climb(binder *b, size_t v)
{
    const schema_axis *plain = &b->schema->axes[v];
    size_t n_codes = cellar_codelist_n_codes(plain->codelist);
    schema_axis *axis = cellar_arena_alloc(b->arena, 1, sizeof *axis);
    if (axis == NULL)
        return binder_fail_memory(b);
    *axis = *plain;
    axis->code_of = cellar_arena_alloc(b->arena, n_codes, sizeof *axis->code_of);
    axis->category_of = cellar_arena_alloc(b->arena, n_codes, sizeof *axis->category_of);
    if (axis->code_of == NULL || axis->category_of == NULL)
        return binder_fail_memory(b);
    memcpy(axis->code_of, plain->code_of, n_codes * sizeof *axis->code_of);
    memcpy(axis->category_of, plain->category_of, n_codes * sizeof *axis->category_of);
    b->climbed[v] = axis;
    return cellar_schema_axis_climb(axis, b->arena, b->err);
}

/* Adds the leaves of a code that is no leaf itself. */
static cellar_status binder_add_aggregate(binder *b, size_t v, size_t code, uint64_t *set)
{
    const schema_axis *axis = &b->schema->axes[v];
    uint32_t node;
    if (cellar_codelist_role(axis->codelist, code) == CELLAR_CODE_TOTAL) {
        for (uint32_t leaf = 0; leaf < axis->n_leaves; leaf++)
            bits_set(set, leaf);
        return CELLAR_OK;
    }
    if (b->climbed[v] == NULL) {
        cellar_status status = binder_climb(b, v);
        if (status != CELLAR_OK)
            return status;
    }
    axis = b->climbed[v];
    if (axis->category_of[code] == SCHEMA_NO_CATEGORY)
        return CELLAR_OK; /* above no leaf */
    node = axis->category_of[code] - axis->n_leaves;
    for (uint32_t k = axis->member_start[node]; k < axis->member_start[node + 1]; k++)
        bits_set(set, axis->members[k]);
    return CELLAR_OK;
}

static cellar_status binder_fill_set(binder *b, size_t v, const structural_condition *condition,
                                     uint64_t *set)
{
    const schema_axis *axis = &b->schema->axes[v];
    for (const structural_word *word = condition->codes; word != NULL; word = word->next) {
        size_t code = cellar_codelist_find(axis->codelist, word->text, word->length);
        size_t leaf;
        cellar_status status = CELLAR_OK;
        if (code == CELLAR_NO_CODE)
            return binder_unknown_code(b, v, word);
        leaf = cellar_codelist_leaf_of(axis->codelist, code);
        if (leaf != CELLAR_NO_CODE)
            bits_set(set, leaf);
        else
            status = binder_add_aggregate(b, v, code, set);
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

/* Narrows the box by one condition. */
static cellar_status binder_condition(binder *b, const structural_condition *condition,
                                      structural_box box)
{
    size_t v = cellar_schema_find_variable(b->schema, condition->variable.text), n_words;
    uint64_t *set;
    cellar_status status;
    if (v == CELLAR_NO_CODE)
        return binder_unknown_variable(b, &condition->variable);
    n_words = bits_words(b->schema->axes[v].n_leaves);
    set = cellar_arena_alloc(b->arena, n_words, sizeof *set);
    if (set == NULL)
        return binder_fail_memory(b);
    status = binder_fill_set(b, v, condition, set);
    if (status != CELLAR_OK)
        return status;
    for (size_t w = 0; w < n_words; w++) {
        if (condition->negated)
            set[w] = ~set[w];
        if (box[v] != NULL)
            set[w] &= box[v][w];
    }
    if (b->schema->axes[v].n_leaves % 64 != 0)
        set[n_words - 1] &= (UINT64_C(1) << (b->schema->axes[v].n_leaves % 64)) - 1;
    box[v] = set;
    return CELLAR_OK;
}

/* Sets that hold all leaves become NULL; answers 0 when some set holds none. */
static int box_normalise(const cellar_schema *schema, structural_box box)
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        size_t n = box[v] == NULL ? schema->axes[v].n_leaves
                                  : bits_count(box[v], bits_words(schema->axes[v].n_leaves));
        if (n == 0)
            return 0;
        if (n == schema->axes[v].n_leaves)
            box[v] = NULL;
    }
    return 1;
}

cellar_status cellar_structural_bind(const cellar_structural_rules *rules,
                                     const cellar_schema *schema, cellar_structural **out,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    binder b = {.rules = rules, .schema = schema, .err = err};
    structural_box *boxes = NULL;
    size_t n_boxes = 0;

    *out = NULL;
    b.arena = cellar_arena_create(SIZE_MAX);
    boxes = cellar_alloc(rules->n_rules, sizeof *boxes);
    if (b.arena == NULL || boxes == NULL) {
        status = binder_fail_memory(&b);
        goto out;
    }
    for (const structural_rule *rule = rules->rules; rule != NULL; rule = rule->next) {
        structural_box box = cellar_arena_alloc(b.arena, schema->n_variables, sizeof *box);
        if (box == NULL) {
            status = binder_fail_memory(&b);
            goto out;
        }
        for (const structural_condition *c = rule->conditions; c != NULL; c = c->next)
            CELLAR_TRY(binder_condition(&b, c, box));
        if (box_normalise(schema, box))
            boxes[n_boxes++] = box;
    }
    if (n_boxes > 0)
        CELLAR_TRY(cellar_structural_create(schema, boxes, n_boxes, out, err));
out:
    cellar_free(boxes);
    cellar_arena_free(b.arena);
    return status;
}

/* ---- back to text ---- */

static void condition_add_text(const schema_axis *axis, const cellar_schema *schema, size_t v,
                               const uint64_t *set, cellar_text *text)
{
    size_t n = set == NULL ? axis->n_leaves : bits_count(set, bits_words(axis->n_leaves));
    int negated = set != NULL && n > axis->n_leaves / 2, first = 1;
    cellar_structural_add_word(text, axis->name);
    cellar_text_add_string(text, negated ? " != " : " = ");
    for (uint32_t leaf = 0; leaf < axis->n_leaves; leaf++)
        if ((set == NULL || bits_has(set, leaf)) != negated) {
            if (!first)
                cellar_text_add_string(text, " | ");
            cellar_structural_add_word(text, cellar_schema_code(schema, v, leaf));
            first = 0;
        }
}

void cellar_structural_add_text(const cellar_structural *structural, const cellar_schema *schema,
                                cellar_text *text)
{
    for (size_t r = 0; r < structural->n_rules; r++) {
        int first = 1;
        for (size_t v = 0; v < schema->n_variables; v++)
            if (structural->boxes[r][v] != NULL) {
                if (!first)
                    cellar_text_add_string(text, " & ");
                condition_add_text(&schema->axes[v], schema, v, structural->boxes[r][v], text);
                first = 0;
            }
        if (first) /* everything is impossible, which needs at least one condition to say */
            condition_add_text(&schema->axes[0], schema, 0, NULL, text);
        cellar_text_add_char(text, '\n');
    }
}
