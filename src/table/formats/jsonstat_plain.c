/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/jsonstat_plain.h"

#include <string.h>

#include "base/error.h"

/* ---- where the values stand ---------------------------------------------------- */

/* Behind the string that begins at `at`, or `end`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\' && at + 1 < end)
            at++;
    return at < end ? at + 1 : end;
}

/* Behind `"value":[` or `"value":{` of the outermost object; NULL: there is none. Any other text
 * that looks like it is found out when the text around is parsed. */
static const char *find_values(const char *at, const char *end)
{
    static const char member[] = "\"value\":";
    const size_t n = sizeof member - 1;
    int depth = 0;
    while (at < end) {
        if (*at == '"' && depth == 1 && (size_t) (end - at) > n && memcmp(at, member, n) == 0 &&
            (at[n] == '[' || at[n] == '{'))
            return at + n + 1;
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at++;
    }
    return NULL;
}

/* ---- values ---------------------------------------------------------------------- */

/* A whole number of at most 18 digits as JSON writes it; *at is behind it. 0: it is none. */
static int read_whole(const char **at, const char *end, int64_t *out)
{
    enum { DIGITS_MAX = 18 };
    const char *first = *at, *digit = first;
    int64_t value = 0;
    for (; digit < end && *digit >= '0' && *digit <= '9' && digit - first < DIGITS_MAX; digit++)
        value = 10 * value + (*digit - '0');
    *at = digit;
    *out = value;
    return digit > first && (*first != '0' || digit == first + 1);
}

static int read_null(const char **at, const char *end)
{
    if (end - *at < 4 || memcmp(*at, "null", 4) != 0)
        return 0;
    *at += 4;
    return 1;
}

/* `"12":` before a value of an object. */
static int read_position(const char **at, const char *end, uint64_t *out)
{
    int64_t position = 0;
    if (*at == end || *(*at)++ != '"' || !read_whole(at, end, &position) || end - *at < 2 ||
        (*at)[0] != '"' || (*at)[1] != ':')
        return 0;
    *at += 2;
    *out = (uint64_t) position;
    return 1;
}

static int read_entry(const char **at, const char *end, int is_object, cellar_jsonstat_entry *entry)
{
    if (is_object && !read_position(at, end, &entry->index))
        return 0;
    if (read_whole(at, end, &entry->whole))
        return 1;
    entry->value = json_null();
    return read_null(at, end);
}

/* How many entries were read between the brackets; 0: they are not plain. */
static size_t read_entries(const char *at, const char *end, int is_object,
                           cellar_jsonstat_entry *entries)
{
    size_t n = 0;
    for (;;) {
        entries[n].index = n;
        if (!read_entry(&at, end, is_object, &entries[n]) ||
            (n > 0 && entries[n].index <= entries[n - 1].index))
            return 0;
        n++;
        if (at == end)
            return n;
        if (*at++ != ',')
            return 0;
        if (at < end && *at == '\n')
            at++;
    }
}

static size_t count_commas(const char *at, const char *end)
{
    size_t n = 0;
    while ((at = memchr(at, ',', (size_t) (end - at))) != NULL) {
        n++;
        at++;
    }
    return n;
}

cellar_status cellar_jsonstat_read_plain(const char *bytes, size_t length,
                                         cellar_jsonstat_plain *out, cellar_error *err)
{
    const char *begin = find_values(bytes, bytes + length), *end = NULL;
    int is_object;
    *out = (cellar_jsonstat_plain){0};
    if (begin == NULL)
        return CELLAR_OK;
    is_object = begin[-1] == '{';
    end = memchr(begin, is_object ? '}' : ']', (size_t) (bytes + length - begin));
    if (end == NULL || end == begin)
        return CELLAR_OK;
    out->entries = cellar_alloc(count_commas(begin, end) + 1, sizeof *out->entries);
    if (out->entries == NULL)
        return cellar_fail_memory(err, "the cells of a table file");
    out->begin = (size_t) (begin - bytes);
    out->end = (size_t) (end - bytes);
    out->n = read_entries(begin, end, is_object, out->entries);
    if (out->n == 0) {
        cellar_free(out->entries);
        *out = (cellar_jsonstat_plain){0};
    }
    return CELLAR_OK;
}

/* ---- the text around --------------------------------------------------------------- */

typedef struct text_around {
    const char *bytes;
    size_t at, length;
    const cellar_jsonstat_plain *plain;
} text_around;

static size_t hand_on(void *buffer, size_t room, void *context)
{
    text_around *text = context;
    size_t end, n;
    if (text->at == text->plain->begin)
        text->at = text->plain->end;
    end = text->at < text->plain->begin ? text->plain->begin : text->length;
    n = end - text->at < room ? end - text->at : room;
    memcpy(buffer, text->bytes + text->at, n);
    text->at += n;
    return n;
}

json_t *cellar_jsonstat_parse_around(const char *bytes, size_t length,
                                     const cellar_jsonstat_plain *plain, json_error_t *where)
{
    text_around text = {.bytes = bytes, .length = length, .plain = plain};
    return json_load_callback(hand_on, &text, JSON_REJECT_DUPLICATES, where);
}
