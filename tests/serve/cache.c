/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cache of responses keeps within its bytes, and frees each response once. */
#include "cache.h"

#include <stdio.h>
#include <string.h>

enum { N = 1000, BYTES = 1000, ROOM = 20000 };

static size_t n_alive;

static void gone(void *context)
{
    (void) context;
    n_alive--;
}

int main(void)
{
    static char body[BYTES];
    cache *all = cache_create(ROOM);
    size_t most = 0;
    if (all == NULL)
        return 1;
    for (int i = 0; i < N; i++) {
        char key[32];
        struct MHD_Response *response =
            MHD_create_response_from_buffer_with_free_callback_cls(sizeof body, body, gone, NULL);
        n_alive++;
        snprintf(key, sizeof key, "/%d", i % 700); /* the last ones are there already */
        cache_keep(all, key, response, i == 5 ? ROOM : sizeof body);
        most = n_alive > most ? n_alive : most;
    }
    printf("at most %zu of %d kept, %zu at the end\n", most, N, n_alive);
    if (most > ROOM / BYTES || n_alive < 10)
        return 1;
    cache_free(all);
    return n_alive != 0;
}
