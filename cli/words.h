/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of words, and the memory of the command line: when it ends, so does the program. */
#ifndef CELLAR_CLI_WORDS_H
#define CELLAR_CLI_WORDS_H

#include <stddef.h>

/* `n` zeroed objects; says so and exits with 1 when memory ends. Free with free(). */
void *cli_alloc(size_t n, size_t size);

/* Copies of words, NULL-terminated once one was added. {0} is an empty list. */
typedef struct cli_words {
    char **items;
    size_t n, capacity;
} cli_words;

void cli_words_clear(cli_words *words);
void cli_words_add(cli_words *words, const char *text, size_t length);
const char *const *cli_words_items(const cli_words *words); /* never NULL */
/* The position of a word, or (size_t) -1. */
size_t cli_words_find(const cli_words *words, const char *word);

/* Adds the parts of `text` between separators. A separator within double quotes does not count;
 * with `unquote` a part in double quotes loses them, and a doubled quote in it stands for one.
 * Answers 0 when a quote is never closed. */
int cli_words_split(cli_words *words, const char *text, char separator, int unquote);

#endif
