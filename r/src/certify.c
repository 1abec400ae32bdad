/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates and mechanisms, which need no data. */
#include "routines.h"

/* ---- certificates ------------------------------------------------------------------ */

static cellar_certify_options read_options(SEXP given)
{
    cellar_certify_options out = cellar_certify_options_default();
    (void) cellar_negatives_find(glue_text(given, "negatives"), &out.negatives);
    (void) cellar_neighbours_find(glue_text(given, "neighbours"), &out.neighbours);
    out.choice = (cellar_parameter_choice) glue_whole(given, "chosen", 0);
    out.n_cells = (uint64_t) glue_whole(given, "cells", 1);
    out.max_per_unit = (uint64_t) glue_whole(given, "per_unit", 1);
    out.max_weight = (uint64_t) glue_whole(given, "max_weight", 1);
    out.population = (uint64_t) glue_whole(given, "population", 0);
    out.unit = glue_text(given, "unit");
    out.effort = glue_real(given, "effort", 1);
    out.epsilons = glue_texts(given, "epsilons", &out.n_epsilons);
    out.deltas = glue_texts(given, "deltas", &out.n_deltas);
    return out;
}

/* (epsilon, delta, delta_lower) of every epsilon asked. */
static SEXP points_of(const cellar_certificate *certificate)
{
    const size_t n = cellar_certificate_n_points(certificate);
    SEXP matrix = PROTECT(Rf_allocMatrix(REALSXP, (int) n, 3));
    for (size_t i = 0; i < n; i++) {
        const cellar_profile_point p = cellar_certificate_point(certificate, i);
        REAL(matrix)[i] = p.epsilon;
        REAL(matrix)[i + n] = p.delta;
        REAL(matrix)[i + 2 * n] = p.delta_lower;
    }
    UNPROTECT(1);
    return matrix;
}

/* (delta, epsilon, epsilon_lower) of every delta asked. */
static SEXP epsilons_of(const cellar_certificate *certificate)
{
    const size_t n = cellar_certificate_n_epsilons(certificate);
    SEXP matrix = PROTECT(Rf_allocMatrix(REALSXP, (int) n, 3));
    for (size_t i = 0; i < n; i++) {
        const cellar_epsilon_at e = cellar_certificate_epsilon_at(certificate, i);
        REAL(matrix)[i] = e.delta;
        REAL(matrix)[i + n] = e.epsilon;
        REAL(matrix)[i + 2 * n] = e.lower;
    }
    UNPROTECT(1);
    return matrix;
}

static SEXP warnings_of(const cellar_certificate *certificate)
{
    size_t n = 0;
    SEXP texts;
    while (cellar_certificate_warning(certificate, n) != NULL)
        n++;
    texts = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) n));
    for (size_t i = 0; i < n; i++)
        SET_STRING_ELT(texts, (R_xlen_t) i,
                       Rf_mkCharCE(cellar_certificate_warning(certificate, i), CE_UTF8));
    UNPROTECT(1);
    return texts;
}

static cellar_status certify(const char *spec, const cellar_certify_options *options,
                             cellar_certificate **out, cellar_error *err)
{
    cellar_mechanism *mechanism = NULL;
    cellar_status status = cellar_mechanism_create(spec, &mechanism, err);
    if (status == CELLAR_OK) {
        const cellar_certify_part part = {mechanism, 1};
        status = cellar_certify(&part, 1, options, out, err);
    }
    cellar_mechanism_free(mechanism);
    return status;
}

SEXP cellar_r_certify(SEXP spec, SEXP given)
{
    static const char *const names[] = {"verdict", "reason",    "pure_epsilon", "pure_exact", "rho",
                                        "points",  "at_deltas", "warnings",     "handle",     NULL};
    SEXP handle = PROTECT(glue_new(GLUE_CERTIFICATE)), list;
    const char *mechanism = glue_utf8(spec);
    const cellar_certify_options options = read_options(given);
    cellar_certificate *found = NULL;
    cellar_error err;
    const cellar_status status = certify(mechanism, &options, &found, &err);
    glue_put(handle, found);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_string(cellar_verdict_name(cellar_certificate_verdict(found))));
    SET_VECTOR_ELT(list, 1, glue_string(cellar_certificate_reason(found)));
    SET_VECTOR_ELT(list, 2, glue_number(cellar_certificate_pure_epsilon(found)));
    SET_VECTOR_ELT(list, 3, glue_string(cellar_certificate_pure_exact(found)));
    SET_VECTOR_ELT(list, 4, glue_number(cellar_certificate_composition(found).rho));
    SET_VECTOR_ELT(list, 5, points_of(found));
    SET_VECTOR_ELT(list, 6, epsilons_of(found));
    SET_VECTOR_ELT(list, 7, warnings_of(found));
    SET_VECTOR_ELT(list, 8, handle);
    UNPROTECT(2);
    return list;
}

