/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PC-Axis. The keywords say all that px can say; a keyword of our own carries what it cannot, so
 * that the file reads back exactly. Nothing in it depends on the time it was written. */
#include "table/formats/format.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "table/formats/about.h"
#include "table/formats/csv_fields.h"
#include "table/formats/extension.h"
#include "table/formats/px.h"
#include "table/formats/px_pieces.h"

enum {
    PX_SHOWN_DECIMALS = 2 /* of estimates, which have noise in the first already */
};

/* ---- what describes the table ---------------------------------------------- */

/* The tag of a language; px needs a word for the unnamed one where there are several. */
static const char *px_language(const cellar_schema *schema, size_t language)
{
    const char *tag = cellar_schema_language(schema, language);
    return tag[0] == '\0' && cellar_schema_n_languages(schema) > 1 ? "und" : tag;
}

static void px_add_head(cellar_text *text, const cellar_sheet *sheet,
                        const cellar_table_write_options *options)
{
    const cellar_schema *schema = sheet->schema;
    size_t n = cellar_schema_n_languages(schema);

    cellar_px_add_entry(text, "CHARSET", "", NULL, "ANSI");
    cellar_px_add_entry(text, "AXIS-VERSION", "", NULL, "2013");
    cellar_px_add_entry(text, "CODEPAGE", "", NULL, "utf-8");
    if (n > 0 && px_language(schema, 0)[0] != '\0')
        cellar_px_add_entry(text, "LANGUAGE", "", NULL, px_language(schema, 0));
    if (n > 1) {
        cellar_px_add_keyword(text, "LANGUAGES", "", NULL);
        for (size_t l = 0; l < n; l++) {
            if (l > 0)
                cellar_text_add_char(text, ',');
            cellar_px_add_string(text, px_language(schema, l));
        }
        cellar_px_end(text);
    }
    if (options->updated != NULL)
        cellar_px_add_date(text, "CREATION-DATE", "", options->updated);
    cellar_text_printf(text, "DECIMALS=%d;%sSHOWDECIMALS=%d;%s", sheet->decimals,
                       CELLAR_PX_LINE_END,
                       sheet->decimals < PX_SHOWN_DECIMALS ? sheet->decimals : PX_SHOWN_DECIMALS,
                       CELLAR_PX_LINE_END);
    cellar_px_add_entry(text, "MATRIX", "", NULL,
                        options->matrix != NULL ? options->matrix : "CELLAR");
    cellar_px_add_entry(text, "SUBJECT-CODE", "", NULL, "CELLAR");
}

static void px_add_title(cellar_text *text, const cellar_sheet *sheet,
                         const cellar_table_write_options *options, const char *language,
                         const cellar_px_names *names)
{
    cellar_text title = {0};

    if (options->title != NULL)
        cellar_text_add_string(&title, options->title);
    else {
        cellar_text_add_string(&title, cellar_sheet_value_name(sheet->kind));
        for (size_t v = 0; v < names->n; v++)
            cellar_text_printf(&title, "%s%s", v == 0 ? " by " : ", ", names->names[v].bytes);
    }
    if (title.failed)
        text->failed = 1;
    else
        cellar_px_add_entry(text, "TITLE", language, NULL, title.bytes != NULL ? title.bytes : "");
    cellar_text_clear(&title);
}

/* The heading of an estimate: value and standard error. PCAxis.Core reads keywords in the order of
 * the file: the units of a value after the value. */
static void px_add_measure(cellar_text *text, const cellar_sheet *sheet, const char *units,
                           const char *language)
{
    const char *const parts[] = {cellar_sheet_value_name(sheet->kind), CELLAR_SHEET_ERROR_NAME};
    cellar_px_add_entry(text, "HEADING", language, NULL, CELLAR_SHEET_MEASURE_NAME);
    cellar_px_add_entry(text, "CONTVARIABLE", language, NULL, CELLAR_SHEET_MEASURE_NAME);
    cellar_px_add_keyword(text, "VALUES", language, CELLAR_SHEET_MEASURE_NAME);
    for (size_t i = 0; i < 2; i++) {
        cellar_px_add_comma(text, i);
        cellar_px_add_string(text, parts[i]);
    }
    cellar_px_end(text);
    for (size_t i = 0; i < 2; i++)
        cellar_px_add_entry(text, "UNITS", language, parts[i], units);
}

