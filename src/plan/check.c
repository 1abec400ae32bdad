/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "privacy/certificate.h"
#include "release/guarantee/level.h"
#include "table/schema/schema.h"

cellar_status cellar_plan_say(plan_figures *figures, plan_sentences *list, cellar_error *err,
                              const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!cellar_grow(&list->items, &list->capacity, list->n + 1, sizeof *list->items))
        return cellar_fail_memory(err, "a plan");
    list->items[list->n] = cellar_arena_copy(figures->arena, text, strlen(text));
    if (list->items[list->n] == NULL)
        return cellar_fail_memory(err, "a plan");
    list->n++;
    return CELLAR_OK;
}

/* ---- what may not be -------------------------------------------------------------------- */

/* A categorisation that one person can change is never covered. */
static cellar_status check_domains(plan_figures *figures, cellar_error *err)
{
    const plan_work *work = &figures->work;
    for (size_t t = 0; t < work->n; t++) {
        const cellar_schema *schema = cellar_table_schema(work->pieces[t].counts);
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
            cellar_status status = CELLAR_OK;
            if (cellar_schema_domain(schema, v) == CELLAR_DOMAIN_OBSERVED)
                status = cellar_plan_say(
                    figures, &figures->refusals, err,
                    cellar_schema_reviewer(schema, v) != NULL
                        ? "table %s: the code list of '%s' was drafted from the data and nobody "
                          "has reviewed it; review the code list and write a name after "
                          "reviewed-by: in its first line, or assert with domain_public that the "
                          "categories are public"
                        : "table %s: the categories of '%s' were read off the data, where one "
                          "person can create a category; give the variable a codelist, or assert "
                          "with domain_public that the categories are public",
                    work->pieces[t].table->name, cellar_schema_variable(schema, v));
            if (status != CELLAR_OK)
                return status;
        }
    }
    return CELLAR_OK;
}

static cellar_status check_weights(plan_figures *figures, cellar_error *err)
{
    const cellar_plan *plan = figures->work.plan;
    if (plan->data.weight == NULL || plan->data.max_weight > 0)
        return CELLAR_OK;
    return cellar_plan_say(figures, &figures->refusals, err,
                           "the data are weighted without a bound: one record may change a cell by "
                           "any amount; give data.max_weight");
}

/* A total that is off by more than its noise misleads whoever trusts the noise. */
static cellar_status check_bias(plan_figures *figures, cellar_error *err)
{
    int accepted = cellar_plan_has_text(&figures->work.plan->accept, "bias");
    int for_empty = !figures->told.is_confidential; /* who knows what true counts do to it */
    for (size_t t = 0; t < figures->told.n_tables; t++) {
        const cellar_plan_table *table = &figures->told.tables[t];
        for (size_t i = 0; i < table->n_cells_groups; i++) {
            const cellar_plan_cells *cells = &table->cells[i];
            cellar_status status;
            if (!cells->is_biased || cells->is_summed)
                continue;
            status = cellar_plan_say(
                figures, accepted || for_empty ? &figures->remarks : &figures->refusals, err,
                "table %s, %s: the bias of a published total exceeds its standard deviation%s",
                table->name, cells->margin,
                for_empty  ? " when all cells are empty"
                : accepted ? "; the plan accepts it"
                           : "; keep negatives, release the total itself, or accept: [bias]");
            if (status != CELLAR_OK)
                return status;
            break; /* one sentence a table */
        }
    }
    return CELLAR_OK;
}

/* All tables together, however well each of them protects. */
static cellar_status check_level(plan_figures *figures, cellar_error *err)
{
    const plan_work *work = &figures->work;
    json_t *certificate = cellar_certificate_json(work->certificate);
    cellar_error why;
    cellar_status status = CELLAR_OK;
    if (certificate == NULL)
        return cellar_fail_memory(err, "a certificate");
    for (size_t t = 0; t < work->n; t++) {
        cellar_protection_level level;
        CELLAR_TRY(
            cellar_level_of(certificate, work->pieces[t].mechanism, work->max_weight, &level, err));
        if (level <= figures->level)
            continue;
        figures->level = level;
        if (cellar_level_pass(level, cellar_mechanism_spec(work->pieces[t].mechanism),
                              cellar_plan_accepts(work->plan), &why) != CELLAR_OK)
            CELLAR_TRY(cellar_plan_say(figures, &figures->refusals, err, "%s", why.message));
    }
out:
    json_decref(certificate);
    return status;
}

