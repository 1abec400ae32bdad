/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/csv_record.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Bytes at which an unquoted field stops. */
enum { CSV_PLAIN, CSV_STOP };

void cellar_csv_init(cellar_csv *csv, const char *name, const char *bytes, size_t length,
                     char delimiter)
{
    *csv = (cellar_csv){.name = name, .delimiter = delimiter, .line = 1};
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    csv->cursor = bytes;
    csv->end = length > 0 ? bytes + length : bytes;
    csv->classes[(unsigned char) delimiter] = CSV_STOP;
    csv->classes['\n'] = csv->classes['\r'] = csv->classes['"'] = csv->classes['\0'] = CSV_STOP;
}

void cellar_csv_clear(cellar_csv *csv)
{
    for (size_t i = 0; csv->header != NULL && i < csv->n_columns; i++)
        cellar_free(csv->header[i]);
    cellar_free(csv->header);
    cellar_free(csv->fields);
    cellar_text_clear(&csv->unescaped);
    *csv = (cellar_csv){0};
}

static cellar_status csv_fail_here(const cellar_csv *csv, uint64_t line, const char *what,
                                   cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": column %zu: %s", csv->name, line,
                       csv->n_fields, what);
}

/* ---- fields ---------------------------------------------------------------- */

static cellar_status csv_scan_plain(cellar_csv *csv, cellar_csv_field *field, cellar_error *err)
{
    const unsigned char *p = (const unsigned char *) csv->cursor;
    const unsigned char *end = (const unsigned char *) csv->end;
    unsigned char seen = 0;

    while (p < end && csv->classes[*p] == CSV_PLAIN)
        seen |= *p++;
    field->bytes = csv->cursor;
    field->length = (size_t) ((const char *) p - csv->cursor);
    csv->cursor = (const char *) p;
    if (p < end && *p == '"')
        return csv_fail_here(csv, csv->line,
                             "a quote inside an unquoted field; quote the field and double the "
                             "quotes in it",
                             err);
    if (seen >= 0x80 && !cellar_utf8_valid(field->bytes, field->length))
        return csv_fail_here(csv, csv->line, "is not valid UTF-8", err);
    return CELLAR_OK;
}

/* Between the quotes; the cursor stands after the closing one. When quotes were doubled the field
 * is copied to `unescaped`, and `bytes` stays NULL until the record is complete, for that text may
 * still move; `length` then tells how much of it is this field's. */
static cellar_status csv_scan_quoted(cellar_csv *csv, cellar_csv_field *field, cellar_error *err)
{
    const char *start = ++csv->cursor, *piece = start;
    size_t n_copied = 0;

    for (;;) {
        const char *quote = memchr(piece, '"', (size_t) (csv->end - piece));
        size_t length;
        if (quote == NULL)
            return csv_fail_here(csv, field->line, "the quote opened here is never closed", err);
        length = (size_t) (quote - piece);
        for (const char *lf = piece; (lf = memchr(lf, '\n', (size_t) (quote - lf))) != NULL; lf++)
            csv->line++;
        csv->cursor = quote + 1;
        if (csv->cursor < csv->end && *csv->cursor == '"') {
            cellar_text_add(&csv->unescaped, piece, length + 1); /* with one of the two quotes */
            n_copied += length + 1;
            piece = quote + 2;
            continue;
        }
        if (n_copied == 0) {
            field->bytes = start;
            field->length = length;
        } else {
            cellar_text_add(&csv->unescaped, piece, length);
            field->bytes = NULL;
            field->length = n_copied + length;
        }
        break;
    }
    if (memchr(start, '\0', (size_t) (csv->cursor - start)) != NULL)
        return csv_fail_here(csv, field->line, "holds a NUL byte", err);
    if (!cellar_utf8_valid(start, (size_t) (csv->cursor - start)))
        return csv_fail_here(csv, field->line, "is not valid UTF-8", err);
    return csv->unescaped.failed ? cellar_fail_memory(err, "a record") : CELLAR_OK;
}

/* What stands after a field: 1 in *more when another field follows. */
static cellar_status csv_scan_separator(cellar_csv *csv, int *more, cellar_error *err)
{
    *more = 0;
    if (csv->cursor == csv->end)
        return CELLAR_OK;
    if (*csv->cursor == csv->delimiter) {
        csv->cursor++;
        *more = 1;
        return CELLAR_OK;
    }
    if (*csv->cursor == '\r' && csv->end - csv->cursor > 1 && csv->cursor[1] == '\n')
        csv->cursor++;
    if (*csv->cursor == '\n') {
        csv->cursor++;
        csv->line++;
        return CELLAR_OK;
    }
    if (*csv->cursor == '\0')
        return csv_fail_here(csv, csv->line, "holds a NUL byte", err);
    if (*csv->cursor == '\r')
        return csv_fail_here(csv, csv->line, "a carriage return without a line feed", err);
    return csv_fail_here(csv, csv->line,
                         "text after the closing quote; double the quotes inside a quoted field",
                         err);
}

static cellar_status csv_scan_field(cellar_csv *csv, int *more, cellar_error *err)
{
    cellar_status status;
    cellar_csv_field *field;

    if (csv->n_fields == CELLAR_CSV_MAX_COLUMNS)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": more than %d columns", csv->name,
                           csv->line, CELLAR_CSV_MAX_COLUMNS);
    if (!cellar_grow(&csv->fields, &csv->capacity, csv->n_fields + 1, sizeof *csv->fields))
        return cellar_fail_memory(err, "a record");
    field = &csv->fields[csv->n_fields++];
    field->line = csv->line;
    field->quoted = csv->cursor < csv->end && *csv->cursor == '"';
    status = field->quoted ? csv_scan_quoted(csv, field, err) : csv_scan_plain(csv, field, err);
    return status != CELLAR_OK ? status : csv_scan_separator(csv, more, err);
}

