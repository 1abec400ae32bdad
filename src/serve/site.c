/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/site.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/access.h"
#include "base/error.h"
#include "serve/dataset_open.h"
#include "serve/pages.h"

cellar_site_options cellar_site_options_default(void)
{
    return (cellar_site_options){0};
}

void cellar_site_close(cellar_site *site)
{
    if (site == NULL)
        return;
    for (size_t i = 0; i < site->n_datasets; i++)
        serve_dataset_close(&site->datasets[i]);
    serve_access_close(site);
    serve_pages_close(site->pages);
    cellar_free(site->datasets);
    serve_config_free(site->config);
    cellar_arena_free(site->arena);
    cellar_free(site);
}

const serve_dataset *serve_find_dataset(const cellar_site *site, const char *id)
{
    for (size_t i = 0; i < site->n_datasets; i++)
        if (strcasecmp(site->datasets[i].id, id) == 0)
            return &site->datasets[i];
    return NULL;
}

int cellar_site_needs_vault(const cellar_site *site)
{
    for (size_t i = 0; i < site->n_datasets; i++)
        if (serve_kind_grows(site->datasets[i].kind))
            return 1;
    return 0;
}

const char *cellar_site_path(const cellar_site *site, size_t index, int *is_written)
{
    *is_written = site->saved_folder != NULL && index == site->n_paths;
    if (index < site->n_paths)
        return site->paths[index];
    return *is_written ? site->saved_folder : NULL;
}

/* 1 when a file, which need not exist, lies in a folder or below it. */
static int is_within(const char *file, const char *folder)
{
    char real_file[PATH_MAX], real_folder[PATH_MAX];
    size_t length;
    if (realpath(file, real_file) == NULL || realpath(folder, real_folder) == NULL)
        return 0;
    length = strlen(real_folder);
    return strncmp(real_file, real_folder, length) == 0 &&
           (real_file[length] == '/' || strcmp(real_folder, "/") == 0);
}

cellar_status cellar_site_check_apart(const cellar_site *site, cellar_error *err)
{
    const char *secrets[SERVE_SECRETS], *folder;
    int is_written;
    for (size_t i = 0; i < site->n_datasets; i++) {
        serve_dataset_secrets(&site->datasets[i], secrets);
        for (size_t p = 0; (folder = cellar_site_path(site, p, &is_written)) != NULL; p++)
            for (size_t k = 0; k < SERVE_SECRETS; k++)
                if (secrets[k] != NULL && is_within(secrets[k], folder))
                    return cellar_fail(err, CELLAR_ERR_RULE,
                                       "%s lies in %s, which the process that answers requests "
                                       "reads: put data, keys and ledgers into a folder of their "
                                       "own",
                                       secrets[k], folder);
    }
    return CELLAR_OK;
}
