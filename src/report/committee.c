/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page for the release committee: computed from true counts, and confidential. */
#include "report/committee.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/mechanism.h"
#include "privacy/certificate.h"
#include "release/release.h"

cellar_committee_options cellar_committee_options_default(void)
{
    return (cellar_committee_options){
        .negatives = CELLAR_NEGATIVES_KEEP, .copies = 30, .seed = 1, .n_groups = 20};
}

/* ---- what is asked ------------------------------------------------------------------------ */

static cellar_status committee_check(const cellar_committee *run, cellar_error *err)
{
    const cellar_committee_options *what = run->what;
    const size_t n = cellar_schema_n_variables(run->schema);
    if (what->n_qid == 0 && run->is_of_plan)
        return CELLAR_OK; /* nothing is attacked */
    if (what->n_qid == 0 || what->n_sensitive == 0 || what->n_qid + what->n_sensitive > n)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "name the variables an attacker knows and those to be learnt");
    if (what->n_mechanisms == 0 || what->n_mechanisms > COMMITTEE_MAX_MECHANISMS)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "name 1 to %d mechanisms",
                           COMMITTEE_MAX_MECHANISMS);
    if (what->epsilons != NULL && what->n_epsilons < 2)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a grid has two values of epsilon at least");
    if (cellar_groups_n_records(run->groups) == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "the table has no records to assess");
    return CELLAR_OK;
}

cellar_status cellar_committee_open(cellar_committee *run, cellar_error *err)
{
    const cellar_committee_options *what = run->what;
    cellar_status status = CELLAR_OK;
    if (what->n_qid > 0 || !run->is_of_plan)
        status = cellar_groups_create(run->table, what->qid, what->n_qid, what->sensitive,
                                      what->n_sensitive, &run->groups, err);
    if (status == CELLAR_OK)
        status = committee_check(run, err);
    if (status == CELLAR_OK)
        status = cellar_committee_grid(run, err);
    for (size_t m = 0; m < what->n_mechanisms && status == CELLAR_OK; m++) {
        status = cellar_mechanism_create(what->mechanisms[m], &run->planned[m], err);
        if (status == CELLAR_OK && run->planned[m]->ops->is_joint)
            status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                 "%.80s draws cells together: the page is about mechanisms of "
                                 "single cells",
                                 what->mechanisms[m]);
    }
    return status;
}

void cellar_committee_close(cellar_committee *run)
{
    for (size_t m = 0; m < COMMITTEE_MAX_MECHANISMS; m++)
        cellar_mechanism_free(run->planned[m]);
    cellar_groups_free(run->groups);
    cellar_free(run->epsilons);
    cellar_free(run->grid);
}

/* ---- the head of the page ------------------------------------------------------------------- */

static void committee_names(cellar_committee *run, const size_t *variables, size_t n)
{
    cellar_page_tag(&run->page, "<dd>");
    for (size_t i = 0; i < n; i++)
        cellar_page_text(&run->page, "%s%s", i > 0 ? ", " : "",
                         cellar_schema_variable(run->schema, variables[i]));
    cellar_page_tag(&run->page, "</dd></div>\n");
}

static void committee_facts(cellar_committee *run)
{
    cellar_page *page = &run->page;
    const unsigned long long groups = cellar_groups_n_groups(run->groups);
    char share[24];
    cellar_page_tag(page, "<dl>\n<div><dt>An attacker knows</dt>");
    committee_names(run, run->what->qid, run->what->n_qid);
    cellar_page_tag(page, "<div><dt>To be learnt</dt>");
    committee_names(run, run->what->sensitive, run->what->n_sensitive);
    cellar_page_fact(page, "Planned", "%s", cellar_mechanism_spec(run->planned[0]));
    cellar_page_fact(page, "Records", "%llu",
                     (unsigned long long) cellar_groups_n_records(run->groups));
    cellar_page_fact(page, "Cells", "%llu",
                     (unsigned long long) cellar_schema_n_possible(run->schema));
    cellar_page_fact(page, "Cells one record touches", "%llu",
                     (unsigned long long) cellar_schema_cells_per_record(run->schema));
    cellar_page_fact(page, "Groups", "%llu", groups);
    cellar_page_fact(
        page, "Groups with one value only", "%llu (%s)",
        (unsigned long long) cellar_groups_n_homogeneous(run->groups),
        cellar_page_percent((double) cellar_groups_n_homogeneous(run->groups) / (double) groups,
                            share));
    cellar_page_fact(page, "Values below zero", "%s",
                     run->what->negatives == CELLAR_NEGATIVES_ZERO ? "set to zero" : "kept");
    cellar_page_tag(page, "</dl>\n");
}

