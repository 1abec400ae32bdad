/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons that know the noise: two sets of cells, independence of two variables. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/inference.h>

#include "base/error.h"
#include "serve/cut_make.h"
#include "serve/judge.h"
#include "serve/v1.h"

enum { TEST_CELLS = 1000, REPLICATES = 199, TEST_SEED = 1 };

/* ---- what is asked ----------------------------------------------------------------- */

cellar_status v1_read_confidence(double value, double *out, cellar_error *err)
{
    *out = value;
    if (!(value >= 0.5 && value <= 0.9999))
        return cellar_fail(err, CELLAR_ERR_INPUT, "'confidence' is a number from 0.5 to 0.9999.");
    return CELLAR_OK;
}

static cellar_status confidence_of_body(const json_t *body, double *out, cellar_error *err)
{
    const json_t *value = json_object_get(body, "confidence");
    return v1_read_confidence(value == NULL ? 0.95 : json_number_value(value), out, err);
}

/* 1 when the table is answered; else a reply was made. */
static int is_answered(const serve_dataset *dataset, const serve_table *table,
                       const serve_call *call, serve_reply *reply, cellar_status *status,
                       cellar_error *err)
{
    serve_verdict verdict;
    *status = serve_judge(dataset, table, call->arena, NULL, &verdict, err);
    if (*status != CELLAR_OK)
        return 0;
    if (!verdict.is_allowed)
        *status = serve_reply_refusal(reply, dataset, &verdict.refusal);
    return verdict.is_allowed;
}

static cellar_status reply_unable(serve_reply *reply)
{
    return serve_reply_problem(reply, 403,
                               "The noise of this data set is not known well enough for this.");
}

/* ---- POST /v1/compare ------------------------------------------------------------------ */

static void write_finding(cellar_text *out, const char *name, const cellar_cube_finding *found)
{
    serve_json_name(out, name);
    serve_json_open(out, '{');
    v1_number(out, "estimate", found->estimate);
    v1_number(out, "se", found->se);
    v1_number(out, "low", found->low);
    v1_number(out, "high", found->high);
}

/* Two sets, what they are, and how they compare. */
typedef struct comparing {
    const serve_dataset *dataset;
    serve_cut sets[2];
    double confidence;
} comparing;

static cellar_status compare_find(const comparing *c, cellar_comparison comparison, size_t first,
                                  cellar_cube_finding *out, cellar_error *err)
{
    const serve_source *source = c->dataset->source;
    return source->ops->compare(source, &c->sets[first], comparison,
                                comparison == CELLAR_COMPARE_NONE ? NULL : &c->sets[1],
                                c->confidence, out, err);
}

static cellar_status write_comparison(const comparing *c, cellar_text *out, cellar_error *err)
{
    cellar_cube_finding one, two, difference, ratio;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(compare_find(c, CELLAR_COMPARE_NONE, 0, &one, err));
    CELLAR_TRY(compare_find(c, CELLAR_COMPARE_NONE, 1, &two, err));
    CELLAR_TRY(compare_find(c, CELLAR_COMPARE_DIFFERENCE, 0, &difference, err));
    CELLAR_TRY(compare_find(c, CELLAR_COMPARE_RATIO, 0, &ratio, err));
    serve_json_open(out, '{');
    serve_json_pair(out, "dataset", c->dataset->id);
    v1_number(out, "confidence", c->confidence);
    serve_json_pair(out, "note", SERVE_INTERVAL_NOTE);
    write_finding(out, "first", &one);
    serve_json_close(out, '}');
    write_finding(out, "second", &two);
    serve_json_close(out, '}');
    write_finding(out, "difference", &difference);
    v1_number(out, "p_value", difference.p_value);
    v1_bool(out, "noise_alone", difference.low <= 0 && difference.high >= 0);
    serve_json_close(out, '}');
    write_finding(out, "ratio", &ratio);
    v1_bool(out, "undetermined", ratio.is_undetermined);
    serve_json_close(out, '}');
    serve_json_close(out, '}');
out:
    return status;
}

