/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/rows.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* The position just behind the closing quote of the field that opens at `at`, or 0 when it never
 * closes. The value, doubled quotes made single, ends at *value_end. */
static size_t quoted_end(char *text, size_t at, size_t length, size_t *value_end)
{
    size_t write = at + 1, read = at + 1;
    for (;;) {
        const char *quote = memchr(text + read, '"', length - read);
        size_t found;
        if (quote == NULL)
            return 0;
        found = (size_t) (quote - text);
        if (write != read)
            memmove(text + write, text + read, found - read);
        write += found - read;
        if (found + 1 >= length || text[found + 1] != '"') {
            *value_end = write;
            return found + 1;
        }
        text[write++] = '"';
        read = found + 2;
    }
}

static size_t separator_from(const char *text, size_t at, char delimiter)
{
    while (text[at] != delimiter && text[at] != '\n')
        at++;
    return at;
}

size_t cellar_field_split(char *text, size_t at, size_t length, char delimiter, uint32_t *begin,
                          uint32_t *end, const char **fault)
{
    size_t stop;

    if (text[at] != '"') {
        stop = separator_from(text, at, delimiter);
        if (memchr(text + at, '"', stop - at) != NULL)
            *fault = "a quote inside a field that does not begin with one";
        *begin = (uint32_t) at;
        *end = (uint32_t) stop;
        if (text[stop] == '\n' && stop > at && text[stop - 1] == '\r')
            --*end;
    } else {
        size_t value_end = 0, behind = quoted_end(text, at, length, &value_end);
        if (behind == 0) {
            *fault = "a quote that is never closed";
            *begin = *end = (uint32_t) at;
            return length - 1;
        }
        stop = separator_from(text, behind, delimiter);
        if (stop != behind && !(text[stop] == '\n' && stop == behind + 1 && text[behind] == '\r'))
            *fault = "text behind the closing quote of a field";
        *begin = (uint32_t) (at + 1);
        *end = (uint32_t) value_end;
    }
    return stop;
}

size_t cellar_row_length(const char *text, size_t length, char delimiter)
{
    size_t at = 0;
    for (;;) {
        if (text[at] == '"') {
            const char *quote = memchr(text + at + 1, '"', length - at - 1);
            while (quote != NULL && quote + 1 < text + length && quote[1] == '"')
                quote = memchr(quote + 2, '"', (size_t) (text + length - quote) - 2);
            if (quote == NULL)
                return length;
            at = (size_t) (quote - text) + 1;
        }
        at = separator_from(text, at, delimiter);
        if (text[at] == '\n')
            return at + 1;
        at++;
    }
}

void cellar_row_fields_clear(cellar_row_fields *fields)
{
    cellar_free(fields->begin);
    cellar_free(fields->end);
    *fields = (cellar_row_fields){0};
}

cellar_status cellar_row_split(char *text, size_t length, char delimiter, cellar_row_fields *fields,
                               const char **fault, cellar_error *err)
{
    size_t at = 0;
    *fault = NULL;
    fields->n = 0;
    while (at < length && *fault == NULL) {
        if (!cellar_grow(&fields->begin, &fields->begin_capacity, fields->n + 1,
                         sizeof *fields->begin) ||
            !cellar_grow(&fields->end, &fields->end_capacity, fields->n + 1, sizeof *fields->end))
            return cellar_fail_memory(err, "a row");
        at = 1 + cellar_field_split(text, at, length, delimiter, &fields->begin[fields->n],
                                    &fields->end[fields->n], fault);
        fields->n++;
        if (text[at - 1] == '\n')
            break;
    }
    return CELLAR_OK;
}
