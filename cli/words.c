/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

void *cli_alloc(size_t n, size_t size)
{
    void *memory = calloc(n > 0 ? n : 1, size);
    if (memory == NULL) {
        cli_message("memory ran out");
        exit(CLI_FAILED);
    }
    return memory;
}

void cli_words_clear(cli_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        free(words->items[i]);
    free(words->items);
    *words = (cli_words){0};
}

void cli_words_add(cli_words *words, const char *text, size_t length)
{
    if (words->n + 2 > words->capacity) { /* one place for the NULL at the end */
        size_t capacity = 2 * words->capacity + 8;
        char **items = cli_alloc(capacity, sizeof *items);
        if (words->n > 0)
            memcpy(items, words->items, words->n * sizeof *items);
        free(words->items);
        words->items = items;
        words->capacity = capacity;
    }
    words->items[words->n] = cli_alloc(length + 1, 1);
    memcpy(words->items[words->n++], text, length);
}

const char *const *cli_words_items(const cli_words *words)
{
    static const char *const none[] = {NULL};
    return words->n > 0 ? (const char *const *) words->items : none;
}

size_t cli_words_find(const cli_words *words, const char *word)
{
    for (size_t i = 0; i < words->n; i++)
        if (strcmp(words->items[i], word) == 0)
            return i;
    return SIZE_MAX;
}

/* Removes the quotes around a part, in place. */
static size_t words_unquote(char *part, size_t length)
{
    size_t n = 0;
    if (length < 2 || part[0] != '"' || part[length - 1] != '"')
        return length;
    for (size_t i = 1; i < length - 1; i++) {
        part[n++] = part[i];
        if (part[i] == '"' && i + 1 < length - 1 && part[i + 1] == '"')
            i++;
    }
    return n;
}

int cli_words_split(cli_words *words, const char *text, char separator, int unquote)
{
    const char *start = text;
    int quoted = 0;
    for (const char *c = text;; c++) {
        if (*c == '"')
            quoted = !quoted;
        if (*c != '\0' && (*c != separator || quoted))
            continue;
        cli_words_add(words, start, (size_t) (c - start));
        if (unquote) {
            char *part = words->items[words->n - 1];
            part[words_unquote(part, (size_t) (c - start))] = '\0';
        }
        if (*c == '\0')
            return !quoted;
        start = c + 1;
    }
}
