/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole server without its sockets: a cube, a budget and cell keys, drawn by a vault in the same
 * process; tokens, an audit log, saved queries. */
#ifndef CELLAR_TESTS_SERVE_WHOLE_H
#define CELLAR_TESTS_SERVE_WHOLE_H

#include "serve_place.h"
#include "vault_place.h"

#define WHOLE_SITE                                                                                 \
    "serve: 1\n"                                                                                   \
    "site:\n"                                                                                      \
    "  title: {en: Tables, sv: Tabeller}\n"                                                        \
    "  languages: [en, sv]\n"                                                                      \
    "  tokens: tokens\n"                                                                           \
    "  audit: audit\n"                                                                             \
    "  state: state\n"                                                                             \
    "  limits: {calls: 1000000, seconds: 1}\n"
#define WHOLE_CUBE SERVE_PLACE_DATASET "    rules: [{name: few, max_variables: 2}]\n"

#define WHOLE_PERIOD "    period: 2026\n"

typedef struct whole {
    cellar_vault *vault;
    cellar_site *site;
    size_t n_draws; /* messages to draw that the vault was sent */
} whole;

static inline cellar_status whole_ask_vault(void *context, const char *message, size_t length,
                                            char **reply, size_t *reply_length, cellar_error *why)
{
    whole *w = context;
    w->n_draws += memmem(message, length, "\"draw\"", 6) != NULL;
    return cellar_vault_answer(w->vault, message, length, reply, reply_length, why);
}

/* In a folder that vault_place_setup() made. */
static inline void whole_open(whole *w, scratch *place)
{
    cellar_site_options options = cellar_site_options_default();
    *w = (whole){0};
    mkdir(scratch_path(place, "state"), 0700);
    serve_place_make(place,
                     WHOLE_SITE WHOLE_CUBE VAULT_BUDGET WHOLE_PERIOD VAULT_KEYED WHOLE_PERIOD);
    w->vault = vault_open_here(place);
    options.ask_vault = whole_ask_vault;
    options.vault_context = w;
    CHECK_OK(cellar_site_open(scratch_path(place, "site.yaml"), &options, &w->site, &err));
}

static inline void whole_close(whole *w)
{
    cellar_site_close(w->site);
    cellar_vault_close(w->vault);
}

static inline int whole_teardown(void **state)
{
    vault_empty(scratch_path(*state, "state"));
    return vault_place_teardown(state);
}

#endif
