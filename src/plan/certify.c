/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate of a whole set of tables. A record touches d_t cells of table t, so the set is
 * each table's mechanism d_t times; tables of one mechanism are put together. */
#include "plan/work.h"

#include <string.h>

#include "base/error.h"
#include "release/guarantee/certify.h"
#include "release/guarantee/share.h"

static size_t collect_parts(const plan_work *work, cellar_certify_part *parts)
{
    size_t n = 0;
    for (size_t t = 0; t < work->n; t++) {
        const cellar_mechanism *mechanism = work->pieces[t].mechanism;
        size_t i = 0;
        while (i < n && strcmp(cellar_mechanism_spec(parts[i].mechanism),
                               cellar_mechanism_spec(mechanism)) != 0)
            i++;
        if (i == n)
            parts[n++] = (cellar_certify_part){mechanism, 0};
        parts[i].times += work->pieces[t].d;
    }
    return n;
}

cellar_protect_options cellar_plan_protect_options(const plan_work *work,
                                                   const cellar_plan_run_options *options)
{
    const cellar_plan *plan = work->plan;
    cellar_protect_options protect = cellar_protect_options_default();
    protect.negatives = (cellar_negatives) plan->negatives;
    protect.threshold = (int64_t) plan->threshold;
    protect.below = plan->below == 2 ? CELLAR_BELOW_SUPPRESS : CELLAR_BELOW_ZERO;
    protect.per_cell = 1; /* the list is accounted for as a whole */
    protect.unit = plan->unit.name;
    protect.neighbours =
        work->n_sides == 2 ? CELLAR_NEIGHBOURS_SUBSTITUTE : CELLAR_NEIGHBOURS_ADD_REMOVE;
    protect.max_per_unit = work->per_unit;
    protect.max_weight = plan->data.max_weight;
    protect.choice = (cellar_parameter_choice) plan->parameter_choice;
    protect.accept = cellar_plan_accepts(plan);
    if (options != NULL) {
        protect.n_threads = options->n_threads;
        protect.progress = options->progress;
        protect.date = options->date;
    }
    return protect;
}

/* What each table's certificate is asked, of all of them; each part counts its cells. */
static void ask(const plan_work *work, const char *delta, cellar_question *question)
{
    const cellar_protect_options protect = cellar_plan_protect_options(work, NULL);
    cellar_release_facts facts = cellar_protection_facts(&protect, 1);
    facts.unit = work->plan->unit.name;
    facts.delta = delta;
    cellar_question_init(question, &facts);
    for (size_t t = 0; t < work->n; t++)
        cellar_question_add_domains(question, cellar_table_schema(work->pieces[t].counts));
}

static cellar_status answer(const plan_work *work, const cellar_question *question,
                            cellar_certificate **out, cellar_error *err)
{
    cellar_certify_part *parts = cellar_alloc(work->n, sizeof *parts);
    cellar_status status;
    *out = NULL;
    if (parts == NULL)
        return cellar_fail_memory(err, "a certificate");
    status = cellar_certify(parts, collect_parts(work, parts), &question->options, out, err);
    cellar_free(parts);
    return status;
}

cellar_status cellar_plan_certify_at(const plan_work *work, const char *const *epsilons, size_t n,
                                     cellar_certificate **out, cellar_error *err)
{
    cellar_question question;
    ask(work, plan_delta(work->plan), &question);
    if (epsilons != NULL) {
        question.options.epsilons = epsilons;
        question.options.n_epsilons = n;
    }
    return answer(work, &question, out, err);
}

cellar_status cellar_plan_certify_delta(const plan_work *work, const char *delta,
                                        cellar_certificate **out, cellar_error *err)
{
    cellar_question question;
    ask(work, delta, &question);
    question.options.n_epsilons = 0;
    question.options.n_deltas = 1; /* the first */
    return answer(work, &question, out, err);
}

/* What was to be split must not be exceeded, whatever the mechanisms made of it. */
static cellar_status check_budget(const plan_work *work, cellar_error *err)
{
    const plan_budget *budget = &work->plan->budget;
    char total[80];
    for (size_t t = 0; t < work->n; t++) {
        const plan_piece *piece = &work->pieces[t];
        cellar_status status = cellar_share_total(piece->mechanism, 1, total, sizeof total, err);
        if (status != CELLAR_OK)
            return status;
        if (total[0] == '\0' && !plan_budget_costs_rho(budget) &&
            (budget->epsilon != NULL || piece->table->epsilon != NULL))
            return cellar_plan_fail(work->plan->name, &piece->table->place, "mechanism", err,
                                    "%s has no epsilon of its own that could be split; give the "
                                    "plan a budget of epsilon and delta, or of rho",
                                    cellar_mechanism_name(piece->mechanism));
    }
    return CELLAR_OK;
}

cellar_status cellar_plan_certify(plan_work *work, cellar_error *err)
{
    const cellar_status status = check_budget(work, err);
    return status == CELLAR_OK ? cellar_plan_certify_at(work, NULL, 0, &work->certificate, err)
                               : status;
}
