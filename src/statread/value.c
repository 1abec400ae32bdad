/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of SPSS, Stata and SAS files as text. */
#include "statread/parse.h"

#include <string.h>

#include "base/error.h"
#include "data/encoding.h"

cellar_status cellar_statfile_text(const cellar_statfile_run *run, const char *text, size_t length,
                                   const char *what, cellar_text *out)
{
    int ok;

    while (length > 0 && text[length - 1] == ' ')
        length--;
    cellar_text_reset(out);
    ok = length == 0 || cellar_encoding_to_utf8(CELLAR_ENCODING_UTF8, text, length, out);
    if (!ok && !run->encoding_known)
        ok = cellar_encoding_to_utf8(CELLAR_ENCODING_WINDOWS1252, text, length, out);
    if (!ok)
        return cellar_fail(run->err, CELLAR_ERR_INPUT,
                           "%s: text that is not in the encoding the file declares", what);
    if (out->failed)
        return cellar_fail_memory(run->err, "the file");
    return CELLAR_OK;
}

cellar_status cellar_statfile_value_text(const cellar_statfile_run *run, readstat_value_t value,
                                         const char *what, cellar_text *out)
{
    if (readstat_value_type_class(value) == READSTAT_TYPE_CLASS_STRING) {
        const char *text = value.v.string_value != NULL ? value.v.string_value : "";
        return cellar_statfile_text(run, text, strlen(text), what, out);
    }
    cellar_text_reset(out);
    cellar_text_add_number(out, readstat_double_value(value),
                           readstat_value_type(value) == READSTAT_TYPE_FLOAT);
    if (out->failed)
        return cellar_fail_memory(run->err, "the file");
    return CELLAR_OK;
}
