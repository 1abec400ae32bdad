/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/book.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

enum {
    BOOK_PIECE_BYTES = 1 << 16,
    BOOK_MAX_MARKED = 255 /* letters of a heading of a marked table */
};

/* ---- cells -------------------------------------------------------------------- */

/* Letters as spreadsheets count them, in units of UTF-16: a character beyond U+FFFF, which has four
 * bytes, is two. Bytes that continue a character do not count. */
static size_t book_letters(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += (size_t) ((*text & 0xc0) != 0x80) + ((unsigned char) *text >= 0xf0);
    return n;
}

/* Most texts are short in bytes, too. */
static int book_is_too_long(const char *text)
{
    return strlen(text) > CELLAR_BOOK_MAX_LETTERS && book_letters(text) > CELLAR_BOOK_MAX_LETTERS;
}

/* Lines of a text that breaks between words, in a column so many letters wide. */
static size_t book_lines(const char *text, size_t width)
{
    size_t n_lines = 0, n_letters = 0;
    for (;; text++) {
        if (*text == '\n' || *text == '\0') {
            n_lines += 1 + 10 * n_letters / (9 * width); /* a tenth of a line stays empty */
            n_letters = 0;
        }
        if (*text == '\0')
            return n_lines;
        n_letters += (*text & 0xc0) != 0x80;
    }
}

void cellar_book_open_row(cellar_book_place *place)
{
    place->column = 0;
    place->n_lines = 1;
    place->form->open_row(place);
}

void cellar_book_close_row(cellar_book_place *place)
{
    place->form->close_row(place);
    place->row++;
    if (place->out.length >= BOOK_PIECE_BYTES)
        cellar_zip_feed(place->zip, &place->out);
}

void cellar_book_add_text(cellar_book_place *place, cellar_book_style style, const char *text)
{
    const cellar_book_sheet *sheet = place->sheet;
    place->is_too_long |= book_is_too_long(text);
    if (sheet->wraps && style != CELLAR_BOOK_TITLE) {
        const size_t n_lines = book_lines(text, sheet->widths[place->column]);
        place->n_lines = n_lines > place->n_lines ? n_lines : place->n_lines;
    }
    place->form->text(place, style, text);
    place->column++;
}

void cellar_book_add_gathered(cellar_book_place *place, cellar_book_style style,
                              cellar_text *gathered)
{
    place->out.failed |= gathered->failed;
    cellar_book_add_text(place, style, gathered->length > 0 ? gathered->bytes : "");
    cellar_text_reset(gathered);
}

void cellar_book_add_number(cellar_book_place *place, const cellar_book_number *number,
                            const cellar_book_number *shown)
{
    place->form->number(place, number, shown);
    place->column++;
}

int cellar_book_has_failed(const cellar_book_place *place)
{
    return place->out.failed || place->zip->out->failed || place->zip->too_large ||
           place->is_too_long;
}

/* ---- what there is room for ------------------------------------------------------ */

static cellar_status book_fail_room(const char *what, int most, uint64_t needed, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "a spreadsheet holds at most %d %s, and this table needs %llu: write CSV",
                       most, what, (unsigned long long) needed);
}

cellar_status cellar_book_check_room(uint64_t n_rows, uint64_t n_columns, cellar_error *err)
{
    if (n_rows > CELLAR_BOOK_MAX_ROWS)
        return book_fail_room("rows", CELLAR_BOOK_MAX_ROWS, n_rows, err);
    if (n_columns > CELLAR_BOOK_MAX_COLUMNS)
        return book_fail_room("columns", CELLAR_BOOK_MAX_COLUMNS, n_columns, err);
    return CELLAR_OK;
}

static cellar_status book_fail_text(const char *what, const char *variable, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "a cell of a spreadsheet holds at most %d letters, and %s%s%.100s%s has "
                       "more: write CSV",
                       (int) CELLAR_BOOK_MAX_LETTERS, what, variable != NULL ? " of '" : "",
                       variable != NULL ? variable : "", variable != NULL ? "'" : "");
}

cellar_status cellar_book_check_text(const char *text, const char *what, const char *variable,
                                     cellar_error *err)
{
    return text != NULL && book_is_too_long(text) ? book_fail_text(what, variable, err) : CELLAR_OK;
}

int cellar_book_can_mark(const char *const *headings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (headings[i][0] == '\0' || book_letters(headings[i]) > BOOK_MAX_MARKED)
            return 0;
        for (const char *c = headings[i]; *c != '\0'; c++)
            if ((unsigned char) *c < ' ' || *c == 0x7f)
                return 0;
        for (size_t j = 0; j < i; j++)
            if (strcasecmp(headings[i], headings[j]) == 0)
                return 0;
    }
    return 1;
}

unsigned char cellar_book_width(const char *text, size_t most)
{
    size_t n = book_letters(text);
    if (n < most)
        n = most;
    if (n < CELLAR_BOOK_MIN_WIDTH)
        n = CELLAR_BOOK_MIN_WIDTH;
    return (unsigned char) (n < CELLAR_BOOK_MAX_WIDTH ? n : CELLAR_BOOK_MAX_WIDTH);
}

/* ---- the whole --------------------------------------------------------------------- */

void cellar_book_add_sheet(const cellar_book_sheet *sheet, cellar_book_place *place)
{
    place->sheet = sheet;
    place->row = 0;
    sheet->add_rows(sheet->source, place);
}

void cellar_book_add_fixed(cellar_zip *zip, const char *name, const char *content)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, content);
    cellar_zip_add(zip, name, &text);
}

cellar_status cellar_book_write(const cellar_book *book, cellar_book_format format,
                                cellar_text *out, cellar_error *err)
{
    cellar_zip zip;
    cellar_book_place place = {.form = format == CELLAR_BOOK_ODS ? &cellar_book_form_ods
                                                                 : &cellar_book_form_xlsx,
                               .zip = &zip};
    cellar_status status;

    cellar_zip_init(&zip, out);
    place.form->pack(book, &place);
    out->failed |= place.out.failed;
    cellar_text_clear(&place.out);
    status = cellar_zip_end(&zip, err);
    return status == CELLAR_OK && place.is_too_long
               ? book_fail_text("a text of this table", NULL, err)
               : status;
}
