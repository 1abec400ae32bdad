/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spreadsheets (ECMA-376) with two sheets: the table, and what is to be known about it. They are
 * made in memory, without temporary files, and the same answer makes the same bytes. Texts are
 * cells of type text, which no program takes for formulas. */
#include "base/error.h"
#include "report/markup.h"
#include "serve/formats.h"
#include "serve/zip.h"
#include "table/formats/sheet.h"

#define XLSX_XML "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define XLSX_MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define XLSX_RELATIONS "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define XLSX_PACKAGE "http://schemas.openxmlformats.org/package/2006"
#define XLSX_TYPE "application/vnd.openxmlformats-officedocument.spreadsheetml."

enum {
    XLSX_MAX_ROWS = 1048576,
    XLSX_MAX_COLUMNS = 16384,
    XLSX_PLAIN = 0, /* styles */
    XLSX_BOLD = 1,
    XLSX_NUMBER = 2, /* and one more for each decimal */
    XLSX_FIRST_FORMAT = 164,
    XLSX_N_DECIMALS = CELLAR_SHEET_MAX_DECIMALS + 1
};

/* ---- cells ------------------------------------------------------------------ */

/* Where the next cell goes, both from 0. */
typedef struct xlsx_place {
    cellar_text *out;
    size_t row, column;
} xlsx_place;

/* "A" to "XFD". */
static void xlsx_add_column_name(cellar_text *out, size_t column)
{
    char name[4];
    size_t n = sizeof name;
    do {
        name[--n] = (char) ('A' + column % 26);
        column = column / 26;
    } while (column-- > 0 && n > 0);
    cellar_text_add(out, name + n, sizeof name - n);
}

static void xlsx_open_cell(xlsx_place *place, int style)
{
    cellar_text_add_string(place->out, "<c r=\"");
    xlsx_add_column_name(place->out, place->column++);
    cellar_text_printf(place->out, "%zu\" s=\"%d\"", place->row + 1, style);
}

