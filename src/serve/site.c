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

/* 1 when a file or folder, which need not exist, is a folder, lies in it or below it. */
static int is_within(const char *file, const char *folder)
{
    char real_file[PATH_MAX], real_folder[PATH_MAX];
    size_t length;
    if (realpath(file, real_file) == NULL || realpath(folder, real_folder) == NULL)
        return 0;
    length = strlen(real_folder);
    return strncmp(real_file, real_folder, length) == 0 &&
           (real_file[length] == '/' || real_file[length] == '\0' || strcmp(real_folder, "/") == 0);
}

static cellar_status refuse_within(const char *file, const char *folder, cellar_error *err)
{
    if (file == NULL || folder == NULL || !is_within(file, folder))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "%s lies in %s, which the process that answers requests reads: put data, "
                       "keys and ledgers into a folder of their own",
                       file, folder);
}

/* Every file in the folders of the page is sent to whoever asks for it. */
static cellar_status check_pages_apart(const cellar_site *site, cellar_error *err)
{
    const serve_config_site *words = &site->config->site;
    const char *const served[] = {words->page != NULL ? words->page : site->options.page,
                                  words->agency};
    const char *const own[] = {words->tokens, words->audit, words->state};
    const char *secrets[SERVE_SECRETS];
    cellar_status status = CELLAR_OK;
    for (size_t p = 0; p < sizeof served / sizeof *served; p++) {
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            CELLAR_TRY(refuse_within(own[k], served[p], err));
        for (size_t i = 0; i < site->n_datasets; i++) {
            serve_dataset_secrets(&site->datasets[i], secrets);
            for (size_t k = 0; k < SERVE_SECRETS; k++)
                CELLAR_TRY(refuse_within(secrets[k], served[p], err));
        }
    }
out:
    return status;
}

cellar_status cellar_site_check_apart(const cellar_site *site, cellar_error *err)
{
    const char *secrets[SERVE_SECRETS], *folder;
    int is_written;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < site->n_datasets; i++) {
        serve_dataset_secrets(&site->datasets[i], secrets);
        for (size_t p = 0; (folder = cellar_site_path(site, p, &is_written)) != NULL; p++)
            for (size_t k = 0; k < SERVE_SECRETS; k++)
                CELLAR_TRY(refuse_within(secrets[k], folder, err));
    }
    CELLAR_TRY(check_pages_apart(site, err));
out:
    return status;
}
