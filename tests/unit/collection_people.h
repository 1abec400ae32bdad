/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated participants of a collection, and what a trusted party would count of them. */
#ifndef CELLAR_TESTS_COLLECTION_PEOPLE_H
#define CELLAR_TESTS_COLLECTION_PEOPLE_H

#include <cellar/selection.h>

#include "base/memory.h"
#include "collection.h"
#include "table/build.h"

enum { PEOPLE_COLUMNS_MAX = 6 };

typedef struct people {
    size_t n, n_columns;
    const size_t *n_levels;
    uint32_t (*levels)[PEOPLE_COLUMNS_MAX];
    cellar_key *key; /* of the gateway that sends for all */
} people;

/* Skewed and correlated: column c follows column 0 half of the time. */
static inline void people_open(people *p, scratch *place, size_t n, const size_t *n_levels,
                               size_t n_columns)
{
    uint64_t state = 42;
    *p = (people){n, n_columns, n_levels, calloc(n, sizeof *p->levels), NULL};
    assert_non_null(p->levels);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < n_columns; c++) {
            uint64_t draw;
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            draw = state >> 33;
            p->levels[i][c] = (uint32_t) ((draw % n_levels[c]) * ((draw >> 8) % 3 > 0));
            if (c > 0 && (draw >> 12) % 2 == 0)
                p->levels[i][c] = p->levels[i][0] % (uint32_t) n_levels[c];
        }
    assert_int_equal(cellar_key_create(scratch_path(place, "gateway"), NULL, NULL), CELLAR_OK);
    assert_int_equal(cellar_key_read(place->path, &p->key, NULL), CELLAR_OK);
    remove(place->path);
}

static inline void people_close(people *p)
{
    free(p->levels);
    cellar_key_free(p->key);
}

/* Seals one of them; memory may end. */
static inline cellar_status people_try_seal(const people *p, const cellar_participant *participant,
                                            size_t row, void *bytes, cellar_error *err)
{
    char codes[PEOPLE_COLUMNS_MAX][32];
    const char *values[PEOPLE_COLUMNS_MAX];
    for (size_t c = 0; c < p->n_columns; c++) {
        snprintf(codes[c], sizeof codes[c], "c%u", (unsigned) p->levels[row][c]);
        values[c] = codes[c];
    }
    return cellar_participant_seal(participant, row, values, bytes, err);
}

