/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/cell_notes.h"

#include "base/error.h"
#include "serve/grid.h"

/* ---- reading ------------------------------------------------------------------------ */

static cellar_status read_cells(plan_reading *r, const plan_node *map, const serve_dataset *dataset,
                                serve_cell_note *out)
{
    if (map->kind != PLAN_NODE_MAP || map->first == NULL)
        return cellar_plan_fail_node(r, map, "'level: code' lines");
    for (const plan_node *node = map->first; node != NULL; node = node->next) {
        serve_table one;
        size_t v = 0, found;
        if (serve_table_parse(dataset, node->key, &one, NULL) != CELLAR_OK ||
            serve_table_n_variables(dataset, &one) != 1)
            return cellar_plan_fail_node(r, node, "a level of a variable before the colon");
        while (one.levels[v] == 0)
            v++;
        found =
            node->kind == PLAN_NODE_TEXT
                ? serve_find_category(&dataset->variables[v].levels[one.levels[v] - 1], node->text)
                : SIZE_MAX;
        if (found == SIZE_MAX || out->table.levels[v] != 0)
            return cellar_plan_fail_node(r, node, "one code of the level, of each variable once");
        out->table.levels[v] = one.levels[v];
        out->at[v] = (uint32_t) found;
    }
    return CELLAR_OK;
}

cellar_status serve_cell_notes_read(const serve_config *config, const serve_config_dataset *words,
                                    cellar_arena *arena, serve_dataset *dataset, cellar_error *err)
{
    const serve_config_cell_note *given = words->cell_notes.items;
    serve_cell_note *notes = cellar_arena_alloc(arena, words->cell_notes.n, sizeof *notes);
    plan_reading reading = serve_config_reading(config, err);
    cellar_status status = CELLAR_OK;
    if (notes == NULL)
        return cellar_fail_memory(err, "a data set");
    for (size_t i = 0; status == CELLAR_OK && i < words->cell_notes.n; i++) {
        cellar_text_reset(&reading.path);
        cellar_text_add_string(&reading.path, given[i].place.path);
        if (reading.path.failed)
            status = cellar_fail_memory(err, "a data set");
        if (status == CELLAR_OK)
            status = read_cells(&reading, given[i].cells, dataset, &notes[i]);
        if (status == CELLAR_OK)
            status = serve_texts_read(&reading, given[i].note, &config->languages, &notes[i].text);
    }
    cellar_text_clear(&reading.path);
    dataset->cell_notes = notes;
    dataset->n_cell_notes = words->cell_notes.n;
    return status;
}

/* ---- which cells -------------------------------------------------------------------- */

/* The position of a category on an axis; SIZE_MAX: it is not shown by itself. */
static size_t find_position(const serve_axis *axis, size_t level, uint32_t category)
{
    for (size_t p = 0; p < axis->side->n_picks; p++) {
        const serve_pick *pick = &axis->side->picks[p];
        if (pick->level == level && pick->n_members == 1 && pick->members[0] == category)
            return p;
    }
    return SIZE_MAX;
}

int serve_cell_note_fits(const serve_grid *grid, const serve_cell_note *note, size_t *positions)
{
    size_t n = 0;
    for (size_t a = 0; a < grid->n_axes; a++) {
        const serve_axis *axis = &grid->axes[a];
        const size_t level = axis->side != NULL ? note->table.levels[axis->side->variable] : 0;
        positions[a] = SIZE_MAX;
        if (level == 0)
            continue;
        positions[a] = find_position(axis, level, note->at[axis->side->variable]);
        if (positions[a] == SIZE_MAX)
            return 0;
        n++;
    }
    return n == serve_table_n_variables(grid->question->dataset, &note->table);
}

static void state_note(const serve_grid *grid, const serve_cell_note *note, const size_t *positions,
                       serve_listener *say, void *context)
{
    cellar_text cells = {0};
    for (size_t a = 0; a < grid->n_axes; a++)
        if (positions[a] != SIZE_MAX)
            cellar_text_printf(&cells, "%s%s", cells.length > 0 ? ", " : "",
                               serve_grid_heading(grid, a, positions[a]).label);
    say(context, "Cells", cells.failed ? NULL : cells.bytes,
        note->text.in[grid->question->language]);
    cellar_text_clear(&cells);
}

void serve_cell_notes_state(const serve_grid *grid, serve_listener *say, void *context)
{
    const serve_dataset *dataset = grid->question->dataset;
    size_t positions[SERVE_MAX_AXES];
    for (size_t i = 0; i < dataset->n_cell_notes; i++)
        if (serve_cell_note_fits(grid, &dataset->cell_notes[i], positions))
            state_note(grid, &dataset->cell_notes[i], positions, say, context);
}
