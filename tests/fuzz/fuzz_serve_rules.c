/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the rules of a data set; those that can be read judge every table. */
#include <stdint.h>

#include "../unit/serve_small.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    small_source source = {0};
    serve_dataset dataset = small_dataset(SERVE_BUDGET, &source);
    cellar_arena *arena = cellar_arena_create(1 << 24);
    if (arena != NULL &&
        small_rules((const char *) data, size, &dataset, arena, &dataset.rules, NULL) == CELLAR_OK)
        for (size_t number = 0; number < SMALL_TABLES; number++) {
            serve_table table = small_table(number);
            serve_verdict verdict;
            if (serve_rules_judge(&dataset, &table, arena, &verdict, NULL) != CELLAR_OK)
                break;
        }
    cellar_arena_free(arena);
    return 0;
}
