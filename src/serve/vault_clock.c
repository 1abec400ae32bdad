/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When replies come. How long it takes to count and draw depends a little on the records; a reply
 * that waits for the next multiple of a step that public sizes decide shows how many steps it took,
 * which is one unless the machine is overloaded. */
#include "serve/vault.h"

#include <time.h>

/* Milliseconds: for commits of the ledger, for a thousand cells, for a thousand people. */
enum { STEP_BASE = 250, STEP_CELLS = 2, STEP_PEOPLE = 1 };

static uint64_t real_now_ms(void *context)
{
    struct timespec now;
    (void) context;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

static void real_sleep_ms(void *context, uint64_t ms)
{
    struct timespec left = {.tv_sec = (time_t) (ms / 1000),
                            .tv_nsec = (long) (ms % 1000) * 1000000};
    (void) context;
    while (nanosleep(&left, &left) != 0)
        ; /* a signal woke it */
}

vault_clock vault_clock_real(void)
{
    return (vault_clock){.now_ms = real_now_ms, .sleep_ms = real_sleep_ms};
}

uint64_t vault_step_ms(const vault_set *set, const serve_table *table)
{
    const uint64_t n_cells = serve_table_n_cells(&set->dataset, table);
    return set->step_ms > 0
               ? set->step_ms
               : STEP_BASE + STEP_CELLS * (n_cells / 1000) + STEP_PEOPLE * (set->population / 1000);
}

void vault_clock_round_up(const vault_clock *clock, uint64_t began, uint64_t step)
{
    const uint64_t passed = clock->now_ms(clock->context) - began;
    const uint64_t beyond = passed % step;
    if (passed == 0 || beyond > 0)
        clock->sleep_ms(clock->context, step - beyond);
}
