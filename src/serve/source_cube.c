/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values from a cube: any table of its universe, any number of times, all adding up. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/picks.h"
#include "release/estimate/estimate.h"
#include "serve/guarantee.h"
#include "serve/source_cube.h"
#include "table/formats/extension.h"

typedef struct cube_source {
    serve_source base;
    cellar_cube *cube;
    char *certificate;
    char *guarantee, *origin;
    cellar_promise promise;
    char id[SERVE_ID_TEXT];
} cube_source;

static const cube_source *of(const serve_source *source)
{
    return (const cube_source *) (const void *) source;
}

/* ---- tables ------------------------------------------------------------------------------------
 */

/* The number of a table in the lattice, CUBE_NO_SPACE when the universe does not have it. Variables
 * of the data set are those of the cube, in their order. */
static uint32_t find_table(const cellar_cube *cube, const serve_table *table)
{
    cube_space space = {0};
    for (size_t v = 0; v < cube->n_variables; v++)
        if (table->levels[v] > 0) {
            if (space.order == CUBE_ORDER_MAX)
                return CUBE_NO_SPACE;
            space.variable[space.order] = (uint8_t) v;
            space.level[space.order++] = table->levels[v];
        }
    return cellar_cube_lattice_find(&cube->lattice, &space);
}

static cellar_status cube_status(const serve_source *source, const serve_dataset *dataset,
                                 const serve_table *table, serve_status *out, cellar_error *err)
{
    const cellar_cube *cube = of(source)->cube;
    const uint32_t number = find_table(cube, table);
    double variance;
    cellar_status status;
    (void) dataset;
    *out = (serve_status){.from = *table, .sd = NAN};
    if (number == CUBE_NO_SPACE)
        return CELLAR_OK;
    out->exists = out->is_exact = 1;
    out->mechanism = cube->w[number] > 0 ? cube->tables[number].mechanism : NULL;
    status = cellar_cube_largest_variance(cube, number, &variance, err);
    if (status == CELLAR_OK)
        out->sd = sqrt(variance);
    return status;
}

static serve_table table_of(const cube_space *space)
{
    serve_table table = {{0}};
    for (size_t k = 0; k < space->order; k++)
        table.levels[space->variable[k]] = space->level[k];
    return table;
}

static size_t cube_nearest(const serve_source *source, const serve_dataset *dataset,
                           const serve_table *wanted, serve_table *out, size_t room)
{
    const cube_lattice *lattice = &of(source)->cube->lattice;
    size_t n = 0;
    for (size_t t = 0; t < lattice->n; t++) {
        const serve_table table = table_of(&lattice->spaces[t]);
        if (serve_table_is_below(dataset, &table, wanted))
            serve_nearest_add(dataset, &table, out, room, &n);
    }
    return n;
}

/* ---- values ------------------------------------------------------------------------------------
 */

/* An answer under way: picks in the order of the lattice, and which side each is. */
typedef struct asking {
    const serve_cut *cut;
    uint32_t table;
    cube_picks picks[CUBE_ORDER_MAX];
    size_t side_of[CUBE_ORDER_MAX];
    size_t n; /* cells */
    int64_t *values;
    double *variances;
} asking;

static int add_picks(const serve_side *side, cube_picks *out)
{
    for (size_t p = 0; p < side->n_picks; p++) {
        if (!cellar_cube_picks_begin(out))
            return 0;
        for (size_t k = 0; k < side->picks[p].n_members; k++)
            if (!cellar_cube_picks_add(out, side->picks[p].members[k]))
                return 0;
    }
    return 1;
}

static cellar_status lay_out(asking *a, const cellar_cube *cube, cellar_error *err)
{
    size_t k = 0;
    a->table = find_table(cube, &a->cut->table);
    if (a->table == CUBE_NO_SPACE)
        return cellar_fail(err, CELLAR_ERR_RULE, "the cube does not have this table");
    a->n = 1;
    for (size_t v = 0; v < cube->n_variables; v++)
        for (size_t i = 0; i < a->cut->n_sides; i++)
            if (a->cut->sides[i].variable == v) {
                a->side_of[k] = i;
                a->n *= a->cut->sides[i].n_picks;
                if (!add_picks(&a->cut->sides[i], &a->picks[k++]))
                    return cellar_fail_memory(err, "an answer");
            }
    a->values = cellar_alloc(a->n, sizeof *a->values);
    a->variances = cellar_alloc(a->n, sizeof *a->variances);
    return a->values != NULL && a->variances != NULL ? CELLAR_OK
                                                     : cellar_fail_memory(err, "an answer");
}

/* Where a cell of the lattice's order lies in the order of the sides. */
static size_t place_of(const asking *a, size_t cell)
{
    size_t pick[CUBE_ORDER_MAX] = {0}, at = 0;
    for (size_t k = a->cut->n_sides; k-- > 0;) {
        CELLAR_ASSERT(a->picks[k].n > 0);
        pick[a->side_of[k]] = cell % a->picks[k].n;
        cell /= a->picks[k].n;
    }
    for (size_t i = 0; i < a->cut->n_sides; i++)
        at = at * a->cut->sides[i].n_picks + pick[i];
    return at;
}

