/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What released values say about counts: intervals and tests that know the noise. */
#include "routines.h"

/* ---- intervals ------------------------------------------------------------------ */

static cellar_interval_options interval_options(SEXP given)
{
    cellar_interval_options out = cellar_interval_options_default();
    out.target = (cellar_interval_target) glue_whole(given, "target", 0);
    out.prior = (cellar_prior) glue_whole(given, "prior", 0);
    out.confidence = glue_real(given, "confidence", out.confidence);
    return out;
}

/* Releases of the same people. */
typedef struct together {
    const cellar_release **releases;
    size_t n;
    int pools;
} together;

static together read_releases(SEXP handles, SEXP given)
{
    together t = {.n = (size_t) XLENGTH(handles), .pools = (int) glue_whole(given, "pools", 1)};
    t.releases = (const cellar_release **) R_alloc(t.n + 1, sizeof *t.releases);
    for (size_t i = 0; i < t.n; i++)
        t.releases[i] = glue_get(VECTOR_ELT(handles, (R_xlen_t) i), GLUE_RELEASE);
    return t;
}

/* From all values of the releases together where that can be done; of one release else from those
 * of one margin. */
static cellar_status find_interval(const together *t, const char *of, cellar_comparison comparison,
                                   const char *other, const cellar_interval_options *options,
                                   cellar_interval *out, int *is_pooled, cellar_error *err)
{
    const int can_pool =
        comparison == CELLAR_COMPARE_NONE || comparison == CELLAR_COMPARE_DIFFERENCE;
    cellar_interval pooled;
    cellar_status status =
        cellar_release_interval(t->releases[0], of, comparison, other, options, out, err);
    *is_pooled = 0;
    if (status != CELLAR_OK || !t->pools || !can_pool)
        return status;
    status = cellar_interval_fitted(t->releases, t->n, of, other, options, &pooled, err);
    if (status == CELLAR_ERR_RULE && t->n == 1)
        return CELLAR_OK;
    if (status != CELLAR_OK)
        return status;
    pooled.naive = out->naive;
    *out = pooled;
    *is_pooled = 1;
    return status;
}

SEXP cellar_r_interval(SEXP handles, SEXP given)
{
    static const char *const names[] = {"estimate", "low",          "high",   "confidence",
                                        "released", "conservative", "pooled", NULL};
    const together t = read_releases(handles, given);
    const char *of = glue_text(given, "of"), *other = glue_text(given, "other");
    const cellar_comparison comparison = (cellar_comparison) glue_whole(given, "comparison", 0);
    const cellar_interval_options options = interval_options(given);
    cellar_interval found;
    cellar_error err;
    int is_pooled;
    const cellar_status status =
        find_interval(&t, of, comparison, other, &options, &found, &is_pooled, &err);
    SEXP list;
    if (status != CELLAR_OK)
        return glue_fail(status, &err);
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_number(found.estimate));
    SET_VECTOR_ELT(list, 1, glue_number(found.low));
    SET_VECTOR_ELT(list, 2, glue_number(found.high));
    SET_VECTOR_ELT(list, 3, glue_number(found.confidence));
    SET_VECTOR_ELT(list, 4, glue_number(found.naive));
    SET_VECTOR_ELT(list, 5, Rf_ScalarLogical(found.conservative));
    SET_VECTOR_ELT(list, 6, Rf_ScalarLogical(is_pooled));
    UNPROTECT(1);
    return list;
}

/* ---- tests ----------------------------------------------------------------------- */

static cellar_test_options test_options(SEXP given)
{
    cellar_test_options out = cellar_test_options_default();
    out.reference = (cellar_reference) glue_whole(given, "reference", 0);
    out.n_replicates = (uint64_t) glue_whole(given, "replicates", (int64_t) out.n_replicates);
    out.seed = (uint64_t) glue_whole(given, "seed", (int64_t) out.seed);
    out.with_residuals = (int) glue_whole(given, "residuals", 0);
    out.n_threads = (int) glue_whole(given, "threads", 0);
    out.progress = glue_progress();
    return out;
}

/* The table of some variables of a cube. */
static cellar_status noisy_of_cube(const cellar_cube *cube, SEXP given, cellar_noisy **out,
                                   cellar_error *err)
{
    size_t n;
    const char **names = glue_texts(given, "variables", &n);
    cellar_cube_side *sides = (cellar_cube_side *) R_alloc(n + 1, sizeof *sides);
    for (size_t i = 0; i < n; i++)
        sides[i] = (cellar_cube_side){.variable = names[i]};
    return cellar_noisy_from_cube(cube, sides, n, out, err);
}

