/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exponential: P(b | a) proportional to e^{epsilon u(a, b) / 2D} for utilities u from a file, D the
 * most that a utility changes between neighbouring counts (McSherry and Talwar 2007, "Mechanism
 * design via differential privacy", section 3). Probabilities are fixed as decimals of 40 digits,
 * none of them zero, so that the distribution is exactly known. Counts beyond the last one of the
 * file are released as that one. */
#include <inttypes.h>
#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "math/rational.h"
#include "mechanism/matrix/matrix_file.h"
#include "mechanism/registry.h"

enum { FILE_LIMIT = 64 << 20, BITS = 320, DIGITS = 40, LINES_MAX = 1000000 };

/* ---- the utilities ------------------------------------------------------------------- */

typedef struct utility_line {
    int64_t count, released;
    fmpq_t utility;
} utility_line;

typedef struct utilities {
    cellar_csv csv;
    size_t columns[3];
    utility_line *lines; /* by count, then by released value */
    size_t n, capacity;
    fmpq_t range; /* the most that one changes between neighbouring counts */
} utilities;

static void utilities_clear(utilities *u)
{
    for (size_t i = 0; i < u->n; i++)
        fmpq_clear(u->lines[i].utility);
    cellar_free(u->lines);
    fmpq_clear(u->range);
    cellar_csv_clear(&u->csv);
}

static cellar_status utilities_header(utilities *u, cellar_error *err)
{
    static const char *const names[] = {"count", "released", "utility"};
    cellar_status status = cellar_csv_read_header(&u->csv, err);
    for (size_t i = 0; status == CELLAR_OK && i < 3; i++) {
        u->columns[i] = cellar_csv_find_column(&u->csv, names[i]);
        if (u->columns[i] == CELLAR_CSV_NO_COLUMN)
            status = cellar_fail(err, CELLAR_ERR_INPUT,
                                 "%s:1: has no column '%s': a file of utilities has the columns "
                                 "count, released and utility",
                                 u->csv.name, names[i]);
    }
    return status;
}

static cellar_status utilities_integer(const utilities *u, size_t column, int64_t low, int64_t high,
                                       int64_t *out, cellar_error *err)
{
    const cellar_csv_field *f = &u->csv.fields[u->columns[column]];
    if (!cellar_parse_i64(f->bytes, f->length, out) || *out < low || *out > high)
        return cellar_csv_fail(&u->csv, u->columns[column], err,
                               "expected a whole number from %" PRId64 " to %" PRId64, low, high);
    return CELLAR_OK;
}

static cellar_status utilities_line(utilities *u, cellar_error *err)
{
    const int64_t last = u->n > 0 ? u->lines[u->n - 1].count : -1;
    const cellar_csv_field *f = &u->csv.fields[u->columns[2]];
    cellar_status status = CELLAR_OK;
    int64_t count = 0, released = 0;
    utility_line *line;

    CELLAR_TRY(utilities_integer(u, 0, 0, CELLAR_MATRIX_ROWS_MAX - 1, &count, err));
    CELLAR_TRY(utilities_integer(u, 1, -CELLAR_MATRIX_CHANGE_MAX, CELLAR_MATRIX_CHANGE_MAX,
                                 &released, err));
    if (count != last && count != last + 1)
        CELLAR_TRY(cellar_csv_fail(&u->csv, u->columns[0], err,
                                   "counts follow each other from 0 on: expected %" PRId64,
                                   last + 1));
    if (count == last && released <= u->lines[u->n - 1].released)
        CELLAR_TRY(cellar_csv_fail(&u->csv, u->columns[1], err,
                                   "released values of a count ascend, each once"));
    if (u->n == LINES_MAX)
        CELLAR_TRY(cellar_csv_fail(&u->csv, u->columns[0], err,
                                   "a file of utilities has at most %d lines", LINES_MAX));
    if (!cellar_grow(&u->lines, &u->capacity, u->n + 1, sizeof *u->lines))
        CELLAR_TRY(cellar_fail_memory(err, "utilities"));
    line = &u->lines[u->n++];
    line->count = count;
    line->released = released;
    fmpq_init(line->utility);
    if (!cellar_rational_parse(f->bytes, f->length, line->utility))
        CELLAR_TRY(cellar_csv_fail(&u->csv, u->columns[2], err, "expected a decimal number"));
out:
    return status;
}

/* Values that only one of two neighbouring counts can have change by more than any number: they
 * make no D, and the certificate shows what they cost. */
static void utilities_range(utilities *u)
{
    fmpq_t change;
    fmpq_init(change);
    for (size_t i = 0, j = 0; i < u->n; i++) {
        while (j < u->n && (u->lines[j].count <= u->lines[i].count ||
                            (u->lines[j].count == u->lines[i].count + 1 &&
                             u->lines[j].released < u->lines[i].released)))
            j++;
        if (j == u->n || u->lines[j].count != u->lines[i].count + 1 ||
            u->lines[j].released != u->lines[i].released)
            continue;
        fmpq_sub(change, u->lines[j].utility, u->lines[i].utility);
        fmpq_abs(change, change);
        if (fmpq_cmp(change, u->range) > 0)
            fmpq_set(u->range, change);
    }
    fmpq_clear(change);
}

static cellar_status utilities_parse(utilities *u, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int found;
    CELLAR_TRY(utilities_header(u, err));
    for (;;) {
        CELLAR_TRY(cellar_csv_next(&u->csv, &found, err));
        if (!found)
            break;
        cellar_csv_trim(&u->csv);
        CELLAR_TRY(utilities_line(u, err));
    }
    utilities_range(u);
    if (fmpq_is_zero(u->range))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: no utility differs between neighbouring counts, so that there "
                               "is nothing to divide epsilon by",
                               u->csv.name));
