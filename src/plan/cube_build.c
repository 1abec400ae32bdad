/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cube: counted in one pass, charged once, drawn, estimated, named. The charge is the one way
 * that all releases have (release/charge/charged.c); only what is written differs. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "plan/cube_design.h"
#include "privacy/certificate.h"
#include "release/charge/charged.h"
#include "release/files/description.h"
#include "release/guarantee/level.h"
#include "table/table.h"

typedef struct building {
    const cellar_cube_design *design;
    const cellar_cube_build_options *options;
    size_t n; /* measured tables */
    uint32_t *table;
    cellar_tabulate_set *sets; /* finest tables that are counted */
    cellar_table **sources;    /* of each set */
    size_t n_sets;
    cellar_table **counts;      /* of each measured table */
    cellar_prepared **prepared; /* likewise */
    cellar_protection_level level;
    cellar_ledger *ledger;
} building;

cellar_cube_build_options cellar_cube_build_options_default(void)
{
    return (cellar_cube_build_options){0};
}

/* ---- counting ------------------------------------------------------------------------------- */

static uint64_t mask_of(const cube_space *space)
{
    uint64_t mask = 0;
    for (size_t i = 0; i < space->order; i++)
        mask |= UINT64_C(1) << space->variable[i];
    return mask;
}

static cellar_tabulate_set set_of(uint64_t mask)
{
    cellar_tabulate_set set = {0};
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        if ((mask >> v & 1) != 0)
            set.variables[set.n++] = (uint8_t) v;
    return set;
}

static uint64_t mask_of_set(const cellar_tabulate_set *set)
{
    uint64_t mask = 0;
    for (size_t k = 0; k < set->n; k++)
        mask |= UINT64_C(1) << set->variables[k];
    return mask;
}

/* The combinations of variables that no other one contains: all else is summed from them. */
static void find_sets(building *b)
{
    const cube_lattice *l = &b->design->cube->lattice;
    for (size_t i = 0; i < b->n; i++) {
        const uint64_t mask = mask_of(&l->spaces[b->table[i]]);
        int is_contained = 0;
        for (size_t j = 0; j < b->n; j++) {
            const uint64_t other = mask_of(&l->spaces[b->table[j]]);
            is_contained |= (mask & other) == mask && (mask != other || j < i);
        }
        if (!is_contained)
            b->sets[b->n_sets++] = set_of(mask);
    }
}

