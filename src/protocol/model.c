/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/model.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include <cellar/cube_inference.h>
#include <cellar/estimate.h>
#include <cellar/tabulate.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { MAX_CELLS = 1 << 18, CHUNK_BYTES = 1 << 16 };

const char *cellar_collect_model_kind_name(cellar_collect_model_kind kind)
{
    static const char *const names[] = {"none", "independence", "sample", "cube"};
    return names[kind];
}

cellar_collect_model_kind cellar_collect_model_kind_of(const cellar_collect_model *model)
{
    return model->kind;
}

const unsigned char *cellar_collect_model_id(const cellar_collect_model *model)
{
    return model->id;
}

uint64_t cellar_collect_model_n_people(const cellar_collect_model *model)
{
    return model->n_people;
}

/* ---- opening ------------------------------------------------------------------- */

/* A pipe could not be read a second time, and a device may have no end. */
static cellar_status file_hash(const char *path, unsigned char id[CELLAR_COLLECT_ID_BYTES],
                               cellar_error *err)
{
    unsigned char chunk[CHUNK_BYTES];
    crypto_generichash_state state;
    ssize_t n;
    cellar_status status = CELLAR_OK;
    const int fd = cellar_file_open_plain(path, O_RDONLY, err);

    if (fd < 0)
        return CELLAR_ERR_IO;
    (void) crypto_generichash_init(&state, NULL, 0, CELLAR_COLLECT_ID_BYTES);
    while ((n = read(fd, chunk, sizeof chunk)) > 0)
        (void) crypto_generichash_update(&state, chunk, (size_t) n);
    (void) crypto_generichash_final(&state, id, CELLAR_COLLECT_ID_BYTES);
    if (n < 0)
        status = cellar_fail_errno(err, path, "read the file");
    (void) close(fd);
    return status;
}

/* Every value must be one of the code list: what the reader refuses names the line. */
static cellar_status sample_open(cellar_collect_model *model, const char *path,
                                 const cellar_collect_column *columns, size_t n_columns,
                                 cellar_error *err)
{
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < n_columns; c++) {
        variables[c] = cellar_variable_spec_default();
        variables[c].column = columns[c].name;
        variables[c].codelist = columns[c].codes;
    }
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = n_columns;
    CELLAR_TRY(cellar_profiles_read(&spec, &model->sample, NULL, err));
    model->n_people = cellar_profiles_n_people(model->sample);
out:
    return status;
}

static cellar_status cube_has_column(const cellar_cube *cube, const char *path,
                                     const cellar_collect_column *column, cellar_error *err)
{
    const cellar_cube_side side = {.variable = column->name};
    const cellar_cube_question question = {.sides = &side, .n_sides = 1};
    size_t variable = 0, n_same = 0;
    const cellar_schema *schema;
    cellar_estimate *estimate = NULL;
    cellar_status status = CELLAR_OK;

    while (variable < cellar_cube_n_variables(cube) &&
           strcmp(cellar_cube_variable(cube, variable), column->name) != 0)
        variable++;
    if (variable == cellar_cube_n_variables(cube))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the cube has no column '%.200s'", path,
                           column->name);
    CELLAR_TRY(cellar_cube_ask(cube, &question, &estimate, err));
    schema = cellar_estimate_schema(estimate);
    for (size_t i = 0; i < cellar_schema_n_categories(schema, 0); i++) {
        const char *code = cellar_schema_code(schema, 0, i);
        size_t at = cellar_codelist_find(column->codes, code, strlen(code));
        n_same += at != CELLAR_NO_CODE && cellar_codelist_is_leaf(column->codes, at);
    }
    if (n_same != cellar_schema_n_categories(schema, 0) ||
        n_same != cellar_codelist_n_leaves(column->codes))
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: column '%.200s' of the cube has other values than its code list",
                             path, column->name);
out:
    cellar_estimate_free(estimate);
    return status;
}