out:
    return status;
}

/* ---- the matrix --------------------------------------------------------------------- */

/* Whole units of 10^-40 of the n lines of a count, at least one each; the likeliest takes what
 * rounding leaves. */
static void row_units(const utility_line *lines, size_t n, const fmpq_t factor, fmpz *units)
{
    size_t best = 0;
    arb_t sum, one;
    arf_t middle;
    fmpq_t exponent;
    arb_ptr p = _arb_vec_init((slong) n);
    arb_init(sum);
    arb_init(one);
    arf_init(middle);
    fmpq_init(exponent);
    for (size_t i = 1; i < n; i++)
        best = fmpq_cmp(lines[i].utility, lines[best].utility) > 0 ? i : best;
    for (size_t i = 0; i < n; i++) {
        fmpq_sub(exponent, lines[i].utility, lines[best].utility);
        fmpq_mul(exponent, exponent, factor);
        arb_set_fmpq(p + i, exponent, BITS);
        arb_exp(p + i, p + i, BITS);
        arb_add(sum, sum, p + i, BITS);
    }
    arb_ui_pow_ui(one, 10, DIGITS, BITS);
    arb_get_unique_fmpz(units + best, one);
    for (size_t i = 0; i < n; i++) {
        if (i == best)
            continue;
        arb_div(p + i, p + i, sum, BITS);
        arb_mul(p + i, p + i, one, BITS);
        arf_set(middle, arb_midref(p + i));
        arf_get_fmpz(units + i, middle, ARF_RND_NEAR);
        if (fmpz_sgn(units + i) <= 0)
            fmpz_one(units + i);
        fmpz_sub(units + best, units + best, units + i);
    }
    _arb_vec_clear(p, (slong) n);
    arb_clear(sum);
    arb_clear(one);
    arf_clear(middle);
    fmpq_clear(exponent);
}