/* The table of some variables (NULL: all of a release); *status says whether there is one. */
static cellar_noisy *noisy_of(SEXP handle, SEXP given, cellar_status *status, cellar_error *err)
{
    cellar_noisy *noisy = NULL;
    const cellar_release *release;
    const size_t *variables;
    size_t n;
    if (glue_whole(given, "is_cube", 0)) {
        *status = noisy_of_cube(glue_get(handle, GLUE_CUBE), given, &noisy, err);
        return noisy;
    }
    release = glue_get(handle, GLUE_RELEASE);
    variables = glue_variables(cellar_release_schema(release), given, "variables", &n);
    *status = cellar_noisy_from_release(release, n > 0 ? variables : NULL, n, &noisy, err);
    return noisy;
}

static SEXP test_row(const cellar_test *test)
{
    static const char *const names[] = {"statistic",          "df",    "p_value",
                                        "chi_square_p_value", "total", NULL};
    SEXP list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_number(test->statistic));
    SET_VECTOR_ELT(list, 1, glue_number(test->df));
    SET_VECTOR_ELT(list, 2, glue_number(test->p_value));
    SET_VECTOR_ELT(list, 3, glue_number(test->chi_square_p_value));
    SET_VECTOR_ELT(list, 4, glue_number(test->total));
    UNPROTECT(1);
    return list;
}

/* A column of codes for each variable, then released, expected, residual. */
static SEXP test_cells(const cellar_noisy *noisy, const cellar_loglinear *test)
{
    const size_t n_variables = cellar_noisy_n_variables(noisy), n = cellar_noisy_n_cells(noisy);
    const R_xlen_t values = (R_xlen_t) n_variables;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, values + 3)), names;
    double *released = glue_reals(list, values, n), *expected = glue_reals(list, values + 1, n),
           *residual = glue_reals(list, values + 2, n);
    size_t stride = 1;
    names = PROTECT(Rf_allocVector(STRSXP, values + 3));
    for (size_t v = n_variables; v-- > 0; stride *= cellar_noisy_n_levels(noisy, v)) {
        SEXP codes = glue_words(list, (R_xlen_t) v, n);
        glue_set_word(names, v, cellar_noisy_variable(noisy, v));
        for (size_t i = 0; i < n; i++)
            glue_set_word(
                codes, i,
                cellar_noisy_code(noisy, v, i / stride % cellar_noisy_n_levels(noisy, v)));
    }
    glue_set_word(names, n_variables, "released");
    glue_set_word(names, n_variables + 1, "expected");
    glue_set_word(names, n_variables + 2, "residual");
    for (size_t i = 0; i < n; i++) {
        const cellar_loglinear_cell cell = cellar_loglinear_cell_at(test, i);
        released[i] = cellar_noisy_is_suppressed(noisy, i)
                          ? NA_REAL
                          : (double) cellar_noisy_released(noisy, i);
        expected[i] = cell.expected;
        residual[i] = cell.residual;
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(2);
    return list;
}

SEXP cellar_r_test_model(SEXP handle, SEXP given)
{
    static const char *const names[] = {"aware",
                                        "naive",
                                        "cells",
                                        "converged",
                                        "information",
                                        "failed",
                                        "smallest_expected",
                                        "chi_square_is_off",
                                        NULL};
    SEXP noisy_handle = PROTECT(glue_new(GLUE_NOISY)), test_handle = PROTECT(glue_new(GLUE_TEST)),
         list;
    const char *model = glue_needed_text(given, "model"), *against = glue_text(given, "against");
    const cellar_test_options options = test_options(given);
    cellar_error err;
    cellar_status status;
    cellar_noisy *noisy = noisy_of(handle, given, &status, &err);
    cellar_loglinear *test = NULL;
    cellar_test_quality quality;
    cellar_test aware, naive;
    if (status == CELLAR_OK)
        status = cellar_loglinear_create(noisy, model, against, &options, &test, &err);
    glue_put(noisy_handle, noisy);
    glue_put(test_handle, test);
    if (status != CELLAR_OK) {
        UNPROTECT(2);
        return glue_fail(status, &err);
    }
    quality = cellar_loglinear_quality(test);
    aware = cellar_loglinear_aware(test);
    naive = cellar_loglinear_naive(test);
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, test_row(&aware));
    SET_VECTOR_ELT(list, 1, test_row(&naive));
    SET_VECTOR_ELT(list, 2, test_cells(noisy, test));
    SET_VECTOR_ELT(list, 3, Rf_ScalarLogical(quality.converged && quality.same_from_all_starts));
    SET_VECTOR_ELT(list, 4, glue_number(quality.information));
    SET_VECTOR_ELT(list, 5, glue_number((double) quality.n_failed));
    SET_VECTOR_ELT(list, 6, glue_number(quality.smallest_expected));
    SET_VECTOR_ELT(list, 7, Rf_ScalarLogical(quality.chi_square_is_off));
    UNPROTECT(3);
    return list;
}