/* ---- what should be known ------------------------------------------------------------------ */

/* 1 when both tables release the same margin: the same variables without anything below. */
static int same_margin(const plan_table *a, uint64_t mask_a, const plan_table *b, uint64_t mask_b)
{
    size_t n_a = 0, n_b = 0;
    for (size_t k = 0; k < a->n_variables; k++)
        n_a += mask_a >> k & 1;
    for (size_t k = 0; k < b->n_variables; k++)
        n_b += mask_b >> k & 1;
    if (n_a != n_b)
        return 0;
    for (size_t k = 0; k < a->n_variables; k++) {
        size_t j = 0;
        if (!(mask_a >> k & 1))
            continue;
        while (j < b->n_variables && !(mask_b >> j & 1 && b->variables[j] == a->variables[k]))
            j++;
        if (j == b->n_variables)
            return 0;
    }
    return 1;
}

static cellar_status remark_repeated(plan_figures *figures, size_t t, size_t u, cellar_error *err)
{
    const plan_work *work = &figures->work;
    const cellar_schema *a = cellar_table_schema(work->pieces[t].counts);
    const cellar_schema *b = cellar_table_schema(work->pieces[u].counts);
    for (size_t m = 0; m < a->n_margins; m++)
        for (size_t k = 0; k < b->n_margins; k++) {
            cellar_text name = {0};
            cellar_status status;
            if (!same_margin(work->pieces[t].table, a->margins[m], work->pieces[u].table,
                             b->margins[k]))
                continue;
            cellar_plan_add_margin(&name, work->plan, work->pieces[t].table, a->margins[m]);
            status = name.failed ? cellar_fail_memory(err, "a plan")
                                 : cellar_plan_say(figures, &figures->remarks, err,
                                                   "%s is released twice, by the tables %s and %s, "
                                                   "and paid for twice",
                                                   name.bytes, work->pieces[t].table->name,
                                                   work->pieces[u].table->name);
            cellar_text_clear(&name);
            if (status != CELLAR_OK)
                return status;
        }
    return CELLAR_OK;
}

static cellar_status check_remarks(plan_figures *figures, cellar_error *err)
{
    const cellar_plan *plan = figures->work.plan;
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; t < figures->work.n; t++)
        for (size_t u = t + 1; u < figures->work.n; u++)
            CELLAR_TRY(remark_repeated(figures, t, u, err));
    if (plan->parameter_choice == CELLAR_CHOICE_CONFIDENTIAL_DATA)
        CELLAR_TRY(cellar_plan_say(figures, &figures->remarks, err,
                                   "the parameters were chosen from the confidential data, and no "
                                   "guarantee covers that choice"));
    if (plan->unit.name != NULL && plan->unit.column == NULL)
        CELLAR_TRY(cellar_plan_say(figures, &figures->remarks, err,
                                   "the plan assumes that each %s has one record and does not "
                                   "check it; unit.column and max_records enforce it",
                                   plan->unit.name));
    if (figures->work.n > 0 && figures->work.pieces[0].suspect != '\0')
        CELLAR_TRY(cellar_plan_say(figures, &figures->remarks, err,
                                   "column '%c' of the data holds only positive whole numbers, and "
                                   "every row is counted as one record; data.count says what a row "
                                   "stands for",
                                   figures->work.pieces[0].suspect));
    if (plan->below == 2)
        CELLAR_TRY(cellar_plan_say(figures, &figures->remarks, err,
                                   "released values below %llu are suppressed; bias and errors "
                                   "here count them as 0, but readers must not take them for 0",
                                   (unsigned long long) plan->threshold));
    if (plan->data.max_weight > 0)
        CELLAR_TRY(cellar_plan_say(figures, &figures->remarks, err,
                                   "a weight above %llu counts as %llu; the bias reported here "
                                   "does not include what totals lose by that",
                                   (unsigned long long) plan->data.max_weight,
                                   (unsigned long long) plan->data.max_weight));
    if (cellar_certificate_verdict(figures->work.certificate) != CELLAR_VERDICT_HOLDS)
        CELLAR_TRY(cellar_plan_say(figures, &figures->remarks, err,
                                   "the certificate does not hold: %s",
                                   cellar_certificate_reason(figures->work.certificate)));
    for (size_t r = 0; r < plan->rules.n; r++)
        if (!cellar_plan_rule_is_covered(plan_rule_at(plan, r)))
            return cellar_plan_say(figures, &figures->remarks, err,
                                   "the custodian judges rules on true counts: that the tables "
                                   "passed is not covered by the certificate, which says so");
out:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static cellar_status figures_fill(plan_figures *figures, const cellar_plan_options *options,
                                  cellar_error *err)
{
    cellar_plan_figures *told = &figures->told;
    int without_counts = options != NULL && options->without_counts;
    cellar_plan_table *tables = cellar_arena_alloc(figures->arena, figures->work.n, sizeof *tables);
    cellar_status status = CELLAR_OK;
    if (tables == NULL)
        return cellar_fail_memory(err, "a plan");
    told->tables = tables;
    told->cells_per_record = figures->work.d;
    told->certificate = figures->work.certificate;
    told->is_confidential = !without_counts;
    for (size_t t = 0; t < figures->work.n; t++) {
        CELLAR_TRY(cellar_plan_figure_table(figures, t, &tables[t], without_counts, err));
        told->n_tables++;
        told->n_cells += tables[t].n_cells;
        told->rows += tables[t].rows;
        told->bytes += tables[t].bytes;
        told->false_positives += tables[t].false_positives;
    }
    CELLAR_TRY(check_domains(figures, err));
    CELLAR_TRY(check_weights(figures, err));
    CELLAR_TRY(check_level(figures, err));
    CELLAR_TRY(check_bias(figures, err));
    if (!without_counts)
        CELLAR_TRY(cellar_plan_judge(figures, err));
    CELLAR_TRY(check_remarks(figures, err));
    told->refusals = figures->refusals.items;
    told->n_refusals = figures->refusals.n;
    told->remarks = figures->remarks.items;
    told->n_remarks = figures->remarks.n;
out:
    return status;
}

cellar_status cellar_plan_figures_create(const cellar_plan *plan,
                                         const cellar_plan_options *options, plan_figures **out,
                                         cellar_error *err)
{
    plan_figures *figures = cellar_alloc(1, sizeof *figures);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (figures == NULL)
        return cellar_fail_memory(err, "a plan");
    figures->arena = cellar_arena_create(SIZE_MAX);
    if (figures->arena == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a plan"));
    CELLAR_TRY(cellar_plan_work_open(&figures->work, plan, options, err));
    CELLAR_TRY(figures_fill(figures, options, err));
    *out = figures;
    figures = NULL;
out:
    cellar_plan_figures_free(figures != NULL ? &figures->told : NULL);
    return status;
}

cellar_plan_options cellar_plan_options_default(void)
{
    return (cellar_plan_options){0};
}

cellar_status cellar_plan_check(const cellar_plan *plan, const cellar_plan_options *options,
                                cellar_plan_figures **out, cellar_error *err)
{
    plan_figures *figures;
    cellar_status status = cellar_plan_figures_create(plan, options, &figures, err);
    *out = figures != NULL ? &figures->told : NULL;
    return status;
}

void cellar_plan_figures_free(cellar_plan_figures *told)
{
    plan_figures *figures = (plan_figures *) told; /* its first member */
    if (figures == NULL)
        return;
    cellar_plan_work_close(&figures->work);
    cellar_free(figures->refusals.items);
    cellar_free(figures->remarks.items);
    cellar_arena_free(figures->arena);
    cellar_free(figures);
}
