/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cache.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { N_BUCKETS = 4096, OWN_BYTES = 512, LARGE_SHARE = 8 };

typedef struct entry {
    struct MHD_Response *response;
    size_t bytes;
    uint64_t hash;
    struct entry *next;           /* of its bucket */
    struct entry *before, *after; /* by when they were asked for, the last one first */
    char key[];
} entry;

struct cache {
    pthread_mutex_t lock;
    size_t bytes, most_bytes;
    entry *buckets[N_BUCKETS];
    entry *newest, *oldest;
};

cache *cache_create(size_t bytes)
{
    cache *all = calloc(1, sizeof *all);
    if (all == NULL)
        return NULL;
    all->most_bytes = bytes;
    pthread_mutex_init(&all->lock, NULL);
    return all;
}

/* FNV-1a: who makes keys collide makes his own questions slow, and chains stay short by the limit
 * on bytes. */
static uint64_t hash_of(const char *key)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *key != '\0'; key++)
        hash = (hash ^ (unsigned char) *key) * UINT64_C(1099511628211);
    return hash;
}

static void unlink_entry(cache *all, entry *e)
{
    *(e->before != NULL ? &e->before->after : &all->newest) = e->after;
    *(e->after != NULL ? &e->after->before : &all->oldest) = e->before;
}

static void link_newest(cache *all, entry *e)
{
    e->before = NULL;
    e->after = all->newest;
    *(e->after != NULL ? &e->after->before : &all->oldest) = e;
    all->newest = e;
}

static void drop(cache *all, entry *e)
{
    entry **at = &all->buckets[e->hash % N_BUCKETS];
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    unlink_entry(all, e);
    all->bytes -= e->bytes;
    MHD_destroy_response(e->response);
    free(e);
}

void cache_free(cache *all)
{
    if (all == NULL)
        return;
    while (all->oldest != NULL)
        drop(all, all->oldest);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

static entry *find(cache *all, const char *key, uint64_t hash)
{
    entry *e = all->buckets[hash % N_BUCKETS];
    while (e != NULL && (e->hash != hash || strcmp(e->key, key) != 0))
        e = e->next;
    return e;
}

int cache_send(cache *all, const char *key, struct MHD_Connection *connection, size_t *bytes)
{
    entry *e;
    int is_sent = 0;
    pthread_mutex_lock(&all->lock);
    e = find(all, key, hash_of(key));
    if (e != NULL) {
        unlink_entry(all, e);
        link_newest(all, e);
        *bytes = e->bytes;
        is_sent = MHD_queue_response(connection, MHD_HTTP_OK, e->response) == MHD_YES;
    }
    pthread_mutex_unlock(&all->lock);
    return is_sent;
}

/* The response is kept by the cache and by the connection it is queued at. */
void cache_keep(cache *all, const char *key, struct MHD_Response *response, size_t bytes)
{
    const uint64_t hash = hash_of(key);
    const size_t length = strlen(key), cost = bytes + length + OWN_BYTES;
    entry *e = cost <= all->most_bytes / LARGE_SHARE ? malloc(sizeof *e + length + 1) : NULL;
    if (e == NULL) {
        MHD_destroy_response(response);
        return;
    }
    *e = (entry){.response = response, .bytes = cost, .hash = hash};
    memcpy(e->key, key, length + 1);
    pthread_mutex_lock(&all->lock);
    if (find(all, key, hash) == NULL) {
        e->next = all->buckets[hash % N_BUCKETS];
        all->buckets[hash % N_BUCKETS] = e;
        link_newest(all, e);
        all->bytes += cost;
        e = NULL;
        while (all->bytes > all->most_bytes)
            drop(all, all->oldest);
    }
    pthread_mutex_unlock(&all->lock);
    if (e != NULL) {
        MHD_destroy_response(response);
        free(e);
    }
}
