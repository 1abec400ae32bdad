/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of `cellar serve` share. */
#ifndef CELLAR_CLI_SERVE_H
#define CELLAR_CLI_SERVE_H

#include <limits.h>

#include "options.h"

typedef struct serve_values {
    const char *listen, *signer, *front_user, *vault_user;
    cli_number threads, deadline, people;
    int anywhere, require_sandbox, demo;
    const char *name, *analyst, *expires, *known; /* of tokens and the audit log */
    const char *key;                              /* of a signature */
    cli_words roles;
    int json;
} serve_values;

/* Makes the small country in `folder`, its ledger and its cube, as far as they are not there, and
 * answers CLI_GO_ON with the path of the configuration that serves it. */
int cli_serve_demo(const char *folder, const serve_values *values, char config[PATH_MAX]);

/* cellar serve token create|list|revoke FILE, cellar serve audit FILE; the words begin there. */
int cli_serve_token(const cli_words *words, const serve_values *values);
int cli_serve_audit(const cli_words *words, const serve_values *values);
/* cellar serve sign|verify CONFIG.yaml. */
int cli_serve_sign(const cli_words *words, const serve_values *values);

#endif
