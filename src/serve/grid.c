/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/grid.h"

#include <math.h>
#include <string.h>

#include "serve/source.h"
#include "table/formats/px.h"

/* ---- headings --------------------------------------------------------------- */

static const char *grid_text(const serve_grid *grid, serve_texts texts)
{
    return texts.in != NULL ? texts.in[grid->question->language] : NULL;
}

static void grid_add_axis(serve_grid *grid, serve_axis axis)
{
    if (grid->n_axes < grid->n_stub)
        grid->n_rows *= axis.n;
    else
        grid->n_columns *= axis.n;
    grid->axes[grid->n_axes++] = axis;
}

static serve_axis grid_axis(const serve_grid *grid, const serve_side *side)
{
    const serve_variable *variable = &grid->question->dataset->variables[side->variable];
    return (serve_axis){.code = variable->code,
                        .label = grid_text(grid, variable->label),
                        .note = grid_text(grid, variable->note),
                        .role = variable->role,
                        .n = side->n_picks,
                        .side = side};
}

void serve_grid_init(serve_grid *grid, const serve_question *question, const serve_answer *answer)
{
    const serve_axis contents = {.code = SERVE_CONTENTS_CODE,
                                 .label =
                                     serve_contents_label(question->dataset, question->language),
                                 .n = question->n_contents};
    *grid = (serve_grid){.question = question,
                         .answer = answer,
                         .n_stub = question->n_stub,
                         .n_rows = 1,
                         .n_columns = 1,
                         .n_inner = 1};
    for (size_t s = 0; s <= question->n_sides; s++) {
        if (s == question->contents_at)
            grid_add_axis(grid, contents);
        if (s == question->n_sides)
            break;
        if (s >= question->contents_at)
            grid->n_inner *= question->sides[s].n_picks;
        grid_add_axis(grid, grid_axis(grid, &question->sides[s]));
    }
}

serve_texts serve_content_texts(const serve_dataset *dataset, serve_content content)
{
    return content == SERVE_COUNT ? dataset->counted : dataset->content_labels[content];
}

const char *serve_contents_label(const serve_dataset *dataset, size_t language)
{
    return dataset->contents_label.in != NULL ? dataset->contents_label.in[language] : "contents";
}

const char *serve_content_label(const serve_dataset *dataset, serve_content content,
                                size_t language)
{
    const serve_texts texts = serve_content_texts(dataset, content);
    static const char *const labels[SERVE_N_CONTENTS] = {
        [SERVE_COUNT] = "count",
        [SERVE_SE] = "standard error of the protection noise",
        [SERVE_LOW] = "lower bound (95 %, protection noise)",
        [SERVE_HIGH] = "upper bound (95 %, protection noise)",
    };
    return texts.in != NULL ? texts.in[language] : labels[content];
}

/* A category carries its note; a group that a user made has none. */
static const char *grid_pick_note(const serve_grid *grid, const serve_axis *axis,
                                  const serve_pick *pick)
{
    const serve_variable *variable = &grid->question->dataset->variables[axis->side->variable];
    if (pick->n_members != 1)
        return NULL;
    return grid_text(grid, variable->levels[pick->level - 1].categories[pick->members[0]].note);
}

serve_heading serve_grid_heading(const serve_grid *grid, size_t axis, size_t position)
{
    const serve_question *question = grid->question;
    const serve_axis *at = &grid->axes[axis];
    if (at->side == NULL) {
        const serve_content content = question->contents[position];
        return (serve_heading){
            .code = serve_content_code(content),
            .label = serve_content_label(question->dataset, content, question->language),
            .note = content == SERVE_COUNT ? NULL : SERVE_INTERVAL_NOTE};
    }
    return (serve_heading){.code = at->side->picks[position].code,
                           .label = at->side->picks[position].label,
                           .note = grid_pick_note(grid, at, &at->side->picks[position])};
}

void serve_grid_positions(const serve_grid *grid, size_t first, size_t last, size_t index,
                          size_t *positions)
{
    while (last-- > first) {
        positions[last] = index % grid->axes[last].n;
        index /= grid->axes[last].n;
    }
}

/* ---- values ----------------------------------------------------------------- */

/* Rounds to whole units: bounds outward, the others to the nearest. What is a whole number but for
 * the rounding of doubles stays it. */
static double grid_round(serve_content content, double scaled)
{
    const double tolerance = 1e-6;
    if (content == SERVE_LOW)
        return floor(scaled + tolerance);
    if (content == SERVE_HIGH)
        return ceil(scaled - tolerance);
    return round(scaled);
}

size_t serve_grid_index(const serve_grid *grid, size_t cell, size_t content)
{
    const size_t inner = cell % grid->n_inner, outer = cell / grid->n_inner;
    return (outer * grid->question->n_contents + content) * grid->n_inner + inner;
}

