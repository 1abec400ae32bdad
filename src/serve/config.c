/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/config.h"

#include <string.h>
#include <strings.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "serve/rules.h"

enum { CONFIG_BYTES_MAX = 1 << 22, CONFIG_ARENA_BYTES = 1 << 28, ID_MAX = 64 };

/* ---- what may be written -----------------------------------------------------------------------
 */

#define KEY(name, of_kind, type, member)                                                           \
    .key = (name), .kind = (of_kind), .offset = offsetof(type, member)

static const plan_field limit_fields[] = {
    {KEY("cells", PLAN_COUNT, serve_config_site, max_cells)},
    {KEY("calls", PLAN_COUNT, serve_config_site, calls)},
    {KEY("seconds", PLAN_COUNT, serve_config_site, window_seconds)},
    {.key = NULL}};

static const plan_field content_fields[] = {
    {KEY("label", PLAN_ANY, serve_config_site, contents.label)},
    {KEY("se", PLAN_ANY, serve_config_site, contents.se)},
    {KEY("noise_low95", PLAN_ANY, serve_config_site, contents.noise_low95)},
    {KEY("noise_high95", PLAN_ANY, serve_config_site, contents.noise_high95)},
    {.key = NULL}};

static const plan_field site_fields[] = {
    {KEY("title", PLAN_ANY, serve_config_site, title), .required = 1},
    {KEY("languages", PLAN_TEXTS, serve_config_site, languages)},
    {KEY("base_url", PLAN_TEXT, serve_config_site, base_url)},
    {KEY("license", PLAN_TEXT, serve_config_site, license)},
    {.key = "limits", .kind = PLAN_MAP, .offset = 0, .fields = limit_fields},
    {.key = "contents", .kind = PLAN_MAP, .offset = 0, .fields = content_fields},
    {KEY("tokens", PLAN_FILE, serve_config_site, tokens)},
    {KEY("audit", PLAN_FILE, serve_config_site, audit)},
    {KEY("state", PLAN_FILE, serve_config_site, state)},
    {KEY("page", PLAN_FILE, serve_config_site, page)},
    {KEY("agency", PLAN_FILE, serve_config_site, agency)},
    {.key = NULL}};

static const plan_field variable_fields[] = {
    {KEY("name", PLAN_TEXT, serve_config_variable, name), .required = 1},
    {KEY("label", PLAN_ANY, serve_config_variable, label)},
    {KEY("note", PLAN_ANY, serve_config_variable, note)},
    {KEY("role", PLAN_CHOICE, serve_config_variable, role), .words = "time|geo"},
    {KEY("codelist", PLAN_FILE, serve_config_variable, codelist)},
    {KEY("hierarchy", PLAN_TRUTH, serve_config_variable, hierarchy)},
    {KEY("levels", PLAN_ANY, serve_config_variable, levels)},
    {KEY("labels", PLAN_ANY, serve_config_variable, labels)},
    {KEY("notes", PLAN_ANY, serve_config_variable, notes)},
    {.key = NULL}};

static const plan_field cell_note_fields[] = {
    {KEY("cells", PLAN_ANY, serve_config_cell_note, cells), .required = 1},
    {KEY("note", PLAN_ANY, serve_config_cell_note, note), .required = 1},
    {.key = NULL}};

static const plan_field dataset_fields[] = {
    {KEY("id", PLAN_TEXT, serve_config_dataset, id), .required = 1},
    {KEY("kind", PLAN_CHOICE, serve_config_dataset, kind), .required = 1,
     .words = "releases|cube|budget|cell-key"},
    {KEY("cube", PLAN_FILE, serve_config_dataset, cube)},
    {KEY("folder", PLAN_FILE, serve_config_dataset, folder)},
    {KEY("population", PLAN_TEXT, serve_config_dataset, population), .required = 1},
    {KEY("unit", PLAN_TEXT, serve_config_dataset, unit)},
    {KEY("updated", PLAN_TEXT, serve_config_dataset, updated)},
    {KEY("next_update", PLAN_TEXT, serve_config_dataset, next_update)},
    {KEY("period", PLAN_TEXT, serve_config_dataset, period)},
    {KEY("title", PLAN_ANY, serve_config_dataset, title), .required = 1},
    {KEY("note", PLAN_ANY, serve_config_dataset, note)},
    {KEY("source", PLAN_ANY, serve_config_dataset, source)},
    {KEY("contact", PLAN_ANY, serve_config_dataset, contact)},
    {KEY("counted", PLAN_ANY, serve_config_dataset, counted)},
    {KEY("variables", PLAN_MAPS, serve_config_dataset, variables), .fields = variable_fields,
     .size = sizeof(serve_config_variable)},
    {KEY("cell_notes", PLAN_MAPS, serve_config_dataset, cell_notes), .fields = cell_note_fields,
     .size = sizeof(serve_config_cell_note)},
    {KEY("rules", PLAN_MAPS, serve_config_dataset, rules), .fields = serve_rule_fields,
     .size = sizeof(serve_rule_text)},
    {KEY("accept", PLAN_TEXTS, serve_config_dataset, accept)},
    {KEY("records", PLAN_ANY, serve_config_dataset, records)},
    {KEY("ledger", PLAN_ANY, serve_config_dataset, ledger)},
    {KEY("budget", PLAN_ANY, serve_config_dataset, budget)},
    {KEY("cell_key", PLAN_ANY, serve_config_dataset, cell_key)},
    {KEY("step_ms", PLAN_COUNT, serve_config_dataset, step_ms)},
    {KEY("max_cells", PLAN_COUNT, serve_config_dataset, max_cells)},
    {.key = NULL}};

