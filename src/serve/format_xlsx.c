/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spreadsheets of Excel (ECMA-376). They are made in memory, without temporary files, and the same
 * answer makes the same bytes. Texts are cells of type text, which no program takes for formulas.
 */
#include "base/error.h"
#include "report/markup.h"
#include "serve/book.h"
#include "serve/zip.h"
#include "table/formats/sheet.h"

#define XLSX_XML "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define XLSX_MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define XLSX_RELATIONS "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define XLSX_PACKAGE "http://schemas.openxmlformats.org/package/2006"
#define XLSX_TYPE "application/vnd.openxmlformats-officedocument.spreadsheetml."

enum {
    XLSX_PLAIN = SERVE_BOOK_PLAIN, /* styles */
    XLSX_BOLD = SERVE_BOOK_HEADING,
    XLSX_NUMBER = 2, /* and one more for each decimal */
    XLSX_FIRST_FORMAT = 164,
    XLSX_N_DECIMALS = CELLAR_SHEET_MAX_DECIMALS + 1
};

/* ---- cells ------------------------------------------------------------------ */

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

static void xlsx_open_cell(const serve_book_place *place, int style)
{
    cellar_text_add_string(place->out, "<c r=\"");
    xlsx_add_column_name(place->out, place->column);
    cellar_text_printf(place->out, "%zu\" s=\"%d\"", place->row + 1, style);
}

