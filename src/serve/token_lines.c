/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/token_lines.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"

enum { FILE_BYTES = 1 << 22, SECRET_BYTES = 32, N_FIELDS = 6 };

static const char PREFIX[] = "cellar_";
static const char *const role_words[] = {"reader", "analyst", "publisher", "auditor"};
enum { N_ROLES = sizeof role_words / sizeof role_words[0] };

/* ---- words -------------------------------------------------------------------- */

unsigned token_roles(const char *words)
{
    unsigned roles = 0;
    for (;;) {
        size_t length = strcspn(words, ","), r = 0;
        while (r < N_ROLES &&
               (strlen(role_words[r]) != length || strncmp(role_words[r], words, length) != 0))
            r++;
        if (r == N_ROLES)
            return 0;
        roles |= 1u << r;
        if (words[length] == '\0')
            return roles;
        words += length + 1;
    }
}

void token_roles_write(unsigned roles, cellar_text *out)
{
    const char *between = "";
    for (size_t r = 0; r < N_ROLES; r++)
        if ((roles >> r & 1) != 0) {
            cellar_text_printf(out, "%s%s", between, role_words[r]);
            between = ",";
        }
}

int token_is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  ".-_@";
    size_t length = strlen(name);
    return length > 0 && length < SERVE_TOKEN_NAME && strspn(name, letters) == length;
}

int token_is_analyst(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length >= SERVE_TOKEN_NAME || strcmp(name, "-") == 0 ||
        !cellar_utf8_valid(name, length))
        return 0;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) name[i] < 0x20 || name[i] == 0x7f)
            return 0;
    return 1;
}

int token_is_day(const char *text)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month, day;
    for (size_t i = 0; i < 10; i++)
        if (i == 4 || i == 7 ? text[i] != '-' : text[i] < '0' || text[i] > '9')
            return 0;
    month = (text[5] - '0') * 10 + text[6] - '0';
    day = (text[8] - '0') * 10 + text[9] - '0';
    return text[10] == '\0' && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

void token_day(int64_t time, char out[TOKEN_DAY])
{
    const time_t seconds = (time_t) time;
    struct tm day;
    gmtime_r(&seconds, &day);
    strftime(out, TOKEN_DAY, "%Y-%m-%d", &day);
}

/* The purpose goes first, so that the hash is of no other use. */
int token_hash(const char *secret, size_t length, unsigned char hash[TOKEN_HASH])
{
    static const char purpose[] = "cellar token 1";
    crypto_generichash_state state;
    unsigned char bytes[SECRET_BYTES] = {0};
    const size_t prefix = sizeof PREFIX - 1;
    size_t n = 0;
    const char *end = NULL;
    int is_token = length > prefix && strncmp(secret, PREFIX, prefix) == 0 &&
                   sodium_base642bin(bytes, sizeof bytes, secret + prefix, length - prefix, NULL,
                                     &n, &end, sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0 &&
                   n == sizeof bytes && end == secret + length;
    crypto_generichash_init(&state, NULL, 0, TOKEN_HASH);
    crypto_generichash_update(&state, (const unsigned char *) purpose, sizeof purpose);
    crypto_generichash_update(&state, bytes, sizeof bytes);
    crypto_generichash_final(&state, hash, TOKEN_HASH);
    cellar_wipe(bytes, sizeof bytes);
    return is_token;
}

/* ---- lines -------------------------------------------------------------------- */

/* Splits a line, whose bytes it changes; 0 when it has another number of fields. */
static int split(char *line, char *fields[N_FIELDS])
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        char *tab = strchr(line, '\t');
        fields[i] = line;
        if ((tab == NULL) != (i + 1 == N_FIELDS))
            return 0;
        if (tab != NULL) {
            *tab = '\0';
            line = tab + 1;
        }
    }
    return 1;
}