/* The sections, by what a reader looks for. */
static const struct {
    const char *id, *title;
} committee_sections[] = {{"risk", "Risk against epsilon"},
                          {"utility", "What analysts lose"},
                          {"delta", "Delta"},
                          {"exposure", "Who stands out"},
                          {"groups", "The most exposed groups"},
                          {"noise", "The noise"},
                          {"certificate", "The certificate"},
                          {"not-covered", "What is not covered"},
                          {"checklist", "Checklist"}};
enum { COMMITTEE_N_SECTIONS = sizeof committee_sections / sizeof *committee_sections };

static void committee_contents(cellar_page *page)
{
    cellar_page_tag(page, "<nav aria-label=\"Contents\"><ul>\n");
    for (size_t i = 0; i < COMMITTEE_N_SECTIONS; i++)
        cellar_text_printf(&page->out, "<li><a href=\"#%s\">%s</a></li>\n",
                           committee_sections[i].id, committee_sections[i].title);
    cellar_page_tag(page, "</ul></nav>\n");
}

/* What is assessed, and what comes of it in short. */
static cellar_status committee_lead(cellar_committee *run, cellar_error *err)
{
    cellar_page *page = &run->page;
    cellar_status status;
    committee_facts(run);
    status = cellar_committee_summary(run, err);
    if (cellar_schema_cells_per_record(run->schema) > 1 ||
        cellar_schema_n_variables(run->schema) > run->what->n_qid + run->what->n_sensitive)
        cellar_page_remark(page, "warn",
                           "The table holds margins or further variables. If they are released, "
                           "too, an attacker can do more than what follows: risks are then lower "
                           "bounds.");
    return status;
}

static cellar_status committee_head(cellar_committee *run, cellar_error *err)
{
    cellar_page *page = &run->page;
    cellar_status status;
    cellar_page_begin(page, run->options->title != NULL ? run->options->title
                                                        : "For the release committee");
    cellar_page_remark(page, "lead",
                       "This page shows what somebody can learn from the planned release, what "
                       "analysts lose, and what is proved about the release. Everything here was "
                       "computed from true counts: the page must stay within the committee.");
    status = committee_lead(run, err);
    committee_contents(page);
    return status;
}

/* ---- the foot of the page ----------------------------------------------------------------- */

cellar_status cellar_committee_noise(cellar_committee *run, cellar_error *err)
{
    const cellar_section_noise_of noise = {"noise-planned", cellar_mechanism_spec(run->planned[0]),
                                           run->what->negatives, run->threshold, 1};
    cellar_page_paragraph(&run->page, "Of the mechanism planned, %s.", noise.mechanism);
    return cellar_section_noise(&run->page, &noise, err);
}

/* Of the release when there is one, else what one with the planned mechanism would carry. */
static cellar_status committee_certificate(cellar_committee *run, cellar_error *err)
{
    static const char *const epsilons[] = {"0.5", "1", "2"};
    cellar_certificate *certificate = NULL;
    json_t *object = NULL;
    cellar_status status;
    if (run->what->release != NULL) {
        cellar_page_paragraph(&run->page, "The certificate that the release carries.");
        cellar_page_remark(&run->page, "warn",
                           "Not verified: no signature of the release was checked.");
        cellar_section_certificate(
            &run->page, json_object_get(run->what->release->description, "certificate"), 0);
        return CELLAR_OK;
    }
    status = cellar_committee_certify(run, run->planned[0], epsilons, 3, &certificate, err);
    if (status != CELLAR_OK && cellar_page_is_answer(status)) {
        cellar_page_remark(&run->page, "warn", "There is no certificate: %s.",
                           err != NULL ? err->message : "it was refused");
        return CELLAR_OK;
    }
    if (status == CELLAR_OK) {
        object = cellar_certificate_json(certificate);
        status = object != NULL ? CELLAR_OK : cellar_fail_memory(err, "a certificate");
    }
    if (status == CELLAR_OK) {
        cellar_page_paragraph(&run->page, "What a release with the mechanism planned would carry.");
        cellar_section_certificate(&run->page, object, 0);
    }
    json_decref(object);
    cellar_certificate_free(certificate);
    return status;
}

void cellar_committee_not_covered(cellar_page *page)
{
    cellar_section_not_covered(page);
    cellar_page_paragraph(
        page,
        "Of this page in particular: the risk is that of one attack, with one choice of known and "
        "sensitive columns. Parameters that are chosen because of this page depend on the "
        "confidential data, and no certificate covers that choice; record the choice.");
}

