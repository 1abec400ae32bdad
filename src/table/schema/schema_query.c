/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/schema/schema.h"

#include <string.h>

#include "base/error.h"
#include "table/structural/structural_cover.h"

static const schema_axis *schema_axis_at(const cellar_schema *schema, size_t variable)
{
    CELLAR_ASSERT(variable < schema->n_variables);
    return &schema->axes[variable];
}

/* The code of a category, or CELLAR_NO_CODE for a total the list does not name. */
static size_t axis_code(const schema_axis *axis, size_t category)
{
    CELLAR_ASSERT(category < axis->n_categories);
    if (category < (size_t) axis->n_leaves + axis->n_inner)
        return axis->code_of[category];
    return axis->total_code;
}

cellar_domain cellar_codelist_domain(const cellar_codelist *list, int is_public)
{
    const char *reviewer = list != NULL ? cellar_codelist_reviewer(list) : "";
    if (reviewer == NULL)
        return CELLAR_DOMAIN_DECLARED;
    if (reviewer[0] != '\0')
        return CELLAR_DOMAIN_DRAFTED;
    return is_public ? CELLAR_DOMAIN_ASSERTED : CELLAR_DOMAIN_OBSERVED;
}

/* ---- variables and categories ---- */

size_t cellar_schema_n_variables(const cellar_schema *schema)
{
    return schema->n_variables;
}

const char *cellar_schema_variable(const cellar_schema *schema, size_t variable)
{
    return schema_axis_at(schema, variable)->name;
}

size_t cellar_schema_find_variable(const cellar_schema *schema, const char *name)
{
    for (size_t v = 0; v < schema->n_variables; v++)
        if (strcmp(schema->axes[v].name, name) == 0)
            return v;
    return CELLAR_NO_CODE;
}

const char *cellar_schema_reviewer(const cellar_schema *schema, size_t variable)
{
    return cellar_codelist_reviewer(schema_axis_at(schema, variable)->codelist);
}

cellar_domain cellar_schema_domain(const cellar_schema *schema, size_t variable)
{
    return schema_axis_at(schema, variable)->domain;
}

size_t cellar_schema_n_categories(const cellar_schema *schema, size_t variable)
{
    return schema_axis_at(schema, variable)->n_categories;
}

size_t cellar_schema_n_leaves(const cellar_schema *schema, size_t variable)
{
    return schema_axis_at(schema, variable)->n_leaves;
}

const cellar_codelist *cellar_schema_codelist(const cellar_schema *schema, size_t variable)
{
    return schema_axis_at(schema, variable)->codelist;
}

const char *cellar_schema_code(const cellar_schema *schema, size_t variable, size_t category)
{
    const schema_axis *axis = schema_axis_at(schema, variable);
    size_t code = axis_code(axis, category);
    return code == CELLAR_NO_CODE ? SCHEMA_TOTAL_CODE : cellar_codelist_code(axis->codelist, code);
}

size_t cellar_schema_find_code(const cellar_schema *schema, size_t variable, const char *code,
                               size_t length)
{
    const schema_axis *axis = schema_axis_at(schema, variable);
    size_t found = cellar_codelist_find(axis->codelist, code, length);
    if (found != CELLAR_NO_CODE && axis->category_of[found] != SCHEMA_NO_CATEGORY)
        return axis->category_of[found];
    if (!axis->has_total)
        return CELLAR_NO_CODE;
    if (axis->total_code == CELLAR_NO_CODE
            ? length == strlen(SCHEMA_TOTAL_CODE) && memcmp(code, SCHEMA_TOTAL_CODE, length) == 0
            : found == axis->total_code)
        return axis->n_categories - 1;
    return CELLAR_NO_CODE;
}

size_t cellar_schema_find_missing(const cellar_schema *schema, size_t variable)
{
    static const char code[] = "missing";
    for (size_t c = 0; c < cellar_schema_n_leaves(schema, variable); c++)
        if (cellar_schema_role(schema, variable, c) == CELLAR_CODE_UNKNOWN)
            return c;
    return cellar_schema_find_code(schema, variable, code, sizeof code - 1);
}

cellar_code_role cellar_schema_role(const cellar_schema *schema, size_t variable, size_t category)
{
    const schema_axis *axis = schema_axis_at(schema, variable);
    size_t code = axis_code(axis, category);
    return code == CELLAR_NO_CODE ? CELLAR_CODE_TOTAL : cellar_codelist_role(axis->codelist, code);
}

const uint32_t *cellar_schema_members(const cellar_schema *schema, size_t variable, size_t category,
                                      size_t *n_members)
{
    const schema_axis *axis = schema_axis_at(schema, variable);
    CELLAR_ASSERT(category < axis->n_categories);
    if (category < axis->n_leaves) {
        *n_members = 1;
        return axis->leaves + category;
    }
    if (category < (size_t) axis->n_leaves + axis->n_inner) {
        const uint32_t *start = axis->member_start + (category - axis->n_leaves);
        *n_members = start[1] - start[0];
        return axis->members + start[0];
    }
    *n_members = axis->n_leaves;
    return axis->leaves;
}

