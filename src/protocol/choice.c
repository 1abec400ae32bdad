/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/choice.h"

#include <math.h>

#include <cellar/exposure.h>
#include <cellar/selection.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/estimate.h"
#include "protocol/invitation.h"
#include "protocol/response.h"

/* What is bounded: the exposure at k/n of those who were counted; or, for other people,
 * Q_p(n,k) <= Q_J(t) + P(Bin(n-1,t) <= k-2): whoever shares values of
 * probability t or more is in a small group with at most that chance, and the others are no more
 * than Q_J(t). The chance is given a tenth of what is allowed. */
typedef struct question {
    cellar_exposure_curve *curves[CELLAR_MAX_VARIABLES];
    double threshold, chance;
} question;

static cellar_status question_fixed(const cellar_collect_margins *margins,
                                    const cellar_invitation *invitation, question *out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    out->threshold = (double) invitation->terms.k / (double) margins->n_people;
    for (size_t c = 0; c < invitation->n_columns; c++) {
        size_t n_codes = cellar_codelist_n_codes(invitation->codes[c]);
        CELLAR_TRY(cellar_exposure_curve_from_counts(margins->counts[c], n_codes, n_codes,
                                                     &out->curves[c], err));
    }
out:
    return status;
}

/* The share of every value as it may be: within the radius of what was counted, freed of what
 * randomised response added: of the reports of v, keep p + (1 - keep)/m are expected. The reports
 * are independent in either setting, so Hoeffding's radius holds for their shares, and shrinking
 * them by `keep` stretches it. */
static cellar_status ranges_make(const cellar_collect_margins *margins,
                                 const cellar_invitation *invitation, size_t column, double radius,
                                 share_range **out, cellar_error *err)
{
    size_t n_codes = cellar_codelist_n_codes(invitation->codes[column]);
    response told = response_of(invitation->terms.epsilon, n_codes);
    double keep = response_keep(&told);
    share_range *ranges = cellar_alloc(n_codes, sizeof *ranges);

    *out = ranges;
    if (ranges == NULL)
        return cellar_fail_memory(err, "ranges of shares");
    for (size_t v = 0; v < n_codes; v++)
        ranges[v] = estimate_range(cellar_collect_margins_share(margins, invitation, column, v),
                                   radius / keep);
    return CELLAR_OK;
}

/* Where the curve is asked for other people, and how much of what is allowed that costs. */
static void question_threshold(const cellar_collect_margins *margins,
                               const cellar_invitation *invitation, question *out)
{
    double allowed = cellar_invitation_exposure(invitation);
    out->threshold = (double) invitation->terms.k / (double) margins->n_people;
    if (invitation->terms.population == 0)
        return;
    out->threshold =
        estimate_threshold(invitation->terms.population, invitation->terms.k, allowed / 10);
    out->chance = allowed / 10;
}

static cellar_status question_estimated(const cellar_collect_margins *margins,
                                        const cellar_invitation *invitation, question *out,
                                        cellar_error *err)
{
    double n_values = 0, radius;
    share_range *ranges = NULL;
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < invitation->n_columns; c++)
        n_values += (double) cellar_codelist_n_codes(invitation->codes[c]);
    radius = estimate_radius(margins->n_people, n_values, (double) invitation->terms.delta / 1e18);
    question_threshold(margins, invitation, out);
    for (size_t c = 0; c < invitation->n_columns; c++) {
        CELLAR_TRY(ranges_make(margins, invitation, c, radius, &ranges, err));
        CELLAR_TRY(estimate_worst_curve(ranges, cellar_codelist_n_codes(invitation->codes[c]),
                                        &out->curves[c], err));
        cellar_free(ranges);
        ranges = NULL;
    }
out:
    cellar_free(ranges);
    return status;
}

/* The bound of the chosen set once more, to tell the theorem. */
static cellar_status choice_fill(const question *asked, uint64_t mask, size_t n_columns,
                                 choice *chosen, cellar_error *err)
{
    const cellar_exposure_curve *of_set[CELLAR_MAX_VARIABLES];
    cellar_exposure_bound bounds[2];
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < n_columns; c++)
        if (mask >> c & 1) {
            of_set[chosen->n_columns] = asked->curves[c];
            chosen->columns[chosen->n_columns++] = c;
        }
    if (chosen->n_columns == 0)
        return CELLAR_OK;
    CELLAR_TRY(
        cellar_exposure_bounds(of_set, chosen->n_columns, asked->threshold, NULL, bounds, err));
    chosen->bound = bounds[0].value + asked->chance;
    chosen->theorem = bounds[0].theorem;
out:
    return status;
}

cellar_status choice_make(const cellar_collect_margins *margins,
                          const cellar_invitation *invitation, choice *chosen, cellar_error *err)
{
    cellar_selection_options options = cellar_selection_options_default();
    question asked = {{NULL}, 0, 0};
    cellar_selection *selection = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(terms_estimate(&invitation->terms)
                   ? question_estimated(margins, invitation, &asked, err)
                   : question_fixed(margins, invitation, &asked, err));
    options.measure = CELLAR_SELECTION_BOUNDED;
    options.k =
        terms_estimate(&invitation->terms) /* the threshold, as a count of the curves' total */
            ? (uint64_t) ceil(asked.threshold * (double) cellar_exposure_total(asked.curves[0]))
            : invitation->terms.k;
    options.exposure = cellar_invitation_exposure(invitation) - asked.chance;
    CELLAR_TRY(cellar_selection_from_curves((const cellar_exposure_curve *const *) asked.curves,
                                            invitation->n_columns, &options, &selection, err));
    if (cellar_selection_n_sets(selection) > 0)
        CELLAR_TRY(choice_fill(&asked, cellar_selection_set_at(selection, 0).columns,
                               invitation->n_columns, chosen, err));
out:
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        cellar_exposure_curve_free(asked.curves[c]);
    cellar_selection_free(selection);
    return status;
}
