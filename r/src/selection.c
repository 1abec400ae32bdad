/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which columns to publish together, and which values to redact. Confidential. */
#include "routines.h"

/* The profiles of the variables of a table, in a handle. */
static SEXP profiles_of(SEXP table_handle, SEXP given, cellar_status *status, cellar_error *err)
{
    SEXP handle = PROTECT(glue_new(GLUE_PROFILES));
    const cellar_table *table = glue_get(table_handle, GLUE_TABLE);
    size_t n;
    const size_t *variables = glue_variables(cellar_table_schema(table), given, "variables", &n);
    cellar_profiles *profiles = NULL;
    *status = cellar_profiles_create(table, variables, n, &profiles, err);
    glue_put(handle, profiles);
    UNPROTECT(1);
    return handle;
}

/* ---- columns ------------------------------------------------------------------------- */

static cellar_selection_options selection_options(SEXP given)
{
    cellar_selection_options out = cellar_selection_options_default();
    SEXP weights = glue_member(given, "weights");
    out.measure = (cellar_selection_measure) glue_whole(given, "measure", 0);
    out.k = (uint64_t) glue_whole(given, "k", 0);
    out.exposure = glue_real(given, "exposure", out.exposure);
    out.population = (uint64_t) glue_whole(given, "population", 0);
    out.tolerance = glue_real(given, "tolerance", out.tolerance);
    out.weights = weights != R_NilValue ? REAL(weights) : NULL;
    out.must = (uint64_t) glue_whole(given, "must", 0);
    out.must_not = (uint64_t) glue_whole(given, "must_not", 0);
    out.n_runners_up = (size_t) glue_whole(given, "runners_up", 3);
    out.n_threads = (int) glue_whole(given, "threads", 0);
    out.progress = glue_progress();
    return out;
}

/* Sets as a matrix of flags, a row for each, their weights and exposures; the exposure of the best
 * with one more column; the gap. */
static SEXP selection_of(const cellar_profiles *profiles, const cellar_selection *selection)
{
    static const char *const names[] = {"members", "weight", "exposure", "additions", "gap", NULL};
    const size_t n = cellar_selection_n_sets(selection),
                 n_columns = cellar_profiles_n_columns(profiles);
    SEXP list = PROTECT(glue_list(names));
    int *members = glue_flags(list, 0, n * n_columns);
    double *weight = glue_reals(list, 1, n), *exposure = glue_reals(list, 2, n),
           *additions = glue_reals(list, 3, n_columns);
    for (size_t i = 0; i < n; i++) {
        const cellar_selection_set set = cellar_selection_set_at(selection, i);
        for (size_t c = 0; c < n_columns; c++)
            members[c * n + i] = (int) (set.columns >> c & 1);
        weight[i] = set.weight;
        exposure[i] = set.exposure;
    }
    for (size_t c = 0; c < n_columns; c++)
        additions[c] = cellar_selection_with(selection, c);
    SET_VECTOR_ELT(list, 4, glue_number(cellar_selection_gap(selection)));
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_select_columns(SEXP table, SEXP given)
{
    cellar_error err;
    cellar_status status;
    SEXP profiles = PROTECT(profiles_of(table, given, &status, &err)),
         held = PROTECT(glue_new(GLUE_SELECTION)), list;
    const cellar_selection_options options = selection_options(given);
    cellar_selection *selection = NULL;
    if (status == CELLAR_OK)
        status =
            cellar_selection_create(glue_get(profiles, GLUE_PROFILES), &options, &selection, &err);
    glue_put(held, selection);
    list = status == CELLAR_OK ? selection_of(glue_get(profiles, GLUE_PROFILES), selection)
                               : glue_fail(status, &err);
    UNPROTECT(2);
    return list;
}

/* ---- values ---------------------------------------------------------------------------- */

static SEXP suppression_of(const cellar_profiles *profiles, const cellar_suppression *found)
{
    static const char *const names[] = {"column", "value", "chances", "numbers", "met", NULL};
    const cellar_suppression_summary s = cellar_suppression_summarise(found);
    const size_t n = cellar_suppression_n_rules(found),
                 n_columns = cellar_profiles_n_columns(profiles);
    const double entries = (double) cellar_profiles_n_people(profiles) * (double) n_columns;
    SEXP list = PROTECT(glue_list(names)), column = glue_words(list, 0, n),
         value = glue_words(list, 1, n);
    double *chances = glue_reals(list, 2, n_columns), *numbers = glue_reals(list, 3, 5);
    for (size_t i = 0; i < n; i++) {
        const cellar_suppression_rule rule = cellar_suppression_rule_at(found, i);
        glue_set_word(column, i, cellar_profiles_column(profiles, rule.column));
        glue_set_word(value, i, cellar_profiles_level(profiles, rule.column, rule.level));
    }
    for (size_t c = 0; c < n_columns; c++)
        chances[c] = cellar_suppression_chance(found, c);
    numbers[0] = s.before;
    numbers[1] = s.after_rules;
    numbers[2] = s.after;
    numbers[3] = entries > 0 ? (double) s.lost_to_rules / entries : 0;
    numbers[4] = entries > 0 ? s.lost_to_chance / entries : 0;
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(s.met));
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_suppress_values(SEXP table, SEXP given)
{
    cellar_error err;
    cellar_status status;
    SEXP profiles = PROTECT(profiles_of(table, given, &status, &err)),
         held = PROTECT(glue_new(GLUE_SUPPRESSION)), list;
    cellar_suppression_options options = cellar_suppression_options_default();
    cellar_suppression *found = NULL;
    options.k = (uint64_t) glue_whole(given, "k", 0);
    options.exposure = glue_real(given, "exposure", options.exposure);
    options.hide = glue_real(given, "hide", options.hide);
    options.progress = glue_progress();
    if (status == CELLAR_OK)
        status =
            cellar_suppression_create(glue_get(profiles, GLUE_PROFILES), &options, &found, &err);
    glue_put(held, found);
    list = status == CELLAR_OK ? suppression_of(glue_get(profiles, GLUE_PROFILES), found)
                               : glue_fail(status, &err);
    UNPROTECT(2);
    return list;
}
