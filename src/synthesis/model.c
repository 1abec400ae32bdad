/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model of a cube from its making to records and their comparison with the cube. */
#include "synthesis/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/picks.h"

cellar_synthesis_model_options cellar_synthesis_model_options_default(void)
{
    return (cellar_synthesis_model_options){.max_records = 100000000, .max_table_cells = 1000000};
}

/* ---- life cycle --------------------------------------------------------------------- */

static cellar_status choose_size(cellar_synthesis_model *m,
                                 const cellar_synthesis_model_options *options, cellar_error *err)
{
    const double total = (double) m->cube->tables[0].values[0] * pow(10, -m->cube->decimals);
    const double n = options->n_records > 0 ? (double) options->n_records : round(total);
    if (!(total >= 1))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the total that the cube estimates is below one: there is nobody to "
                           "make records of");
    if (n > (double) options->max_records || n > (double) (UINT32_MAX - 1))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "there would be more than %" PRIu64 " records (--max-records)",
                           options->max_records);
    m->n_records = (uint64_t) n;
    return CELLAR_OK;
}

/* Tables with every variable at its own level; and which of them the model has. */
static cellar_status find_tables(cellar_synthesis_model *m, uint64_t max_cells, cellar_error *err)
{
    const cube_lattice *l = &m->cube->lattice;
    m->compared = cellar_alloc(l->n, sizeof *m->compared);
    m->is_in_model = cellar_alloc(l->n, sizeof *m->is_in_model);
    if (m->compared == NULL || m->is_in_model == NULL)
        return cellar_fail_memory(err, "a model");
    for (size_t t = 0; t < l->n; t++) {
        const cube_space *space = &l->spaces[t];
        int is_own = l->n_cells[t] <= (double) max_cells;
        for (size_t k = 0; k < space->order; k++)
            is_own = is_own && space->level[k] == m->level[space->variable[k]];
        if (is_own)
            m->compared[m->n_compared++] = (uint32_t) t;
    }
    for (size_t f = 0; f < m->n_factors; f++) {
        const uint32_t table = m->factors[f].table;
        for (size_t i = l->start[table]; i < l->start[table + 1]; i++)
            m->is_in_model[l->below[i]] = 1;
    }
    return CELLAR_OK;
}

cellar_status cellar_synthesis_model_create(const cellar_cube *cube,
                                            const cellar_synthesis_model_options *options,
                                            cellar_synthesis_model **out, cellar_error *err)
{
    const cellar_synthesis_model_options defaults = cellar_synthesis_model_options_default();
    cellar_synthesis_model *m = cellar_alloc(1, sizeof *m);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (m == NULL)
        return cellar_fail_memory(err, "a model");
    if (options == NULL)
        options = &defaults;
    m->cube = cube;
    for (uint32_t t = 0; t < cube->lattice.n; t++)
        CELLAR_TRY(cellar_cube_check_table(cube, t, cube_name(cube), err));
    CELLAR_TRY(choose_size(m, options, err));
    CELLAR_TRY(cellar_synthesis_grow(m, options->max_table_cells, err));
    CELLAR_TRY(find_tables(m, options->max_table_cells, err));
    CELLAR_TRY(cellar_synthesis_make_positive(m, err));
    *out = m;
    m = NULL;
out:
    cellar_synthesis_model_free(m);
    return status;
}

void cellar_synthesis_model_free(cellar_synthesis_model *m)
{
    if (m == NULL)
        return;
    for (size_t t = 0; m->positive != NULL && t < m->cube->lattice.n; t++)
        cellar_free(m->positive[t]);
    cellar_free(m->positive);
    cellar_free(m->level);
    cellar_free(m->factors);
    cellar_free(m->compared);
    cellar_free(m->is_in_model);
    cellar_free(m);
}

size_t cellar_synthesis_model_n_factors(const cellar_synthesis_model *m)
{
    return m->n_factors;
}

