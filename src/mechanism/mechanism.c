/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/mechanism.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

/* ---- life cycle ------------------------------------------------------------ */

static cellar_status mechanism_find(const char *spec, size_t length,
                                    const cellar_mechanism_ops **ops, cellar_error *err)
{
    const char *names[64] = {0}, *nearest;
    char name[64];

    for (size_t i = 0; cellar_mechanism_registry[i] != NULL; i++) {
        CELLAR_ASSERT(i < sizeof names / sizeof *names - 1);
        names[i] = cellar_mechanism_registry[i]->name;
        if (strlen(names[i]) == length && memcmp(names[i], spec, length) == 0) {
            *ops = cellar_mechanism_registry[i];
            return CELLAR_OK;
        }
    }
    snprintf(name, sizeof name, "%.*s", (int) (length < 60 ? length : 60), spec);
    if (strcmp(name, "multinomial-dirichlet") == 0)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "multinomial-dirichlet draws all cells of a table together, and no cell has a "
            "distribution of its own; protect and certify accept this mechanism");
    nearest = cellar_nearest_word(name, names);
    if (nearest != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "there is no mechanism '%s': did you mean '%s'?", name, nearest);
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "there is no mechanism '%s' (a spec reads 'discrete-laplace:epsilon=1')",
                       name);
}

/* name:key=value,... with the given parameters in the order of the rules. */
static cellar_status mechanism_write_spec(cellar_mechanism *m, cellar_error *err)
{
    cellar_text text = {0};
    cellar_text_add_string(&text, m->ops->name);
    for (size_t i = 0; i < m->parameters.n; i++)
        cellar_text_printf(&text, "%c%s=%s", i == 0 ? ':' : ',', m->parameters.items[i].name,
                           m->parameters.items[i].text);
    if (text.failed) {
        cellar_text_clear(&text);
        return cellar_fail_memory(err, "a mechanism");
    }
    m->spec = text.bytes;
    return CELLAR_OK;
}

cellar_status cellar_mechanism_create(const char *spec, cellar_mechanism **out, cellar_error *err)
{
    const cellar_mechanism_ops *ops = NULL;
    const char *colon = strchr(spec, ':');
    size_t length = colon != NULL ? (size_t) (colon - spec) : strlen(spec);
    cellar_mechanism *m = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(mechanism_find(spec, length, &ops, err));
    m = cellar_alloc(1, ops->size);
    if (m == NULL)
        return cellar_fail_memory(err, "a mechanism");
    m->ops = ops;
    CELLAR_TRY(cellar_parameter_list_parse(ops->parameters, ops->name,
                                           colon != NULL ? colon + 1 : NULL, &m->parameters, err));
    CELLAR_TRY(mechanism_write_spec(m, err));
    if (ops->init != NULL)
        CELLAR_TRY(ops->init(m, err));
    *out = m;
    m = NULL;
out:
    cellar_mechanism_free(m);
    return status;
}

void cellar_mechanism_free(cellar_mechanism *m)
{
    if (m == NULL)
        return;
    if (m->ops->clear != NULL)
        m->ops->clear(m);
    cellar_parameter_list_clear(&m->parameters);
    cellar_free(m->spec);
    cellar_free(m);
}

/* ---- what it is ------------------------------------------------------------ */

const char *cellar_mechanism_name(const cellar_mechanism *m)
{
    return m->ops->name;
}

uint32_t cellar_mechanism_revision(const cellar_mechanism *m)
{
    return m->ops->revision;
}

const char *cellar_mechanism_spec(const cellar_mechanism *m)
{
    return m->spec;
}

size_t cellar_mechanism_n_parameters(const cellar_mechanism *m)
{
    return m->parameters.n;
}

static const cellar_parameter *mechanism_parameter(const cellar_mechanism *m, size_t index)
{
    CELLAR_ASSERT(index < m->parameters.n);
    return &m->parameters.items[index];
}

const char *cellar_mechanism_parameter_name(const cellar_mechanism *m, size_t index)
{
    return mechanism_parameter(m, index)->name;
}

const char *cellar_mechanism_parameter_text(const cellar_mechanism *m, size_t index)
{
    return mechanism_parameter(m, index)->text;
}

double cellar_mechanism_parameter_value(const cellar_mechanism *m, size_t index)
{
    return mechanism_parameter(m, index)->nearest;
}

int cellar_mechanism_parameter_is_derived(const cellar_mechanism *m, size_t index)
{
    return mechanism_parameter(m, index)->is_derived;
}

/* Mechanisms that draw all cells of a table together: they are no transition kernels of one cell,
 * and cellar_dirichlet_create() makes them. */
static const char *const mechanism_joint[][2] = {
    {"multinomial-dirichlet", "all cells together, of a given total"}};
enum { N_MECHANISM_JOINT = sizeof mechanism_joint / sizeof *mechanism_joint };

/* The name (0) or summary (1) of a mechanism of one cell, then of a joint one. */
static const char *mechanism_known(size_t index, int what)
{
    size_t n = 0;
    while (cellar_mechanism_registry[n] != NULL)
        n++;
    if (index < n)
        return what == 0 ? cellar_mechanism_registry[index]->name
                         : cellar_mechanism_registry[index]->summary;
    return index - n < N_MECHANISM_JOINT ? mechanism_joint[index - n][what] : NULL;
}

const char *cellar_mechanism_known_name(size_t index)
{
    return mechanism_known(index, 0);
}

const char *cellar_mechanism_known_summary(size_t index)
{
    return mechanism_known(index, 1);
}

/* ---- drawing --------------------------------------------------------------- */

cellar_status cellar_mechanism_sample_many(const cellar_mechanism *m, const int64_t *counts,
                                           size_t n, cellar_rng *rng, int64_t *released,
                                           cellar_error *err)
{
    cellar_status status = m->ops->sample_many(m, counts, n, rng, released, err);
    if (status != CELLAR_OK)
        cellar_wipe(released, n * sizeof *released);
    return status;
}
