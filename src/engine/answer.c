/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of an answer become cells, and cells the table that the records would have made. */
#include <string.h>

#include <cellar/columns.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/record_key.h"
#include "engine/dialect.h"
#include "engine/question.h"

/* What one database said: how many rows its answer has, and how many came. */
typedef struct answer_part {
    const char *source;
    uint64_t n_rows, n_promised;
} answer_part;

struct cellar_sql_answer {
    const cellar_tabulate_spec *spec;
    int keeps_missing;
    cellar_tabulate_set set; /* the table's variables */
    const sql_dialect *dialect;
    cellar_arena *texts; /* of weights */
    uint32_t *leaves[CELLAR_MAX_VARIABLES];
    const uint32_t *given[CELLAR_MAX_VARIABLES]; /* the same, for who takes the cells */
    size_t leaves_room[CELLAR_MAX_VARIABLES];
    size_t n_leaves[CELLAR_MAX_VARIABLES]; /* that each domain has */
    uint64_t *counts, *keys;
    const char **weights;
    size_t counts_room, keys_room, weights_room;
    size_t n;
    cellar_row_report report;
    answer_part *parts;
    size_t n_parts, parts_room;
};

cellar_status cellar_sql_answer_create(const cellar_tabulate_spec *spec,
                                       const cellar_sql_source *source, cellar_sql_dialect dialect,
                                       cellar_sql_answer **out, cellar_error *err)
{
    cellar_sql_answer *a = cellar_alloc(1, sizeof *a);
    cellar_coder *coder = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (a == NULL || (a->texts = cellar_arena_create(SIZE_MAX / 2)) == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    a->spec = spec;
    a->keeps_missing = source->keep_missing;
    a->set = sql_set_of(spec, source);
    a->dialect = sql_dialect_of(dialect);
    for (size_t v = 0; v < a->set.n; v++) {
        CELLAR_TRY(sql_make_coder(spec, source, a->set.variables[v], &coder, err));
        a->n_leaves[v] = cellar_coder_n_codes(coder);
        cellar_coder_free(coder);
        coder = NULL;
    }
    *out = a;
    a = NULL;
out:
    cellar_sql_answer_free(a);
    return status;
}

void cellar_sql_answer_free(cellar_sql_answer *a)
{
    if (a == NULL)
        return;
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_free(a->leaves[v]);
    cellar_free(a->parts);
    cellar_free(a->counts);
    cellar_free(a->keys);
    cellar_free(a->weights);
    cellar_arena_free(a->texts);
    cellar_free(a);
}

size_t cellar_sql_answer_n_columns(const cellar_sql_answer *a)
{
    return 3 + a->set.n + (a->spec->weight_column != NULL) + (a->spec->record_key_column != NULL);
}

/* ---- a row ------------------------------------------------------------------------------ */

static int read_whole(const char *field, int64_t *out)
{
    return field != NULL && cellar_parse_i64(field, strlen(field), out);
}

/* What is wrong with a value: the sentence that a file would get, without its line. */
static cellar_status fail_value(const cellar_sql_answer *a, const char *source, int64_t reason,
                                cellar_error *err)
{
    const cellar_tabulate_spec *spec = a->spec;
    const size_t use = (size_t) (reason / SQL_WRONG) - 1;
    static const char unsure[] = "a number is so long, or written with such an exponent, that the "
                                 "database cannot compare it exactly";
    const char *column, *why;
    if (use < spec->n_variables) {
        column = spec->variables[use].column;
        why = cellar_outcome_text((int32_t) (reason % SQL_WRONG));
    } else if (use == spec->n_variables) {
        column = spec->weight_column;
        why = "expected a weight, a decimal number of at least 0";
    } else if (use == spec->n_variables + 1) {
        column = spec->record_key_column;
        why = spec->key_range > 0 ? "expected a record key, an integer below the key range"
                                  : "expected a record key, a decimal in [0,1)";
    } else if (use == spec->n_variables + 2) {
        column = spec->unit_column;
        why = "the unit is missing";
    } else {
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: condition '%.200s': %s", source,
                           spec->where[use - spec->n_variables - 3], unsure);
    }
    if (reason % SQL_WRONG == SQL_UNSURE)
        why = unsure;
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: column '%.200s': %s", source,
                       column != NULL ? column : "", why);
}

