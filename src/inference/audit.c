/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/audit.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/schema/schema.h"

cellar_audit_options cellar_audit_options_default(void)
{
    return (cellar_audit_options){.confidence = 0.95, .max_cells = 20000};
}

void cellar_audit_free(cellar_audit *audit)
{
    if (audit == NULL)
        return;
    for (size_t v = 0; v < audit->n_variables; v++)
        cellar_schema_free(audit->variables[v].schema);
    cellar_free(audit->lines);
    cellar_free(audit->members);
    cellar_free(audit->cells);
    cellar_free(audit);
}

/* ---- making ------------------------------------------------------------------------------ */

/* Surely not empty and one count, surely not empty, the rest. */
static int rank_of(const cellar_audit_cell *cell)
{
    return cell->low == 0 ? 2 : cell->low == cell->high ? 0 : 1;
}

static uint64_t width_of(const cellar_audit_cell *cell)
{
    return cell->high == CELLAR_AUDIT_NO_LIMIT ? UINT64_MAX : (uint64_t) (cell->high - cell->low);
}

static int by_knowledge(const void *left, const void *right)
{
    const cellar_audit_cell *a = left, *b = right;
    if (rank_of(a) != rank_of(b))
        return rank_of(a) - rank_of(b);
    if (width_of(a) != width_of(b))
        return width_of(a) < width_of(b) ? -1 : 1;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static cellar_status check(size_t n_files, const cellar_audit_options *options, cellar_error *err)
{
    if (n_files == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "an audit needs a release or a table");
    if (!(options->confidence > 0) || !(options->confidence < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "confidence lies between 0 and 1, got %g",
                           options->confidence);
    if (options->max_cells == 0 || options->max_cells > 100000000)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "from 1 to 100000000 cells can be audited");
    return CELLAR_OK;
}

/* The noise of different values is independent, so the n-th root of the confidence is enough for
 * each of n; the chance of an error is split between too low and too high. */
static double tail_of(const cellar_release *const *releases, size_t n_releases, double confidence)
{
    double n = 0;
    for (size_t r = 0; r < n_releases; r++)
        n += (double) cellar_schema_n_possible(cellar_release_schema(releases[r]));
    return -expm1(log(confidence) / n) / 2;
}

cellar_status cellar_audit_create(const cellar_release *const *releases, size_t n_releases,
                                  const cellar_table *const *tables, size_t n_tables,
                                  const cellar_audit_options *options, cellar_audit **out,
                                  cellar_error *err)
{
    const double tail = tail_of(releases, n_releases, options->confidence);
    cellar_audit *audit = cellar_alloc(1, sizeof *audit);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (audit == NULL)
        return cellar_fail_memory(err, "an audit");
    CELLAR_TRY(check(n_releases + n_tables, options, err));
    for (size_t r = 0; r < n_releases; r++)
        CELLAR_TRY(cellar_audit_add_schema(audit, cellar_release_schema(releases[r]), err));
    for (size_t t = 0; t < n_tables; t++)
        CELLAR_TRY(cellar_audit_add_schema(audit, cellar_table_schema(tables[t]), err));
    CELLAR_TRY(cellar_audit_number(audit, options->max_cells, err));
    for (size_t r = 0; r < n_releases; r++)
        CELLAR_TRY(cellar_audit_add_release(audit, releases[r], tail, err));
    for (size_t t = 0; t < n_tables; t++)
        CELLAR_TRY(cellar_audit_add_table(audit, tables[t], err));
    audit->cells = cellar_alloc(audit->n_cells, sizeof *audit->cells);
    if (audit->cells == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an audit"));
    CELLAR_TRY(cellar_audit_solve(audit, &options->progress, err));
    qsort(audit->cells, audit->n_cells, sizeof *audit->cells, by_knowledge);
    *out = audit;
    audit = NULL;
out:
    cellar_audit_free(audit);
    return status;
}

/* ---- asking ------------------------------------------------------------------------------ */

size_t cellar_audit_n_variables(const cellar_audit *audit)
{
    return audit->n_variables;
}

const char *cellar_audit_variable(const cellar_audit *audit, size_t variable)
{
    const audit_variable *v = &audit->variables[variable];
    return cellar_schema_variable(v->schema, v->variable);
}

size_t cellar_audit_n_cells(const cellar_audit *audit)
{
    return audit->n_cells;
}

cellar_audit_cell cellar_audit_cell_at(const cellar_audit *audit, size_t position)
{
    return audit->cells[position];
}

const char *cellar_audit_code(const cellar_audit *audit, uint64_t index, size_t variable)
{
    const audit_variable *v = &audit->variables[variable];
    return cellar_schema_code(v->schema, v->variable, index / v->stride % v->n_leaves);
}

cellar_audit_summary cellar_audit_summarize(const cellar_audit *audit)
{
    cellar_audit_summary found = {.n_values = audit->n_lines};
    size_t n_limited = 0;
    double width = 0;
    for (size_t l = 0; l < audit->n_lines; l++)
        found.n_exact += audit->lines[l].low == audit->lines[l].high;
    for (size_t i = 0; i < audit->n_cells; i++) {
        const cellar_audit_cell *cell = &audit->cells[i];
        const int is_pinned = cell->low == cell->high;
        found.n_pinned += (size_t) is_pinned;
        found.n_pinned_present += is_pinned && cell->low > 0;
        found.n_pinned_ones += is_pinned && cell->low == 1;
        found.n_present += cell->low > 0;
        found.n_located += (uint64_t) cell->low;
        if (cell->high != CELLAR_AUDIT_NO_LIMIT) {
            width += (double) (cell->high - cell->low);
            n_limited++;
        }
    }
    found.mean_width = n_limited > 0 ? width / (double) n_limited : NAN;
    return found;
}

cellar_status cellar_audit_compare(const cellar_audit *audit, const cellar_table *truth,
                                   cellar_audit_score *out, cellar_error *err)
{
    uint64_t *counts = cellar_alloc(audit->n_cells, sizeof *counts);
    cellar_status status = CELLAR_OK;
    *out = (cellar_audit_score){0};
    if (counts == NULL)
        return cellar_fail_memory(err, "an audit");
    CELLAR_TRY(cellar_audit_true_counts(audit, truth, counts, err));
    for (size_t i = 0; i < audit->n_cells; i++) {
        const cellar_audit_cell *cell = &audit->cells[i];
        const int64_t count = (int64_t) counts[cell->index];
        const int is_guessed = cell->guess == count;
        out->n_present += count > 0;
        out->n_held +=
            cell->low <= count && (cell->high == CELLAR_AUDIT_NO_LIMIT || count <= cell->high);
        out->n_guessed += (size_t) is_guessed;
        out->n_present_guessed += is_guessed && count > 0;
        out->mean_error += fabs((double) (cell->guess - count)) / (double) audit->n_cells;
    }
out:
    cellar_free(counts);
    return status;
}
