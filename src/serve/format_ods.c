/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spreadsheets of LibreOffice (OpenDocument 1.2, ISO/IEC 26300-1), made in memory; the same answer
 * makes the same bytes. Texts are cells of type string, which no program takes for formulas. */
#include <string.h>

#include "base/error.h"
#include "report/markup.h"
#include "serve/book.h"
#include "serve/zip.h"
#include "table/formats/sheet.h"

#define ODS_TYPE "application/vnd.oasis.opendocument.spreadsheet"
#define ODS_XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define ODS_NAMES "urn:oasis:names:tc:opendocument:xmlns:"
#define ODS_OFFICE "xmlns:office=\"" ODS_NAMES "office:1.0\" office:version=\"1.2\""
#define ODS_STYLES                                                                                 \
    "xmlns:style=\"" ODS_NAMES "style:1.0\" xmlns:fo=\"" ODS_NAMES                                 \
    "xsl-fo-compatible:1.0\" xmlns:number=\"" ODS_NAMES "datastyle:1.0\" "

/* ---- cells -------------------------------------------------------------------- */

/* Blanks at either end and after a blank, and breaks, would get lost as mere layout. */
static void ods_add_words(cellar_text *out, const char *text)
{
    cellar_text escaped = {0};
    cellar_markup_add(&escaped, text);
    for (size_t i = 0; i < escaped.length; i++) {
        const char c = escaped.bytes[i];
        if (c == ' ' && (i == 0 || i + 1 == escaped.length || escaped.bytes[i - 1] == ' '))
            cellar_text_add_string(out, "<text:s/>");
        else if (c == '\t')
            cellar_text_add_string(out, "<text:tab/>");
        else if (c == '\n')
            cellar_text_add_string(out, "<text:line-break/>");
        else
            cellar_text_add_char(out, c);
    }
    out->failed |= escaped.failed;
    cellar_text_clear(&escaped);
}

static void ods_add_cell(const serve_book_place *place, const char *style, const char *text)
{
    if (text[0] == '\0') {
        cellar_text_add_string(place->out, "<table:table-cell/>");
        return;
    }
    cellar_text_printf(place->out,
                       "<table:table-cell table:style-name=\"%s\" office:value-type=\"string\">"
                       "<text:p>",
                       style);
    ods_add_words(place->out, text);
    cellar_text_add_string(place->out, "</text:p></table:table-cell>");
}

static void ods_add_text(const serve_book_place *place, serve_book_style style, const char *text)
{
    ods_add_cell(place, style == SERVE_BOOK_HEADING ? "heading" : "Default", text);
}

/* Texts of the sheet About are long, and break where their column ends. */
static void ods_add_note(const serve_book_place *place, serve_book_style style, const char *text)
{
    ods_add_cell(place, style == SERVE_BOOK_HEADING ? "heading" : "note", text);
}

static void ods_add_number(const serve_book_place *place, const serve_number *number,
                           const serve_number *shown)
{
    cellar_text_printf(place->out,
                       "<table:table-cell table:style-name=\"value%d\" "
                       "office:value-type=\"float\" office:value=\"",
                       shown->decimals);
    serve_number_add(number, place->out);
    cellar_text_add_string(place->out, "\"><text:p>");
    serve_number_add(shown, place->out);
    cellar_text_add_string(place->out, "</text:p></table:table-cell>");
}

static void ods_open_row(const serve_book_place *place)
{
    cellar_text_add_string(place->out, "<table:table-row>");
}

static void ods_close_row(const serve_book_place *place)
{
    cellar_text_add_string(place->out, "</table:table-row>\n");
}

/* ---- sheets ------------------------------------------------------------------- */

/* A style for each width that occurs, half as wide again as the letters on an average. */
static void ods_add_column_styles(const unsigned char *widths, size_t n, unsigned char seen[256],
                                  cellar_text *out)
{
    for (size_t i = 0; i < n; i++)
        if (!seen[widths[i]]) {
            seen[widths[i]] = 1;
            cellar_text_printf(out,
                               "<style:style style:name=\"wide%d\" style:family=\"table-column\">"
                               "<style:table-column-properties style:column-width=\"%d.%dcm\"/>"
                               "</style:style>\n",
                               widths[i], widths[i] / 5, widths[i] % 5 * 2);
        }
}

static void ods_add_columns(const unsigned char *widths, size_t n, cellar_text *out)
{
    for (size_t i = 0; i < n; i++)
        cellar_text_printf(out, "<table:table-column table:style-name=\"wide%d\"/>\n", widths[i]);
}

/* Numbers with 0 to 9 decimals, headings, and notes. */
static void ods_add_cell_styles(cellar_text *out)
{
    for (int d = 0; d <= CELLAR_SHEET_MAX_DECIMALS; d++)
        cellar_text_printf(out,
                           "<number:number-style style:name=\"digits%d\"><number:number "
                           "number:decimal-places=\"%d\" number:min-integer-digits=\"1\" "
                           "number:grouping=\"true\"/></number:number-style>\n"
                           "<style:style style:name=\"value%d\" style:family=\"table-cell\" "
                           "style:parent-style-name=\"Default\" style:data-style-name="
                           "\"digits%d\"/>\n",
                           d, d, d, d);
    cellar_text_add_string(
        out, "<style:style style:name=\"heading\" style:family=\"table-cell\" "
             "style:parent-style-name=\"Default\"><style:text-properties fo:font-weight=\"bold\"/>"
             "</style:style>\n<style:style style:name=\"note\" style:family=\"table-cell\" "
             "style:parent-style-name=\"Default\"><style:table-cell-properties "
             "fo:wrap-option=\"wrap\"/></style:style>\n");
}

