/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vault_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cellar/vault.h>

void vault_links_init(vault_links *links, const int fds[SERVER_LINKS])
{
    *links = (vault_links){.lock = PTHREAD_MUTEX_INITIALIZER, .one_free = PTHREAD_COND_INITIALIZER};
    for (size_t i = 0; i < SERVER_LINKS; i++)
        links->fds[i] = fds[i];
}

/* Waits for a link that is free; -1 when all are broken. */
static int take(vault_links *links)
{
    for (;;) {
        int is_whole = 0;
        for (int i = 0; i < SERVER_LINKS; i++) {
            if (links->fds[i] >= 0 && !links->is_taken[i]) {
                links->is_taken[i] = 1;
                return i;
            }
            is_whole |= links->fds[i] >= 0;
        }
        if (!is_whole)
            return -1;
        pthread_cond_wait(&links->one_free, &links->lock);
    }
}

/* The length of the reply, or -1. */
static ssize_t exchange(int fd, const char *message, size_t length, char *reply)
{
    ssize_t n;
    do
        n = send(fd, message, length, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t) length)
        return -1;
    do
        n = recv(fd, reply, CELLAR_VAULT_MESSAGE_BYTES, 0);
    while (n < 0 && errno == EINTR);
    return n > 0 ? n : -1;
}

static cellar_status fail(cellar_error *err, cellar_status status, const char *why)
{
    if (err != NULL)
        snprintf(err->message, sizeof err->message, "%s", why);
    return status;
}

cellar_status vault_links_ask(void *context, const char *message, size_t length, char **reply,
                              size_t *reply_length, cellar_error *err)
{
    vault_links *links = context;
    char *room = NULL;
    ssize_t n = -1;
    int at;
    *reply = NULL;
    if (length > CELLAR_VAULT_MESSAGE_BYTES)
        return fail(err, CELLAR_ERR_ARGUMENT, "the message to the vault is too large");
    room = malloc(CELLAR_VAULT_MESSAGE_BYTES + 1);
    if (room == NULL)
        return fail(err, CELLAR_ERR_MEMORY, "not enough memory for a reply of the vault");
    pthread_mutex_lock(&links->lock);
    at = take(links);
    pthread_mutex_unlock(&links->lock);
    if (at >= 0)
        n = exchange(links->fds[at], message, length, room);
    pthread_mutex_lock(&links->lock);
    if (at >= 0 && n < 0) { /* what it still carries would be taken for another's reply */
        close(links->fds[at]);
        links->fds[at] = -1;
    }
    if (at >= 0)
        links->is_taken[at] = 0;
    pthread_cond_broadcast(&links->one_free);
    pthread_mutex_unlock(&links->lock);
    if (n < 0) {
        free(room);
        return fail(err, CELLAR_ERR_IO, "the vault does not answer now");
    }
    room[n] = '\0';
    *reply = room;
    *reply_length = (size_t) n;
    return CELLAR_OK;
}
