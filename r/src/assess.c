/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What attackers learn and analysts lose: risk, exposure, utility. Confidential, all of it. */
#include "routines.h"

#include <math.h>

/* ---- risk ------------------------------------------------------------------------ */

static SEXP groups_of(SEXP handle, SEXP given, cellar_status *status, cellar_error *err)
{
    SEXP groups_handle = PROTECT(glue_new(GLUE_GROUPS));
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    size_t n_known, n_sensitive;
    const size_t *known = glue_variables(cellar_table_schema(table), given, "known", &n_known),
                 *sensitive =
                     glue_variables(cellar_table_schema(table), given, "sensitive", &n_sensitive);
    cellar_groups *groups = NULL;
    *status = cellar_groups_create(table, known, n_known, sensitive, n_sensitive, &groups, err);
    glue_put(groups_handle, groups);
    UNPROTECT(1);
    return groups_handle;
}

static cellar_risk_options risk_options(SEXP given, cellar_size_model *model, int *has_model,
                                        cellar_status *status, cellar_error *err)
{
    cellar_risk_options out = cellar_risk_options_default();
    SEXP prior = glue_member(given, "prior");
    const char *size = glue_text(given, "size");
    out.measure = (cellar_risk_measure) glue_whole(given, "measure", 0);
    out.method = (cellar_risk_method) glue_whole(given, "method", 0);
    out.average = (cellar_risk_average) glue_whole(given, "average", 0);
    out.zeros_stay = (int) glue_whole(given, "zeros_stay", 0);
    out.copies = (uint64_t) glue_whole(given, "copies", (int64_t) out.copies);
    out.seed = (uint64_t) glue_whole(given, "seed", (int64_t) out.seed);
    out.n_threads = (int) glue_whole(given, "threads", 0);
    out.progress = glue_progress();
    out.prior = prior != R_NilValue ? REAL(prior) : NULL;
    *has_model = size != NULL;
    *status = size != NULL ? cellar_size_model_parse(size, model, err) : CELLAR_OK;
    out.model = *has_model ? model : NULL;
    return out;
}

enum { RISK_COLUMNS = 13 };
static const char *const risk_names[] = {
    "value", "claim", "right",    "false_claim", "precision", "maximum",  "q90",
    "q95",   "q99",   "baseline", "difference",  "sd",        "original", NULL};

static SEXP risk_rows(const cellar_risk_summary *found, size_t n)
{
    SEXP list = PROTECT(glue_list(risk_names));
    double *columns[RISK_COLUMNS];
    for (R_xlen_t c = 0; c < RISK_COLUMNS; c++)
        columns[c] = glue_reals(list, c, n);
    for (size_t i = 0; i < n; i++) {
        const cellar_risk_summary *s = &found[i];
        const double row[RISK_COLUMNS] = {
            s->mean.value, s->mean.claim,   s->mean.right,   s->mean.false_claim, s->mean.precision,
            s->maximum,    s->quantiles[0], s->quantiles[1], s->quantiles[2],     s->baseline,
            s->difference, s->sd,           s->original};
        for (size_t c = 0; c < RISK_COLUMNS; c++)
            columns[c][i] = row[c];
    }
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_risk(SEXP handle, SEXP given)
{
    size_t n;
    const char **specs = glue_texts(given, "mechanisms", &n);
    SEXP handles = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t) n)), groups, list;
    const cellar_mechanism **mechanisms =
        (const cellar_mechanism **) R_alloc(n + 1, sizeof *mechanisms);
    cellar_risk_summary *found = (cellar_risk_summary *) R_alloc(n + 1, sizeof *found);
    cellar_size_model model;
    cellar_error err;
    cellar_status status;
    int has_model;
    cellar_risk_options options;
    for (size_t i = 0; i < n; i++) {
        cellar_mechanism *one = NULL;
        SET_VECTOR_ELT(handles, (R_xlen_t) i, glue_new(GLUE_MECHANISM));
        status = cellar_mechanism_create(specs[i], &one, &err);
        glue_put(VECTOR_ELT(handles, (R_xlen_t) i), one);
        mechanisms[i] = one;
        if (status != CELLAR_OK) {
            UNPROTECT(1);
            return glue_fail(status, &err);
        }
    }
    options = risk_options(given, &model, &has_model, &status, &err);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    groups = PROTECT(groups_of(handle, given, &status, &err));
    if (status == CELLAR_OK)
        status =
            cellar_risk_assess(glue_get(groups, GLUE_GROUPS), mechanisms, n, &options, found, &err);
    list = status == CELLAR_OK ? risk_rows(found, n) : glue_fail(status, &err);
    UNPROTECT(2);
    return list;
}

