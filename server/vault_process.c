/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vault: a thread for each link, each with one message at a time. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cellar/process.h>
#include <cellar/vault.h>

#include "server.h"

typedef struct desk {
    cellar_vault *vault;
    int fd;
    pthread_t thread;
} desk;

/* 0 when the front is gone. */
static int answer_one(const desk *d, char *message)
{
    char *reply = NULL;
    size_t length = 0;
    cellar_error err = {""};
    ssize_t n;
    int is_sent;
    do
        n = recv(d->fd, message, CELLAR_VAULT_MESSAGE_BYTES, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return 0;
    if (cellar_vault_answer(d->vault, message, (size_t) n, &reply, &length, &err) != CELLAR_OK)
        return 0;               /* the front hears that there is no answer */
    if (err.message[0] != '\0') /* which the front does not hear */
        server_say("%s", err.message);
    is_sent = send(d->fd, reply, length, MSG_NOSIGNAL) == (ssize_t) length;
    free(reply);
    return is_sent;
}

static void *work(void *context)
{
    desk *d = context;
    char *message = malloc(CELLAR_VAULT_MESSAGE_BYTES);
    while (message != NULL && answer_one(d, message))
        continue;
    free(message);
    close(d->fd);
    return NULL;
}

static int open_vault(const server_options *options, cellar_vault **out)
{
    cellar_vault_options how = cellar_vault_options_default();
    cellar_public_key signer;
    cellar_error err = {""};
    cellar_status status = cellar_process_confine(0, &err);
    if (status == CELLAR_OK && options->signer != NULL) {
        status = cellar_public_key_read(options->signer, &signer, &err);
        how.signer = &signer;
    }
    if (status == CELLAR_OK)
        status = cellar_vault_open(options->config, &how, out, &err);
    if (status != CELLAR_OK)
        server_say("%s", err.message);
    return status == CELLAR_OK;
}

int server_vault_run(const server_options *options, const int links[SERVER_LINKS], int ready)
{
    desk desks[SERVER_LINKS] = {{0}};
    cellar_vault *vault = NULL;
    size_t n = 0;
    sigset_t others;
    sigemptyset(&others); /* it ends when the front has, with nothing half done */
    sigaddset(&others, SIGTERM);
    sigaddset(&others, SIGINT);
    sigaddset(&others, SIGHUP);
    sigprocmask(SIG_BLOCK, &others, NULL);
    if (!open_vault(options, &vault))
        return 1;
    while (n < SERVER_LINKS) {
        desks[n] = (desk){.vault = vault, .fd = links[n]};
        if (pthread_create(&desks[n].thread, NULL, work, &desks[n]) != 0)
            break;
        n++;
    }
    if (n < SERVER_LINKS || write(ready, "r", 1) != 1)
        return 1;
    close(ready);
    for (size_t i = 0; i < n; i++)
        pthread_join(desks[i].thread, NULL);
    cellar_vault_close(vault);
    return 0;
}
