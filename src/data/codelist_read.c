/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists from files: which format one has is seen by its first bytes. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "data/codelist_build.h"
#include "data/codelist_xml.h"

static cellar_status parse(const char *path, const char *wanted, const char *bytes, size_t length,
                           cellar_codelist **out, cellar_error *err)
{
    if (cellar_codelist_is_xml(bytes, length))
        return cellar_codelist_parse_xml(path, bytes, length, wanted, out, err);
    if (wanted != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: is one code list, in which '#%.100s' has nothing to choose; "
                           "expected SDMX-ML or DDI Codebook",
                           path, wanted);
    return cellar_codelist_parse(path, bytes, length, out, err);
}

/* FILE#NAME, unless a file is called so. */
cellar_status cellar_codelist_read(const char *path, cellar_codelist **out, cellar_error *err)
{
    const char *sign = strrchr(path, '#'), *file = path;
    char *bytes = NULL;
    cellar_text named = {0};
    size_t length;
    struct stat ignored;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (sign != NULL && (sign == path || sign[1] == '\0' || stat(path, &ignored) == 0))
        sign = NULL;
    if (sign != NULL) {
        cellar_text_add(&named, path, (size_t) (sign - path));
        if (named.failed)
            return cellar_fail_memory(err, "a code list");
        file = named.bytes;
    }
    CELLAR_TRY(cellar_file_read(file, CODELIST_MAX_FILE_BYTES, &bytes, &length, err));
    CELLAR_TRY(parse(file, sign != NULL ? sign + 1 : NULL, bytes, length, out, err));
out:
    cellar_free(bytes);
    cellar_text_clear(&named);
    return status;
}
