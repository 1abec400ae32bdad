/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spreadsheets of LibreOffice (OpenDocument 1.2, ISO/IEC 26300-1). */
#include <string.h>

#include "base/markup.h"
#include "table/formats/book.h"
#include "table/formats/sheet.h"

#define ODS_TYPE "application/vnd.oasis.opendocument.spreadsheet"
#define ODS_XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define ODS_NAMES "urn:oasis:names:tc:opendocument:xmlns:"
#define ODS_OFFICE "xmlns:office=\"" ODS_NAMES "office:1.0\" office:version=\"1.2\""
#define ODS_STYLES                                                                                 \
    "xmlns:style=\"" ODS_NAMES "style:1.0\" xmlns:fo=\"" ODS_NAMES                                 \
    "xsl-fo-compatible:1.0\" xmlns:number=\"" ODS_NAMES "datastyle:1.0\" "
#define ODS_CELL_STYLE "style:family=\"table-cell\" style:parent-style-name=\"Default\""
#define ODS_BOLD "<style:text-properties fo:font-weight=\"bold\"/>"
#define ODS_WRAP                                                                                   \
    "<style:table-cell-properties fo:wrap-option=\"wrap\" style:vertical-align=\"top\"/>"

/* ---- cells -------------------------------------------------------------------- */

/* 1 for a blank that would get lost as mere layout: at either end of a line, or after another. */
static int ods_is_lost(const cellar_text *text, size_t i)
{
    const char before = i > 0 ? text->bytes[i - 1] : '\n', after = text->bytes[i + 1];
    return text->bytes[i] == ' ' &&
           (before == ' ' || before == '\t' || before == '\n' || after == '\n' || after == '\0');
}

/* Adds a text to the paragraph that is open; each line is one. LibreOffice 7 ignores <text:tab/>
 * and <text:line-break/>, and keeps a tabulator, which is a blank elsewhere. */
static void ods_add_words(cellar_text *out, const char *text)
{
    cellar_text escaped = {0};
    cellar_markup_add(&escaped, text);
    for (size_t i = 0; i < escaped.length; i++)
        if (ods_is_lost(&escaped, i))
            cellar_text_add_string(out, "<text:s/>");
        else if (escaped.bytes[i] == '\n')
            cellar_text_add_string(out, "</text:p><text:p>");
        else
            cellar_text_add_char(out, escaped.bytes[i]);
    out->failed |= escaped.failed;
    cellar_text_clear(&escaped);
}

static const char *ods_style(const cellar_book_place *place, cellar_book_style style)
{
    if (style == CELLAR_BOOK_TITLE || (style == CELLAR_BOOK_HEADING && !place->sheet->wraps))
        return "heading";
    return style == CELLAR_BOOK_HEADING ? "name" : place->sheet->wraps ? "note" : "Default";
}

static void ods_add_text(cellar_book_place *place, cellar_book_style style, const char *text)
{
    if (text[0] == '\0') {
        cellar_text_add_string(&place->out, "<table:table-cell/>");
        return;
    }
    cellar_text_printf(&place->out,
                       "<table:table-cell table:style-name=\"%s\" office:value-type=\"string\">"
                       "<text:p>",
                       ods_style(place, style));
    ods_add_words(&place->out, text);
    cellar_text_add_string(&place->out, "</text:p></table:table-cell>");
}

static void ods_add_number(cellar_book_place *place, const cellar_book_number *number,
                           const cellar_book_number *shown)
{
    cellar_text_printf(&place->out,
                       "<table:table-cell table:style-name=\"value%d\" "
                       "office:value-type=\"float\" office:value=\"",
                       shown->decimals);
    cellar_text_add_decimal(&place->out, number->units, number->decimals);
    cellar_text_add_string(&place->out, "\"><text:p>");
    cellar_text_add_decimal(&place->out, shown->units, shown->decimals);
    cellar_text_add_string(&place->out, "</text:p></table:table-cell>");
}

