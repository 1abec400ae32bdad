/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/stated.h"

#include "base/csv_record.h"
#include "base/error.h"
#include "base/text.h"

/* Written as the file of a code list, so that there is one set of rules for both. */
cellar_status cellar_stated_codelist(const char *name, const cellar_stated_categories *stated,
                                     cellar_codelist **out, cellar_error *err)
{
    cellar_text text = {0}, column = {0}, where = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    cellar_text_printf(&where, "%s: categories of '%s'", name, stated->variable);
    cellar_text_add_string(&text, "code,role");
    for (size_t l = 0; l < stated->n_languages; l++) {
        int tagged = stated->languages[l][0] != '\0';
        cellar_text_reset(&column);
        cellar_text_printf(&column, "label%s%s", tagged ? "@" : "", stated->languages[l]);
        cellar_text_add_char(&text, ',');
        if (!column.failed)
            cellar_csv_add_field(&text, column.bytes, ',');
    }
    cellar_text_add_char(&text, '\n');
    for (size_t i = 0; i < stated->n; i++) {
        cellar_csv_add_field(&text, stated->codes[i], ',');
        cellar_text_add_string(&text, i == stated->total ? ",total" : ",");
        for (size_t l = 0; l < stated->n_languages; l++) {
            const char *label = stated->labels[l][i];
            cellar_text_add_char(&text, ',');
            if (label != NULL)
                cellar_csv_add_field(&text, label, ',');
        }
        cellar_text_add_char(&text, '\n');
    }
    if (text.failed || column.failed || where.failed)
        status = cellar_fail_memory(err, "a code list");
    else
        status = cellar_codelist_parse(where.bytes, text.bytes, text.length, out, err);
    cellar_text_clear(&where);
    cellar_text_clear(&text);
    cellar_text_clear(&column);
    return status;
}
