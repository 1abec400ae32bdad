/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Five lines are bottom, top, width, origin and a value; what follows is a recode map. A value that
 * is recoded must lie in the domain, where there is one. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/recode.h"

enum { N_LINES = 5 };

static void check_recode(const cellar_recode *recode, const char *value)
{
    cellar_recoder *recoder;
    cellar_codelist *domain;
    cellar_text code = {0};

    if (cellar_recoder_create(recode, "fuzz", &recoder, NULL) != CELLAR_OK)
        return;
    if (cellar_recoder_apply(recoder, value, strlen(value), &code) == CELLAR_RECODED &&
        cellar_recoder_domain(recoder, &domain, NULL) == CELLAR_OK && domain != NULL) {
        CELLAR_ASSERT(cellar_codelist_find(domain, code.bytes, code.length) != CELLAR_NO_CODE);
        CELLAR_ASSERT(cellar_category_compare(code.bytes, code.bytes) == 0);
        cellar_codelist_free(domain);
    }
    cellar_text_clear(&code);
    cellar_recoder_free(recoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = cellar_alloc(size + 1, 1), *rest = text;
    const char *lines[N_LINES] = {0};
    cellar_recode_map *map = NULL;

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    for (int i = 0; i < N_LINES; i++) {
        char *end = strchr(rest, '\n');
        lines[i] = rest;
        if (end == NULL)
            break;
        *end = '\0';
        rest = end + 1;
    }
    if (lines[N_LINES - 1] != NULL) {
        cellar_recode recode = {.band_closed_right = (int) size & 1};
        recode.bottom = lines[0][0] != '\0' ? lines[0] : NULL;
        recode.top = lines[1][0] != '\0' ? lines[1] : NULL;
        recode.band_width = lines[2][0] != '\0' ? lines[2] : NULL;
        recode.band_origin = lines[3][0] != '\0' ? lines[3] : NULL;
        (void) (cellar_recode_map_parse("fuzz", rest, strlen(rest), &map, NULL) == CELLAR_OK);
        recode.map = map;
        check_recode(&recode, lines[4]);
    }
    cellar_recode_map_free(map);
    cellar_free(text);
    return 0;
}
