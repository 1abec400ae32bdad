/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a code list, for the files that read one. */
#ifndef CELLAR_DATA_CODELIST_BUILD_H
#define CELLAR_DATA_CODELIST_BUILD_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/memory.h"
#include "data/codelist.h"

/* What a hostile file can make us hold. */
#define CODELIST_MAX_FILE_BYTES ((size_t) 1 << 28)
#define CODELIST_MAX_BYTES ((size_t) 1 << 30)
enum { CODELIST_MAX_CODES = 1 << 23, CODELIST_MAX_NAMES = 64 };
#define CODELIST_NONE UINT32_MAX

typedef struct codelist_entry {
    const char *code;
    const char **labels;  /* one per language; NULL where none is given */
    const char **parents; /* one per hierarchy: a code or NULL */
    uint32_t length;      /* of the code */
    uint32_t line;        /* in the file, 0 if there is none */
    uint8_t role;
} codelist_entry;

/* Open addressing; half of the slots at most are taken. */
typedef struct codelist_slot {
    uint32_t hash;
    uint32_t code_index; /* CODELIST_NONE: free */
} codelist_slot;

struct cellar_codelist {
    atomic_size_t n_owners;
    int finished;
    cellar_arena *arena;     /* everything below but `entries` */
    const char *name;        /* the file, in messages; NULL when built in memory */
    const char *code_column; /* where the file has the codes; NULL when it has no columns */
    int names_codes;      /* 1: messages say a code instead of the column, of which it has none */
    const char *reviewer; /* of a draft, "" until there is one; NULL: it is no draft */
    codelist_entry *entries;
    size_t n_codes, capacity;
    size_t n_languages, n_hierarchies;
    const char *languages[CODELIST_MAX_NAMES];
    const char *hierarchies[CODELIST_MAX_NAMES];
    const char *parent_columns[CODELIST_MAX_NAMES]; /* the hierarchies as the file calls them */
    uint32_t *parents;                              /* [hierarchy * n_codes + code] */
    uint32_t *leaves, *leaf_of;                     /* either way, CODELIST_NONE for aggregates */
    size_t n_leaves;
    unsigned char hash_key[16];
    codelist_slot *slots;
    size_t slot_mask;
};

/* An unfinished list for a file: no languages, no hierarchies, a copy of its name. */
cellar_status cellar_codelist_create_for_file(const char *name, cellar_codelist **out,
                                              cellar_error *err);

/* Adds a code without label or parent and answers its entry, to be completed; it has room for
 * as many of them as the list has languages and hierarchies. `line` is 0 in memory. Answers NULL
 * with a message, for CELLAR_ERR_MEMORY, on failure. */
codelist_entry *cellar_codelist_new_entry(cellar_codelist *list, const char *code, size_t length,
                                          uint64_t line, cellar_error *err);

/* "FILE:LINE: column 'COLUMN': WHAT", or "FILE:LINE: code 'CODE': WHAT" for a list that names
 * codes; "code list: code number N: WHAT" for one built in memory, perhaps of values of records. */
cellar_status cellar_codelist_fail(const cellar_codelist *list, const codelist_entry *entry,
                                   const char *column, const char *what, cellar_error *err);

/* The hash lookup behind cellar_codelist_find(): makes it, fails on a repeated code. */
cellar_status cellar_codelist_index(cellar_codelist *list, cellar_error *err);

/* Resolves parents, finds the leaves and checks the hierarchies (codelist_tree.c). */
cellar_status cellar_codelist_grow_trees(cellar_codelist *list, cellar_error *err);

#endif
