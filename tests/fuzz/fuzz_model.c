/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log-linear model, and a set of cells, of a table with three variables. */
#include <stdint.h>
#include <string.h>

#include <cellar/interval.h>

#include "base/memory.h"
#include "inference/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t levels[] = {2, 3, 2};
    static const char *const names[] = {"a", "b", "odd name"};
    static const int64_t numbers[12] = {0};
    const cellar_noisy_spec spec = {.n_levels = levels,
                                    .n_variables = 3,
                                    .names = names,
                                    .released = numbers,
                                    .mechanism = "identity"};
    char *text = cellar_alloc(size + 1, 1);
    cellar_noisy *noisy = NULL;
    cellar_cell_set *set = NULL;
    cellar_model model;

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    if (cellar_model_parse(text, names, 3, &model, NULL) == CELLAR_OK)
        cellar_model_n_parameters(&model, levels, 3);
    cellar_model_clear(&model);
    if (cellar_noisy_create(&spec, &noisy, NULL) == CELLAR_OK)
        (void) (cellar_cell_set_parse(noisy, text, &set, NULL) == CELLAR_OK);
    cellar_cell_set_free(set);
    cellar_noisy_free(noisy);
    cellar_free(text);
    return 0;
}
