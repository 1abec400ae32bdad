/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The method note: draft text for the metadata fields that agencies have to fill (statistical
 * disclosure policy, data treatment). It says nothing that is not public. */
#include <math.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "plan/pack.h"
#include "plan/rules.h"
#include "privacy/certificate.h"

/* Text that Markdown shall show as it is. */
static void note_text(cellar_output *output, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        cellar_output_printf(output, strchr("\\`*_[]<>|&#~", *c) != NULL ? "\\%c" : "%c", *c);
}

static void note_policy(const plan_figures *figures, cellar_output *output)
{
    const cellar_plan *plan = figures->work.plan;
    const cellar_certificate *certificate = figures->work.certificate;
    double pure = cellar_certificate_pure_epsilon(certificate);
    cellar_guarantee tight = cellar_certificate_composition(certificate).tight;
    char text[2][32];

    cellar_output_string(output, "\n## Confidentiality: policy\n\n");
    cellar_output_printf(output,
                         "These tables describe people. Before publication random noise was put on "
                         "every count, so that the tables reveal little about %s, whatever else is "
                         "known; a proven bound on what they reveal is stated below. ",
                         plan->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE
                             ? "what one unit answered"
                             : "whether any one unit is in the data");
    cellar_output_string(output, "The unit that is protected is one ");
    note_text(output, plan->unit.name != NULL ? plan->unit.name : "record");
    if (plan->unit.max_records > 1)
        cellar_output_printf(output, ", of whom at most %llu records were counted",
                             (unsigned long long) plan->unit.max_records);
    cellar_output_string(output, ".\n\n");
    if (cellar_certificate_verdict(certificate) != CELLAR_VERDICT_HOLDS)
        cellar_output_printf(output, "No guarantee is given: %s.\n",
                             cellar_certificate_reason(certificate));
    else if (isfinite(pure))
        cellar_output_printf(
            output,
            "All tables together satisfy differential privacy with epsilon %s "
            "(%s): %s one unit's data changes the probability of any outcome "
            "by a factor of at most %s.\n",
            cellar_bound_text(pure, text[0]),
            plan->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? "substitute" : "add-remove",
            plan->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? "changing" : "adding or taking away",
            cellar_bound_text(exp(pure), text[1]));
    else if (isfinite(tight.epsilon))
        cellar_output_printf(
            output,
            "All tables together satisfy differential privacy with epsilon %s "
            "and delta %s (%s).\n",
            cellar_bound_text(tight.epsilon, text[0]), cellar_bound_text(tight.delta, text[1]),
            plan->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? "substitute" : "add-remove");
    if (cellar_protection_level_stamp(figures->level) != NULL)
        cellar_output_printf(output, "**%s**\n", cellar_protection_level_stamp(figures->level));
    cellar_output_string(output,
                         "What was proved, and on which assumptions, is in `certificate.json`.\n");
}

static void note_table(const cellar_plan_table *table, const char *title, cellar_output *output)
{
    cellar_output_string(output, "- **");
    note_text(output, table->name);
    cellar_output_string(output, title != NULL ? "**, " : "**");
    note_text(output, title != NULL ? title : "");
    cellar_output_printf(output, ": %llu cell%s", (unsigned long long) table->n_cells,
                         table->n_cells == 1 ? "" : "s");
    if (table->n_structural > 0)
        cellar_output_printf(output,
                             ", %llu of them combinations that cannot occur, which stay empty",
                             (unsigned long long) table->n_structural);
    cellar_output_printf(output, "; each%s was perturbed by `%s`.\n",
                         table->n_structural > 0 ? " of the others" : "", table->mechanism);
}

static void note_weights(const plan_data *data, cellar_output *output)
{
    if (data->weight == NULL)
        return;
    cellar_output_string(output, "\nThe values are sums of weights, the column ");
    note_text(output, data->weight);
    cellar_output_printf(output,
                         ": a weight above %llu counts as %llu, and each sum was rounded to a "
                         "whole number before it was perturbed.\n",
                         (unsigned long long) data->max_weight,
                         (unsigned long long) data->max_weight);
}

/* 1 when a total of some table is released itself. */
static int note_has_margins(const plan_figures *figures)
{
    for (size_t t = 0; t < figures->told.n_tables; t++)
        if (figures->told.tables[t].cells_per_record > 1)
            return 1;
    return 0;
}

