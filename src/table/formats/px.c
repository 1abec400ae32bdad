/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/px.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "data/encoding.h"

/* ---- strings and symbols --------------------------------------------------- */

static char px_plain(char c)
{
    unsigned char byte = (unsigned char) c;
    return (char) (c == '"' ? '\'' : byte < 0x20 || byte == 0x7f ? ' ' : c);
}

void cellar_px_add_plain(cellar_text *text, const char *string)
{
    for (; *string != '\0'; string++)
        cellar_text_add_char(text, px_plain(*string));
}

int cellar_px_is_plain_of(const char *plain, const char *string)
{
    for (; *string != '\0' && *plain == px_plain(*string); string++)
        plain++;
    return *plain == '\0' && *string == '\0';
}

/* As statistical offices in the north, where the format comes from, use the dots. */
static const char *const px_symbols[] = {
    [CELLAR_CELL_NORMAL] = NULL,        [CELLAR_CELL_STRUCTURAL_ZERO] = ".",
    [CELLAR_CELL_NOT_AVAILABLE] = "..", [CELLAR_CELL_SUPPRESSED] = "...",
    [CELLAR_CELL_UNRELIABLE] = "....",
};

const char *cellar_px_symbol(cellar_cell_status status)
{
    return px_symbols[status];
}

int cellar_px_find_symbol(const char *symbol, size_t length, cellar_cell_status *out)
{
    *out = CELLAR_CELL_NORMAL;
    if (length == 1 && symbol[0] == '-')
        return 1;
    if (length == 0 || length > 6 || memcmp(symbol, "......", length) != 0)
        return 0;
    *out = CELLAR_CELL_NOT_AVAILABLE; /* five and six dots have no meaning of their own */
    for (size_t i = 0; i < sizeof px_symbols / sizeof *px_symbols; i++)
        if (px_symbols[i] != NULL && strlen(px_symbols[i]) == length)
            *out = (cellar_cell_status) i;
    return 1;
}

/* ---- tokens ---------------------------------------------------------------- */

static int px_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void px_skip_blanks(cellar_px_cursor *cursor)
{
    for (; cursor->at < cursor->end && px_is_blank(*cursor->at); cursor->at++)
        cursor->line += *cursor->at == '\n';
}

/* A string from its quote to the next; strings hold no quotes. 0 when it is not closed. */
static int px_take_string(cellar_px_cursor *cursor, cellar_px_token *token)
{
    const char *start = cursor->at + 1;
    const char *quote = memchr(start, '"', (size_t) (cursor->end - start));

    if (quote == NULL)
        return 0;
    *token = (cellar_px_token){start, (size_t) (quote - start), 1, cursor->line};
    for (const char *lf = start; (lf = memchr(lf, '\n', (size_t) (quote - lf))) != NULL; lf++)
        cursor->line++;
    cursor->at = quote + 1;
    return 1;
}

/* Everything up to a blank, a quote or one of `stops`. */
static void px_take_bare(cellar_px_cursor *cursor, const char *stops, cellar_px_token *token)
{
    const char *start = cursor->at;
    while (cursor->at < cursor->end && !px_is_blank(*cursor->at) && *cursor->at != '"' &&
           (*cursor->at == '\0' || strchr(stops, *cursor->at) == NULL))
        cursor->at++;
    *token = (cellar_px_token){start, (size_t) (cursor->at - start), 0, cursor->line};
}

int cellar_px_next_token(cellar_px_cursor *cursor, cellar_px_token *token)
{
    for (px_skip_blanks(cursor); cursor->at < cursor->end && *cursor->at == ',';
         px_skip_blanks(cursor))
        cursor->at++;
    if (cursor->at == cursor->end || *cursor->at == ';')
        return 0;
    if (*cursor->at == '"')
        return px_take_string(cursor, token);
    px_take_bare(cursor, ",;", token);
    return 1;
}

/* ---- entries --------------------------------------------------------------- */

typedef struct px_parser {
    const cellar_source *source;
    cellar_px *px;
    cellar_px_cursor cursor;
    cellar_error *err;
} px_parser;

static cellar_status px_fail(const px_parser *parser, uint64_t line, const char *what)
{
    return cellar_fail(parser->err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": %s", parser->source->name,
                       line, what);
}

static int px_at(const px_parser *parser, char c)
{
    return parser->cursor.at < parser->cursor.end && *parser->cursor.at == c;
}

