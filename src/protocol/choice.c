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
    share_range *ranges[CELLAR_MAX_VARIABLES]; /* when margins are not known exactly */
    redaction_terms redacting;
    redaction redactions[CELLAR_MAX_VARIABLES];
    cellar_exposure_curve *curves[CELLAR_MAX_VARIABLES]; /* of what is left */
    double threshold, chance;
} question;

/* Forgets the columns as they would be left. */
static void question_reset(question *asked)
{
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++) {
        cellar_free(asked->redactions[c].levels);
        asked->redactions[c] = (redaction){0};
        cellar_exposure_curve_free(asked->curves[c]);
        asked->curves[c] = NULL;
    }
}

static void question_clear(question *asked)
{
    question_reset(asked);
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        cellar_free(asked->ranges[c]);
}

void choice_clear(choice *chosen)
{
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        cellar_free(chosen->redactions[c].levels);
    *chosen = (choice){0};
}

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

/* Chance decides twice at most: what was reported, and who redacts. Each gets its part of delta. */
static cellar_status question_estimated(const cellar_collect_margins *margins,
                                        const cellar_invitation *invitation, question *out,
                                        cellar_error *err)
{
    const collect_terms *terms = &invitation->terms;
    int is_sampled = terms->population > 0 || terms->epsilon > 0;
    int is_covered = terms->population == 0 && terms->hide > 0;
    double n_values = 0, radius = 0;
    double delta = (double) terms->delta / 1e18 / (is_sampled && is_covered ? 2 : 1);
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < invitation->n_columns; c++)
        n_values += (double) cellar_codelist_n_codes(invitation->codes[c]);
    if (is_sampled)
        radius = estimate_radius(margins->n_people, n_values, delta);
    out->redacting = (redaction_terms){(double) terms->hide / 1e18, (double) terms->redacted / 1e18,
                                       is_covered ? (double) margins->n_people : 0,
                                       delta / (2 * (n_values + (double) invitation->n_columns))};
    question_threshold(margins, invitation, out);
    for (size_t c = 0; c < invitation->n_columns; c++)
        CELLAR_TRY(ranges_make(margins, invitation, c, radius, &out->ranges[c], err));
out:
    return status;
}

/* The columns as they are left when values of shares below `rare` are redacted. */
static cellar_status question_redact(question *asked, const cellar_invitation *invitation,
                                     double rare, cellar_error *err)
{
    share_range *left = NULL;
    cellar_status status = CELLAR_OK;

    question_reset(asked);
    for (size_t c = 0; c < invitation->n_columns; c++) {
        size_t n_codes = cellar_codelist_n_codes(invitation->codes[c]), n_left;
        if (rare > 0)
            CELLAR_TRY(redaction_plan(asked->ranges[c], n_codes, &asked->redacting, rare,
                                      &asked->redactions[c], err));
        left = cellar_alloc(n_codes + 1, sizeof *left);
        if (left == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "ranges of shares"));
        redaction_apply(&asked->redactions[c], asked->ranges[c], n_codes, &asked->redacting, left,
                        &n_left);
        CELLAR_TRY(estimate_worst_curve(left, n_left, &asked->curves[c], err));
        cellar_free(left);
        left = NULL;
    }
out:
    cellar_free(left);
    return status;
}

/* The bound of the chosen set once more, to tell the theorem; its redactions are handed over. */
static cellar_status choice_fill(question *asked, uint64_t mask, size_t n_columns, choice *chosen,
                                 cellar_error *err)
{
    const cellar_exposure_curve *of_set[CELLAR_MAX_VARIABLES];
    cellar_exposure_bound bounds[2];
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < n_columns; c++)
        if (mask >> c & 1) {
            of_set[chosen->n_columns] = asked->curves[c];
            chosen->redactions[chosen->n_columns] = asked->redactions[c];
            asked->redactions[c] = (redaction){0};
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

static cellar_status choice_search(question *asked, const cellar_invitation *invitation,
                                   choice *chosen, cellar_error *err)
{
    cellar_selection_options options = cellar_selection_options_default();
    cellar_selection *selection = NULL;
    const int is_modelled = invitation->terms.model.kind == CELLAR_COLLECT_INDEPENDENCE;
    cellar_status status = CELLAR_OK;

    options.measure = is_modelled ? CELLAR_SELECTION_INDEPENDENT : CELLAR_SELECTION_BOUNDED;
    options.tolerance = (double) invitation->terms.model.tolerance / 1e18;
    options.k =
        terms_estimate(&invitation->terms) /* the threshold, as a count of the curves' total */
            ? (uint64_t) ceil(asked->threshold * (double) cellar_exposure_total(asked->curves[0]))
            : invitation->terms.k;
    options.exposure = cellar_invitation_exposure(invitation) - asked->chance;
    CELLAR_TRY(cellar_selection_from_curves((const cellar_exposure_curve *const *) asked->curves,
                                            invitation->n_columns, &options, &selection, err));
    if (cellar_selection_n_sets(selection) > 0)
        CELLAR_TRY(choice_fill(asked, cellar_selection_set_at(selection, 0).columns,
                               invitation->n_columns, chosen, err));
    if (is_modelled && chosen->n_columns > 0) {
        chosen->worst = chosen->bound;
        chosen->bound = cellar_selection_set_at(selection, 0).exposure;
        chosen->theorem = 0;
    }
out:
    cellar_selection_free(selection);
    return status;
}

/* Shares that are rare at a step: first those that are too small for sure, then half as much again,
 * twice as much, and so on. */
static double rare_below(const question *asked, int step)
{
    return fmax(asked->threshold, 1e-9) * pow(2, 0.5 * (step - 1));
}

/* First without redactions, then with more and more; the first that allows the most columns. */
static cellar_status choice_redacted(question *asked, const cellar_invitation *invitation,
                                     choice *chosen, cellar_error *err)
{
    choice next = {0};
    cellar_status status = CELLAR_OK;

    for (int step = 0; step == 0 || rare_below(asked, step) < 1; step++) {
        double rare = step > 0 ? rare_below(asked, step) : 0;
        CELLAR_TRY(question_redact(asked, invitation, rare, err));
        CELLAR_TRY(choice_search(asked, invitation, &next, err));
        if (next.n_columns > chosen->n_columns) {
            choice_clear(chosen);
            *chosen = next;
            next = (choice){0};
        }
        choice_clear(&next);
        if (invitation->terms.hide == 0 || chosen->n_columns == invitation->n_columns)
            break;
    }
out:
    choice_clear(&next);
    return status;
}

cellar_status choice_make(const cellar_collect_margins *margins,
                          const cellar_invitation *invitation, choice *chosen, cellar_error *err)
{
    question asked = {.threshold = 0};
    cellar_status status = CELLAR_OK;

    if (terms_estimate(&invitation->terms)) {
        CELLAR_TRY(question_estimated(margins, invitation, &asked, err));
        CELLAR_TRY(choice_redacted(&asked, invitation, chosen, err));
    } else {
        CELLAR_TRY(question_fixed(margins, invitation, &asked, err));
        CELLAR_TRY(choice_search(&asked, invitation, chosen, err));
    }
out:
    question_clear(&asked);
    return status;
}

/* ---- with sets that are known ---------------------------------------------- */

/* A known set and the columns outside of it. */
typedef struct merged {
    const cellar_exposure_curve *curves[CELLAR_MAX_VARIABLES]; /* the set's is the first */
    size_t columns[CELLAR_MAX_VARIABLES];                      /* of the others */
    double weights[CELLAR_MAX_VARIABLES];
    size_t n;
} merged;

static int set_has(const column_set *set, size_t column)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->columns[i] == column)
            return 1;
    return 0;
}