void cellar_committee_checklist(cellar_page *page)
{
    static const char *const items[] = {
        "The columns an attacker may know are the right ones, and none is missing.",
        "The sensitive columns are the right ones.",
        ("The categories were declared in advance, were public before, or were reviewed by "
         "somebody who answers for them."),
        "The unit is right: one person can change no more records than the certificate says.",
        "Epsilon and delta, for all that one person touches, are what our policy allows.",
        "The budget left in the ledger covers this release, and the ledger will be charged.",
        "The risk of the most exposed groups is acceptable, or categories will be merged first.",
        "What analysts lose is acceptable for the uses we know of.",
        "How the parameters were chosen is recorded, and whether this page played a part.",
        "What is not covered has been read and is accepted.",
        "The public page and the method note will go with the release.",
        "This page will be kept with the confidential records, or destroyed."};
    static const char *const headings[] = {"name", "role", "date", "signature", NULL};
    cellar_page_tag(page, "<ul class=\"check\">\n");
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        cellar_page_item(page, "%s", items[i]);
    cellar_page_tag(page, "</ul>\n<div class=\"sign\">\n");
    cellar_page_table_begin(page, "Decision: release / release with changes / do not release",
                            headings);
    for (int i = 0; i < 3; i++)
        cellar_page_tag(page, "<tr><td></td><td></td><td></td><td></td></tr>\n");
    cellar_page_table_end(page);
    cellar_page_tag(page, "</div>\n");
}

/* ---- the whole ---------------------------------------------------------------------------- */

static cellar_status committee_section(cellar_committee *run, size_t i, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    switch (i) {
    case 0:
        status = cellar_committee_risk(run, err);
        if (run->is_of_plan && strcmp(cellar_mechanism_name(run->planned[0]), "gaussian") != 0)
            return status; /* a plan is shown, not what could have been */
        return status == CELLAR_OK ? cellar_committee_surface(run, err) : status;
    case 1:
        if (run->what->release != NULL)
            status = cellar_committee_release(run, err);
        return status == CELLAR_OK ? cellar_committee_utility(run, err) : status;
    case 2:
        return cellar_committee_delta(run, err);
    case 3:
        return cellar_committee_exposure(run, err);
    case 4:
        return cellar_committee_groups(run, err);
    case 5:
        return cellar_committee_noise(run, err);
    case 6:
        return committee_certificate(run, err);
    case 7:
        cellar_committee_not_covered(&run->page);
        return CELLAR_OK;
    default:
        cellar_committee_checklist(&run->page);
        return CELLAR_OK;
    }
}

cellar_status cellar_committee_table(cellar_committee *run, int level, cellar_error *err)
{
    static const size_t own[] = {0, 1, 3, 4, 5};
    cellar_status status = run->groups != NULL ? committee_lead(run, err) : CELLAR_OK;
    for (size_t k = 0; k < sizeof own / sizeof *own && status == CELLAR_OK; k++) {
        char id[64];
        if (run->groups == NULL && own[k] != 1 && own[k] != 5)
            continue; /* sections of the attack */
        snprintf(id, sizeof id, "%s%s", run->page.prefix, committee_sections[own[k]].id);
        cellar_page_heading(&run->page, level, id, "%s", committee_sections[own[k]].title);
        status = cellar_committee_step(run, committee_sections[own[k]].id, 0.5, err);
        if (status == CELLAR_OK)
            status = committee_section(run, own[k], err);
    }
    return status;
}

static cellar_status committee_write(cellar_committee *run, cellar_error *err)
{
    static const double done[COMMITTEE_N_SECTIONS] = {0, 0.3, 0.7, 0.8, 0.85, 0.9, 0.95, 1, 1};
    cellar_status status = committee_head(run, err);
    for (size_t i = 0; i < COMMITTEE_N_SECTIONS && status == CELLAR_OK; i++) {
        status = cellar_committee_step(run, committee_sections[i].id, done[i], err);
        cellar_page_heading(&run->page, 2, committee_sections[i].id, "%s",
                            committee_sections[i].title);
        if (status == CELLAR_OK)
            status = committee_section(run, i, err);
    }
    cellar_page_end(&run->page);
    return status;
}

cellar_status cellar_report_committee(const cellar_table *table,
                                      const cellar_committee_options *committee,
                                      const cellar_report_options *options, const char *path,
                                      cellar_error *err)
{
    const cellar_report_options plain = cellar_report_options_default();
    cellar_committee run = {.table = table,
                            .schema = cellar_table_schema(table),
                            .what = committee,
                            .options = options != NULL ? options : &plain};
    cellar_output *output = NULL;
    cellar_status status;
    run.page.charts = run.options->charts;
    run.page.replace = run.options->replace;
    run.page.confidential = 1;
    const cellar_output_options how = {.replace = run.options->replace};
    status = cellar_output_open(path, &how, &output, err);
    if (status == CELLAR_OK)
        status = cellar_committee_open(&run, err);
    if (status == CELLAR_OK)
        status = committee_write(&run, err);
    status = cellar_page_finish(&run.page, output, status, err);
    cellar_committee_close(&run);
    return status;
}
