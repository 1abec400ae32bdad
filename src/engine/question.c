/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The question is five SELECTs inside each other, so that each speaks of short names only: fields
 * as texts; numbers; codes; why a row does not count; cells. Databases flatten them. */
#include "engine/question.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/coding.h"

/* A question; of the codes of all variables, `set` are the table's. */
typedef struct question {
    const cellar_tabulate_spec *spec;
    const cellar_sql_source *source;
    const sql_dialect *dialect;
    cellar_tabulate_set set;
    cellar_condition **conditions;
    cellar_text *out;
} question;

/* ---- the innermost SELECT: fields as texts ------------------------------------------------ */

/* Adds ", form AS name" about a column. */
static void add_column(question *q, const char *column, const char *as, size_t number)
{
    cellar_text name = {0};
    sql_add_name(q->dialect, &name, column, strlen(column));
    if (name.failed)
        q->out->failed = 1;
    else
        sql_add_form(q->out, q->dialect->text, name.bytes);
    cellar_text_printf(q->out, " AS %s%zu, ", as, number);
    cellar_text_clear(&name);
}

static void add_table(question *q)
{
    const char *at = q->source->table, *name;
    size_t length;
    while (*at != '\0' && sql_next_part(&at, &name, &length)) {
        sql_add_name(q->dialect, q->out, name, length);
        if (*at != '\0')
            cellar_text_add_char(q->out, '.');
    }
}

static void add_fields(question *q)
{
    const cellar_tabulate_spec *spec = q->spec;
    cellar_text_add_string(q->out, "SELECT ");
    for (size_t v = 0; v < spec->n_variables; v++)
        add_column(q, spec->variables[v].column, "t", v + 1);
    for (size_t w = 0; w < spec->n_where; w++)
        add_column(q, cellar_condition_column(q->conditions[w]), "s", w + 1);
    if (spec->weight_column != NULL)
        add_column(q, spec->weight_column, "wt", 1);
    if (spec->record_key_column != NULL)
        add_column(q, spec->record_key_column, "kt", 1);
    if (spec->unit_column != NULL)
        add_column(q, spec->unit_column, "ut", 1);
    for (size_t i = 0; spec->unit_column != NULL && i < q->source->n_order_by; i++) {
        sql_add_name(q->dialect, q->out, q->source->order_by[i], strlen(q->source->order_by[i]));
        cellar_text_printf(q->out, " AS r%zu, ", i + 1);
    }
    cellar_text_add_string(q->out, "1 AS one FROM ");
    add_table(q);
    /* Where no column has the table's name, some databases take that for the whole row. */
    cellar_text_add_string(q->out, " AS ");
    sql_add_name(q->dialect, q->out, "cellar_rows", strlen("cellar_rows"));
}

/* ---- numbers, codes, reasons, cells ---------------------------------------------------------- */

/* ", CASE WHEN is_number THEN number END AS x1", of the text t1. */
static void add_number(question *q, const char *text, const char *as)
{
    cellar_text_add_string(q->out, ", CASE WHEN ");
    sql_add_form(q->out, q->dialect->is_number, text);
    cellar_text_add_string(q->out, " THEN ");
    sql_add_form(q->out, q->dialect->number, text);
    cellar_text_printf(q->out, " END AS %s", as);
}

/* Around the numbers of variables and conditions files allow blanks. */
static void add_trimmed_number(question *q, const char *text, size_t i, const char *as)
{
    cellar_text name = {0}, trimmed = {0};
    cellar_text_printf(&name, "%s%zu", text, i);
    if (!name.failed)
        sql_add_form(&trimmed, q->dialect->trim, name.bytes);
    cellar_text_reset(&name);
    cellar_text_printf(&name, "%s%zu", as, i);
    if (name.failed || trimmed.failed)
        q->out->failed = 1;
    else
        add_number(q, trimmed.bytes, name.bytes);
    cellar_text_clear(&name);
    cellar_text_clear(&trimmed);
}

static void add_key_number(question *q)
{
    if (q->spec->key_range == 0) {
        add_number(q, "kt1", "kx");
        return;
    }
    cellar_text_add_string(q->out, ", CASE WHEN ");
    sql_add_form(q->out, q->dialect->is_key, "kt1");
    cellar_text_add_string(q->out, " THEN ");
    sql_add_form(q->out, q->dialect->key, "kt1");
    cellar_text_add_string(q->out, " END AS kx");
}

