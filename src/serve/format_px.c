/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PC-Axis, in the language of the question. The notes say what must travel with the values. */
#include <string.h>

#include "base/error.h"
#include "serve/cell_notes.h"
#include "serve/formats.h"
#include "table/formats/px.h"
#include "table/formats/px_pieces.h"

typedef struct px_writer {
    const serve_grid *grid;
    cellar_px_names names; /* of the axes */
    cellar_text *out;
} px_writer;

static const char *px_text(const px_writer *writer, serve_texts texts)
{
    return texts.in != NULL ? texts.in[writer->grid->question->language] : NULL;
}

static void px_add_if(const px_writer *writer, const char *keyword, const char *text)
{
    if (text != NULL && text[0] != '\0')
        cellar_px_add_entry(writer->out, keyword, "", NULL, text);
}

static void px_add_date_if(const px_writer *writer, const char *keyword, const char *date)
{
    if (date != NULL && strlen(date) >= sizeof "2026-11-18" - 1)
        cellar_px_add_date(writer->out, keyword, "", date);
}

static int px_name_axes(px_writer *writer)
{
    for (size_t a = 0; a < writer->grid->n_axes; a++) {
        const serve_axis *axis = &writer->grid->axes[a];
        if (!cellar_px_names_add(&writer->names, axis->label[0] != '\0' ? axis->label : axis->code))
            return 0;
    }
    return 1;
}

static void px_add_head(const px_writer *writer)
{
    const serve_grid *grid = writer->grid;
    const serve_dataset *dataset = grid->question->dataset;
    int shown = 0;
    for (size_t i = 0; i < grid->question->n_contents; i++) {
        const int decimals = grid->answer->shown_decimals[grid->question->contents[i]];
        shown = decimals > shown ? decimals : shown;
    }
    cellar_px_add_entry(writer->out, "CHARSET", "", NULL, "ANSI");
    cellar_px_add_entry(writer->out, "AXIS-VERSION", "", NULL, "2013");
    cellar_px_add_entry(writer->out, "CODEPAGE", "", NULL, "utf-8");
    cellar_px_add_entry(writer->out, "LANGUAGE", "", NULL,
                        dataset->languages[grid->question->language]);
    px_add_date_if(writer, "CREATION-DATE", dataset->updated);
    px_add_date_if(writer, "NEXT-UPDATE", dataset->next_update);
    cellar_text_printf(writer->out, "DECIMALS=%d;%sSHOWDECIMALS=%d;%s", serve_grid_decimals(grid),
                       CELLAR_PX_LINE_END, shown, CELLAR_PX_LINE_END);
    cellar_px_add_entry(writer->out, "MATRIX", "", NULL, dataset->id);
    cellar_text_printf(writer->out, "AGGREGALLOWED=NO;%s", CELLAR_PX_LINE_END);
    cellar_px_add_entry(writer->out, "SUBJECT-CODE", "", NULL, dataset->id);
}

static void px_add_title(const px_writer *writer)
{
    cellar_text title = {0};
    serve_grid_add_title(writer->grid, &title);
    if (title.failed)
        writer->out->failed = 1;
    else
        cellar_px_add_entry(writer->out, "TITLE", "", NULL, title.bytes);
    cellar_text_clear(&title);
}

/* The headings of an axis, as labels or as codes. */
static void px_add_headings(const px_writer *writer, size_t a, const char *keyword, int codes)
{
    cellar_px_add_keyword(writer->out, keyword, "", writer->names.names[a].bytes);
    for (size_t i = 0; i < writer->grid->axes[a].n; i++) {
        const serve_heading heading = serve_grid_heading(writer->grid, a, i);
        cellar_px_add_comma(writer->out, i);
        cellar_px_add_string(writer->out, codes ? heading.code : heading.label);
    }
    cellar_px_end(writer->out);
}

/* A keyword about one heading: KEYWORD("variable","value")= ; without an axis KEYWORD("value")= .
 */
static void px_add_about(const px_writer *writer, const char *keyword, size_t a,
                         const char *heading, const char *value)
{
    cellar_text name = {0};
    if (a != SIZE_MAX)
        cellar_text_printf(&name, "%s\",\"", writer->names.names[a].bytes);
    cellar_px_add_plain(&name, heading);
    if (name.failed)
        writer->out->failed = 1;
    else
        cellar_px_add_entry(writer->out, keyword, "", name.length > 0 ? name.bytes : "", value);
    cellar_text_clear(&name);
}

static void px_add_contents(const px_writer *writer, size_t a)
{
    const serve_question *question = writer->grid->question;
    const char *counted = serve_content_label(question->dataset, SERVE_COUNT, question->language);
    cellar_px_add_entry(writer->out, "CONTVARIABLE", "", NULL, writer->names.names[a].bytes);
    for (size_t i = 0; i < question->n_contents; i++)
        px_add_about(writer, "UNITS", SIZE_MAX, serve_grid_heading(writer->grid, a, i).label,
                     counted);
}

