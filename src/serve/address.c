/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/address.h"

#include <string.h>
#include <strings.h>

void serve_address_add(cellar_text *out, const char *part)
{
    static const char unreserved[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    for (; *part != '\0'; part++)
        if (strchr(unreserved, *part) != NULL)
            cellar_text_add_char(out, *part);
        else
            cellar_text_printf(out, "%%%02X", (unsigned) (unsigned char) *part);
}

void serve_codelist_add_id(cellar_text *out, const serve_dataset *dataset, const serve_level *level)
{
    cellar_text_printf(out, "%s.%s", dataset->id, level->id);
}

const serve_level *serve_codelist_find(const serve_dataset *dataset, const serve_variable *variable,
                                       const char *id)
{
    const size_t n = strlen(dataset->id);
    const serve_level *level = serve_find_level(variable, id);
    if (level == NULL && strncasecmp(id, dataset->id, n) == 0 && id[n] == '.')
        level = serve_find_level(variable, id + n + 1);
    return level;
}