/* Nothing is an empty cell, which need not be written. */
static void xlsx_add_text(xlsx_place *place, int style, const char *text)
{
    if (text[0] == '\0') {
        place->column++;
        return;
    }
    xlsx_open_cell(place, style);
    cellar_text_add_string(place->out, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    cellar_markup_add(place->out, text);
    cellar_text_add_string(place->out, "</t></is></c>");
}

/* Takes the text that was gathered. */
static void xlsx_add_gathered(xlsx_place *place, int style, cellar_text *gathered)
{
    if (gathered->failed)
        place->out->failed = 1;
    else
        xlsx_add_text(place, style, gathered->length > 0 ? gathered->bytes : "");
    cellar_text_reset(gathered);
}

static void xlsx_open_row(xlsx_place *place)
{
    cellar_text_printf(place->out, "<row r=\"%zu\">", place->row + 1);
    place->column = 0;
}

static void xlsx_close_row(xlsx_place *place)
{
    cellar_text_add_string(place->out, "</row>\n");
    place->row++;
}

static void xlsx_open_sheet(cellar_text *out)
{
    cellar_text_add_string(out, XLSX_XML "<worksheet xmlns=\"" XLSX_MAIN "\"><sheetData>\n");
}

static void xlsx_close_sheet(cellar_text *out)
{
    cellar_text_add_string(out, "</sheetData></worksheet>\n");
}

/* ---- the table ---------------------------------------------------------------- */

/* A row of headings for each variable of the heading; the last has the names of the stub, too. */
static void xlsx_add_headings(const serve_grid *grid, const serve_format_options *options,
                              xlsx_place *place)
{
    cellar_text text = {0};
    size_t positions[SERVE_MAX_AXES];
    const size_t n_levels = grid->n_axes > grid->n_stub ? grid->n_axes - grid->n_stub : 1;

    for (size_t level = 0; level < n_levels; level++) {
        xlsx_open_row(place);
        for (size_t a = 0; a < grid->n_stub; a++) {
            if (level + 1 == n_levels)
                serve_heading_add(options, grid->axes[a].code, grid->axes[a].label, &text);
            xlsx_add_gathered(place, XLSX_BOLD, &text);
        }
        if (grid->n_stub == grid->n_axes)
            xlsx_add_text(place, XLSX_BOLD, SERVE_VALUE_HEADING);
        for (size_t column = 0; grid->n_stub < grid->n_axes && column < grid->n_columns; column++) {
            serve_grid_positions(grid, grid->n_stub, grid->n_axes, column, positions);
            const serve_heading heading =
                serve_grid_heading(grid, grid->n_stub + level, positions[grid->n_stub + level]);
            serve_heading_add(options, heading.code, heading.label, &text);
            xlsx_add_gathered(place, XLSX_BOLD, &text);
        }
        xlsx_close_row(place);
    }
    cellar_text_clear(&text);
}

static void xlsx_add_value(const serve_grid *grid, size_t index, xlsx_place *place)
{
    const serve_number number = serve_grid_number(grid, index);
    if (!number.has_number) {
        xlsx_add_text(place, XLSX_PLAIN, serve_number_symbol(&number));
        return;
    }
    xlsx_open_cell(place, XLSX_NUMBER + serve_grid_shown(grid, index).decimals);
    cellar_text_add_string(place->out, "><v>");
    serve_number_add(&number, place->out);
    cellar_text_add_string(place->out, "</v></c>");
}

static void xlsx_add_rows(const serve_grid *grid, const serve_format_options *options,
                          xlsx_place *place)
{
    cellar_text text = {0};
    size_t positions[SERVE_MAX_AXES];
    for (size_t row = 0; row < grid->n_rows && !place->out->failed; row++) {
        xlsx_open_row(place);
        serve_grid_positions(grid, 0, grid->n_stub, row, positions);
        for (size_t a = 0; a < grid->n_stub; a++) {
            const serve_heading heading = serve_grid_heading(grid, a, positions[a]);
            serve_heading_add(options, heading.code, heading.label, &text);
            xlsx_add_gathered(place, XLSX_BOLD, &text);
        }
        for (size_t column = 0; column < grid->n_columns; column++)
            xlsx_add_value(grid, row * grid->n_columns + column, place);
        xlsx_close_row(place);
    }
    cellar_text_clear(&text);
}

static void xlsx_add_title(const serve_grid *grid, xlsx_place *place)
{
    cellar_text title = {0};
    xlsx_open_row(place);
    serve_grid_add_title(grid, &title);
    xlsx_add_gathered(place, XLSX_BOLD, &title);
    xlsx_close_row(place);
    place->row++; /* an empty one */
    cellar_text_clear(&title);
}

static void xlsx_hear(void *context, const char *name, const char *part, const char *text)
{
    xlsx_place *place = context;
    xlsx_open_row(place);
    xlsx_add_text(place, XLSX_BOLD, name);
    xlsx_add_text(place, XLSX_PLAIN, part != NULL ? part : "");
    xlsx_add_text(place, XLSX_PLAIN, text);
    xlsx_close_row(place);
}

/* ---- the package -------------------------------------------------------------- */

static void xlsx_add_fixed(serve_zip *zip, const char *name, const char *content)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, content);
    serve_zip_add(zip, name, &text);
    cellar_text_clear(&text);
}

/* Bold, and numbers with 0 to 9 decimals. */
static void xlsx_add_styles(serve_zip *zip)
{
    cellar_text text = {0};
    cellar_text_printf(&text, XLSX_XML "<styleSheet xmlns=\"" XLSX_MAIN "\"><numFmts count=\"%d\">",
                       (int) XLSX_N_DECIMALS);
    for (int d = 0; d < XLSX_N_DECIMALS; d++)
        cellar_text_printf(&text, "<numFmt numFmtId=\"%d\" formatCode=\"#,##0%s%.*s\"/>",
                           XLSX_FIRST_FORMAT + d, d > 0 ? "." : "", d, "000000000");
    cellar_text_add_string(
        &text, "</numFmts><fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>"
               "<font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>"
               "<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>"
               "<fill><patternFill patternType=\"gray125\"/></fill></fills>"
               "<borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border>"
               "</borders><cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" "
               "borderId=\"0\"/></cellStyleXfs>");
    cellar_text_printf(&text,
                       "<cellXfs count=\"%d\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" "
                       "borderId=\"0\" xfId=\"0\"/><xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" "
                       "borderId=\"0\" xfId=\"0\" applyFont=\"1\"/>",
                       XLSX_NUMBER + XLSX_N_DECIMALS);
    for (int d = 0; d < XLSX_N_DECIMALS; d++)
        cellar_text_printf(&text,
                           "<xf numFmtId=\"%d\" fontId=\"0\" fillId=\"0\" borderId=\"0\" "
                           "xfId=\"0\" applyNumberFormat=\"1\"/>",
                           XLSX_FIRST_FORMAT + d);
    cellar_text_add_string(&text, "</cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" "
                                  "xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>\n");
    serve_zip_add(zip, "xl/styles.xml", &text);
    cellar_text_clear(&text);
}

