/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page for the public in a release pack. */
#include <cellar/report.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static char *joined(const char *first, const char *second)
{
    const size_t size = strlen(first) + strlen(second) + 1;
    char *text = cellar_alloc(size, 1);
    if (text != NULL)
        snprintf(text, size, "%s%s", first, second);
    return text;
}

static void names_free(char **names, size_t n)
{
    for (size_t t = 0; names != NULL && t < n; t++)
        cellar_free(names[t]);
    cellar_free(names);
}

/* The names of the tables' files, as a reader of the page would type them; NULL when memory ends.
 */
static char **file_names(const cellar_plan_pack *pack)
{
    char **names = cellar_alloc(pack->n, sizeof *names);
    for (size_t t = 0; names != NULL && t < pack->n; t++) {
        names[t] = joined(pack->names[t], pack->ending);
        if (names[t] == NULL) {
            names_free(names, t);
            return NULL;
        }
    }
    return names;
}

cellar_status cellar_report_pack(void *context, const char *folder, const cellar_plan_pack *pack,
                                 cellar_error *err)
{
    cellar_report_options options = cellar_report_options_default();
    char *path = joined(folder, "/index.html"), **names = file_names(pack);
    cellar_status status;
    (void) context;
    if (path == NULL || names == NULL)
        status = cellar_fail_memory(err, "the page of a release pack");
    else {
        options.title = cellar_plan_title(pack->plan);
        options.names = (const char *const *) names;
        options.titles = pack->titles;
        options.together = pack->certificate;
        options.level = pack->level;
        status = cellar_report_public(pack->releases, pack->n, &options, path, err);
    }
    names_free(names, pack->n);
    cellar_free(path);
    return status;
}
