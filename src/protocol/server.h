/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A service at a socket: one thread, one poll, every connection with fixed buffers and a deadline
 * for each whole frame. Frames of one length come, answers of one length go. What comes in one turn
 * is synced once, and answered after that. */
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
