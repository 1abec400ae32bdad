/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The committee's page about a plan: what it will release and nothing else, each table with its own
 * mechanism, and the certificate of all of them together. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "plan/figures.h"
#include "privacy/certificate.h"
#include "report/committee.h"
#include "report/committee_cube.h"

typedef struct plan_page {
    const plan_figures *figures;
    const cellar_plan_attack *attack;
    const cellar_committee_options *what;
    const cellar_report_options *options;
    cellar_page page;
} plan_page;

/* ---- the head ------------------------------------------------------------------------- */

static void plan_page_names(plan_page *run, const char *title, const char *const *names, size_t n)
{
    cellar_text text = {0};
    for (size_t i = 0; i < n; i++)
        cellar_text_printf(&text, "%s%s", i > 0 ? ", " : "", names[i]);
    run->page.out.failed |= text.failed;
    cellar_page_fact(&run->page, title, "%s", text.bytes != NULL ? text.bytes : "");
    cellar_text_clear(&text);
}

static void plan_page_facts(plan_page *run)
{
    const plan_work *work = &run->figures->work;
    cellar_page *page = &run->page;
    cellar_page_tag(page, "<dl>\n");
    cellar_page_fact(page, "Plan", "%s", work->plan->name);
    cellar_page_fact(page, "Unit", "%s, at most %llu record%s",
                     work->plan->unit.name != NULL ? work->plan->unit.name : "record",
                     (unsigned long long) work->per_unit, work->per_unit == 1 ? "" : "s");
    cellar_page_fact(page, "Neighbours", "%s", work->n_sides == 2 ? "substitute" : "add-remove");
    cellar_page_fact(page, "Cells one record touches", "%llu", (unsigned long long) work->d);
    plan_page_names(run, "An attacker knows", run->attack->known, run->attack->n_known);
    plan_page_names(run, "To be learnt", run->attack->sensitive, run->attack->n_sensitive);
    cellar_page_tag(page, "</dl>\n");
}

static void plan_page_tables(plan_page *run)
{
    static const char *const headings[] = {"table",
                                           "#cells",
                                           "#cells one record touches",
                                           "mechanism of each cell",
                                           "#epsilon, a part of the whole",
                                           NULL};
    const cellar_plan_figures *told = &run->figures->told;
    cellar_page_table_begin(&run->page, "What the plan releases", headings);
    for (size_t t = 0; t < told->n_tables; t++) {
        const cellar_plan_table *table = &told->tables[t];
        cellar_page_row_begin(&run->page, "%s", table->name);
        cellar_page_number(&run->page, "%llu", (unsigned long long) table->n_cells);
        cellar_page_number(&run->page, "%llu", (unsigned long long) table->cells_per_record);
        cellar_page_cell(&run->page, "%s", table->mechanism);
        cellar_page_number(&run->page, "%s", table->epsilon != NULL ? table->epsilon : "-");
        cellar_page_row_end(&run->page);
    }
    cellar_page_table_end(&run->page);
}

static void plan_page_contents(plan_page *run)
{
    cellar_page *page = &run->page;
    cellar_page_tag(page, "<nav aria-label=\"Contents\"><ul>\n");
    for (size_t t = 0; t < run->figures->work.n; t++) {
        cellar_text_printf(&page->out, "<li><a href=\"#table-%zu\">", t + 1);
        cellar_page_text(page, "%s", run->figures->work.pieces[t].table->name);
        cellar_page_tag(page, "</a></li>\n");
    }
    cellar_page_tag(page, "<li><a href=\"#delta\">Delta</a></li>\n"
                          "<li><a href=\"#certificate\">The certificate</a></li>\n"
                          "<li><a href=\"#not-covered\">What is not covered</a></li>\n"
                          "<li><a href=\"#checklist\">Checklist</a></li>\n</ul></nav>\n");
}

