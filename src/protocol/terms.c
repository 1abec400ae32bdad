/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/terms.h"

#include <string.h>

#include "base/error.h"

static const uint64_t MOST_EPSILON = UINT64_C(16000000000000000000);
static const char PUBLISHED[] = "published";

/* ---- writing --------------------------------------------------------------- */

/* What may be typed, in units of 10^-18 and in words. */
typedef struct range {
    uint64_t least, most;
    const char *words;
} range;

static range part_range(void)
{
    return (range){1, LINES_ONE, "above 0 and up to 1"};
}

/* A decimal as typed; it is written in its shortest form. */
static cellar_status decimal_read(const char *name, const char *typed, range allowed, uint64_t *out,
                                  cellar_error *err)
{
    cellar_int128 units = -1;
    int exact = 0;
    if (typed == NULL || !cellar_parse_decimal(typed, strlen(typed), LINES_SCALE, &units, &exact) ||
        !exact || units < (cellar_int128) allowed.least || units > (cellar_int128) allowed.most)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "an invitation needs the %s, a decimal %s with at most 18 places, not "
                           "'%.60s'",
                           name, allowed.words, typed != NULL ? typed : "");
    *out = (uint64_t) units;
    return CELLAR_OK;
}

static cellar_status decimal_add(const char *name, const char *typed, range allowed,
                                 cellar_text *text, cellar_error *err)
{
    uint64_t units;
    cellar_status status = decimal_read(name, typed, allowed, &units, err);
    if (status == CELLAR_OK)
        lines_add_share(text, name, units);
    return status;
}

/* Without a file it is independence that the tolerance is about. */
static cellar_status model_add(const cellar_invitation_spec *spec, cellar_text *text,
                               cellar_error *err)
{
    model_terms model = {.kind = CELLAR_COLLECT_INDEPENDENCE};
    cellar_status status = CELLAR_OK;

    if (spec->tolerance == NULL && spec->model == NULL)
        return CELLAR_OK;
    CELLAR_TRY(decimal_read("tolerance", spec->tolerance,
                            (range){0, LINES_ONE - 1, "from 0 to below 1"}, &model.tolerance, err));
    if (spec->model != NULL) {
        model.kind = cellar_collect_model_kind_of(spec->model);
        model.n_people = cellar_collect_model_n_people(spec->model);
        memcpy(model.file, cellar_collect_model_id(spec->model), sizeof model.file);
    }
    terms_add_model(&model, text);
out:
    return status;
}

void terms_add_model(const model_terms *model, cellar_text *text)
{
    if (model->kind == CELLAR_COLLECT_NO_MODEL)
        return;
    lines_add(text, "model", cellar_collect_model_kind_name(model->kind));
    if (model->kind != CELLAR_COLLECT_INDEPENDENCE) {
        lines_add_hex(text, "model-file", model->file, sizeof model->file);
        lines_add_number(text, "model-people", model->n_people);
    }
    lines_add_share(text, "tolerance", model->tolerance);
}

cellar_status terms_add(const cellar_invitation_spec *spec, cellar_text *text, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    lines_add_number(text, "people", spec->n_people);
    lines_add_number(text, "k", spec->k);
    CELLAR_TRY(
        decimal_add("exposure", spec->exposure, (range){0, LINES_ONE, "from 0 to 1"}, text, err));
    lines_add(text, "setting", spec->population > 0 ? "statistical" : "fixed");
    if (spec->population > 0)
        lines_add_number(text, "population", spec->population);
    if (spec->epsilon != NULL)
        CELLAR_TRY(decimal_add("epsilon", spec->epsilon,
                               (range){1, MOST_EPSILON, "above 0 and up to 16"}, text, err));
    if (spec->is_open)
        lines_add(text, "tally", PUBLISHED);
    if (spec->hide != NULL) {
        CELLAR_TRY(decimal_add("hide", spec->hide, part_range(), text, err));
        CELLAR_TRY(decimal_add("redacted", spec->redacted, part_range(), text, err));
    }
    if (spec->order > 0) {
        lines_add_number(text, "order", spec->order);
        lines_add_number(text, "common", spec->common);
    }
    CELLAR_TRY(model_add(spec, text, err));
    if (spec->payload > 0)
        lines_add_number(text, "payload", spec->payload);
    if (spec->population > 0 || spec->epsilon != NULL || spec->hide != NULL || spec->model != NULL)
        CELLAR_TRY(decimal_add("delta", spec->delta,
                               (range){1, LINES_ONE - 1, "above 0 and below 1"}, text, err));
out:
    return status;
}

/* ---- reading --------------------------------------------------------------- */

/* "fixed", or "statistical" with a population. */
static cellar_status take_setting(cellar_lines *lines, collect_terms *terms, cellar_error *err)
{
    const char *setting;
    size_t length;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take(lines, "setting", &setting, &length, err));
    if (lines_value_is(setting, length, "fixed"))
        return CELLAR_OK;
    if (!lines_value_is(setting, length, "statistical"))
        CELLAR_TRY(lines_fail(lines, "a setting above, fixed or statistical", err));
    CELLAR_TRY(lines_take_number(lines, "population", &terms->population, err));
    if (terms->population < 2 || terms->population > UINT32_MAX)
        CELLAR_TRY(lines_fail(lines, "a population of at least 2 above", err));
out:
    return status;
}

/* How values are told in round one, and whether the tally is. Exact margins carry no guarantee, so
 * they are never published. */
