/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small collection for tests: keys of all roles, and an invitation to three columns. */
#ifndef CELLAR_TESTS_COLLECTION_H
#define CELLAR_TESTS_COLLECTION_H

#include <stdio.h>
#include <string.h>

#include <cellar/collect.h>

#include "code_lists.h"
#include "scratch.h"

typedef struct collection {
    cellar_collect_keys *keys[4]; /* by role */
    cellar_invitation *invitation;
} collection;

/* The keys of a role from its file, role-N.key. */
static inline cellar_collect_keys *collection_read_keys(scratch *place, cellar_collect_role role)
{
    cellar_collect_keys *keys;
    cellar_key *key;
    char name[32];
    snprintf(name, sizeof name, "role-%d.key", (int) role);
    assert_int_equal(cellar_key_read(scratch_path(place, name), &key, NULL), CELLAR_OK);
    assert_int_equal(cellar_collect_keys_create(key, role, &keys, NULL), CELLAR_OK);
    cellar_key_free(key);
    return keys;
}

static inline cellar_collect_keys *collection_keys(scratch *place, cellar_collect_role role)
{
    char name[32];
    snprintf(name, sizeof name, "role-%d.key", (int) role);
    remove(scratch_path(place, name));
    assert_int_equal(cellar_key_create(place->path, NULL, NULL), CELLAR_OK);
    return collection_read_keys(place, role);
}

/* The shuffler and the analyst of another invitation are those of this collection. */
static inline void collection_name_roles(const collection *own, cellar_invitation_spec *spec)
{
    spec->shuffler = *cellar_collect_keys_identity(own->keys[CELLAR_COLLECT_SHUFFLER]);
    spec->analyst = *cellar_collect_keys_identity(own->keys[CELLAR_COLLECT_ANALYST]);
}

/* Columns a, b, c, ... with as many values as `n_levels` says; the rest of the invitation is as
 * `spec` has it. */
static inline void collection_invite(collection *made, scratch *place, const size_t *n_levels,
                                     size_t n_columns, cellar_invitation_spec spec)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    cellar_collect_column columns[6];
    cellar_error err;
    for (int role = 1; role <= 3; role++)
        made->keys[role] = collection_keys(place, (cellar_collect_role) role);
    for (size_t c = 0; c < n_columns; c++)
        columns[c] = (cellar_collect_column){names[c], numbered_list("c", n_levels[c])};
    spec.title = "a test";
    spec.columns = columns;
    spec.n_columns = n_columns;
    collection_name_roles(made, &spec);
    if (cellar_invitation_create(&spec, made->keys[CELLAR_COLLECT_CURATOR], &made->invitation,
                                 &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (size_t c = 0; c < n_columns; c++)
        cellar_codelist_free((cellar_codelist *) columns[c].codes);
}

static inline void collection_open(collection *made, scratch *place, const size_t *n_levels,
                                   size_t n_columns, uint64_t n_people, uint64_t k,
                                   const char *exposure)
{
    const cellar_invitation_spec spec = {.n_people = n_people, .k = k, .exposure = exposure};
    collection_invite(made, place, n_levels, n_columns, spec);
}

static inline void collection_close(collection *made)
{
    for (int role = 1; role <= 3; role++)
        cellar_collect_keys_free(made->keys[role]);
    cellar_invitation_free(made->invitation);
}

#endif
