/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front's side of the links to the vault. Each carries one message at a time. */
#ifndef CELLAR_SERVER_VAULT_LINK_H
#define CELLAR_SERVER_VAULT_LINK_H

#include <pthread.h>

#include <cellar/site.h>

#include "server.h"

typedef struct vault_links {
    pthread_mutex_t lock;
    pthread_cond_t one_free;
    int fds[SERVER_LINKS]; /* -1: broken */
    int is_taken[SERVER_LINKS];
} vault_links;

void vault_links_init(vault_links *links, const int fds[SERVER_LINKS]);

/* A cellar_ask_vault; the context is a vault_links. */
cellar_ask_vault vault_links_ask;

#endif
