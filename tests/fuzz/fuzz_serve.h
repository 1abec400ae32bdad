/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small data set that is served, for fuzzers of requests. */
#ifndef CELLAR_FUZZ_SERVE_H
#define CELLAR_FUZZ_SERVE_H

#include <math.h>

#include "serve/site.h"
#include "serve/source.h"

static const char *const fuzz_texts[] = {"label"};
#define FUZZ_LABEL                                                                                 \
    {                                                                                              \
        fuzz_texts                                                                                 \
    }

static const serve_category fuzz_parts[] = {{.code = "N", .label = FUZZ_LABEL, .parent = SIZE_MAX},
                                            {.code = "S", .label = FUZZ_LABEL, .parent = SIZE_MAX}};
static const serve_category fuzz_regions[] = {{.code = "N1", .label = FUZZ_LABEL, .parent = 0},
                                              {.code = "n2", .label = FUZZ_LABEL, .parent = 0},
                                              {.code = "S1", .label = FUZZ_LABEL, .parent = 1},
                                              {.code = "å?*", .label = FUZZ_LABEL, .parent = 1}};
static const serve_level fuzz_region_levels[] = {
    {.id = "region^1", .label = FUZZ_LABEL, .categories = fuzz_parts, .n_categories = 2},
    {.id = "region", .label = FUZZ_LABEL, .categories = fuzz_regions, .n_categories = 4}};
static const serve_level fuzz_sex_levels[] = {
    {.id = "sex", .label = FUZZ_LABEL, .categories = fuzz_parts, .n_categories = 2}};
static const serve_variable fuzz_variables[] = {
    {.code = "region", .label = FUZZ_LABEL, .levels = fuzz_region_levels, .n_levels = 2},
    {.code = "sex", .label = FUZZ_LABEL, .levels = fuzz_sex_levels, .n_levels = 1},
    {.code = "year",
     .label = FUZZ_LABEL,
     .role = SERVE_ROLE_TIME,
     .levels = fuzz_sex_levels,
     .n_levels = 1}};

/* Every table exists but that of all three variables; all values are 7. */
static inline cellar_status fuzz_status(const serve_source *source, const serve_dataset *dataset,
                                        const serve_table *table, serve_status *out,
                                        cellar_error *err)
{
    (void) source, (void) err;
    *out = (serve_status){.from = *table, .sd = 1};
    out->exists = out->is_exact = serve_table_n_variables(dataset, table) < 3;
    return CELLAR_OK;
}

static inline cellar_status fuzz_ask(const serve_source *source, const serve_cut *cut, double tail,
                                     serve_value *out, cellar_error *err)
{
    size_t n = 1;
    (void) source, (void) tail, (void) err;
    for (size_t s = 0; s < cut->n_sides; s++)
        n *= cut->sides[s].n_picks;
    for (size_t i = 0; i < n; i++)
        out[i] = (serve_value){.count = 7, .se = 1, .low = 5, .high = NAN};
    return CELLAR_OK;
}

static inline size_t fuzz_nearest(const serve_source *source, const serve_dataset *dataset,
                                  const serve_table *table, serve_table *out, size_t room)
{
    (void) source, (void) dataset, (void) table, (void) out, (void) room;
    return 0;
}

static inline cellar_status fuzz_describe(const serve_source *source, const serve_dataset *dataset,
                                          const serve_table *table, cellar_arena *arena,
                                          serve_cover *out, cellar_error *err)
{
    (void) source, (void) dataset, (void) table, (void) arena, (void) err;
    *out = (serve_cover){.certificate = "{}", .id = "0", .guarantee = "None.", .origin = "Here."};
    return CELLAR_OK;
}

static const serve_source_ops fuzz_ops = {
    .status = fuzz_status, .ask = fuzz_ask, .nearest = fuzz_nearest, .describe = fuzz_describe};
static serve_source fuzz_source = {.ops = &fuzz_ops};

static const char *const fuzz_languages[] = {"en"};
static serve_dataset fuzz_dataset = {.id = "d",
                                     .kind = SERVE_CUBE,
                                     .population = "p",
                                     .unit = "person",
                                     .title = FUZZ_LABEL,
                                     .updated = "2026-11-18",
                                     .languages = fuzz_languages,
                                     .n_languages = 1,
                                     .variables = fuzz_variables,
                                     .n_variables = 3,
                                     .max_cells = 1000,
                                     .source = &fuzz_source};

static inline cellar_site fuzz_site(void)
{
    return (cellar_site){.title = FUZZ_LABEL,
                         .base_url = "",
                         .license = "",
                         .languages = fuzz_languages,
                         .n_languages = 1,
                         .datasets = &fuzz_dataset,
                         .n_datasets = 1,
                         .calls_per_window = 1,
                         .window_seconds = 1};
}

#endif