/* One value: strings that follow each other without a comma are pieces of one. */
static cellar_status px_take_value(px_parser *parser, const char *stops, const char **out)
{
    cellar_text value = {0};
    cellar_status status = CELLAR_OK;
    cellar_px_token token;

    for (px_skip_blanks(&parser->cursor); status == CELLAR_OK; px_skip_blanks(&parser->cursor)) {
        uint64_t line = parser->cursor.line;
        if (px_at(parser, '"')) {
            if (!px_take_string(&parser->cursor, &token))
                status = px_fail(parser, line, "the quote opened here is never closed");
        } else
            px_take_bare(&parser->cursor, stops, &token);
        if (status != CELLAR_OK || (token.length == 0 && !token.quoted))
            break;
        if (memchr(token.bytes, '\0', token.length) != NULL)
            status = px_fail(parser, line, "holds a NUL byte");
        cellar_text_add(&value, token.bytes, token.length);
    }
    if (status == CELLAR_OK) {
        *out = value.failed ? NULL
                            : cellar_arena_copy(parser->px->arena,
                                                value.length > 0 ? value.bytes : "", value.length);
        if (*out == NULL)
            status = cellar_fail_memory(parser->err, "a px file");
    }
    cellar_text_clear(&value);
    return status;
}

/* Values with commas between them, up to `end`, which is consumed. */
static cellar_status px_take_values(px_parser *parser, char end, const char ***out, size_t *n)
{
    const char stops[] = {',', end, '\0'};
    const char **values = NULL;
    size_t capacity = 0;
    cellar_status status = CELLAR_OK;

    *n = 0;
    for (;;) {
        if (!cellar_grow(&values, &capacity, *n + 1, sizeof *values))
            status = cellar_fail_memory(parser->err, "a px file");
        else
            status = px_take_value(parser, stops, &values[*n]);
        if (status != CELLAR_OK)
            break;
        ++*n;
        if (px_at(parser, ',')) {
            parser->cursor.at++;
            continue;
        }
        if (!px_at(parser, end))
            status = px_fail(parser, parser->cursor.line,
                             end == ';' ? "a keyword without a semicolon at its end"
                                        : "a parenthesis that is never closed");
        break;
    }
    if (status == CELLAR_OK) {
        parser->cursor.at++;
        *out = cellar_arena_alloc(parser->px->arena, *n, sizeof **out);
        if (*out == NULL)
            status = cellar_fail_memory(parser->err, "a px file");
        else
            memcpy(*out, values, *n * sizeof **out);
    }
    cellar_free(values);
    return status;
}

/* KEYWORD, [language] and ("key"), up to and with the equals sign. */
static cellar_status px_take_name(px_parser *parser, cellar_px_entry *entry)
{
    cellar_status status;
    cellar_px_token token;
    char *keyword;

    entry->line = parser->cursor.line;
    px_take_bare(&parser->cursor, "[(=;,", &token);
    if (token.length == 0 || token.length > 64 || memchr(token.bytes, '\0', token.length) != NULL)
        return px_fail(parser, entry->line, "expected a keyword");
    entry->keyword = keyword = cellar_arena_copy(parser->px->arena, token.bytes, token.length);
    if (keyword == NULL)
        return cellar_fail_memory(parser->err, "a px file");
    for (; *keyword != '\0'; keyword++)
        if (*keyword >= 'a' && *keyword <= 'z')
            *keyword = (char) (*keyword - 'a' + 'A');
    entry->language = entry->key = "";
    if (px_at(parser, '[')) {
        const char **languages;
        size_t n;
        parser->cursor.at++;
        status = px_take_values(parser, ']', &languages, &n);
        if (status != CELLAR_OK)
            return status;
        entry->language = languages[0];
    }
    if (px_at(parser, '(')) {
        const char **keys;
        size_t n;
        parser->cursor.at++;
        status = px_take_values(parser, ')', &keys, &n);
        if (status != CELLAR_OK)
            return status;
        entry->key = keys[0];
    }
    px_skip_blanks(&parser->cursor);
    if (!px_at(parser, '='))
        return px_fail(parser, entry->line, "expected '=' after the keyword");
    parser->cursor.at++;
    return CELLAR_OK;
}

