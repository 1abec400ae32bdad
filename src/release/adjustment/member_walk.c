/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/adjustment/member_walk.h"

#include "table/schema/schema.h"

void cellar_member_walk_start(cellar_member_walk *walk, const cellar_schema *schema,
                              uint64_t aggregate)
{
    *walk = (cellar_member_walk){.schema = schema};
    for (size_t v = 0; v < schema->n_variables; v++)
        walk->members[v] = cellar_schema_members(schema, v, schema_category(schema, v, aggregate),
                                                 &walk->n_members[v]);
}

uint64_t cellar_member_walk_index(const cellar_member_walk *walk)
{
    uint64_t index = 0;
    for (size_t v = 0; v < walk->schema->n_variables; v++)
        index += walk->members[v][walk->at[v]] * walk->schema->axes[v].stride;
    return index;
}

int cellar_member_walk_next(cellar_member_walk *walk)
{
    for (size_t v = walk->schema->n_variables; v-- > 0;) {
        if (++walk->at[v] < walk->n_members[v])
            return 1;
        walk->at[v] = 0;
    }
    return 0;
}