static cellar_status cube_total(const cellar_cube *cube, double *out, cellar_error *err)
{
    const cellar_cube_question question = {.n_sides = 0};
    cellar_estimate *total = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_cube_ask(cube, &question, &total, err));
    *out = cellar_estimate_at(total, 0).value;
out:
    cellar_estimate_free(total);
    return status;
}

/* The columns must be there with the same values; which tables of them there are is seen later. */
static cellar_status cube_open(cellar_collect_model *model, const char *path,
                               const cellar_collect_column *columns, size_t n_columns,
                               cellar_error *err)
{
    double total;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_cube_open(path, &model->cube, err));
    CELLAR_TRY(cellar_cube_verify(model->cube, path, err));
    for (size_t c = 0; c < n_columns; c++)
        CELLAR_TRY(cube_has_column(model->cube, path, &columns[c], err));
    CELLAR_TRY(cube_total(model->cube, &total, err));
    if (!(total >= 0.5 && total < 0x1p63))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: there is not one person in the cube's total", path));
    model->n_people = (uint64_t) llround(total);
out:
    return status;
}

cellar_status cellar_collect_model_open(cellar_collect_model_kind kind, const char *path,
                                        const cellar_collect_column *columns, size_t n_columns,
                                        cellar_collect_model **out, cellar_error *err)
{
    cellar_collect_model *model = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if ((kind != CELLAR_COLLECT_SAMPLE && kind != CELLAR_COLLECT_CUBE) || n_columns == 0 ||
        n_columns > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a model in a file is a sample or a cube, for 1 to %d columns",
                           CELLAR_MAX_VARIABLES);
    model = cellar_alloc(1, sizeof *model);
    if (model == NULL)
        return cellar_fail_memory(err, "a model");
    model->kind = kind;
    CELLAR_TRY(file_hash(path, model->id, err));
    if (kind == CELLAR_COLLECT_CUBE)
        CELLAR_TRY(cube_open(model, path, columns, n_columns, err));
    else
        CELLAR_TRY(sample_open(model, path, columns, n_columns, err));
    *out = model;
    model = NULL;
out:
    cellar_collect_model_free(model);
    return status;
}

void cellar_collect_model_free(cellar_collect_model *model)
{
    if (model == NULL)
        return;
    cellar_profiles_free(model->sample);
    cellar_cube_close(model->cube);
    cellar_free(model);
}

/* ---- delta --------------------------------------------------------------------- */

double model_noise_delta(const cellar_collect_model *model, double delta)
{
    return model->kind == CELLAR_COLLECT_CUBE ? delta / 2 : 0;
}

/* With which the intervals of each table hold, when those of all tables fail with a chance of at
 * most delta: not below, for all that 1 - delta was rounded. */
static double table_confidence(const cellar_cube *cube, double delta)
{
    return nextafter(1 - delta / ((double) cellar_cube_n_tables(cube) + 1), 1);
}

cellar_status model_check_delta(const cellar_collect_model *model, double delta, cellar_error *err)
{
    if (model->cube == NULL || table_confidence(model->cube, model_noise_delta(model, delta)) < 1)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "a delta of %g is too small for a cube of %zu tables, whose noise is known "
                       "to double precision",
                       delta, cellar_cube_n_tables(model->cube));
}

/* ---- counting ------------------------------------------------------------------ */

static size_t level_of(const cellar_invitation *invitation, size_t column, const char *code)
{
    return cellar_codelist_find(invitation->codes[column], code, strlen(code));
}

static void sample_count(const cellar_collect_model *model, const cellar_invitation *invitation,
                         const model_set *set, fitted_cells *out)
{
    const cellar_profiles *sample = model->sample;
    for (size_t row = 0; row < sample->n_rows; row++) {
        size_t cell = 0;
        for (size_t i = 0; i < set->n; i++) {
            size_t column = set->columns[i];
            const char *code = cellar_profiles_level(sample, column, sample->levels[column][row]);
            cell = cell * out->n_levels[i] + level_of(invitation, column, code);
        }
        out->count[cell] += (double) sample->counts[row];
    }
    memcpy(out->low, out->count, out->n_cells * sizeof *out->low);
    memcpy(out->high, out->count, out->n_cells * sizeof *out->high);
    out->least_people = out->most_people = (double) model->n_people;
}