static cellar_status cube_ask(const serve_source *source, const serve_cut *cut, double tail,
                              serve_value *out, cellar_error *err)
{
    const cube_source *s = of(source);
    const double units = pow(10, s->cube->decimals); /* 10^6 is exact */
    asking a = {.cut = cut};
    double *widths = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(lay_out(&a, s->cube, err));
    widths = cellar_alloc(a.n, sizeof *widths);
    if (widths == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    CELLAR_TRY(serve_cube_widths(s->cube, cut, tail, widths, a.n, err));
    if (!cellar_cube_picks_values(s->cube, a.table, a.picks, a.values))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_OVERFLOW, "a value of the cube is too large"));
    CELLAR_TRY(cellar_cube_picks_variances(s->cube, a.table, a.picks, a.variances, err));
    for (size_t cell = 0; cell < a.n; cell++) {
        const double value = (double) a.values[cell] / units;
        const double se = cellar_estimate_units(sqrt(a.variances[cell]), s->cube->decimals) / units;
        const size_t at = place_of(&a, cell);
        out[at] = (serve_value){
            .count = value, .se = se, .low = value - widths[at], .high = value + widths[at]};
    }
out:
    for (size_t k = 0; k < CUBE_ORDER_MAX; k++)
        cellar_cube_picks_clear(&a.picks[k]);
    cellar_free(widths);
    cellar_free(a.values);
    cellar_free(a.variances);
    return status;
}

/* ---- inference ---------------------------------------------------------------------------------
 */

static cellar_status cube_compare(const serve_source *source, const serve_cut *first,
                                  cellar_comparison comparison, const serve_cut *second,
                                  double confidence, cellar_cube_finding *out, cellar_error *err)
{
    return serve_cube_compare(of(source)->cube, first, comparison, second, confidence, out, err);
}

static cellar_status cube_noisy(const serve_source *source, const serve_dataset *dataset,
                                const serve_table *table, int *needs_bootstrap, cellar_noisy **out,
                                cellar_error *err)
{
    *needs_bootstrap = 1;
    return serve_cube_noisy(of(source)->cube, dataset, table, out, err);
}

/* ---- what covers them --------------------------------------------------------------------------
 */

static cellar_status cube_describe(const serve_source *source, const serve_dataset *dataset,
                                   const serve_table *table, cellar_arena *arena, serve_cover *out,
                                   cellar_error *err)
{
    const cube_source *s = of(source);
    (void) dataset, (void) table, (void) arena, (void) err;
    *out = (serve_cover){.certificate = s->certificate,
                         .id = s->id,
                         .guarantee = s->guarantee,
                         .promise = s->promise,
                         .origin = s->origin,
                         .is_immutable = 1};
    return CELLAR_OK;
}

static cellar_status cube_certificate(const serve_source *source, const serve_dataset *dataset,
                                      const char *id, cellar_arena *arena, const char **out,
                                      cellar_error *err)
{
    (void) dataset, (void) arena, (void) err;
    *out = strcmp(id, of(source)->id) == 0 ? of(source)->certificate : NULL;
    return CELLAR_OK;
}

/* ---- life cycle --------------------------------------------------------------------------------
 */

static void cube_close(serve_source *source)
{
    cube_source *s = (cube_source *) (void *) source;
    cellar_cube_close(s->cube);
    cellar_free(s->certificate);
    cellar_free(s->guarantee);
    cellar_free(s->origin);
    cellar_free(s);
}

static const serve_source_ops cube_ops = {.status = cube_status,
                                          .ask = cube_ask,
                                          .nearest = cube_nearest,
                                          .describe = cube_describe,
                                          .certificate = cube_certificate,
                                          .compare = cube_compare,
                                          .noisy = cube_noisy,
                                          .close = cube_close};

static cellar_status describe(cube_source *s, cellar_error *err)
{
    const json_t *certificate = json_object_get(s->cube->description, "certificate");
    const char *date = json_string_value(json_object_get(s->cube->description, "date"));
    cellar_text guarantee = {0}, origin = {0};
    s->certificate = cellar_json_text(certificate, JSON_SORT_KEYS | JSON_COMPACT);
    cellar_promise_add("All tables of this cube together", certificate, &guarantee);
    s->promise = cellar_promise_of_certificate("cube", certificate);
    cellar_text_add_string(&origin, "Estimated from a cube");
    if (date != NULL)
        cellar_text_printf(&origin, " of %s", date);
    cellar_text_add_string(&origin, "; values of all its tables add.");
    s->guarantee = guarantee.bytes;
    s->origin = origin.bytes;
    if (s->certificate == NULL || guarantee.failed || origin.failed)
        return cellar_fail_memory(err, "a cube");
    serve_digest(s->certificate, strlen(s->certificate), s->id);
    return CELLAR_OK;
}

cellar_status serve_source_of_cube(cellar_cube *cube, const char *name, serve_source **out,
                                   cellar_error *err)
{
    cube_source *s = cellar_alloc(1, sizeof *s);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (s == NULL) {
        cellar_cube_close(cube);
        return cellar_fail_memory(err, "a cube");
    }
    s->cube = cube;
    s->base.ops = &cube_ops;
    for (size_t c = 0; c < SERVE_N_CONTENTS; c++) {
        s->base.decimals[c] = cube->decimals;
        s->base.shown_decimals[c] = 1;
    }
    for (size_t t = 0; t < cube->lattice.n; t++)
        CELLAR_TRY(cellar_cube_check_table(cube, (uint32_t) t, name, err));
    CELLAR_TRY(describe(s, err));
    *out = &s->base;
    s = NULL;
out:
    if (s != NULL)
        cube_close(&s->base);
    return status;
}
