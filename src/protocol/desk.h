/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The desk of a role: it hands out the papers of its folder, and takes the batches that the
 * shuffler delivers. What goes over the channel, before it is sealed:
 *
 *   request  what (1), paper (1), 0 0, length (4), offset (8), bytes (4096)
 *   answer   verdict (1), 0 0 0, length (4), total (8), bytes (4096), or why in words
 *
 * Papers are public and signed. A delivery begins with a signature of the shuffler over this very
 * connection, goes on in order, and ends when the signature of the batch was checked and the file
 * is on disk. */
#ifndef CELLAR_PROTOCOL_DESK_H
#define CELLAR_PROTOCOL_DESK_H

#include "protocol/server.h"

enum { DESK_CHUNK = 4096, DESK_FRAME_BYTES = 16 + DESK_CHUNK, DESK_WINDOW = 8 };

typedef enum desk_wish { DESK_GET = 1, DESK_BEGIN = 2, DESK_PART = 3, DESK_FINISH = 4 } desk_wish;
typedef enum desk_verdict { DESK_OK = 0, DESK_REFUSED = 1, DESK_NOT_YET = 2 } desk_verdict;

/* Papers have the numbers of their places in this list; batches come behind. */
enum { DESK_PAPERS = 5, DESK_BATCHES = 4, DESK_NAMES = DESK_PAPERS + DESK_BATCHES };
extern const char *const desk_names[DESK_NAMES];
/* The place of a name, DESK_NAMES when it is none. */
size_t desk_find(const char *name);

/* A frame of either direction. */
typedef struct desk_frame {
    unsigned char kind, paper;
    uint32_t length;
    uint64_t offset;
    const unsigned char *bytes;
} desk_frame;

void desk_write(const desk_frame *frame, unsigned char out[DESK_FRAME_BYTES]);
/* 0 when a byte is not as it is written. */
int desk_read(const unsigned char in[DESK_FRAME_BYTES], desk_frame *frame);

/* What a hello names: the desk of a role with this identity. */
void desk_round(const cellar_collect_identity *identity, cellar_collect_role role,
                collect_round *out);
/* What the shuffler signs to begin a delivery. */
void desk_digest(const unsigned char *binding, size_t paper, uint64_t total,
                 unsigned char digest[32]);

/* A desk at work; {0} with the first members filled in. */
typedef struct desk {
    const char *folder;
    const cellar_invitation *invitation; /* whose shuffler delivers */
    const cellar_decision *decision;     /* of round two, for its batch; NULL: there are none */
    cellar_collect_role role;
    const char *until; /* a name: the desk closes when it is there; NULL: never */
    int fd;            /* of a delivery; it belongs to `sender` and has `got` bytes of `total` */
    uint64_t sender, got, total;
    size_t paper;
    int is_open;
} desk;

cellar_status desk_take(void *context, const service_sender *sender, const unsigned char *frame,
                        unsigned char *answer, cellar_error *err);
void desk_close(desk *d);

#endif
