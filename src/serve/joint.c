/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "serve/guarantee.h"
#include "serve/releases.h"

enum { CERTIFICATE_BYTES_MAX = 1 << 24 };

cellar_status serve_joint_read(const char *folder, cellar_arena *arena, const char **out,
                               cellar_promise *promise, cellar_error *err)
{
    cellar_text path = {0}, words = {0};
    char *bytes = NULL;
    size_t length;
    json_t *pack = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    cellar_text_printf(&path, "%s/" SERVE_JOINT_FILE, folder);
    if (path.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a folder of releases"));
    if (access(path.bytes, F_OK) != 0)
        goto out;
    CELLAR_TRY(cellar_file_read_plain(path.bytes, CERTIFICATE_BYTES_MAX, &bytes, &length, err));
    pack = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(json_object_get(pack, "certificate")))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: expected the certificate of a pack",
                               path.bytes));
    cellar_promise_add("All tables of this pack together", json_object_get(pack, "certificate"),
                       &words);
    *promise = cellar_promise_of_certificate("pack", json_object_get(pack, "certificate"));
    if (!words.failed)
        *out = cellar_arena_copy(arena, words.bytes, words.length);
    if (*out == NULL)
        status = cellar_fail_memory(err, "a folder of releases");
out:
    json_decref(pack);
    cellar_free(bytes);
    cellar_text_clear(&path);
    cellar_text_clear(&words);
    return status;
}
