/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A service at a socket: one thread, one poll, every connection with fixed buffers. Frames of one
 * length come, answers of one length go. What comes in one turn is synced once, and answered after
 * that.
 *
 * Slow and silent connections do not keep others out. A greeting, and each frame after it, has a
 * deadline; so has the connection, which every frame moves a little. When the places of a network,
 * or all places, are taken, a newcomer takes that of a connection that has been idle, or one of the
 * network with the most connections; where there is none it gets the answer that the server is
 * busy. When descriptors run out, the server stops accepting for a moment. */
#ifndef CELLAR_PROTOCOL_SERVER_H
#define CELLAR_PROTOCOL_SERVER_H

#include "protocol/channel.h"

/* Who sent a frame: a number that no other connection has, and what both ends know of this one. */
typedef struct service_sender {
    uint64_t number;
    const unsigned char *binding; /* CHANNEL_BINDING_BYTES */
} service_sender;

typedef struct service {
    const collect_round *round; /* a hello must name it; its shuffler is who answers */
    const cellar_collect_keys *keys;
    size_t frame_bytes, answer_bytes; /* before they are sealed */
    size_t n_waiting;                 /* answers that a slow reader may leave behind */
    void *context;
    /* Takes a frame and fills the answer, all zeros at first. A failure ends the service. */
    cellar_status (*take)(void *context, const service_sender *sender, const unsigned char *frame,
                          unsigned char *answer, cellar_error *err);
    /* Makes last what was taken, before it is answered. */
    cellar_status (*sync)(void *context, cellar_error *err);
    int (*is_done)(void *context);
} service;

/* Listens until it is done; then waits for those who have not read their answers, for as long as a
 * frame may take. `limits` may be NULL. */
cellar_status service_run(const service *of, const char *address,
                          const cellar_collect_limits *limits, cellar_error *err);

#endif
