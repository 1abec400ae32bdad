/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/codelist.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist_build.h"

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_codelist_create(cellar_codelist **out, cellar_error *err)
{
    cellar_codelist *list = cellar_alloc(1, sizeof *list);

    *out = NULL;
    if (list == NULL || (list->arena = cellar_arena_create(CODELIST_MAX_BYTES)) == NULL) {
        cellar_free(list);
        return cellar_fail_memory(err, "a code list");
    }
    atomic_init(&list->n_owners, 1);
    list->n_languages = list->n_hierarchies = 1; /* finish() forgets what was not used */
    *out = list;
    return CELLAR_OK;
}

cellar_status cellar_codelist_create_for_file(const char *name, cellar_codelist **out,
                                              cellar_error *err)
{
    cellar_status status = cellar_codelist_create(out, err);

    if (status != CELLAR_OK)
        return status;
    (*out)->n_languages = (*out)->n_hierarchies = 0;
    (*out)->name = cellar_arena_copy((*out)->arena, name, strlen(name));
    if ((*out)->name != NULL)
        return CELLAR_OK;
    cellar_codelist_free(*out);
    *out = NULL;
    return cellar_fail_memory(err, "a code list");
}

cellar_codelist *cellar_codelist_retain(const cellar_codelist *list)
{
    cellar_codelist *shared = (cellar_codelist *) list; /* only the number of owners changes */
    CELLAR_ASSERT(list->finished);
    atomic_fetch_add_explicit(&shared->n_owners, 1, memory_order_relaxed);
    return shared;
}

void cellar_codelist_free(cellar_codelist *list)
{
    if (list == NULL || atomic_fetch_sub_explicit(&list->n_owners, 1, memory_order_acq_rel) > 1)
        return;
    cellar_free(list->entries);
    cellar_arena_free(list->arena);
    cellar_free(list);
}

cellar_status cellar_codelist_fail(const cellar_codelist *list, const codelist_entry *entry,
                                   const char *column, const char *what, cellar_error *err)
{
    if (list->name == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "code list: code number %zu: %s",
                           (size_t) (entry - list->entries) + 1, what);
    if (list->names_codes)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu32 ": code '%.100s': %s", list->name,
                           entry->line, entry->code, what);
    if (column == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu32 ": %s", list->name, entry->line,
                           what);
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu32 ": column '%s': %s", list->name,
                       entry->line, column, what);
}

codelist_entry *cellar_codelist_new_entry(cellar_codelist *list, const char *code, size_t length,
                                          uint64_t line, cellar_error *err)
{
    codelist_entry *entry;

    if (list->n_codes == CODELIST_MAX_CODES || length > UINT32_MAX || line > UINT32_MAX) {
        cellar_fail(err, CELLAR_ERR_MEMORY, "%s: a code list holds at most %d codes",
                    list->name != NULL ? list->name : "code list", CODELIST_MAX_CODES);
        return NULL;
    }
    if (!cellar_grow(&list->entries, &list->capacity, list->n_codes + 1, sizeof *list->entries)) {
        cellar_fail_memory(err, "a code list");
        return NULL;
    }
    entry = &list->entries[list->n_codes];
    *entry = (codelist_entry){.length = (uint32_t) length, .line = (uint32_t) line};
    entry->code = cellar_arena_copy(list->arena, code, length);
    entry->labels = cellar_arena_alloc(list->arena, list->n_languages, sizeof *entry->labels);
    entry->parents = cellar_arena_alloc(list->arena, list->n_hierarchies, sizeof *entry->parents);
    if (entry->code == NULL || entry->labels == NULL || entry->parents == NULL) {
        cellar_fail_memory(err, "a code list");
        return NULL;
    }
    list->n_codes++;
    return entry;
}

/* ---- in memory ------------------------------------------------------------- */

static int codelist_text_is_bad(const char *text)
{
    return text != NULL && !cellar_utf8_valid(text, strlen(text));
}

