/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

/* A comma is due unless the text ends with an opening bracket or a colon: no value ends so. */
static void json_part(cellar_text *out)
{
    if (out->length > 0 && strchr("{[:", out->bytes[out->length - 1]) == NULL)
        cellar_text_add_char(out, ',');
}

void serve_json_open(cellar_text *out, char bracket)
{
    json_part(out);
    cellar_text_add_char(out, bracket);
}

void serve_json_close(cellar_text *out, char bracket)
{
    cellar_text_add_char(out, bracket);
}

/* How many bytes from `s` on stand for themselves in a JSON string. */
static size_t json_plain(const char *s)
{
    size_t n = 0;
    while ((unsigned char) s[n] >= ' ' && s[n] != '"' && s[n] != '\\' && s[n] != 0x7f)
        n++;
    return n;
}

static void json_add_escape(cellar_text *out, char c)
{
    if (c == '"' || c == '\\') {
        cellar_text_add_char(out, '\\');
        cellar_text_add_char(out, c);
    } else if (c == '\n')
        cellar_text_add_string(out, "\\n");
    else if (c == '\t')
        cellar_text_add_string(out, "\\t");
    else
        cellar_text_printf(out, "\\u%04x", (unsigned) (unsigned char) c);
}

static void json_add_valid(cellar_text *out, const char *string)
{
    for (;;) {
        const size_t n = json_plain(string);
        cellar_text_add(out, string, n);
        string += n;
        if (*string == '\0')
            return;
        json_add_escape(out, *string++);
    }
}

/* Byte after byte, for texts that are not well-formed. */
static void json_add_mended(cellar_text *out, const char *string)
{
    size_t left = strlen(string);
    while (left > 0) {
        char character[5] = "";
        size_t n = 1;
        while (n < 4 && n < left && !cellar_utf8_valid(string, n))
            n++;
        if (cellar_utf8_valid(string, n)) {
            memcpy(character, string, n);
            json_add_valid(out, character);
        } else {
            n = 1;
            cellar_text_add_string(out, "\xef\xbf\xbd");
        }
        string += n;
        left -= n;
    }
}

void serve_json_string(cellar_text *out, const char *string)
{
    json_part(out);
    if (string == NULL) {
        cellar_text_add_string(out, "null");
        return;
    }
    cellar_text_add_char(out, '"');
    if (cellar_utf8_valid(string, strlen(string)))
        json_add_valid(out, string);
    else
        json_add_mended(out, string);
    cellar_text_add_char(out, '"');
}

void serve_json_name(cellar_text *out, const char *name)
{
    serve_json_string(out, name);
    cellar_text_add_char(out, ':');
}

void serve_json_raw(cellar_text *out, const char *json)
{
    json_part(out);
    cellar_text_add_string(out, json);
}

void serve_json_integer(cellar_text *out, int64_t value)
{
    json_part(out);
    cellar_text_printf(out, "%" PRId64, value);
}

void serve_json_bool(cellar_text *out, int value)
{
    serve_json_raw(out, value ? "true" : "false");
}

void serve_json_pair(cellar_text *out, const char *name, const char *string)
{
    serve_json_name(out, name);
    serve_json_string(out, string);
}

/* ---- reading ---------------------------------------------------------------- */

/* 1 when brackets outside strings nest no deeper than allowed. */
static int json_is_shallow(const char *bytes, size_t length)
{
    size_t depth = 0;
    int in_string = 0;
    for (size_t i = 0; i < length; i++) {
        const char c = bytes[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = 0;
        } else if (c == '"')
            in_string = 1;
        else if (c == '{' || c == '[') {
            if (++depth > SERVE_JSON_MAX_DEPTH)
                return 0;
        } else if ((c == '}' || c == ']') && depth > 0)
            depth--;
    }
    return 1;
}

cellar_status serve_json_read(const char *bytes, size_t length, json_t **out, cellar_error *err)
{
    json_error_t problem;

    *out = NULL;
    if (length == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "the body is empty; it must be JSON");
    if (length > SERVE_JSON_MAX_BYTES)
        return cellar_fail(err, CELLAR_ERR_INPUT, "the body is larger than %d bytes",
                           (int) SERVE_JSON_MAX_BYTES);
    if (!json_is_shallow(bytes, length))
        return cellar_fail(err, CELLAR_ERR_INPUT, "the body nests more than %d brackets",
                           (int) SERVE_JSON_MAX_DEPTH);
    *out = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &problem);
    if (*out != NULL)
        return CELLAR_OK;
    if (json_error_code(&problem) == json_error_out_of_memory)
        return cellar_fail_memory(err, "the body of a request");
    if (json_error_code(&problem) == json_error_duplicate_key)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "the body has a member twice, at line %d, column %d", problem.line,
                           problem.column);
    return cellar_fail(err, CELLAR_ERR_INPUT, "the body is no JSON at line %d, column %d",
                       problem.line, problem.column);
}