static void merged_make(const question *asked, const joint *j, const cellar_exposure_curve *curve,
                        size_t n_columns, merged *out)
{
    out->n = 1;
    out->curves[0] = curve;
    out->weights[0] = (double) j->set.n;
    for (size_t c = 0; c < n_columns; c++)
        if (!set_has(&j->set, c)) {
            out->curves[out->n] = asked->curves[c];
            out->columns[out->n] = c;
            out->weights[out->n++] = 1;
        }
}

/* The chosen set of a merged search, if it is better than what there is. */
static cellar_status merged_fill(const merged *m, const joint *j, uint64_t mask, double threshold,
                                 choice *chosen, cellar_error *err)
{
    const cellar_exposure_curve *of_set[CELLAR_MAX_VARIABLES];
    cellar_exposure_bound bounds[2];
    uint64_t columns = 0;
    size_t n = 0, n_columns = 0;
    cellar_status status = CELLAR_OK;

    for (size_t i = 0; i < m->n; i++)
        if (mask >> i & 1) {
            of_set[n++] = m->curves[i];
            if (i > 0)
                columns |= UINT64_C(1) << m->columns[i];
        }
    if ((mask & 1) == 0)
        return CELLAR_OK; /* nothing that single columns do not tell */
    for (size_t i = 0; i < j->set.n; i++)
        columns |= UINT64_C(1) << j->set.columns[i];
    CELLAR_TRY(cellar_exposure_bounds(of_set, n, threshold, NULL, bounds, err));
    n_columns = n - 1 + j->set.n;
    if (n_columns < chosen->n_columns ||
        (n_columns == chosen->n_columns && bounds[0].value >= chosen->bound))
        return CELLAR_OK;
    chosen->n_columns = 0;
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        if (columns >> c & 1)
            chosen->columns[chosen->n_columns++] = c;
    chosen->bound = bounds[0].value;
    chosen->theorem = n == 1 ? 1 : bounds[0].theorem;
out:
    return status;
}

static cellar_status merged_search(const question *asked, const joint *j,
                                   const cellar_invitation *invitation, choice *chosen,
                                   cellar_error *err)
{
    cellar_selection_options options = cellar_selection_options_default();
    cellar_exposure_curve *curve = NULL;
    cellar_selection *selection = NULL;
    merged m;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(joint_curve(j, invitation, &curve, err));
    merged_make(asked, j, curve, invitation->n_columns, &m);
    options.measure = CELLAR_SELECTION_BOUNDED;
    options.k = invitation->terms.k;
    options.exposure = cellar_invitation_exposure(invitation);
    options.weights = m.weights;
    CELLAR_TRY(cellar_selection_from_curves(m.curves, m.n, &options, &selection, err));
    if (cellar_selection_n_sets(selection) > 0)
        CELLAR_TRY(merged_fill(&m, j, cellar_selection_set_at(selection, 0).columns,
                               asked->threshold, chosen, err));
out:
    cellar_exposure_curve_free(curve);
    cellar_selection_free(selection);
    return status;
}

cellar_status choice_refine(const cellar_collect_margins *margins,
                            const cellar_collect_joints *joints,
                            const cellar_invitation *invitation, choice *chosen, cellar_error *err)
{
    question asked = {.threshold = 0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(question_fixed(margins, invitation, &asked, err));
    for (size_t i = 0; i < joints->n; i++)
        CELLAR_TRY(merged_search(&asked, &joints->joints[i], invitation, chosen, err));
out:
    question_clear(&asked);
    return status;
}
