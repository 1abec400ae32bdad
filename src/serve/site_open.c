/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a configuration to a site: every cube and release that it names is opened and checked. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "cube/cube.h"
#include "serve/access.h"
#include "serve/rules.h"
#include "serve/site.h"
#include "serve/source.h"
#include "serve/variable.h"

enum { SITE_ARENA_BYTES = 1 << 30, MAX_CELLS = 100000, CALLS = 30, WINDOW_SECONDS = 10 };

/* A data set under construction. */
typedef struct building {
    cellar_site *site;
    const serve_config *config;
    const serve_config_dataset *words;
    serve_dataset *dataset;
    serve_variable *variables;
    cellar_error *err;
} building;

/* ---- variables ---------------------------------------------------------------------------------
 */

static cellar_status take_cube(building *b)
{
    cellar_cube *cube = NULL;
    cellar_status status = cellar_cube_open(b->words->cube, &cube, b->err);
    if (status != CELLAR_OK)
        return status;
    if (cube->n_variables >= CELLAR_MAX_VARIABLES) {
        cellar_cube_close(cube);
        return cellar_fail(b->err, CELLAR_ERR_RULE, "%s: more than %d variables", b->words->cube,
                           CELLAR_MAX_VARIABLES - 1);
    }
    for (size_t v = 0; status == CELLAR_OK && v < cube->n_variables; v++)
        status = serve_variable_make(&cube->variables[v], &b->config->languages, b->site->arena,
                                     &b->variables[v], b->err);
    b->dataset->n_variables = cube->n_variables;
    if (status != CELLAR_OK) {
        cellar_cube_close(cube);
        return status;
    }
    return serve_source_of_cube(cube, b->words->cube, &b->dataset->source, b->err);
}

/* A data set without a time has one all the same, for clients insist on it. */
static cellar_status add_period(building *b)
{
    const char *period = b->words->period;
    for (size_t v = 0; v < b->dataset->n_variables; v++)
        if (b->variables[v].role == SERVE_ROLE_TIME)
            return CELLAR_OK;
    if (period == NULL && b->dataset->updated != NULL && strlen(b->dataset->updated) >= 4)
        period = cellar_arena_copy(b->site->arena, b->dataset->updated, 4);
    if (period == NULL)
        return cellar_plan_fail(b->config->name, &b->words->place, "period", b->err,
                                "name the time that the data are about, such as 2026");
    return serve_variable_make_period(period, &b->config->languages, b->site->arena,
                                      &b->variables[b->dataset->n_variables++], b->err);
}

/* ---- words -------------------------------------------------------------------------------------
 */

static cellar_status word(building *b)
{
    const serve_config_dataset *w = b->words;
    serve_dataset *d = b->dataset;
    plan_reading reading = serve_config_reading(b->config, b->err);
    cellar_status status = CELLAR_OK;
    cellar_text_add_string(&reading.path, w->place.path);
    d->kind = (serve_kind) (w->kind - 1);
    d->max_cells = w->max_cells > 0                ? w->max_cells
                   : b->config->site.max_cells > 0 ? b->config->site.max_cells
                                                   : MAX_CELLS;
    d->id = w->id;
    d->population = w->population;
    d->unit = w->unit != NULL ? w->unit : "person";
    d->updated = w->updated;
    d->next_update = w->next_update;
    CELLAR_TRY(serve_texts_read(&reading, w->title, &b->config->languages, &d->title));
    CELLAR_TRY(serve_texts_read(&reading, w->note, &b->config->languages, &d->note));
    CELLAR_TRY(serve_texts_read(&reading, w->source, &b->config->languages, &d->source_name));
    CELLAR_TRY(serve_texts_read(&reading, w->contact, &b->config->languages, &d->contact));
    d->counted = serve_texts_same(&b->config->languages, d->unit, b->site->arena);
    CELLAR_TRY(serve_texts_read(&reading, w->counted, &b->config->languages, &d->counted));
out:
    cellar_text_clear(&reading.path);
    return status;
}

/* ---- data sets ---------------------------------------------------------------------------------
 */

static cellar_status take_source(building *b)
{
    if (b->dataset->kind == SERVE_CUBE)
        return take_cube(b);
    return cellar_plan_fail(b->config->name, &b->words->place, "kind", b->err,
                            "this kind of data set cannot be served yet");
}

static cellar_status build_dataset(building *b)
{
    cellar_status status = CELLAR_OK;
    b->variables = cellar_arena_alloc(b->site->arena, CELLAR_MAX_VARIABLES, sizeof *b->variables);
    if (b->variables == NULL)
        return cellar_fail_memory(b->err, "a site");
    b->dataset->variables = b->variables;
    b->dataset->languages = b->site->languages;
    b->dataset->n_languages = b->site->n_languages;
    CELLAR_TRY(word(b));
    CELLAR_TRY(take_source(b));
    CELLAR_TRY(
        serve_variables_word(b->config, b->words, b->variables, b->dataset->n_variables, b->err));
    CELLAR_TRY(add_period(b));
    CELLAR_TRY(serve_rules_make(b->config->name, &b->words->rules, b->dataset, b->site->arena,
                                &b->dataset->rules, b->err));
out:
    return status;
}

static cellar_status build_datasets(cellar_site *site, const serve_config *config,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    site->datasets = cellar_alloc(config->datasets.n, sizeof *site->datasets);
    if (site->datasets == NULL)
        return cellar_fail_memory(err, "a site");
    site->n_datasets = config->datasets.n;
    for (size_t i = 0; status == CELLAR_OK && i < config->datasets.n; i++) {
        building b = {.site = site,
                      .config = config,
                      .words = serve_config_dataset_at(config, i),
                      .dataset = &site->datasets[i],
                      .err = err};
        status = build_dataset(&b);
    }
    return status;
}

/* ---- the site ----------------------------------------------------------------------------------
 */

static cellar_status build_site(cellar_site *site, const serve_config *config, cellar_error *err)
{
    plan_reading reading = serve_config_reading(config, err);
    const char *url = config->site.base_url != NULL ? config->site.base_url : "";
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
    CELLAR_TRY(serve_texts_read(&reading, config->site.title, &config->languages, &site->title));
    CELLAR_TRY(build_datasets(site, config, err));
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