static cellar_status take_response(cellar_lines *lines, collect_terms *terms, cellar_error *err)
{
    const char *word;
    size_t length;
    cellar_status status = CELLAR_OK;

    if (lines_next_is(lines, "epsilon")) {
        CELLAR_TRY(lines_take_decimal(lines, "epsilon", MOST_EPSILON, &terms->epsilon, err));
        if (terms->epsilon == 0)
            CELLAR_TRY(lines_fail(lines, "an epsilon that is not 0 above", err));
    }
    if (!lines_next_is(lines, "tally"))
        return CELLAR_OK;
    CELLAR_TRY(lines_take(lines, "tally", &word, &length, err));
    if (!lines_value_is(word, length, PUBLISHED))
        CELLAR_TRY(lines_fail(lines, "the word 'published' above", err));
    if (terms->epsilon == 0)
        CELLAR_TRY(
            lines_fail(lines, "an epsilon: a tally is published of randomised values only", err));
    terms->is_open = 1;
out:
    return status;
}

static cellar_status take_redaction(cellar_lines *lines, collect_terms *terms, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (!lines_next_is(lines, "hide"))
        return CELLAR_OK;
    CELLAR_TRY(lines_take_share(lines, "hide", &terms->hide, err));
    CELLAR_TRY(lines_take_share(lines, "redacted", &terms->redacted, err));
    if (terms->hide == 0 || terms->redacted == 0)
        CELLAR_TRY(lines_fail(lines, "shares that are not 0 above", err));
out:
    return status;
}

/* Pairs and triples are told as they are, by those who are counted. */
static cellar_status take_order(cellar_lines *lines, collect_terms *terms, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (!lines_next_is(lines, "order"))
        return CELLAR_OK;
    CELLAR_TRY(lines_take_number(lines, "order", &terms->order, err));
    CELLAR_TRY(lines_take_number(lines, "common", &terms->common, err));
    if (terms->order < 2 || terms->order > 3 || terms->common < terms->k || terms_estimate(terms))
        CELLAR_TRY(lines_fail(lines,
                              "an order of 2 or 3 above, common to at least k people, in the fixed "
                              "setting without epsilon or redactions",
                              err));
out:
    return status;
}

/* A sample or a cube is named by its hash, and by how many people it is about. */
static cellar_status take_model_file(cellar_lines *lines, model_terms *model, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(lines_take_hex(lines, "model-file", model->file, sizeof model->file, err));
    CELLAR_TRY(lines_take_number(lines, "model-people", &model->n_people, err));
    if (model->n_people == 0)
        status = lines_fail(lines, "a model of at least one person above", err);
out:
    return status;
}

/* The model is about those who were counted, and what they said as it is. */
static cellar_status take_model(cellar_lines *lines, collect_terms *terms, cellar_error *err)
{
    const char *word;
    size_t length;
    cellar_status status = CELLAR_OK;

    if (!lines_next_is(lines, "model"))
        return CELLAR_OK;
    CELLAR_TRY(lines_take(lines, "model", &word, &length, err));
    for (int kind = CELLAR_COLLECT_INDEPENDENCE; kind <= CELLAR_COLLECT_CUBE; kind++)
        if (lines_value_is(word, length,
                           cellar_collect_model_kind_name((cellar_collect_model_kind) kind)))
            terms->model.kind = (cellar_collect_model_kind) kind;
    if (terms->model.kind == CELLAR_COLLECT_NO_MODEL)
        CELLAR_TRY(lines_fail(lines, "the model 'independence', 'sample' or 'cube' above", err));
    if (terms_have_file(terms))
        CELLAR_TRY(take_model_file(lines, &terms->model, err));
    CELLAR_TRY(lines_take_share(lines, "tolerance", &terms->model.tolerance, err));
    if (terms->model.tolerance >= LINES_ONE || terms->order > 0 || terms_estimate(terms))
        CELLAR_TRY(lines_fail(lines,
                              "a tolerance below 1 above, in the fixed setting without epsilon, "
                              "redactions or order",
                              err));
out:
    return status;
}

static cellar_status take_payload(cellar_lines *lines, collect_terms *terms, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (!lines_next_is(lines, "payload"))
        return CELLAR_OK;
    CELLAR_TRY(lines_take_number(lines, "payload", &terms->payload, err));
    if (terms->payload < 1 || terms->payload > CELLAR_COLLECT_PAYLOAD_MAX)
        CELLAR_TRY(lines_fail(lines, "a payload of 1 to 1048576 bytes above", err));
out:
    return status;
}

cellar_status terms_take(cellar_lines *lines, collect_terms *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take_number(lines, "people", &out->n_people, err));
    CELLAR_TRY(lines_take_number(lines, "k", &out->k, err));
    CELLAR_TRY(lines_take_share(lines, "exposure", &out->exposure, err));
    CELLAR_TRY(take_setting(lines, out, err));
    CELLAR_TRY(take_response(lines, out, err));
    CELLAR_TRY(take_redaction(lines, out, err));
    CELLAR_TRY(take_order(lines, out, err));
    CELLAR_TRY(take_model(lines, out, err));
    CELLAR_TRY(take_payload(lines, out, err));
    if (terms_estimate(out) || terms_have_file(out)) {
        CELLAR_TRY(lines_take_share(lines, "delta", &out->delta, err));
        if (out->delta == 0 || out->delta >= LINES_ONE)
            CELLAR_TRY(lines_fail(lines, "a delta between 0 and 1 above", err));
    }
    if (out->k == 0 || out->n_people < 2 || out->n_people > UINT32_MAX)
        CELLAR_TRY(lines_fail(lines, "at least 2 people and a k of at least 1 above", err));
    if (out->k > (out->population > 0 ? out->population : out->n_people))
        CELLAR_TRY(lines_fail(lines,
                              "a k above that is not larger than the number of people: no group "
                              "could be so large",
                              err));
out:
    return status;
}