/* ---- records --------------------------------------------------------------- */

static void csv_skip_empty_lines(cellar_csv *csv)
{
    while (csv->cursor < csv->end) {
        size_t n = csv->cursor[0] == '\r' && csv->end - csv->cursor > 1 ? 1 : 0;
        if (csv->cursor[n] != '\n')
            return;
        csv->cursor += n + 1;
        csv->line++;
    }
}

static void csv_place_unescaped(cellar_csv *csv)
{
    const char *next = csv->unescaped.bytes;
    for (size_t i = 0; i < csv->n_fields; i++)
        if (csv->fields[i].bytes == NULL) {
            csv->fields[i].bytes = next;
            next += csv->fields[i].length;
        }
}

cellar_status cellar_csv_next(cellar_csv *csv, int *found, cellar_error *err)
{
    int more = 1;

    csv_skip_empty_lines(csv);
    csv->n_fields = 0;
    csv->in_header = csv->header == NULL;
    *found = csv->cursor < csv->end;
    if (!*found)
        return CELLAR_OK;
    cellar_text_reset(&csv->unescaped);
    while (more) {
        cellar_status status = csv_scan_field(csv, &more, err);
        if (status != CELLAR_OK)
            return status;
    }
    if (csv->unescaped.length > 0)
        csv_place_unescaped(csv);
    if (csv->n_columns == 0)
        csv->n_columns = csv->n_fields;
    if (csv->n_fields != csv->n_columns)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s:%" PRIu64 ": %zu fields, but the first line has %zu", csv->name,
                           csv->fields[0].line, csv->n_fields, csv->n_columns);
    return CELLAR_OK;
}

cellar_status cellar_csv_read_header(cellar_csv *csv, cellar_error *err)
{
    int found;
    cellar_status status = cellar_csv_next(csv, &found, err);

    if (status != CELLAR_OK)
        return status;
    if (!found)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is empty; a header was expected", csv->name);
    csv->header = cellar_alloc(csv->n_columns, sizeof *csv->header);
    if (csv->header == NULL)
        return cellar_fail_memory(err, "a header");
    for (size_t i = 0; i < csv->n_columns; i++) {
        const cellar_csv_field *field = &csv->fields[i];
        if (field->length == 0)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": column %zu has no name",
                               csv->name, field->line, i + 1);
        for (size_t k = 0; k < i; k++)
            if (cellar_csv_field_is(field, csv->header[k]))
                return cellar_fail(err, CELLAR_ERR_INPUT,
                                   "%s:%" PRIu64 ": columns %zu and %zu have the same name",
                                   csv->name, field->line, k + 1, i + 1);
        csv->header[i] = cellar_alloc(field->length + 1, 1);
        if (csv->header[i] == NULL)
            return cellar_fail_memory(err, "a header");
        memcpy(csv->header[i], field->bytes, field->length);
    }
    return CELLAR_OK;
}

size_t cellar_csv_find_column(const cellar_csv *csv, const char *column)
{
    for (size_t i = 0; csv->header != NULL && i < csv->n_columns; i++)
        if (strcmp(csv->header[i], column) == 0)
            return i;
    return CELLAR_CSV_NO_COLUMN;
}

void cellar_csv_trim(cellar_csv *csv)
{
    for (size_t i = 0; i < csv->n_fields; i++) {
        cellar_csv_field *f = &csv->fields[i];
        for (; f->length > 0 && f->bytes[0] == ' '; f->length--)
            f->bytes++;
        while (f->length > 0 && f->bytes[f->length - 1] == ' ')
            f->length--;
    }
}

char cellar_csv_delimiter_of(const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && bytes[i] != '\n'; i++)
        if (bytes[i] == ';' || bytes[i] == '\t')
            return bytes[i];
    return ',';
}

uint64_t cellar_csv_line(const cellar_csv *csv)
{
    return csv->n_fields > 0 ? csv->fields[0].line : csv->line;
}

int cellar_csv_field_is(const cellar_csv_field *field, const char *text)
{
    return strlen(text) == field->length && memcmp(text, field->bytes, field->length) == 0;
}

cellar_status cellar_csv_fail(const cellar_csv *csv, size_t column, cellar_error *err,
                              const char *format, ...)
{
    char what[512];
    va_list arguments;
    uint64_t line = column < csv->n_fields ? csv->fields[column].line : csv->line;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    /* What stands in a header at fault may be a record of a file that has none: it is not said. */
    if (csv->header != NULL && !csv->in_header && column < csv->n_columns &&
        csv->header[column] != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": column '%s': %s", csv->name,
                           line, csv->header[column], what);
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": column %zu: %s", csv->name, line,
                       column + 1, what);
}

/* ---- writing --------------------------------------------------------------- */

void cellar_csv_add_field(cellar_text *text, const char *field, char delimiter)
{
    const char special[] = {'"', '\r', '\n', delimiter, '\0'};

    /* A field that begins with U+FEFF could be taken for the byte order mark of the file. */
    if (field[0] != '\0' && field[strcspn(field, special)] == '\0' &&
        strncmp(field, "\xef\xbb\xbf", 3) != 0) {
        cellar_text_add_string(text, field);
        return;
    }
    cellar_text_add_char(text, '"');
    for (const char *quote; (quote = strchr(field, '"')) != NULL; field = quote + 1) {
        cellar_text_add(text, field, (size_t) (quote - field) + 1);
        cellar_text_add_char(text, '"');
    }
    cellar_text_add_string(text, field);
    cellar_text_add_char(text, '"');
}
