/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of utility share: tables from text, and results by name. */
#ifndef TEST_UTILITY_CHECK_H
#define TEST_UTILITY_CHECK_H

#include "check.h"

#include <math.h>
#include <string.h>

#include <cellar/table_file.h>
#include <cellar/utility.h>

#include "base/text.h"
#include "rinott_table.h"

static inline cellar_table *table_of(const char *csv)
{
    cellar_table *table;
    cellar_error err = {""};
    if (cellar_table_parse("t.csv", csv, strlen(csv), NULL, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

static inline cellar_table *table_of_rinott(void)
{
    cellar_text text = {0};
    cellar_table *table;
    cellar_text_add_string(&text, "age,status,count\n");
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 11; j++)
            cellar_text_printf(&text, "%c,%c,%llu\n", 'a' + i, 'A' + j,
                               (unsigned long long) rinott[i][j]);
    table = table_of(text.bytes);
    cellar_text_clear(&text);
    return table;
}

static inline cellar_table *with_margins(cellar_table *table)
{
    const cellar_margins all = {.all = 1};
    cellar_table *out;
    assert_int_equal(cellar_table_create_expanded(table, &all, &out, NULL), CELLAR_OK);
    cellar_table_free(table);
    return out;
}

static inline cellar_utility *assess(const cellar_table *table, const char *spec,
                                     const cellar_utility_options *options)
{
    cellar_utility *u;
    cellar_error err = {""};
    if (cellar_utility_assess(table, spec, options, &u, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    return u;
}

/* The result of a measure; `variables` may be NULL, `count` and `radius` -1. */
static inline const cellar_utility_result *find(const cellar_utility *u, const char *measure,
                                                const char *variables, int64_t count,
                                                int64_t radius)
{
    for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        int named = r->variables == NULL || variables == NULL
                        ? r->variables == variables
                        : strcmp(r->variables, variables) == 0;
        if (strcmp(r->measure, measure) == 0 && named && r->count == count && r->radius == radius &&
            !r->is_above)
            return r;
    }
    fail_msg("no %s", measure);
    return NULL;
}

static inline void assert_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

#endif