static const plan_field config_fields[] = {
    {KEY("serve", PLAN_COUNT, serve_config, version), .required = 1},
    {KEY("site", PLAN_MAP, serve_config, site), .required = 1, .fields = site_fields},
    {KEY("datasets", PLAN_MAPS, serve_config, datasets), .required = 1, .fields = dataset_fields,
     .size = sizeof(serve_config_dataset)},
    {.key = NULL}};

/* ---- checks ------------------------------------------------------------------------------------
 */

/* Ids and languages stand in addresses. */
static int is_plain(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const size_t length = strlen(text);
    return length > 0 && length < ID_MAX && strspn(text, plain) == length;
}

static cellar_status check_languages(serve_config *config, cellar_error *err)
{
    static const char *const english[] = {"en"};
    const char *const *tags = config->site.languages.items;
    config->languages = config->site.languages.n > 0
                            ? (serve_languages){tags, config->site.languages.n}
                            : (serve_languages){english, 1};
    for (size_t i = 0; i < config->languages.n; i++) {
        if (!is_plain(config->languages.tags[i]))
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: site.languages: expected tags such as en or pt-BR",
                               config->name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(config->languages.tags[i], config->languages.tags[j]) == 0)
                return cellar_fail(err, CELLAR_ERR_INPUT, "%s: site.languages: '%.60s' twice",
                                   config->name, config->languages.tags[i]);
    }
    return CELLAR_OK;
}

static cellar_status check_dataset(const serve_config *config, size_t i, cellar_error *err)
{
    const serve_config_dataset *d = serve_config_dataset_at(config, i);
    const int is_cube = d->kind == SERVE_CUBE + 1;
    if (!is_plain(d->id))
        return cellar_plan_fail(config->name, &d->place, "id", err,
                                "expected letters, digits, '-' and '_', as it stands in addresses");
    for (size_t j = 0; j < i; j++)
        if (strcasecmp(serve_config_dataset_at(config, j)->id, d->id) == 0)
            return cellar_plan_fail(config->name, &d->place, "id", err,
                                    "another data set is called '%s' as well", d->id);
    if (is_cube ? d->cube == NULL : d->folder == NULL)
        return cellar_plan_fail(config->name, &d->place, NULL, err, "'%s' is missing",
                                is_cube ? "cube" : "folder");
    if (is_cube ? d->folder != NULL : d->cube != NULL)
        return cellar_plan_fail(config->name, &d->place, is_cube ? "folder" : "cube", err,
                                "this kind of data set has none");
    return CELLAR_OK;
}

static cellar_status check(serve_config *config, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (config->version != 1)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: serve: this program reads configurations of version 1",
                           config->name);
    status = check_languages(config, err);
    for (size_t i = 0; status == CELLAR_OK && i < config->datasets.n; i++)
        status = check_dataset(config, i, err);
    return status;
}

/* ---- reading -----------------------------------------------------------------------------------
 */

plan_reading serve_config_reading(const serve_config *config, cellar_error *err)
{
    return (plan_reading){
        .name = config->name, .folder = config->folder, .arena = config->arena, .err = err};
}

static void take_digest(serve_config *config, const char *bytes, size_t length)
{
    unsigned char hash[(SERVE_CONFIG_DIGEST_TEXT - 1) / 2];
    crypto_generichash(hash, sizeof hash, (const unsigned char *) bytes, length, NULL, 0);
    sodium_bin2hex(config->digest, sizeof config->digest, hash, sizeof hash);
}

/* From memory; paths in it are taken from `folder`. */
static cellar_status parse(const char *name, const char *folder, const char *bytes, size_t length,
                           serve_config **out, cellar_error *err)
{
    plan_reading reading = {0};
    serve_config *config = cellar_alloc(1, sizeof *config);
    plan_node *tree = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (config != NULL)
        config->arena = cellar_arena_create(CONFIG_ARENA_BYTES);
    if (config == NULL || config->arena == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a configuration"));
    config->name = cellar_arena_copy(config->arena, name, strlen(name));
    config->folder = cellar_arena_copy(config->arena, folder, strlen(folder));
    if (config->name == NULL || config->folder == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a configuration"));
    take_digest(config, bytes, length);
    reading = serve_config_reading(config, err);
    CELLAR_TRY(cellar_plan_yaml_parse(name, bytes, length, config->arena, &tree, err));
    CELLAR_TRY(cellar_plan_read_map(&reading, tree, config_fields, config));
    CELLAR_TRY(check(config, err));
    *out = config;
    config = NULL;
out:
    cellar_text_clear(&reading.path);
    serve_config_free(config);
    return status;
}

cellar_status serve_config_read(const char *path, serve_config **out, cellar_error *err)
{
    const char *slash = strrchr(path, '/');
    cellar_text folder = {0};
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    cellar_text_add(&folder, path, slash != NULL ? (size_t) (slash - path) + 1 : 0);
    if (folder.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a configuration"));
    CELLAR_TRY(cellar_file_read(path, CONFIG_BYTES_MAX, &bytes, &length, err));
    CELLAR_TRY(parse(path, folder.bytes, bytes, length, out, err));
out:
    cellar_free(bytes);
    cellar_text_clear(&folder);
    return status;
}

void serve_config_free(serve_config *config)
{
    if (config == NULL)
        return;
    cellar_arena_free(config->arena);
    cellar_free(config);
}
