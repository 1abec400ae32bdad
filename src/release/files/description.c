/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/description.h"

#include <string.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "privacy/certificate.h"
#include "release/guarantee/level.h"
#include "release/draw/predicate.h"

/* ---- words ----------------------------------------------------------------- */

static const char *const noise_names[] = {
    [CELLAR_NOISE_SECURE] = "secure",
    [CELLAR_NOISE_KEYED] = "keyed",
    [CELLAR_NOISE_RECORD_KEYS] = "record-keys",
    [CELLAR_NOISE_SEEDED] = "seeded",
};

const char *cellar_noise_source_name(cellar_noise_source source)
{
    return noise_names[source];
}

/* The position of a JSON string in a list of words; 0 when it is none of them. */
static int word_find(const json_t *value, const char *const *words, size_t n, size_t *position)
{
    const char *text = json_string_value(value);
    for (size_t i = 0; text != NULL && i < n; i++)
        if (strcmp(text, words[i]) == 0) {
            *position = i;
            return 1;
        }
    return 0;
}

int cellar_ledger_text_is_sound(const char *text)
{
    return strcmp(text, CELLAR_RELEASE_UNACCOUNTED) == 0 || cellar_stamp_is_sound(text);
}

/* ---- writing --------------------------------------------------------------- */

json_t *cellar_description_parameters(const cellar_mechanism *mechanism)
{
    json_t *parameters = json_object();
    for (size_t i = 0; i < cellar_mechanism_n_parameters(mechanism); i++) {
        double value = cellar_mechanism_parameter_value(mechanism, i);
        json_t *member = value == value
                             ? json_real(value)
                             : json_string(cellar_mechanism_parameter_text(mechanism, i));
        if (json_object_set_new(parameters, cellar_mechanism_parameter_name(mechanism, i),
                                member) != 0) {
            json_decref(parameters);
            return NULL;
        }
    }
    return parameters;
}

/* What only some releases have. */
static int description_add(const cellar_release_facts *facts, json_t *description)
{
    int failed = 0;
    if (facts->is_weighted)
        failed |= json_object_set_new(description, "max_weight",
                                      json_integer((json_int_t) facts->max_weight));
    if (facts->below == CELLAR_BELOW_SUPPRESS)
        failed |= json_object_set_new(description, "below", json_string("suppress"));
    if (facts->noise == CELLAR_NOISE_KEYED)
        failed |= json_object_set_new(json_object_get(description, "noise"), "scheme",
                                      json_integer(CELLAR_KEYED_SCHEME));
    return failed;
}

cellar_status cellar_description_create(const cellar_release_facts *facts, const char *name,
                                        json_t *parameters, json_t *certificate, json_t **out,
                                        cellar_error *err)
{
    json_t *description = json_pack(
        "{s:{s:s, s:s, s:I, s:o}, s:s, s:I, s:s, s:{s:s, s:I}, s:I, s:{s:s?}, s:{s:s, s:s?}, s:s, "
        "s:s, "
        "s:s, s:s, s:o}",
        "mechanism", "spec", facts->mechanism, "name", name, "revision",
        (json_int_t) facts->revision, "parameters", parameters, "negatives",
        cellar_negatives_name(facts->negatives), "threshold", (json_int_t) facts->threshold,
        "neighbours", cellar_neighbours_name(facts->neighbours), "unit", "name", facts->unit,
        "max_records", (json_int_t) facts->max_per_unit, "cells_per_record",
        (json_int_t) facts->cells_per_record, "total", "epsilon", facts->total_epsilon, "noise",
        "source", noise_names[facts->noise], "key_id", facts->key_id, "parameter_choice",
        cellar_parameter_choice_name(facts->choice), "date", facts->date, "ledger", facts->ledger,
        "protection", cellar_protection_level_name(facts->level), "certificate", certificate);
    if (description != NULL && description_add(facts, description) != 0) {
        json_decref(description);
        description = NULL;
    }
    *out = description;
    return description == NULL ? cellar_fail_memory(err, "the description of a release")
                               : CELLAR_OK;
}

/* ---- reading --------------------------------------------------------------- */

static cellar_status description_fail(const char *name, const char *member, const char *expected,
                                      cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: not the description of a release: '%s' should be %s",
                       name != NULL ? name : "release", member, expected);
}

static cellar_status description_read_number(const json_t *object, const char *member,
                                             uint64_t least, const char *name, uint64_t *out,
                                             cellar_error *err)
{
    const json_t *value = json_object_get(object, member);
    if (!json_is_integer(value) || json_integer_value(value) < (json_int_t) least)
        return description_fail(name, member, "a whole number", err);
    *out = (uint64_t) json_integer_value(value);
    return CELLAR_OK;
}

static cellar_status description_read_text(const json_t *object, const char *member,
                                           const char *name, const char **out, cellar_error *err)
{
    *out = json_string_value(json_object_get(object, member));
    return *out != NULL ? CELLAR_OK : description_fail(name, member, "a text", err);
}

static cellar_status description_read_words(const json_t *description, const char *name,
                                            cellar_release_facts *out, cellar_error *err)
{
    const json_t *noise = json_object_get(description, "noise");
    size_t position;

    if (!cellar_negatives_find(json_string_value(json_object_get(description, "negatives")),
                               &out->negatives))
        return description_fail(name, "negatives", "keep or zero", err);
    if (!word_find(json_object_get(noise, "source"), noise_names, 4, &position))
        return description_fail(name, "noise.source", "secure, keyed or record-keys", err);
    out->noise = (cellar_noise_source) position;
    if (name != NULL && out->noise == CELLAR_NOISE_SEEDED)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: is a simulation drawn from a seed, never a release", name);
    out->key_id = json_string_value(json_object_get(noise, "key_id"));
    if (!cellar_parameter_choice_find(
            json_string_value(json_object_get(description, "parameter_choice")), &out->choice))
        return description_fail(name, "parameter_choice", "how the parameters were chosen", err);
    return CELLAR_OK;
}

