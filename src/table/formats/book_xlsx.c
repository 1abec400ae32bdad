/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spreadsheets of Excel (ECMA-376). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/markup.h"
#include "table/formats/book.h"
#include "table/formats/sheet.h"

#define XLSX_XML "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define XLSX_MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define XLSX_RELATIONS "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define XLSX_PACKAGE "http://schemas.openxmlformats.org/package/2006"
#define XLSX_TYPE "application/vnd.openxmlformats-officedocument.spreadsheetml."

enum {
    XLSX_PLAIN, /* styles */
    XLSX_BOLD,
    XLSX_NUMBER, /* and one more for each decimal */
    XLSX_FIRST_FORMAT = 164,
    XLSX_N_DECIMALS = CELLAR_SHEET_MAX_DECIMALS + 1,
    XLSX_WRAPPED = XLSX_NUMBER + XLSX_N_DECIMALS,
    XLSX_WRAPPED_BOLD,
    XLSX_N_STYLES
};

enum { XLSX_LINE_POINTS = 15, XLSX_MAX_LINES = 27 }; /* rows are 409 points high at most */

static const char *const sheet_files[CELLAR_BOOK_MAX_SHEETS] = {"xl/worksheets/sheet1.xml",
                                                                "xl/worksheets/sheet2.xml"};
static const char *const relation_files[CELLAR_BOOK_MAX_SHEETS] = {
    "xl/worksheets/_rels/sheet1.xml.rels", "xl/worksheets/_rels/sheet2.xml.rels"};
static const char *const table_files[CELLAR_BOOK_MAX_SHEETS] = {"xl/tables/table1.xml",
                                                                "xl/tables/table2.xml"};

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

/* 1 where Excel reads a character that is written as four hexadecimal digits: "_x0041_". */
static int xlsx_is_escape(const char *text)
{
    for (size_t i = 2; i < 6; i++)
        if (text[1] != 'x' || !isxdigit((unsigned char) text[i]))
            return 0;
    return text[6] == '_';
}

/* Adds a text that stays as it is: the low line of what looks like an escape is escaped itself. */
static void xlsx_add_words(cellar_text *out, const char *text)
{
    cellar_text escaped = {0};
    cellar_markup_add(&escaped, text);
    for (size_t i = 0; i < escaped.length; i++)
        if (escaped.bytes[i] == '_' && xlsx_is_escape(escaped.bytes + i))
            cellar_text_add_string(out, "_x005F_");
        else
            cellar_text_add_char(out, escaped.bytes[i]);
    out->failed |= escaped.failed;
    cellar_text_clear(&escaped);
}

static void xlsx_open_cell(cellar_book_place *place, int style)
{
    cellar_text_add_string(&place->out, "<c r=\"");
    xlsx_add_column_name(&place->out, place->column);
    cellar_text_printf(&place->out, "%zu\" s=\"%d\"", place->row + 1, style);
}

static int xlsx_style(const cellar_book_place *place, cellar_book_style style)
{
    if (style == CELLAR_BOOK_PLAIN)
        return place->sheet->wraps ? XLSX_WRAPPED : XLSX_PLAIN;
    return style == CELLAR_BOOK_HEADING && place->sheet->wraps ? XLSX_WRAPPED_BOLD : XLSX_BOLD;
}

