/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate of a cube, computed again from the measured tables that its heading lists. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/release.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"
#include "privacy/certificate.h"
#include "release/guarantee/certify.h"
#include "release/guarantee/level.h"
#include "release/guarantee/recertify.h"

/* Variances of another version may differ in their last digits. */
static const double VARIANCE_ROUNDING = 1e-9;

typedef struct recertifying {
    const json_t *heading, *description, *claimed;
    const char *name; /* of the file */
    cellar_certify_part *parts;
    size_t n;
    const char **exact; /* the claimed names of exact tables, NULL at the end */
    size_t n_exact;
    cellar_error *err;
} recertifying;

static cellar_status fail_damaged(const recertifying *r, const char *what)
{
    return cellar_fail(r->err, CELLAR_ERR_INPUT, "%s: the cube is damaged: %s", r->name, what);
}

/* ---- exact tables ------------------------------------------------------------------------- */

/* 1 when the text is the name of the table: "region x sex", "region^1", "total". A variable without
 * a level means its finest one: to be conditional on a finer table claims less. */
static int is_name_of(const recertifying *r, const json_t *table, const char *text)
{
    const json_t *by = json_object_get(table, "by"), *levels = json_object_get(table, "levels");
    const json_t *variables = json_object_get(r->heading, "variables");
    if (json_array_size(by) == 0)
        return strcmp(text, "total") == 0;
    for (size_t i = 0; i < json_array_size(by); i++) {
        const json_t *variable =
            json_array_get(variables, (size_t) json_integer_value(json_array_get(by, i)));
        const char *name = json_string_value(json_object_get(variable, "name"));
        char level[32];
        snprintf(level, sizeof level, "^%lld",
                 (long long) json_integer_value(json_array_get(levels, i)));
        if (i > 0 && strncmp(text, " x ", 3) != 0)
            return 0;
        text += i > 0 ? 3 : 0;
        if (name == NULL || strncmp(text, name, strlen(name)) != 0)
            return 0;
        text += strlen(name);
        text += strncmp(text, level, strlen(level)) == 0 ? strlen(level) : 0;
    }
    return *text == '\0';
}

/* Notes that the certificate names the exact table. */
static cellar_status take_exact(recertifying *r, const json_t *table)
{
    const json_t *names = json_object_get(r->claimed, "invariants");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name != NULL && r->exact[i] == NULL && is_name_of(r, table, name)) {
            r->exact[i] = name;
            r->n_exact++;
            return CELLAR_OK;
        }
    }
    return cellar_recertify_fail(r->name, "invariants", r->err);
}

/* ---- measured tables ---------------------------------------------------------------------- */

/* The mechanisms of the claimed certificate, in its order: those of tables are found among them. */
static cellar_status take_mechanisms(recertifying *r)
{
    const json_t *listed = json_object_get(r->claimed, "mechanisms");
    const json_t *one;
    size_t i;
    r->parts = cellar_alloc(json_array_size(listed) + 1, sizeof *r->parts);
    if (r->parts == NULL)
        return cellar_fail_memory(r->err, "a certificate");
    json_array_foreach(listed, i, one)
    {
        const char *spec = json_string_value(json_object_get(one, "mechanism"));
        cellar_mechanism *mechanism = NULL;
        cellar_error why;
        cellar_status status =
            spec != NULL ? cellar_mechanism_create(spec, &mechanism, &why) : CELLAR_ERR_INPUT;
        if (status == CELLAR_ERR_MEMORY)
            return cellar_fail_memory(r->err, "a certificate");
        if (status != CELLAR_OK)
            return fail_damaged(r, "its certificate names no mechanism that can be made");
        r->parts[r->n++] = (cellar_certify_part){mechanism, 0};
        if ((json_int_t) cellar_mechanism_revision(mechanism) !=
            json_integer_value(json_object_get(one, "revision")))
            return cellar_recertify_fail(r->name, "revision", r->err);
    }
    return CELLAR_OK;
}

static cellar_status count_table(recertifying *r, const json_t *table)
{
    const char *spec = json_string_value(json_object_get(table, "mechanism"));
    const double stated = json_number_value(json_object_get(table, "variance"));
    double mean, variance;
    size_t k = 0;
    if (spec == NULL)
        return CELLAR_OK;
    if (strcmp(spec, "exact") == 0)
        return take_exact(r, table);
    while (k < r->n && strcmp(cellar_mechanism_spec(r->parts[k].mechanism), spec) != 0)
        k++;
    if (k == r->n)
        return cellar_recertify_fail(r->name, "mechanisms", r->err);
    r->parts[k].times++;
    cellar_mechanism_mean_variance(r->parts[k].mechanism, 0, &mean, &variance);
    return fabs(stated - variance) <= VARIANCE_ROUNDING * variance
               ? CELLAR_OK
               : fail_damaged(r, "the variance of a table is not that of its noise");
}

