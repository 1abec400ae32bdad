/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a participant asks of a collection: nothing is sealed before it was checked. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "protocol/decision.h"
#include "protocol/invitation.h"

cellar_collect_policy cellar_collect_policy_default(void)
{
    return (cellar_collect_policy){
        .most_exposure = NAN, .most_epsilon = INFINITY, .most_tolerance = NAN};
}

/* Values that are sent as they are have no epsilon at all. */
static cellar_status epsilon_check(const cellar_collect_policy *policy,
                                   const cellar_invitation *invitation, cellar_error *err)
{
    cellar_collect_certificate certificate = cellar_collect_certify(invitation);
    if (certificate.epsilon_record <= policy->most_epsilon || isinf(policy->most_epsilon))
        return CELLAR_OK;
    if (isinf(certificate.epsilon_record))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "values of round one are sent as they are and have no epsilon; the "
                           "policy allows %.6g",
                           policy->most_epsilon);
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "an answer to round one has an epsilon of %.6g; the policy allows %.6g",
                       certificate.epsilon_record, policy->most_epsilon);
}

/* Who says nothing about models accepts none in round two; who says nothing about their kinds, none
 * in a file that participants do not have. */
static cellar_status model_check(const cellar_collect_policy *policy,
                                 const cellar_invitation *invitation, int is_required,
                                 cellar_error *err)
{
    double tolerance = cellar_invitation_tolerance(invitation);
    cellar_collect_model_kind kind = cellar_invitation_model(invitation);
    unsigned models = policy->models != 0 ? policy->models : 1U << CELLAR_COLLECT_INDEPENDENCE;
    if (isnan(tolerance) || (isnan(policy->most_tolerance) && !is_required))
        return CELLAR_OK;
    if (!isnan(policy->most_tolerance) && (models >> kind & 1) == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the decision rests on a %s; the policy does not accept such a model "
                           "(models)",
                           cellar_collect_model_kind_name(kind));
    if (tolerance <= policy->most_tolerance)
        return CELLAR_OK;
    if (isnan(policy->most_tolerance))
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "the decision rests on a model with a tolerance of %.6g; the policy does "
            "not accept one (most tolerance)",
            tolerance);
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "the decision rests on a model with a tolerance of %.6g; the policy allows "
                       "%.6g",
                       tolerance, policy->most_tolerance);
}

/* Blanks around a name and its case make no difference: who writes `--never "income, Diag"` means
 * the column diag. */
int cellar_collect_is_same_column(const char *never, const char *column)
{
    static const char blanks[] = " \t";
    size_t length;
    never += strspn(never, blanks);
    column += strspn(column, blanks);
    for (length = strlen(never); length > 0 && strchr(blanks, never[length - 1]) != NULL;)
        length--;
    return strncasecmp(never, column, length) == 0 &&
           column[length + strspn(column + length, blanks)] == '\0';
}

static int policy_forbids(const cellar_collect_policy *policy, const char *column)
{
    for (size_t i = 0; i < policy->n_never; i++)
        if (cellar_collect_is_same_column(policy->never[i], column))
            return 1;
    return 0;
}

static cellar_status k_check(const cellar_collect_policy *policy,
                             const cellar_invitation *invitation, cellar_error *err)
{
    if (invitation->terms.k >= policy->least_k)
        return CELLAR_OK;
    return cellar_fail(
        err, CELLAR_ERR_RULE, "the collection is for groups of k = %llu; the policy asks for %llu",
        (unsigned long long) invitation->terms.k, (unsigned long long) policy->least_k);
}

/* Every column is asked for in round one, and can be in a question; there is no way to leave one
 * out, since the curator refuses columns with different totals. A randomised value is a form of the
 * value, too. So a column that is never sent means that the invitation is declined. */
cellar_status cellar_collect_policy_check_invitation(const cellar_collect_policy *policy,
                                                     const cellar_invitation *invitation,
                                                     cellar_error *err)
{
    const collect_terms *terms = &invitation->terms;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(epsilon_check(policy, invitation, err));
    CELLAR_TRY(k_check(policy, invitation, err));
    CELLAR_TRY(model_check(policy, invitation, 0, err));
    if (cellar_invitation_exposure(invitation) > policy->most_exposure) /* not if it is NAN */
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "the invitation allows an exposure of %.6g; the policy allows %.6g",
                               cellar_invitation_exposure(invitation), policy->most_exposure));
    if (terms->n_people < policy->least_people)
        CELLAR_TRY(cellar_fail(
            err, CELLAR_ERR_RULE, "the invitation is for %llu people; the policy asks for %llu",
            (unsigned long long) terms->n_people, (unsigned long long) policy->least_people));
    for (size_t c = 0; c < invitation->n_columns; c++)
        if (policy_forbids(policy, invitation->names[c]))
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                                   "the invitation asks for column '%.200s', which the policy "
                                   "forbids; nothing is sent",
                                   invitation->names[c]));
out:
    return status;
}

cellar_status cellar_collect_policy_check(const cellar_collect_policy *policy,
                                          const cellar_invitation *invitation,
                                          const cellar_decision *decision, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (policy->least_k == 0 || !(policy->most_exposure >= 0 && policy->most_exposure <= 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a policy needs the least k and the most exposure, from 0 to 1");
    CELLAR_TRY(epsilon_check(policy, invitation, err));
    CELLAR_TRY(k_check(policy, invitation, err));
    CELLAR_TRY(model_check(policy, invitation, 1, err));
    if (decision->bound > invitation->terms.exposure)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "the bound of the decision is above what the invitation allows"));
    if (cellar_decision_bound(decision) > policy->most_exposure)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "the exposure is bounded by %.6g; the policy allows %.6g",
                               cellar_decision_bound(decision), policy->most_exposure));
    if (decision->n_people < policy->least_people ||
        decision->n_people < invitation->terms.n_people)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "the decision is about fewer people than announced, or than the "
                               "policy asks for"));
    for (size_t i = 0; i < decision->n_columns; i++)
        if (policy_forbids(policy, invitation->names[decision->columns[i]]))
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                                   "the decision releases column '%.200s', which the policy "
                                   "forbids",
                                   invitation->names[decision->columns[i]]));
out:
    return status;
}