/* The first so many groups, which the library answers one after the other. */
typedef struct ranking {
    size_t n, most, n_known;
    uint32_t *categories;
    double *sizes, *present, *values;
} ranking;

static int take_group(void *context, const cellar_exposed_group *group)
{
    ranking *r = context;
    if (r->n == r->most)
        return 1;
    memcpy(r->categories + r->n * r->n_known, group->categories,
           r->n_known * sizeof *r->categories);
    r->sizes[r->n] = (double) group->size;
    r->present[r->n] = (double) group->n_present;
    r->values[r->n++] = group->value;
    return 0;
}

static SEXP ranking_frame(const cellar_table *table, const size_t *known, const ranking *r)
{
    const R_xlen_t n_known = (R_xlen_t) r->n_known;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n_known + 3));
    double *columns[3];
    const double *const from[3] = {r->sizes, r->present, r->values};
    for (R_xlen_t v = 0; v < n_known; v++) {
        SEXP codes = glue_words(list, v, r->n);
        for (size_t i = 0; i < r->n; i++)
            glue_set_word(codes, i,
                          cellar_schema_code(cellar_table_schema(table), known[v],
                                             r->categories[i * r->n_known + (size_t) v]));
    }
    for (R_xlen_t c = 0; c < 3; c++) {
        columns[c] = glue_reals(list, n_known + c, r->n);
        memcpy(columns[c], from[c], r->n * sizeof(double));
    }
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_risk_groups(SEXP handle, SEXP spec, SEXP given)
{
    SEXP mechanism_handle = PROTECT(glue_new(GLUE_MECHANISM)), groups, list;
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    const char *text = glue_utf8(spec);
    const int zeros_stay = (int) glue_whole(given, "zeros_stay", 0);
    ranking r = {.most = (size_t) glue_whole(given, "n", 20)};
    const size_t *known = glue_variables(cellar_table_schema(table), given, "known", &r.n_known);
    cellar_mechanism *mechanism = NULL;
    cellar_error err;
    cellar_status status;
    r.categories = (uint32_t *) R_alloc(r.most * r.n_known + 1, sizeof *r.categories);
    r.sizes = (double *) R_alloc(3 * r.most + 3, sizeof *r.sizes);
    r.present = r.sizes + r.most;
    r.values = r.present + r.most;
    groups = PROTECT(groups_of(handle, given, &status, &err));
    if (status == CELLAR_OK)
        status = cellar_mechanism_create(text, &mechanism, &err);
    glue_put(mechanism_handle, mechanism);
    if (status == CELLAR_OK)
        status = cellar_risk_rank(glue_get(groups, GLUE_GROUPS), mechanism, zeros_stay, take_group,
                                  &r, &err);
    if (status == CELLAR_ERR_CANCELLED) /* by take_group(), which had enough */
        status = CELLAR_OK;
    list = status == CELLAR_OK ? ranking_frame(table, known, &r) : glue_fail(status, &err);
    UNPROTECT(2);
    return list;
}

/* ---- exposure ---------------------------------------------------------------------- */

static SEXP curve_of(const cellar_table *table, const size_t *variables, size_t n,
                     cellar_status *status, cellar_error *err)
{
    SEXP handle = PROTECT(glue_new(GLUE_CURVE));
    cellar_exposure_curve *curve = NULL;
    *status = cellar_exposure_curve_create(table, variables, n, &curve, err);
    glue_put(handle, curve);
    UNPROTECT(1);
    return handle;
}

static SEXP steps_of(const cellar_exposure_curve *curve)
{
    static const char *const names[] = {"count", "cells", "below", NULL};
    const size_t n = cellar_exposure_n_steps(curve);
    SEXP list = PROTECT(glue_list(names));
    double *count = glue_reals(list, 0, n), *cells = glue_reals(list, 1, n),
           *below = glue_reals(list, 2, n);
    for (size_t i = 0; i < n; i++) {
        const cellar_exposure_step step = cellar_exposure_step_at(curve, i);
        count[i] = (double) step.count;
        cells[i] = (double) step.n_cells;
        below[i] = (double) step.below;
    }
    UNPROTECT(1);
    return list;
}

