/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/mechanism.h>

#include "lists.h"
#include "message.h"

/* `option` is the one to blame for a grid that is none. */
static int vary_add_key(const char *option, const char *key, size_t length, const char *grid,
                        cli_vary *out, cli_words *axis)
{
    char name[64];
    if (length == 0 || length >= sizeof name)
        return cli_usage("--vary: it reads epsilon=0.01..100/50, or m=5,10");
    snprintf(name, sizeof name, "%.*s", (int) length, key);
    if (cli_words_find(&out->keys, name) != (size_t) -1)
        return cli_usage("--vary: '%s' varies twice", name);
    cli_words_add(&out->keys, name, length);
    return cli_list_decimals(option, grid, axis);
}

static int vary_read_axes(const cli_words *vary, const char *epsilon, cli_vary *out,
                          cli_words *axes)
{
    int result = CLI_GO_ON;
    if (epsilon != NULL)
        result = vary_add_key("epsilon", "epsilon", strlen("epsilon"), epsilon, out, &axes[0]);
    for (size_t i = 0; i < vary->n && result == CLI_GO_ON; i++) {
        const char *item = vary->items[i], *equals = strchr(item, '=');
        if (equals == NULL)
            return cli_usage("--vary: '%s' has no '='; it reads epsilon=0.01..100/50", item);
        result = vary_add_key("vary", item, (size_t) (equals - item), equals + 1, out,
                              &axes[out->keys.n]);
    }
    return result;
}

/* One combination, and the spec it makes of `base`. */
static int vary_add_spec(const char *base, size_t index, size_t n, const cli_words *axes,
                         cli_vary *out)
{
    char *spec = cli_alloc(strlen(base) + 1, 1);
    int result = CLI_GO_ON;
    memcpy(spec, base, strlen(base) + 1);
    for (size_t k = 0; k < out->keys.n && result == CLI_GO_ON; k++) {
        const char *key = out->keys.items[k], *value;
        size_t size;
        char *longer;
        cellar_error err;
        n /= axes[k].n;
        value = axes[k].items[index / n];
        index %= n;
        cli_words_add(&out->values, value, strlen(value));
        size = strlen(spec) + strlen(key) + strlen(value) + 3;
        longer = cli_alloc(size, 1);
        if (cellar_mechanism_spec_add(spec, key, value, longer, size, &err) != CELLAR_OK)
            result = cli_usage("--vary: %s", err.message);
        free(spec);
        spec = longer;
    }
    cli_words_add(&out->specs, spec, strlen(spec));
    free(spec);
    return result;
}

int cli_vary_read(const cli_words *mechanisms, const cli_words *vary, const char *epsilon,
                  cli_vary *out)
{
    cli_words *axes = cli_alloc(vary->n + 1, sizeof *axes);
    size_t n = 1, all = 0;
    int result = vary_read_axes(vary, epsilon, out, axes);

    for (size_t k = 0; k < out->keys.n && result == CLI_GO_ON; k++)
        if (__builtin_mul_overflow(n, axes[k].n, &n))
            n = SIZE_MAX;
    if (result == CLI_GO_ON &&
        (__builtin_mul_overflow(n, mechanisms->n, &all) || all > CLI_LIST_MAX))
        result = cli_usage("--vary: more than %d combinations", CLI_LIST_MAX);
    for (size_t m = 0; m < mechanisms->n && result == CLI_GO_ON; m++)
        for (size_t i = 0; i < n && result == CLI_GO_ON; i++)
            result = vary_add_spec(mechanisms->items[m], i, n, axes, out);
    for (size_t k = 0; k <= vary->n; k++)
        cli_words_clear(&axes[k]);
    free(axes);
    return result;
}

void cli_vary_clear(cli_vary *vary)
{
    cli_words_clear(&vary->specs);
    cli_words_clear(&vary->keys);
    cli_words_clear(&vary->values);
}

const char *cli_vary_value(const cli_vary *vary, size_t spec, const char *key)
{
    size_t k = cli_words_find(&vary->keys, key);
    return k == (size_t) -1 ? NULL : vary->values.items[spec * vary->keys.n + k];
}