static cellar_status px_take_entries(px_parser *parser)
{
    cellar_px *px = parser->px;

    for (;;) {
        cellar_px_entry entry = {0};
        cellar_status status;
        px_skip_blanks(&parser->cursor);
        if (parser->cursor.at == parser->cursor.end)
            return px_fail(parser, parser->cursor.line, "the file ends before its DATA");
        status = px_take_name(parser, &entry);
        if (status != CELLAR_OK)
            return status;
        if (strcmp(entry.keyword, "DATA") == 0) {
            px->data = parser->cursor.at;
            px->data_line = parser->cursor.line;
            return CELLAR_OK;
        }
        status = px_take_values(parser, ';', &entry.values, &entry.n_values);
        if (status != CELLAR_OK)
            return status;
        if (!cellar_grow(&px->entries, &px->capacity, px->n_entries + 1, sizeof entry))
            return cellar_fail_memory(parser->err, "a px file");
        px->entries[px->n_entries++] = entry;
    }
}

/* ---- encoding -------------------------------------------------------------- */

static cellar_status px_choose_encoding(const px_parser *parser, int has_mark,
                                        cellar_encoding *encoding)
{
    static const struct {
        const char *name;
        cellar_encoding encoding;
    } pages[] = {{"utf-8", CELLAR_ENCODING_UTF8},
                 {"utf8", CELLAR_ENCODING_UTF8},
                 {"iso-8859-1", CELLAR_ENCODING_LATIN1},
                 {"windows-1252", CELLAR_ENCODING_WINDOWS1252}};
    const char *page = cellar_px_value(parser->px, "CODEPAGE", "");

    *encoding = has_mark ? CELLAR_ENCODING_UTF8 : CELLAR_ENCODING_WINDOWS1252;
    if (page == NULL)
        return CELLAR_OK;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcasecmp(pages[i].name, page) == 0) {
            *encoding = pages[i].encoding;
            return CELLAR_OK;
        }
    return cellar_fail(parser->err, CELLAR_ERR_UNSUPPORTED,
                       "%s: CODEPAGE: expected utf-8, iso-8859-1 or windows-1252",
                       parser->source->name);
}

static cellar_status px_decode(px_parser *parser, cellar_encoding encoding, uint64_t line,
                               const char **string)
{
    cellar_text text = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_ASSERT(*string != NULL);
    if (**string == '\0')
        return CELLAR_OK;
    if (!cellar_encoding_to_utf8(encoding, *string, strlen(*string), &text) && !text.failed)
        status = px_fail(parser, line, "bytes that are no text in the file's encoding");
    else if (text.failed ||
             (*string = cellar_arena_copy(parser->px->arena, text.bytes, text.length)) == NULL)
        status = cellar_fail_memory(parser->err, "a px file");
    cellar_text_clear(&text);
    return status;
}

static cellar_status px_decode_all(px_parser *parser, cellar_encoding encoding)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < parser->px->n_entries; i++) {
        cellar_px_entry *entry = &parser->px->entries[i];
        CELLAR_TRY(px_decode(parser, encoding, entry->line, &entry->language));
        CELLAR_TRY(px_decode(parser, encoding, entry->line, &entry->key));
        for (size_t k = 0; k < entry->n_values; k++)
            CELLAR_TRY(px_decode(parser, encoding, entry->line, &entry->values[k]));
    }
out:
    return status;
}

cellar_status cellar_px_parse(const cellar_source *source, cellar_px *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const char *bytes = source->bytes;
    px_parser parser = {.source = source, .px = out, .err = err};
    int has_mark = source->length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0;
    cellar_encoding encoding;

    *out = (cellar_px){.arena = cellar_arena_create((size_t) 1 << 33)};
    if (out->arena == NULL)
        return cellar_fail_memory(err, "a px file");
    parser.cursor = (cellar_px_cursor){bytes + (has_mark ? 3 : 0), bytes + source->length, 1};
    CELLAR_TRY(px_take_entries(&parser));
    CELLAR_TRY(px_choose_encoding(&parser, has_mark, &encoding));
    CELLAR_TRY(px_decode_all(&parser, encoding));
out:
    return status;
}

void cellar_px_clear(cellar_px *px)
{
    cellar_arena_free(px->arena);
    cellar_free(px->entries);
    *px = (cellar_px){0};
}

const cellar_px_entry *cellar_px_find(const cellar_px *px, const char *keyword,
                                      const char *language, const char *key)
{
    for (size_t i = 0; i < px->n_entries; i++)
        if (strcmp(px->entries[i].keyword, keyword) == 0 &&
            strcmp(px->entries[i].language, language) == 0 && strcmp(px->entries[i].key, key) == 0)
            return &px->entries[i];
    return NULL;
}

const char *cellar_px_value(const cellar_px *px, const char *keyword, const char *key)
{
    const cellar_px_entry *entry = cellar_px_find(px, keyword, "", key);
    return entry != NULL && entry->n_values == 1 ? entry->values[0] : NULL;
}