/* The rows with headings stand in an element of their own. */
static void ods_open_row(cellar_book_place *place)
{
    const cellar_book_sheet *sheet = place->sheet;
    if (sheet->n_headings > 0 && place->row == sheet->n_lead)
        cellar_text_add_string(&place->out, "<table:table-header-rows>\n");
    cellar_text_add_string(&place->out, "<table:table-row>");
}

static void ods_close_row(cellar_book_place *place)
{
    const cellar_book_sheet *sheet = place->sheet;
    cellar_text_add_string(&place->out, "</table:table-row>\n");
    if (sheet->n_headings > 0 && place->row + 1 == sheet->n_lead + sheet->n_headings)
        cellar_text_add_string(&place->out, "</table:table-header-rows>\n");
}

/* ---- styles -------------------------------------------------------------------- */

/* A style for each width that occurs, half as wide again as the letters on an average. */
static void ods_add_column_styles(const cellar_book *book, cellar_text *out)
{
    unsigned char seen[256] = {0};
    for (size_t s = 0; s < book->n_sheets; s++)
        for (size_t i = 0; i < book->sheets[s].n_columns; i++) {
            const unsigned char width = book->sheets[s].widths[i];
            if (!seen[width])
                cellar_text_printf(
                    out,
                    "<style:style style:name=\"wide%d\" style:family=\"table-column\">"
                    "<style:table-column-properties style:column-width=\"%d.%dcm\"/>"
                    "</style:style>\n",
                    width, width / 5, width % 5 * 2);
            seen[width] = 1;
        }
}

/* Numbers with 0 to 9 decimals, headings, and notes with their names. */
static void ods_add_cell_styles(cellar_text *out)
{
    for (int d = 0; d <= CELLAR_SHEET_MAX_DECIMALS; d++)
        cellar_text_printf(out,
                           "<number:number-style style:name=\"digits%d\"><number:number "
                           "number:decimal-places=\"%d\" number:min-integer-digits=\"1\" "
                           "number:grouping=\"true\"/></number:number-style>\n"
                           "<style:style style:name=\"value%d\" " ODS_CELL_STYLE
                           " style:data-style-name=\"digits%d\"/>\n",
                           d, d, d, d);
    cellar_text_add_string(
        out,
        "<style:style style:name=\"heading\" " ODS_CELL_STYLE ">" ODS_BOLD "</style:style>\n"
        "<style:style style:name=\"name\" " ODS_CELL_STYLE ">" ODS_WRAP ODS_BOLD "</style:style>\n"
        "<style:style style:name=\"note\" " ODS_CELL_STYLE ">" ODS_WRAP "</style:style>\n");
}

/* The style of all cells has the language in which a screen reader speaks: "pt-BR" in two parts. */
static void ods_add_styles(const cellar_book *book, cellar_zip *zip)
{
    const char *language = book->language;
    const size_t n = strcspn(language, "-");
    cellar_text text = {0}, first = {0};
    cellar_text_add(&first, language, n);
    cellar_text_add_string(&text, ODS_XML
                           "<office:document-styles " ODS_STYLES ODS_OFFICE
                           "><office:styles><style:style style:name=\"Default\" "
                           "style:family=\"table-cell\"><style:table-cell-properties "
                           "fo:wrap-option=\"no-wrap\"/><style:text-properties fo:language=\"");
    cellar_markup_add(&text, first.bytes);
    cellar_text_add_string(&text, "\" fo:country=\"");
    cellar_markup_add(&text, language[n] == '-' ? language + n + 1 : "none");
    cellar_text_add_string(&text, "\"/></style:style></office:styles></office:document-styles>\n");
    text.failed |= first.failed;
    cellar_zip_add(zip, "styles.xml", &text);
    cellar_text_clear(&first);
}

/* ---- sheets ------------------------------------------------------------------- */

static void ods_add_columns(const unsigned char *widths, size_t n, cellar_text *out)
{
    for (size_t i = 0; i < n; i++)
        cellar_text_printf(out, "<table:table-column table:style-name=\"wide%d\"/>\n", widths[i]);
}