/* Nothing is an empty cell, which need not be written. */
static void xlsx_add_text(cellar_book_place *place, cellar_book_style style, const char *text)
{
    if (text[0] == '\0')
        return;
    xlsx_open_cell(place, xlsx_style(place, style));
    cellar_text_add_string(&place->out, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
    xlsx_add_words(&place->out, text);
    cellar_text_add_string(&place->out, "</t></is></c>");
}

static void xlsx_add_number(cellar_book_place *place, const cellar_book_number *number,
                            const cellar_book_number *shown)
{
    xlsx_open_cell(place, XLSX_NUMBER + shown->decimals);
    cellar_text_add_string(&place->out, "><v>");
    cellar_text_add_decimal(&place->out, number->units, number->decimals);
    cellar_text_add_string(&place->out, "</v></c>");
}

/* Where texts break, a row has a height, which is known when it is closed: LibreOffice finds none
 * of its own. Excel, to which it is a proposal, does. */
static void xlsx_open_row(cellar_book_place *place)
{
    cellar_text_printf(&place->out, "<row r=\"%zu\"", place->row + 1);
    if (place->sheet->wraps) {
        cellar_text_add_string(&place->out, " ht=\"");
        place->height_at = place->out.length;
        cellar_text_add_string(&place->out, "000\"");
    }
    cellar_text_add_char(&place->out, '>');
}

static void xlsx_close_row(cellar_book_place *place)
{
    const size_t n = place->n_lines < XLSX_MAX_LINES ? place->n_lines : XLSX_MAX_LINES;
    cellar_text_add_string(&place->out, "</row>\n");
    if (place->sheet->wraps && !place->out.failed) {
        char height[4];
        snprintf(height, sizeof height, "%03zu", n * XLSX_LINE_POINTS);
        memcpy(place->out.bytes + place->height_at, height, 3);
    }
}

/* ---- marked tables -------------------------------------------------------------- */

/* The text of the headings, as the row with them is written. */
static void xlsx_add_table(const cellar_book *book, size_t s, size_t n_rows, cellar_zip *zip)
{
    const cellar_book_sheet *sheet = &book->sheets[s];
    cellar_text text = {0}, range = {0};
    cellar_text_printf(&range, "A%zu:", sheet->n_lead + 1);
    xlsx_add_column_name(&range, sheet->n_columns - 1);
    cellar_text_printf(&range, "%zu", n_rows);
    text.failed |= range.failed;
    cellar_text_printf(&text,
                       XLSX_XML "<table xmlns=\"" XLSX_MAIN "\" id=\"%zu\" name=\"Table%zu\" "
                                "displayName=\"Table%zu\" ref=\"%s\"><tableColumns count=\"%zu\">",
                       s + 1, s + 1, s + 1, text.failed ? "" : range.bytes, sheet->n_columns);
    for (size_t i = 0; i < sheet->n_columns; i++) {
        cellar_text_printf(&text, "<tableColumn id=\"%zu\" name=\"", i + 1);
        xlsx_add_words(&text, sheet->headings[i]);
        cellar_text_add_string(&text, "\"/>");
    }
    cellar_text_add_string(&text, "</tableColumns></table>\n");
    cellar_zip_add(zip, table_files[s], &text);
    cellar_text_printf(&text,
                       XLSX_XML "<Relationships xmlns=\"" XLSX_PACKAGE "/relationships\">"
                                "<Relationship Id=\"rId1\" Type=\"" XLSX_RELATIONS
                                "/table\" Target=\"../tables/table%zu.xml\"/></Relationships>\n",
                       s + 1);
    cellar_zip_add(zip, relation_files[s], &text);
    cellar_text_clear(&range);
}

/* ---- sheets ------------------------------------------------------------------- */

static void xlsx_add_sheet(const cellar_book *book, size_t s, cellar_book_place *place)
{
    const cellar_book_sheet *sheet = &book->sheets[s];
    cellar_text *out = &place->out;
    cellar_zip_begin(place->zip, sheet_files[s]);
    cellar_text_add_string(out, XLSX_XML "<worksheet xmlns=\"" XLSX_MAIN
                                         "\" xmlns:r=\"" XLSX_RELATIONS "\">");
    if (sheet->wraps) /* what is to be read stands on one page beside its name */
        cellar_text_add_string(out, "<sheetPr><pageSetUpPr fitToPage=\"1\"/></sheetPr>");
    cellar_text_add_string(out, "<cols>");
    for (size_t i = 0; i < sheet->n_columns; i++)
        cellar_text_printf(out, "<col min=\"%zu\" max=\"%zu\" width=\"%d\" customWidth=\"1\"/>",
                           i + 1, i + 1, sheet->widths[i]);
    cellar_text_add_string(out, "</cols><sheetData>\n");
    cellar_book_add_sheet(sheet, place);
    cellar_text_add_string(out, "</sheetData>");
    if (sheet->wraps)
        cellar_text_add_string(out, "<pageSetup fitToHeight=\"0\"/>");
    if (sheet->headings != NULL)
        cellar_text_add_string(out, "<tableParts count=\"1\"><tablePart r:id=\"rId1\"/>"
                                    "</tableParts>");
    cellar_text_add_string(out, "</worksheet>\n");
    cellar_zip_feed(place->zip, out);
    cellar_zip_finish(place->zip);
    if (sheet->headings != NULL)
        xlsx_add_table(book, s, place->row, place->zip);
}

/* ---- the package -------------------------------------------------------------- */

/* Bold, numbers with 0 to 9 decimals, and texts that break, plain and bold. */
static void xlsx_add_styles(cellar_zip *zip)
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
                       (int) XLSX_N_STYLES);
    for (int d = 0; d < XLSX_N_DECIMALS; d++)
        cellar_text_printf(&text,
                           "<xf numFmtId=\"%d\" fontId=\"0\" fillId=\"0\" borderId=\"0\" "
                           "xfId=\"0\" applyNumberFormat=\"1\"/>",
                           XLSX_FIRST_FORMAT + d);
    for (int bold = 0; bold < 2; bold++)
        cellar_text_printf(&text,
                           "<xf numFmtId=\"0\" fontId=\"%d\" fillId=\"0\" borderId=\"0\" "
                           "xfId=\"0\" applyFont=\"1\" applyAlignment=\"1\">"
                           "<alignment vertical=\"top\" wrapText=\"1\"/></xf>",
                           bold);
    cellar_text_add_string(&text, "</cellXfs><cellStyles count=\"1\"><cellStyle name=\"Normal\" "
                                  "xfId=\"0\" builtinId=\"0\"/></cellStyles></styleSheet>\n");
    cellar_zip_add(zip, "xl/styles.xml", &text);
}

