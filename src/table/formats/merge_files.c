/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partial tables are read side by side: that takes longer than adding them up. */
#include <sys/stat.h>

#include <cellar/table_file.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "table/table.h"

typedef struct part {
    cellar_table *table;
    cellar_status status;
    cellar_error error;
} part;

typedef struct reading {
    const char *const *paths;
    const cellar_table_read_options *options;
    part *parts;
} reading;

/* People would count twice. A file that cannot be looked at is left to who reads it. */
static cellar_status check_twice(const char *const *paths, size_t n, cellar_error *err)
{
    struct stat *files = cellar_alloc(n, sizeof *files);
    cellar_status status = CELLAR_OK;
    if (files == NULL)
        return cellar_fail_memory(err, "partial tables");
    for (size_t i = 0; status == CELLAR_OK && i < n; i++) {
        if (stat(paths[i], &files[i]) != 0)
            files[i] = (struct stat){0};
        for (size_t j = 0; status == CELLAR_OK && S_ISREG(files[i].st_mode) && j < i; j++)
            if (files[j].st_ino == files[i].st_ino && files[j].st_dev == files[i].st_dev)
                status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                     "partial tables %zu and %zu are one file, '%.200s': its "
                                     "records would count twice",
                                     j + 1, i + 1, paths[i]);
    }
    cellar_free(files);
    return status;
}

static cellar_status read_parts(void *context, size_t first, size_t last, int lane,
                                cellar_error *err)
{
    const reading *r = context;
    (void) lane, (void) err;
    for (size_t i = first; i < last; i++)
        r->parts[i].status =
            cellar_table_read(r->paths[i], r->options, &r->parts[i].table, &r->parts[i].error);
    return CELLAR_OK; /* what is wrong with the first of them is said below */
}

static cellar_status merge_parts(const reading *r, size_t n, cellar_table **out, cellar_error *err)
{
    const part *parts = r->parts;
    const cellar_table **tables = cellar_alloc(n, sizeof *tables);
    cellar_status status = CELLAR_OK;
    if (tables == NULL)
        return cellar_fail_memory(err, "partial tables");
    for (size_t i = 0; status == CELLAR_OK && i < n; i++) {
        tables[i] = parts[i].table;
        if (parts[i].status != CELLAR_OK)
            status = cellar_fail(err, parts[i].status, "%s", parts[i].error.message);
    }
    if (status == CELLAR_OK)
        status = cellar_table_merge_named(tables, r->paths, n, out, err);
    cellar_free(tables);
    return status;
}

cellar_status cellar_table_merge_files(const char *const *paths, size_t n_paths,
                                       const cellar_table_read_options *options, int n_threads,
                                       cellar_table **out, cellar_error *err)
{
    reading r = {.paths = paths, .options = options};
    cellar_pool *pool = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    CELLAR_TRY(check_twice(paths, n_paths, err));
    r.parts = cellar_alloc(n_paths, sizeof *r.parts);
    if (r.parts == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "partial tables"));
    CELLAR_TRY(cellar_pool_create(n_threads, &pool, err));
    CELLAR_TRY(cellar_pool_for(pool, n_paths, 1, read_parts, &r, err));
    CELLAR_TRY(merge_parts(&r, n_paths, out, err));
out:
    for (size_t i = 0; r.parts != NULL && i < n_paths; i++)
        cellar_table_free(r.parts[i].table);
    cellar_free(r.parts);
    cellar_pool_free(pool);
    return status;
}