cellar_status cellar_codelist_add(cellar_codelist *list, const char *code, const char *label,
                                  const char *parent, cellar_code_role role, cellar_error *err)
{
    codelist_entry *entry;

    if (list->finished)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "code list: is finished already");
    if (code[0] == '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "code list: a code must not be empty");
    if (codelist_text_is_bad(code) || codelist_text_is_bad(label) || codelist_text_is_bad(parent))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "code list: text is not valid UTF-8");
    if (role < CELLAR_CODE_PLAIN || role > CELLAR_CODE_OTHER)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "code list: unknown role");
    entry = cellar_codelist_new_entry(list, code, strlen(code), 0, err);
    if (entry == NULL)
        return CELLAR_ERR_MEMORY;
    entry->role = (uint8_t) role;
    if (label != NULL) {
        list->languages[0] = "";
        entry->labels[0] = cellar_arena_copy(list->arena, label, strlen(label));
    }
    if (parent != NULL) {
        list->hierarchies[0] = "";
        entry->parents[0] = cellar_arena_copy(list->arena, parent, strlen(parent));
    }
    if ((label != NULL && entry->labels[0] == NULL) ||
        (parent != NULL && entry->parents[0] == NULL))
        return cellar_fail_memory(err, "a code list");
    return CELLAR_OK;
}

/* There can be one margin, and one place for what lies outside the list. */
static cellar_status codelist_check_roles(const cellar_codelist *list, cellar_error *err)
{
    int n_totals = 0, n_others = 0;

    for (size_t i = 0; i < list->n_codes; i++) {
        const codelist_entry *entry = &list->entries[i];
        n_totals += entry->role == CELLAR_CODE_TOTAL;
        n_others += entry->role == CELLAR_CODE_OTHER;
        if (n_totals > 1 || n_others > 1)
            return cellar_codelist_fail(list, entry, "role",
                                        n_totals > 1 ? "a second code with the role 'total'"
                                                     : "a second code with the role 'other'",
                                        err);
    }
    return CELLAR_OK;
}

cellar_status cellar_codelist_finish(cellar_codelist *list, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (list->finished)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "code list: is finished already");
    if (list->name == NULL) {
        list->n_languages = list->languages[0] != NULL;
        list->n_hierarchies = list->hierarchies[0] != NULL;
    }
    CELLAR_TRY(codelist_check_roles(list, err));
    CELLAR_TRY(cellar_codelist_index(list, err));
    CELLAR_TRY(cellar_codelist_grow_trees(list, err));
    list->finished = 1;
out:
    return status;
}

/* ---- the index ------------------------------------------------------------- */

/* Keyed by a secret of the list: a file cannot be made whose codes all collide. */
static uint32_t codelist_hash(const cellar_codelist *list, const char *code, size_t length)
{
    unsigned char digest[crypto_shorthash_BYTES];
    uint32_t hash;
    crypto_shorthash(digest, (const unsigned char *) code, length, list->hash_key);
    memcpy(&hash, digest, sizeof hash);
    return hash;
}

/* The slot that holds the code, or the free one where it belongs. */
static codelist_slot *codelist_slot_of(const cellar_codelist *list, const char *code, size_t length,
                                       uint32_t hash)
{
    for (size_t s = hash & list->slot_mask;; s = (s + 1) & list->slot_mask) {
        codelist_slot *slot = &list->slots[s];
        const codelist_entry *entry;
        if (slot->code_index == CODELIST_NONE)
            return slot;
        entry = &list->entries[slot->code_index];
        if (slot->hash == hash && entry->length == length && memcmp(entry->code, code, length) == 0)
            return slot;
    }
}

static cellar_status codelist_fail_repeated(const cellar_codelist *list, const codelist_entry *a,
                                            const codelist_entry *b, cellar_error *err)
{
    const codelist_entry *first = a->line < b->line ? a : b, *second = first == a ? b : a;
    char what[64] = "is already in the code list";

    if (list->name != NULL)
        snprintf(what, sizeof what, "is already in line %" PRIu32, first->line);
    return cellar_codelist_fail(list, second, list->code_column, what, err);
}