static void xlsx_add_parts(serve_zip *zip)
{
    xlsx_add_fixed(zip, "[Content_Types].xml",
                   XLSX_XML
                   "<Types xmlns=\"" XLSX_PACKAGE "/content-types\">"
                   "<Default Extension=\"rels\" "
                   "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
                   "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
                   "<Override PartName=\"/xl/workbook.xml\" ContentType=\"" XLSX_TYPE
                   "sheet.main+xml\"/>"
                   "<Override PartName=\"/xl/worksheets/sheet1.xml\" ContentType=\"" XLSX_TYPE
                   "worksheet+xml\"/>"
                   "<Override PartName=\"/xl/worksheets/sheet2.xml\" ContentType=\"" XLSX_TYPE
                   "worksheet+xml\"/>"
                   "<Override PartName=\"/xl/styles.xml\" ContentType=\"" XLSX_TYPE "styles+xml\"/>"
                   "</Types>\n");
    xlsx_add_fixed(zip, "_rels/.rels",
                   XLSX_XML "<Relationships xmlns=\"" XLSX_PACKAGE "/relationships\">"
                            "<Relationship Id=\"rId1\" Type=\"" XLSX_RELATIONS
                            "/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>\n");
    xlsx_add_fixed(zip, "xl/workbook.xml",
                   XLSX_XML "<workbook xmlns=\"" XLSX_MAIN "\" xmlns:r=\"" XLSX_RELATIONS
                            "\"><sheets><sheet name=\"Table\" sheetId=\"1\" r:id=\"rId1\"/>"
                            "<sheet name=\"About\" sheetId=\"2\" r:id=\"rId2\"/></sheets>"
                            "</workbook>\n");
    xlsx_add_fixed(zip, "xl/_rels/workbook.xml.rels",
                   XLSX_XML "<Relationships xmlns=\"" XLSX_PACKAGE "/relationships\">"
                            "<Relationship Id=\"rId1\" Type=\"" XLSX_RELATIONS
                            "/worksheet\" Target=\"worksheets/sheet1.xml\"/>"
                            "<Relationship Id=\"rId2\" Type=\"" XLSX_RELATIONS
                            "/worksheet\" Target=\"worksheets/sheet2.xml\"/>"
                            "<Relationship Id=\"rId3\" Type=\"" XLSX_RELATIONS
                            "/styles\" Target=\"styles.xml\"/></Relationships>\n");
    xlsx_add_styles(zip);
}

static void xlsx_add_table(const serve_grid *grid, const serve_format_options *options,
                           serve_zip *zip)
{
    cellar_text sheet = {0};
    xlsx_place place = {.out = &sheet};
    xlsx_open_sheet(&sheet);
    xlsx_add_title(grid, &place);
    xlsx_add_headings(grid, options, &place);
    xlsx_add_rows(grid, options, &place);
    xlsx_close_sheet(&sheet);
    serve_zip_add(zip, "xl/worksheets/sheet1.xml", &sheet);
    cellar_text_clear(&sheet);
}

static void xlsx_add_about(const serve_grid *grid, serve_zip *zip)
{
    cellar_text sheet = {0};
    xlsx_place place = {.out = &sheet};
    xlsx_open_sheet(&sheet);
    serve_grid_state(grid, xlsx_hear, &place);
    xlsx_close_sheet(&sheet);
    serve_zip_add(zip, "xl/worksheets/sheet2.xml", &sheet);
    cellar_text_clear(&sheet);
}

cellar_status serve_write_xlsx(const serve_answer *answer, const serve_format_options *options,
                               cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    serve_zip zip;

    serve_grid_init(&grid, answer->question, answer);
    if (grid.n_rows + grid.n_axes + 2 > XLSX_MAX_ROWS ||
        grid.n_columns + grid.n_stub > XLSX_MAX_COLUMNS)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "a spreadsheet holds at most %d rows and %d columns; ask for csv",
                           (int) XLSX_MAX_ROWS, (int) XLSX_MAX_COLUMNS);
    serve_zip_init(&zip, out);
    xlsx_add_parts(&zip);
    xlsx_add_table(&grid, options, &zip);
    xlsx_add_about(&grid, &zip);
    serve_zip_end(&zip);
    return out->failed ? cellar_fail_memory(err, "a spreadsheet") : CELLAR_OK;
}
