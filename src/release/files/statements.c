/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/statements.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "privacy/promise.h"

typedef struct speaker {
    cellar_sheet_listener *hear;
    void *context;
    const char *about; /* what a statement is about, among others: "Release 2, "; or "" */
    cellar_text name, text;
} speaker;

/* Says what was gathered in the text; nothing is not said. */
static void speak(speaker *s, const char *name)
{
    cellar_text_reset(&s->name);
    cellar_text_printf(&s->name, "%s%s", s->about, name);
    if (s->name.failed || s->text.failed)
        s->hear(s->context, name, NULL);
    else if (s->text.length > 0)
        s->hear(s->context, s->name.bytes, s->text.bytes);
    cellar_text_reset(&s->text);
}

static void speak_text(speaker *s, const char *name, const char *text)
{
    cellar_text_add_string(&s->text, text != NULL ? text : "");
    speak(s, name);
}

static const char *member_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- protection -------------------------------------------------------------------- */

static const char *unit_of(const json_t *source)
{
    const char *unit = member_text(json_object_get(source, "certificate"), "unit");
    return unit != NULL ? unit : "record";
}

static void speak_protection(speaker *s, const char *subject, const json_t *source)
{
    cellar_promise_add_terms(subject, json_object_get(source, "certificate"), &s->text);
    speak(s, "Protection");
}

static json_int_t max_records(const json_t *source)
{
    const json_t *records = json_object_get(json_object_get(source, "unit"), "max_records");
    if (records == NULL)
        records = json_object_get(source, "max_per_unit");
    return json_integer_value(records);
}

static void speak_unit(speaker *s, const json_t *source)
{
    const char *neighbours = member_text(source, "neighbours"), *unit = unit_of(source);
    const json_int_t most = max_records(source);
    cellar_text_add_string(&s->text, unit);
    if (most > 1)
        cellar_text_printf(&s->text, ", with at most %" PRId64 " records", (int64_t) most);
    speak(s, "Protected unit");
    if (cellar_promise_of_certificate("", json_object_get(source, "certificate")).covers == NULL)
        return;
    if (neighbours != NULL && strcmp(neighbours, "substitute") == 0)
        cellar_text_printf(&s->text, "which categories any one %s has", unit);
    else
        cellar_text_printf(
            &s->text, "whether any one %s is in the data, and so which categories it has", unit);
    speak(s, "What is hidden");
}

/* ---- how the values were made ------------------------------------------------------- */

static void speak_threshold(speaker *s, const json_t *source)
{
    const json_int_t threshold = json_integer_value(json_object_get(source, "threshold"));
    const char *negatives = member_text(source, "negatives");
    const int suppresses = member_text(source, "below") != NULL;
    if (threshold > 0)
        cellar_text_printf(&s->text, "released values below %" PRId64 " were %s",
                           (int64_t) threshold, suppresses ? "suppressed" : "set to zero");
    else if (negatives != NULL)
        cellar_text_printf(&s->text, "released values below zero were %s",
                           strcmp(negatives, "keep") == 0 ? "kept" : "set to zero");
    speak(s, "Small values");
}

static void speak_mechanism(speaker *s, const json_t *source)
{
    const json_t *mechanism = json_object_get(source, "mechanism");
    const json_t *tables = json_object_get(source, "measured_tables");
    if (json_is_object(mechanism) && member_text(mechanism, "spec") != NULL)
        cellar_text_printf(&s->text, "%s (revision %" PRId64 "), for each cell",
                           member_text(mechanism, "spec"),
                           (int64_t) json_integer_value(json_object_get(mechanism, "revision")));
    else if (json_is_integer(tables))
        cellar_text_printf(&s->text, "a cube, of which %" PRId64 " tables were measured with noise",
                           (int64_t) json_integer_value(tables));
    speak(s, "Mechanism");
    speak_threshold(s, source);
}

/* Who answers for what. */
static void speak_account(speaker *s, const json_t *source)
{
    speak_text(s, "Choice of the parameters", member_text(source, "parameter_choice"));
    speak_text(s, "Charged to the ledger", member_text(source, "ledger"));
    speak_text(s, "Date", member_text(source, "date"));
}

static void speak_certificate(speaker *s, const char *what)
{
    cellar_text_printf(&s->text,
                       "The file of the same name with .cellar.json at its end holds %s and the "
                       "digest of these values; cellar verify-release checks them.",
                       what);
    speak(s, "Certificate");
}

/* ---- releases and estimates ------------------------------------------------------------ */

static void speak_release(speaker *s, const json_t *release)
{
    speak_protection(s, "The released values of this table", release);
    speak_unit(s, release);
    speak_mechanism(s, release);
    speak_account(s, release);
    speak_certificate(s, "the certificate");
}

static void speak_one_source(speaker *s, const json_t *source)
{
    speak_protection(s, "All values that this table was computed from", source);
    speak_unit(s, source);
    speak_mechanism(s, source);
    speak_account(s, source);
}

static void speak_source(speaker *s, size_t number, const json_t *source)
{
    char about[48];
    snprintf(about, sizeof about, "Release %zu, ", number);
    s->about = about;
    speak_protection(s, "Its values", source);
    speak_mechanism(s, source);
    speak_account(s, source);
    s->about = "";
}

static void speak_sources(speaker *s, const json_t *sources)
{
    cellar_text_printf(&s->text,
                       "This table was computed from %zu releases. Each has a guarantee of its "
                       "own, which stands below; that of all of them together is not stated here.",
                       json_array_size(sources));
    speak(s, "Protection");
    speak_unit(s, json_array_get(sources, 0));
    for (size_t i = 0; i < json_array_size(sources); i++)
        speak_source(s, i + 1, json_array_get(sources, i));
}

static void speak_estimate(speaker *s, const json_t *sources, const json_t *computed)
{
    if (json_array_size(sources) == 1)
        speak_one_source(s, json_array_get(sources, 0));
    else
        speak_sources(s, sources);
    speak_text(s, "Method", member_text(computed, "method"));
    speak_text(s, "Whole numbers", member_text(computed, "whole"));
    speak_text(s, "Official values", member_text(computed, "official"));
    speak_text(s, "For analysis", member_text(computed, "for_analysis"));
    speak_text(s, "For display", member_text(computed, "for_display"));
    speak_certificate(s, "the certificates");
}

void cellar_statements(const void *description, cellar_sheet_listener *hear, void *context)
{
    const json_t *sources = json_object_get(description, "sources");
    speaker s = {.hear = hear, .context = context, .about = ""};
    if (sources != NULL)
        speak_estimate(&s, sources, json_object_get(description, "computed"));
    else
        speak_release(&s, description);
    cellar_text_clear(&s.name);
    cellar_text_clear(&s.text);
}