/* (value, low, high) and the naive value. */
SEXP cellar_r_cramers_v(SEXP handle, SEXP given)
{
    SEXP out;
    const cellar_test_options options = test_options(given);
    const double confidence = glue_real(given, "confidence", 0.95);
    cellar_error err;
    cellar_status status;
    cellar_noisy *noisy = noisy_of(handle, given, &status, &err);
    cellar_interval_estimate aware = {0, 0, 0};
    double naive = 0;
    if (status == CELLAR_OK)
        status = cellar_cramers_v(noisy, confidence, &options, &aware, &naive, &err);
    cellar_noisy_free(noisy);
    if (status != CELLAR_OK)
        return glue_fail(status, &err);
    out = Rf_allocVector(REALSXP, 4);
    REAL(out)[0] = aware.value;
    REAL(out)[1] = aware.low;
    REAL(out)[2] = aware.high;
    REAL(out)[3] = naive;
    return out;
}

/* Of each row and column against those with the largest totals: a column of codes for both rows and
 * both columns, then value, low, high, naive. */
SEXP cellar_r_odds_ratios(SEXP handle, SEXP given)
{
    static const char *const names[] = {"row", "row_base", "column", "column_base", "value",
                                        "low", "high",     "naive",  NULL};
    SEXP held = PROTECT(glue_new(GLUE_NOISY)), list, words[4];
    const double confidence = glue_real(given, "confidence", 0.95);
    cellar_error err;
    cellar_status status;
    cellar_noisy *noisy = noisy_of(handle, given, &status, &err);
    size_t base[2], n[2], found = 0;
    double *reals[4];
    glue_put(held, noisy);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    for (size_t v = 0; v < 2; v++) {
        base[v] = cellar_noisy_largest_level(noisy, v);
        n[v] = cellar_noisy_n_levels(noisy, v);
    }
    list = PROTECT(glue_list(names));
    for (R_xlen_t c = 0; c < 4; c++) {
        words[c] = glue_words(list, c, (n[0] - 1) * (n[1] - 1));
        reals[c] = glue_reals(list, c + 4, (n[0] - 1) * (n[1] - 1));
    }
    for (size_t r = 0; r < n[0]; r++)
        for (size_t c = 0; c < n[1] && status == CELLAR_OK; c++) {
            const size_t rows[2] = {r, base[0]}, columns[2] = {c, base[1]};
            cellar_interval_estimate aware, naive;
            if (r == base[0] || c == base[1])
                continue;
            status = cellar_odds_ratio(noisy, rows, columns, confidence, &aware, &naive, &err);
            if (status != CELLAR_OK)
                break;
            for (size_t i = 0; i < 4; i++)
                glue_set_word(words[i], found,
                              cellar_noisy_code(noisy, i / 2, i < 2 ? rows[i] : columns[i - 2]));
            reals[0][found] = aware.value;
            reals[1][found] = aware.low;
            reals[2][found] = aware.high;
            reals[3][found++] = naive.value;
        }
    UNPROTECT(2);
    return status == CELLAR_OK ? list : glue_fail(status, &err);
}

SEXP cellar_r_test_binomial(SEXP released, SEXP given)
{
    static const char *const names[] = {"estimate",      "statistic",     "p_value",
                                        "exact_p_value", "naive_p_value", "critical_value",
                                        "exact_level",   "power",         NULL};
    cellar_binomial_spec spec = cellar_binomial_spec_default();
    cellar_binomial found;
    cellar_error err;
    cellar_status status;
    SEXP list;
    spec.n_trials = (uint64_t) glue_whole(given, "trials", 0);
    spec.null = glue_real(given, "null", spec.null);
    spec.alternative = glue_real(given, "alternative", spec.alternative);
    spec.level = glue_real(given, "level", spec.level);
    spec.mechanism = glue_needed_text(given, "mechanism");
    (void) cellar_negatives_find(glue_text(given, "negatives"), &spec.negatives);
    status = cellar_binomial_run(&spec, (int64_t) Rf_asReal(released), &found, &err);
    if (status != CELLAR_OK)
        return glue_fail(status, &err);
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_number(found.aware.estimate));
    SET_VECTOR_ELT(list, 1, glue_number(found.aware.statistic));
    SET_VECTOR_ELT(list, 2, glue_number(found.aware.p_value));
    SET_VECTOR_ELT(list, 3, glue_number(found.aware.exact_p_value));
    SET_VECTOR_ELT(list, 4, glue_number(found.naive.p_value));
    SET_VECTOR_ELT(list, 5, glue_number(found.critical_value));
    SET_VECTOR_ELT(list, 6, glue_number(found.exact_level));
    SET_VECTOR_ELT(list, 7, glue_number(found.power));
    UNPROTECT(1);
    return list;
}
