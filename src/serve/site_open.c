/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a configuration to a site: every cube and release that it names is opened and checked. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "serve/access.h"
#include "serve/dataset_open.h"
#include "serve/pages.h"

enum { SITE_ARENA_BYTES = 1 << 30, CALLS = 30, WINDOW_SECONDS = 10 };

/* ---- data sets ---------------------------------------------------------------------------------
 */

/* What may be served beside what about the same people. */
static cellar_status check_populations(cellar_site *site, cellar_error *err)
{
    const serve_config *config = site->config;
    const size_t n = config->datasets.n;
    serve_member *members = cellar_arena_alloc(site->arena, n, sizeof *members);
    cellar_status status;
    if (members == NULL)
        return cellar_fail_memory(err, "a site");
    for (size_t i = 0; i < n; i++)
        members[i] = serve_dataset_member(&site->datasets[i], serve_config_dataset_at(config, i));
    status = serve_populations_check(config->name, members, n, err);
    for (size_t i = 0; i < n; i++)
        if (serve_population_is_void(members, n, site->datasets[i].population))
            site->datasets[i].caveat = SERVE_VOID_NOTE;
    return status;
}

static cellar_status open_datasets(cellar_site *site, cellar_error *err)
{
    const serve_config *config = site->config;
    cellar_status status = CELLAR_OK;
    site->datasets = cellar_alloc(config->datasets.n, sizeof *site->datasets);
    if (site->datasets == NULL)
        return cellar_fail_memory(err, "a site");
    site->n_datasets = config->datasets.n;
    for (size_t i = 0; status == CELLAR_OK && i < config->datasets.n; i++)
        status =
            serve_dataset_open(site, serve_config_dataset_at(config, i), &site->datasets[i], err);
    return status == CELLAR_OK ? check_populations(site, err) : status;
}

/* ---- files that are read while it answers ------------------------------------------------------
 */

/* The folder that a file lies in: it may be replaced there. */
static const char *folder_of(cellar_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return ".";
    return slash == path ? "/" : cellar_arena_copy(arena, path, (size_t) (slash - path));
}

static cellar_status list_paths(cellar_site *site, cellar_error *err)
{
    const serve_config *config = site->config;
    site->paths = cellar_arena_alloc(site->arena, config->datasets.n + 1, sizeof *site->paths);
    if (site->paths == NULL)
        return cellar_fail_memory(err, "a site");
    for (size_t i = 0; i < config->datasets.n; i++)
        if (serve_config_dataset_at(config, i)->folder != NULL)
            site->paths[site->n_paths++] = serve_config_dataset_at(config, i)->folder;
    if (config->site.tokens != NULL)
        site->paths[site->n_paths++] = folder_of(site->arena, config->site.tokens);
    return site->n_paths == 0 || site->paths[site->n_paths - 1] != NULL
               ? CELLAR_OK
               : cellar_fail_memory(err, "a site");
}

/* ---- the site ----------------------------------------------------------------------------------
 */

static cellar_status build_site(cellar_site *site, const serve_config *config, cellar_error *err)
{
    plan_reading reading = serve_config_reading(config, err);
    const char *url = config->site.base_url != NULL ? config->site.base_url : "", *page;
    size_t length = strlen(url);
    cellar_status status = CELLAR_OK;
    while (length > 0 && url[length - 1] == '/')
        length--;
    site->base_url = cellar_arena_copy(site->arena, url, length);
    if (site->base_url == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a site"));
    site->languages = config->languages.tags;
    site->n_languages = config->languages.n;
    site->license = config->site.license != NULL ? config->site.license : "";
    site->saved_folder = config->site.state;
    site->calls_per_window = config->site.calls > 0 ? (unsigned) config->site.calls : CALLS;
    site->window_seconds =
        config->site.window_seconds > 0 ? (unsigned) config->site.window_seconds : WINDOW_SECONDS;
    cellar_text_add_string(&reading.path, "site.title");
    if (reading.path.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a site"));
    CELLAR_TRY(serve_texts_read(&reading, config->site.title, &config->languages, &site->title));
    CELLAR_TRY(open_datasets(site, err));
    CELLAR_TRY(list_paths(site, err));
    page = config->site.page != NULL ? config->site.page : site->options.page;
    if (page != NULL)
        CELLAR_TRY(serve_pages_open(page, config->site.agency, &site->pages, err));
    CELLAR_TRY(serve_access_open(site, err));
out:
    cellar_text_clear(&reading.path);
    return status;
}

cellar_status cellar_site_open(const char *config_path, const cellar_site_options *options,
                               cellar_site **out, cellar_error *err)
{
    const cellar_site_options defaults = cellar_site_options_default();
    cellar_site *site = cellar_alloc(1, sizeof *site);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (site != NULL)
        site->arena = cellar_arena_create(SITE_ARENA_BYTES);
    if (site == NULL || site->arena == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a site"));
    site->options = options != NULL ? *options : defaults;
    CELLAR_TRY(serve_config_read(config_path, &site->config, err));
    CELLAR_TRY(build_site(site, site->config, err));
    *out = site;
    site = NULL;
out:
    cellar_site_close(site);
    return status;
}