/* Old releases do not say it: smaller values became 0. */
static cellar_status description_read_below(const json_t *description, const char *name,
                                            cellar_release_facts *out, cellar_error *err)
{
    static const char *const words[] = {
        [CELLAR_BELOW_ZERO] = "zero", [CELLAR_BELOW_SUPPRESS] = "suppress"};
    const json_t *stated = json_object_get(description, "below");
    size_t position = CELLAR_BELOW_ZERO;

    if (stated != NULL && !word_find(stated, words, 2, &position))
        return description_fail(name, "below", "zero or suppress", err);
    out->below = (cellar_below) position;
    if (out->below == CELLAR_BELOW_SUPPRESS && out->threshold == 0)
        return description_fail(name, "threshold",
                                "a number of at least 1: values below it are suppressed", err);
    return CELLAR_OK;
}

/* Releases written before it was said in so many words have it in their certificate. */
static cellar_status description_read_neighbours(const json_t *description, const char *name,
                                                 cellar_neighbours *out, cellar_error *err)
{
    const json_t *certificate = json_object_get(description, "certificate");
    const json_t *stated = json_object_get(description, "neighbours");
    const json_t *certified = json_object_get(certificate, "neighbours");
    cellar_neighbours proved;

    *out = CELLAR_NEIGHBOURS_ADD_REMOVE;
    if (stated == NULL && certified == NULL)
        return CELLAR_OK;
    if (!cellar_neighbours_find(json_string_value(stated != NULL ? stated : certified), out))
        return description_fail(name, "neighbours", "add-remove or substitute", err);
    if (certified != NULL &&
        (!cellar_neighbours_find(json_string_value(certified), &proved) || proved != *out))
        return description_fail(name, "neighbours", "what the certificate is for", err);
    return CELLAR_OK;
}

/* Releases written before it was said have that of their certificate. */
static cellar_status description_read_level(const json_t *description, const char *name,
                                            cellar_protection_level *out, cellar_error *err)
{
    const json_t *stated = json_object_get(description, "protection");
    if (stated == NULL)
        return cellar_level_of(json_object_get(description, "certificate"), NULL, 1, out, err);
    if (cellar_level_find(json_string_value(stated), out))
        return CELLAR_OK;
    return description_fail(name, "protection", "a level of protection", err);
}

cellar_status cellar_description_read(const json_t *description, const char *name,
                                      cellar_release_facts *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const json_t *mechanism = json_object_get(description, "mechanism");
    const json_t *unit = json_object_get(description, "unit");
    const json_t *verdict = json_object_get(json_object_get(description, "certificate"), "verdict");
    uint64_t revision, threshold;

    *out = (cellar_release_facts){0};
    if (!json_is_string(verdict))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: carries no certificate, so it is not a release",
                           name != NULL ? name : "release");
    if (!cellar_verdict_find(json_string_value(verdict), &out->verdict))
        return description_fail(name, "certificate.verdict", "holds, fails or unknown", err);
    CELLAR_TRY(description_read_text(mechanism, "spec", name, &out->mechanism, err));
    CELLAR_TRY(description_read_number(mechanism, "revision", 0, name, &revision, err));
    CELLAR_TRY(description_read_number(description, "threshold", 0, name, &threshold, err));
    CELLAR_TRY(description_read_text(unit, "name", name, &out->unit, err));
    CELLAR_TRY(description_read_number(unit, "max_records", 1, name, &out->max_per_unit, err));
    CELLAR_TRY(description_read_number(description, "cells_per_record", 1, name,
                                       &out->cells_per_record, err));
    out->is_weighted = json_object_get(description, "max_weight") != NULL;
    out->max_weight = 1;
    if (out->is_weighted)
        CELLAR_TRY(
            description_read_number(description, "max_weight", 1, name, &out->max_weight, err));
    CELLAR_TRY(description_read_text(description, "date", name, &out->date, err));
    CELLAR_TRY(description_read_text(description, "ledger", name, &out->ledger, err));
    CELLAR_TRY(description_read_words(description, name, out, err));
    if (name != NULL && !cellar_ledger_text_is_sound(out->ledger) &&
        !(out->noise == CELLAR_NOISE_RECORD_KEYS && cellar_note_stamp_is_sound(out->ledger)))
        CELLAR_TRY(description_fail(
            name, "ledger", "the stamp of a charge, or '" CELLAR_RELEASE_UNACCOUNTED "'", err));
    CELLAR_TRY(description_read_neighbours(description, name, &out->neighbours, err));
    CELLAR_TRY(description_read_level(description, name, &out->level, err));
    out->total_epsilon =
        json_string_value(json_object_get(json_object_get(description, "total"), "epsilon"));
    out->revision = (uint32_t) revision;
    out->threshold = (int64_t) threshold;
    CELLAR_TRY(description_read_below(description, name, out, err));
out:
    return status;
}

void cellar_description_prune(json_t *description)
{
    static const char *const members[] = {
        "mechanism",        "negatives",  "threshold",  "below", "neighbours",       "unit",
        "cells_per_record", "max_weight", "total",      "noise", "parameter_choice", "date",
        "ledger",           "protection", "certificate"};
    const char *key;
    json_t *value;
    void *next;

    json_object_foreach_safe(description, next, key, value)
    {
        size_t i = 0, n = sizeof members / sizeof *members;
        while (i < n && strcmp(key, members[i]) != 0)
            i++;
        if (i == n)
            json_object_del(description, key);
    }
}
