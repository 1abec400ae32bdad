/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lists.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/text.h>

#include "message.h"

static int list_parse_real(const char *text, size_t length, double *out)
{
    char copy[128], *end;
    if (length == 0 || length >= sizeof copy || strcspn(text, "xXnNiI") < length)
        return 0;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = strtod(copy, &end);
    return *end == '\0' && isfinite(*out);
}

int cli_list_real(const char *option, const char *text, double *out)
{
    if (list_parse_real(text, strlen(text), out))
        return CLI_GO_ON;
    return cli_usage("--%s: '%s' is no number", option, text);
}

int cli_list_ends(const char *text, double *first, double *last)
{
    const char *dots = strstr(text, ".."), *slash;
    size_t length;
    uint64_t n;
    if (dots == NULL)
        return 0;
    slash = strchr(dots, '/');
    length = slash != NULL ? (size_t) (slash - dots - 2) : strlen(dots + 2);
    return list_parse_real(text, (size_t) (dots - text), first) &&
           list_parse_real(dots + 2, length, last) && *first > 0 && *last > *first &&
           (slash == NULL || cellar_parse_u64(slash + 1, strlen(slash + 1), &n));
}

/* "a..b/n": n points from a to b, log-spaced. */
static int list_grid(const char *option, const char *part, const char *dots, cli_words *out)
{
    const char *slash = strchr(dots, '/');
    double first, last;
    uint64_t n;
    char text[64];
    if (slash == NULL || !list_parse_real(part, (size_t) (dots - part), &first) ||
        !list_parse_real(dots + 2, (size_t) (slash - dots - 2), &last) ||
        !cellar_parse_u64(slash + 1, strlen(slash + 1), &n) || !(first > 0) || !(last > first) ||
        n < 2 || n > CLI_LIST_MAX)
        return cli_usage("--%s: a grid reads 0.01..1/50 (50 points from 0.01 to 1), not '%s'",
                         option, part);
    for (uint64_t i = 0; i < n; i++) {
        double x = first * pow(last / first, (double) i / (double) (n - 1));
        snprintf(text, sizeof text, "%.17g", i + 1 == n ? last : x);
        cli_words_add(out, text, strlen(text));
    }
    return CLI_GO_ON;
}

int cli_list_decimals(const char *option, const char *text, cli_words *out)
{
    cli_words parts = {0};
    int result = CLI_GO_ON;
    cli_words_split(&parts, text, ',', 0);
    for (size_t i = 0; i < parts.n && result == CLI_GO_ON; i++) {
        const char *dots = strstr(parts.items[i], "..");
        double number;
        if (dots != NULL)
            result = list_grid(option, parts.items[i], dots, out);
        else if ((result = cli_list_real(option, parts.items[i], &number)) == CLI_GO_ON)
            cli_words_add(out, parts.items[i], strlen(parts.items[i]));
    }
    cli_words_clear(&parts);
    return result;
}

static int list_range(const char *part, uint64_t *first, uint64_t *last)
{
    const char *dots = strstr(part, "..");
    if (dots == NULL) {
        int ok = cellar_parse_u64(part, strlen(part), first);
        *last = *first;
        return ok;
    }
    return cellar_parse_u64(part, (size_t) (dots - part), first) &&
           cellar_parse_u64(dots + 2, strlen(dots + 2), last) && *last >= *first;
}

int cli_list_counts(const char *option, const char *text, uint64_t smallest, uint64_t **out,
                    size_t *n)
{
    cli_words parts = {0};
    int result = CLI_GO_ON;
    *out = cli_alloc(CLI_LIST_MAX, sizeof **out);
    *n = 0;
    cli_words_split(&parts, text, ',', 0);
    for (size_t i = 0; i < parts.n && result == CLI_GO_ON; i++) {
        uint64_t first = 0, last = 0;
        if (!list_range(parts.items[i], &first, &last) || first < smallest)
            result = cli_usage("--%s: '%s' is no whole number of at least %llu, nor a range 2..5",
                               option, parts.items[i], (unsigned long long) smallest);
        else if (last - first >= CLI_LIST_MAX - *n)
            result = cli_usage("--%s: more than %d numbers", option, CLI_LIST_MAX);
        else
            for (uint64_t up = 0; up <= last - first; up++) /* last may be the largest there is */
                (*out)[(*n)++] = first + up;
    }
    cli_words_clear(&parts);
    return result;
}
