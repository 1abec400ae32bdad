/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/error.h"
#include "data/codelist.h"
#include "data/codelist_build.h"

size_t cellar_codelist_depth(const cellar_codelist *list, size_t code)
{
    size_t depth = 0;
    for (; code != CELLAR_NO_CODE && cellar_codelist_role(list, code) != CELLAR_CODE_TOTAL; depth++)
        code = list->n_hierarchies > 0 ? cellar_codelist_parent(list, 0, code) : CELLAR_NO_CODE;
    return depth;
}

size_t cellar_codelist_above(const cellar_codelist *list, size_t code, size_t level)
{
    for (size_t depth = cellar_codelist_depth(list, code); depth > level; depth--)
        code = cellar_codelist_parent(list, 0, code);
    return code;
}

size_t cellar_codelist_n_levels(const cellar_codelist *list)
{
    size_t most = 0;
    for (size_t leaf = 0; leaf < list->n_leaves; leaf++) {
        const size_t depth = cellar_codelist_depth(list, list->leaves[leaf]);
        most = depth > most ? depth : most;
    }
    return most;
}

/* The languages and the mark of a draft. 0 when memory ends. */
static int copy_head(const cellar_codelist *list, cellar_codelist *out)
{
    out->n_languages = list->n_languages;
    for (size_t l = 0; l < list->n_languages; l++) {
        out->languages[l] =
            cellar_arena_copy(out->arena, list->languages[l], strlen(list->languages[l]));
        if (out->languages[l] == NULL)
            return 0;
    }
    if (list->reviewer != NULL)
        out->reviewer = cellar_arena_copy(out->arena, list->reviewer, strlen(list->reviewer));
    return list->reviewer == NULL || out->reviewer != NULL;
}

static cellar_status copy_code(const cellar_codelist *list, size_t code, cellar_codelist *out,
                               cellar_error *err)
{
    const codelist_entry *from = &list->entries[code];
    codelist_entry *to = cellar_codelist_new_entry(out, from->code, from->length, 0, err);
    if (to == NULL)
        return CELLAR_ERR_MEMORY;
    to->role = from->role;
    for (size_t l = 0; l < list->n_languages; l++) {
        if (from->labels[l] == NULL)
            continue;
        to->labels[l] = cellar_arena_copy(out->arena, from->labels[l], strlen(from->labels[l]));
        if (to->labels[l] == NULL)
            return cellar_fail_memory(err, "a code list");
    }
    return CELLAR_OK;
}

static cellar_status fill_level(const cellar_codelist *list, size_t level, cellar_codelist *out,
                                uint32_t *leaf_at, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint32_t *place = cellar_alloc(list->n_codes, sizeof *place); /* in the level, from 1 */
    if (place == NULL || !copy_head(list, out)) {
        status = cellar_fail_memory(err, "a code list");
        goto out;
    }
    for (size_t leaf = 0; leaf < list->n_leaves; leaf++)
        place[cellar_codelist_above(list, list->leaves[leaf], level)] = 1;
    for (size_t code = 0; code < list->n_codes; code++)
        if (place[code] != 0) {
            CELLAR_TRY(copy_code(list, code, out, err));
            place[code] = (uint32_t) out->n_codes;
        }
    for (size_t leaf = 0; leaf < list->n_leaves; leaf++)
        leaf_at[leaf] = place[cellar_codelist_above(list, list->leaves[leaf], level)] - 1;
    CELLAR_TRY(cellar_codelist_finish(out, err));
out:
    cellar_free(place);
    return status;
}

cellar_status cellar_codelist_level(const cellar_codelist *list, size_t level,
                                    cellar_codelist **out, uint32_t **leaf_at, cellar_error *err)
{
    cellar_codelist *coarse = NULL;
    cellar_status status = CELLAR_OK;
    const size_t n_levels = cellar_codelist_n_levels(list);

    *out = NULL;
    *leaf_at = NULL;
    if (level == 0 || level > n_levels)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "level %zu was asked for, and the code list has %zu level%s", level,
                           n_levels, n_levels == 1 ? "" : "s");
    *leaf_at = cellar_alloc(list->n_leaves, sizeof **leaf_at);
    if (*leaf_at == NULL)
        return cellar_fail_memory(err, "a code list");
    CELLAR_TRY(cellar_codelist_create(&coarse, err));
    CELLAR_TRY(fill_level(list, level, coarse, *leaf_at, err));
    *out = coarse;
    coarse = NULL;
out:
    cellar_codelist_free(coarse);
    if (status != CELLAR_OK) {
        cellar_free(*leaf_at);
        *leaf_at = NULL;
    }
    return status;
}
