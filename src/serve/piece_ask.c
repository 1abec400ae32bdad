/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values from the cells of a release. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "serve/piece.h"

/* Cells that one question may add up, and values that are listed for an interval of their sum. */
static const double WORK_MAX = 1 << 27;

/* Of one variable of the release: for each pick the categories that are added up. Variables that
 * the cut does not have count as one pick of everything. */
typedef struct column {
    size_t side; /* of the cut; SIZE_MAX: it has none */
    size_t n;    /* picks */
    size_t *start;
    uint32_t *categories;
    size_t n_categories, room;
} column;

typedef struct adding {
    piece_file *file;
    const cellar_schema *schema;
    const serve_cut *cut;
    double tail;
    column columns[CELLAR_MAX_VARIABLES];
    int64_t *released; /* what was added up, without structural zeros */
    size_t n_released, room;
} adding;

/* ---- which cells -------------------------------------------------------------------------------
 */

/* The category of `level` that a category of a finer one lies in; SIZE_MAX: none. */
static size_t climb(const serve_variable *v, size_t from, size_t at, size_t level)
{
    while (from > level && at != SIZE_MAX)
        at = v->levels[--from].categories[at].parent;
    return at;
}

static int column_add(column *c, uint32_t category)
{
    if (!cellar_grow(&c->categories, &c->room, c->n_categories + 1, sizeof *c->categories))
        return 0;
    c->categories[c->n_categories++] = category;
    return 1;
}

/* The categories of level `from` of the release below the members of a pick. */
static int column_pick(column *c, const serve_variable *v, const piece_side *side, size_t from,
                       const serve_pick *pick, unsigned char *wanted)
{
    int ok = 1;
    for (size_t k = 0; k < pick->n_members; k++)
        wanted[pick->members[k]] = 1;
    for (size_t i = 0; ok && i < v->levels[from - 1].n_categories; i++) {
        const size_t at = climb(v, from, i, pick->level);
        if (at != SIZE_MAX && wanted[at])
            ok = column_add(c, side->categories[from][i]);
    }
    for (size_t k = 0; k < pick->n_members; k++)
        wanted[pick->members[k]] = 0;
    return ok;
}

/* Everything: its total if the table has it, else all categories of its level. */
static int column_whole(column *c, const serve_variable *v, const piece_side *side, size_t from)
{
    int ok = 1;
    if (from == 0)
        return column_add(c, side->total);
    for (size_t i = 0; ok && i < v->levels[from - 1].n_categories; i++)
        ok = column_add(c, side->categories[from][i]);
    return ok;
}

static int fill_column(adding *a, size_t s, size_t from)
{
    const piece_side *side = &a->file->sides[s];
    const serve_variable *v = &a->cut->dataset->variables[side->variable];
    column *c = &a->columns[s];
    const serve_side *asked = NULL;
    unsigned char *wanted = NULL;
    int ok = 1;
    c->side = SIZE_MAX;
    for (size_t i = 0; i < a->cut->n_sides; i++)
        if (a->cut->sides[i].variable == side->variable) {
            c->side = i;
            asked = &a->cut->sides[i];
        }
    c->n = asked != NULL ? asked->n_picks : 1;
    c->start = cellar_alloc(c->n + 1, sizeof *c->start);
    if (asked != NULL)
        wanted = cellar_alloc(v->levels[asked->picks[0].level - 1].n_categories, 1);
    ok = c->start != NULL && (asked == NULL || wanted != NULL);
    for (size_t p = 0; ok && p < c->n; p++) {
        ok = asked != NULL ? column_pick(c, v, side, from, &asked->picks[p], wanted)
                           : column_whole(c, v, side, from);
        c->start[p + 1] = c->n_categories;
    }
    cellar_free(wanted);
    return ok;
}

/* ---- adding up ---------------------------------------------------------------------------------
 */

/* 0 when a part is suppressed: the sum is not known. */
static int add_cell(adding *a, const uint32_t *categories, double *sum)
{
    const uint64_t index = cellar_schema_index(a->schema, categories);
    const cellar_released_cell cell = cellar_release_at(a->file->release, index);
    if (cell.status == CELLAR_CELL_STRUCTURAL_ZERO ||
        cellar_schema_is_structural_zero(a->schema, index))
        return 1;
    if (cell.status == CELLAR_CELL_SUPPRESSED)
        return 0;
    *sum += (double) cell.released;
    if (a->file->noise.kind == SERVE_NOISE_SINGLE)
        a->released[a->n_released] = cell.released;
    a->n_released++;
    return 1;
}