static void plan_page_head(plan_page *run, const json_t *certificate)
{
    const cellar_plan *plan = run->figures->work.plan;
    const cellar_plan_figures *told = &run->figures->told;
    cellar_page *page = &run->page;
    cellar_page_begin(page, run->options->title != NULL ? run->options->title
                            : plan->title != NULL       ? plan->title
                                                        : "For the release committee");
    cellar_page_remark(
        page, "lead",
        "This page shows what the plan will release, what somebody can learn from the release, "
        "what analysts lose, and what is proved about the release. Everything here was computed "
        "from true counts: the page must stay within the committee.");
    cellar_section_guarantee(page, certificate, run->figures->work.n);
    for (size_t i = 0; i < told->n_refusals; i++)
        cellar_page_remark(page, "warn", "This plan will not run: %s.", told->refusals[i]);
    plan_page_facts(run);
    plan_page_tables(run);
    if (run->figures->work.n > 1)
        cellar_page_remark(page, "warn",
                           "Risks below are those of each table by itself. Somebody who has all "
                           "tables can do more: the risks are lower bounds.");
    for (size_t i = 0; i < told->n_remarks; i++)
        cellar_page_remark(page, "small", "Note: %s.", told->remarks[i]);
    plan_page_contents(run);
}

/* ---- one table -------------------------------------------------------------------------- */

/* The attack as far as this table allows it: what of the known columns it has, and all sensitive
 * ones. Without either there is no attack, and *n_qid is 0. */
static void plan_page_attack(const plan_page *run, const cellar_schema *schema, size_t *variables,
                             size_t *n_qid, size_t *n_sensitive)
{
    const cellar_plan_attack *attack = run->attack;
    *n_qid = *n_sensitive = 0;
    for (size_t i = 0; i < attack->n_known; i++) {
        const size_t v = cellar_schema_find_variable(schema, attack->known[i]);
        if (v != CELLAR_NO_CODE)
            variables[(*n_qid)++] = v;
    }
    for (size_t i = 0; i<attack->n_sensitive && * n_qid> 0; i++) {
        const size_t v = cellar_schema_find_variable(schema, attack->sensitive[i]);
        if (v == CELLAR_NO_CODE)
            *n_qid = 0;
        else
            variables[*n_qid + (*n_sensitive)++] = v;
    }
}

static cellar_status plan_page_table(plan_page *run, size_t t, cellar_error *err)
{
    const plan_work *work = &run->figures->work;
    const plan_piece *piece = &work->pieces[t];
    const char *mechanism = cellar_mechanism_spec(piece->mechanism);
    size_t variables[2 * CELLAR_MAX_VARIABLES];
    cellar_committee_options what = *run->what;
    cellar_committee own = {.table = piece->counts,
                            .schema = cellar_table_schema(piece->counts),
                            .what = &what,
                            .options = run->options,
                            .page = run->page,
                            .is_of_plan = 1,
                            .threshold = (int64_t) work->plan->threshold};
    cellar_status status;
    what.qid = variables;
    plan_page_attack(run, own.schema, variables, &what.n_qid, &what.n_sensitive);
    what.sensitive = variables + what.n_qid;
    what.mechanisms = &mechanism;
    what.n_mechanisms = 1;
    what.negatives = (cellar_negatives) work->plan->negatives;
    snprintf(own.page.prefix, sizeof own.page.prefix, "table-%zu-", t + 1);
    if (what.n_qid == 0)
        cellar_page_paragraph(&own.page,
                              "This table does not hold both a column that the attacker knows and "
                              "a sensitive column: the attack cannot use this table.");
    if (own.threshold > 0)
        cellar_page_remark(&own.page, "warn",
                           "The plan sets values below %llu to zero. Risk and loss are computed "
                           "from the values before that step.",
                           (unsigned long long) work->plan->threshold);
    status = cellar_committee_open(&own, err);
    if (status == CELLAR_OK)
        status = cellar_committee_table(&own, 3, err);
    cellar_committee_close(&own);
    own.page.prefix[0] = '\0';
    run->page = own.page;
    return status;
}

/* ---- the whole ---------------------------------------------------------------------------- */

static cellar_status plan_page_certify(void *context, size_t i, const char *const *epsilons,
                                       size_t n, cellar_certificate **out, cellar_error *err)
{
    (void) i;
    return cellar_plan_certify_at(context, epsilons, n, out, err);
}