static cellar_status count_tables(recertifying *r)
{
    const json_t *tables = json_object_get(r->heading, "tables");
    const json_t *table;
    size_t i;
    const size_t n_claimed = json_array_size(json_object_get(r->claimed, "invariants"));
    r->exact = cellar_alloc(n_claimed + 1, sizeof *r->exact);
    if (r->exact == NULL)
        return cellar_fail_memory(r->err, "a certificate");
    json_array_foreach(tables, i, table)
    {
        cellar_status status = count_table(r, table);
        if (status != CELLAR_OK)
            return status;
    }
    for (size_t k = 0; k < r->n; k++)
        if (r->parts[k].times == 0)
            return cellar_recertify_fail(r->name, "mechanisms", r->err);
    if (r->n_exact < n_claimed)
        return cellar_recertify_fail(r->name, "invariants", r->err);
    return r->n > 0 ? CELLAR_OK : fail_damaged(r, "no table of it has noise");
}

/* ---- the certificate --------------------------------------------------------------------------
 */

static cellar_status read_facts(const recertifying *r, cellar_release_facts *out)
{
    const json_int_t records = json_integer_value(json_object_get(r->description, "max_per_unit"));
    const json_int_t weight = json_integer_value(json_object_get(r->description, "max_weight"));
    *out =
        (cellar_release_facts){.negatives = CELLAR_NEGATIVES_KEEP,
                               .cells_per_record = 1,
                               .max_per_unit = (uint64_t) records,
                               .max_weight = (uint64_t) weight,
                               .unit = json_string_value(json_object_get(r->description, "unit"))};
    return records > 0 && weight > 0 && out->unit != NULL &&
                   cellar_neighbours_find(
                       json_string_value(json_object_get(r->description, "neighbours")),
                       &out->neighbours) &&
                   cellar_parameter_choice_find(
                       json_string_value(json_object_get(r->description, "parameter_choice")),
                       &out->choice)
               ? CELLAR_OK
               : fail_damaged(r, "it does not say who is protected");
}

static cellar_status worst_domain(const recertifying *r, cellar_domain *out)
{
    const json_t *variable;
    size_t i;
    json_array_foreach(json_object_get(r->heading, "variables"), i, variable)
    {
        cellar_domain domain;
        if (!cellar_domain_find(json_string_value(json_object_get(variable, "domain")), &domain))
            return fail_damaged(r, "a variable does not say where its categories come from");
        if (domain < *out)
            *out = domain;
    }
    return CELLAR_OK;
}

static cellar_status compute(const recertifying *r, json_t **out)
{
    cellar_release_facts facts;
    cellar_question question;
    cellar_certificate *certificate = NULL;
    char delta[32];
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(read_facts(r, &facts));
    facts.delta = cellar_recertify_delta(r->claimed, delta);
    cellar_question_init(&question, &facts);
    CELLAR_TRY(worst_domain(r, &question.options.domain));
    question.options.effort = CELLAR_CUBE_EFFORT;
    question.options.invariants = r->n_exact > 0 ? r->exact : NULL;
    CELLAR_TRY(cellar_certify(r->parts, r->n, &question.options, &certificate, r->err));
    *out = cellar_certificate_json(certificate);
    if (*out == NULL)
        status = cellar_fail_memory(r->err, "a certificate");
out:
    cellar_certificate_free(certificate);
    return status;
}

/* The level is that of the certificate, not one that the file states beside it. */
static cellar_status compare_level(const recertifying *r, const json_t *own)
{
    cellar_protection_level level, stated;
    const char *name = json_string_value(json_object_get(r->description, "protection"));
    cellar_status status = cellar_level_of(own, NULL, 1, &level, r->err);
    if (status == CELLAR_OK &&
        (!cellar_level_find(name != NULL ? name : "", &stated) || stated < level))
        status = cellar_recertify_fail(r->name, "protection", r->err);
    return status;
}

cellar_status cellar_recertify_cube(const json_t *heading, const char *name, cellar_error *err)
{
    const json_t *description = json_object_get(heading, "description");
    recertifying r = {.heading = heading,
                      .description = description,
                      .claimed = json_object_get(description, "certificate"),
                      .name = name,
                      .err = err};
    json_t *own = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(take_mechanisms(&r));
    CELLAR_TRY(count_tables(&r));
    CELLAR_TRY(compute(&r, &own));
    CELLAR_TRY(cellar_recertify_compare(r.claimed, own, name, err));
    CELLAR_TRY(compare_level(&r, own));
out:
    json_decref(own);
    for (size_t k = 0; k < r.n; k++)
        cellar_mechanism_free((cellar_mechanism *) r.parts[k].mechanism);
    cellar_free(r.parts);
    cellar_free((void *) r.exact);
    return status;
}
