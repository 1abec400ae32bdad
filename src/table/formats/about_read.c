/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file says about its table: Cellar's own object has it, files of others their own words. */
#include "table/formats/about.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "table/formats/px.h"

static int about_set(json_t *said, const char *name, const char *text)
{
    return text == NULL || text[0] == '\0' ||
           json_object_set_new(said, name, json_string(text)) == 0;
}

static int about_set_role(json_t *said, const char *variable, cellar_role role)
{
    json_t *roles = json_object_get(said, "roles");
    if (roles == NULL) {
        roles = json_object();
        if (json_object_set_new(said, "roles", roles) != 0)
            return 0;
    }
    return json_object_set_new(roles, variable, json_string(cellar_role_name(role))) == 0;
}

/* ---- Cellar's own ---------------------------------------------------------- */

static int about_own(const json_t *extension, cellar_about *out)
{
    const char *kind = json_string_value(json_object_get(extension, "kind"));
    for (cellar_sheet_kind k = CELLAR_SHEET_TABLE; kind != NULL && k <= CELLAR_SHEET_ESTIMATE; k++)
        if (strcmp(kind, cellar_sheet_kind_name(k)) == 0)
            out->kind = k;
    json_decref(out->said);
    out->said = json_deep_copy(json_object_get(extension, "about"));
    return json_object_get(extension, "about") == NULL || out->said != NULL;
}

/* ---- JSON-stat ------------------------------------------------------------- */

/* A note is a text or a list of texts. */
static int about_jsonstat_note(const json_t *note, json_t *said)
{
    cellar_text text = {0};
    size_t i;
    json_t *part;
    int done;
    if (json_is_string(note))
        return about_set(said, "note", json_string_value(note));
    json_array_foreach((json_t *) note, i, part)
    {
        if (json_is_string(part))
            cellar_text_printf(&text, "%s%s", text.length > 0 ? " " : "", json_string_value(part));
    }
    done = !text.failed && about_set(said, "note", text.length > 0 ? text.bytes : NULL);
    cellar_text_clear(&text);
    return done;
}

/* JSON-stat recommends ISO 8601; of a time with more than we keep, the minutes stay. */
static int about_jsonstat_date(const char *updated, json_t *said)
{
    char date[sizeof "2026-11-18T10:00"];
    if (updated == NULL || cellar_about_is_date(updated))
        return about_set(said, "updated", updated);
    snprintf(date, sizeof date, "%s", updated);
    return !cellar_about_is_date(date) || about_set(said, "updated", date);
}

static int about_jsonstat_roles(const json_t *roles, json_t *said)
{
    for (cellar_role role = CELLAR_ROLE_TIME; role <= CELLAR_ROLE_GEO; role++) {
        size_t i;
        json_t *name;
        json_array_foreach(json_object_get(roles, cellar_role_name(role)), i, name)
        {
            if (json_is_string(name) && !about_set_role(said, json_string_value(name), role))
                return 0;
        }
    }
    return 1;
}

static int about_jsonstat(const cellar_source *source, cellar_about *out)
{
    json_t *root = json_loadb(source->bytes, source->length, 0, NULL);
    const json_t *own = json_object_get(json_object_get(root, "extension"), "cellar");
    json_t *said = out->said;
    int done =
        own != NULL
            ? about_own(own, out)
            : about_set(said, "title", json_string_value(json_object_get(root, "label"))) &&
                  about_set(said, "source", json_string_value(json_object_get(root, "source"))) &&
                  about_jsonstat_date(json_string_value(json_object_get(root, "updated")), said) &&
                  about_jsonstat_note(json_object_get(root, "note"), said) &&
                  about_jsonstat_roles(json_object_get(root, "role"), said);
    json_decref(root);
    return done;
}

/* ---- px -------------------------------------------------------------------- */