static cellar_status plan_page_joint(plan_page *run, const json_t *certificate, cellar_error *err)
{
    static const char *const names[] = {"the whole plan"};
    cellar_page *page = &run->page;
    cellar_status status;
    cellar_page_heading(page, 2, "delta", "Delta");
    status = cellar_committee_profiles(
        page, names, 1, cellar_committee_joint_epsilon(run->figures->work.certificate),
        plan_page_certify, (void *) &run->figures->work, err);
    if (status != CELLAR_OK)
        return status;
    cellar_page_heading(page, 2, "certificate", "The certificate");
    cellar_page_paragraph(page, "Of everything the plan releases, together.");
    cellar_section_certificate(page, certificate, 0);
    cellar_page_heading(page, 2, "not-covered", "What is not covered");
    cellar_committee_not_covered(page);
    cellar_page_heading(page, 2, "checklist", "Checklist");
    cellar_committee_checklist(page);
    return CELLAR_OK;
}

static cellar_status plan_page_write(plan_page *run, cellar_error *err)
{
    json_t *certificate = cellar_certificate_json(run->figures->work.certificate);
    cellar_status status = CELLAR_OK;
    if (certificate == NULL)
        return cellar_fail_memory(err, "a certificate");
    plan_page_head(run, certificate);
    for (size_t t = 0; t < run->figures->work.n && status == CELLAR_OK; t++) {
        const plan_table *table = run->figures->work.pieces[t].table;
        char id[32];
        snprintf(id, sizeof id, "table-%zu", t + 1);
        cellar_page_heading(&run->page, 2, id, "%s",
                            table->title != NULL ? table->title : table->name);
        status = plan_page_table(run, t, err);
    }
    if (status == CELLAR_OK)
        status = plan_page_joint(run, certificate, err);
    cellar_page_end(&run->page);
    json_decref(certificate);
    return status;
}

/* Every column that is named must be a variable of the plan. */
static cellar_status plan_page_check(const cellar_plan *plan, const char *const *names, size_t n,
                                     cellar_error *err)
{
    for (size_t i = 0; i < n; i++) {
        size_t v = 0;
        while (v < plan->variables.n && strcmp(plan_variable_at(plan, v)->name, names[i]) != 0)
            v++;
        if (v == plan->variables.n)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: has no variable '%s'", plan->name,
                               names[i]);
    }
    return CELLAR_OK;
}

cellar_status cellar_report_plan(const cellar_plan *plan, const cellar_plan_attack *attack,
                                 const cellar_committee_options *committee,
                                 const cellar_report_options *options, const char *path,
                                 cellar_error *err)
{
    const cellar_report_options plain = cellar_report_options_default();
    plan_page run = {
        .attack = attack, .what = committee, .options = options != NULL ? options : &plain};
    const cellar_output_options how = {.replace = run.options->replace};
    const cellar_plan_options counting = {.n_threads = committee->n_threads,
                                          .progress = run.options->progress};
    plan_figures *figures = NULL;
    cellar_output *output = NULL;
    cellar_status status = plan_page_check(plan, attack->known, attack->n_known, err);
    if (status == CELLAR_OK)
        status = plan_page_check(plan, attack->sensitive, attack->n_sensitive, err);
    if (status != CELLAR_OK)
        return status;
    if (plan->universe.file != NULL)
        return cellar_committee_cube(plan, attack, committee, run.options, path, err);
    run.page.charts = run.options->charts;
    run.page.replace = run.options->replace;
    run.page.confidential = 1;
    status = cellar_output_open(path, &how, &output, err);
    if (status == CELLAR_OK)
        status = cellar_plan_figures_create(plan, &counting, &figures, err);
    run.figures = figures;
    if (status == CELLAR_OK)
        status = plan_page_write(&run, err);
    status = cellar_page_finish(&run.page, output, status, err);
    cellar_plan_figures_free(figures != NULL ? &figures->told : NULL);
    return status;
}