/* The group sizes asked: numbers, or the least ones that are not below thresholds. */
static cellar_status sizes_of(const cellar_exposure_curve *curve, SEXP given,
                              cellar_exposure_pair *pairs, size_t n, cellar_error *err)
{
    SEXP k = glue_member(given, "k");
    size_t n_thresholds;
    const char **thresholds = glue_texts(given, "thresholds", &n_thresholds);
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n && status == CELLAR_OK; i++)
        if (n_thresholds > 0)
            status = cellar_exposure_cutoff(curve, thresholds[i], &pairs[i].k, err);
        else
            pairs[i].k = (uint64_t) REAL(k)[i];
    return status;
}

/* For each k: the share of people in cells of fewer than k; with a population the chance that
 * somebody drawn has fewer than k with the same values. */
SEXP cellar_r_exposure(SEXP handle, SEXP given)
{
    static const char *const names[] = {"k", "exposure", "statistical", "entropy", "steps", NULL};
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    SEXP curve_handle, list;
    size_t n_variables;
    const size_t *variables =
        glue_variables(cellar_table_schema(table), given, "variables", &n_variables);
    const int64_t population = glue_whole(given, "population", 0);
    const size_t n_thresholds = (size_t) XLENGTH(glue_member(given, "thresholds")),
                 n = n_thresholds > 0 ? n_thresholds : (size_t) XLENGTH(glue_member(given, "k"));
    cellar_exposure_pair *pairs = (cellar_exposure_pair *) R_alloc(n + 1, sizeof *pairs);
    const cellar_exposure_curve *curve = NULL;
    cellar_error err;
    cellar_status status;
    double *k, *exact, *statistical;
    curve_handle = PROTECT(curve_of(table, variables, n_variables, &status, &err));
    if (status == CELLAR_OK) {
        curve = glue_get(curve_handle, GLUE_CURVE);
        for (size_t i = 0; i < n; i++)
            pairs[i] = (cellar_exposure_pair){(uint64_t) population, 0, NAN, NAN};
        status = sizes_of(curve, given, pairs, n, &err);
    }
    if (status == CELLAR_OK && population > 0)
        status = cellar_exposure_statistical(curve, pairs, n, 0, &err);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    k = glue_reals(list, 0, n);
    exact = glue_reals(list, 1, n);
    statistical = glue_reals(list, 2, n);
    SET_VECTOR_ELT(list, 3, glue_number(cellar_exposure_entropy(curve)));
    for (size_t i = 0; i < n; i++) {
        k[i] = (double) pairs[i].k;
        exact[i] = cellar_exposure_value(curve, pairs[i].k);
        statistical[i] = population > 0 ? pairs[i].value : NA_REAL;
    }
    SET_VECTOR_ELT(list, 4, steps_of(curve));
    UNPROTECT(2);
    return list;
}

/* What single columns alone show at each threshold: (lower, upper, theorem). */
SEXP cellar_r_exposure_bounds(SEXP handle, SEXP given)
{
    static const char *const names[] = {"lower", "upper", "theorem", NULL};
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    SEXP thresholds = glue_member(given, "thresholds"), handles, list;
    size_t n_variables;
    const size_t *variables =
        glue_variables(cellar_table_schema(table), given, "variables", &n_variables);
    const size_t n = (size_t) XLENGTH(thresholds);
    const cellar_exposure_curve **curves =
        (const cellar_exposure_curve **) R_alloc(n_variables + 1, sizeof *curves);
    double *lower, *upper, *theorem;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    handles = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t) n_variables));
    for (size_t v = 0; v < n_variables && status == CELLAR_OK; v++) {
        SET_VECTOR_ELT(handles, (R_xlen_t) v, curve_of(table, &variables[v], 1, &status, &err));
        if (status == CELLAR_OK)
            curves[v] = glue_get(VECTOR_ELT(handles, (R_xlen_t) v), GLUE_CURVE);
    }
    list = PROTECT(glue_list(names));
    lower = glue_reals(list, 0, n);
    upper = glue_reals(list, 1, n);
    theorem = glue_reals(list, 2, n);
    for (size_t i = 0; i < n && status == CELLAR_OK; i++) {
        const double threshold = REAL(thresholds)[i];
        cellar_exposure_bound bounds[2];
        status = cellar_exposure_bounds(curves, n_variables, threshold, NULL, bounds, &err);
        if (status == CELLAR_OK) {
            lower[i] = cellar_exposure_lower_bound(curves, n_variables, threshold);
            upper[i] = bounds[0].value;
            theorem[i] = bounds[0].theorem;
        }
    }
    UNPROTECT(2);
    return status == CELLAR_OK ? list : glue_fail(status, &err);
}

