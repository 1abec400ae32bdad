/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "serve/cuts.h"
#include "serve/guarantee.h"
#include "serve/judge.h"

enum { ANSWER_ARENA_BYTES = 1 << 26 };

void serve_answer_clear(serve_answer *answer)
{
    cellar_free(answer->values);
    cellar_arena_free(answer->arena);
    *answer = (serve_answer){0};
}

/* ---- refusals ----------------------------------------------------------------------------------
 */

static cellar_status refuse_size(const serve_question *question, serve_answer *out,
                                 cellar_error *err)
{
    char detail[120];
    snprintf(detail, sizeof detail, "An answer has at most %llu cells; ask for it in parts.",
             (unsigned long long) question->dataset->max_cells);
    out->is_refused = 1;
    out->refusal = (serve_refusal){.rule = "cells",
                                   .detail = cellar_arena_copy(out->arena, detail, strlen(detail))};
    return out->refusal.detail != NULL ? CELLAR_OK : cellar_fail_memory(err, "an answer");
}

/* ---- one part ----------------------------------------------------------------------------------
 */

/* What covers several tables: their certificates and sentences one after the other, each once. */
static cellar_status join(const char **all, const char *one, const char *between,
                          cellar_arena *arena, cellar_error *err)
{
    cellar_text text = {0};
    if (one == NULL || (*all != NULL && strstr(*all, one) != NULL))
        return CELLAR_OK;
    if (*all != NULL)
        cellar_text_printf(&text, "%s%s", *all, between);
    cellar_text_add_string(&text, one);
    *all = text.failed ? NULL : cellar_arena_copy(arena, text.bytes, text.length);
    cellar_text_clear(&text);
    return *all != NULL ? CELLAR_OK : cellar_fail_memory(err, "an answer");
}

static cellar_status cover(const serve_cut *cut, const serve_cover *found, serve_answer *out,
                           cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(join(&out->certificate_id, found->id, ",", out->arena, err));
    CELLAR_TRY(join(&out->guarantee, found->guarantee, " ", out->arena, err));
    CELLAR_TRY(join(&out->guarantee, cut->dataset->caveat, " ", out->arena, err));
    CELLAR_TRY(join(&out->origin, found->origin, " ", out->arena, err));
    out->is_immutable &= found->is_immutable;
out:
    return status;
}

/* Values and what covers them, of one release: a table may be drawn between the two questions, and
 * then answers for itself. */
static cellar_status ask_covered(const serve_cut *cut, double tail, serve_value *values,
                                 cellar_arena *arena, serve_cover *out, cellar_error *err)
{
    const serve_source *source = cut->dataset->source;
    const char *before;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(source->ops->describe(source, cut->dataset, &cut->table, arena, out, err));
    do {
        before = out->id;
        CELLAR_TRY(source->ops->ask(source, cut, tail, values, err));
        CELLAR_TRY(source->ops->describe(source, cut->dataset, &cut->table, arena, out, err));
    } while (strcmp(before, out->id) != 0);
out:
    return status;
}

static cellar_status answer_part(const serve_cuts *cuts, double tail, serve_answer *out,
                                 cellar_error *err)
{
    serve_value *values = NULL;
    serve_verdict verdict;
    serve_cover found = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(serve_judge(cuts->cut.dataset, &cuts->cut.table, out->arena, NULL, &verdict, err));
    out->is_refused = !verdict.is_allowed;
    out->refusal = verdict.refusal;
    if (out->is_refused)
        goto out;
    values = cellar_alloc(cuts->n_cells, sizeof *values);
    if (values == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    CELLAR_TRY(ask_covered(&cuts->cut, tail, values, out->arena, &found, err));
    serve_cuts_place(cuts, values, out->values);
    status = cover(&cuts->cut, &found, out, err);
out:
    cellar_free(values);
    return status;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

/* The tag depends on what is shown: headings, contents, values and what covers them. */
static cellar_status tag(serve_answer *out, cellar_error *err)
{
    const serve_question *q = out->question;
    cellar_text text = {0};
    char id[SERVE_ID_TEXT];
    int failed;
    cellar_text_printf(&text, "%s\n%s\n%zu %zu %zu\n", q->dataset->id,
                       out->certificate_id != NULL ? out->certificate_id : "", q->language,
                       q->n_stub, q->contents_at);
    for (size_t i = 0; i < q->n_sides; i++) {
        cellar_text_printf(&text, "%s\n", q->dataset->variables[q->sides[i].variable].code);
        for (size_t p = 0; p < q->sides[i].n_picks; p++)
            cellar_text_printf(&text, " %s\n %s\n", q->sides[i].picks[p].code,
                               q->sides[i].picks[p].label);
    }
    for (size_t c = 0; c < q->n_contents; c++)
        cellar_text_printf(&text, "%s\n", serve_content_code(q->contents[c]));
    for (size_t k = 0; k < out->n_values; k++)
        cellar_text_printf(&text, "%.17g %.17g %.17g %.17g %d\n", out->values[k].count,
                           out->values[k].se, out->values[k].low, out->values[k].high,
                           (int) out->values[k].status);
    if (!text.failed) {
        serve_digest(text.bytes, text.length, id);
        memcpy(out->etag, id, sizeof id);
    }
    failed = text.failed;
    cellar_text_clear(&text);
    return failed ? cellar_fail_memory(err, "an answer") : CELLAR_OK;
}

cellar_status serve_answer_question(const serve_question *question, double tail, serve_answer *out,
                                    cellar_error *err)
{
    const serve_source *source = question->dataset->source;
    serve_cuts *cuts = NULL;
    cellar_status status = CELLAR_OK;
    *out = (serve_answer){
        .question = question, .is_immutable = 1, .arena = cellar_arena_create(ANSWER_ARENA_BYTES)};
    memcpy(out->decimals, source->decimals, sizeof out->decimals);
    memcpy(out->shown_decimals, source->shown_decimals, sizeof out->shown_decimals);
    if (out->arena == NULL)
        return cellar_fail_memory(err, "an answer");
    CELLAR_TRY(serve_question_check(question, err));
    if (serve_question_n_cells(question) > question->dataset->max_cells)
        return refuse_size(question, out, err);
    out->n_values = (size_t) serve_question_n_cells(question);
    out->values = cellar_alloc(out->n_values, sizeof *out->values);
    cuts = cellar_alloc(1, sizeof *cuts);
    if (out->values == NULL || cuts == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    CELLAR_TRY(serve_cuts_begin(cuts, question, out->arena, err));
    do
        CELLAR_TRY(answer_part(cuts, tail, out, err));
    while (!out->is_refused && serve_cuts_next(cuts));
    if (!out->is_refused)
        status = tag(out, err);
out:
    cellar_free(cuts);
    return status;
}
