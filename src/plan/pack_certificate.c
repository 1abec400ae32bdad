/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>

#include "base/error.h"
#include "base/output.h"
#include "plan/pack.h"
#include "plan/rules.h"
#include "privacy/certificate.h"
#include "release/files/description.h"
#include "table/formats/extension.h"

/* A text, or null. */
static json_t *text_or_null(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

static json_t *tables_json(const cellar_plan_figures *told)
{
    json_t *list = json_array();
    for (size_t t = 0; t < told->n_tables; t++) {
        const cellar_plan_table *table = &told->tables[t];
        json_t *one =
            json_pack("{s:s, s:s, s:o, s:I, s:I}", "name", table->name, "mechanism",
                      table->mechanism, "epsilon", text_or_null(table->epsilon), "cells_per_record",
                      (json_int_t) table->cells_per_record, "cells", (json_int_t) table->n_cells);
        if (json_array_append_new(list, one) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *rules_json(const cellar_plan *plan)
{
    json_t *list = json_array();
    for (size_t r = 0; r < plan->rules.n; r++) {
        const plan_rule *rule = plan_rule_at(plan, r);
        cellar_text words = {0};
        json_t *one = NULL;
        cellar_plan_rule_words(rule, &words);
        if (!words.failed)
            one = json_pack("{s:s, s:s, s:b}", "rule", words.bytes, "evaluated_on",
                            rule->max_cells > 0   ? "no counts"
                            : rule->evaluate == 1 ? "true counts"
                                                  : "released counts",
                            "covered", cellar_plan_rule_is_covered(rule));
        cellar_text_clear(&words);
        if (json_array_append_new(list, one) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* What the guarantee does not speak of. */
static json_t *uncovered_json(const cellar_plan *plan)
{
    json_t *list = json_array();
    int on_truth = 0, failed = 0;
    for (size_t r = 0; r < plan->rules.n; r++)
        on_truth |= !cellar_plan_rule_is_covered(plan_rule_at(plan, r));
    if (on_truth)
        failed |= json_array_append_new(
            list, json_string("that the tables passed disclosure rules on true counts: only the "
                              "custodian can cause or see a refusal, and no guarantee covers it"));
    if (plan->negatives == CELLAR_NEGATIVES_ZERO &&
        !cellar_plan_has_text(&plan->accept, "bias")) /* check_bias() would have refused */
        failed |= json_array_append_new(
            list, json_string("that no total's bias exceeds its standard deviation, which was "
                              "judged on true counts"));
    if (plan->unit.name != NULL && plan->unit.column == NULL)
        failed |= json_array_append_new(
            list, json_string("that a unit has one record, which was not enforced"));
    if (plan->parameter_choice == CELLAR_CHOICE_CONFIDENTIAL_DATA)
        failed |= json_array_append_new(
            list, json_string("the choice of the parameters, made from the confidential data"));
    if (failed) {
        json_decref(list);
        return NULL;
    }
    return list;
}

cellar_status cellar_plan_pack_certificate(const plan_figures *figures, const char *stamp,
                                           cellar_output *output, cellar_error *err)
{
    const cellar_plan *plan = figures->work.plan;
    json_t *all = json_pack(
        "{s:o, s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "title", text_or_null(plan->title),
        "ledger", stamp != NULL ? stamp : CELLAR_RELEASE_UNACCOUNTED, "protection",
        cellar_protection_level_name(figures->level), "cells_per_record",
        (json_int_t) figures->told.cells_per_record, "cells", (json_int_t) figures->told.n_cells,
        "tables", tables_json(&figures->told), "rules", rules_json(plan), "uncovered",
        uncovered_json(plan), "certificate", cellar_certificate_json(figures->work.certificate));
    char *text =
        all != NULL ? cellar_json_text(all, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(all);
    if (text == NULL)
        return cellar_fail_memory(err, "a certificate");
    cellar_output_string(output, text);
    cellar_output_string(output, "\n");
    cellar_free(text);
    return CELLAR_OK;
}