cellar_status v1_compare(cellar_site *site, const serve_call *call, serve_reply *reply,
                         cellar_error *err)
{
    static const char *const members[] = {"dataset", "first", "second", "confidence", NULL};
    comparing c = {0};
    const char *id;
    json_t *body = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(v1_read_body(call, members, &body, err));
    CELLAR_TRY(v1_read_text(body, "dataset", &id, err));
    c.dataset = v1_find_dataset(site, id, reply, &status);
    if (c.dataset == NULL)
        goto out;
    CELLAR_TRY(confidence_of_body(body, &c.confidence, err));
    for (size_t i = 0; i < 2; i++) {
        CELLAR_TRY(serve_cut_of_set(c.dataset, json_object_get(body, i == 0 ? "first" : "second"),
                                    call->arena, &c.sets[i], err));
        if (!is_answered(c.dataset, &c.sets[i].table, call, reply, &status, err))
            goto out;
    }
    if (c.dataset->source->ops->compare == NULL) {
        status = reply_unable(reply);
        goto out;
    }
    CELLAR_TRY(write_comparison(&c, &reply->body, err));
    status = v1_finish(reply);
out:
    json_decref(body);
    return status;
}

/* ---- POST /v1/independence --------------------------------------------------------------- */

static void write_test(cellar_text *out, const char *name, const cellar_test *test)
{
    serve_json_name(out, name);
    serve_json_open(out, '{');
    v1_number(out, "statistic", test->statistic);
    v1_number(out, "p_value", test->p_value);
    serve_json_close(out, '}');
}

/* "a + b", each name in double quotes. */
static const char *independence_model(const cellar_noisy *noisy, cellar_arena *arena)
{
    cellar_text text = {0};
    const char *out = NULL;
    for (size_t v = 0; v < 2; v++) {
        const char *name = cellar_noisy_variable(noisy, v);
        cellar_text_add_string(&text, v > 0 ? " + " : "");
        cellar_text_add_quoted(&text, name, strlen(name));
    }
    if (!text.failed)
        out = cellar_arena_copy(arena, text.bytes, text.length);
    cellar_text_clear(&text);
    return out;
}

static cellar_status test_independence(const serve_dataset *dataset, const serve_table *table,
                                       const serve_call *call, cellar_text *out, cellar_error *err)
{
    const serve_source *source = dataset->source;
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = NULL;
    cellar_loglinear *test = NULL;
    const char *model;
    int needs_bootstrap = 0;
    cellar_test aware, naive;
    cellar_test_quality quality;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(source->ops->noisy(source, dataset, table, &needs_bootstrap, &noisy, err));
    model = independence_model(noisy, call->arena);
    if (model == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a test"));
    options.reference = needs_bootstrap ? CELLAR_REFERENCE_BOOTSTRAP : CELLAR_REFERENCE_CHI_SQUARE;
    options.n_replicates = REPLICATES;
    options.seed = TEST_SEED;
    options.n_threads = 1;
    CELLAR_TRY(cellar_loglinear_create(noisy, model, NULL, &options, &test, err));
    aware = cellar_loglinear_aware(test);
    naive = cellar_loglinear_naive(test);
    quality = cellar_loglinear_quality(test);
    v1_number(out, "df", aware.df);
    serve_json_pair(out, "reference", needs_bootstrap ? "bootstrap" : "chi-square");
    write_test(out, "aware", &aware);
    write_test(out, "naive", &naive);
    v1_bool(out, "reliable", quality.converged && (needs_bootstrap || !quality.chi_square_is_off));
out:
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
    return status;
}

cellar_status v1_independence(cellar_site *site, const serve_call *call, serve_reply *reply,
                              cellar_error *err)
{
    static const char *const members[] = {"dataset", "table", NULL};
    const serve_dataset *dataset;
    const char *id, *name;
    char canonical[SERVE_TABLE_TEXT];
    serve_table table;
    json_t *body = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(v1_read_body(call, members, &body, err));
    CELLAR_TRY(v1_read_text(body, "dataset", &id, err));
    CELLAR_TRY(v1_read_text(body, "table", &name, err));
    dataset = v1_find_dataset(site, id, reply, &status);
    if (dataset == NULL)
        goto out;
    CELLAR_TRY(serve_table_parse(dataset, name, &table, err));
    if (serve_table_n_variables(dataset, &table) != 2 ||
        serve_table_n_cells(dataset, &table) > TEST_CELLS)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "Independence is tested in tables of two variables and at most %d "
                               "cells.",
                               TEST_CELLS));
    if (!is_answered(dataset, &table, call, reply, &status, err))
        goto out;
    if (dataset->source->ops->noisy == NULL) {
        status = reply_unable(reply);
        goto out;
    }
    serve_table_text(dataset, &table, canonical);
    serve_json_open(&reply->body, '{');
    serve_json_pair(&reply->body, "dataset", dataset->id);
    serve_json_pair(&reply->body, "table", canonical);
    CELLAR_TRY(test_independence(dataset, &table, call, &reply->body, err));
    serve_json_close(&reply->body, '}');
    status = v1_finish(reply);
out:
    json_decref(body);
    return status;
}
