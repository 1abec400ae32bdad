/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/structural_cover.h"

#include "base/error.h"

cellar_status cellar_structural_bind(const cellar_structural_rules *rules,
                                     const cellar_schema *schema, cellar_structural **out,
                                     cellar_error *err)
{
    (void) rules, (void) schema;
    *out = NULL;
    return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "structural zeros are not there yet");
}

void cellar_structural_free(cellar_structural *structural)
{
    (void) structural;
}

int cellar_structural_covers(const cellar_structural *structural, const cellar_schema *schema,
                             uint64_t index)
{
    (void) structural, (void) schema, (void) index;
    return 0;
}

void cellar_structural_add_text(const cellar_structural *structural, const cellar_schema *schema,
                                cellar_text *text)
{
    (void) structural, (void) schema, (void) text;
}

cellar_status cellar_structural_derive(const cellar_structural *structural,
                                       const cellar_schema *from, const size_t *kept,
                                       const uint32_t *fixed, const cellar_schema *to,
                                       cellar_structural **out, cellar_error *err)
{
    (void) structural, (void) from, (void) kept, (void) fixed, (void) to, (void) err;
    *out = NULL;
    return CELLAR_OK;
}
