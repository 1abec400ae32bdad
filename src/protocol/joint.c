/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/batch.h"
#include "protocol/invitation.h"

/* ---- sets and cells -------------------------------------------------------- */

int column_set_same(const column_set *a, const column_set *b)
{
    return a->n == b->n && memcmp(a->columns, b->columns, a->n * sizeof *a->columns) == 0;
}

column_set column_set_without(const column_set *set, size_t left_out)
{
    column_set part = {.n = 0};
    for (size_t i = 0; i < set->n; i++)
        if (i != left_out)
            part.columns[part.n++] = set->columns[i];
    return part;
}

static int cell_compare(const void *a, const void *b)
{
    const joint_cell *x = a, *y = b;
    for (size_t i = 0; i < JOINT_MOST; i++)
        if (x->levels[i] != y->levels[i])
            return x->levels[i] < y->levels[i] ? -1 : 1;
    return 0;
}

/* The cell with these levels, or NULL. */
static const joint_cell *joint_find(const joint *j, const uint32_t *levels)
{
    joint_cell wanted = {{0}, 0};
    memcpy(wanted.levels, levels, j->set.n * sizeof *levels);
    return j->n_cells == 0 ? NULL
                           : bsearch(&wanted, j->cells, j->n_cells, sizeof *j->cells, cell_compare);
}

int joint_add(joint *j, const uint32_t levels[JOINT_MOST], uint64_t count)
{
    if (!cellar_grow(&j->cells, &j->capacity, j->n_cells + 1, sizeof *j->cells))
        return 0;
    j->cells[j->n_cells] = (joint_cell){.count = count};
    memcpy(j->cells[j->n_cells++].levels, levels, j->set.n * sizeof *levels);
    return 1;
}

/* Sorts, and adds up what is there several times. */
void joint_sort(joint *j)
{
    size_t n = 0;
    if (j->n_cells == 0)
        return;
    qsort(j->cells, j->n_cells, sizeof *j->cells, cell_compare);
    for (size_t i = 1; i < j->n_cells; i++) {
        if (cell_compare(&j->cells[n], &j->cells[i]) == 0)
            j->cells[n].count += j->cells[i].count;
        else
            j->cells[++n] = j->cells[i];
    }
    j->n_cells = n + 1;
}

void joints_free(joint *joints, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cellar_free(joints[i].cells);
    cellar_free(joints);
}

uint64_t joint_exposed(const joint *j, uint64_t k)
{
    uint64_t exposed = j->other;
    for (size_t i = 0; i < j->n_cells; i++)
        if (j->cells[i].count < k)
            exposed += j->cells[i].count;
    return exposed;
}

cellar_status joint_curve(const joint *j, const cellar_invitation *invitation,
                          cellar_exposure_curve **out, cellar_error *err)
{
    uint64_t n_possible = 1;
    uint64_t *counts = cellar_alloc(j->n_cells + (size_t) j->other + 1, sizeof *counts);
    size_t n = 0;
    cellar_status status;

    *out = NULL;
    if (counts == NULL)
        return cellar_fail_memory(err, "an exposure curve");
    for (size_t i = 0; i < j->set.n; i++) {
        uint64_t n_codes = cellar_codelist_n_codes(invitation->codes[j->set.columns[i]]);
        n_possible = n_possible < UINT64_MAX / n_codes ? n_possible * n_codes : UINT64_MAX;
    }
    for (size_t i = 0; i < j->n_cells; i++)
        counts[n++] = j->cells[i].count;
    for (uint64_t i = 0; i < j->other; i++)
        counts[n++] = 1;
    status = cellar_exposure_curve_from_counts(counts, n, n_possible, out, err);
    cellar_free(counts);
    return status;
}

/* ---- answers --------------------------------------------------------------- */

/* Are all parts of the cell, one column left out, known to be common? */
static int cell_is_asked(const cellar_question *question, const column_set *set,
                         const uint32_t *levels)
{
    CELLAR_ASSERT(set->n <= JOINT_MOST);
    for (size_t left_out = 0; left_out < set->n; left_out++) {
        column_set part = column_set_without(set, left_out);
        uint32_t of_part[JOINT_MOST] = {0};
        const joint *known = NULL;
        size_t n = 0;
        for (size_t i = 0; i < set->n; i++)
            if (i != left_out)
                of_part[n++] = levels[i];
        for (size_t i = 0; i < question->n_known && known == NULL; i++)
            if (column_set_same(&question->known[i].set, &part))
                known = &question->known[i];
        if (known == NULL || joint_find(known, of_part) == NULL)
            return 0;
    }
    return 1;
}