static void add_numbers(question *q)
{
    const cellar_tabulate_spec *spec = q->spec;
    cellar_text_add_string(q->out, "SELECT a.*");
    for (size_t v = 0; v < spec->n_variables; v++)
        if (sql_coding_needs_number(&spec->variables[v]))
            add_trimmed_number(q, "t", v + 1, "x");
    for (size_t w = 0; w < spec->n_where; w++)
        if (cellar_condition_order(q->conditions[w]) != NULL)
            add_trimmed_number(q, "s", w + 1, "y");
    if (spec->weight_column != NULL)
        add_number(q, "wt1", "wx");
    if (spec->record_key_column != NULL)
        add_key_number(q);
}

/* A whole number below the range, or a decimal in [0,1); NULL where it is none. */
static void add_key(question *q)
{
    const sql_dialect *d = q->dialect;
    cellar_text_add_string(q->out, ", ");
    if (q->spec->key_range == 0) {
        cellar_text_add_string(q->out, "CASE WHEN kx >= 0 AND kx < 1 AND ");
        sql_add_form(q->out, d->decimal_key, "kx");
        cellar_text_add_string(q->out, " = floor(");
        sql_add_form(q->out, d->decimal_key, "kx");
        cellar_text_add_string(q->out, ") THEN ");
        sql_add_form(q->out, d->decimal_key, "kx");
        cellar_text_add_string(q->out, " END AS k");
        return;
    }
    cellar_text_printf(q->out, "CASE WHEN kx < %llu THEN kx END AS k",
                       (unsigned long long) q->spec->key_range);
}

/* A bound beyond which no weight fits cuts nothing off. */
static int is_cut(const question *q)
{
    enum { BILLIONTHS_MAX = 9000000 };
    return q->spec->max_weight > 0 &&
           (q->dialect->weight_scale == 0 || q->spec->max_weight <= BILLIONTHS_MAX);
}

static void add_weight(question *q)
{
    const sql_dialect *d = q->dialect;
    cellar_text_add_string(q->out, ", CASE ");
    if (is_cut(q)) {
        char bound[32];
        snprintf(bound, sizeof bound, "%llu", (unsigned long long) q->spec->max_weight);
        cellar_text_add_string(q->out, "WHEN wx > ");
        sql_add_form(q->out, d->bound, bound);
        cellar_text_add_string(q->out, " THEN ");
        sql_add_form(q->out, d->weight, bound);
        cellar_text_add_char(q->out, ' ');
    }
    cellar_text_add_string(q->out, "WHEN wx >= 0");
    if (d->weight_fits != NULL)
        cellar_text_printf(q->out, " AND (%s)", d->weight_fits);
    cellar_text_add_string(q->out, " THEN ");
    sql_add_form(q->out, d->weight, "wx");
    cellar_text_add_string(q->out, " END AS w");
}

static cellar_status add_code(question *q, size_t v, cellar_error *err)
{
    char text[32], number[32];
    sql_coding coding = {.dialect = q->dialect,
                         .variable = &q->spec->variables[v],
                         .missing = q->spec->missing,
                         .n_missing = q->spec->n_missing,
                         .text = text,
                         .number = number};
    cellar_status status = CELLAR_OK;
    snprintf(text, sizeof text, "t%zu", v + 1);
    snprintf(number, sizeof number, "x%zu", v + 1);
    CELLAR_TRY(sql_make_coder(q->spec, q->source, v, &coding.coder, err));
    cellar_text_add_string(q->out, ", ");
    CELLAR_TRY(sql_coding_add(&coding, q->out, err));
    cellar_text_printf(q->out, " AS v%zu", v + 1);
out:
    cellar_coder_free(coding.coder);
    return status;
}

static cellar_status add_codes(question *q, cellar_error *err)
{
    const cellar_tabulate_spec *spec = q->spec;
    cellar_status status = CELLAR_OK;
    cellar_text_add_string(q->out, "SELECT b.*");
    for (size_t v = 0; v < spec->n_variables; v++)
        CELLAR_TRY(add_code(q, v, err));
    for (size_t w = 0; w < spec->n_where; w++) {
        char text[32], number[32];
        snprintf(text, sizeof text, "s%zu", w + 1);
        snprintf(number, sizeof number, "y%zu", w + 1);
        cellar_text_add_string(q->out, ", ");
        CELLAR_TRY(sql_add_condition(q->dialect, q->out, q->conditions[w], text, number, err));
        cellar_text_printf(q->out, " AS f%zu", w + 1);
    }
    if (spec->weight_column != NULL)
        add_weight(q);
    if (spec->record_key_column != NULL)
        add_key(q);
out:
    return status;
}