static cellar_status row_add(const utility_line *lines, size_t n, const fmpq_t factor,
                             cellar_matrix *matrix, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpz *units = _fmpz_vec_init((slong) n);
    fmpz_t end, one;
    fmpq_t fraction;
    fmpz_init(end);
    fmpz_init(one);
    fmpq_init(fraction);
    fmpz_ui_pow_ui(one, 10, DIGITS);
    row_units(lines, n, factor, units);
    for (size_t i = 0; i < n && status == CELLAR_OK; i++) {
        fmpz_add(end, end, units + i);
        fmpq_set_fmpz_frac(fraction, end, one);
        status = cellar_matrix_add(matrix, (size_t) lines->count, lines[i].released - lines->count,
                                   fraction, err);
    }
    fmpq_clear(fraction);
    fmpz_clear(one);
    fmpz_clear(end);
    _fmpz_vec_clear(units, (slong) n);
    return status;
}

static cellar_status exponential_matrix(const utilities *u, const fmpq_t epsilon,
                                        cellar_matrix **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t factor;
    fmpq_init(factor);
    fmpq_div(factor, epsilon, u->range);
    fmpq_div_2exp(factor, factor, 1);
    CELLAR_TRY(cellar_matrix_create((size_t) u->lines[u->n - 1].count + 1, CELLAR_MATRIX_LARGE_LAST,
                                    0, out, err));
    for (size_t first = 0, end; first < u->n; first = end) {
        for (end = first; end < u->n && u->lines[end].count == u->lines[first].count;)
            end++;
        CELLAR_TRY(row_add(u->lines + first, end - first, factor, *out, err));
    }
    status = cellar_matrix_finish(*out, err);
out:
    fmpq_clear(factor);
    return status;
}

static cellar_status exponential_init(cellar_mechanism *m, cellar_error *err)
{
    const cellar_parameter *epsilon = cellar_parameter_find(&m->parameters, "epsilon");
    const char *path = cellar_parameter_find(&m->parameters, "file")->text;
    utilities u = {0};
    cellar_matrix *matrix = NULL;
    cellar_status status = CELLAR_OK;
    char *bytes = NULL, *spec = NULL;
    size_t length;

    fmpq_init(u.range);
    CELLAR_TRY(cellar_file_read(path, FILE_LIMIT, &bytes, &length, err));
    cellar_csv_init(&u.csv, path, bytes, length, cellar_csv_delimiter_of(bytes, length));
    CELLAR_TRY(utilities_parse(&u, err));
    CELLAR_TRY(exponential_matrix(&u, epsilon->value, &matrix, err));
    CELLAR_TRY(cellar_matrix_check_parameters(&m->parameters, m->ops->name, matrix, err));
    CELLAR_TRY(cellar_matrix_spec(&m->parameters, m->ops->name, matrix, &spec, err));
    cellar_free(m->spec);
    m->spec = spec;
    status = cellar_matrix_mechanism_init(m, matrix, err);
    matrix = NULL;
out:
    cellar_matrix_free(matrix);
    utilities_clear(&u);
    cellar_free(bytes);
    return status;
}

/* ---- the mechanism ------------------------------------------------------------------ */

/* A matrix serves counts beyond its last row by that row, shifted; here the count is cut off, which
 * brings no two counts further apart. */
static int64_t count_cut(const cellar_mechanism *m, int64_t count)
{
    const int64_t last = (int64_t) ((const cellar_matrix_mechanism *) m)->matrix->n_rows - 1;
    return count < last ? count : last;
}

static double exponential_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    return cellar_matrix_log_pmf(m, count_cut(m, count), released);
}

static void exponential_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                 int64_t bits, arb_t out)
{
    cellar_matrix_pmf_ball(m, count_cut(m, count), released, bits, out);
}

static void exponential_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                                int64_t *high)
{
    cellar_matrix_support(m, count_cut(m, count), tail, low, high);
}

static cellar_status exponential_sample_many(const cellar_mechanism *m, const int64_t *counts,
                                             size_t n, cellar_rng *rng, int64_t *released,
                                             cellar_error *err)
{
    for (size_t i = 0; i < n; i++)
        released[i] = count_cut(m, counts[i]);
    return cellar_matrix_sample_many(m, released, n, rng, released, err);
}

static double exponential_cdf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    return cellar_matrix_cdf(m, count_cut(m, count), released);
}

