/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/dataset_open.h"

#include <string.h>

#include "base/error.h"
#include "serve/cell_notes.h"
#include "cube/cube.h"
#include "plan/plan.h"
#include "serve/guarantee.h"
#include "serve/price.h"
#include "serve/records.h"
#include "serve/releases.h"
#include "serve/rules.h"
#include "serve/variable.h"

enum { MAX_CELLS = 100000 };

/* A data set under construction. */
typedef struct building {
    cellar_site *site;
    const serve_config *config;
    const serve_config_dataset *words;
    serve_dataset *dataset;
    serve_variable *variables; /* room for as many as there may be */
    cellar_error *err;
} building;

/* One more variable; the period needs a place, too. */
static cellar_status add_variable(building *b, const cube_variable *from)
{
    if (b->dataset->n_variables + 1 >= CELLAR_MAX_VARIABLES)
        return cellar_plan_fail(b->config->name, &b->words->place, NULL, b->err,
                                "a data set has at most %d variables", CELLAR_MAX_VARIABLES - 1);
    return serve_variable_make(from, &b->config->languages, b->site->arena,
                               &b->variables[b->dataset->n_variables++], b->err);
}

/* ---- a cube ------------------------------------------------------------------------------------
 */

static cellar_status take_cube(building *b)
{
    cellar_cube *cube = NULL;
    cellar_status status = cellar_cube_open(b->words->cube, &cube, b->err);
    if (status == CELLAR_OK)
        status = cellar_cube_recertify(cube, b->words->cube, b->err);
    for (size_t v = 0; status == CELLAR_OK && v < cube->n_variables; v++)
        status = add_variable(b, &cube->variables[v]);
    if (status == CELLAR_OK)
        return serve_source_of_cube(cube, b->words->cube, &b->dataset->source, b->err);
    cellar_cube_close(cube);
    return status;
}

/* ---- a folder of releases ----------------------------------------------------------------------
 */

static const serve_config_variable *words_of(const building *b, const char *name)
{
    const serve_config_variable *given = b->words->variables.items;
    for (size_t i = 0; i < b->words->variables.n; i++)
        if (strcmp(given[i].name, name) == 0)
            return &given[i];
    return NULL;
}

/* The leaves of a variable of a release as a code list. */
static cellar_status list_leaves(const cellar_schema *schema, size_t v, cellar_codelist **out,
                                 cellar_error *err)
{
    cellar_codelist *list = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    CELLAR_TRY(cellar_codelist_create(&list, err));
    for (size_t k = 0; k < cellar_schema_n_leaves(schema, v); k++)
        CELLAR_TRY(cellar_codelist_add(list, cellar_schema_code(schema, v, k),
                                       cellar_schema_label(schema, v, k, 0), NULL,
                                       CELLAR_CODE_PLAIN, err));
    CELLAR_TRY(cellar_codelist_finish(list, err));
    *out = list;
    list = NULL;
out:
    cellar_codelist_free(list);
    return status;
}

/* Categories come from the code list of the configuration, else from the release. */
static cellar_status take_variable(building *b, const cellar_schema *schema, size_t v,
                                   const char *name)
{
    const serve_config_variable *words = words_of(b, name);
    const int has_list = words != NULL && words->codelist != NULL;
    cellar_codelist *list = NULL;
    cube_variable levels = {0};
    cellar_status status = CELLAR_OK;
    if (has_list)
        CELLAR_TRY(cellar_codelist_read(words->codelist, &list, b->err));
    else
        CELLAR_TRY(list_leaves(schema, v, &list, b->err));
    CELLAR_TRY(cellar_cube_variable_init(&levels, name, CELLAR_DOMAIN_DECLARED, list,
                                         has_list && words->hierarchy == 1, b->err));
    CELLAR_TRY(add_variable(b, &levels));
out:
    cellar_codelist_free(list);
    cellar_cube_variable_clear(&levels);
    return status;
}

/* The name of a variable without the mark of its level. */
static const char *name_of(const building *b, const cellar_schema *schema, size_t v)
{
    const char *name = cellar_schema_variable(schema, v);
    return cellar_arena_copy(b->site->arena, name, strcspn(name, "^"));
}