void answer_write(const cellar_question *question, size_t index, const uint32_t *record,
                  unsigned char body[JOINT_BODY_BYTES])
{
    const column_set *set = &question->asked[index];
    uint32_t levels[JOINT_MOST] = {0};
    int asked;
    for (size_t i = 0; i < set->n; i++)
        levels[i] = record[set->columns[i]];
    asked = cell_is_asked(question, set, levels);
    bytes_put(body, 4, index);
    for (size_t i = 0; i < JOINT_MOST; i++)
        bytes_put(body + 4 + 4 * i, 4, asked ? levels[i] : JOINT_OTHER);
    cellar_wipe(levels, sizeof levels);
}

int answer_read(const cellar_question *question, const unsigned char body[JOINT_BODY_BYTES],
                size_t *index, uint32_t levels[JOINT_MOST])
{
    *index = (size_t) bytes_get(body, 4);
    for (size_t i = 0; i < JOINT_MOST; i++)
        levels[i] = (uint32_t) bytes_get(body + 4 + 4 * i, 4);
    if (*index >= question->n_asked)
        return 0;
    if (levels[0] == JOINT_OTHER)
        return levels[1] == JOINT_OTHER && levels[2] == JOINT_OTHER;
    return (question->order == JOINT_MOST || levels[2] == 0) &&
           cell_is_asked(question, &question->asked[*index], levels);
}

/* ---- counting -------------------------------------------------------------- */

typedef struct joint_counting {
    const cellar_question *question;
    cellar_collect_joints *joints;
    int failed; /* memory ended */
} joint_counting;

static int count_answer(void *context, const unsigned char *id, const unsigned char *body)
{
    joint_counting *c = context;
    uint32_t levels[JOINT_MOST];
    size_t index;
    joint *j;
    (void) id;
    if (!answer_read(c->question, body, &index, levels))
        return 0;
    j = &c->joints->joints[index];
    if (levels[0] == JOINT_OTHER)
        j->other++;
    else if (!joint_add(j, levels, 1))
        c->failed = 1;
    return 1;
}

static cellar_status joints_create(const cellar_question *question, cellar_collect_joints **out,
                                   cellar_error *err)
{
    cellar_collect_joints *joints = cellar_alloc(1, sizeof *joints);
    *out = joints;
    if (joints != NULL)
        joints->joints = cellar_alloc(question->n_asked, sizeof *joints->joints);
    if (joints == NULL || joints->joints == NULL)
        return cellar_fail_memory(err, "joint counts");
    joints->n = question->n_asked;
    for (size_t i = 0; i < joints->n; i++)
        joints->joints[i].set = question->asked[i];
    return CELLAR_OK;
}

/* As in round one: totals differ only when somebody sent what no participant of ours sends. */
static cellar_status joints_check(cellar_collect_joints *joints,
                                  const cellar_invitation *invitation, cellar_error *err)
{
    uint64_t first = 0;
    for (size_t i = 0; i < joints->n; i++) {
        uint64_t total = joints->joints[i].other;
        joint_sort(&joints->joints[i]);
        for (size_t c = 0; c < joints->joints[i].n_cells; c++)
            total += joints->joints[i].cells[c].count;
        if ((i > 0 && total != first) || total < invitation->terms.n_people)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "the totals of what was asked differ, or fewer people than "
                               "announced could be counted; somebody sent forged messages");
        first = total;
    }
    return CELLAR_OK;
}

cellar_status cellar_collect_joints_read(const char *batch_path,
                                         const cellar_invitation *invitation,
                                         const cellar_question *question,
                                         const cellar_collect_keys *curator,
                                         cellar_collect_joints **out, cellar_collect_report *report,
                                         cellar_error *err)
{
    collect_round round;
    collect_batch batch = {0};
    joint_counting all = {question, NULL, 0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(curator, invitation, CELLAR_COLLECT_CURATOR, err));
    round_asked(invitation, question->id, (int) question->order, question->n_asked, &round);
    CELLAR_TRY(joints_create(question, &all.joints, err));
    CELLAR_TRY(collect_batch_read(batch_path, &round, &batch, err));
    CELLAR_TRY(collect_batch_open_all(&batch, &round, curator, count_answer, &all, report, err));
    if (all.failed)
        CELLAR_TRY(cellar_fail_memory(err, "joint counts"));
    CELLAR_TRY(joints_check(all.joints, invitation, err));
    *out = all.joints;
    all.joints = NULL;
out:
    collect_batch_clear(&batch);
    cellar_collect_joints_free(all.joints);
    return status;
}

void cellar_collect_joints_free(cellar_collect_joints *joints)
{
    if (joints == NULL)
        return;
    joints_free(joints->joints, joints->n);
    cellar_free(joints);
}