/* 20261118 10:00 as 2026-11-18T10:00; other forms are left out. */
static int about_px_date(const cellar_px *px, json_t *said)
{
    const char *updated = cellar_px_value(px, "LAST-UPDATED", "");
    char date[sizeof "2026-11-18T10:00"];
    if (updated == NULL)
        updated = cellar_px_value(px, "CREATION-DATE", "");
    if (updated == NULL || strlen(updated) != strlen("20261118 10:00") ||
        strspn(updated, "0123456789") != 8)
        return 1;
    snprintf(date, sizeof date, "%.4s-%.2s-%.2sT%.5s", updated, updated + 4, updated + 6,
             updated + 9);
    return about_set(said, "updated", date);
}

static int about_px_foreign(const cellar_px *px, json_t *said)
{
    static const char *const pairs[][2] = {{"TITLE", "title"},
                                           {"SOURCE", "source"},
                                           {"NOTE", "note"},
                                           {"UNITS", "units"},
                                           {"MATRIX", "matrix"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (!about_set(said, pairs[i][1], cellar_px_value(px, pairs[i][0], "")))
            return 0;
    for (size_t i = 0; i < px->n_entries; i++) {
        const cellar_px_entry *entry = &px->entries[i];
        if (strcmp(entry->keyword, "VARIABLE-TYPE") != 0 || entry->language[0] != '\0' ||
            entry->n_values != 1)
            continue;
        const int time = strcasecmp(entry->values[0], "Time") == 0;
        if ((time || strcasecmp(entry->values[0], "Geographical") == 0) &&
            !about_set_role(said, entry->key, time ? CELLAR_ROLE_TIME : CELLAR_ROLE_GEO))
            return 0;
    }
    return about_px_date(px, said);
}

static cellar_status about_px(const cellar_source *source, cellar_about *out, cellar_error *err)
{
    cellar_px px;
    json_t *own = NULL;
    cellar_status status = cellar_px_parse(source, &px, err);
    if (status == CELLAR_OK)
        status = cellar_px_extension(source, &px, &own, err);
    if (status == CELLAR_OK &&
        !(own != NULL ? about_own(own, out) : about_px_foreign(&px, out->said)))
        status = cellar_fail_memory(err, "a description of the table");
    json_decref(own);
    cellar_px_clear(&px);
    return status;
}

/* ---- all ------------------------------------------------------------------- */

static void about_list_roles(cellar_about *about)
{
    const char *variable;
    json_t *role;
    json_object_foreach(json_object_get(about->said, "roles"), variable, role)
    {
        const char *name = json_string_value(role);
        for (cellar_role r = CELLAR_ROLE_TIME; name != NULL && r <= CELLAR_ROLE_GEO; r++)
            if (strcmp(name, cellar_role_name(r)) == 0 && about->n_roles < CELLAR_MAX_VARIABLES)
                about->roles[about->n_roles++] = (cellar_variable_role){variable, r};
    }
}

/* What cannot be parsed is left to the reader of the format, which has the better message. */
cellar_status cellar_about_read(const cellar_source *source, const char *beside, size_t length,
                                cellar_about *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int done = 1;

    *out = (cellar_about){.kind = CELLAR_SHEET_TABLE, .said = json_object()};
    if (out->said == NULL)
        return cellar_fail_memory(err, "a description of the table");
    if (source->options->format == CELLAR_TABLE_PX)
        status = about_px(source, out, err);
    else if (source->options->format == CELLAR_TABLE_JSONSTAT)
        done = about_jsonstat(source, out);
    else if (beside != NULL) {
        json_t *own = json_loadb(beside, length, JSON_REJECT_DUPLICATES, NULL);
        done = about_own(own, out);
        json_decref(own);
    }
    if (status == CELLAR_OK && !done)
        status = cellar_fail_memory(err, "a description of the table");
    if (status == CELLAR_OK)
        about_list_roles(out);
    return status;
}

void cellar_about_clear(cellar_about *about)
{
    json_decref(about->said);
    *about = (cellar_about){0};
}
