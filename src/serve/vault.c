/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a vault: everything that can be wrong with the configuration is found here, before
 * anybody asks for a table. */
#include "serve/vault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cellar/matrix.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "serve/population.h"
#include "serve/rules.h"
#include "serve/variable.h"

/* ---- a data set
 * ---------------------------------------------------------------------------------- */

/* What is needed while one is opened. */
typedef struct opening {
    cellar_vault *vault;
    const serve_config_dataset *words;
    vault_set *set;
    cellar_error *err;
} opening;

static cellar_status fail(const opening *o, const char *key, const char *what)
{
    return cellar_plan_fail(o->vault->config->name, &o->words->place, key, o->err, "%s", what);
}

static const char *copy(const opening *o, const cellar_text *text)
{
    return text->failed || text->bytes == NULL
               ? NULL
               : cellar_arena_copy(o->vault->config->arena, text->bytes, text->length);
}

/* Variables and rules, as the front has them. */
static cellar_status take_variables(const opening *o)
{
    const serve_config *config = o->vault->config;
    vault_set *set = o->set;
    serve_variable *variables;
    cellar_status status = serve_axes_init(&set->axes, &set->text.records, o->err);
    if (status != CELLAR_OK)
        return status;
    variables = cellar_arena_alloc(config->arena, set->axes.n, sizeof *variables);
    if (variables == NULL)
        return cellar_fail_memory(o->err, "a vault");
    for (size_t v = 0; status == CELLAR_OK && v < set->axes.n; v++)
        status = serve_variable_make(&set->axes.items[v].variable, &config->languages,
                                     config->arena, &variables[v], o->err);
    set->dataset.variables = variables;
    set->dataset.n_variables = set->axes.n;
    if (status == CELLAR_OK)
        status = serve_rules_make(config->name, &o->words->rules, &set->dataset, config->arena,
                                  &set->dataset.rules, o->err);
    return status;
}

static cellar_status take_words(const opening *o)
{
    const serve_config *config = o->vault->config;
    const char *unit = o->set->text.records.unit.name;
    o->set->dataset = (serve_dataset){.id = o->words->id,
                                      .kind = (serve_kind) (o->words->kind - 1),
                                      .population = o->words->population,
                                      .unit = o->words->unit != NULL ? o->words->unit : "person",
                                      .languages = config->languages.tags,
                                      .n_languages = config->languages.n,
                                      .max_cells = SERVE_DRAWN_CELLS_MAX};
    o->set->folder = o->words->folder;
    o->set->step_ms = o->words->step_ms;
    if (unit != NULL && strcmp(unit, o->set->dataset.unit) != 0)
        return fail(o, "records.unit.name", "it is not the unit of the data set");
    if (access(o->set->folder, R_OK | W_OK | X_OK) != 0)
        return cellar_fail_errno(o->err, o->set->folder, "write to the folder of releases");
    return CELLAR_OK;
}

/* "census/2026/": whatever else is in the name of an edition is written as %XX. */
static cellar_status take_prefix(const opening *o)
{
    cellar_text prefix = {0};
    cellar_text_printf(&prefix, "%s/", o->words->id);
    for (const char *c = o->set->text.records.data.edition; *c != '\0'; c++)
        if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
            *c == '-' || *c == '.' || *c == '_')
            cellar_text_add_char(&prefix, *c);
        else
            cellar_text_printf(&prefix, "%%%02X", (unsigned) (unsigned char) *c);
    cellar_text_add_char(&prefix, '/');
    o->set->prefix = copy(o, &prefix);
    cellar_text_clear(&prefix);
    return o->set->prefix != NULL ? CELLAR_OK : cellar_fail_memory(o->err, "a vault");
}

/* ---- the ledger
 * ------------------------------------------------------------------------------------ */