/* The headings are repeated on every page that is printed. */
static void xlsx_add_print_titles(const cellar_book_sheet *sheet, size_t s, cellar_text *text)
{
    cellar_text_printf(text,
                       "<definedName name=\"_xlnm.Print_Titles\" "
                       "localSheetId=\"%zu\">",
                       s);
    if (sheet->n_stub > 0) {
        cellar_text_printf(text, "%s!$A:$", sheet->name);
        xlsx_add_column_name(text, sheet->n_stub - 1);
        cellar_text_add_char(text, ',');
    }
    cellar_text_printf(text, "%s!$%zu:$%zu</definedName>", sheet->name, sheet->n_lead + 1,
                       sheet->n_lead + sheet->n_headings);
}

static void xlsx_add_workbook(const cellar_book *book, cellar_zip *zip)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, XLSX_XML "<workbook xmlns=\"" XLSX_MAIN
                                           "\" xmlns:r=\"" XLSX_RELATIONS "\"><sheets>");
    for (size_t s = 0; s < book->n_sheets; s++)
        cellar_text_printf(&text, "<sheet name=\"%s\" sheetId=\"%zu\" r:id=\"rId%zu\"/>",
                           book->sheets[s].name, s + 1, s + 1);
    cellar_text_add_string(&text, "</sheets><definedNames>");
    for (size_t s = 0; s < book->n_sheets; s++)
        if (book->sheets[s].n_headings > 0)
            xlsx_add_print_titles(&book->sheets[s], s, &text);
    cellar_text_add_string(&text, "</definedNames></workbook>\n");
    cellar_zip_add(zip, "xl/workbook.xml", &text);
}

/* What the file is called, and its language. */
static void xlsx_add_properties(const cellar_book *book, cellar_zip *zip)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, XLSX_XML "<cp:coreProperties xmlns:cp=\"" XLSX_PACKAGE
                                           "/metadata/core-properties\" "
                                           "xmlns:dc=\"http://purl.org/dc/elements/1.1/\">"
                                           "<dc:title>");
    cellar_markup_add(&text, book->title);
    cellar_text_add_string(&text, "</dc:title><dc:language>");
    cellar_markup_add(&text, book->language);
    cellar_text_add_string(&text, "</dc:language></cp:coreProperties>\n");
    cellar_zip_add(zip, "docProps/core.xml", &text);
}

