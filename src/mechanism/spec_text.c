/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specs as text: parameters added and taken away. The one place that knows how a spec is put
 * together from pieces; mechanism.c reads it. */
#include <stdio.h>
#include <string.h>

#include <cellar/mechanism.h>

#include "base/error.h"

static cellar_status spec_fail_size(const char *spec, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.60s: the spec is too long", spec);
}

int cellar_mechanism_spec_is(const char *spec, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(spec, name, length) == 0 && (spec[length] == ':' || spec[length] == '\0');
}

cellar_status cellar_mechanism_spec_add(const char *spec, const char *key, const char *value,
                                        char *out, size_t size, cellar_error *err)
{
    const char sign = strchr(spec, ':') == NULL ? ':' : ',';
    const int length = snprintf(out, size, "%s%c%s=%s", spec, sign, key, value);
    return length >= 0 && (size_t) length < size ? CELLAR_OK : spec_fail_size(spec, err);
}

cellar_status cellar_mechanism_spec_remove(const char *spec, const char *key, char *out,
                                           size_t size, cellar_error *err)
{
    const size_t key_length = strlen(key);
    const char *at = strchr(spec, ':');
    size_t used = at == NULL ? strlen(spec) : (size_t) (at - spec);
    char sign = ':';

    if (strlen(spec) >= size)
        return spec_fail_size(spec, err);
    memcpy(out, spec, used);
    while (at != NULL) {
        const char *item = at + 1, *end = strchr(item, ',');
        const size_t length = end == NULL ? strlen(item) : (size_t) (end - item);
        if (length <= key_length || strncmp(item, key, key_length) != 0 ||
            item[key_length] != '=') {
            out[used++] = sign;
            memcpy(out + used, item, length);
            used += length;
            sign = ',';
        }
        at = end;
    }
    out[used] = '\0';
    return CELLAR_OK;
}
