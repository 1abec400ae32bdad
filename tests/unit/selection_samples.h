/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of random records and their profiles, for tests of choices and redactions. */
#ifndef CELLAR_TESTS_SELECTION_SAMPLES_H
#define CELLAR_TESTS_SELECTION_SAMPLES_H

#include "check.h"

#include <stdio.h>

#include <cellar/selection.h>
#include <cellar/table_file.h>

#include "risk/selection/profiles.h"

enum { MAX_COLUMNS = 6 };

static uint64_t random_state;
static inline uint64_t random_below(uint64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (random_state >> 33) % n;
}

/* A table of random records: n columns, falling levels, some dependence. */
static inline cellar_table *random_table(size_t n, size_t n_records)
{
    static char csv[1 << 20];
    cellar_table_read_options options = {.format = CELLAR_TABLE_CSV};
    cellar_table *table;
    cellar_error err = {""};
    size_t length = 0;
    for (size_t c = 0; c < n; c++)
        length += (size_t) sprintf(csv + length, "c%zu,", c);
    length += (size_t) sprintf(csv + length, "id,count\n");
    for (size_t r = 0; r < n_records; r++) {
        for (size_t c = 0; c < n; c++)
            length +=
                (size_t) sprintf(csv + length, "%d,", (int) random_below(1 + random_below(2 + c)));
        length += (size_t) sprintf(csv + length, "%zu,%d\n", r, 1 + (int) random_below(5));
    }
    if (cellar_table_parse("table", csv, length, &options, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

static inline cellar_profiles *profiles_of(const cellar_table *table, size_t n)
{
    size_t variables[MAX_COLUMNS];
    cellar_profiles *profiles;
    for (size_t c = 0; c < n; c++)
        variables[c] = c;
    assert_int_equal(cellar_profiles_create(table, variables, n, &profiles, NULL), CELLAR_OK);
    return profiles;
}

#endif
