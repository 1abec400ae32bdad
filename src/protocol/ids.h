/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ids of messages seen so far. */
#ifndef CELLAR_PROTOCOL_IDS_H
#define CELLAR_PROTOCOL_IDS_H

#include <stddef.h>

#include "protocol/message.h"

/* {0} is an empty set. */
typedef struct id_set {
    unsigned char (*ids)[MESSAGE_ID_BYTES];
    unsigned char *used;
    size_t n, capacity; /* a power of two, or 0 */
    unsigned char key[16];
} id_set;

void id_set_clear(id_set *set);
int id_set_has(const id_set *set, const unsigned char id[MESSAGE_ID_BYTES]);
/* Room for so many more, which can then be added without fail. 0 when memory ends; the set then
 * stays as it was; so below. */
int id_set_reserve(id_set *set, size_t n_more);
/* Adds an id; *known tells whether it was there. */
int id_set_add(id_set *set, const unsigned char id[MESSAGE_ID_BYTES], int *known);

#endif