/* The certificate in words, into a file. */
SEXP cellar_r_certificate_text(SEXP handle, SEXP path, SEXP explain)
{
    const cellar_certificate *certificate = glue_get(handle, GLUE_CERTIFICATE);
    const char *name = glue_utf8(path);
    const int is_explained = Rf_asLogical(explain) == TRUE;
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status = cellar_output_open(name, NULL, &output, &err);
    if (status == CELLAR_OK) {
        cellar_certificate_write(certificate, is_explained, output);
        status = cellar_output_commit(output, &err);
    }
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

/* ---- mechanisms ---------------------------------------------------------------------- */

/* Parameters as (name, text, value, is_derived). */
static SEXP parameters_of(const cellar_mechanism *mechanism)
{
    static const char *const names[] = {"name", "text", "value", "is_derived", NULL};
    const size_t n = cellar_mechanism_n_parameters(mechanism);
    SEXP list = PROTECT(glue_list(names));
    for (R_xlen_t column = 0; column < 2; column++)
        glue_words(list, column, n);
    glue_reals(list, 2, n);
    glue_flags(list, 3, n);
    for (size_t i = 0; i < n; i++) {
        glue_set_word(VECTOR_ELT(list, 0), i, cellar_mechanism_parameter_name(mechanism, i));
        glue_set_word(VECTOR_ELT(list, 1), i, cellar_mechanism_parameter_text(mechanism, i));
        REAL(VECTOR_ELT(list, 2))[i] = cellar_mechanism_parameter_value(mechanism, i);
        LOGICAL(VECTOR_ELT(list, 3))[i] = cellar_mechanism_parameter_is_derived(mechanism, i);
    }
    UNPROTECT(1);
    return list;
}

/* The canonical spec, its parameters, and for each count (presence, mean, variance, entropy). */
SEXP cellar_r_mechanism(SEXP spec, SEXP counts, SEXP negatives)
{
    static const char *const names[] = {"spec", "revision", "parameters", "moments", NULL};
    SEXP handle = PROTECT(glue_new(GLUE_MECHANISM)), list, matrix;
    const char *text = glue_utf8(spec), *how = glue_utf8(negatives);
    const size_t n = (size_t) XLENGTH(counts);
    cellar_negatives kept = CELLAR_NEGATIVES_KEEP;
    cellar_mechanism *m = NULL;
    cellar_error err;
    const cellar_status status = cellar_mechanism_create(text, &m, &err);
    glue_put(handle, m);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    (void) cellar_negatives_find(how, &kept);
    list = PROTECT(glue_list(names));
    matrix = Rf_allocMatrix(REALSXP, (int) n, 4);
    SET_VECTOR_ELT(list, 3, matrix);
    SET_VECTOR_ELT(list, 0, glue_string(cellar_mechanism_spec(m)));
    SET_VECTOR_ELT(list, 1, glue_number((double) cellar_mechanism_revision(m)));
    SET_VECTOR_ELT(list, 2, parameters_of(m));
    for (size_t i = 0; i < n; i++) {
        cellar_moments moments;
        cellar_mechanism_moments(m, (int64_t) REAL(counts)[i], kept, &moments);
        REAL(matrix)[i] = moments.presence;
        REAL(matrix)[i + n] = moments.mean;
        REAL(matrix)[i + 2 * n] = moments.variance;
        REAL(matrix)[i + 3 * n] = moments.entropy;
    }
    UNPROTECT(2);
    return list;
}

/* P(released | count) for each released value. */
SEXP cellar_r_probabilities(SEXP spec, SEXP count, SEXP values)
{
    SEXP handle = PROTECT(glue_new(GLUE_MECHANISM)), out;
    const char *text = glue_utf8(spec);
    const R_xlen_t n = XLENGTH(values);
    cellar_mechanism *m = NULL;
    cellar_error err;
    const cellar_status status = cellar_mechanism_create(text, &m, &err);
    glue_put(handle, m);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    out = PROTECT(Rf_allocVector(REALSXP, n));
    for (R_xlen_t i = 0; i < n; i++)
        REAL(out)
    [i] = cellar_mechanism_pmf(m, (int64_t) Rf_asReal(count), (int64_t) REAL(values)[i]);
    UNPROTECT(2);
    return out;
}

/* Names and summaries of all mechanisms. */
SEXP cellar_r_known_mechanisms(void)
{
    static const char *const names[] = {"name", "summary", NULL};
    size_t n = 0;
    SEXP list = PROTECT(glue_list(names));
    while (cellar_mechanism_known_name(n) != NULL)
        n++;
    for (R_xlen_t column = 0; column < 2; column++)
        glue_words(list, column, n);
    for (size_t i = 0; i < n; i++) {
        glue_set_word(VECTOR_ELT(list, 0), i, cellar_mechanism_known_name(i));
        glue_set_word(VECTOR_ELT(list, 1), i, cellar_mechanism_known_summary(i));
    }
    UNPROTECT(1);
    return list;
}

/* The power that no test of each level exceeds. */
SEXP cellar_r_membership(SEXP spec, SEXP levels, SEXP given)
{
    SEXP handle = PROTECT(glue_new(GLUE_MECHANISM)), powers;
    const char *name = glue_utf8(spec);
    const cellar_certify_options options = read_options(given);
    cellar_mechanism *mechanism = NULL;
    cellar_error err;
    cellar_status status = cellar_mechanism_create(name, &mechanism, &err);
    const cellar_certify_part part = {mechanism, 1};
    glue_put(handle, mechanism);
    powers = PROTECT(Rf_allocVector(REALSXP, XLENGTH(levels)));
    for (R_xlen_t i = 0; i < XLENGTH(levels) && status == CELLAR_OK; i++)
        status =
            cellar_membership_power(&part, 1, &options, REAL(levels)[i], &REAL(powers)[i], &err);
    UNPROTECT(2);
    return status == CELLAR_OK ? powers : glue_fail(status, &err);
}