/* Rows that do not count. */
static cellar_status add_reason(cellar_sql_answer *a, const char *source, int64_t reason,
                                uint64_t n, cellar_error *err)
{
    if (reason == SQL_FILTERED)
        a->report.n_filtered += n;
    else if (reason == SQL_MISSING)
        a->report.n_missing += n;
    else if (reason == SQL_OVER_UNIT)
        a->report.n_over_unit += n;
    else if (reason == SQL_TIED)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: the order of a unit's records has ties, so that it does not say "
                           "which of them count: name more columns (--order-by)",
                           source);
    else if (reason > SQL_WRONG ||
             (uint64_t) (reason / SQL_WRONG) > a->spec->n_variables + 3 + a->spec->n_where)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the answer has a row that nothing asked for",
                           source);
    else if (a->spec->reader.bad_rows == CELLAR_BAD_ROWS_SKIP && reason % SQL_WRONG != SQL_UNSURE)
        a->report.n_bad += n;
    else
        return fail_value(a, source, reason, err);
    return CELLAR_OK;
}

/* A sum of keys, modulo their range: a whole number, or two halves as SQLite adds them up. */
static int read_key(const cellar_sql_answer *a, const char *field, uint64_t *out)
{
    const uint64_t range =
        a->spec->key_range > 0 ? a->spec->key_range : (uint64_t) CELLAR_DECIMAL_KEY_RANGE;
    const char *colon = field != NULL ? strchr(field, ':') : NULL;
    cellar_int128 high = 0, low;
    if (field == NULL)
        return 0;
    if (colon != NULL) {
        if (!cellar_parse_decimal(field, (size_t) (colon - field), 0, &high, NULL))
            return 0;
        field = colon + 1;
    }
    if (!cellar_parse_decimal(field, strlen(field), 0, &low, NULL) || high < 0 || low < 0)
        return 0;
    high = (high % (cellar_int128) range) * ((cellar_int128) 1 << 32) % (cellar_int128) range;
    *out = (uint64_t) ((high + low % (cellar_int128) range) % (cellar_int128) range);
    return 1;
}

/* A sum of weights, as a decimal: *is_ok is 0 where it is none. The answer is 0 when memory ended.
 */
static int read_weight(cellar_sql_answer *a, const char *field, const char **out, int *is_ok)
{
    cellar_text text = {0};
    cellar_int128 value;
    *is_ok = field != NULL &&
             cellar_parse_decimal(field, strlen(field), 9 - a->dialect->weight_scale, &value, NULL);
    if (!*is_ok)
        return 1;
    cellar_text_add_decimal(&text, value, 9);
    *out = text.failed ? NULL : cellar_arena_copy(a->texts, text.bytes, text.length);
    cellar_text_clear(&text);
    return *out != NULL;
}

static int read_leaf(const cellar_sql_answer *a, size_t v, const char *field, uint32_t *out)
{
    int64_t leaf;
    if (!read_whole(field, &leaf))
        return 0;
    *out = leaf >= 0 ? (uint32_t) leaf : CELLAR_LEAF_MISSING;
    return leaf >= 0 ? (size_t) leaf < a->n_leaves[v]
                     : leaf == CELLAR_OUTCOME_MISSING && a->keeps_missing;
}

static int make_room(cellar_sql_answer *a)
{
    int is_ok = cellar_grow(&a->counts, &a->counts_room, a->n + 1, sizeof *a->counts) &&
                cellar_grow(&a->keys, &a->keys_room, a->n + 1, sizeof *a->keys) &&
                cellar_grow(&a->weights, &a->weights_room, a->n + 1, sizeof *a->weights);
    for (size_t v = 0; is_ok && v < a->set.n; v++)
        is_ok = cellar_grow(&a->leaves[v], &a->leaves_room[v], a->n + 1, sizeof *a->leaves[v]);
    return is_ok;
}

/* How many rows there are says each row of a database that can say it: *is_ok is 0 where they do
 * not agree. The answer is 0 when memory ended. */