static void note_treatment(const plan_figures *figures, cellar_output *output)
{
    const cellar_plan *plan = figures->work.plan;
    uint64_t n_structural = 0;
    cellar_output_string(output, "\n## Confidentiality: data treatment\n\n");
    for (size_t t = 0; t < figures->told.n_tables; t++) {
        n_structural += figures->told.tables[t].n_structural;
        note_table(&figures->told.tables[t], plan_table_at(plan, t)->title, output);
    }
    note_weights(&plan->data, output);
    cellar_output_printf(output, "\n%s were treated like all other counts",
                         n_structural > 0 ? "All other zeros" : "Zeros");
    cellar_output_string(
        output, plan->negatives == CELLAR_NEGATIVES_KEEP
                    ? ". Negative values are published as they are: setting them to zero would "
                      "bias totals.\n"
                    : "; negative values were set to zero, which biases totals upwards.\n");
    if (plan->threshold > 1 || plan->below == 2)
        cellar_output_printf(
            output,
            plan->below == 2
                ? "Values below %llu, zeros among them, are suppressed: the released value of such "
                  "a cell is below that threshold, and its true count need not be 0.\n"
                : "Values below %llu were set to zero.\n",
            (unsigned long long) plan->threshold);
    if (plan->display.rounding > 1)
        cellar_output_printf(output,
                             "In the files for readers (`*.display.csv`) values are rounded to "
                             "multiples of %llu; the other files hold the unrounded values.\n",
                             (unsigned long long) plan->display.rounding);
    cellar_output_string(
        output, note_has_margins(figures)
                    ? "Where a total is published, use it rather than a sum; it was perturbed "
                      "separately, so parts need not add up to it. A total that a reader "
                      "adds up carries the noise of all its cells.\n"
                    : "No totals are published: a total that a reader adds up carries the "
                      "noise of all its cells.\n");
}

static cellar_status note_quality(const plan_figures *figures, cellar_output *output,
                                  cellar_error *err)
{
    cellar_output_string(output,
                         "\n## Accuracy: what the perturbation adds\n\n"
                         "| table | cells | standard deviation of a cell |\n|---|---|---|\n");
    for (size_t t = 0; t < figures->told.n_tables; t++) {
        const plan_piece *piece = &figures->work.pieces[t];
        plan_law law;
        cellar_status status =
            cellar_plan_law_init(&law, piece->mechanism, CELLAR_NEGATIVES_KEEP, 0, err);
        if (status == CELLAR_OK) {
            cellar_output_string(output, "| ");
            note_text(output, piece->table->name);
            cellar_output_printf(output, " | %llu | %.4g%s |\n",
                                 (unsigned long long) (piece->n_cells - piece->n_structural),
                                 sqrt(cellar_plan_law_at(&law, 0).variance),
                                 law.variance > 0 ? ""
                                                  : " for an empty cell, more for larger ones");
        }
        cellar_plan_law_clear(&law);
        if (status != CELLAR_OK)
            return status;
    }
    cellar_output_string(output,
                         "\nThis error comes on top of sampling and other errors. Tests and "
                         "intervals have to take the noise into account (`cellar infer`).\n");
    return CELLAR_OK;
}

static void note_rules(const cellar_plan *plan, cellar_output *output)
{
    if (plan->rules.n == 0)
        return;
    cellar_output_string(output, "\n## Disclosure rules\n\n");
    for (size_t r = 0; r < plan->rules.n; r++) {
        const plan_rule *rule = plan_rule_at(plan, r);
        cellar_text words = {0};
        cellar_plan_rule_words(rule, &words);
        cellar_output_string(output, "- ");
        note_text(output, rule->table != NULL ? rule->table : "all tables");
        cellar_output_string(output, ": ");
        if (words.failed)
            cellar_output_text(output, &words); /* a failure shows when the file is written */
        else
            note_text(output, words.bytes);
        cellar_output_printf(output, " (%s)\n",
                             !cellar_plan_rule_is_covered(rule)
                                 ? "judged by the custodian on true counts; not covered by the "
                                   "guarantee"
                             : rule->max_cells > 0 ? "depends on no count"
                                                   : "judged on the released values");
        cellar_text_clear(&words);
    }
}

cellar_status cellar_plan_pack_note(const plan_figures *figures, const char *stamp,
                                    cellar_output *output, cellar_error *err)
{
    const cellar_plan *plan = figures->work.plan;
    cellar_status status;
    static const char *const choices[] = {"were chosen in a way that is not stated",
                                          "were declared in advance",
                                          "were chosen from public data",
                                          ("were chosen from the confidential data, which the "
                                           "guarantee does not cover")};
    cellar_output_string(output, plan->title != NULL ? "# Method note: " : "# Method note");
    note_text(output, plan->title != NULL ? plan->title : "");
    cellar_output_string(output, "\n\nA draft, to be edited by the producer.\n");
    if (plan->data.edition != NULL) {
        cellar_output_string(output, "Edition of the data: ");
        note_text(output, plan->data.edition);
        cellar_output_string(output, ".\n");
    }
    note_policy(figures, output);
    note_treatment(figures, output);
    cellar_output_printf(output, "As the producer declares, the parameters %s.\n",
                         choices[plan->parameter_choice]);
    status = note_quality(figures, output, err);
    note_rules(plan, output);
    cellar_output_printf(output, "\n## Accounting\n\n%s\n",
                         stamp != NULL ? stamp : "unaccounted, not for publication");
    return status;
}