static void xlsx_add_types(const cellar_book *book, cellar_zip *zip)
{
    cellar_text text = {0};
    CELLAR_ASSERT(book->n_sheets <= CELLAR_BOOK_MAX_SHEETS);
    cellar_text_add_string(&text, XLSX_XML
                           "<Types xmlns=\"" XLSX_PACKAGE "/content-types\">"
                           "<Default Extension=\"rels\" ContentType=\""
                           "application/vnd.openxmlformats-package.relationships+xml\"/>"
                           "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
                           "<Override PartName=\"/xl/workbook.xml\" ContentType=\"" XLSX_TYPE
                           "sheet.main+xml\"/>");
    for (size_t s = 0; s < book->n_sheets; s++) {
        cellar_text_printf(
            &text, "<Override PartName=\"/%s\" ContentType=\"" XLSX_TYPE "worksheet+xml\"/>",
            sheet_files[s]);
        if (book->sheets[s].headings != NULL)
            cellar_text_printf(
                &text, "<Override PartName=\"/%s\" ContentType=\"" XLSX_TYPE "table+xml\"/>",
                table_files[s]);
    }
    cellar_text_add_string(&text, "<Override PartName=\"/docProps/core.xml\" ContentType=\""
                                  "application/vnd.openxmlformats-package.core-properties+xml\"/>"
                                  "<Override PartName=\"/xl/styles.xml\" ContentType=\"" XLSX_TYPE
                                  "styles+xml\"/>"
                                  "</Types>\n");
    cellar_zip_add(zip, "[Content_Types].xml", &text);
}

static void xlsx_add_relations(const cellar_book *book, cellar_zip *zip)
{
    cellar_text text = {0};
    cellar_text_add_string(&text,
                           XLSX_XML "<Relationships xmlns=\"" XLSX_PACKAGE "/relationships\">");
    for (size_t s = 0; s < book->n_sheets; s++)
        cellar_text_printf(&text,
                           "<Relationship Id=\"rId%zu\" Type=\"" XLSX_RELATIONS
                           "/worksheet\" Target=\"worksheets/sheet%zu.xml\"/>",
                           s + 1, s + 1);
    cellar_text_printf(&text,
                       "<Relationship Id=\"rId%zu\" Type=\"" XLSX_RELATIONS
                       "/styles\" Target=\"styles.xml\"/></Relationships>\n",
                       book->n_sheets + 1);
    cellar_zip_add(zip, "xl/_rels/workbook.xml.rels", &text);
}

static void xlsx_pack(const cellar_book *book, cellar_book_place *place)
{
    cellar_zip *zip = place->zip;
    xlsx_add_types(book, zip);
    cellar_book_add_fixed(zip, "_rels/.rels",
                          XLSX_XML "<Relationships xmlns=\"" XLSX_PACKAGE "/relationships\">"
                                   "<Relationship Id=\"rId1\" Type=\"" XLSX_RELATIONS
                                   "/officeDocument\" Target=\"xl/workbook.xml\"/>"
                                   "<Relationship Id=\"rId2\" Type=\"" XLSX_PACKAGE
                                   "/relationships/metadata/core-properties\" "
                                   "Target=\"docProps/core.xml\"/></Relationships>\n");
    xlsx_add_workbook(book, zip);
    xlsx_add_relations(book, zip);
    xlsx_add_styles(zip);
    xlsx_add_properties(book, zip);
    for (size_t s = 0; s < book->n_sheets; s++)
        xlsx_add_sheet(book, s, place);
}

const cellar_book_form cellar_book_form_xlsx = {.open_row = xlsx_open_row,
                                                .text = xlsx_add_text,
                                                .number = xlsx_add_number,
                                                .close_row = xlsx_close_row,
                                                .pack = xlsx_pack};
