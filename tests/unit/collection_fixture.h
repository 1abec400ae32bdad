/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder, a collection and people who take part in it, for a group of tests. */
#ifndef CELLAR_TESTS_COLLECTION_FIXTURE_H
#define CELLAR_TESTS_COLLECTION_FIXTURE_H

#include "collection_people.h"

typedef struct fixture {
    scratch *place;
    collection own;
    people p;
} fixture;

/* `spec` says all but the columns; `n_people` of it take part. */
static inline int fixture_open(fixture *f, const size_t *n_levels, size_t n_columns,
                               cellar_invitation_spec spec)
{
    if (scratch_setup((void **) &f->place) != 0)
        return 1;
    collection_invite(&f->own, f->place, n_levels, n_columns, spec);
    people_open(&f->p, f->place, spec.n_people, n_levels, n_columns);
    return 0;
}

static inline int fixture_close(void **state)
{
    fixture *f = *state;
    collection_close(&f->own);
    people_close(&f->p);
    return scratch_teardown((void **) &f->place);
}

/* The margins of round one, when the batch is there. */
static inline cellar_collect_margins *fixture_margins(fixture *f, cellar_collect_report *report)
{
    cellar_collect_margins *margins;
    cellar_error err;
    if (cellar_collect_margins_read(scratch_path(f->place, "round-1.batch"), f->own.invitation,
                                    f->own.keys[1], &margins, report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return margins;
}

static inline cellar_decision *fixture_decision(const fixture *f,
                                                const cellar_collect_margins *margins)
{
    cellar_decision *decision;
    cellar_error err;
    if (cellar_decision_create(margins, f->own.invitation, f->own.keys[1], &decision, &err) !=
        CELLAR_OK)
        fail_msg("%s", err.message);
    return decision;
}

/* The table of round two, when the batch is there. */
static inline cellar_table *fixture_table(fixture *f, const cellar_decision *decision,
                                          cellar_collect_report *report)
{
    cellar_table *table;
    cellar_error err;
    if (cellar_collect_table_read(scratch_path(f->place, "round-2.batch"), f->own.invitation,
                                  decision, f->own.keys[3], &table, report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

/* A participant of round one with the key of all. */
static inline cellar_participant *fixture_participant(const fixture *f)
{
    cellar_participant *participant;
    cellar_error err;
    if (cellar_participant_create(f->own.invitation, NULL, NULL, f->p.key, &participant, &err) !=
        CELLAR_OK)
        fail_msg("%s", err.message);
    return participant;
}

#endif
