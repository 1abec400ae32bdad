/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/protect.h"

#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "privacy/certify.h"
#include "release/files/description.h"

cellar_protect_options cellar_protect_options_default(void)
{
    return (cellar_protect_options){.negatives = CELLAR_NEGATIVES_UNDECIDED,
                                    .neighbours = CELLAR_NEIGHBOURS_DEFAULT,
                                    .max_cells = 100000000,
                                    .max_per_unit = 1,
                                    .n_threads = 0};
}

/* ---- checks ---------------------------------------------------------------- */

static cellar_status protection_check_delta(const char *delta, cellar_error *err)
{
    fmpq_t value;
    cellar_status status;
    fmpq_init(value);
    status = cellar_certify_read_delta(delta, value, err);
    fmpq_clear(value);
    return status;
}

static cellar_status protection_check_options(const cellar_protect_options *options,
                                              cellar_error *err)
{
    if (options->negatives != CELLAR_NEGATIVES_KEEP && options->negatives != CELLAR_NEGATIVES_ZERO)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "what becomes of negative numbers has to be decided: kept, or set to "
                           "zero (--negatives keep or zero)");
    if ((unsigned) options->neighbours > CELLAR_NEIGHBOURS_SUBSTITUTE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "neighbours are add-remove or substitute");
    if (options->threshold < 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a threshold cannot be negative");
    if (options->threshold > 0 && options->negatives != CELLAR_NEGATIVES_ZERO)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a threshold sets all smaller numbers to zero, negative ones too: they "
                           "cannot be kept");
    if (options->below == CELLAR_BELOW_SUPPRESS && options->threshold == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "values are suppressed below a threshold, and there is none");
    if (options->max_per_unit == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a unit has at least one record");
    return options->delta != NULL ? protection_check_delta(options->delta, err) : CELLAR_OK;
}

static cellar_status protection_check_domains(const cellar_schema *schema, int asserted,
                                              cellar_error *err)
{
    for (size_t v = 0; v < schema->n_variables && !asserted; v++)
        if (schema->axes[v].domain == CELLAR_DOMAIN_OBSERVED)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               cellar_schema_reviewer(schema, v) != NULL
                                   ? "variable '%s': its code list is a draft from the data that "
                                     "nobody has reviewed; review it, write a name after "
                                     "reviewed-by: in its first line and tabulate again, or assert "
                                     "that the categories are public (--domain-public)"
                                   : "variable '%s': its categories were read off the data, where "
                                     "one person can make one; declare them with a code list "
                                     "(--domain VARIABLE=FILE), or assert that they are public "
                                     "(--domain-public)",
                               schema->axes[v].name);
    return CELLAR_OK;
}

/* Counts must leave room for noise, and marks that depend on the data must not be there. */
static cellar_status protection_check_cells(const cellar_table *table, cellar_error *err)
{
    const cellar_cells *cells = &table->cells;
    uint64_t all = 0;

    for (size_t i = 0; i < cells->n; i++)
        all |= cells->count[i];
    if (all >> 62 != 0)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "a count leaves no room for noise");
    for (size_t i = 0; cells->status != NULL && i < cells->n; i++)
        if (cells->status[i] != CELLAR_CELL_NORMAL &&
            cells->status[i] != CELLAR_CELL_STRUCTURAL_ZERO)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "cells are marked as suppressed, not available or unreliable: such "
                               "marks depend on the data, and no mechanism covers them; take them "
                               "away");
    return CELLAR_OK;
}

/* A record changes a weighted sum by its weight, so a bound on weights has to be public and to
 * have been kept. */
static cellar_status protection_check_weights(const cellar_table *table,
                                              const cellar_protect_options *options,
                                              cellar_error *err)
{
    if (table->cells.weight == NULL)
        return options->max_weight == 0
                   ? CELLAR_OK
                   : cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                 "a bound on weights, and the table has no weights");
    if (options->max_weight == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the table is weighted: one record may change a cell by more than one; "
                           "say by how much at most (--max-weight W), with the bound that weights "
                           "were clipped to when it was tabulated (tabulate --max-weight W)");
    if (table->max_weight == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the weights of the table were not clipped, so nothing bounds them; "
                           "tabulate it with a bound (tabulate --max-weight W)");
    if (options->max_weight < table->max_weight)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the weights of the table were clipped to %llu, which is more than the "
                           "bound of %llu",
                           (unsigned long long) table->max_weight,
                           (unsigned long long) options->max_weight);
    if (options->max_weight > CELLAR_WEIGHT_BOUND_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a bound on weights is at most %d",
                           CELLAR_WEIGHT_BOUND_MAX);
    return CELLAR_OK;
}

cellar_status cellar_protection_refuse_weights(const cellar_table *table, const char *mechanism,
                                               cellar_error *err)
{
    return table->cells.weight == NULL
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_RULE,
                             "%s is for counts of records, and the table is weighted; tabulate it "
                             "without weights",
                             mechanism);
}

static cellar_status protection_check_parts(const cellar_protect_options *options,
                                            const cellar_release_facts *facts, cellar_error *err)
{
    uint64_t n_parts = facts->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1;
    if (__builtin_mul_overflow(n_parts, facts->cells_per_record, &n_parts) ||
        __builtin_mul_overflow(n_parts, facts->max_per_unit, &n_parts) ||
        __builtin_mul_overflow(n_parts, facts->max_weight, &n_parts))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "a unit touches too many cells");
    if (options->per_cell && options->total_epsilon != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "parameters are those of one cell, or a share of a total: not both");
    if (facts->cells_per_record > 1 && !options->per_cell && options->total_epsilon == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "one record touches %llu cells of this table: say the epsilon of all of "
                           "them together (--total-epsilon E, and no epsilon in the spec), or that "
                           "the parameters are meant for each cell (--per-cell)",
                           (unsigned long long) facts->cells_per_record);
    return CELLAR_OK;
}

