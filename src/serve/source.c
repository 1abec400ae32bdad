/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/source.h"

#include <string.h>

void serve_source_close(serve_source *source)
{
    if (source != NULL)
        source->ops->close(source);
}

cellar_status serve_source_refresh(serve_source *source, const serve_dataset *dataset,
                                   cellar_error *err)
{
    return source->ops->refresh != NULL ? source->ops->refresh(source, dataset, err) : CELLAR_OK;
}

/* A variable more counts more than any level. */
static size_t richness(const serve_dataset *dataset, const serve_table *table)
{
    size_t levels = 0;
    for (size_t v = 0; v < dataset->n_variables; v++)
        levels += table->levels[v];
    return serve_table_n_variables(dataset, table) * 256 * CELLAR_MAX_VARIABLES + levels;
}

void serve_nearest_add(const serve_dataset *dataset, const serve_table *candidate, serve_table *out,
                       size_t room, size_t *n)
{
    const size_t rich = richness(dataset, candidate);
    size_t at = *n;
    while (at > 0 && richness(dataset, &out[at - 1]) < rich)
        at--;
    if (at == room)
        return;
    if (*n < room)
        (*n)++;
    memmove(&out[at + 1], &out[at], (*n - 1 - at) * sizeof *out);
    out[at] = *candidate;
}
