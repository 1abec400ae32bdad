/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/tokens.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"
#include "serve/token_lines.h"

struct serve_tokens {
    char *path;
    pthread_mutex_t lock;
    token_lines lines;
    struct stat seen; /* when the lines were read */
};

/* 1 when the file is still the one whose lines are held. */
static int is_current(const serve_tokens *tokens, const struct stat *now)
{
    const struct stat *seen = &tokens->seen;
    return now->st_ino == seen->st_ino && now->st_dev == seen->st_dev &&
           now->st_size == seen->st_size && now->st_mtim.tv_sec == seen->st_mtim.tv_sec &&
           now->st_mtim.tv_nsec == seen->st_mtim.tv_nsec && now->st_mode == seen->st_mode;
}

/* Looks before it reads: a file that is exchanged meanwhile is read once more next time. */
static cellar_status refresh(serve_tokens *tokens, cellar_error *err)
{
    struct stat now = {0};
    cellar_status status;
    if (stat(tokens->path, &now) == 0 && is_current(tokens, &now))
        return CELLAR_OK;
    token_lines_clear(&tokens->lines);
    status = token_lines_read(tokens->path, &tokens->lines, err);
    if (status != CELLAR_OK)
        token_lines_clear(&tokens->lines);
    tokens->seen = status == CELLAR_OK ? now : (struct stat){0};
    return status;
}

cellar_status serve_tokens_open(const char *path, serve_tokens **out, cellar_error *err)
{
    serve_tokens *tokens = cellar_alloc(1, sizeof *tokens);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (sodium_init() < 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium cannot start"));
    if (tokens != NULL)
        tokens->path = cellar_alloc(strlen(path) + 1, 1);
    if (tokens == NULL || tokens->path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "tokens"));
    memcpy(tokens->path, path, strlen(path) + 1);
    pthread_mutex_init(&tokens->lock, NULL);
    CELLAR_TRY(refresh(tokens, err));
    *out = tokens;
    return CELLAR_OK;
out:
    serve_tokens_close(tokens);
    return status;
}

void serve_tokens_close(serve_tokens *tokens)
{
    if (tokens == NULL)
        return;
    token_lines_clear(&tokens->lines);
    cellar_free(tokens->path);
    cellar_free(tokens);
}

/* Compares with every line, whatever was found before. */
static const token_line *find_hash(const token_lines *lines, const unsigned char hash[TOKEN_HASH])
{
    const token_line *found = NULL;
    for (size_t i = 0; i < lines->n; i++)
        if (sodium_memcmp(lines->items[i].hash, hash, TOKEN_HASH) == 0)
            found = &lines->items[i];
    return found;
}

int serve_tokens_find(serve_tokens *tokens, const char *authorization, int64_t now,
                      serve_token *out)
{
    static const char scheme[] = "Bearer ";
    unsigned char hash[TOKEN_HASH];
    char today[TOKEN_DAY];
    const token_line *line = NULL;
    int is_found;
    if (tokens == NULL || authorization == NULL ||
        strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
        return 0;
    authorization += sizeof scheme - 1;
    is_found = token_hash(authorization, strlen(authorization), hash);
    token_day(now, today);
    pthread_mutex_lock(&tokens->lock);
    if (refresh(tokens, NULL) == CELLAR_OK)
        line = find_hash(&tokens->lines, hash);
    is_found =
        is_found && line != NULL && (line->expires[0] == '\0' || strcmp(today, line->expires) <= 0);
    if (is_found)
        *out = line->token;
    pthread_mutex_unlock(&tokens->lock);
    return is_found;
}