/* Nothing is an empty cell, which need not be written. */
static void xlsx_add_text(const serve_book_place *place, serve_book_style style, const char *text)
{
    if (text[0] == '\0')
        return;
    xlsx_open_cell(place, (int) style);
    cellar_text_add_string(place->out, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    cellar_markup_add(place->out, text);
    cellar_text_add_string(place->out, "</t></is></c>");
}

static void xlsx_add_number(const serve_book_place *place, const serve_number *number,
                            const serve_number *shown)
{
    xlsx_open_cell(place, XLSX_NUMBER + shown->decimals);
    cellar_text_add_string(place->out, "><v>");
    serve_number_add(number, place->out);
    cellar_text_add_string(place->out, "</v></c>");
}

static void xlsx_open_row(const serve_book_place *place)
{
    cellar_text_printf(place->out, "<row r=\"%zu\">", place->row + 1);
}

static void xlsx_close_row(const serve_book_place *place)
{
    cellar_text_add_string(place->out, "</row>\n");
}

/* ---- sheets ------------------------------------------------------------------- */

static void xlsx_open_sheet(const char *widths, size_t n, cellar_text *out)
{
    cellar_text_add_string(out, XLSX_XML "<worksheet xmlns=\"" XLSX_MAIN "\"><cols>");
    for (size_t i = 0; i < n; i++)
        cellar_text_printf(out, "<col min=\"%zu\" max=\"%zu\" width=\"%d\" customWidth=\"1\"/>",
                           i + 1, i + 1, (unsigned char) widths[i]);
    cellar_text_add_string(out, "</cols><sheetData>\n");
}

/* Takes the sheet whose rows `place` has written. */
static void xlsx_add_sheet(serve_zip *zip, const char *name, cellar_text *sheet)
{
    cellar_text_add_string(sheet, "</sheetData></worksheet>\n");
    serve_zip_add(zip, name, sheet);
    cellar_text_clear(sheet);
}

static serve_book_place xlsx_place(cellar_text *sheet)
{
    return (serve_book_place){.out = sheet,
                              .open_row = xlsx_open_row,
                              .text = xlsx_add_text,
                              .number = xlsx_add_number,
                              .close_row = xlsx_close_row};
}

static void xlsx_add_table(const serve_grid *grid, const serve_format_options *options,
                           serve_zip *zip)
{
    cellar_text sheet = {0}, widths = {0};
    serve_book_place place = xlsx_place(&sheet);
    serve_book_add_widths(grid, options, &widths);
    xlsx_open_sheet(widths.bytes, widths.length, &sheet);
    serve_book_add_lead(grid, &place);
    serve_book_add_headings(grid, options, &place);
    serve_book_add_rows(grid, options, &place);
    sheet.failed |= widths.failed;
    xlsx_add_sheet(zip, "xl/worksheets/sheet1.xml", &sheet);
    cellar_text_clear(&widths);
}

static void xlsx_add_about(const serve_grid *grid, serve_zip *zip)
{
    cellar_text sheet = {0};
    serve_book_place place = xlsx_place(&sheet);
    xlsx_open_sheet((const char *) serve_book_about_widths, SERVE_BOOK_N_ABOUT, &sheet);
    serve_book_add_about(grid, &place);
    xlsx_add_sheet(zip, "xl/worksheets/sheet2.xml", &sheet);
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

/* The headings are repeated on every page that is printed. */
static void xlsx_add_workbook(const serve_grid *grid, serve_zip *zip)
{
    cellar_text text = {0};
    cellar_text_add_string(
        &text,
        XLSX_XML "<workbook xmlns=\"" XLSX_MAIN "\" xmlns:r=\"" XLSX_RELATIONS
                 "\"><sheets><sheet name=\"" SERVE_BOOK_TABLE "\" sheetId=\"1\" r:id=\"rId1\"/>"
                 "<sheet name=\"" SERVE_BOOK_ABOUT "\" sheetId=\"2\" r:id=\"rId2\"/></sheets>"
                 "<definedNames><definedName name=\"_xlnm.Print_Titles\" "
                 "localSheetId=\"0\">");
    if (grid->n_stub > 0) {
        cellar_text_add_string(&text, SERVE_BOOK_TABLE "!$A:$");
        xlsx_add_column_name(&text, grid->n_stub - 1);
        cellar_text_add_char(&text, ',');
    }
    cellar_text_printf(
        &text, SERVE_BOOK_TABLE "!$%d:$%zu</definedName></definedNames></workbook>\n",
        SERVE_BOOK_LEAD_ROWS + 1, SERVE_BOOK_LEAD_ROWS + serve_book_n_headings(grid));
    serve_zip_add(zip, "xl/workbook.xml", &text);
    cellar_text_clear(&text);
}

/* What the file is called, and its language. */
static void xlsx_add_properties(const serve_grid *grid, serve_zip *zip)
{
    cellar_text text = {0}, title = {0};
    serve_grid_add_title(grid, &title);
    cellar_text_add_string(&text, XLSX_XML "<cp:coreProperties xmlns:cp=\"" XLSX_PACKAGE
                                           "/metadata/core-properties\" "
                                           "xmlns:dc=\"http://purl.org/dc/elements/1.1/\">"
                                           "<dc:title>");
    cellar_markup_add(&text, title.bytes);
    cellar_text_printf(&text, "</dc:title><dc:language>%s</dc:language></cp:coreProperties>\n",
                       serve_book_language(grid));
    text.failed |= title.failed;
    serve_zip_add(zip, "docProps/core.xml", &text);
    cellar_text_clear(&text);
    cellar_text_clear(&title);
}

static void xlsx_add_parts(const serve_grid *grid, serve_zip *zip)
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
                   "<Override PartName=\"/docProps/core.xml\" ContentType=\""
                   "application/vnd.openxmlformats-package.core-properties+xml\"/>"
                   "<Override PartName=\"/xl/styles.xml\" ContentType=\"" XLSX_TYPE "styles+xml\"/>"
                   "</Types>\n");
    xlsx_add_fixed(zip, "_rels/.rels",
                   XLSX_XML "<Relationships xmlns=\"" XLSX_PACKAGE "/relationships\">"
                            "<Relationship Id=\"rId1\" Type=\"" XLSX_RELATIONS
                            "/officeDocument\" Target=\"xl/workbook.xml\"/>"
                            "<Relationship Id=\"rId2\" Type=\"" XLSX_PACKAGE
                            "/relationships/metadata/core-properties\" "
                            "Target=\"docProps/core.xml\"/></Relationships>\n");
    xlsx_add_workbook(grid, zip);
    xlsx_add_fixed(zip, "xl/_rels/workbook.xml.rels",
                   XLSX_XML "<Relationships xmlns=\"" XLSX_PACKAGE "/relationships\">"
                            "<Relationship Id=\"rId1\" Type=\"" XLSX_RELATIONS
                            "/worksheet\" Target=\"worksheets/sheet1.xml\"/>"
                            "<Relationship Id=\"rId2\" Type=\"" XLSX_RELATIONS
                            "/worksheet\" Target=\"worksheets/sheet2.xml\"/>"
                            "<Relationship Id=\"rId3\" Type=\"" XLSX_RELATIONS
                            "/styles\" Target=\"styles.xml\"/></Relationships>\n");
    xlsx_add_styles(zip);
    xlsx_add_properties(grid, zip);
}

cellar_status serve_write_xlsx(const serve_answer *answer, const serve_format_options *options,
                               cellar_text *out, cellar_error *err)
{
    serve_grid grid;
    serve_zip zip;
    cellar_status status;

    serve_grid_init(&grid, answer->question, answer);
    status = serve_book_check(&grid, err);
    if (status != CELLAR_OK)
        return status;
    serve_zip_init(&zip, out);
    xlsx_add_parts(&grid, &zip);
    xlsx_add_table(&grid, options, &zip);
    xlsx_add_about(&grid, &zip);
    serve_zip_end(&zip);
    return out->failed ? cellar_fail_memory(err, "a spreadsheet") : CELLAR_OK;
}