/* 1 when the text reads like 2026-07-01 and there is such a day. */
static int protection_is_day(const char *text)
{
    static const uint64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    uint64_t year, month, day;
    int leaps;
    if (strlen(text) != 10 || text[4] != '-' || text[7] != '-' ||
        !cellar_parse_u64(text, 4, &year) || !cellar_parse_u64(text + 5, 2, &month) ||
        !cellar_parse_u64(text + 8, 2, &day) || month < 1 || month > 12)
        return 0;
    leaps = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= days[month - 1] + (uint64_t) leaps;
}

/* Today, or the day that the caller says. */
static cellar_status protection_set_date(cellar_protection *protection, const char *date,
                                         cellar_error *err)
{
    time_t now = time(NULL);
    struct tm day = {0};

    if (date != NULL && !protection_is_day(date))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a date reads like 2026-07-01, not '%.20s'",
                           date);
    gmtime_r(&now, &day);
    if (date != NULL)
        memcpy(protection->date, date, 11);
    else
        strftime(protection->date, sizeof protection->date, "%Y-%m-%d", &day);
    protection->facts.date = protection->date;
    return CELLAR_OK;
}

/* ---- the whole ------------------------------------------------------------- */

cellar_release_facts cellar_protection_facts(const cellar_protect_options *options,
                                             uint64_t cells_per_record)
{
    return (cellar_release_facts){.unit = options->unit != NULL ? options->unit : "record",
                                  .ledger = options->ledger != NULL ? options->ledger
                                                                    : CELLAR_RELEASE_UNACCOUNTED,
                                  .delta = options->delta,
                                  .negatives = options->negatives,
                                  .neighbours = options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE
                                                    ? CELLAR_NEIGHBOURS_SUBSTITUTE
                                                    : CELLAR_NEIGHBOURS_ADD_REMOVE,
                                  .threshold = options->threshold,
                                  .below = options->below,
                                  .choice = options->choice,
                                  .cells_per_record = cells_per_record,
                                  .max_per_unit = options->max_per_unit,
                                  .max_weight = options->max_weight > 0 ? options->max_weight : 1,
                                  .is_weighted = options->max_weight > 0};
}

cellar_status cellar_protection_init(cellar_protection *out, const cellar_table *table,
                                     const cellar_protect_options *options, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    *out = (cellar_protection){.table = table, .accepted = options->accept};
    CELLAR_TRY(protection_check_options(options, err));
    CELLAR_TRY(protection_check_domains(table->schema, options->domain_public, err));
    CELLAR_TRY(protection_check_weights(table, options, err));
    if (table->cells.weight != NULL) {
        CELLAR_TRY(cellar_table_round_weights(table, &out->rounded, err));
        out->table = out->rounded;
    }
    CELLAR_TRY(protection_check_cells(out->table, err));
    out->listing =
        (cellar_listing){options->negatives, options->threshold > 1 ? options->threshold : 1};
    out->facts = cellar_protection_facts(options, cellar_schema_cells_per_record(table->schema));
    CELLAR_TRY(protection_check_parts(options, &out->facts, err));
    CELLAR_TRY(protection_set_date(out, options->date, err));
    if (options->domain_public)
        CELLAR_TRY(cellar_schema_assert_domains(table->schema, &out->schema, err));
    else
        out->schema = cellar_schema_retain(table->schema);
out:
    return status;
}

uint64_t cellar_protection_n_parts(const cellar_release_facts *facts)
{
    /* a unit that takes other values leaves one cell and enters another */
    uint64_t n_sides = facts->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1;
    return facts->cells_per_record * facts->max_per_unit * facts->max_weight * n_sides;
}

void cellar_protection_clear(cellar_protection *protection)
{
    cellar_schema_free(protection->schema);
    cellar_table_free(protection->rounded);
    cellar_certificate_free(protection->certificate);
    *protection = (cellar_protection){0};
}

cellar_status cellar_protection_add_marks(const cellar_table *table, cells_builder *out,
                                          cellar_error *err)
{
    const cellar_cells *from = &table->cells;
    size_t n_marks = 0;

    for (size_t i = 0; from->status != NULL && i < from->n; i++)
        n_marks += from->status[i] == CELLAR_CELL_STRUCTURAL_ZERO &&
                   !cellar_schema_is_structural_zero(table->schema, table_index(table, i));
    if (n_marks == 0)
        return CELLAR_OK;
    if (out->cells.index == NULL) {
        cellar_status status = cellar_cells_reserve(out, &out->cells, n_marks, err);
        if (status != CELLAR_OK)
            return status;
    }
    out->cells.status = cellar_alloc(out->capacity, sizeof *out->cells.status);
    if (out->cells.status == NULL)
        return cellar_fail_memory(err, "a release");
    for (size_t i = 0; i < from->n; i++)
        if (from->status[i] == CELLAR_CELL_STRUCTURAL_ZERO &&
            !cellar_schema_is_structural_zero(table->schema, table_index(table, i))) {
            cellar_status status = cellar_cells_append_zero(out, table_index(table, i), err);
            if (status != CELLAR_OK)
                return status;
        }
    return cellar_cells_sort(&out->cells, table->schema->n_indices, 0, err);
}