static void px_add_axes(const px_writer *writer)
{
    const serve_grid *grid = writer->grid;
    cellar_px_add_names(writer->out, "STUB", "", &writer->names, 0, grid->n_stub);
    cellar_px_add_names(writer->out, "HEADING", "", &writer->names, grid->n_stub, grid->n_axes);
    for (size_t a = 0; a < grid->n_axes; a++)
        if (grid->axes[a].side == NULL)
            px_add_contents(writer, a);
    for (size_t a = 0; a < grid->n_axes; a++)
        px_add_headings(writer, a, "VALUES", 0);
    for (size_t a = 0; a < grid->n_axes; a++)
        px_add_headings(writer, a, "CODES", 1);
    for (size_t a = 0; a < grid->n_axes; a++) {
        const serve_role role = grid->axes[a].role;
        const char *name = writer->names.names[a].bytes;
        cellar_px_add_entry(writer->out, "VARIABLECODE", "", name, grid->axes[a].code);
        if (role != SERVE_ROLE_PLAIN)
            cellar_px_add_entry(writer->out, "VARIABLE-TYPE", "", name,
                                role == SERVE_ROLE_TIME ? "Time" : "Geographical");
    }
}

/* ---- notes ------------------------------------------------------------------ */

static void px_hear(void *note, const char *name, const char *part, const char *text)
{
    (void) part; /* protection has none */
    cellar_text_printf(note, "%s%s: %s", ((cellar_text *) note)->length > 0 ? "#" : "", name, text);
}

static void px_add_notes(const px_writer *writer)
{
    const serve_grid *grid = writer->grid;
    const char *remark = px_text(writer, grid->question->dataset->note);
    cellar_text note = {0};
    serve_grid_state_protection(grid, px_hear, &note);
    if (remark != NULL)
        cellar_text_printf(&note, "#%s", remark);
    if (note.failed)
        writer->out->failed = 1;
    else
        cellar_px_add_entry(writer->out, "NOTEX", "", NULL, note.bytes);
    cellar_text_clear(&note);
    for (size_t a = 0; a < grid->n_axes; a++) {
        if (grid->axes[a].note != NULL)
            cellar_px_add_entry(writer->out, "NOTE", "", writer->names.names[a].bytes,
                                grid->axes[a].note);
        for (size_t i = 0; i < grid->axes[a].n; i++) {
            const serve_heading heading = serve_grid_heading(grid, a, i);
            if (heading.note != NULL)
                px_add_about(writer, "VALUENOTE", a, heading.label, heading.note);
        }
    }
}

/* CELLNOTE("value","*",...)=: a value of each axis, or all. */
static void px_add_cell_notes(const px_writer *writer)
{
    const serve_grid *grid = writer->grid;
    const serve_dataset *dataset = grid->question->dataset;
    size_t positions[SERVE_MAX_AXES];
    for (size_t i = 0; i < dataset->n_cell_notes; i++) {
        const serve_cell_note *note = &dataset->cell_notes[i];
        cellar_text name = {0};
        if (!serve_cell_note_fits(grid, note, positions))
            continue;
        for (size_t a = 0; a < grid->n_axes; a++) {
            cellar_text_add_string(&name, a > 0 ? "\",\"" : "");
            cellar_px_add_plain(&name, positions[a] != SIZE_MAX
                                           ? serve_grid_heading(grid, a, positions[a]).label
                                           : "*");
        }
        if (name.failed)
            writer->out->failed = 1;
        else
            cellar_px_add_entry(writer->out, "CELLNOTE", "", name.bytes,
                                px_text(writer, note->text));
        cellar_text_clear(&name);
    }
}

/* ---- data ------------------------------------------------------------------- */

static void px_add_data(const px_writer *writer)
{
    const serve_grid *grid = writer->grid;
    cellar_text_add_string(writer->out, "DATA=");
    for (size_t i = 0; i < grid->n_rows * grid->n_columns; i++) {
        const serve_number number = serve_grid_number(grid, i);
        if (i % grid->n_columns == 0)
            cellar_text_add_string(writer->out, CELLAR_PX_LINE_END);
        if (number.has_number)
            serve_number_add(&number, writer->out);
        else
            cellar_text_printf(writer->out, "\"%s\"", serve_number_symbol(&number));
        cellar_text_add_char(writer->out, ' ');
    }
    cellar_text_add_string(writer->out, CELLAR_PX_LINE_END);
    cellar_px_end(writer->out);
}

cellar_status serve_write_px(const serve_answer *answer, const serve_format_options *options,
                             cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    px_writer writer = {.grid = &grid, .out = out};
    const serve_dataset *dataset = answer->question->dataset;
    (void) options;

    serve_grid_init(&grid, answer->question, answer);
    if (!px_name_axes(&writer)) {
        cellar_px_names_clear(&writer.names);
        return cellar_fail_memory(err, "an answer in px");
    }
    px_add_head(&writer);
    cellar_px_add_entry(out, "SUBJECT-AREA", "", NULL, px_text(&writer, dataset->title));
    px_add_title(&writer);
    cellar_px_add_entry(out, "CONTENTS", "", NULL, px_text(&writer, dataset->title));
    px_add_if(&writer, "SOURCE", px_text(&writer, dataset->source_name));
    px_add_if(&writer, "CONTACT", px_text(&writer, dataset->contact));
    px_add_date_if(&writer, "LAST-UPDATED", dataset->updated);
    px_add_axes(&writer);
    cellar_px_add_symbols(out);
    px_add_notes(&writer);
    px_add_cell_notes(&writer);
    px_add_data(&writer);
    cellar_px_names_clear(&writer.names);
    return out->failed ? cellar_fail_memory(err, "an answer in px") : CELLAR_OK;
}
