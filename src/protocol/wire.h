/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The connecting end of a channel. */
#ifndef CELLAR_PROTOCOL_WIRE_H
#define CELLAR_PROTOCOL_WIRE_H

#include "protocol/channel.h"

/* Holds keys: put it in locked memory. {0} is none. */
typedef struct wire {
    int fd;
    const char *peer; /* "the shuffler", in messages */
    channel channel;
} wire;

/* Connects and greets; the other end must be the one that the round names as its shuffler. Close it
 * in every case. A timeout of 0 is the usual one. */
cellar_status wire_open(wire *w, const char *peer, const char *address, const collect_round *round,
                        uint32_t timeout_ms, cellar_error *err);
void wire_close(wire *w);

/* One frame; `frame` has room for the plain bytes and FRAME_EXTRA_BYTES. */
cellar_status wire_send(wire *w, const unsigned char *plain, size_t n, unsigned char *frame,
                        cellar_error *err);
cellar_status wire_receive(wire *w, unsigned char *plain, size_t n, unsigned char *frame,
                           cellar_error *err);

#endif
