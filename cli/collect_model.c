/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The models that a decision of a collection may rest on, as they are typed. */
#include <stdio.h>
#include <string.h>

#include "collect.h"
#include "variables.h"

static const cellar_collect_model_kind kinds[] = {CELLAR_COLLECT_INDEPENDENCE,
                                                  CELLAR_COLLECT_SAMPLE, CELLAR_COLLECT_CUBE};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* The kind that the first `length` bytes name, or none. */
static cellar_collect_model_kind kind_find(const char *word, size_t length)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const char *name = cellar_collect_model_kind_name(kinds[i]);
        if (strlen(name) == length && memcmp(name, word, length) == 0)
            return kinds[i];
    }
    return CELLAR_COLLECT_NO_MODEL;
}

int collect_model_open(const collect_values *values, const cellar_collect_column *columns, size_t n,
                       cellar_collect_model **model)
{
    const char *word = values->model, *colon = strchr(word, ':');
    cellar_collect_model_kind kind =
        kind_find(word, colon != NULL ? (size_t) (colon - word) : strlen(word));
    cellar_error err;
    cellar_status status;

    *model = NULL;
    if (kind == CELLAR_COLLECT_INDEPENDENCE && colon == NULL)
        return CLI_GO_ON;
    if (kind == CELLAR_COLLECT_NO_MODEL || kind == CELLAR_COLLECT_INDEPENDENCE || colon == NULL ||
        colon[1] == '\0')
        return cli_usage("collect: --model is independence, sample:FILE or cube:FILE, not '%s'",
                         word);
    status = cellar_collect_model_open(kind, colon + 1, columns, n, model, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

int collect_models_read(const char *text, unsigned *mask)
{
    cli_words words = {0};
    int result = cli_variables_names("models", text, &words);
    *mask = 0;
    for (size_t i = 0; i < words.n && result == CLI_GO_ON; i++) {
        cellar_collect_model_kind kind = kind_find(words.items[i], strlen(words.items[i]));
        if (kind == CELLAR_COLLECT_NO_MODEL)
            result =
                cli_usage("--models names independence, sample or cube, not '%s'", words.items[i]);
        *mask |= 1U << kind;
    }
    cli_words_clear(&words);
    return result;
}
