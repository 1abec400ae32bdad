/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing the columns of round two by a sample or a cube, fitted to the margins of round one. */
#include <math.h>

#include <cellar/exposure.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/choice.h"
#include "protocol/invitation.h"
#include "protocol/model.h"
#include "risk/exposure/exposure_curve.h"
#include "risk/selection/selection_search.h"

/* What a set of columns is judged by. */
typedef struct judgement {
    const cellar_collect_margins *margins;
    const cellar_invitation *invitation;
    const cellar_collect_model *model;
    cellar_exposure_curve *curves[CELLAR_MAX_VARIABLES]; /* of the margins */
    double doubt;       /* of an end of a cell's interval: -ln of the chance to lie beyond it */
    double noise_delta; /* of what the noise of a cube shows */
} judgement;

static void judgement_clear(judgement *j)
{
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        cellar_exposure_curve_free(j->curves[c]);
}

/* Both ends of every cell of every set of columns, and the total of those not seen, hold together
 * but for the chance delta; half of it is for the noise of a cube. */
static cellar_status judgement_open(judgement *j, cellar_error *err)
{
    const cellar_invitation *invitation = j->invitation;
    double delta = (double) invitation->terms.delta / 1e18, log_cells = 0;
    cellar_status status = CELLAR_OK;

    j->noise_delta = model_noise_delta(j->model, delta);
    delta -= j->noise_delta;
    for (size_t c = 0; c < invitation->n_columns; c++) {
        size_t n_codes = cellar_codelist_n_codes(invitation->codes[c]);
        log_cells += log((double) n_codes + 1);
        CELLAR_TRY(cellar_exposure_curve_from_counts(j->margins->counts[c], n_codes, n_codes,
                                                     &j->curves[c], err));
    }
    j->doubt = log(3 / delta) + log_cells;
out:
    return status;
}

/* The columns of a mask, in order. */
static model_set set_of(uint64_t mask)
{
    model_set set = {.n = 0};
    for (; mask != 0; mask &= mask - 1)
        set.columns[set.n++] = (size_t) __builtin_ctzll(mask);
    return set;
}

/* ---- do the margins contradict the model? ------------------------------------ */

/* People with values that surely nobody of the model has must be within the tolerance, as a share
 * of those it stands for: by chance it is larger by the radius with probability delta (Hoeffding
 * 1963). */
static cellar_status column_agrees(const judgement *j, size_t column, double delta,
                                   cellar_error *err)
{
    const collect_terms *terms = &j->invitation->terms;
    const model_set set = {.n = 1, .columns = {column}};
    const double n = (double) j->margins->n_people;
    const double radius = sqrt(log((double) j->invitation->n_columns / delta) / (2 * n));
    fitted_cells cells;
    uint64_t n_unknown = 0;
    int known;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(model_cells(j->model, j->invitation, &set, j->noise_delta, &cells, &known, err));
    for (size_t v = 0; known && v < cells.n_cells; v++)
        n_unknown += cells.high[v] > 0 ? 0 : j->margins->counts[column][v];
    if ((double) n_unknown > n * ((double) terms->model.tolerance / 1e18 + radius))
        status = cellar_fail(
            err, CELLAR_ERR_RULE,
            "the margins contradict the model: in column '%.200s' more people than its tolerance "
            "explains have values that nobody of the model has",
            j->invitation->names[column]);
out:
    fitted_cells_clear(&cells);
    return status;
}

/* ---- sets of columns ----------------------------------------------------------- */

static cellar_status set_fitted(const judgement *j, const model_set *set, double *value,
                                cellar_error *err)
{
    const collect_terms *terms = &j->invitation->terms;
    const cellar_exposure_model model = {j->margins->n_people, terms->k,
                                         (double) terms->model.tolerance / 1e18};
    const uint64_t *counts[CELLAR_MAX_VARIABLES];
    fitted_cells cells;
    int known;
    cellar_status status = CELLAR_OK;

    *value = 1;
    for (size_t i = 0; i < set->n; i++)
        counts[i] = j->margins->counts[set->columns[i]];
    CELLAR_TRY(model_cells(j->model, j->invitation, set, j->noise_delta, &cells, &known, err));
    if (known)
        CELLAR_TRY(cellar_exposure_fitted(&cells, counts, &model, j->doubt, value, err));
out:
    fitted_cells_clear(&cells);
    return status;
}

/* Brings what the model says of a set within what single columns show: a value of 1 becomes what
 * the theorems say, whatever the model is worth. */
static cellar_status set_within(const judgement *j, const model_set *set, double *value,
                                cellar_error *err)
{
    const cellar_exposure_curve *curves[CELLAR_MAX_VARIABLES];
    for (size_t i = 0; i < set->n; i++)
        curves[i] = j->curves[set->columns[i]];
    return cellar_exposure_within(curves, set->n,
                                  (double) j->invitation->terms.k / (double) j->margins->n_people,
                                  value, err);
}

/* A single column needs no model: how exposed its people are was counted. */
static cellar_status set_judge(void *context, uint64_t mask, double *value, cellar_error *err)
{
    const judgement *j = context;
    const model_set set = set_of(mask);
    cellar_status status = CELLAR_OK;

    *value = set.n > 0;
    if (set.n > 1)
        CELLAR_TRY(set_fitted(j, &set, value, err));
    if (set.n > 0)
        CELLAR_TRY(set_within(j, &set, value, err));
out:
    return status;
}

/* The search takes it that a column more never lowers the value. Bands may break that by a hair,
 * which costs a better set at most: what is chosen was judged itself. */
static cellar_status choice_search_sets(judgement *j, choice *chosen, cellar_error *err)
{
    double weights[CELLAR_MAX_VARIABLES];
    cellar_selection_set best = {0};
    selection_result result = {.sets = &best};
    const selection_problem problem = {.n_items = j->invitation->n_columns,
                                       .weights = weights,
                                       .limit = cellar_invitation_exposure(j->invitation),
                                       .n_wanted = 1,
                                       .max_evaluations = 100000,
                                       .value = set_judge,
                                       .context = j};
    model_set set;
    cellar_status status = CELLAR_OK;

    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++)
        weights[c] = 1;
    CELLAR_TRY(cellar_selection_search(&problem, &result, err));
    if (result.n_sets == 0 || best.columns == 0 || best.exposure > problem.limit)
        return CELLAR_OK;
    set = set_of(best.columns);
    for (size_t i = 0; i < set.n; i++)
        chosen->columns[chosen->n_columns++] = set.columns[i];
    chosen->bound = best.exposure;
    chosen->worst = 1;
    CELLAR_TRY(set_within(j, &set, &chosen->worst, err));
out:
    return status;
}

cellar_status choice_make_modelled(const cellar_collect_margins *margins,
                                   const cellar_invitation *invitation,
                                   const cellar_collect_model *model, choice *chosen,
                                   cellar_error *err)
{
    judgement j = {.margins = margins, .invitation = invitation, .model = model};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(judgement_open(&j, err));
    for (size_t c = 0; c < invitation->n_columns; c++)
        CELLAR_TRY(column_agrees(&j, c, (double) invitation->terms.delta / 1e18, err));
    CELLAR_TRY(choice_search_sets(&j, chosen, err));
out:
    judgement_clear(&j);
    return status;
}