/* The keywords that each language has of its own. */
static void px_add_language(cellar_text *text, const cellar_sheet *sheet,
                            const cellar_table_write_options *options, size_t language,
                            const cellar_px_names *names)
{
    const cellar_schema *schema = sheet->schema;
    const char *tag = language == 0 ? "" : px_language(schema, language);
    const char *units = options->units != NULL ? options->units : "number";

    cellar_px_add_entry(text, "SUBJECT-AREA", tag, NULL, "Frequency table");
    px_add_title(text, sheet, options, tag, names);
    cellar_px_add_entry(text, "CONTENTS", tag, NULL, cellar_sheet_value_name(sheet->kind));
    cellar_px_add_entry(text, "UNITS", tag, NULL, units);
    if (options->updated != NULL)
        cellar_px_add_date(text, "LAST-UPDATED", tag, options->updated);
    if (options->source != NULL)
        cellar_px_add_entry(text, "SOURCE", tag, NULL, options->source);
    cellar_px_add_names(text, "STUB", tag, names, 0, names->n - (sheet->with_errors ? 0 : 1));
    if (sheet->with_errors)
        px_add_measure(text, sheet, units, tag);
    else
        cellar_px_add_names(text, "HEADING", tag, names, names->n - 1, names->n);
    for (size_t v = 0; v < names->n; v++) {
        cellar_px_add_keyword(text, "VALUES", tag, names->names[v].bytes);
        for (size_t c = 0; c < cellar_schema_n_categories(schema, v); c++) {
            cellar_px_add_comma(text, c);
            cellar_px_add_string(text, cellar_schema_label(schema, v, c, language));
        }
        cellar_px_end(text);
    }
}

static void px_add_codes(cellar_text *text, const cellar_schema *schema,
                         const cellar_px_names *names)
{
    for (size_t v = 0; v < names->n; v++) {
        size_t n = cellar_schema_n_categories(schema, v);
        cellar_px_add_keyword(text, "CODES", "", names->names[v].bytes);
        for (size_t c = 0; c < n; c++) {
            cellar_px_add_comma(text, c);
            cellar_px_add_string(text, cellar_schema_code(schema, v, c));
        }
        cellar_px_end(text);
        if (n > cellar_schema_n_leaves(schema, v) &&
            cellar_schema_role(schema, v, n - 1) == CELLAR_CODE_TOTAL)
            cellar_px_add_entry(text, "ELIMINATION", "", names->names[v].bytes,
                                cellar_schema_label(schema, v, n - 1, 0));
    }
}

static void px_add_roles(cellar_text *text, const cellar_schema *schema,
                         const cellar_table_write_options *options, const cellar_px_names *names)
{
    for (size_t i = 0; i < options->n_roles; i++) {
        size_t v = cellar_schema_find_variable(schema, options->roles[i].variable);
        cellar_px_add_entry(text, "VARIABLE-TYPE", "", names->names[v].bytes,
                            options->roles[i].role == CELLAR_ROLE_TIME ? "Time" : "Geographical");
    }
}

/* ---- notes ----------------------------------------------------------------- */

/* What people read: what the values are, where the proof is, and the user's remark. # begins a new
 * line in a note. */
static void px_add_note(cellar_text *text, const cellar_sheet *sheet, const char *remark)
{
    const char *const texts[] = {
        sheet->confidential ? CELLAR_ABOUT_CONFIDENTIAL : NULL, sheet->stamp,
        sheet->confidential                   ? NULL
        : sheet->kind == CELLAR_SHEET_RELEASE ? "Noise was added to protect people; the keyword "
                                                "CELLAR of this file holds the certificate."
                                              : "Computed from releases with noise; the keyword "
                                                "CELLAR of this file holds their certificates.",
        remark};
    cellar_text note = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL)
            cellar_text_printf(&note, "%s%s", note.length > 0 ? "#" : "", texts[i]);
    if (note.failed)
        text->failed = 1;
    else if (note.length > 0)
        cellar_px_add_entry(text, "NOTE", "", NULL, note.bytes);
    cellar_text_clear(&note);
}

/* JSON is escaped to ASCII, and then the three characters that a string in px cannot hold. */
static int px_add_note_bytes(const char *bytes, size_t length, void *note)
{
    static const char *const escapes[] = {['"'] = "%22", ['#'] = "%23", ['%'] = "%25"};
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char) bytes[i];
        const char *escape = c < sizeof escapes / sizeof *escapes ? escapes[c] : NULL;
        if (escape != NULL)
            cellar_text_add_string(note, escape);
        else
            cellar_text_add_char(note, bytes[i]);
    }
    return ((cellar_text *) note)->failed ? -1 : 0;
}