static void ods_add_table(const serve_grid *grid, const serve_format_options *options,
                          const cellar_text *widths, serve_book_place *place)
{
    const unsigned char *at = (const unsigned char *) widths->bytes;
    cellar_text *out = place->out;
    cellar_text title = {0};
    serve_grid_add_title(grid, &title);
    cellar_text_add_string(out, "<table:table table:name=\"" SERVE_BOOK_TABLE "\"><table:title>");
    cellar_markup_add(out, title.bytes);
    cellar_text_add_string(out, "</table:title>\n");
    if (grid->n_stub > 0 && !widths->failed) {
        cellar_text_add_string(out, "<table:table-header-columns>\n");
        ods_add_columns(at, grid->n_stub, out);
        cellar_text_add_string(out, "</table:table-header-columns>\n");
    }
    if (!widths->failed)
        ods_add_columns(at + grid->n_stub, grid->n_columns, out);
    serve_book_add_lead(grid, place);
    cellar_text_add_string(out, "<table:table-header-rows>\n");
    serve_book_add_headings(grid, options, place);
    cellar_text_add_string(out, "</table:table-header-rows>\n");
    serve_book_add_rows(grid, options, place);
    cellar_text_add_string(out, "</table:table>\n");
    out->failed |= title.failed | widths->failed;
    cellar_text_clear(&title);
}

static void ods_add_about(const serve_grid *grid, serve_book_place *place)
{
    place->text = ods_add_note;
    cellar_text_add_string(place->out, "<table:table table:name=\"" SERVE_BOOK_ABOUT "\">\n");
    ods_add_columns(serve_book_about_widths, SERVE_BOOK_N_ABOUT, place->out);
    serve_book_add_about(grid, place);
    cellar_text_add_string(place->out, "</table:table>\n");
}

static void ods_add_content(const serve_grid *grid, const serve_format_options *options,
                            serve_zip *zip)
{
    cellar_text content = {0}, widths = {0};
    unsigned char seen[256] = {0};
    serve_book_place place = {.out = &content,
                              .open_row = ods_open_row,
                              .text = ods_add_text,
                              .number = ods_add_number,
                              .close_row = ods_close_row};

    serve_book_add_widths(grid, options, &widths);
    cellar_text_add_string(&content,
                           ODS_XML "<office:document-content " ODS_STYLES ODS_OFFICE
                                   " xmlns:table=\"" ODS_NAMES "table:1.0\" xmlns:text=\"" ODS_NAMES
                                   "text:1.0\">\n<office:automatic-styles>\n");
    ods_add_column_styles((const unsigned char *) widths.bytes, widths.length, seen, &content);
    ods_add_column_styles(serve_book_about_widths, SERVE_BOOK_N_ABOUT, seen, &content);
    ods_add_cell_styles(&content);
    cellar_text_add_string(&content, "</office:automatic-styles>\n<office:body>"
                                     "<office:spreadsheet>\n");
    ods_add_table(grid, options, &widths, &place);
    ods_add_about(grid, &place);
    cellar_text_add_string(&content,
                           "</office:spreadsheet></office:body></office:document-content>\n");
    serve_zip_add(zip, "content.xml", &content);
    cellar_text_clear(&content);
    cellar_text_clear(&widths);
}

/* ---- the package -------------------------------------------------------------- */

/* First and as it is: a program looks at the place where it then stands. */
static void ods_add_mimetype(serve_zip *zip)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, ODS_TYPE);
    serve_zip_store(zip, "mimetype", &text);
    cellar_text_clear(&text);
}

static void ods_add_manifest(serve_zip *zip)
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
    serve_zip_add(zip, "META-INF/manifest.xml", &text);
    cellar_text_clear(&text);
}

/* The style of all cells has the language in which a screen reader speaks: "pt-BR" in two parts. */
static void ods_add_styles(const serve_grid *grid, serve_zip *zip)
{
    cellar_text text = {0};
    const char *language = serve_book_language(grid);
    const size_t n = strcspn(language, "-");
    cellar_text_printf(&text,
                       ODS_XML "<office:document-styles " ODS_STYLES ODS_OFFICE
                               "><office:styles><style:style style:name=\"Default\" "
                               "style:family=\"table-cell\"><style:table-cell-properties "
                               "fo:wrap-option=\"no-wrap\"/><style:text-properties "
                               "fo:language=\"%.*s\" fo:country=\"%s\"/></style:style>"
                               "</office:styles></office:document-styles>\n",
                       (int) n, language, language[n] == '-' ? language + n + 1 : "none");
    serve_zip_add(zip, "styles.xml", &text);
    cellar_text_clear(&text);
}

static void ods_add_meta(const serve_grid *grid, serve_zip *zip)
{
    cellar_text text = {0}, title = {0};
    serve_grid_add_title(grid, &title);
    cellar_text_add_string(&text,
                           ODS_XML "<office:document-meta " ODS_OFFICE
                                   " xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><office:meta>"
                                   "<dc:title>");
    cellar_markup_add(&text, title.bytes);
    cellar_text_printf(&text,
                       "</dc:title><dc:language>%s</dc:language></office:meta>"
                       "</office:document-meta>\n",
                       serve_book_language(grid));
    text.failed |= title.failed;
    serve_zip_add(zip, "meta.xml", &text);
    cellar_text_clear(&text);
    cellar_text_clear(&title);
}

cellar_status serve_write_ods(const serve_answer *answer, const serve_format_options *options,
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
    ods_add_mimetype(&zip);
    ods_add_manifest(&zip);
    ods_add_styles(&grid, &zip);
    ods_add_meta(&grid, &zip);
    ods_add_content(&grid, options, &zip);
    serve_zip_end(&zip);
    return out->failed ? cellar_fail_memory(err, "a spreadsheet") : CELLAR_OK;
}
