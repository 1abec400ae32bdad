/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/selection/column_groups.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "risk/exposure/exposure_curve.h"
#include "risk/selection/profiles.h"

/* Adding a column splits groups. A group below k stays below k, so exposure does not fall.
 * Nor does statistical exposure: P(Bin(n-1,x) <= k-2) falls in x.
 *
 * The partition by the base's columns is kept, and those by some of them that were the base before:
 * a search goes down a tree. The columns that a set has more split each of its groups at once, by
 * all their levels together; most sets of a search are forbidden, and few groups tell that. */

enum {
    MAX_COLUMNS = 64,
    LEVEL_BYTES = 4,
    MIN_SLOTS = 65536,       /* columns are taken together as long as their levels fit */
    KEPT_CHANCES = 1 << 16,  /* of groups of fewer people are kept once computed */
    WORTH_A_THREAD = 1 << 16 /* rows to look at */
};

/* What one thread needs for itself. */
typedef struct value_lane {
    refiner refiner;
    uint64_t *people;  /* by slot, 0 between groups */
    uint32_t *touched; /* slots */
    double *chances;   /* estimated only: by size, negative if unknown */
} value_lane;

struct column_groups {
    const cellar_profiles *profiles;
    const cellar_selection_options *options;
    cellar_pool *pool;
    value_lane *lanes;
    int n_lanes;
    size_t n_slots;
    uint8_t *bytes[MAX_COLUMNS][LEVEL_BYTES]; /* of the levels by row, the lowest first */
    int one_each;                             /* no two people have the same row */
    uint64_t masks[MAX_COLUMNS + 1];          /* from no column to the base */
    partition partitions[MAX_COLUMNS + 1];
    size_t depth; /* partitions there are */
    uint64_t population;
    double enough; /* the people at whom a set is known to be forbidden */
};

/* Columns taken together: what is left of them are the digits of a number, the slot. */
typedef struct joint_columns {
    const uint8_t *digits[MAX_COLUMNS * LEVEL_BYTES];
    uint32_t radix[MAX_COLUMNS * LEVEL_BYTES];
    size_t n;
} joint_columns;

/* ---- the people who stand out in a group ------------------------------------ */

static double lane_chance(const column_groups *groups, value_lane *lane, uint64_t people)
{
    double n = (double) groups->profiles->n_people, chance;
    if (people < KEPT_CHANCES && lane->chances[people] >= 0)
        return lane->chances[people];
    chance = cellar_exposure_few_others(groups->population, groups->options->k, (double) people / n,
                                        (double) (groups->profiles->n_people - people) / n, 1);
    if (people < KEPT_CHANCES)
        lane->chances[people] = chance;
    return chance;
}

/* How many of a group of so many people stand out, expected if they are estimated. */
static double lane_exposed(const column_groups *groups, value_lane *lane, uint64_t people)
{
    if (groups->options->measure == CELLAR_SELECTION_ESTIMATED)
        return (double) people * lane_chance(groups, lane, people);
    return people < groups->options->k ? (double) people : 0;
}

/* Adds up the people of a group by slot; answers how many slots they take. */
static inline __attribute__((always_inline)) size_t
lane_tally(value_lane *lane, const uint64_t *counts, const partition *from, size_t group,
           const joint_columns *columns, size_t n_digits)
{
    size_t n = 0;
    for (uint32_t i = from->starts[group]; i < from->starts[group + 1]; i++) {
        uint32_t row = from->order[i], slot = 0;
        for (size_t c = 0; c < n_digits; c++)
            slot = slot * columns->radix[c] + columns->digits[c][row];
        lane->touched[n] = slot;
        n += lane->people[slot] == 0;
        lane->people[slot] += counts != NULL ? counts[row] : 1;
    }
    return n;
}

/* Those who stand out when the groups are split; when they are more than enough, only so many. */
static double lane_split(const column_groups *groups, value_lane *lane, const partition *from,
                         const joint_columns *columns)
{
    double sum = (double) from->dropped;
    for (size_t group = 0; group < from->n_groups && sum <= groups->enough; group++) {
        size_t n = lane_tally(lane, groups->profiles->counts, from, group, columns, columns->n);
        for (size_t i = 0; i < n; i++) {
            sum += lane_exposed(groups, lane, lane->people[lane->touched[i]]);
            lane->people[lane->touched[i]] = 0;
        }
    }
    return sum;
}

/* The same for two columns of few levels when the exposure is known and no two people have the same
 * row, where a search spends most of its time. */
static double lane_split_by_two(const column_groups *groups, value_lane *lane,
                                const partition *from, const joint_columns *columns)
{
    uint64_t sum = from->dropped, k = groups->options->k;
    for (size_t group = 0; group < from->n_groups && (double) sum <= groups->enough; group++) {
        size_t n = lane_tally(lane, NULL, from, group, columns, 2);
        for (size_t i = 0; i < n; i++) {
            uint64_t people = lane->people[lane->touched[i]];
            sum += people < k ? people : 0;
            lane->people[lane->touched[i]] = 0;
        }
    }
    return (double) sum;
}

