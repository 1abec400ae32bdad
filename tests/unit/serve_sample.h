/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small data set that is served, whose values come from a source with known numbers: 16 cells of
 * region x sex x work, and every sum of them. Labels are hostile. */
#ifndef CELLAR_TESTS_SERVE_SAMPLE_H
#define CELLAR_TESTS_SERVE_SAMPLE_H

#include <math.h>
#include <string.h>

#include "check.h"
#include "serve/answer.h"
#include "serve/site.h"
#include "serve/source.h"

enum { SAMPLE_REGION, SAMPLE_SEX, SAMPLE_WORK, SAMPLE_PERIOD };

#define SAMPLE_HOSTILE "<b>\"North\" & 'South'</b>"
#define SAMPLE_FORMULA "=1+1"

static const serve_category sample_countries[] = {
    {"N", {(const char *const[]){SAMPLE_HOSTILE, "Norr"}}, {NULL}, SIZE_MAX},
    {"S", {(const char *const[]){"South", "Syd"}}, {NULL}, SIZE_MAX}};
static const serve_category sample_regions[] = {
    {"N1", {(const char *const[]){"North one", "Norr ett"}}, {NULL}, 0},
    {"N2",
     {(const char *const[]){"North two", "Norr två"}},
     {(const char *const[]){"An island", "En ö"}},
     0},
    {"S1", {(const char *const[]){"South one", "Syd ett"}}, {NULL}, 1},
    {"S2", {(const char *const[]){SAMPLE_FORMULA, "Syd två"}}, {NULL}, 1}};
static const serve_category sample_sexes[] = {
    {"F", {(const char *const[]){"women", "kvinnor"}}, {NULL}, SIZE_MAX},
    {"M", {(const char *const[]){"men", "män"}}, {NULL}, SIZE_MAX}};
static const serve_category sample_works[] = {
    {"yes", {(const char *const[]){"in work", "i arbete"}}, {NULL}, SIZE_MAX},
    {"no", {(const char *const[]){"not in work", "ej i arbete"}}, {NULL}, SIZE_MAX}};
static const serve_category sample_years[] = {
    {"2026", {(const char *const[]){"2026", "2026"}}, {NULL}, SIZE_MAX}};

static const serve_level sample_region_levels[] = {
    {"region^1", {(const char *const[]){"parts", "delar"}}, sample_countries, 2, NULL},
    {"region", {(const char *const[]){"regions", "regioner"}}, sample_regions, 4, NULL}};
static const serve_level sample_sex_levels[] = {
    {"sex", {(const char *const[]){"sex", "kön"}}, sample_sexes, 2, NULL}};
static const serve_level sample_work_levels[] = {
    {"work", {(const char *const[]){"work", "arbete"}}, sample_works, 2, NULL}};
static const serve_level sample_year_levels[] = {
    {"period", {(const char *const[]){"year", "år"}}, sample_years, 1, NULL}};

static const serve_variable sample_variables[] = {
    {.code = "region",
     .label = {(const char *const[]){"region", "region"}},
     .note = {(const char *const[]){"As of today", "Som i dag"}},
     .role = SERVE_ROLE_GEO,
     .levels = sample_region_levels,
     .n_levels = 2},
    {.code = "sex",
     .label = {(const char *const[]){"sex", "kön"}},
     .levels = sample_sex_levels,
     .n_levels = 1},
    {.code = "work",
     .label = {(const char *const[]){"work", "arbete"}},
     .levels = sample_work_levels,
     .n_levels = 1},
    {.code = "period",
     .label = {(const char *const[]){"year", "år"}},
     .role = SERVE_ROLE_TIME,
     .levels = sample_year_levels,
     .n_levels = 1,
     .is_constant = 1}};

/* ---- a source with known numbers -------------------------------------------- */

/* The value of an inner cell: 4 x region + 2 x sex + work, and 10.5 more. */
static inline double sample_cell(size_t region, size_t sex, size_t work)
{
    return 10.5 + (double) (4 * region + 2 * sex + work);
}

/* 1 when category `inner` of variable v belongs to the pick. */
static inline int sample_has(const serve_pick *pick, size_t v, size_t inner)
{
    if (pick == NULL)
        return 1;
    for (size_t m = 0; m < pick->n_members; m++)
        if (pick->members[m] ==
            (v == SAMPLE_REGION && pick->level == 1 ? sample_regions[inner].parent : inner))
            return 1;
    return 0;
}

/* The sum of the inner cells that one pick a variable (NULL: all) makes, and how many they are. */
static inline double sample_sum(const serve_pick *const *picks, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t cell = 0; cell < 16; cell++)
        if (sample_has(picks[SAMPLE_REGION], SAMPLE_REGION, cell / 4) &&
            sample_has(picks[SAMPLE_SEX], SAMPLE_SEX, cell / 2 % 2) &&
            sample_has(picks[SAMPLE_WORK], SAMPLE_WORK, cell % 2)) {
            sum += sample_cell(cell / 4, cell / 2 % 2, cell % 2);
            ++*n;
        }
    return sum;
}

