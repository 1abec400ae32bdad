/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A matrix that reads must survive being written and read again. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "mechanism/matrix/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_matrix *matrix, *back;
    cellar_matrix_large large;
    cellar_matrix_layout layout;
    cellar_text text = {0};

    if (cellar_matrix_parse("fuzz", (const char *) data, size, CELLAR_MATRIX_LARGE_DEFAULT, &matrix,
                            NULL) != CELLAR_OK)
        return 0;
    large = cellar_matrix_large_rule(matrix);
    layout = cellar_matrix_n_keys(matrix) > 0 ? CELLAR_MATRIX_CANTABULAR : CELLAR_MATRIX_PTABLE;
    CELLAR_ASSERT(cellar_matrix_add_text(matrix, layout, 0, &text, NULL) == CELLAR_OK);
    CELLAR_ASSERT(cellar_matrix_parse("fuzz", text.bytes, text.length, large, &back, NULL) ==
                  CELLAR_OK);
    CELLAR_ASSERT(strcmp(cellar_matrix_digest(matrix), cellar_matrix_digest(back)) == 0);
    cellar_text_clear(&text);
    cellar_matrix_free(matrix);
    cellar_matrix_free(back);
    return 0;
}