/* ---- one set of columns ----------------------------------------------------- */

static uint64_t groups_least(const column_groups *groups)
{
    return groups->options->measure == CELLAR_SELECTION_KNOWN ? groups->options->k : 0;
}

static size_t column_slots(const column_groups *groups, size_t column)
{
    size_t n_levels = cellar_profiles_n_levels(groups->profiles, column), slots = 1;
    for (; n_levels > 256; n_levels = (n_levels + 255) / 256)
        slots *= 256;
    return slots * n_levels;
}

static void joint_add(const column_groups *groups, size_t column, joint_columns *joint)
{
    size_t n_levels = cellar_profiles_n_levels(groups->profiles, column);
    for (size_t byte = 0; byte < LEVEL_BYTES && groups->bytes[column][byte] != NULL; byte++) {
        joint->digits[joint->n] = groups->bytes[column][byte];
        joint->radix[joint->n++] = n_levels > 256 ? 256 : (uint32_t) n_levels;
        n_levels = (n_levels + 255) / 256;
    }
}

/* Takes columns out of *rest as long as their levels fit. */
static joint_columns groups_join(const column_groups *groups, uint64_t *rest)
{
    joint_columns joint = {.n = 0};
    size_t slots = 1;
    for (; *rest != 0; *rest &= *rest - 1) {
        size_t column = (size_t) __builtin_ctzll(*rest), more = column_slots(groups, column);
        if (joint.n > 0 && slots * more > groups->n_slots)
            break;
        slots *= more;
        joint_add(groups, column, &joint);
    }
    return joint;
}

/* Splits by the columns of `rest` one by one, until those left can be taken together or there are
 * more people than enough; *from is then a partition of the lane's own, to be cleared. */
static cellar_status lane_approach(const column_groups *groups, value_lane *lane, uint64_t rest,
                                   partition *from, joint_columns *joint, cellar_error *err)
{
    const partition *last = &groups->partitions[groups->depth - 1];
    for (uint64_t left = rest; *joint = groups_join(groups, &left), left != 0;
         rest &= rest - 1, left = rest) {
        partition next;
        int ok = cellar_partition_refine(&lane->refiner, last,
                                         groups->profiles->levels[__builtin_ctzll(rest)],
                                         groups_least(groups), &next);
        cellar_partition_clear(from);
        if (!ok)
            return cellar_fail_memory(err, "partitions");
        *from = next;
        last = from;
        if ((double) from->dropped > groups->enough)
            break;
    }
    return CELLAR_OK;
}

static cellar_status lane_value(const column_groups *groups, value_lane *lane, uint64_t set,
                                double *value, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const partition *base = &groups->partitions[groups->depth - 1];
    uint64_t rest = set & ~groups->masks[groups->depth - 1];
    partition own = {0};
    joint_columns joint;
    double sum;

    CELLAR_TRY(lane_approach(groups, lane, rest, &own, &joint, err));
    if (own.order != NULL)
        base = &own;
    if (joint.n == 2 && groups->one_each && groups->options->measure == CELLAR_SELECTION_KNOWN)
        sum = lane_split_by_two(groups, lane, base, &joint);
    else
        sum = lane_split(groups, lane, base, &joint);
    *value = fmin(1, sum / (double) groups->profiles->n_people);
out:
    cellar_partition_clear(&own);
    return status;
}

/* ---- many ------------------------------------------------------------------- */

typedef struct value_job {
    const column_groups *groups;
    const uint64_t *sets;
    double *out;
} value_job;

static cellar_status groups_range(void *context, size_t first, size_t last, int lane,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const value_job *job = context;
    for (size_t i = first; i < last; i++)
        CELLAR_TRY(
            lane_value(job->groups, &job->groups->lanes[lane], job->sets[i], &job->out[i], err));
out:
    return status;
}

/* Leaves on the stack the partition by the columns of `base`. */
static cellar_status groups_stand(column_groups *groups, uint64_t base, cellar_error *err)
{
    while ((groups->masks[groups->depth - 1] & ~base) != 0)
        cellar_partition_clear(&groups->partitions[--groups->depth]);
    for (uint64_t rest = base & ~groups->masks[groups->depth - 1]; rest != 0; rest &= rest - 1) {
        size_t column = (size_t) __builtin_ctzll(rest), top = groups->depth;
        if (!cellar_partition_refine(&groups->lanes[0].refiner, &groups->partitions[top - 1],
                                     groups->profiles->levels[column], groups_least(groups),
                                     &groups->partitions[top]))
            return cellar_fail_memory(err, "partitions");
        groups->masks[top] = groups->masks[top - 1] | UINT64_C(1) << column;
        groups->depth++;
    }
    return CELLAR_OK;
}

