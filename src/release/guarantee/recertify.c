/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A certificate read from a file, computed again from the mechanism that the file names. */
#include "release/guarantee/recertify.h"

#include <stdio.h>
#include <string.h>

#include <cellar/release.h>

#include "base/error.h"
#include "mechanism/mechanism.h"
#include "release/guarantee/certify.h"
#include "release/guarantee/share.h"

/* Bounds of another version may differ in their last digits. */
static const double RECERTIFY_ROUNDING = 1e-9;

/* What makes no claim: lower bounds, and how and where bounds were found. */
static int member_is_claim(const char *name)
{
    static const char *const others[] = {"lower",    "delta_lower", "gap",
                                         "reason",   "warnings",    "checked",
                                         "tight",    "worst_case",  "delta_probabilistic_is_bound",
                                         "revision", "condition",   "parameter_choice"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return 0;
    return 1;
}

/* 1 when a claim is no better than what was computed: numbers are upper bounds, and null is none;
 * everything else is the same. *member is the first that is better. */
static int claim_is_sound(const json_t *claimed, const json_t *own, const char **member)
{
    const char *name;
    json_t *value;
    size_t i;

    if (json_is_object(own)) {
        json_object_foreach((json_t *) own, name, value)
        {
            /* "tight" is also the name of a composition */
            if (!json_is_object(value) && !member_is_claim(name))
                continue;
            *member = name;
            if (strcmp(name, "worst_case") != 0 &&
                !claim_is_sound(json_object_get(claimed, name), value, member))
                return 0;
        }
        return 1;
    }
    if (json_is_array(own)) {
        if (json_array_size(claimed) != json_array_size(own))
            return 0;
        json_array_foreach(
            own, i, value) if (!claim_is_sound(json_array_get(claimed, i), value, member)) return 0;
        return 1;
    }
    if (json_is_real(own) && json_is_number(claimed))
        return json_number_value(claimed) >= json_real_value(own) * (1 - RECERTIFY_ROUNDING);
    return json_equal(claimed, own) || (json_is_real(own) && json_is_null(claimed)) ||
           (strcmp(*member, "verdict") == 0 && json_is_string(claimed) &&
            strcmp(json_string_value(claimed), "holds") != 0);
}

cellar_status cellar_recertify_fail(const char *name, const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: its certificate is not that of its mechanism: '%s' claims more than "
                       "can be computed",
                       name, what);
}

cellar_status cellar_recertify_compare(const json_t *claimed, const json_t *own, const char *name,
                                       cellar_error *err)
{
    const char *member = "certificate";
    return claim_is_sound(claimed, own, &member) ? CELLAR_OK
                                                 : cellar_recertify_fail(name, member, err);
}

/* The certificate and the level that cellar_release_protect() would have given it. */
static cellar_status recertify_cells(cellar_protection *own, const cellar_mechanism *mechanism,
                                     const char *name, json_t **out, cellar_error *err)
{
    char total[80];
    cellar_status status = cellar_share_total(mechanism, cellar_protection_n_parts(&own->facts),
                                              total, sizeof total, err);
    if (status != CELLAR_OK)
        return status;
    if (own->facts.total_epsilon != NULL && strcmp(own->facts.total_epsilon, total) != 0)
        return cellar_recertify_fail(name, "total", err);
    return cellar_release_certify(own, mechanism, out, err);
}

static cellar_status recertify_dirichlet(cellar_protection *own, const json_t *certificate,
                                         json_t **out, cellar_error *err)
{
    cellar_dirichlet *dirichlet = NULL;
    cellar_status status = cellar_dirichlet_create(own->facts.mechanism, &dirichlet, err);
    if (status == CELLAR_OK)
        status = cellar_release_certify_dirichlet(
            own, dirichlet, json_array_size(json_object_get(certificate, "invariants")) > 0, out,
            err);
    cellar_dirichlet_free(dirichlet);
    return status;
}

int cellar_release_can_recertify(const cellar_release *release)
{
    const char *spec = release->facts.mechanism;
    return strncmp(spec, "ptable:", 7) != 0 && strncmp(spec, "cell-key:", 9) != 0 &&
           strncmp(spec, "exponential:", 12) != 0;
}

/* *out stays NULL when the mechanism cannot be made from its spec alone. A revision that is not
 * known is refused: whoever forges a certificate would choose one. */
static cellar_status recertify_compute(const cellar_release *release, cellar_protection *own,
                                       const char *name, json_t **out, cellar_error *err)
{
    const char *spec = release->facts.mechanism;
    cellar_mechanism *mechanism = NULL;
    cellar_error why;
    cellar_status status;

    if (!cellar_release_can_recertify(release))
        return CELLAR_OK;
    if (strncmp(spec, "multinomial-dirichlet:", 22) == 0)
        return recertify_dirichlet(own, json_object_get(release->description, "certificate"), out,
                                   err);
    status = cellar_mechanism_create(spec, &mechanism, &why);
    if (status == CELLAR_ERR_MEMORY)
        return cellar_fail_memory(err, "a mechanism");
    if (status != CELLAR_OK)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: there is no certificate of its mechanism: %s", name, why.message);
    if (cellar_mechanism_revision(mechanism) != own->facts.revision)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT,
                        "%s: revision %u of %s is not known here, so that its certificate "
                        "cannot be checked",
                        name, (unsigned) own->facts.revision, cellar_mechanism_name(mechanism));
    else
        status = recertify_cells(own, mechanism, name, out, err);
    cellar_mechanism_free(mechanism);
    return status;
}

const char *cellar_recertify_delta(const json_t *certificate, char text[32])
{
    const json_t *first = json_array_get(json_object_get(certificate, "epsilon_at"), 0);
    const double delta = json_number_value(json_object_get(first, "delta"));
    snprintf(text, 32, "%.17g", delta);
    return delta >= 0 && delta < 1 && first != NULL ? text : NULL;
}

cellar_status cellar_release_recertify(const cellar_release *release, const char *name,
                                       int *is_checked, cellar_error *err)
{
    const cellar_release_facts *facts = &release->facts;
    cellar_protection own = {.schema = release->schema, .facts = *facts, .accepted = (unsigned) -1};
    const json_t *claimed = json_object_get(release->description, "certificate");
    char delta[32];
    json_t *computed = NULL;
    cellar_status status = CELLAR_OK;

    *is_checked = 0;
    if (facts->cells_per_record != cellar_schema_cells_per_record(release->schema))
        return cellar_recertify_fail(name, "cells_per_record", err);
    own.facts.delta = cellar_recertify_delta(claimed, delta);
    CELLAR_TRY(recertify_compute(release, &own, name, &computed, err));
    if (computed == NULL)
        goto out;
    CELLAR_TRY(cellar_recertify_compare(claimed, computed, name, err));
    if (facts->level < own.facts.level)
        CELLAR_TRY(cellar_recertify_fail(name, "protection", err));
    *is_checked = 1;
out:
    json_decref(computed);
    cellar_certificate_free(own.certificate);
    return status;
}
