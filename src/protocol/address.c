/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/address.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cellar/text.h>

#include "base/error.h"

/* Where to go: what bind and connect want. */
typedef struct place {
    struct sockaddr_storage address;
    socklen_t length;
} place;

static cellar_status place_unix(const char *path, place *out, cellar_error *err)
{
    struct sockaddr_un *local = (struct sockaddr_un *) &out->address;
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof local->sun_path)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "unix:%.200s: the path of a socket has 1 to %zu bytes", path,
                           sizeof local->sun_path - 1);
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, path, length + 1);
    out->length = sizeof *local;
    return CELLAR_OK;
}

static cellar_status place_tcp(const char *address, place *out, cellar_error *err)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    const char *colon = strrchr(address, ':');
    struct addrinfo *found = NULL;
    char host[256];
    size_t length = colon != NULL ? (size_t) (colon - address) : 0;
    uint64_t port;

    if (colon == NULL || length == 0 || length >= sizeof host || colon[1] == '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "an address reads HOST:PORT or unix:PATH, not '%.200s'", address);
    if (cellar_parse_u64(colon + 1, strlen(colon + 1), &port) &&
        port > 65535) /* taken for 0 else */
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.200s: a port is at most 65535", address);
    memcpy(host, address, length);
    host[length] = '\0';
    if (host[0] == '[' && host[length - 1] == ']') { /* an address with colons of its own */
        memmove(host, host + 1, length);
        host[length - 2] = '\0';
    }
    if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
        return cellar_fail(err, CELLAR_ERR_IO, "%.200s: there is no such address", address);
    memcpy(&out->address, found->ai_addr, found->ai_addrlen);
    out->length = found->ai_addrlen;
    freeaddrinfo(found);
    return CELLAR_OK;
}

static cellar_status place_find(const char *address, place *out, cellar_error *err)
{
    *out = (place){.length = 0};
    return strncmp(address, "unix:", 5) == 0 ? place_unix(address + 5, out, err)
                                             : place_tcp(address, out, err);
}

/* A socket left behind by a process that died is in the way; one that answers is not ours. */
static void place_clean(const place *where, const char *address)
{
    struct stat facts;
    int fd;
    if (where->address.ss_family != AF_UNIX || lstat(address + 5, &facts) != 0 ||
        !S_ISSOCK(facts.st_mode))
        return;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *) &where->address, where->length) != 0 &&
        errno == ECONNREFUSED)
        unlink(address + 5);
    close(fd);
}

cellar_status address_listen(const char *address, int *fd, cellar_error *err)
{
    const int on = 1;
    place where;
    cellar_status status = place_find(address, &where, err);

    *fd = -1;
    if (status != CELLAR_OK)
        return status;
    place_clean(&where, address);
    *fd = socket(where.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*fd >= 0 && where.address.ss_family != AF_UNIX)
        (void) setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (*fd < 0 || bind(*fd, (const struct sockaddr *) &where.address, where.length) != 0 ||
        listen(*fd, SOMAXCONN) != 0) {
        status = cellar_fail_errno(err, address, "listen");
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
    }
    return status;
}

/* The network that an address belongs to: 24 bits of IPv4, 56 of IPv6. Whoever has one address of
 * it often has many. */
static uint64_t place_origin(const struct sockaddr_storage *from)
{
    unsigned char bytes[16] = {0};
    uint64_t origin = 0;
    size_t n = 7;
    if (from->ss_family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *) from)->sin_addr, 4);
        n = 3;
    } else if (from->ss_family == AF_INET6) {
        const struct in6_addr *long_address = &((const struct sockaddr_in6 *) from)->sin6_addr;
        memcpy(bytes, long_address, 16);
        if (IN6_IS_ADDR_V4MAPPED(long_address)) {
            memmove(bytes, bytes + 12, 4);
            n = 3;
        }
    } else {
        return ADDRESS_LOCAL;
    }
    for (size_t i = 0; i < n; i++)
        origin = origin << 8 | bytes[i];
    return origin << 8 | n;
}

int address_accept(int listener, uint64_t *origin)
{
    struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
    socklen_t length = sizeof from;
    int fd = accept4(listener, (struct sockaddr *) &from, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    *origin = fd >= 0 ? place_origin(&from) : 0;
    return fd;
}

cellar_status address_connect(const char *address, uint32_t timeout_ms, int *fd, cellar_error *err)
{
    const struct timeval limit = {.tv_sec = timeout_ms / 1000,
                                  .tv_usec = (suseconds_t) (timeout_ms % 1000) * 1000};
    const int on = 1;
    place where;
    cellar_status status = place_find(address, &where, err);

    *fd = -1;
    if (status != CELLAR_OK)
        return status;
    *fd = socket(where.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0) {
        (void) setsockopt(*fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        (void) setsockopt(*fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        (void) setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    if (*fd < 0 || connect(*fd, (const struct sockaddr *) &where.address, where.length) != 0) {
        status = cellar_fail_errno(err, address, "connect");
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
    }
    return status;
}