static inline void people_seal(const people *p, const cellar_participant *participant, size_t row,
                               void *bytes)
{
    cellar_error err;
    if (people_try_seal(p, participant, row, bytes, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
}

static inline cellar_collect_policy people_policy(void)
{
    cellar_collect_policy policy = cellar_collect_policy_default();
    policy.least_k = 2;
    policy.most_exposure = 1;
    return policy;
}

/* All of them send to a shuffler, as this participant. */
static inline void people_send_as(const people *p, const cellar_participant *participant,
                                  cellar_shuffler *shuffler)
{
    size_t length = cellar_participant_size_bytes(participant);
    unsigned char *bytes = malloc(length);
    cellar_error err;
    int is_new;
    for (size_t i = 0; i < p->n; i++) {
        people_seal(p, participant, i, bytes);
        if (cellar_shuffler_take(shuffler, bytes, length, &is_new, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
    }
    assert_int_equal(cellar_shuffler_sync(shuffler, &err), CELLAR_OK);
    free(bytes);
}

/* The same in a round. */
static inline void people_send(const people *p, const collection *c,
                               const cellar_decision *decision, cellar_shuffler *shuffler)
{
    cellar_collect_policy policy = people_policy();
    cellar_participant *participant;
    cellar_error err;
    if (cellar_participant_create(c->invitation, decision, &policy, p->key, &participant, &err) !=
        CELLAR_OK)
        fail_msg("%s", err.message);
    people_send_as(p, participant, shuffler);
    cellar_participant_free(participant);
}

static inline void people_forward(const people *p, cellar_shuffler *shuffler)
{
    cellar_rng *rng;
    cellar_error err;
    assert_int_equal(cellar_rng_create_secure(&rng, &err), CELLAR_OK);
    assert_int_equal(cellar_shuffler_n_held(shuffler), p->n);
    if (cellar_shuffler_forward(shuffler, rng, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_shuffler_close(shuffler);
    cellar_rng_free(rng);
}

/* A whole round in a folder: everybody sends, the shuffler forwards. */
static inline void people_round(const people *p, const collection *c,
                                const cellar_decision *decision, const char *folder)
{
    cellar_shuffler *shuffler;
    cellar_error err;
    if (cellar_shuffler_open(folder, c->invitation, decision, c->keys[CELLAR_COLLECT_SHUFFLER],
                             &shuffler, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    people_send(p, c, decision, shuffler);
    people_forward(p, shuffler);
}

/* The same for a question. */
static inline void people_answer(const people *p, const collection *c,
                                 const cellar_question *question, const char *folder)
{
    const cellar_collect_policy policy = people_policy();
    cellar_participant *participant = NULL;
    cellar_shuffler *shuffler = NULL;
    cellar_error err;
    if (cellar_shuffler_open_asked(folder, c->invitation, question,
                                   c->keys[CELLAR_COLLECT_SHUFFLER], &shuffler,
                                   &err) != CELLAR_OK ||
        cellar_participant_create_asked(c->invitation, question, &policy, p->key, &participant,
                                        &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    people_send_as(p, participant, shuffler);
    people_forward(p, shuffler);
    cellar_participant_free(participant);
}

/* What somebody trusted with all records counts. */
static inline cellar_table *people_table(const people *p, const cellar_invitation *invitation,
                                         const size_t *columns, size_t n)
{
    cellar_schema_variable_def variables[PEOPLE_COLUMNS_MAX];
    cellar_cells cells = {.n = p->n,
                          .index = cellar_alloc(p->n, sizeof *cells.index),
                          .count = cellar_alloc(p->n, sizeof *cells.count)};
    cellar_schema *schema;
    cellar_table *table;
    for (size_t i = 0; i < n; i++)
        variables[i] = (cellar_schema_variable_def){
            cellar_invitation_column(invitation, columns[i]), CELLAR_DOMAIN_DECLARED,
            cellar_invitation_codes(invitation, columns[i])};
    assert_int_equal(cellar_schema_create(variables, n, NULL, &schema, NULL), CELLAR_OK);
    for (size_t r = 0; r < p->n; r++) {
        uint32_t categories[PEOPLE_COLUMNS_MAX];
        for (size_t i = 0; i < n; i++)
            categories[i] = p->levels[r][columns[i]];
        cells.index[r] = cellar_schema_index(schema, categories);
        cells.count[r] = 1;
    }
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
    cellar_schema_free(schema);
    return table;
}

/* The same cells with the same counts. */
static inline void people_expect_table(const cellar_table *found, const cellar_table *expected)
{
    assert_int_equal(cellar_table_n_records(found), cellar_table_n_records(expected));
    assert_int_equal(cellar_table_n_cells(found), cellar_table_n_cells(expected));
    for (size_t i = 0; i < cellar_table_n_cells(expected); i++) {
        cellar_cell a = cellar_table_cell(found, i), b = cellar_table_cell(expected, i);
        assert_int_equal(a.index, b.index);
        assert_int_equal(a.count, b.count);
    }
}

static inline void people_expect_margins(const people *p, const cellar_collect_margins *margins)
{
    assert_int_equal(cellar_collect_margins_n_people(margins), p->n);
    for (size_t c = 0; c < p->n_columns; c++)
        for (size_t v = 0; v < p->n_levels[c]; v++) {
            uint64_t count = 0;
            for (size_t r = 0; r < p->n; r++)
                count += p->levels[r][c] == v;
            assert_int_equal(cellar_collect_margins_count(margins, c, v), count);
        }
}

/* The released columns are those of `exposure select --measure bounded` on all records. */
static inline void people_expect_decision(const people *p, const collection *c,
                                          const cellar_decision *decision)
{
    static const size_t all[] = {0, 1, 2, 3, 4, 5};
    cellar_table *table = people_table(p, c->invitation, all, p->n_columns);
    cellar_selection_options options = cellar_selection_options_default();
    cellar_profiles *profiles;
    cellar_selection *selection;
    cellar_selection_set best;
    uint64_t mask = 0;
    options.measure = CELLAR_SELECTION_BOUNDED;
    options.k = cellar_invitation_k(c->invitation);
    options.exposure = cellar_invitation_exposure(c->invitation);
    assert_int_equal(cellar_profiles_create(table, all, p->n_columns, &profiles, NULL), CELLAR_OK);
    assert_int_equal(cellar_selection_create(profiles, &options, &selection, NULL), CELLAR_OK);
    best = cellar_selection_set_at(selection, 0);
    for (size_t i = 0; i < cellar_decision_n_columns(decision); i++)
        mask |= UINT64_C(1) << cellar_decision_column(decision, i);
    assert_int_equal(mask, best.columns);
    assert_true(cellar_decision_bound(decision) >= best.exposure &&
                cellar_decision_bound(decision) <= best.exposure + 1e-11);
    cellar_selection_free(selection);
    cellar_profiles_free(profiles);
    cellar_table_free(table);
}

#endif
