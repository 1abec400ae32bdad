/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/set_text.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"

enum { WORD_BYTES = 1024 };

static void skip_space(const char **at)
{
    while (**at == ' ' || **at == '\t')
        (*at)++;
}

/* A word up to one of `ends`, or in double quotes. */
static cellar_status read_word(const char **at, const char *ends, char word[WORD_BYTES],
                               cellar_error *err)
{
    const char *p = *at;
    size_t n = 0;
    int quoted;
    skip_space(&p);
    quoted = *p == '"';
    p += quoted;
    for (; *p != '\0'; p++) {
        if (quoted && p[0] == '"' && p[1] == '"')
            p++;
        else if (quoted ? *p == '"' : strchr(ends, *p) != NULL)
            break;
        if (n + 1 == WORD_BYTES)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a code is too long");
        word[n++] = *p;
    }
    if (quoted && *p != '"')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a quote is not closed");
    p += quoted;
    while (!quoted && n > 0 && (word[n - 1] == ' ' || word[n - 1] == '\t'))
        n--;
    word[n] = '\0';
    skip_space(&p);
    *at = p;
    return CELLAR_OK;
}

static cellar_status read_variable(const char **at, const cellar_set_reader *reader,
                                   cellar_error *err)
{
    char word[WORD_BYTES];
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(read_word(at, "=;", word, err));
    CELLAR_TRY(reader->variable(reader->context, word, err));
    if (**at != '=')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.100s': expected '=' and a code", word);
    do {
        (*at)++; /* '=' or ',' */
        CELLAR_TRY(read_word(at, ",;", word, err));
        CELLAR_TRY(reader->code(reader->context, word, err));
    } while (**at == ',');
    if (**at != '\0' && **at != ';')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "expected ';' or the end at '%.60s'", *at);
    *at += **at == ';';
    skip_space(at);
out:
    return status;
}

cellar_status cellar_set_text_read(const char *text, const cellar_set_reader *reader,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    skip_space(&text);
    while (*text != '\0' && status == CELLAR_OK)
        status = read_variable(&text, reader, err);
    return status;
}