/* All but the table of three variables at their finest levels. */
static inline cellar_status sample_status(const serve_source *source, const serve_dataset *dataset,
                                          const serve_table *table, serve_status *out,
                                          cellar_error *err)
{
    (void) source, (void) dataset, (void) err;
    *out = (serve_status){.from = *table, .sd = 1, .is_exact = 1};
    out->exists = table->levels[SAMPLE_REGION] < 2 || table->levels[SAMPLE_SEX] == 0 ||
                  table->levels[SAMPLE_WORK] == 0;
    return CELLAR_OK;
}

static inline cellar_status sample_ask(const serve_source *source, const serve_cut *cut,
                                       double tail, serve_value *out, cellar_error *err)
{
    size_t n_cells = 1;
    (void) source, (void) tail, (void) err;
    for (size_t s = 0; s < cut->n_sides; s++)
        n_cells *= cut->sides[s].n_picks;
    for (size_t cell = 0; cell < n_cells; cell++) {
        const serve_pick *picks[4] = {NULL};
        size_t n, rest = cell;
        double sum;
        for (size_t s = cut->n_sides; s-- > 0;) {
            picks[cut->sides[s].variable] = &cut->sides[s].picks[rest % cut->sides[s].n_picks];
            rest /= cut->sides[s].n_picks;
        }
        sum = sample_sum(picks, &n);
        out[cell] = (serve_value){.count = sum,
                                  .se = sqrt((double) n),
                                  .low = sum - 1.96 * sqrt((double) n),
                                  .high = sum + 1.96 * sqrt((double) n)};
    }
    return CELLAR_OK;
}

static inline size_t sample_nearest(const serve_source *source, const serve_dataset *dataset,
                                    const serve_table *table, serve_table *out, size_t room)
{
    (void) source, (void) dataset, (void) table;
    if (room > 0)
        out[0] = (serve_table){{2, 1, 0, 0}};
    return room > 0;
}

static inline cellar_status sample_describe(const serve_source *source,
                                            const serve_dataset *dataset, const serve_table *table,
                                            cellar_arena *arena, serve_cover *out,
                                            cellar_error *err)
{
    (void) source, (void) dataset, (void) table, (void) arena, (void) err;
    *out = (serve_cover){.certificate = "{}",
                         .id = "0123456789abcdef0123456789abcdef",
                         .guarantee = "All tables together are 1-differentially private.",
                         .origin = "Estimated from a sample.",
                         .is_immutable = 1};
    return CELLAR_OK;
}

static const serve_source_ops sample_ops = {.status = sample_status,
                                            .ask = sample_ask,
                                            .nearest = sample_nearest,
                                            .describe = sample_describe};
static serve_source sample_source = {
    .ops = &sample_ops, .decimals = {2, 2, 2, 2}, .shown_decimals = {1, 1, 1, 1}};

static const char *const sample_languages[] = {"en", "sv"};
static serve_dataset sample_dataset = {
    .id = "census",
    .kind = SERVE_CUBE,
    .population = "residents",
    .unit = "person",
    .title = {(const char *const[]){"Persons in the sample", "Personer i urvalet"}},
    .note = {(const char *const[]){"A note & more", "En not"}},
    .source_name = {(const char *const[]){"The office", "Byrån"}},
    .contact = {(const char *const[]){"Ann, ann@example.org", "Ann, ann@example.org"}},
    .counted = {(const char *const[]){"persons", "personer"}},
    .updated = "2026-11-18",
    .next_update = "2027-11-18",
    .languages = sample_languages,
    .n_languages = 2,
    .variables = sample_variables,
    .n_variables = 4,
    .max_cells = 100,
    .source = &sample_source,
};

/* ---- a question --------------------------------------------------------------- */

static const uint32_t sample_positions[] = {0, 1, 2, 3};
static const serve_pick sample_region_picks[] = {
    {"N1", "North one", 2, &sample_positions[0], 1},
    {"N2", "North two", 2, &sample_positions[1], 1},
    {"S1", "South one", 2, &sample_positions[2], 1},
    {"S2", SAMPLE_FORMULA, 2, &sample_positions[3], 1}};
static const serve_pick sample_part_picks[] = {{"N", SAMPLE_HOSTILE, 1, &sample_positions[0], 1},
                                               {"S", "South", 1, &sample_positions[1], 1}};
static const serve_pick sample_sex_picks[] = {{"F", "women", 1, &sample_positions[0], 1},
                                              {"M", "men", 1, &sample_positions[1], 1}};
static const serve_pick sample_year_picks[] = {{"2026", "2026", 1, &sample_positions[0], 1}};

/* region x period in the stub; sex and contents in the heading. */
static inline serve_question sample_question(void)
{
    return (serve_question){
        .dataset = &sample_dataset,
        .sides = {{SAMPLE_REGION, sample_region_picks, 4},
                  {SAMPLE_PERIOD, sample_year_picks, 1},
                  {SAMPLE_SEX, sample_sex_picks, 2}},
        .n_sides = 3,
        .contents_at = 3,
        .n_stub = 2,
        .contents = {SERVE_COUNT, SERVE_SE, SERVE_LOW, SERVE_HIGH},
        .n_contents = 4,
    };
}

#endif