/* What is wrong with a line; NULL: nothing. */
static const char *line_read(char *text, token_line *out)
{
    char *fields[N_FIELDS];
    size_t n = 0;
    *out = (token_line){.created = ""};
    if (!split(text, fields))
        return "expected six fields between tabs";
    if (strlen(fields[0]) != TOKEN_HEX ||
        sodium_hex2bin(out->hash, TOKEN_HASH, fields[0], TOKEN_HEX, NULL, &n, NULL) != 0 ||
        n != TOKEN_HASH)
        return "expected a hash of 64 hexadecimal digits";
    if (!token_is_name(fields[1]))
        return "this is no name of a token";
    out->token.roles = token_roles(fields[2]);
    if (out->token.roles == 0)
        return "expected roles: reader, analyst, publisher, auditor";
    if (strcmp(fields[3], "-") != 0 && !token_is_analyst(fields[3]))
        return "this is no name of an analyst";
    if (!token_is_day(fields[4]) || (strcmp(fields[5], "-") != 0 && !token_is_day(fields[5])))
        return "expected a day such as 2027-12-31";
    memcpy(out->token.name, fields[1], strlen(fields[1]));
    if (strcmp(fields[3], "-") != 0)
        memcpy(out->token.analyst, fields[3], strlen(fields[3]));
    memcpy(out->created, fields[4], TOKEN_DAY);
    if (strcmp(fields[5], "-") != 0)
        memcpy(out->expires, fields[5], TOKEN_DAY);
    return NULL;
}

void token_line_write(const token_line *line, cellar_text *out)
{
    char hex[TOKEN_HEX + 1];
    sodium_bin2hex(hex, sizeof hex, line->hash, TOKEN_HASH);
    cellar_text_printf(out, "%s\t%s\t", hex, line->token.name);
    token_roles_write(line->token.roles, out);
    cellar_text_printf(out, "\t%s\t%s\t%s\n",
                       line->token.analyst[0] != '\0' ? line->token.analyst : "-", line->created,
                       line->expires[0] != '\0' ? line->expires : "-");
}

token_line *token_lines_find(const token_lines *lines, const char *name)
{
    for (size_t i = 0; i < lines->n; i++)
        if (strcmp(lines->items[i].token.name, name) == 0)
            return &lines->items[i];
    return NULL;
}

/* ---- files -------------------------------------------------------------------- */

static cellar_status lines_add(const char *path, size_t number, char *text, token_lines *out,
                               cellar_error *err)
{
    token_line line;
    const char *wrong = line_read(text, &line);
    if (wrong == NULL && out->n == TOKENS_MAX)
        wrong = "there are more tokens than a file can have";
    if (wrong == NULL && token_lines_find(out, line.token.name) != NULL)
        wrong = "a token of this name stands above";
    if (wrong != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%zu: %s", path, number, wrong);
    if (!cellar_grow(&out->items, &out->capacity, out->n + 1, sizeof *out->items))
        return cellar_fail_memory(err, "a file of tokens");
    out->items[out->n++] = line;
    return CELLAR_OK;
}

cellar_status token_lines_parse(const char *path, const char *text, size_t length, token_lines *out,
                                cellar_error *err)
{
    char line[1024];
    *out = (token_lines){NULL, 0, 0};
    for (size_t at = 0, number = 1; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t n = end != NULL ? (size_t) (end - text) - at : 0;
        cellar_status status = CELLAR_OK;
        if (end == NULL || n >= sizeof line || memchr(text + at, '\0', n) != NULL)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%zu: this is no line of a file of tokens",
                               path, number);
        memcpy(line, text + at, n);
        line[n] = '\0';
        at += n + 1;
        if (number > 1)
            status = lines_add(path, number, line, out, err);
        else if (strcmp(line, TOKEN_HEADING) != 0)
            status = cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: expected '%s'", path, TOKEN_HEADING);
        if (status != CELLAR_OK)
            return status;
    }
    return length > 0 ? CELLAR_OK
                      : cellar_fail(err, CELLAR_ERR_INPUT, "%s: the file is empty", path);
}

cellar_status token_lines_read(const char *path, token_lines *out, cellar_error *err)
{
    struct stat facts;
    const int is_there = stat(path, &facts) == 0;
    char *text = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;
    *out = (token_lines){NULL, 0, 0};
    if (!is_there && errno == ENOENT)
        return cellar_fail(err, CELLAR_ERR_IO,
                           "%s: there is no such file; 'cellar serve token create' makes it", path);
    if (is_there && (facts.st_mode & 022) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: others may change the file and so make tokens; chmod go-w", path);
    CELLAR_TRY(cellar_file_read_plain(path, FILE_BYTES, &text, &length, err));
    CELLAR_TRY(token_lines_parse(path, text, length, out, err));
out:
    cellar_free(text);
    return status;
}

void token_lines_clear(token_lines *lines)
{
    cellar_free(lines->items);
    *lines = (token_lines){NULL, 0, 0};
}