static cellar_status count_sources(building *b, cellar_error *err)
{
    const cellar_plan *plan = b->design->plan;
    const cellar_plan_options reading = {.n_threads = b->options->n_threads,
                                         .progress = b->options->progress};
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    size_t all[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec;
    for (size_t v = 0; v < plan->variables.n; v++)
        all[v] = v;
    spec = cellar_plan_tabulate_spec(plan, all, plan->variables.n, &reading, variables);
    find_sets(b);
    return cellar_tabulate_many(&spec, b->sets, b->n_sets, b->sources, NULL, err);
}

/* The node of a category at a level. */
static uint32_t node_above(const cube_axis *axis, size_t level, uint32_t node)
{
    for (size_t c = axis->n_levels; c > level; c--)
        node = cube_axis_parent(axis, c, node);
    return node;
}

/* Where a cell of a source lies in a measured table. */
static uint64_t cell_in(const building *b, const cube_space *space, const cellar_tabulate_set *set,
                        const uint32_t *categories)
{
    uint64_t index = 0;
    for (size_t i = 0; i < space->order; i++) {
        const cube_axis *axis = &b->design->cube->variables[space->variable[i]].axis;
        size_t k = 0;
        while (set->variables[k] != space->variable[i])
            k++;
        index = index * axis->n[space->level[i]] + node_above(axis, space->level[i], categories[k]);
    }
    return index;
}

/* A measured table from the counts of finer cells. */
static cellar_status sum_table(building *b, size_t i, cellar_error *err)
{
    const cube_space *space = &b->design->cube->lattice.spaces[b->table[i]];
    const uint64_t mask = mask_of(space);
    cellar_schema *schema = NULL;
    cellar_cells cells = {0};
    const cellar_table *source;
    size_t s = 0;
    cellar_status status = CELLAR_OK;

    while ((mask_of_set(&b->sets[s]) & mask) != mask)
        s++;
    source = b->sources[s];
    CELLAR_TRY(cellar_cube_table_schema(b->design->cube, b->table[i], &schema, err));
    cells.n = cellar_table_n_cells(source);
    cells.index = cellar_alloc(cells.n, sizeof *cells.index);
    cells.count = cellar_alloc(cells.n, sizeof *cells.count);
    cells.weight =
        cellar_table_is_weighted(source) ? cellar_alloc(cells.n, sizeof *cells.weight) : NULL;
    if (cells.index == NULL || cells.count == NULL ||
        (cellar_table_is_weighted(source) && cells.weight == NULL)) {
        cellar_cells_clear(&cells);
        CELLAR_TRY(cellar_fail_memory(err, "the tables of a cube"));
    }
    for (size_t k = 0; k < cells.n; k++) {
        const cellar_cell cell = cellar_table_cell(source, k);
        uint32_t categories[CELLAR_MAX_VARIABLES];
        cellar_schema_categories(cellar_table_schema(source), cell.index, categories);
        cells.index[k] = cell_in(b, space, &b->sets[s], categories);
        cells.count[k] = cell.count;
        if (cells.weight != NULL)
            cells.weight[k] = cellar_table_weight(source, k);
    }
    CELLAR_TRY(cellar_table_from_cells(schema, &cells, 0, &b->counts[i], err));
    CELLAR_TRY(cellar_table_set_max_weight(b->counts[i], cellar_table_max_weight(source), err));
out:
    cellar_schema_free(schema);
    return status;
}

/* ---- before anything is paid -------------------------------------------------------------------
 */

static cellar_status judge_level(building *b, cellar_error *err)
{
    json_t *certificate = cellar_certificate_json(b->design->certificate);
    cellar_status status = CELLAR_OK;
    if (certificate == NULL)
        return cellar_fail_memory(err, "a certificate");
    CELLAR_TRY(cellar_level_of(certificate, NULL, 1, &b->level, err));
    CELLAR_TRY(cellar_level_pass(b->level, "the cube", cellar_plan_accepts(b->design->plan), err));
out:
    json_decref(certificate);
    return status;
}

static cellar_status prepare(building *b, cellar_error *err)
{
    const cellar_cube_design *d = b->design;
    const cellar_plan_run_options running = {.n_threads = b->options->n_threads,
                                             .date = b->options->date};
    const cellar_protect_options protect = cellar_plan_protect_options(&d->work, &running);
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        if (d->mechanism_of[t] != CUBE_NOT_MEASURED)
            b->table[b->n++] = (uint32_t) t;
    CELLAR_TRY(judge_level(b, err));
    CELLAR_TRY(count_sources(b, err));
    for (size_t i = 0; i < b->n; i++) {
        CELLAR_TRY(sum_table(b, i, err));
        CELLAR_TRY(cellar_protect_prepare(b->counts[i], d->mechanisms[d->mechanism_of[b->table[i]]],
                                          &protect, &b->prepared[i], err));
    }
out:
    return status;
}

/* ---- drawn
 * ---------------------------------------------------------------------------------------- */

static json_t *describe(const building *b, const char *stamp, const char *date)
{
    const cellar_cube_design *d = b->design;
    const cellar_plan *plan = d->plan;
    return json_pack("{s:s*, s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:s, s:s, s:I, s:o}", "title",
                     plan->title, "unit", plan->unit.name != NULL ? plan->unit.name : "record",
                     "neighbours", d->work.n_sides == 2 ? "substitute" : "add-remove", "noise",
                     cellar_noise_source_name(CELLAR_NOISE_SECURE), "max_per_unit",
                     (json_int_t) d->work.per_unit, "max_weight", (json_int_t) d->work.max_weight,
                     "parameter_choice",
                     cellar_parameter_choice_name((cellar_parameter_choice) plan->parameter_choice),
                     "date", date, "ledger", stamp != NULL ? stamp : CELLAR_RELEASE_UNACCOUNTED,
                     "protection", cellar_protection_level_name(b->level), "measured_tables",
                     (json_int_t) b->n, "certificate", cellar_certificate_json(d->certificate));
}

/* Takes the drawn values into the cube, estimates all tables and writes the file. */
static cellar_status write_cube(void *context, const char *path, const char *stamp,
                                cellar_release **releases, cellar_error *err)
{
    building *b = context;
    cellar_cube *cube = b->design->cube;
    const cellar_output_options shared = {.shared = stamp == NULL};
    cellar_output *output = NULL;
    json_t *description = describe(b, stamp, cellar_release_date(releases[0]));
    cellar_status status = CELLAR_OK;

    if (description == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
    CELLAR_TRY(cellar_cube_describe(cube, description, err));
    CELLAR_TRY(cellar_cube_measured_alloc(cube, err));
    for (size_t i = 0; i < b->n; i++) {
        int64_t *room = cellar_cube_measured_room(cube, b->table[i]);
        for (size_t k = 0; k < cellar_release_n_cells(releases[i]); k++) {
            const cellar_released_cell cell = cellar_release_cell(releases[i], k);
            room[cell.index] = cell.released;
        }
    }
    CELLAR_TRY(cellar_cube_estimate_all(cube, err));
    CELLAR_TRY(cellar_output_open(path, &shared, &output, err));
    CELLAR_TRY(cellar_cube_write(cube, output, err));
    status = cellar_output_commit(output, err);
    output = NULL;
out:
    cellar_output_discard(output);
    return status;
}

static cellar_status spend(building *b, cellar_cube_build_result *out, cellar_error *err)
{
    const cellar_plan *plan = b->design->plan;
    const cellar_payment payment = {.request = plan->ledger.request,
                                    .dataset = plan->ledger.dataset,
                                    .edition = plan->data.edition,
                                    .analyst = plan->ledger.analyst,
                                    .accept_delta = cellar_plan_has_text(&plan->accept, "delta")};
    cellar_charged_set set = {.prepared = b->prepared,
                              .n = b->n,
                              .certificate = b->design->certificate,
                              .delta = b->design->delta,
                              .form = "cube 1",
                              .place = {.path = plan->universe.file},
                              .write = write_cube,
                              .context = b};
    cellar_text what = {0};
    cellar_spend_result spent = {.state = CELLAR_CHARGE_NONE};
    cellar_status status = CELLAR_OK;

    if (plan->ledger.file == NULL) {
        out->is_new = 1;
        return cellar_charged_draw(&set, plan->universe.file, NULL, err);
    }
    CELLAR_TRY(cellar_ledger_open_file(plan->ledger.file, plan->ledger.key, &b->ledger, err));
    cellar_text_printf(&what, "cube of %zu measured tables, plan %s", b->n, plan->digest);
    if (what.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a charge"));
    set.what = what.bytes;
    status = cellar_charged_spend(&set, b->ledger, &payment, &spent, err);
    out->is_new = spent.is_new;
    out->is_charged = spent.state != CELLAR_CHARGE_NONE;
    memcpy(out->stamp, spent.stamp, sizeof out->stamp);
out:
    cellar_text_clear(&what);
    return status;
}

static cellar_status check_place(const cellar_plan *plan, cellar_error *err)
{
    struct stat unused;
    return plan->ledger.file != NULL || lstat(plan->universe.file, &unused) != 0
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_EXISTS,
                             "%s: exists already, and a cube replaces nothing; choose another name",
                             plan->universe.file);
}

cellar_status cellar_cube_build(const cellar_cube_design *design,
                                const cellar_cube_build_options *options,
                                cellar_cube_build_result *out, cellar_error *err)
{
    const size_t n = design->cube->lattice.n;
    building b = {.design = design,
                  .options = options,
                  .table = cellar_alloc(n, sizeof *b.table),
                  .sets = cellar_alloc(n, sizeof *b.sets),
                  .sources = cellar_alloc(n, sizeof *b.sources),
                  .counts = cellar_alloc(n, sizeof *b.counts),
                  .prepared = cellar_alloc(n, sizeof *b.prepared)};
    cellar_status status = CELLAR_OK;

    *out = (cellar_cube_build_result){0};
    if (b.table == NULL || b.sets == NULL || b.sources == NULL || b.counts == NULL ||
        b.prepared == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
    CELLAR_TRY(check_place(design->plan, err));
    CELLAR_TRY(prepare(&b, err));
    CELLAR_TRY(spend(&b, out, err));
out:
    for (size_t i = 0; i < b.n; i++) {
        cellar_prepared_free(b.prepared[i]);
        cellar_table_free(b.counts[i]);
    }
    for (size_t s = 0; s < b.n_sets; s++)
        cellar_table_free(b.sources[s]);
    cellar_ledger_close(b.ledger);
    cellar_free(b.table);
    cellar_free(b.sets);
    cellar_free(b.sources);
    cellar_free(b.counts);
    cellar_free(b.prepared);
    return status;
}
