/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Structural zeros from hostile bytes: rules that bind must survive being written and read. */
#include "base/error.h"
#include "table/structural/structural.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cellar_schema *fuzz_schema(const cellar_codelist *list, const char *bytes, size_t size)
{
    const cellar_schema_variable_def defs[] = {{"a", CELLAR_DOMAIN_DECLARED, list},
                                               {"b", CELLAR_DOMAIN_DECLARED, list}};
    cellar_structural_rules *rules = NULL;
    cellar_schema *schema = NULL;
    cellar_error err;
    if (cellar_structural_rules_parse("fuzz", bytes, size, &rules, &err) == CELLAR_OK)
        (void) cellar_schema_create(defs, 2, rules, &schema, &err);
    cellar_structural_rules_free(rules);
    return schema;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char codes[] = "code,parent\nx,X\ny,X\nz,\nX,\n";
    cellar_margins all = {.all = 1, .hierarchies = 3};
    cellar_codelist *list = NULL;
    cellar_schema *schema, *again = NULL, *wide = NULL;
    cellar_text text = {0};

    if (cellar_codelist_parse("codes", codes, sizeof codes - 1, &list, NULL) != CELLAR_OK)
        return 0;
    schema = fuzz_schema(list, (const char *) data, size);
    if (schema != NULL && cellar_schema_expand(schema, &all, &wide, NULL) == CELLAR_OK) {
        cellar_schema_add_rules(wide, &text);
        again = fuzz_schema(list, text.bytes == NULL ? "" : text.bytes, text.length);
        CELLAR_ASSERT(again != NULL);
        for (uint64_t k = 0; k < cellar_schema_n_indices(schema); k++)
            CELLAR_ASSERT(cellar_schema_is_structural_zero(schema, k) ==
                          cellar_schema_is_structural_zero(again, k));
        for (uint64_t k = 0; k < cellar_schema_n_indices(wide); k++)
            (void) cellar_schema_is_structural_zero(wide, k);
    }
    cellar_text_clear(&text);
    cellar_schema_free(wide);
    cellar_schema_free(again);
    cellar_schema_free(schema);
    cellar_codelist_free(list);
    return 0;
}
