/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/about.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"

/* The texts, each a member of the options and of the object. */
static const struct about_text {
    const char *name;
    size_t offset;
} about_texts[] = {
    {"title", offsetof(cellar_table_write_options, title)},
    {"source", offsetof(cellar_table_write_options, source)},
    {"note", offsetof(cellar_table_write_options, note)},
    {"units", offsetof(cellar_table_write_options, units)},
    {"updated", offsetof(cellar_table_write_options, updated)},
    {"matrix", offsetof(cellar_table_write_options, matrix)},
    {"structure_id", offsetof(cellar_table_write_options, structure_id)},
};

enum { ABOUT_N_TEXTS = sizeof about_texts / sizeof *about_texts };

static const char *about_text(const cellar_table_write_options *options, size_t i)
{
    const char *text;
    memcpy(&text, (const char *) options + about_texts[i].offset, sizeof text);
    return text;
}

/* 0 stands for any digit. */
int cellar_about_is_date(const char *text)
{
    static const char *const patterns[] = {"0000-00-00", "0000-00-00T00:00", "0000-00-00T00:00Z",
                                           "0000-00-00T00:00:00", "0000-00-00T00:00:00Z"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        size_t at = 0;
        while (text[at] != '\0' && (patterns[i][at] == '0' ? text[at] >= '0' && text[at] <= '9'
                                                           : text[at] == patterns[i][at]))
            at++;
        if (text[at] == '\0' && patterns[i][at] == '\0')
            return 1;
    }
    return 0;
}

cellar_status cellar_about_check(const cellar_table_write_options *options,
                                 const cellar_schema *schema, cellar_error *err)
{
    if (options->updated != NULL && !cellar_about_is_date(options->updated))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "updated: expected a date such as 2026-11-18 or 2026-11-18T10:00, not "
                           "'%s'",
                           options->updated);
    for (size_t i = 0; i < options->n_roles; i++)
        if (cellar_schema_find_variable(schema, options->roles[i].variable) == CELLAR_NO_CODE)
            return cellar_fail(
                err, CELLAR_ERR_ARGUMENT, "role '%s' of '%s': the table has no such variable",
                cellar_role_name(options->roles[i].role), options->roles[i].variable);
    return CELLAR_OK;
}

int cellar_about_add(const cellar_table_write_options *options, json_t *extension)
{
    json_t *about = json_object(), *roles = json_object();
    int failed = about == NULL || roles == NULL;

    for (size_t i = 0; i < ABOUT_N_TEXTS; i++)
        if (about_text(options, i) != NULL)
            failed |= json_object_set_new(about, about_texts[i].name,
                                          json_string(about_text(options, i)));
    for (size_t i = 0; i < options->n_roles; i++)
        failed |= json_object_set_new(roles, options->roles[i].variable,
                                      json_string(cellar_role_name(options->roles[i].role)));
    if (json_object_size(roles) > 0)
        failed |= json_object_set(about, "roles", roles);
    if (json_object_size(about) > 0)
        failed |= json_object_set(extension, "about", about);
    json_decref(about);
    json_decref(roles);
    return !failed;
}

void cellar_about_fill(const cellar_about *about, cellar_table_write_options *options)
{
    for (size_t i = 0; i < ABOUT_N_TEXTS; i++) {
        const char *text = json_string_value(json_object_get(about->said, about_texts[i].name));
        if (about_text(options, i) == NULL)
            memcpy((char *) options + about_texts[i].offset, &text, sizeof text);
    }
    if (options->n_roles == 0) {
        options->roles = about->roles;
        options->n_roles = about->n_roles;
    }
}
