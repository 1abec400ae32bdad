/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making, listing and revoking tokens. */
#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <sodium.h>

#include <cellar/access.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/place.h"
#include "serve/token_lines.h"

cellar_token_spec cellar_token_spec_default(void)
{
    return (cellar_token_spec){.roles = "reader"};
}

/* Changes a file: reads it (none is an empty one), lets `change` do its work, and puts the new one
 * in its place in one step. Nobody else changes it meanwhile: the folder is locked. */
typedef cellar_status change_lines(void *context, token_lines *lines, cellar_error *err);

static cellar_status write_lines(const char *path, const token_lines *lines, cellar_error *err)
{
    const cellar_output_options options = {.replace = 1, .shared = 1};
    cellar_output *output;
    cellar_text text = {0};
    cellar_status status = cellar_output_open(path, &options, &output, err);
    if (status != CELLAR_OK)
        return status;
    cellar_text_add_string(&text, TOKEN_HEADING "\n");
    for (size_t i = 0; i < lines->n; i++)
        token_line_write(&lines->items[i], &text);
    cellar_output_text(output, &text);
    cellar_text_clear(&text);
    return cellar_output_commit(output, err);
}

static int is_there(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 || errno != ENOENT;
}

static cellar_status change_file(const char *path, change_lines *change, void *context,
                                 cellar_error *err)
{
    cellar_place place = {.fd = -1};
    token_lines lines = {NULL, 0, 0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err));
    while (flock(place.fd, LOCK_EX) != 0)
        if (errno != EINTR)
            CELLAR_TRY(cellar_fail_errno(err, path, "lock the folder"));
    if (is_there(path))
        CELLAR_TRY(token_lines_read(path, &lines, err));
    CELLAR_TRY(change(context, &lines, err));
    CELLAR_TRY(write_lines(path, &lines, err));
out:
    token_lines_clear(&lines);
    cellar_place_close(&place);
    return status;
}

/* ---- making -------------------------------------------------------------------- */

static cellar_status spec_check(const cellar_token_spec *spec, cellar_error *err)
{
    if (spec->name == NULL || !token_is_name(spec->name))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a token has a name of 1 to %d letters, digits, '.', '-', '_' and '@'",
                           SERVE_TOKEN_NAME - 1);
    if (spec->roles == NULL || token_roles(spec->roles) == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "'%.60s' are no roles: reader, analyst, publisher, auditor",
                           spec->roles != NULL ? spec->roles : "");
    if (spec->analyst != NULL && !token_is_analyst(spec->analyst))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.60s' is no name of an analyst",
                           spec->analyst);
    if (spec->analyst != NULL && (token_roles(spec->roles) & SERVE_MAY_DRAW) == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "only the role analyst spends a share");
    if (spec->expires != NULL && !token_is_day(spec->expires))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.60s' is no day such as 2027-12-31",
                           spec->expires);
    return CELLAR_OK;
}

static void spec_fill(const cellar_token_spec *spec, token_line *out)
{
    out->token.roles = token_roles(spec->roles);
    memcpy(out->token.name, spec->name, strlen(spec->name));
    if (spec->analyst != NULL)
        memcpy(out->token.analyst, spec->analyst, strlen(spec->analyst));
    if (spec->expires != NULL)
        memcpy(out->expires, spec->expires, TOKEN_DAY);
    token_day((int64_t) time(NULL), out->created);
}

static cellar_status add_line(void *context, token_lines *lines, cellar_error *err)
{
    const token_line *line = context;
    if (token_lines_find(lines, line->token.name) != NULL)
        return cellar_fail(err, CELLAR_ERR_EXISTS, "there is a token with the name '%s' already",
                           line->token.name);
    if (lines->n == TOKENS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a file has at most %d tokens", TOKENS_MAX);
    if (!cellar_grow(&lines->items, &lines->capacity, lines->n + 1, sizeof *lines->items))
        return cellar_fail_memory(err, "a file of tokens");
    lines->items[lines->n++] = *line;
    return CELLAR_OK;
}

cellar_status cellar_token_create(const char *path, const cellar_token_spec *spec,
                                  char secret[CELLAR_TOKEN_TEXT], cellar_error *err)
{
    unsigned char bytes[32];
    token_line line = {.created = ""};
    cellar_status status = spec_check(spec, err);
    memset(secret, 0, CELLAR_TOKEN_TEXT);
    if (status != CELLAR_OK)
        return status;
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium cannot start");
    randombytes_buf(bytes, sizeof bytes);
    memcpy(secret, "cellar_", 7);
    sodium_bin2base64(secret + 7, CELLAR_TOKEN_TEXT - 7, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    cellar_wipe(bytes, sizeof bytes);
    token_hash(secret, strlen(secret), line.hash);
    spec_fill(spec, &line);
    status = change_file(path, add_line, &line, err);
    if (status != CELLAR_OK)
        cellar_wipe(secret, CELLAR_TOKEN_TEXT);
    return status;
}

/* ---- revoking and listing -------------------------------------------------------- */

static cellar_status remove_line(void *context, token_lines *lines, cellar_error *err)
{
    const char *name = context;
    token_line *line = token_lines_find(lines, name);
    if (line == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no token with the name '%.60s'",
                           name);
    lines->n--;
    memmove(line, line + 1, (size_t) (lines->items + lines->n - line) * sizeof *line);
    return CELLAR_OK;
}

cellar_status cellar_token_revoke(const char *path, const char *name, cellar_error *err)
{
    return change_file(path, remove_line, (void *) (uintptr_t) name, err);
}

cellar_status cellar_token_list(const char *path, cellar_token_visit *visit, void *context,
                                cellar_error *err)
{
    token_lines lines;
    cellar_text roles = {0};
    cellar_status status = token_lines_read(path, &lines, err);
    for (size_t i = 0; status == CELLAR_OK && i < lines.n; i++) {
        const token_line *line = &lines.items[i];
        cellar_text_reset(&roles);
        token_roles_write(line->token.roles, &roles);
        if (roles.failed)
            status = cellar_fail_memory(err, "a list of tokens");
        else
            visit(context,
                  &(cellar_token_info){
                      .name = line->token.name,
                      .roles = roles.bytes,
                      .created = line->created,
                      .analyst = line->token.analyst[0] != '\0' ? line->token.analyst : NULL,
                      .expires = line->expires[0] != '\0' ? line->expires : NULL});
    }
    cellar_text_clear(&roles);
    token_lines_clear(&lines);
    return status;
}
