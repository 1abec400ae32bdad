/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- percent-encoding --------------------------------------------------------------------------
 */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int has_control(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) text[i] < 0x20 || text[i] == 0x7f)
            return 1;
    return 0;
}

/* Percent-decodes `length` bytes into `out`, which has room for one more ('+' is a blank with
 * `is_query`). 0 when an escape is no hexadecimal number, or the result is not UTF-8 or has control
 * characters. */
static int decode_bytes(const char *text, size_t length, int is_query, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%') {
            const int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
            const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
            if (low < 0)
                return 0;
            out[n++] = (char) (high * 16 + low);
            i += 2;
        } else
            out[n++] = is_query && text[i] == '+' ? ' ' : text[i];
    }
    out[n] = '\0';
    return cellar_utf8_valid(out, n) && !has_control(out, n);
}

/* The same into the arena. 0 when it cannot be decoded; *wrong is NULL when memory ended. */
static int decode(const char *text, size_t length, int is_query, serve_call *call,
                  const char **wrong, const char **out)
{
    char *room = cellar_arena_alloc(call->arena, length + 1, 1);
    *out = room;
    if (room == NULL)
        *wrong = NULL;
    return room != NULL && decode_bytes(text, length, is_query, room);
}

/* ---- path and query ----------------------------------------------------------------------------
 */

static int decode_path(const char *path, serve_call *call, const char **wrong)
{
    const char **segments = cellar_arena_alloc(call->arena, SERVE_SEGMENTS_MAX, sizeof *segments);
    *wrong = segments != NULL ? "The path of the request cannot be read." : NULL;
    if (segments == NULL || path == NULL || path[0] != '/')
        return 0;
    while (*path != '\0') {
        const size_t length = strcspn(++path, "/");
        if (length > 0) {
            if (call->n_segments == SERVE_SEGMENTS_MAX)
                return 0;
            if (!decode(path, length, 0, call, wrong, &segments[call->n_segments++]))
                return 0;
        }
        path += length;
    }
    call->segments = segments;
    return 1;
}

static int decode_query(const char *query, serve_call *call, const char **wrong)
{
    serve_parameter *list = cellar_arena_alloc(call->arena, SERVE_PARAMETERS_MAX, sizeof *list);
    *wrong = list != NULL
                 ? "The query of the request cannot be read: it needs UTF-8, percent-encoded."
                 : NULL;
    if (list == NULL)
        return 0;
    while (query != NULL && *query != '\0') {
        const size_t length = strcspn(query, "&"), name = strcspn(query, "=&");
        if (length > 0) {
            serve_parameter *at = &list[call->n_parameters];
            if (call->n_parameters++ == SERVE_PARAMETERS_MAX)
                return 0;
            at->value = "";
            if (!decode(query, name, 1, call, wrong, &at->name) ||
                (name < length &&
                 !decode(query + name + 1, length - name - 1, 1, call, wrong, &at->value)))
                return 0;
        }
        query += length + (query[length] == '&');
    }
    call->parameters = list;
    return 1;
}

int serve_call_decode(const cellar_request *request, serve_call *call, const char **wrong)
{
    call->request = request;
    return decode_path(request->path, call, wrong) && decode_query(request->query, call, wrong);
}

const char *serve_parameter_find(const serve_call *call, const char *name)
{
    for (size_t i = 0; i < call->n_parameters; i++)
        if (strcasecmp(call->parameters[i].name, name) == 0)
            return call->parameters[i].value;
    return NULL;
}

/* ---- languages ---------------------------------------------------------------------------------
 */

size_t serve_language_find(const cellar_site *site, const char *tag, size_t length)
{
    for (size_t i = 0; i < site->n_languages; i++)
        if (strlen(site->languages[i]) == length &&
            strncasecmp(site->languages[i], tag, length) == 0)
            return i;
    return SIZE_MAX;
}

/* "sv-FI;q=0.8" asks for sv-FI, else for sv. */
static size_t find_range(const cellar_site *site, const char *range, size_t length)
{
    const size_t found = serve_language_find(site, range, length);
    return found != SIZE_MAX ? found : serve_language_find(site, range, strcspn(range, "-;, "));
}

size_t serve_language_accepted(const cellar_site *site, const char *accepted)
{
    size_t best = 0;
    double most = 0;
    while (accepted != NULL && *accepted != '\0') {
        size_t found, length;
        const char *weight;
        double q = 1;
        accepted += strspn(accepted, ", ");
        length = strcspn(accepted, ",");
        found = find_range(site, accepted, strcspn(accepted, ";, "));
        weight = memchr(accepted, ';', length);
        if (weight != NULL && strncmp(weight + 1 + strspn(weight + 1, " "), "q=", 2) == 0)
            q = strtod(weight + 1 + strspn(weight + 1, " ") + 2, NULL);
        if (found != SIZE_MAX && q > most && q <= 1) {
            best = found;
            most = q;
        }
        accepted += length;
    }
    return best;
}