static cellar_status open_ledger(const opening *o)
{
    const serve_ledger_text *text = &o->set->text.ledger;
    cellar_vault *vault = o->vault;
    vault_ledger *ledger;
    cellar_status status;
    for (size_t i = 0; i < vault->n_ledgers; i++)
        if (strcmp(vault->ledgers[i].path, text->file) == 0) {
            o->set->ledger = &vault->ledgers[i];
            return CELLAR_OK;
        }
    ledger = &vault->ledgers[vault->n_ledgers++];
    ledger->path = text->file;
    status = cellar_ledger_open_file(text->file, text->key, &ledger->ledger, o->err);
    ledger->has_lock = pthread_mutex_init(&ledger->lock, NULL) == 0;
    if (status == CELLAR_OK && !ledger->has_lock)
        status = cellar_fail_memory(o->err, "a vault");
    o->set->ledger = ledger;
    return status;
}

/* 1 when the ledger was adopted though its witness had seen more. */
static int has_gap(const cellar_ledger *ledger)
{
    for (size_t i = 0; i < cellar_ledger_n_entries(ledger); i++)
        if (cellar_ledger_entry_at(ledger, i)->kind == CELLAR_ENTRY_ADOPT &&
            cellar_ledger_entry_at(ledger, i)->has_gap)
            return 1;
    return 0;
}

static cellar_status check_ledger(const opening *o)
{
    const serve_drawn_text *text = &o->set->text;
    const cellar_ledger *ledger = o->set->ledger->ledger;
    const cellar_ledger_entry *dataset = cellar_ledger_find_dataset(ledger, text->ledger.dataset);
    if (dataset == NULL)
        return fail(o, "ledger.dataset", "the ledger has no such dataset");
    if (strcmp(dataset->unit, o->set->dataset.unit) != 0)
        return fail(o, "unit", "the dataset of the ledger protects another unit");
    if (!cellar_ledger_has_edition(ledger, text->ledger.dataset, text->records.data.edition))
        return fail(o, "records.data.edition",
                    "the dataset of the ledger has no such edition: 'cellar ledger add' adds one");
    o->set->population = dataset->population;
    if (has_gap(ledger) && !cellar_plan_has_text(&o->words->accept, "ledger-gap"))
        return fail(
            o, "accept",
            "entries of the ledger are missing or may be (it was adopted after a loss), so "
            "that tables people have seen could be drawn again: say accept: [ledger-gap] if "
            "that is meant");
    if (o->set->dataset.kind != SERVE_BUDGET)
        return CELLAR_OK;
    if (dataset->neighbours != (cellar_neighbours) text->budget.neighbours)
        return fail(o, "budget.neighbours", "the dataset of the ledger has other neighbours");
    if (dataset->amounts.rho_nano != o->set->prices.cap.rho_nano ||
        dataset->amounts.epsilon_nano != o->set->prices.cap.epsilon_nano ||
        dataset->amounts.delta_atto != o->set->prices.cap.delta_atto)
        return fail(o, "budget.cap", "the dataset of the ledger has another cap");
    return CELLAR_OK;
}

/* ---- cell keys
 * --------------------------------------------------------------------------------------- */

/* The least noise that a count above 0 may get. */
static cellar_status take_variance(const opening *o)
{
    const serve_cell_key_text *text = &o->set->text.cell_key;
    cellar_matrix *matrix;
    cellar_status status =
        cellar_matrix_read(text->matrix, (cellar_matrix_large) text->large, &matrix, o->err);
    if (status != CELLAR_OK)
        return status;
    o->set->noise_variance = INFINITY;
    for (size_t row = 1; row < cellar_matrix_n_rows(matrix); row++) {
        cellar_matrix_row facts;
        cellar_matrix_row_at(matrix, row, &facts);
        if (facts.variance < o->set->noise_variance)
            o->set->noise_variance = facts.variance;
    }
    cellar_matrix_free(matrix);
    o->set->floor_variance = pow(strtod(text->smallest_sd, NULL), 2);
    if (!(o->set->floor_variance <= o->set->noise_variance))
        return fail(o, "cell_key.smallest_sd",
                    "the matrix has a row with less noise than that, so that no table could be "
                    "drawn");
    return CELLAR_OK;
}