static double exponential_survival(const cellar_mechanism *m, int64_t count, int64_t released)
{
    return cellar_matrix_survival(m, count_cut(m, count), released);
}

static void exponential_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                      int64_t bits, arb_t out)
{
    cellar_matrix_survival_ball(m, count_cut(m, count), released, bits, out);
}

static void exponential_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out)
{
    cellar_matrix_moments(m, count_cut(m, count), out);
}

/* ---- what certificates rest on ------------------------------------------------------ */

/* The largest |ln p(b | a) / p(b | a')| of two rows into out, or 0: one has a value that the other
 * does not have. */
static int rows_loss(const cellar_matrix_law *p, const cellar_matrix_law *q, int64_t apart,
                     int64_t bits, arb_t out)
{
    int same = p->n == q->n;
    fmpq_t of_p, of_q;
    arb_t loss;
    fmpq_init(of_p);
    fmpq_init(of_q);
    arb_init(loss);
    for (size_t i = 0; i < p->n && same; i++) {
        same = p->changes[i] == q->changes[i] + apart;
        fmpq_set(of_p, p->cdf + i);
        fmpq_set(of_q, q->cdf + i);
        if (i > 0) {
            fmpq_sub(of_p, of_p, p->cdf + i - 1);
            fmpq_sub(of_q, of_q, q->cdf + i - 1);
        }
        fmpq_div(of_p, of_p, of_q);
        arb_set_fmpq(loss, of_p, bits);
        arb_log(loss, loss, bits);
        arb_abs(loss, loss);
        arb_max(out, out, loss, bits);
    }
    arb_clear(loss);
    fmpq_clear(of_p);
    fmpq_clear(of_q);
    return same;
}

/* All pairs of rows are looked at. */
static int exponential_pure(const cellar_mechanism *m, int64_t shift, int64_t bits, arb_t out)
{
    const cellar_matrix *matrix = ((const cellar_matrix_mechanism *) m)->matrix;
    arb_zero(out);
    for (size_t a = 0; a < matrix->n_rows; a++)
        for (size_t b = a + 1; b < matrix->n_rows && (int64_t) (b - a) <= shift; b++)
            if (!rows_loss(&matrix->rows[a].law, &matrix->rows[b].law, (int64_t) (b - a), bits,
                           out))
                return 0;
    return 1;
}

/* From the last row on all counts have one distribution. */
static double exponential_bound(const cellar_mechanism *m, int64_t from, int64_t shift,
                                double epsilon)
{
    (void) shift;
    (void) epsilon;
    return count_cut(m, from) == count_cut(m, INT64_MAX) ? 0 : 1;
}

static const cellar_facts exponential_facts = {
    .pure = exponential_pure,
    .bound = exponential_bound,
};

static const cellar_parameter_rule exponential_parameters[] = {
    {.name = "file", .kind = CELLAR_PARAMETER_WORD, .required = 1},
    {.name = "epsilon", .required = 1, .above = "0", .at_most = "100"},
    {.name = "digest", .kind = CELLAR_PARAMETER_WORD},
    {0},
};

/* Not that of a matrix: such a mechanism is shown as one whose last row is shifted. */
static void exponential_clear(cellar_mechanism *m)
{
    cellar_matrix_mechanism_clear(m);
}

const cellar_mechanism_ops cellar_exponential_ops = {
    .name = "exponential",
    .revision = 1,
    .summary = "exponential in utilities from a file",
    .size = sizeof(cellar_matrix_mechanism),
    .parameters = exponential_parameters,
    .init = exponential_init,
    .clear = exponential_clear,
    .log_pmf = exponential_log_pmf,
    .pmf_ball = exponential_pmf_ball,
    .support = exponential_support,
    .sample_many = exponential_sample_many,
    .cdf = exponential_cdf,
    .survival = exponential_survival,
    .moments = exponential_moments,
    .survival_ball = exponential_survival_ball,
    .facts = &exponential_facts,
};