/* " WHEN number IS NULL AND its text looks like one THEN ...": the row cannot be counted exactly.
 */
static void add_unsure(question *q, const char *number, const char *text, size_t i, size_t use)
{
    cellar_text name = {0};
    cellar_text_printf(&name, "%s%zu", text, i);
    if (name.failed) {
        q->out->failed = 1;
        return;
    }
    cellar_text_printf(q->out, " WHEN %s IS NULL AND (", number);
    sql_add_form(q->out, q->dialect->looks_like_number, name.bytes);
    cellar_text_printf(q->out, ") THEN %d", SQL_WRONG * (int) (use + 1) + SQL_UNSURE);
    cellar_text_clear(&name);
}

static void add_unsure_of(question *q, char number, const char *text, size_t i, size_t use)
{
    char name[32];
    snprintf(name, sizeof name, "%c%zu", number, i);
    add_unsure(q, name, text, i, use);
}

/* Weights, keys and units. */
static void add_amount_reasons(question *q)
{
    const cellar_tabulate_spec *spec = q->spec;
    const size_t n = spec->n_variables;
    if (spec->weight_column != NULL) {
        add_unsure(q, "w", "wt", 1, n);
        cellar_text_printf(q->out, " WHEN w IS NULL THEN %d", SQL_WRONG * (int) (n + 1));
    }
    if (spec->record_key_column != NULL) {
        if (spec->key_range == 0)
            add_unsure(q, "kx", "kt", 1, n + 1);
        cellar_text_printf(q->out, " WHEN k IS NULL THEN %d", SQL_WRONG * (int) (n + 2));
    }
    if (spec->unit_column != NULL) {
        cellar_text_add_string(q->out, " WHEN ");
        sql_add_missing(q->dialect, q->out, "ut1", NULL, 0);
        cellar_text_printf(q->out, " THEN %d", SQL_WRONG * (int) (n + 3));
    }
}

/* Filters first, then what is wrong, then what is missing, as in files; weights, keys and units of
 * the rows that are left. */
static void add_reason(question *q)
{
    const cellar_tabulate_spec *spec = q->spec;
    const size_t n = spec->n_variables;
    cellar_text_add_string(q->out, "SELECT c.*, CASE");
    for (size_t w = 0; w < spec->n_where; w++) {
        if (cellar_condition_order(q->conditions[w]) != NULL)
            add_unsure_of(q, 'y', "s", w + 1, n + 3 + w);
        cellar_text_printf(q->out, " WHEN f%zu = 0 THEN %d", w + 1, SQL_FILTERED);
    }
    for (size_t v = 0; v < n; v++) {
        if (sql_coding_needs_number(&spec->variables[v]))
            add_unsure_of(q, 'x', "t", v + 1, v);
        cellar_text_printf(q->out, " WHEN v%zu < %d THEN v%zu - %d", v + 1,
                           (int) CELLAR_OUTCOME_MISSING, v + 1, -SQL_WRONG * (int) (v + 1));
    }
    for (size_t v = 0; v < n && !q->source->keep_missing; v++)
        cellar_text_printf(q->out, " WHEN v%zu = %d THEN %d", v + 1, (int) CELLAR_OUTCOME_MISSING,
                           SQL_MISSING);
    add_amount_reasons(q);
    /* a row without a condition, too, has a WHEN */
    cellar_text_printf(q->out, " WHEN one = 1 THEN %d END AS p", SQL_COUNTS);
}

/* " OVER the records of a unit, in their order". */
static void add_window(question *q)
{
    cellar_text_add_string(q->out, " OVER (PARTITION BY p, ut1 ORDER BY ");
    for (size_t i = 0; i < q->source->n_order_by; i++)
        cellar_text_printf(q->out, "%sr%zu", i > 0 ? ", " : "", i + 1);
    cellar_text_add_char(q->out, ')');
}

/* The first records of each unit, of those that count. count() goes up to the last of those that
 * are tied with a record: when it passes the bound and rank() does not, the tie lies across. */