static cellar_status take_releases(building *b)
{
    cellar_status status =
        serve_source_open_releases(b->words->folder, 0, &b->dataset->source, b->err);
    for (size_t r = 0; status == CELLAR_OK && r < serve_releases_n(b->dataset->source); r++) {
        const cellar_schema *schema = serve_releases_schema(b->dataset->source, r);
        for (size_t v = 0; status == CELLAR_OK && v < cellar_schema_n_variables(schema); v++) {
            const char *name = name_of(b, schema, v);
            if (name == NULL)
                status = cellar_fail_memory(b->err, "a data set");
            else if (serve_find_variable(b->dataset, name) == NULL)
                status = take_variable(b, schema, v, name);
        }
    }
    if (status == CELLAR_OK && b->dataset->n_variables == 0)
        status = cellar_fail(b->err, CELLAR_ERR_INPUT, "%s: there is no release in it",
                             b->words->folder);
    if (status == CELLAR_OK)
        status = serve_joint_read(b->words->folder, b->site->arena, &b->dataset->joint,
                                  &b->dataset->promise, b->err);
    return status;
}

/* ---- tables that a vault draws -----------------------------------------------------------------
 */

/* What the configuration says about drawing: the front shows its costs. */
typedef struct drawing {
    serve_drawn_text text;
    serve_prices prices;
} drawing;

/* What is promised about all tables together comes before the cost of one. */
static cellar_status take_joint(building *b, const drawing *own)
{
    const cellar_neighbours neighbours = (cellar_neighbours) own->text.budget.neighbours;
    cellar_text words = {0};
    serve_add_cap(&own->prices.cap, b->dataset->unit, neighbours, &words);
    b->dataset->promise = serve_promise_of_cap(&own->prices.cap, neighbours);
    if (!words.failed)
        b->dataset->joint = cellar_arena_copy(b->site->arena, words.bytes, words.length);
    cellar_text_clear(&words);
    return b->dataset->joint != NULL ? CELLAR_OK : cellar_fail_memory(b->err, "a data set");
}

static cellar_status take_drawn(building *b)
{
    drawing *own = cellar_alloc(1, sizeof *own);
    serve_axes axes = {0};
    cellar_status status = CELLAR_OK;
    b->dataset->own = own;
    if (own == NULL)
        return cellar_fail_memory(b->err, "a data set");
    CELLAR_TRY(serve_drawn_read(b->config, b->words, &own->text, b->err));
    CELLAR_TRY(serve_axes_init(&axes, &own->text.records, b->err));
    for (size_t v = 0; v < axes.n; v++)
        CELLAR_TRY(add_variable(b, &axes.items[v].variable));
    if (b->dataset->kind == SERVE_BUDGET) {
        CELLAR_TRY(
            serve_prices_init(&own->prices, b->config->name, &own->text, b->dataset->unit, b->err));
        b->dataset->prices = &own->prices;
        CELLAR_TRY(take_joint(b, own));
    }
    CELLAR_TRY(serve_source_open_releases(b->words->folder, 1, &b->dataset->source, b->err));
out:
    serve_axes_clear(&axes);
    return status;
}

void serve_dataset_secrets(const serve_dataset *dataset, const char *out[SERVE_SECRETS])
{
    const drawing *own = dataset->own;
    memset(out, 0, SERVE_SECRETS * sizeof *out);
    if (own == NULL)
        return;
    out[0] = own->text.records.data.file;
    out[1] = own->text.ledger.file;
    out[2] = own->text.ledger.key; /* beside the ledger unless it is named */
    out[3] = own->text.cell_key.records;
}

serve_member serve_dataset_member(const serve_dataset *dataset, const serve_config_dataset *words)
{
    const drawing *own = dataset->own;
    return (serve_member){.place = words->place,
                          .id = dataset->id,
                          .population = dataset->population,
                          .kind = dataset->kind,
                          .unit = dataset->unit,
                          .ledger = own != NULL ? own->text.ledger.file : NULL,
                          .ledger_dataset = own != NULL ? own->text.ledger.dataset : NULL,
                          .accepts_void = cellar_plan_has_text(&words->accept, "guarantee-void")};
}

void serve_dataset_close(serve_dataset *dataset)
{
    drawing *own = dataset->own;
    serve_source_close(dataset->source);
    if (own != NULL) {
        serve_prices_clear(&own->prices);
        serve_drawn_unload(&own->text);
    }
    cellar_free(own);
}

