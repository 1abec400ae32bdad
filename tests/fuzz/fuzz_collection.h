/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A collection for fuzzers of what its roles receive: made once, kept until the process ends. */
#ifndef CELLAR_TESTS_FUZZ_COLLECTION_H
#define CELLAR_TESTS_FUZZ_COLLECTION_H

#include <string.h>

#include <cellar/collect.h>

#include "fuzz_file.h"

typedef struct fuzz_collection {
    cellar_collect_keys *keys[4]; /* by role */
    cellar_invitation *invitation;
} fuzz_collection;

/* `terms` says what is not as usual: an epsilon, whether it is open, a delta, an order. The first
 * call decides. */
static inline const fuzz_collection *fuzz_collection_with(const cellar_invitation_spec *terms)
{
    static const char *const key_files[] = {
        "cellar key 1\nid edaadec87b865ced\ncreated 2026-11-15\n"
        "secret 936fb4de39514ad91085b80bd27f9a09c963aba0e8bb62e3f68f7b8247bfa82a\n",
        "cellar key 1\nid a402c229b8214948\ncreated 2026-11-15\n"
        "secret bbb84ebe721af4ad33fe6180d00af344d9573a5bad05a7bbdb80e564d79e95e4\n",
        "cellar key 1\nid c4f4e1348be25987\ncreated 2026-11-15\n"
        "secret cc124e8d3ef1ac55f7267150c4ca8702911aeb95a9b08e0a28765f30ee09e1a9\n"};
    static fuzz_collection made;
    cellar_collect_column columns[2] = {{"a", NULL}, {"b", NULL}};
    cellar_invitation_spec spec = {.title = "fuzz",
                                   .n_people = 2,
                                   .k = 2,
                                   .exposure = "1",
                                   .epsilon = terms->epsilon,
                                   .is_open = terms->is_open,
                                   .delta = terms->delta,
                                   .order = terms->order,
                                   .common = terms->common,
                                   .columns = columns,
                                   .n_columns = 2};
    cellar_codelist *codes = NULL;
    char path[FUZZ_PATH_BYTES];

    if (made.invitation != NULL)
        return &made;
    for (int role = 1; role <= 3; role++) {
        cellar_key *key;
        fuzz_file(key_files[role - 1], strlen(key_files[role - 1]), path);
        CELLAR_ASSERT(cellar_key_read(path, &key, NULL) == CELLAR_OK);
        unlink(path);
        CELLAR_ASSERT(cellar_collect_keys_create(key, (cellar_collect_role) role, &made.keys[role],
                                                 NULL) == CELLAR_OK);
        cellar_key_free(key);
    }
    CELLAR_ASSERT(cellar_codelist_create(&codes, NULL) == CELLAR_OK);
    CELLAR_ASSERT(
        cellar_codelist_add(codes, "x", NULL, NULL, CELLAR_CODE_PLAIN, NULL) == CELLAR_OK &&
        cellar_codelist_add(codes, "y", NULL, NULL, CELLAR_CODE_PLAIN, NULL) == CELLAR_OK &&
        cellar_codelist_finish(codes, NULL) == CELLAR_OK);
    columns[0].codes = columns[1].codes = codes;
    spec.shuffler = *cellar_collect_keys_identity(made.keys[CELLAR_COLLECT_SHUFFLER]);
    spec.analyst = *cellar_collect_keys_identity(made.keys[CELLAR_COLLECT_ANALYST]);
    CELLAR_ASSERT(cellar_invitation_create(&spec, made.keys[CELLAR_COLLECT_CURATOR],
                                           &made.invitation, NULL) == CELLAR_OK);
    cellar_codelist_free(codes);
    return &made;
}

static inline const fuzz_collection *fuzz_collection_open(void)
{
    static const cellar_invitation_spec usual;
    return fuzz_collection_with(&usual);
}

#endif