static void add_units(question *q)
{
    const unsigned long long most = q->spec->max_per_unit;
    cellar_text_add_string(q->out, "SELECT d.*, ");
    if (q->spec->unit_column == NULL) {
        cellar_text_add_string(q->out, "p AS o");
        return;
    }
    cellar_text_add_string(q->out, "CASE WHEN p < 0 THEN p WHEN rank()");
    add_window(q);
    cellar_text_printf(q->out, " > %llu THEN %d WHEN count(*)", most, SQL_OVER_UNIT);
    add_window(q);
    cellar_text_printf(q->out, " > %llu THEN %d ELSE p END AS o", most, SQL_TIED);
}

static void add_kept(question *q)
{
    cellar_text_add_string(q->out, "SELECT o");
    for (size_t k = 0; k < q->set.n; k++)
        cellar_text_printf(q->out, ", CASE WHEN o = 0 THEN v%d ELSE -1 END AS c%zu",
                           q->set.variables[k] + 1, k + 1);
    if (q->spec->weight_column != NULL)
        cellar_text_add_string(q->out, ", w");
    if (q->spec->record_key_column != NULL)
        cellar_text_add_string(q->out, ", k");
}

static void add_names(question *q, const char *before)
{
    cellar_text_printf(q->out, "%so", before);
    for (size_t k = 0; k < q->set.n; k++)
        cellar_text_printf(q->out, ", c%zu", k + 1);
}

static void add_cells(question *q)
{
    add_names(q, "SELECT ");
    cellar_text_add_string(q->out, ", count(*) AS n");
    if (q->spec->weight_column != NULL) {
        cellar_text_add_string(q->out, ", ");
        sql_add_form(q->out, q->dialect->weight_sum, "w");
        cellar_text_add_string(q->out, " AS ws");
    }
    if (q->spec->record_key_column != NULL) {
        cellar_text_add_string(q->out, ", ");
        sql_add_form(q->out, q->dialect->key_sum, "k");
        cellar_text_add_string(q->out, " AS ks");
    }
    cellar_text_add_string(q->out,
                           q->dialect->has_windows ? ", count(*) OVER () AS m" : ", 0 AS m");
}

static cellar_status add_question(question *q, cellar_error *err)
{
    static const char from[] = "\nFROM (";
    const char *fence = q->dialect->fence != NULL ? q->dialect->fence : "";
    cellar_status status = CELLAR_OK;
    add_cells(q);
    cellar_text_add_string(q->out, from);
    add_kept(q);
    cellar_text_add_string(q->out, from);
    add_units(q);
    cellar_text_add_string(q->out, from);
    add_reason(q);
    cellar_text_add_string(q->out, from);
    CELLAR_TRY(add_codes(q, err));
    cellar_text_add_string(q->out, from);
    add_numbers(q);
    cellar_text_add_string(q->out, from);
    add_fields(q);
    cellar_text_printf(q->out, "%s) a%s) b%s) c%s) d%s) e%s) f", fence, fence, fence, fence, fence,
                       fence);
    add_names(q, "\nGROUP BY ");
out:
    return status;
}

static cellar_status parse_conditions(question *q, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    q->conditions = cellar_alloc(q->spec->n_where, sizeof *q->conditions);
    if (q->conditions == NULL)
        return cellar_fail_memory(err, "a question");
    for (size_t w = 0; status == CELLAR_OK && w < q->spec->n_where; w++) {
        status = cellar_condition_parse(q->spec->where[w], &q->conditions[w], err);
        if (status == CELLAR_OK)
            status = sql_check_name(q->dialect, cellar_condition_column(q->conditions[w]), err);
    }
    return status;
}

cellar_sql_source cellar_sql_source_default(void)
{
    return (cellar_sql_source){0};
}

cellar_status cellar_sql_write(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                               cellar_sql_dialect dialect, char **sql, cellar_error *err)
{
    cellar_text out = {0};
    question q = {.spec = spec, .source = source, .dialect = sql_dialect_of(dialect), .out = &out};
    cellar_status status = CELLAR_OK;
    *sql = NULL;
    CELLAR_TRY(sql_check(spec, source, dialect, err));
    q.set = sql_set_of(spec, source);
    CELLAR_TRY(parse_conditions(&q, err));
    CELLAR_TRY(add_question(&q, err));
    if (out.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    *sql = out.bytes;
    out = (cellar_text){0};
out:
    for (size_t w = 0; q.conditions != NULL && w < spec->n_where; w++)
        cellar_condition_free(q.conditions[w]);
    cellar_free(q.conditions);
    cellar_text_clear(&out);
    return status;
}

void cellar_sql_free(char *sql)
{
    cellar_free(sql);
}