static void ods_add_sheet(const cellar_book_sheet *sheet, cellar_book_place *place)
{
    cellar_text *out = &place->out;
    cellar_text_printf(out, "<table:table table:name=\"%s\">", sheet->name);
    if (sheet->title != NULL) {
        cellar_text_add_string(out, "<table:title>");
        cellar_markup_add(out, sheet->title);
        cellar_text_add_string(out, "</table:title>");
    }
    cellar_text_add_char(out, '\n');
    if (sheet->n_stub > 0) {
        cellar_text_add_string(out, "<table:table-header-columns>\n");
        ods_add_columns(sheet->widths, sheet->n_stub, out);
        cellar_text_add_string(out, "</table:table-header-columns>\n");
    }
    ods_add_columns(sheet->widths + sheet->n_stub, sheet->n_columns - sheet->n_stub, out);
    cellar_book_add_sheet(sheet, place);
    cellar_text_add_string(out, "</table:table>\n");
}

static void ods_add_content(const cellar_book *book, cellar_book_place *place)
{
    cellar_text *out = &place->out;
    cellar_zip_begin(place->zip, "content.xml");
    cellar_text_add_string(out, ODS_XML "<office:document-content " ODS_STYLES ODS_OFFICE
                                        " xmlns:table=\"" ODS_NAMES "table:1.0\" "
                                        "xmlns:text=\"" ODS_NAMES "text:1.0\">\n"
                                        "<office:automatic-styles>\n");
    ods_add_column_styles(book, out);
    ods_add_cell_styles(out);
    cellar_text_add_string(out, "</office:automatic-styles>\n<office:body><office:spreadsheet>\n");
    for (size_t s = 0; s < book->n_sheets; s++)
        ods_add_sheet(&book->sheets[s], place);
    cellar_text_add_string(out, "</office:spreadsheet></office:body></office:document-content>\n");
    cellar_zip_feed(place->zip, out);
    cellar_zip_finish(place->zip);
}

/* ---- the package -------------------------------------------------------------- */

static void ods_add_manifest(cellar_zip *zip)
{
    static const char *const files[] = {"content.xml", "styles.xml", "meta.xml"};
    cellar_text text = {0};
    cellar_text_add_string(&text, ODS_XML "<manifest:manifest xmlns:manifest=\"" ODS_NAMES
                                          "manifest:1.0\" manifest:version=\"1.2\">\n"
                                          "<manifest:file-entry manifest:full-path=\"/\" "
                                          "manifest:version=\"1.2\" manifest:media-type=\"" ODS_TYPE
                                          "\"/>\n");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        cellar_text_printf(&text,
                           "<manifest:file-entry manifest:full-path=\"%s\" "
                           "manifest:media-type=\"text/xml\"/>\n",
                           files[i]);
    cellar_text_add_string(&text, "</manifest:manifest>\n");
    cellar_zip_add(zip, "META-INF/manifest.xml", &text);
}

static void ods_add_meta(const cellar_book *book, cellar_zip *zip)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, ODS_XML "<office:document-meta " ODS_OFFICE
                                          " xmlns:dc=\"http://purl.org/dc/elements/1.1/\">"
                                          "<office:meta><dc:title>");
    cellar_markup_add(&text, book->title);
    cellar_text_add_string(&text, "</dc:title><dc:language>");
    cellar_markup_add(&text, book->language);
    cellar_text_add_string(&text, "</dc:language></office:meta></office:document-meta>\n");
    cellar_zip_add(zip, "meta.xml", &text);
}

/* The type is first and stands as it is: a program looks at the place where it then is. */
static void ods_pack(const cellar_book *book, cellar_book_place *place)
{
    cellar_zip_store(place->zip, "mimetype", ODS_TYPE);
    ods_add_manifest(place->zip);
    ods_add_styles(book, place->zip);
    ods_add_meta(book, place->zip);
    ods_add_content(book, place);
}

const cellar_book_form cellar_book_form_ods = {.open_row = ods_open_row,
                                               .text = ods_add_text,
                                               .number = ods_add_number,
                                               .close_row = ods_close_row,
                                               .pack = ods_pack};