static cellar_status take_spec(const opening *o)
{
    static const char *const boundaries[] = {"", ",boundary=below", ",boundary=at-most"};
    static const char *const larges[] = {"", ",large=last", ",large=rotate"};
    const serve_cell_key_text *text = &o->set->text.cell_key;
    cellar_text spec = {0};
    cellar_text_printf(&spec, "cell-key:file=%s%s%s", text->matrix, boundaries[text->boundary],
                       larges[text->large]);
    o->set->spec = copy(o, &spec);
    cellar_text_clear(&spec);
    return o->set->spec != NULL ? CELLAR_OK : cellar_fail_memory(o->err, "a vault");
}

static cellar_status take_keys(const opening *o)
{
    const serve_cell_key_text *text = &o->set->text.cell_key;
    vault_set *set = o->set;
    cellar_key *key = NULL;
    cellar_status status = CELLAR_OK;
    set->keys = (serve_record_keys){
        .column = text->record_key, .id_column = text->record_id, .range = text->key_range};
    CELLAR_TRY(take_spec(o));
    CELLAR_TRY(take_variance(o));
    if (text->records != NULL) {
        CELLAR_TRY(cellar_key_read(text->records, &key, o->err));
        cellar_key_secret(key, CELLAR_KEY_RECORDS, set->secret);
        set->keys.secret = set->secret;
    }
    set->has_lock = pthread_mutex_init(&set->floor_lock, NULL) == 0;
    if (!set->has_lock)
        CELLAR_TRY(cellar_fail_memory(o->err, "a vault"));
out:
    cellar_key_free(key);
    return status;
}

static cellar_status open_set(const opening *o)
{
    const serve_config *config = o->vault->config;
    vault_set *set = o->set;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(take_words(o));
    CELLAR_TRY(take_variables(o));
    CELLAR_TRY(take_prefix(o));
    CELLAR_TRY(serve_counter_open(&set->counter, &set->text.records, o->err));
    if (set->dataset.kind == SERVE_BUDGET) {
        CELLAR_TRY(
            serve_prices_init(&set->prices, config->name, &set->text, set->dataset.unit, o->err));
        set->dataset.prices = &set->prices;
    } else
        CELLAR_TRY(take_keys(o));
    CELLAR_TRY(open_ledger(o));
    CELLAR_TRY(check_ledger(o));
    CELLAR_TRY(vault_settle(set, o->err));
    CELLAR_TRY(vault_check_folder(set, o->err));
out:
    return status;
}

static void close_set(vault_set *set)
{
    serve_counter_close(&set->counter);
    serve_prices_clear(&set->prices);
    serve_axes_clear(&set->axes);
    serve_drawn_unload(&set->text);
    cellar_wipe(set->secret, sizeof set->secret);
    if (set->has_lock)
        pthread_mutex_destroy(&set->floor_lock);
}

/* ---- all data sets
 * ------------------------------------------------------------------------------------ */

static int has_vault(const serve_config_dataset *words)
{
    return serve_kind_grows((serve_kind) (words->kind - 1));
}

/* The populations as they can be judged once the ledgers' names are read. */
static cellar_status check_populations(cellar_vault *vault, cellar_error *err)
{
    const serve_config *config = vault->config;
    const size_t n = config->datasets.n;
    serve_member *members = cellar_arena_alloc(config->arena, n, sizeof *members);
    size_t next = 0;
    cellar_status status;
    if (members == NULL)
        return cellar_fail_memory(err, "a vault");
    for (size_t i = 0; i < n; i++) {
        const serve_config_dataset *words = serve_config_dataset_at(config, i);
        members[i] =
            (serve_member){.place = words->place,
                           .id = words->id,
                           .population = words->population,
                           .kind = (serve_kind) (words->kind - 1),
                           .unit = words->unit != NULL ? words->unit : "person",
                           .accepts_void = cellar_plan_has_text(&words->accept, "guarantee-void")};
        if (has_vault(words)) {
            members[i].ledger = vault->sets[next].text.ledger.file;
            members[i].ledger_dataset = vault->sets[next].text.ledger.dataset;
            next++;
        }
    }
    status = serve_populations_check(config->name, members, n, err);
    for (size_t i = 0, s = 0; i < n; i++)
        if (has_vault(serve_config_dataset_at(config, i)))
            vault->sets[s++].is_void = serve_population_is_void(members, n, members[i].population);
    return status;
}