/* What Cellar reads. */
static cellar_status px_add_extension(cellar_text *text, const cellar_sheet *sheet,
                                      const cellar_table_write_options *options, cellar_error *err)
{
    cellar_extension_layout layout = {.statuses = 1, .about = options};
    cellar_text note = {0};
    json_t *extension;
    cellar_status status = cellar_extension_create(sheet, &layout, &extension, err);

    if (status != CELLAR_OK)
        return status;
    cellar_text_add_string(&note, CELLAR_PX_MARK);
    if (json_dump_callback(extension, px_add_note_bytes, &note, JSON_COMPACT | JSON_ENSURE_ASCII))
        status = cellar_fail_memory(err, "a description of the table");
    else {
        cellar_px_add_keyword(text, CELLAR_PX_KEYWORD, "", NULL);
        cellar_px_add_pieces(text, note.bytes, note.length);
        cellar_px_end(text);
    }
    json_decref(extension);
    cellar_text_clear(&note);
    return status;
}

/* ---- the data -------------------------------------------------------------- */

/* A number wherever there is one to show, a symbol where the status alone speaks. */
static void px_add_cell(cellar_text *text, const cellar_sheet_walk *walk)
{
    const cellar_sheet_cell *cell = &walk->cell;
    cellar_cell_status status = walk->in_table ? cell->status : CELLAR_CELL_NOT_AVAILABLE;
    int symbol = status != CELLAR_CELL_NORMAL &&
                 (cell->value == 0 || !cellar_sheet_shows(walk->sheet, cell));

    if (symbol) {
        cellar_text_add_char(text, '"');
        cellar_text_add_string(text, cellar_px_symbol(status));
        cellar_text_add_char(text, '"');
    } else
        cellar_sheet_add_value(walk->sheet, cell, text);
    cellar_text_add_char(text, ' ');
}

/* The standard error of a cell, which stands beside its value. */
static void px_add_error(cellar_text *text, const cellar_sheet_walk *walk)
{
    if (walk->in_table && walk->cell.se != CELLAR_SHEET_NO_ERROR)
        cellar_sheet_add_error(walk->sheet, &walk->cell, text);
    else
        cellar_text_printf(text, "\"%s\"", cellar_px_symbol(CELLAR_CELL_NOT_AVAILABLE));
    cellar_text_add_char(text, ' ');
}

static void px_write_data(cellar_sheet_walk *walk, size_t last, cellar_text *text,
                          cellar_output *output)
{
    int first = 1;
    cellar_text_add_string(text, "DATA=");
    for (; cellar_sheet_walk_next(walk); first = 0) {
        if (first || walk->categories[last] == 0)
            cellar_text_add_string(text, CELLAR_PX_LINE_END);
        px_add_cell(text, walk);
        if (walk->sheet->with_errors)
            px_add_error(text, walk);
        if (text->length >= CELLAR_CSV_FLUSH_BYTES)
            cellar_csv_flush(text, output);
    }
    cellar_text_add_string(text, CELLAR_PX_LINE_END);
    cellar_px_end(text);
}

cellar_status cellar_format_px_write(const cellar_sheet *sheet,
                                     const cellar_table_write_options *options,
                                     cellar_output *output, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_schema *schema = sheet->schema;
    cellar_px_names names = {0};
    cellar_sheet_walk walk;
    cellar_text text = {0};

    if (cellar_schema_n_variables(schema) == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a px file needs at least one variable");
    if (sheet->with_errors &&
        cellar_schema_find_variable(schema, CELLAR_SHEET_MEASURE_NAME) != CELLAR_NO_CODE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a variable called '%s' cannot be distinguished from the heading of "
                           "values and standard errors in a px file; rename the variable",
                           CELLAR_SHEET_MEASURE_NAME);
    CELLAR_TRY(cellar_sheet_walk_init(&walk, sheet, CELLAR_SHEET_INDICES, err));
    if (output == NULL)
        goto out;
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        if (!cellar_px_names_add(&names, cellar_schema_variable(schema, v))) {
            status = cellar_fail_memory(err, "the names of a table");
            goto out;
        }
    px_add_head(&text, sheet, options);
    px_add_language(&text, sheet, options, 0, &names);
    for (size_t l = 1; l < cellar_schema_n_languages(schema); l++)
        px_add_language(&text, sheet, options, l, &names);
    px_add_codes(&text, schema, &names);
    px_add_roles(&text, schema, options, &names);
    cellar_px_add_symbols(&text);
    px_add_note(&text, sheet, options->note);
    CELLAR_TRY(px_add_extension(&text, sheet, options, err));
    px_write_data(&walk, names.n - 1, &text, output);
    if (text.failed)
        status = cellar_fail_memory(err, "a px file");
    else
        cellar_csv_flush(&text, output);
out:
    cellar_px_names_clear(&names);
    cellar_text_clear(&text);
    return status;
}
