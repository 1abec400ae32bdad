/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Cellar knows of a table, in a px file. */
#include "table/formats/px.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

static int px_hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Where the JSON begins, or NULL. */
static const char *px_find_mark(const cellar_px *px, const cellar_px_entry **entry)
{
    const char *value, *mark;
    *entry = cellar_px_find(px, CELLAR_PX_KEYWORD, "", "");
    if (*entry == NULL)
        *entry = cellar_px_find(px, "NOTE", "", "");
    if (*entry == NULL || (*entry)->n_values != 1)
        return NULL;
    value = (*entry)->values[0];
    mark = strncmp(value, CELLAR_PX_MARK, strlen(CELLAR_PX_MARK)) == 0
               ? value
               : strstr(value, "#" CELLAR_PX_MARK);
    return mark != NULL ? strchr(mark, ':') + 1 : NULL;
}

cellar_status cellar_px_extension(const cellar_source *source, const cellar_px *px, json_t **out,
                                  cellar_error *err)
{
    const cellar_px_entry *entry;
    const char *json = px_find_mark(px, &entry);
    cellar_text text = {0};
    json_error_t where;
    int failed;

    *out = NULL;
    if (json == NULL)
        return CELLAR_OK;
    for (const char *p = json; *p != '\0'; p++) {
        int escaped = *p == '%' && px_hex(p[1]) >= 0 && px_hex(p[2]) >= 0;
        cellar_text_add_char(&text, escaped ? (char) (px_hex(p[1]) * 16 + px_hex(p[2])) : *p);
        p += escaped ? 2 : 0;
    }
    if (!text.failed)
        *out = json_loadb(text.bytes != NULL ? text.bytes : "", text.length, JSON_REJECT_DUPLICATES,
                          &where);
    failed = text.failed;
    cellar_text_clear(&text);
    if (failed)
        return cellar_fail_memory(err, "a px file");
    if (json_is_object(*out))
        return CELLAR_OK;
    json_decref(*out);
    *out = NULL;
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s:%" PRIu64 ": %s: what Cellar wrote there is damaged", source->name,
                       entry->line, entry->keyword);
}
