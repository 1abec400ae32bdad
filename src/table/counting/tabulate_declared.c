/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include <cellar/tabulate.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/coder.h"
#include "table/build.h"
#include "table/counting/declared.h"
#include "table/counting/tabulation.h"
#include "table/structural/structural.h"

/* The categories of a variable as a table would have them; *out stays NULL when only the data can
 * tell. */
static cellar_status declared_domain(const cellar_tabulate_spec *spec, size_t v,
                                     cellar_codelist **out, cellar_error *err)
{
    const cellar_variable_spec *variable = &spec->variables[v];
    const cellar_coder_spec asked = {.variable =
                                         variable->name != NULL ? variable->name : variable->column,
                                     .missing = spec->missing,
                                     .n_missing = spec->n_missing,
                                     .missing_policy = cellar_tabulation_policy(spec, variable),
                                     .recode = &variable->recode,
                                     .codelist = variable->codelist,
                                     .level = variable->level};
    cellar_coder *coder;
    uint32_t *leaf_of = NULL;
    cellar_status status = cellar_coder_create(&asked, &coder, err);
    if (status == CELLAR_OK && cellar_coder_is_declared(coder))
        status = cellar_coder_domain(coder, out, &leaf_of, err);
    cellar_free(leaf_of);
    cellar_coder_free(coder);
    return status;
}

static cellar_status declared_table(const cellar_schema *schema, const cellar_margins *margins,
                                    cellar_table **out, cellar_error *err)
{
    cellar_cells none = {0};
    cellar_table *interior;
    cellar_status status = cellar_table_from_cells(schema, &none, 0, &interior, err);
    if (status != CELLAR_OK)
        return status;
    if (!margins->all && margins->n_masks == 0 && margins->hierarchies == 0) {
        *out = interior;
        return CELLAR_OK;
    }
    status = cellar_table_create_expanded(interior, margins, out, err);
    cellar_table_free(interior);
    return status;
}

cellar_status cellar_tabulate_declared_schema(const cellar_tabulate_spec *spec, cellar_schema **out,
                                              cellar_error *err)
{
    cellar_schema_variable_def defs[CELLAR_MAX_VARIABLES];
    cellar_codelist *domains[CELLAR_MAX_VARIABLES] = {NULL};
    cellar_structural_rules *rules = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    for (size_t v = 0; v < spec->n_variables; v++) {
        const cellar_variable_spec *variable = &spec->variables[v];
        CELLAR_TRY(declared_domain(spec, v, &domains[v], err));
        if (domains[v] == NULL)
            goto out;
        defs[v] = (cellar_schema_variable_def){
            .name = variable->name != NULL ? variable->name : variable->column,
            .domain = cellar_codelist_domain(domains[v], variable->domain_public),
            .codelist = domains[v]};
    }
    if (spec->structural_zeros_path != NULL)
        CELLAR_TRY(cellar_structural_rules_read(spec->structural_zeros_path, &rules, err));
    CELLAR_TRY(cellar_schema_create(defs, spec->n_variables, rules, out, err));
out:
    for (size_t v = 0; v < spec->n_variables; v++)
        cellar_codelist_free(domains[v]);
    cellar_structural_rules_free(rules);
    return status;
}

cellar_status cellar_tabulate_declared(const cellar_tabulate_spec *spec, cellar_table **out,
                                       cellar_error *err)
{
    cellar_schema *schema = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_tabulate_declared_schema(spec, &schema, err));
    if (schema != NULL)
        CELLAR_TRY(declared_table(schema, &spec->margins, out, err));
out:
    cellar_schema_free(schema);
    return status;
}