/* ---- words -------------------------------------------------------------------------------------
 */

static cellar_status read_contents(building *b, plan_reading *reading)
{
    const serve_config_site *site = &b->config->site;
    const struct {
        const plan_node *node;
        serve_texts *out;
    } texts[] = {{site->contents.label, &b->dataset->contents_label},
                 {site->contents.se, &b->dataset->content_labels[SERVE_SE]},
                 {site->contents.noise_low95, &b->dataset->content_labels[SERVE_LOW]},
                 {site->contents.noise_high95, &b->dataset->content_labels[SERVE_HIGH]}};
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; status == CELLAR_OK && i < sizeof texts / sizeof *texts; i++)
        status = serve_texts_read(reading, texts[i].node, &b->config->languages, texts[i].out);
    return status;
}

static cellar_status read_texts(building *b)
{
    const serve_config_dataset *w = b->words;
    const serve_languages *languages = &b->config->languages;
    serve_dataset *d = b->dataset;
    plan_reading reading = serve_config_reading(b->config, b->err);
    cellar_status status = CELLAR_OK;
    cellar_text_add_string(&reading.path, w->place.path);
    if (reading.path.failed)
        return cellar_fail_memory(b->err, "a data set");
    CELLAR_TRY(serve_texts_read(&reading, w->title, languages, &d->title));
    CELLAR_TRY(serve_texts_read(&reading, w->note, languages, &d->note));
    CELLAR_TRY(serve_texts_read(&reading, w->source, languages, &d->source_name));
    CELLAR_TRY(serve_texts_read(&reading, w->contact, languages, &d->contact));
    CELLAR_TRY(serve_texts_read(&reading, w->counted, languages, &d->counted));
    CELLAR_TRY(read_contents(b, &reading));
    if (d->counted.in == NULL)
        d->counted = serve_texts_same(languages, d->unit, b->site->arena);
    if (d->counted.in == NULL)
        status = cellar_fail_memory(b->err, "a data set");
out:
    cellar_text_clear(&reading.path);
    return status;
}

static void copy_words(building *b)
{
    const serve_config_dataset *w = b->words;
    serve_dataset *d = b->dataset;
    d->kind = (serve_kind) (w->kind - 1);
    d->id = w->id;
    d->population = w->population;
    d->unit = w->unit != NULL ? w->unit : "person";
    d->updated = w->updated;
    d->next_update = w->next_update;
    d->max_cells = w->max_cells > 0                ? w->max_cells
                   : b->config->site.max_cells > 0 ? b->config->site.max_cells
                                                   : MAX_CELLS;
    d->languages = b->site->languages;
    d->n_languages = b->site->n_languages;
    d->variables = b->variables;
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

/* ---- all together ------------------------------------------------------------------------------
 */

static cellar_status take_source(building *b)
{
    switch (b->dataset->kind) {
    case SERVE_CUBE:
        return take_cube(b);
    case SERVE_RELEASES:
        return take_releases(b);
    case SERVE_BUDGET:
    case SERVE_CELL_KEY:
        break;
    }
    return take_drawn(b);
}

cellar_status serve_dataset_open(cellar_site *site, const serve_config_dataset *words,
                                 serve_dataset *out, cellar_error *err)
{
    building b = {.site = site, .config = site->config, .words = words, .dataset = out, .err = err};
    cellar_status status = CELLAR_OK;
    b.variables = cellar_arena_alloc(site->arena, CELLAR_MAX_VARIABLES, sizeof *b.variables);
    if (b.variables == NULL)
        return cellar_fail_memory(err, "a site");
    copy_words(&b);
    CELLAR_TRY(read_texts(&b));
    CELLAR_TRY(take_source(&b));
    CELLAR_TRY(serve_variables_word(b.config, words, b.variables, out->n_variables, err));
    CELLAR_TRY(serve_cell_notes_read(b.config, words, site->arena, out, err));
    CELLAR_TRY(add_period(&b));
    CELLAR_TRY(serve_source_refresh(out->source, out, err));
    CELLAR_TRY(serve_rules_make(b.config->name, &words->rules, out, site->arena, &out->rules, err));
out:
    return status;
}