cellar_status cellar_column_groups_values(void *context, uint64_t base, const uint64_t *sets,
                                          size_t n, double *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    column_groups *groups = context;
    value_job job = {.groups = groups, .sets = sets};

    job.out = out;
    CELLAR_TRY(groups_stand(groups, base, err));
    if (n == 1 || n * groups->partitions[groups->depth - 1].n_rows < WORTH_A_THREAD)
        status = groups_range(&job, 0, n, 0, err);
    else
        status = cellar_pool_for(groups->pool, n, 1, groups_range, &job, err);
out:
    return status;
}

void cellar_column_groups_exactly(column_groups *groups)
{
    groups->enough = INFINITY;
}

/* ---- life cycle ------------------------------------------------------------- */

static int lane_init(const column_groups *groups, value_lane *lane)
{
    if (!cellar_refiner_init(groups->profiles, &lane->refiner))
        return 0;
    lane->people = cellar_alloc(groups->n_slots, sizeof *lane->people);
    lane->touched = cellar_alloc(groups->n_slots + 1, sizeof *lane->touched);
    lane->chances = cellar_alloc(KEPT_CHANCES, sizeof *lane->chances);
    if (lane->people == NULL || lane->touched == NULL || lane->chances == NULL)
        return 0;
    for (size_t i = 0; i < KEPT_CHANCES; i++)
        lane->chances[i] = -1;
    return 1;
}

static void lane_clear(value_lane *lane)
{
    cellar_refiner_clear(&lane->refiner);
    cellar_free(lane->people);
    cellar_free(lane->touched);
    cellar_free(lane->chances);
}

static int groups_make_bytes(column_groups *groups, size_t column)
{
    const cellar_profiles *profiles = groups->profiles;
    size_t n_levels = cellar_profiles_n_levels(profiles, column);
    for (size_t byte = 0; byte == 0 || n_levels > 1; byte++, n_levels = (n_levels + 255) / 256) {
        uint8_t *bytes = cellar_alloc(profiles->n_rows, sizeof *bytes);
        if (bytes == NULL)
            return 0;
        groups->bytes[column][byte] = bytes;
        for (size_t row = 0; row < profiles->n_rows; row++)
            bytes[row] = (uint8_t) (profiles->levels[column][row] >> 8 * byte);
    }
    return 1;
}

static cellar_status groups_make_lanes(column_groups *groups, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_pool_create(groups->options->n_threads, &groups->pool, err));
    groups->n_lanes = cellar_pool_n_lanes(groups->pool);
    groups->lanes = cellar_alloc((size_t) groups->n_lanes, sizeof *groups->lanes);
    if (groups->lanes == NULL) {
        status = cellar_fail_memory(err, "threads");
        goto out;
    }
    for (int i = 0; i < groups->n_lanes; i++)
        if (!lane_init(groups, &groups->lanes[i])) {
            status = cellar_fail_memory(err, "threads");
            goto out;
        }
out:
    return status;
}

cellar_status cellar_column_groups_create(const cellar_profiles *profiles,
                                          const cellar_selection_options *options,
                                          column_groups **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    column_groups *groups = cellar_alloc(1, sizeof *groups);

    *out = NULL;
    if (groups == NULL)
        return cellar_fail_memory(err, "groups of people");
    groups->profiles = profiles;
    groups->options = options;
    groups->population = options->population > 0 ? options->population : profiles->n_people;
    /* A little above the limit: rounding must not forbid what is allowed. */
    groups->enough = options->exposure * (double) profiles->n_people * (1 + 1e-9) + 1e-9;
    groups->n_slots = MIN_SLOTS;
    groups->one_each = profiles->n_people == profiles->n_rows;
    for (size_t c = 0; c < profiles->n_columns; c++) {
        if (column_slots(groups, c) > groups->n_slots)
            groups->n_slots = column_slots(groups, c);
        if (!groups_make_bytes(groups, c)) {
            status = cellar_fail_memory(err, "columns");
            goto out;
        }
    }
    CELLAR_TRY(groups_make_lanes(groups, err));
    if (!cellar_partition_whole(profiles, &groups->partitions[0])) {
        status = cellar_fail_memory(err, "partitions");
        goto out;
    }
    groups->depth = 1;
    *out = groups;
    groups = NULL;
out:
    cellar_column_groups_free(groups);
    return status;
}

void cellar_column_groups_free(column_groups *groups)
{
    if (groups == NULL)
        return;
    while (groups->depth > 0)
        cellar_partition_clear(&groups->partitions[--groups->depth]);
    for (size_t c = 0; c < MAX_COLUMNS; c++)
        for (size_t byte = 0; byte < LEVEL_BYTES; byte++)
            cellar_free(groups->bytes[c][byte]);
    for (int i = 0; groups->lanes != NULL && i < groups->n_lanes; i++)
        lane_clear(&groups->lanes[i]);
    cellar_free(groups->lanes);
    cellar_pool_free(groups->pool);
    cellar_free(groups);
}