/* Calls a function for each data set that is drawn here. */
static cellar_status for_each_set(cellar_vault *vault, cellar_status (*act)(const opening *o),
                                  cellar_error *err)
{
    const serve_config *config = vault->config;
    for (size_t i = 0, s = 0; i < config->datasets.n; i++) {
        const opening o = {vault, serve_config_dataset_at(config, i), &vault->sets[s], err};
        cellar_status status;
        if (!has_vault(o.words))
            continue;
        s++;
        status = act(&o);
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

static cellar_status read_set(const opening *o)
{
    o->vault->n_sets++;
    return serve_drawn_read(o->vault->config, o->words, &o->set->text, o->err);
}

static cellar_status open_sets(cellar_vault *vault, cellar_error *err)
{
    const serve_config *config = vault->config;
    cellar_status status = CELLAR_OK;
    vault->sets = cellar_alloc(config->datasets.n, sizeof *vault->sets);
    vault->ledgers = cellar_alloc(config->datasets.n, sizeof *vault->ledgers);
    if (vault->sets == NULL || vault->ledgers == NULL)
        return cellar_fail_memory(err, "a vault");
    CELLAR_TRY(for_each_set(vault, read_set, err));
    CELLAR_TRY(check_populations(vault, err));
    CELLAR_TRY(for_each_set(vault, open_set, err));
out:
    return status;
}

vault_set *vault_find_set(cellar_vault *vault, const char *id)
{
    for (size_t s = 0; s < vault->n_sets; s++)
        if (strcmp(vault->sets[s].dataset.id, id) == 0)
            return &vault->sets[s];
    return NULL;
}

/* ---- life cycle
 * --------------------------------------------------------------------------------------- */

cellar_vault_options cellar_vault_options_default(void)
{
    return (cellar_vault_options){0};
}

static cellar_status vault_init(cellar_vault *vault, cellar_error *err)
{
    vault->clock = vault_clock_real();
    if (pthread_mutex_init(&vault->lock, NULL) != 0)
        return cellar_fail_memory(err, "a vault");
    if (pthread_cond_init(&vault->freed, NULL) != 0) {
        pthread_mutex_destroy(&vault->lock);
        return cellar_fail_memory(err, "a vault");
    }
    vault->has_lock = 1;
    return CELLAR_OK;
}

cellar_status cellar_vault_open(const char *config_path, const cellar_vault_options *options,
                                cellar_vault **out, cellar_error *err)
{
    cellar_vault *vault = cellar_alloc(1, sizeof *vault);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (vault == NULL)
        return cellar_fail_memory(err, "a vault");
    CELLAR_TRY(vault_init(vault, err));
    CELLAR_TRY(serve_config_read(config_path, &vault->config, err));
    if (options != NULL && options->signer != NULL)
        CELLAR_TRY(serve_config_verify(vault->config, options->signer, err));
    if (vault->config->site.tokens != NULL)
        CELLAR_TRY(serve_tokens_open(vault->config->site.tokens, &vault->tokens, err));
    CELLAR_TRY(open_sets(vault, err));
    *out = vault;
    vault = NULL;
out:
    cellar_vault_close(vault);
    return status;
}

void cellar_vault_close(cellar_vault *vault)
{
    if (vault == NULL)
        return;
    for (size_t s = 0; s < vault->n_sets; s++)
        close_set(&vault->sets[s]);
    for (size_t i = 0; i < vault->n_ledgers; i++) {
        cellar_ledger_close(vault->ledgers[i].ledger);
        if (vault->ledgers[i].has_lock)
            pthread_mutex_destroy(&vault->ledgers[i].lock);
    }
    cellar_free(vault->sets);
    cellar_free(vault->ledgers);
    serve_tokens_close(vault->tokens);
    serve_config_free(vault->config);
    if (vault->has_lock) {
        pthread_cond_destroy(&vault->freed);
        pthread_mutex_destroy(&vault->lock);
    }
    cellar_free(vault);
}