cellar_synthesis_factor cellar_synthesis_model_factor(const cellar_synthesis_model *m,
                                                      size_t factor)
{
    const synthesis_factor *f = &m->factors[factor];
    return (cellar_synthesis_factor){m->cube->variables[f->variable].name, f->given_text,
                                     f->information, f->gain};
}

/* ---- records --------------------------------------------------------------------------- */

static json_t *describe_factors(const cellar_synthesis_model *m)
{
    json_t *list = json_array();
    for (size_t f = 0; f < m->n_factors; f++) {
        const cellar_synthesis_factor factor = cellar_synthesis_model_factor(m, f);
        if (json_array_append_new(list, json_pack("{s:s, s:s, s:f}", "variable", factor.variable,
                                                  "given", factor.given, "information",
                                                  factor.information)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

double cellar_synthesis_model_unmet(const cellar_synthesis_model *m)
{
    return m->unmet < 0.5 ? 0 : m->unmet;
}

static cellar_status describe(const cellar_synthesis_model *m, cellar_synthesis *s,
                              cellar_error *err)
{
    return cellar_synthesis_describe(
        s,
        json_pack(
            "{s:s, s:f, s:s, s:s, s:o}", "method",
            cellar_synthesis_model_unmet(m) > 0
                ? "drawn from a model of the tables of a cube, each variable given those that "
                  "its table has with it: all tables are met approximately"
                : "drawn from a model of the tables of a cube, each variable given those that "
                  "its table has with it: these tables are met up to rounding, others "
                  "approximately",
            "unmet", cellar_synthesis_model_unmet(m), "rows_are", "records", "several_sets",
            "sets drawn from one cube share its noise: rules that combine synthetic sets "
            "(Reiter 2003; Raab, Nowok and Dibben 2016) give intervals that are too short; "
            "take the intervals of the cube (cellar infer interval)",
            "model", describe_factors(m)),
        json_pack("[O]", m->cube->description), err);
}

/* The columns of the records: variables of the cube that have a table, in its order. */
static cellar_status make_columns(const cellar_synthesis_model *m, synthesis_column *columns,
                                  size_t *source, size_t *n, cellar_error *err)
{
    const cube_lattice *l = &m->cube->lattice;
    cellar_status status = CELLAR_OK;
    *n = 0;
    for (size_t v = 0; v < m->cube->n_variables && status == CELLAR_OK; v++) {
        cube_space alone;
        if (m->level[v] == 0)
            continue;
        alone = synthesis_with(m, (cube_space){0}, (uint8_t) v);
        columns[*n].variable = 0;
        source[*n] = v;
        status = cellar_cube_table_schema(m->cube, cellar_cube_lattice_find(l, &alone),
                                          &columns[*n].schema, err);
        *n += status == CELLAR_OK;
    }
    return status;
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const uint32_t *x = a, *y = b;
    for (size_t v = 0; v < *(const size_t *) context; v++)
        if (x[v] != y[v])
            return x[v] < y[v] ? -1 : 1;
    return 0;
}

/* Sorts the records and keeps each combination once, in `s`, which has room for all. */
static void collapse(const uint32_t *records, size_t n, const size_t *source, size_t n_source,
                     cellar_synthesis *s)
{
    size_t width = s->n_columns;
    for (size_t r = 0; r < n; r++)
        for (size_t v = 0; v < width; v++)
            s->categories[r * width + v] = records[r * n_source + source[v]];
    qsort_r(s->categories, n, width * sizeof *s->categories, compare_rows, &width);
    for (size_t r = 0; r < n; r++) {
        const uint32_t *row = s->categories + r * width;
        const size_t last = s->n_combinations - 1;
        if (s->n_combinations > 0 && compare_rows(s->categories + last * width, row, &width) == 0) {
            s->counts[last]++;
            continue;
        }
        memmove(s->categories + s->n_combinations * width, row, width * sizeof *row);
        s->counts[s->n_combinations++] = 1;
    }
    s->n_records = n;
}

cellar_status cellar_synthesis_draw(const cellar_synthesis_model *m, cellar_rng *rng,
                                    cellar_synthesis **out, cellar_error *err)
{
    const size_t n_variables = m->cube->n_variables, n = (size_t) m->n_records;
    synthesis_column *columns = cellar_alloc(n_variables, sizeof *columns);
    size_t *source = cellar_alloc(n_variables, sizeof *source), n_columns = 0;
    uint32_t *records = cellar_alloc(n, n_variables * sizeof *records);
    cellar_rng *own = NULL;
    cellar_synthesis *s = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (columns == NULL || source == NULL || records == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "synthetic records"));
    if (rng == NULL)
        CELLAR_TRY(cellar_rng_create_secure(&own, err));
    CELLAR_TRY(make_columns(m, columns, source, &n_columns, err));
    CELLAR_TRY(cellar_synthesis_draw_records(m, rng != NULL ? rng : own, records, err));
    CELLAR_TRY(cellar_synthesis_create(columns, n_columns, n, &s, err));
    collapse(records, n, source, n_variables, s);
    CELLAR_TRY(describe(m, s, err));
    *out = s;
    s = NULL;
out:
    for (size_t v = 0; v < n_columns; v++)
        cellar_schema_free(columns[v].schema);
    cellar_free(columns);
    cellar_free(source);
    cellar_free(records);
    cellar_rng_free(own);
    cellar_synthesis_free(s);
    return status;
}

/* ---- beside the cube ---------------------------------------------------------------------- */

size_t cellar_synthesis_model_n_tables(const cellar_synthesis_model *m)
{
    return m->n_compared;
}

/* The column of each variable of the table in the records. */
static void find_columns(const cellar_synthesis_model *m, const cube_space *space,
                         size_t columns[CUBE_ORDER_MAX])
{
    for (size_t k = 0; k < space->order; k++) {
        columns[k] = 0;
        for (size_t v = 0; v < space->variable[k]; v++)
            columns[k] += m->level[v] > 0;
    }
}

static void count_records(const cellar_synthesis_model *m, const cellar_synthesis *s,
                          const cube_space *space, double *cells)
{
    size_t columns[CUBE_ORDER_MAX];
    find_columns(m, space, columns);
    for (size_t i = 0; i < s->n_combinations; i++) {
        const uint32_t *row = s->categories + i * s->n_columns;
        size_t cell = 0;
        for (size_t k = 0; k < space->order; k++)
            cell = cell * synthesis_n_categories(m, space->variable[k]) + row[columns[k]];
        cells[cell] += (double) s->counts[i];
    }
}

cellar_status cellar_synthesis_compare(const cellar_synthesis_model *m, const cellar_synthesis *s,
                                       size_t table, cellar_synthesis_fit *out, cellar_error *err)
{
    const cube_lattice *l = &m->cube->lattice;
    const uint32_t t = m->compared[table];
    const size_t n = (size_t) l->n_cells[t];
    const double unit = pow(10, -m->cube->decimals);
    /* Of more or fewer records than people each stands for a part of one, or for several. */
    const double people = (double) m->cube->tables[0].values[0] * unit / (double) m->n_records;
    double *cells = cellar_alloc(n, sizeof *cells), variance = 0, squares = 0;
    cellar_text name = {0};
    cellar_status status = CELLAR_OK;

    *out = (cellar_synthesis_fit){
        .n_variables = l->spaces[t].order, .n_cells = n, .is_in_model = m->is_in_model[t]};
    cellar_cube_table_name(m->cube, t, &name);
    if (cells == NULL || name.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a table of synthetic records"));
    strncpy(out->name, name.bytes, sizeof out->name - 1);
    CELLAR_TRY(cellar_cube_largest_variance(m->cube, t, &variance, err));
    count_records(m, s, &l->spaces[t], cells);
    for (size_t i = 0; i < n; i++) {
        const double away = cells[i] * people - (double) m->cube->tables[t].values[i] * unit;
        squares += away * away;
        out->largest = fmax(out->largest, fabs(away));
    }
    out->sd = sqrt(variance);
    out->difference = sqrt(squares / (double) n);
out:
    cellar_text_clear(&name);
    cellar_free(cells);
    return status;
}