/* One value: all combinations of the categories of its picks. */
static cellar_status add_value(adding *a, const size_t *pick, serve_value *out, cellar_error *err)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    size_t at[CELLAR_MAX_VARIABLES] = {0};
    const size_t n = a->file->n_sides;
    double sum = 0;
    int is_known = 1;
    a->n_released = 0;
    for (size_t s = 0; s < n; s++) {
        at[s] = a->columns[s].start[pick[s]];
        if (at[s] == a->columns[s].start[pick[s] + 1])
            return cellar_fail(err, CELLAR_ERR_INPUT, "a category has no part in the release");
    }
    for (;;) {
        size_t s = n;
        for (size_t k = 0; k < n; k++)
            categories[k] = a->columns[k].categories[at[k]];
        is_known &= add_cell(a, categories, &sum);
        while (s > 0 && at[s - 1] + 1 == a->columns[s - 1].start[pick[s - 1] + 1]) {
            s--;
            at[s] = a->columns[s].start[pick[s]];
        }
        if (s == 0)
            break;
        at[s - 1]++;
    }
    *out = (serve_value){.count = is_known ? sum : NAN, .se = NAN, .low = NAN, .high = NAN};
    if (!is_known) {
        out->status = CELLAR_CELL_SUPPRESSED;
        return CELLAR_OK;
    }
    if (a->n_released == 0)
        out->status = CELLAR_CELL_STRUCTURAL_ZERO;
    return serve_noise_value(&a->file->noise, a->released, a->n_released, a->tail, out, err);
}

/* ---- all values --------------------------------------------------------------------------------
 */

/* How many cells are added up in all, and at most for one value. */
static double work_of(const adding *a, double *largest)
{
    double work = 1;
    *largest = 1;
    for (size_t s = 0; s < a->file->n_sides; s++) {
        const column *c = &a->columns[s];
        size_t most = 0;
        for (size_t p = 0; p < c->n; p++)
            most = c->start[p + 1] - c->start[p] > most ? c->start[p + 1] - c->start[p] : most;
        work *= (double) c->n_categories;
        *largest *= (double) most;
    }
    return work;
}

static cellar_status prepare(adding *a, const serve_table *table, cellar_error *err)
{
    double largest;
    for (size_t s = 0; s < a->file->n_sides; s++)
        if (!fill_column(a, s, table->levels[a->file->sides[s].variable]))
            return cellar_fail_memory(err, "an answer");
    if (work_of(a, &largest) > WORK_MAX)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "This adds up too many released values; ask for fewer at once.");
    a->released = cellar_alloc(a->file->noise.kind == SERVE_NOISE_SINGLE ? (size_t) largest : 1,
                               sizeof *a->released);
    return a->released != NULL ? CELLAR_OK : cellar_fail_memory(err, "an answer");
}

cellar_status piece_ask(piece_file *file, const serve_table *table, const serve_cut *cut,
                        double tail, serve_value *out, cellar_error *err)
{
    adding a = {
        .file = file, .schema = cellar_release_schema(file->release), .cut = cut, .tail = tail};
    size_t n = 1;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(prepare(&a, table, err));
    for (size_t i = 0; i < cut->n_sides; i++)
        n *= cut->sides[i].n_picks;
    for (size_t cell = 0; cell < n; cell++) {
        size_t picks[CELLAR_MAX_VARIABLES] = {0}, of_cut[CELLAR_MAX_VARIABLES], rest = cell;
        for (size_t i = cut->n_sides; i-- > 0;) {
            of_cut[i] = rest % cut->sides[i].n_picks;
            rest /= cut->sides[i].n_picks;
        }
        for (size_t s = 0; s < file->n_sides; s++)
            if (a.columns[s].side != SIZE_MAX)
                picks[s] = of_cut[a.columns[s].side];
        CELLAR_TRY(add_value(&a, picks, &out[cell], err));
    }
out:
    for (size_t s = 0; s < file->n_sides; s++) {
        cellar_free(a.columns[s].start);
        cellar_free(a.columns[s].categories);
    }
    cellar_free(a.released);
    return status;
}