/* ---- utility ------------------------------------------------------------------------- */

static SEXP results_of(const cellar_utility *utility)
{
    static const char *const names[] = {"measure", "variables", "count",    "above", "radius",
                                        "cells",   "original",  "expected", "mean",  "sd",
                                        "minimum", "median",    "maximum",  NULL};
    const size_t n = cellar_utility_n_results(utility);
    SEXP list = PROTECT(glue_list(names)), measure = glue_words(list, 0, n),
         variables = glue_words(list, 1, n);
    double *columns[13];
    for (R_xlen_t c = 2; c < 13; c++)
        columns[c] = glue_reals(list, c, n);
    for (size_t i = 0; i < n; i++) {
        const cellar_utility_result *r = cellar_utility_result_at(utility, i);
        const double row[] = {r->count < 0 ? NA_REAL : (double) r->count,
                              (double) r->is_above,
                              r->radius < 0 ? NA_REAL : (double) r->radius,
                              (double) r->cells,
                              r->original,
                              r->expected,
                              r->mean,
                              r->sd,
                              r->minimum,
                              r->median,
                              r->maximum};
        glue_set_word(measure, i, r->measure);
        glue_set_word(variables, i, r->variables);
        for (size_t c = 0; c < sizeof row / sizeof *row; c++)
            columns[c + 2][i] = row[c];
    }
    UNPROTECT(1);
    return list;
}

static SEXP notes_of(const cellar_utility *utility)
{
    const size_t n = cellar_utility_n_notes(utility);
    SEXP notes = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) n));
    for (size_t i = 0; i < n; i++)
        glue_set_word(notes, i, cellar_utility_note(utility, i));
    UNPROTECT(1);
    return notes;
}

/* `what` is a spec, or the handle of a release. */
SEXP cellar_r_utility(SEXP handle, SEXP what, SEXP given)
{
    static const char *const names[] = {"mechanism", "copies", "cells", "results", "notes", NULL};
    SEXP utility_handle = PROTECT(glue_new(GLUE_UTILITY)), list;
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    const cellar_release *release = TYPEOF(what) == EXTPTRSXP ? glue_get(what, GLUE_RELEASE) : NULL;
    const char *spec = release == NULL ? glue_utf8(what) : NULL;
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *utility = NULL;
    cellar_error err;
    cellar_status status;
    (void) cellar_negatives_find(glue_text(given, "negatives"), &options.negatives);
    options.threshold = glue_whole(given, "threshold", 0);
    options.copies = (uint64_t) glue_whole(given, "copies", (int64_t) options.copies);
    options.seed = (uint64_t) glue_whole(given, "seed", (int64_t) options.seed);
    options.max_ways = (size_t) glue_whole(given, "max_ways", (int64_t) options.max_ways);
    options.n_threads = (int) glue_whole(given, "threads", 0);
    options.progress = glue_progress();
    status = release != NULL ? cellar_utility_compare(table, release, &options, &utility, &err)
                             : cellar_utility_assess(table, spec, &options, &utility, &err);
    glue_put(utility_handle, utility);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_string(cellar_utility_mechanism(utility)));
    SET_VECTOR_ELT(list, 1, glue_number((double) cellar_utility_n_copies(utility)));
    SET_VECTOR_ELT(list, 2, glue_number((double) cellar_utility_n_cells(utility)));
    SET_VECTOR_ELT(list, 3, results_of(utility));
    SET_VECTOR_ELT(list, 4, notes_of(utility));
    UNPROTECT(2);
    return list;
}