/* ---- languages ---- */

size_t cellar_schema_n_languages(const cellar_schema *schema)
{
    return schema->n_languages;
}

const char *cellar_schema_language(const cellar_schema *schema, size_t language)
{
    CELLAR_ASSERT(language < schema->n_languages);
    return schema->languages[language];
}

/* A variable that lacks the language answers with its label without language, else the code. */
static size_t axis_language(const cellar_schema *schema, const schema_axis *axis, size_t language)
{
    if (language < schema->n_languages && axis->language_of[language] != CELLAR_NO_CODE)
        return axis->language_of[language];
    for (size_t k = 0; k < schema->n_languages; k++)
        if (schema->languages[k][0] == '\0')
            return axis->language_of[k];
    return CELLAR_NO_CODE;
}

const char *cellar_schema_label(const cellar_schema *schema, size_t variable, size_t category,
                                size_t language)
{
    const schema_axis *axis = schema_axis_at(schema, variable);
    size_t code = axis_code(axis, category), own = axis_language(schema, axis, language);
    if (code == CELLAR_NO_CODE)
        return SCHEMA_TOTAL_LABEL;
    return own == CELLAR_NO_CODE ? cellar_codelist_code(axis->codelist, code)
                                 : cellar_codelist_label(axis->codelist, code, own);
}

/* ---- cells ---- */

const uint64_t *cellar_schema_margins(const cellar_schema *schema, size_t *n_margins)
{
    *n_margins = schema->n_margins;
    return schema->margins;
}

uint64_t cellar_schema_n_indices(const cellar_schema *schema)
{
    return schema->n_indices;
}

uint64_t cellar_schema_n_possible(const cellar_schema *schema)
{
    return schema->n_possible;
}

uint64_t cellar_schema_cells_per_record(const cellar_schema *schema)
{
    return schema->cells_per_record;
}

void cellar_schema_categories(const cellar_schema *schema, uint64_t index, uint32_t *categories)
{
    for (size_t v = schema->n_variables; v-- > 0;) {
        uint64_t above = schema_quotient(index, schema->axes[v].n_categories);
        categories[v] = (uint32_t) (index - above * schema->axes[v].n_categories);
        index = above;
    }
}

uint64_t cellar_schema_index(const cellar_schema *schema, const uint32_t *categories)
{
    uint64_t index = 0;
    for (size_t v = 0; v < schema->n_variables; v++) {
        CELLAR_ASSERT(categories[v] < schema->axes[v].n_categories);
        index += categories[v] * schema->axes[v].stride;
    }
    return index;
}

/* The margin a cell belongs to. */
static uint64_t schema_margin_of(const cellar_schema *schema, uint64_t index)
{
    uint64_t mask = 0;
    for (size_t v = schema->n_variables; v-- > 0;) {
        const schema_axis *axis = &schema->axes[v];
        mask |= (uint64_t) (index % axis->n_categories < axis->n_leaves + axis->n_inner) << v;
        index /= axis->n_categories;
    }
    return mask;
}

int cellar_schema_has_no_aggregate(const cellar_schema *schema)
{
    for (size_t v = 0; v < schema->n_variables; v++)
        if (schema->axes[v].n_categories != schema->axes[v].n_leaves)
            return 0;
    return 1;
}

int cellar_schema_is_interior(const cellar_schema *schema, uint64_t index)
{
    for (size_t v = schema->n_variables; v-- > 0;) {
        if (index % schema->axes[v].n_categories >= schema->axes[v].n_leaves)
            return 0;
        index /= schema->axes[v].n_categories;
    }
    return 1;
}

int cellar_schema_has_cell(const cellar_schema *schema, uint64_t index)
{
    size_t low = 0, high = schema->n_margins;
    uint64_t mask;
    if (index >= schema->n_indices || schema->n_possible == schema->n_indices)
        return index < schema->n_indices;
    mask = schema_margin_of(schema, index);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (schema->margins[middle] < mask)
            low = middle + 1;
        else
            high = middle;
    }
    return low < schema->n_margins && schema->margins[low] == mask;
}

int cellar_schema_is_structural_zero(const cellar_schema *schema, uint64_t index)
{
    CELLAR_ASSERT(index < schema->n_indices);
    return schema->structural != NULL &&
           cellar_structural_covers(schema->structural, schema, index);
}

void cellar_schema_add_rules(const cellar_schema *schema, cellar_text *text)
{
    if (schema->structural != NULL)
        cellar_structural_add_text(schema->structural, schema, text);
}
