/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/question.h"

const char *serve_content_code(serve_content content)
{
    static const char *const codes[SERVE_N_CONTENTS] = {
        [SERVE_COUNT] = "count",
        [SERVE_SE] = "se",
        [SERVE_LOW] = "noise_low95",
        [SERVE_HIGH] = "noise_high95",
    };
    return codes[content];
}

uint64_t serve_question_n_cells(const serve_question *question)
{
    uint64_t n = 1;
    for (size_t i = 0; i < question->n_sides; i++)
        if (__builtin_mul_overflow(n, question->sides[i].n_picks, &n))
            return UINT64_MAX;
    return n;
}