static int note_row(cellar_sql_answer *a, const char *source, int64_t n_promised, int *is_ok)
{
    size_t i = 0;
    while (i < a->n_parts && strcmp(a->parts[i].source, source) != 0)
        i++;
    if (i == a->n_parts) {
        if (!cellar_grow(&a->parts, &a->parts_room, i + 1, sizeof *a->parts))
            return 0;
        a->parts[i] = (answer_part){.source = cellar_arena_copy(a->texts, source, strlen(source)),
                                    .n_promised = (uint64_t) n_promised};
        if (a->parts[i].source == NULL)
            return 0;
        a->n_parts++;
    }
    a->parts[i].n_rows++;
    *is_ok = a->parts[i].n_promised == (uint64_t) n_promised;
    return 1;
}

/* Drivers and servers may be set up to hand out the first rows only. */
static cellar_status check_parts(const cellar_sql_answer *a, cellar_error *err)
{
    for (size_t i = 0; i < a->n_parts; i++)
        if (a->parts[i].n_promised > 0 && a->parts[i].n_promised != a->parts[i].n_rows)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the answer was cut off: rows of it are not there",
                               a->parts[i].source);
    return CELLAR_OK;
}

cellar_status cellar_sql_answer_add(cellar_sql_answer *a, const char *source,
                                    const char *const *fields, cellar_error *err)
{
    const size_t n_variables = a->set.n;
    const char *const *more = fields + n_variables + 2;
    int64_t reason, count, n_promised;
    int is_ok = read_whole(fields[0], &reason) && reason <= 0 &&
                read_whole(fields[n_variables + 1], &count) && count > 0 &&
                read_whole(fields[cellar_sql_answer_n_columns(a) - 1], &n_promised) &&
                n_promised >= a->dialect->has_windows;
    if (is_ok && !note_row(a, source, n_promised, &is_ok))
        return cellar_fail_memory(err, "an answer");
    if (is_ok && __builtin_add_overflow(a->report.n_read, (uint64_t) count, &a->report.n_read))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "%s: there are too many records", source);
    if (is_ok && reason != SQL_COUNTS)
        return add_reason(a, source, reason, (uint64_t) count, err);
    if (!make_room(a))
        return cellar_fail_memory(err, "an answer");
    for (size_t v = 0; is_ok && v < n_variables; v++)
        is_ok = read_leaf(a, v, fields[1 + v], &a->leaves[v][a->n]);
    if (is_ok && a->spec->weight_column != NULL &&
        !read_weight(a, *more++, &a->weights[a->n], &is_ok))
        return cellar_fail_memory(err, "an answer");
    if (is_ok && a->spec->record_key_column != NULL)
        is_ok = read_key(a, *more, &a->keys[a->n]);
    if (!is_ok)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the answer is not one to this question",
                           source);
    a->counts[a->n++] = (uint64_t) count;
    a->report.n_counted += (uint64_t) count;
    return CELLAR_OK;
}

cellar_status cellar_sql_answer_cells(cellar_sql_answer *a, cellar_counted_cells *out,
                                      cellar_row_report *report, cellar_error *err)
{
    const cellar_status status = check_parts(a, err);
    if (status != CELLAR_OK)
        return status;
    if (!make_room(a)) /* without cells, too, there are weights and keys, of none */
        return cellar_fail_memory(err, "an answer");
    for (size_t v = 0; v < a->set.n; v++)
        a->given[v] = a->leaves[v];
    *out = (cellar_counted_cells){.n = a->n,
                                  .leaves = a->given,
                                  .counts = a->counts,
                                  .weights = a->spec->weight_column != NULL ? a->weights : NULL,
                                  .keys = a->spec->record_key_column != NULL ? a->keys : NULL};
    if (report != NULL)
        *report = a->report;
    return CELLAR_OK;
}

cellar_status cellar_sql_answer_table(cellar_sql_answer *a, cellar_table **out,
                                      cellar_row_report *report, cellar_error *err)
{
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec = *a->spec;
    cellar_counted_cells cells;
    const cellar_status status = cellar_sql_answer_cells(a, &cells, report, err);
    *out = NULL;
    if (status != CELLAR_OK)
        return status;
    for (size_t v = 0; v < a->set.n; v++)
        variables[v] = a->spec->variables[a->set.variables[v]];
    spec.variables = variables;
    spec.n_variables = a->set.n;
    return cellar_table_create_from_cells(&spec, &cells, out, err);
}
