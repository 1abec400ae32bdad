/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/certificate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- life cycle ---------------------------------------------------------------- */

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = cellar_alloc(size, 1);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static cellar_status copy_invariants(cellar_certificate *c, const char *const *names,
                                     cellar_error *err)
{
    size_t n = 0;
    while (names != NULL && names[n] != NULL)
        n++;
    c->invariants = cellar_alloc(n, sizeof *c->invariants);
    if (c->invariants == NULL)
        return cellar_fail_memory(err, "a certificate");
    for (; c->n_invariants < n; c->n_invariants++) {
        c->invariants[c->n_invariants] = copy_text(names[c->n_invariants]);
        if (c->invariants[c->n_invariants] == NULL)
            return cellar_fail_memory(err, "a certificate");
    }
    return CELLAR_OK;
}

cellar_status cellar_certificate_create(const cellar_certify_options *options, size_t n_specs,
                                        cellar_certificate **out, cellar_error *err)
{
    cellar_certificate *c = cellar_alloc(1, sizeof *c);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (c == NULL)
        return cellar_fail_memory(err, "a certificate");
    c->options = *options;
    if (options->neighbours == CELLAR_NEIGHBOURS_DEFAULT)
        c->options.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE;
    c->pure = INFINITY;
    c->composition = (cellar_composition){
        .basic = {NAN, NAN}, .advanced = {NAN, NAN}, .tight = {NAN, NAN}, .lower = NAN, .rho = NAN};
    c->unit = copy_text(options->unit != NULL ? options->unit : "record");
    c->points = cellar_alloc(options->n_epsilons, sizeof *c->points);
    c->epsilons = cellar_alloc(options->n_deltas, sizeof *c->epsilons);
    c->specs = cellar_alloc(n_specs, sizeof *c->specs);
    c->revisions = cellar_alloc(n_specs, sizeof *c->revisions);
    if (c->unit == NULL || c->points == NULL || c->epsilons == NULL || c->specs == NULL ||
        c->revisions == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a certificate"));
    c->n_specs = n_specs;
    CELLAR_TRY(copy_invariants(c, options->invariants, err));
    *out = c;
    c = NULL;
out:
    cellar_certificate_free(c);
    return status;
}

void cellar_certificate_free(cellar_certificate *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->n_invariants; i++)
        cellar_free(c->invariants[i]);
    for (size_t i = 0; i < c->n_specs; i++)
        cellar_free(c->specs[i]);
    for (size_t i = 0; i < c->n_warnings; i++)
        cellar_free(c->warnings[i]);
    cellar_free(c->unit);
    cellar_free(c->invariants);
    cellar_free(c->specs);
    cellar_free(c->revisions);
    cellar_free(c->reason);
    cellar_free(c->pure_exact);
    cellar_free(c->points);
    cellar_free(c->epsilons);
    cellar_free(c);
}

cellar_status cellar_certificate_name(cellar_certificate *c, size_t index, const char *spec,
                                      uint32_t revision, cellar_error *err)
{
    c->specs[index] = copy_text(spec);
    c->revisions[index] = revision;
    return c->specs[index] != NULL ? CELLAR_OK : cellar_fail_memory(err, "a certificate");
}

CELLAR_PRINTF(3, 0)
static cellar_status format_text(char **out, cellar_error *err, const char *format, va_list list)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, list);
    *out = copy_text(text);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a certificate");
}

cellar_status cellar_certificate_judge(cellar_certificate *c, cellar_verdict verdict,
                                       cellar_error *err, const char *format, ...)
{
    va_list list;
    cellar_status status;
    if (c->verdict == CELLAR_VERDICT_FAILS ||
        (c->verdict == CELLAR_VERDICT_UNKNOWN && verdict != CELLAR_VERDICT_FAILS))
        return CELLAR_OK;
    cellar_free(c->reason);
    c->reason = NULL;
    c->verdict = verdict;
    va_start(list, format);
    status = format_text(&c->reason, err, format, list);
    va_end(list);
    return status;
}

cellar_status cellar_certificate_warn(cellar_certificate *c, cellar_error *err, const char *format,
                                      ...)
{
    va_list list;
    cellar_status status;
    if (c->n_warnings == CELLAR_WARNINGS_MAX)
        return CELLAR_OK;
    va_start(list, format);
    status = format_text(&c->warnings[c->n_warnings], err, format, list);
    va_end(list);
    c->n_warnings += status == CELLAR_OK;
    return status;
}

cellar_status cellar_certificate_judge_domain(cellar_certificate *c,
                                              const cellar_certify_options *options,
                                              cellar_error *err)
{
    if (options->domain == CELLAR_DOMAIN_OBSERVED)
        return cellar_certificate_judge(c, CELLAR_VERDICT_FAILS, err,
                                        "domain observed: categories were read off the data, so "
                                        "one person can create a category");
    if (options->reviewers != NULL || options->domain == CELLAR_DOMAIN_DRAFTED) {
        const cellar_status status = cellar_certificate_warn(
            c, err,
            "categories were drafted from the data, reviewed by %s: that choice is not covered",
            options->reviewers != NULL ? options->reviewers : "somebody who is not named");
        if (status != CELLAR_OK)
            return status;
    }
    if (options->domain == CELLAR_DOMAIN_ASSERTED)
        return cellar_certificate_warn(c, err,
                                       "depends on the assertion that the categories are public");
    return CELLAR_OK;
}

/* ---- verdicts --------------------------------------------------------------------- */

static const char *const verdict_names[] = {[CELLAR_VERDICT_HOLDS] = "holds",
                                            [CELLAR_VERDICT_FAILS] = "fails",
                                            [CELLAR_VERDICT_UNKNOWN] = "unknown"};

const char *cellar_verdict_name(cellar_verdict verdict)
{
    return verdict_names[verdict];
}

int cellar_verdict_find(const char *name, cellar_verdict *out)
{
    for (int i = CELLAR_VERDICT_HOLDS; name != NULL && i <= CELLAR_VERDICT_UNKNOWN; i++)
        if (strcmp(verdict_names[i], name) == 0) {
            *out = (cellar_verdict) i;
            return 1;
        }
    return 0;
}

/* ---- queries ------------------------------------------------------------------------ */

cellar_verdict cellar_certificate_verdict(const cellar_certificate *c)
{
    return c->verdict;
}

const char *cellar_certificate_reason(const cellar_certificate *c)
{
    return c->reason;
}

double cellar_certificate_pure_epsilon(const cellar_certificate *c)
{
    return c->pure;
}

const char *cellar_certificate_pure_exact(const cellar_certificate *c)
{
    return c->pure_exact;
}

double cellar_certificate_infinite(const cellar_certificate *c)
{
    return c->infinite;
}

size_t cellar_certificate_n_points(const cellar_certificate *c)
{
    return c->n_points;
}

cellar_profile_point cellar_certificate_point(const cellar_certificate *c, size_t index)
{
    CELLAR_ASSERT(index < c->n_points);
    return c->points[index];
}

size_t cellar_certificate_n_epsilons(const cellar_certificate *c)
{
    return c->n_epsilons;
}

cellar_epsilon_at cellar_certificate_epsilon_at(const cellar_certificate *c, size_t index)
{
    CELLAR_ASSERT(index < c->n_epsilons);
    return c->epsilons[index];
}

cellar_composition cellar_certificate_composition(const cellar_certificate *c)
{
    return c->composition;
}

const char *cellar_certificate_warning(const cellar_certificate *c, size_t index)
{
    return index < c->n_warnings ? c->warnings[index] : NULL;
}
