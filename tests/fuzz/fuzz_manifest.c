/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A manifest, a signature and a public key from anywhere: read or refused. */
#include "fuzz_file.h"

#include <cellar/manifest.h>

static const char *const names[] = {"/manifest.sha256", "/manifest.sig", "/public"};
static char folder[] = "/tmp/cellar-fuzz-XXXXXX";

static void clean_up(void)
{
    char path[64];
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", folder, names[i]);
        remove(path);
    }
    remove(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_made;
    char path[64];
    cellar_public_key key = {.id = "0123456789abcdef"};
    FILE *file;
    if (!is_made && mkdtemp(folder) != NULL)
        is_made = atexit(clean_up) == 0;
    if (!is_made || size == 0)
        return 0;
    snprintf(path, sizeof path, "%s%s", folder, names[data[0] % 3]);
    file = fopen(path, "wb");
    if (file == NULL)
        return 0;
    fwrite(data + 1, 1, size - 1, file);
    fclose(file);
    if (data[0] % 3 == 2)
        (void) (cellar_public_key_read(path, &key, NULL) == CELLAR_OK);
    else
        (void) (cellar_manifest_verify(folder, &key, NULL, NULL) == CELLAR_OK);
    (void) (cellar_manifest_check(folder, NULL, NULL) == CELLAR_OK);
    return 0;
}
