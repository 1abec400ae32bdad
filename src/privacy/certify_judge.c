/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verdict, and what must be said besides. */
#include "privacy/certify.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "math/ball.h"
#include "math/work.h"

/* ---- judgement --------------------------------------------------------------------------------
 */

/* P(released > 0 | count 1) for a mechanism that releases every zero as zero: what that costs. */
static cellar_status warn_zeros(const cellar_setting *s, size_t i, cellar_certificate *c,
                                cellar_error *err)
{
    const cellar_mechanism *m = s->parts[i].mechanism;
    cellar_status status = CELLAR_OK;
    int64_t low, high;
    char text[32];
    arb_t shows;
    if (m->ops->is_additive || s->options->min_count > 0)
        return CELLAR_OK;
    m->ops->support(m, 0, 0, &low, &high);
    if (low != 0 || high != 0)
        return CELLAR_OK;
    arb_init(shows);
    m->ops->pmf_ball(m, 1, 0, 128, shows);
    arb_sub_ui(shows, shows, 1, 128);
    arb_neg(shows, shows);
    status = cellar_certificate_warn(
        c, err,
        "%s releases every true zero as zero: a released value above zero proves that somebody is "
        "there, which happens with probability %s for a single person; no delta is smaller, "
        "whatever epsilon",
        cellar_mechanism_spec(m), cellar_lower_text(cellar_ball_lower(shows), text));
    arb_clear(shows);
    return status;
}

static cellar_status warn_delta(const cellar_setting *s, cellar_certificate *c, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double limit = 1 / (double) s->options->population;
    char text[32];
    if (s->options->population == 0)
        return CELLAR_OK;
    for (size_t i = 0; i < c->n_points && status == CELLAR_OK; i++)
        if (c->points[i].delta >= limit)
            status = cellar_certificate_warn(
                c, err,
                "delta %s at epsilon %.6g is at least 1/N = %.3g: such a delta allows publishing "
                "the record of one person unprotected",
                cellar_bound_text(c->points[i].delta, text), c->points[i].epsilon, limit);
    for (size_t i = 0; i < c->n_epsilons && status == CELLAR_OK; i++)
        if (c->epsilons[i].delta >= limit)
            status =
                cellar_certificate_warn(c, err,
                                        "delta %.3g is at least 1/N = %.3g: such a delta allows "
                                        "publishing the record of one person unprotected",
                                        c->epsilons[i].delta, limit);
    return status;
}

cellar_status cellar_certify_judge(const cellar_setting *s, cellar_certificate *c,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_certificate_judge_domain(c, s->options, err));
    if (s->group > 1)
        CELLAR_TRY(
            cellar_certificate_warn(c, err,
                                    "the records of a unit are changed one after the other (group "
                                    "privacy): the bound holds, but a smaller one may exist"));
    if (cellar_work_is_over())
        CELLAR_TRY(
            cellar_certificate_warn(c, err,
                                    "the work limit of the certificate was used up: the bounds "
                                    "hold, and a larger effort may give closer bounds"));
    if (c->infinite >= 1 && s->group == 1)
        CELLAR_TRY(
            cellar_certificate_judge(c, CELLAR_VERDICT_FAILS, err,
                                     "a released value can distinguish neighbours with certainty"));
    for (size_t i = 0; i < s->n; i++)
        CELLAR_TRY(warn_zeros(s, i, c, err));
    CELLAR_TRY(warn_delta(s, c, err));
    if (s->options->min_count > 0)
        CELLAR_TRY(cellar_certificate_warn(
            c, err,
            "data-dependent: the guarantee holds only for data without counts below %" PRIu64
            ", which is itself a fact about the data",
            s->options->min_count));
    if (s->options->choice == CELLAR_CHOICE_CONFIDENTIAL_DATA)
        CELLAR_TRY(cellar_certificate_warn(
            c, err,
            "parameters were chosen from the confidential data: that choice is not covered"));
    if (s->n > 1 && !s->options->parallel)
        CELLAR_TRY(cellar_certificate_warn(
            c, err, "the tight figure is valid for a plan fixed before its first draw"));
out:
    return status;
}
