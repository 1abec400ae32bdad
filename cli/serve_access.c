/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar serve token and cellar serve audit: who may ask, and what was asked. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/access.h>
#include <cellar/text.h>

#include "json_out.h"
#include "serve.h"
#include "terminal.h"

/* ---- tokens -------------------------------------------------------------------- */

/* "analyst,auditor" from what was typed; 0: that is too much. */
static int join_roles(const cli_words *roles, char out[128])
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < roles->n; i++) {
        const int n =
            snprintf(out + length, 128 - length, "%s%s", i > 0 ? "," : "", roles->items[i]);
        if (n < 0 || (size_t) n >= 128 - length)
            return 0;
        length += (size_t) n;
    }
    return 1;
}

static int token_create(const char *path, const serve_values *values)
{
    cellar_token_spec spec = cellar_token_spec_default();
    char roles[128], secret[CELLAR_TOKEN_TEXT];
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status;
    if (values->name == NULL)
        return cli_usage("token create: --name says whose token it is");
    if (!join_roles(&values->roles, roles))
        return cli_usage("token create: --role is one of reader, analyst, publisher, auditor");
    spec.name = values->name;
    spec.analyst = values->analyst;
    spec.expires = values->expires;
    if (values->roles.n > 0)
        spec.roles = roles;
    status = cellar_token_create(path, &spec, secret, &err);
    if (status == CELLAR_OK)
        status = cellar_output_open("-", NULL, &output, &err);
    if (status == CELLAR_OK && values->json) {
        cli_json json = {.output = output};
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "name", spec.name);
        cli_json_text(&json, "roles", spec.roles);
        cli_json_text(&json, "token", secret);
        cli_json_end(&json, '}');
    } else if (status == CELLAR_OK)
        cellar_output_printf(output, "%s\n", secret);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, &err);
    memset(secret, 0, sizeof secret);
    if (status == CELLAR_OK && !values->json)
        cli_message("the token of '%s' is shown this once; the file holds its hash", spec.name);
    return cli_exit_kept(status, &err);
}

/* A list being printed, one way or the other. */
typedef struct listing {
    cli_grid grid;
    cli_json json;
    int as_json;
} listing;

static void list_token(void *context, const cellar_token_info *token)
{
    listing *l = context;
    if (l->as_json) {
        cli_json_begin(&l->json, NULL, '{');
        cli_json_text(&l->json, "name", token->name);
        cli_json_text(&l->json, "roles", token->roles);
        cli_json_text(&l->json, "analyst", token->analyst);
        cli_json_text(&l->json, "created", token->created);
        cli_json_text(&l->json, "expires", token->expires);
        cli_json_end(&l->json, '}');
        return;
    }
    cli_grid_add(&l->grid, token->name);
    cli_grid_add(&l->grid, token->roles);
    cli_grid_add(&l->grid, token->analyst);
    cli_grid_add(&l->grid, token->created);
    cli_grid_add(&l->grid, token->expires);
}

static int token_list(const char *path, const serve_values *values)
{
    static const char *const headings[] = {"name", "roles", "analyst", "created", "expires"};
    listing l = {.grid = {.n_columns = 5}, .as_json = values->json};
    cellar_error err;
    cellar_status status = cellar_output_open("-", NULL, &l.json.output, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    for (size_t i = 0; i < 5; i++)
        cli_grid_add(&l.grid, headings[i]);
    if (l.as_json) {
        cli_json_begin(&l.json, NULL, '{');
        cli_json_begin(&l.json, "tokens", '[');
    }
    status = cellar_token_list(path, list_token, &l, &err);
    if (l.as_json) {
        cli_json_end(&l.json, ']');
        cli_json_end(&l.json, '}');
    } else
        cli_grid_write(&l.grid, 0, l.json.output);
    cli_grid_clear(&l.grid);
    if (status == CELLAR_OK)
        status = cellar_output_commit(l.json.output, &err);
    else
        cellar_output_discard(l.json.output);
    return cli_exit(status, &err);
}

static int token_revoke(const char *path, const serve_values *values)
{
    cellar_error err;
    if (values->name == NULL)
        return cli_usage("token revoke: --name says whose token it is");
    return cli_exit(cellar_token_revoke(path, values->name, &err), &err);
}

int cli_serve_token(const cli_words *words, const serve_values *values)
{
    static const struct {
        const char *name;
        int (*run)(const char *path, const serve_values *values);
    } actions[] = {{"create", token_create}, {"list", token_list}, {"revoke", token_revoke}};
    if (words->n != 3)
        return cli_usage("serve token create|list|revoke needs a file of tokens");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(words->items[1], actions[i].name) == 0)
            return actions[i].run(words->items[2], values);
    return cli_usage("serve token: '%s' is none of create, list and revoke", words->items[1]);
}