/* Where a cell of the cube's answer stands, whose variables and values have an order of their own.
 */
static size_t cube_cell(const cellar_schema *schema, uint64_t index,
                        const cellar_invitation *invitation, const model_set *set,
                        const fitted_cells *out)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    size_t cell = 0;
    cellar_schema_categories(schema, index, categories);
    for (size_t i = 0; i < set->n; i++) {
        size_t v = cellar_schema_find_variable(schema, invitation->names[set->columns[i]]);
        cell = cell * out->n_levels[i] +
               level_of(invitation, set->columns[i], cellar_schema_code(schema, v, categories[v]));
    }
    return cell;
}

/* The counts of a cube are known up to its noise; all tables together fail with a chance of at most
 * delta. */
static cellar_status cube_count(const cellar_collect_model *model,
                                const cellar_invitation *invitation, const model_set *set,
                                double delta, fitted_cells *out, cellar_error *err)
{
    const double confidence = table_confidence(model->cube, delta);
    const cellar_cube_question everybody = {.n_sides = 0};
    cellar_cube_side sides[CELLAR_MAX_VARIABLES] = {{0}};
    const cellar_cube_question question = {.sides = sides, .n_sides = set->n};
    cellar_estimate *estimate = NULL;
    double *half_widths = NULL, total, half_total;
    size_t n;
    cellar_status status = CELLAR_OK;

    for (size_t i = 0; i < set->n; i++)
        sides[i].variable = invitation->names[set->columns[i]];
    CELLAR_TRY(cellar_cube_ask(model->cube, &question, &estimate, err));
    n = cellar_estimate_n_cells(estimate);
    half_widths = cellar_alloc(n, sizeof *half_widths);
    if (half_widths == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a model"));
    CELLAR_TRY(cellar_cube_half_widths(model->cube, &question, confidence, 1, half_widths, n, err));
    for (size_t i = 0; i < n; i++) {
        cellar_estimated_cell of = cellar_estimate_cell(estimate, i);
        size_t cell = cube_cell(cellar_estimate_schema(estimate), of.index, invitation, set, out);
        out->count[cell] = fmax(of.value, 0);
        out->low[cell] = fmax(of.value - half_widths[i], 0);
        out->high[cell] = fmax(of.value + half_widths[i], 0);
    }
    CELLAR_TRY(cube_total(model->cube, &total, err));
    CELLAR_TRY(
        cellar_cube_half_widths(model->cube, &everybody, confidence, 1, &half_total, 1, err));
    out->least_people = fmax(total - half_total, 1);
    out->most_people = total + half_total;
out:
    cellar_free(half_widths);
    cellar_estimate_free(estimate);
    return status;
}

cellar_status model_cells(const cellar_collect_model *model, const cellar_invitation *invitation,
                          const model_set *set, double delta, fitted_cells *out, int *known,
                          cellar_error *err)
{
    size_t n_levels[CELLAR_MAX_VARIABLES], n_cells = 1;
    cellar_status status = CELLAR_OK;

    *out = (fitted_cells){0};
    *known = 0;
    for (size_t i = 0; i < set->n; i++) {
        n_levels[i] = cellar_codelist_n_codes(invitation->codes[set->columns[i]]);
        if (n_levels[i] > MAX_CELLS / n_cells)
            return CELLAR_OK;
        n_cells *= n_levels[i];
    }
    CELLAR_TRY(fitted_cells_create(n_levels, set->n, out, err));
    *known = 1;
    if (model->cube == NULL) {
        sample_count(model, invitation, set, out);
        return CELLAR_OK;
    }
    status = cube_count(model, invitation, set, delta, out, err);
    if (status == CELLAR_ERR_RULE) { /* the cube has no such table */
        *known = 0;
        status = CELLAR_OK;
    }
out:
    return status;
}