cellar_status cellar_codelist_index(cellar_codelist *list, cellar_error *err)
{
    size_t n_slots = 8;

    _Static_assert(sizeof list->hash_key == crypto_shorthash_KEYBYTES, "a key of SipHash");
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "this system has no source of randomness");
    randombytes_buf(list->hash_key, sizeof list->hash_key);
    while (n_slots < 2 * list->n_codes)
        n_slots *= 2;
    list->slots = cellar_arena_alloc(list->arena, n_slots, sizeof *list->slots);
    if (list->slots == NULL)
        return cellar_fail_memory(err, "a code list");
    list->slot_mask = n_slots - 1;
    for (size_t s = 0; s < n_slots; s++)
        list->slots[s].code_index = CODELIST_NONE;
    for (size_t i = 0; i < list->n_codes; i++) {
        const codelist_entry *entry = &list->entries[i];
        uint32_t hash = codelist_hash(list, entry->code, entry->length);
        codelist_slot *slot = codelist_slot_of(list, entry->code, entry->length, hash);
        if (slot->code_index != CODELIST_NONE)
            return codelist_fail_repeated(list, entry, &list->entries[slot->code_index], err);
        *slot = (codelist_slot){.hash = hash, .code_index = (uint32_t) i};
    }
    return CELLAR_OK;
}

size_t cellar_codelist_find(const cellar_codelist *list, const char *code, size_t length)
{
    const codelist_slot *slot =
        codelist_slot_of(list, code, length, codelist_hash(list, code, length));
    return slot->code_index == CODELIST_NONE ? CELLAR_NO_CODE : slot->code_index;
}

/* ---- queries --------------------------------------------------------------- */

const char *cellar_codelist_reviewer(const cellar_codelist *list)
{
    return list->reviewer;
}

size_t cellar_codelist_n_codes(const cellar_codelist *list)
{
    return list->n_codes;
}

static const codelist_entry *codelist_entry_at(const cellar_codelist *list, size_t code_index)
{
    CELLAR_ASSERT(list->finished && code_index < list->n_codes);
    return &list->entries[code_index];
}

const char *cellar_codelist_code(const cellar_codelist *list, size_t code_index)
{
    return codelist_entry_at(list, code_index)->code;
}

cellar_code_role cellar_codelist_role(const cellar_codelist *list, size_t code_index)
{
    return (cellar_code_role) codelist_entry_at(list, code_index)->role;
}

int cellar_codelist_is_leaf(const cellar_codelist *list, size_t code_index)
{
    return cellar_codelist_leaf_of(list, code_index) != CELLAR_NO_CODE;
}

size_t cellar_codelist_n_leaves(const cellar_codelist *list)
{
    return list->n_leaves;
}

size_t cellar_codelist_leaf(const cellar_codelist *list, size_t leaf_index)
{
    CELLAR_ASSERT(leaf_index < list->n_leaves);
    return list->leaves[leaf_index];
}

static size_t codelist_position(uint32_t position)
{
    return position == CODELIST_NONE ? CELLAR_NO_CODE : position;
}

size_t cellar_codelist_leaf_of(const cellar_codelist *list, size_t code_index)
{
    CELLAR_ASSERT(list->finished && code_index < list->n_codes);
    return codelist_position(list->leaf_of[code_index]);
}

size_t cellar_codelist_n_languages(const cellar_codelist *list)
{
    return list->n_languages;
}

const char *cellar_codelist_language(const cellar_codelist *list, size_t language_index)
{
    CELLAR_ASSERT(language_index < list->n_languages);
    return list->languages[language_index];
}

const char *cellar_codelist_label(const cellar_codelist *list, size_t code_index,
                                  size_t language_index)
{
    const codelist_entry *entry = codelist_entry_at(list, code_index);
    if (language_index >= list->n_languages || entry->labels[language_index] == NULL)
        return entry->code;
    return entry->labels[language_index];
}

size_t cellar_codelist_n_hierarchies(const cellar_codelist *list)
{
    return list->n_hierarchies;
}

const char *cellar_codelist_hierarchy(const cellar_codelist *list, size_t hierarchy)
{
    CELLAR_ASSERT(hierarchy < list->n_hierarchies);
    return list->hierarchies[hierarchy];
}

size_t cellar_codelist_parent(const cellar_codelist *list, size_t hierarchy, size_t code_index)
{
    CELLAR_ASSERT(list->finished && hierarchy < list->n_hierarchies && code_index < list->n_codes);
    return codelist_position(list->parents[hierarchy * list->n_codes + code_index]);
}