/* ---- the audit log ---------------------------------------------------------------- */

static void list_entry(void *context, const cellar_audit_entry *entry)
{
    listing *l = context;
    const char *const texts[] = {entry->time,  entry->who,      entry->action, entry->dataset,
                                 entry->table, entry->decision, entry->rule,   entry->cost};
    static const char *const keys[] = {"time",  "who",      "action", "dataset",
                                       "table", "decision", "rule",   "cost"};
    if (l->as_json) {
        cli_json_begin(&l->json, NULL, '{');
        cli_json_count(&l->json, "number", entry->number);
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
            cli_json_text(&l->json, keys[i], texts[i]);
        cli_json_end(&l->json, '}');
        return;
    }
    cli_grid_add_count(&l->grid, entry->number);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cli_grid_add(&l->grid, texts[i]);
}

/* "12:64 hexadecimal digits". */
static int read_known(const char *text, cellar_audit_head *out)
{
    const size_t digits = strcspn(text, ":");
    const char *hash = text + digits + (text[digits] == ':');
    if (!cellar_parse_u64(text, digits, &out->n_entries) ||
        strlen(hash) != CELLAR_AUDIT_HASH_TEXT - 1 ||
        strspn(hash, "0123456789abcdef") != CELLAR_AUDIT_HASH_TEXT - 1)
        return 0;
    memcpy(out->hash, hash, CELLAR_AUDIT_HASH_TEXT);
    return 1;
}

static void show_log(listing *l, const cellar_audit_head *head)
{
    if (l->as_json) {
        cli_json_end(&l->json, ']');
        cli_json_count(&l->json, "entries", head->n_entries);
        cli_json_text(&l->json, "head", head->hash);
        cli_json_end(&l->json, '}');
        return;
    }
    if (head->n_entries > 0)
        cli_grid_write(&l->grid, 1, l->json.output);
    cellar_output_printf(l->json.output,
                         "The chain holds; keep its head elsewhere: %" PRIu64 ":%s\n",
                         head->n_entries, head->hash);
}

int cli_serve_audit(const cli_words *words, const serve_values *values)
{
    static const char *const headings[] = {"number", "time",     "who",  "action", "dataset",
                                           "table",  "decision", "rule", "cost"};
    listing l = {.grid = {.n_columns = 9}, .as_json = values->json};
    cellar_audit_head known, head;
    cellar_error err;
    cellar_status status;
    if (words->n != 2)
        return cli_usage("serve audit needs a log");
    if (values->known != NULL && !read_known(values->known, &known))
        return cli_usage("--known is a head that this verb printed: N:HASH");
    status = cellar_output_open("-", NULL, &l.json.output, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    for (size_t i = 0; i < 9; i++)
        cli_grid_add(&l.grid, headings[i]);
    if (l.as_json) {
        cli_json_begin(&l.json, NULL, '{');
        cli_json_begin(&l.json, "log", '[');
    }
    status = cellar_audit_read(words->items[1], values->known != NULL ? &known : NULL, list_entry,
                               &l, &head, &err);
    if (status == CELLAR_OK) {
        show_log(&l, &head);
        status = cellar_output_commit(l.json.output, &err);
    } else
        cellar_output_discard(l.json.output);
    cli_grid_clear(&l.grid);
    return cli_exit(status, &err);
}