static serve_number grid_number(const serve_grid *grid, size_t index, const int *decimals)
{
    const size_t n_contents = grid->question->n_contents;
    const size_t inner = index % grid->n_inner, rest = index / grid->n_inner;
    const serve_content content = grid->question->contents[rest % n_contents];
    const serve_value *value = &grid->answer->values[rest / n_contents * grid->n_inner + inner];
    const double shown[SERVE_N_CONTENTS] = {value->count, value->se, value->low, value->high};
    serve_number number = {.status = value->status, .decimals = decimals[content]};
    double scaled = shown[content];

    for (int d = 0; d < number.decimals; d++)
        scaled *= 10;
    if (value->status != CELLAR_CELL_SUPPRESSED && value->status != CELLAR_CELL_NOT_AVAILABLE &&
        fabs(scaled) < 1e30) { /* false for NAN */
        number.has_number = 1;
        number.units = (cellar_int128) grid_round(content, scaled);
    }
    return number;
}

serve_number serve_grid_number(const serve_grid *grid, size_t index)
{
    return grid_number(grid, index, grid->answer->decimals);
}

serve_number serve_grid_shown(const serve_grid *grid, size_t index)
{
    return grid_number(grid, index, grid->answer->shown_decimals);
}

void serve_number_add(const serve_number *number, cellar_text *text)
{
    cellar_text_add_decimal(text, number->units, number->decimals);
}

const char *serve_number_symbol(const serve_number *number)
{
    return cellar_px_symbol(number->status != CELLAR_CELL_NORMAL ? number->status
                                                                 : CELLAR_CELL_NOT_AVAILABLE);
}

/* Before there is an answer the source knows. */
int serve_grid_content_decimals(const serve_grid *grid, serve_content content)
{
    return grid->answer != NULL ? grid->answer->decimals[content]
                                : grid->question->dataset->source->decimals[content];
}

int serve_grid_decimals(const serve_grid *grid)
{
    int most = 0;
    for (size_t i = 0; i < grid->question->n_contents; i++) {
        const int decimals = serve_grid_content_decimals(grid, grid->question->contents[i]);
        most = decimals > most ? decimals : most;
    }
    return most;
}

/* ---- what every format says ------------------------------------------------- */

static void grid_say(serve_listener *say, void *context, const char *name, const char *text)
{
    if (text != NULL && text[0] != '\0')
        say(context, name, NULL, text);
}

void serve_grid_state_protection(const serve_grid *grid, serve_listener *say, void *context)
{
    const serve_answer *answer = grid->answer;
    grid_say(say, context, "Protection", answer != NULL ? answer->guarantee : NULL);
    grid_say(say, context, "Protected unit", grid->question->dataset->unit);
    grid_say(say, context, "Values", answer != NULL ? answer->origin : NULL);
    grid_say(say, context, "Certificate", answer != NULL ? answer->certificate_id : NULL);
    grid_say(say, context, "Standard errors and bounds", SERVE_INTERVAL_NOTE);
}

static void grid_state_notes(const serve_grid *grid, serve_listener *say, void *context)
{
    for (size_t a = 0; a < grid->n_axes; a++) {
        const serve_axis *axis = &grid->axes[a];
        grid_say(say, context, axis->label, axis->note);
        for (size_t i = 0; axis->side != NULL && i < axis->n; i++) {
            const serve_heading heading = serve_grid_heading(grid, a, i);
            if (heading.note != NULL)
                say(context, axis->label, heading.label, heading.note);
        }
    }
    serve_cell_notes_state(grid, say, context);
}

void serve_grid_state(const serve_grid *grid, serve_listener *say, void *context)
{
    const serve_dataset *dataset = grid->question->dataset;
    serve_grid_state_protection(grid, say, context);
    grid_say(say, context, "Source", grid_text(grid, dataset->source_name));
    grid_say(say, context, "Last updated", dataset->updated);
    grid_say(say, context, "Next update", dataset->next_update);
    grid_say(say, context, "Contact", grid_text(grid, dataset->contact));
    grid_say(say, context, "Note", grid_text(grid, dataset->note));
    grid_state_notes(grid, say, context);
}

static void grid_hear(void *context, const char *name, const char *part, const char *text)
{
    cellar_text *line = context;
    cellar_text_printf(line, "%s%s%s%s: %s", line->length > 0 ? " | " : "", name,
                       part != NULL ? ", " : "", part != NULL ? part : "", text);
}

void serve_grid_add_statements(const serve_grid *grid, cellar_text *text)
{
    serve_grid_state(grid, grid_hear, text);
}

void serve_grid_add_title(const serve_grid *grid, cellar_text *text)
{
    const char *lead = ": ";
    cellar_text_add_string(text, grid_text(grid, grid->question->dataset->title));
    for (size_t a = 0; a < grid->n_axes; a++)
        if (grid->axes[a].side != NULL) {
            cellar_text_add_string(text, lead);
            cellar_text_add_string(text, grid->axes[a].label);
            lead = ", ";
        }
}
