/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the front listens: at a socket that was passed, a Unix socket, or an address of this
 * machine. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cellar/text.h>

#include "server.h"

enum { BACKLOG = 1024, FIRST_PASSED = 3 };
static const char UNIX_PREFIX[] = "unix:";

static int is_unix_path(const char *text)
{
    return strncmp(text, UNIX_PREFIX, sizeof UNIX_PREFIX - 1) == 0;
}

/* ---- a socket that was passed -------------------------------------------------------------- */

/* The number of sockets that the service manager passed to this very process. */
static int n_passed(void)
{
    const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
    uint64_t whose, how_many;
    return pid != NULL && n != NULL && cellar_parse_u64(pid, strlen(pid), &whose) &&
                   whose == (uint64_t) getpid() && cellar_parse_u64(n, strlen(n), &how_many) &&
                   how_many < INT_MAX
               ? (int) how_many
               : 0;
}

static void write_url(server_socket *out)
{
    struct sockaddr_storage address = {0};
    socklen_t length = sizeof address;
    char host[64] = "", port[16] = "";
    if (getsockname(out->fd, (struct sockaddr *) &address, &length) != 0)
        return;
    out->is_unix = address.ss_family == AF_UNIX;
    if (out->is_unix) {
        const struct sockaddr_un *at = (const struct sockaddr_un *) &address;
        snprintf(out->url, sizeof out->url, "%s%.100s", UNIX_PREFIX, at->sun_path);
        return;
    }
    if (getnameinfo((struct sockaddr *) &address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(out->url, sizeof out->url,
                 address.ss_family == AF_INET6 ? "http://[%s]:%s/" : "http://%s:%s/", host, port);
}

static int take_passed(int n, server_socket *out)
{
    int is_listening = 0;
    socklen_t length = sizeof is_listening;
    out->fd = FIRST_PASSED;
    if (n != 1 || getsockopt(out->fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &length) != 0 ||
        !is_listening || fcntl(out->fd, F_SETFD, FD_CLOEXEC) != 0) {
        server_say("the service manager passes %d descriptors; expected one listening socket", n);
        return -1;
    }
    write_url(out);
    return 0;
}

/* ---- a socket of our own --------------------------------------------------------------------- */

static int fail(const char *at)
{
    server_say("%s: cannot listen there: %s", at, strerror(errno));
    return -1;
}

/* A socket left behind by a process that was killed is in the way; one that answers is not ours. */
static void remove_stale(const struct sockaddr_un *address, socklen_t length)
{
    struct stat about;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (lstat(address->sun_path, &about) == 0 && S_ISSOCK(about.st_mode) &&
        connect(fd, (const struct sockaddr *) address, length) != 0 && errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(fd);
}

static int listen_unix(const char *path, server_socket *out)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const socklen_t length = sizeof address;
    mode_t before;
    int result;
    if (path[0] == '\0' || strlen(path) >= sizeof address.sun_path) {
        server_say("%s: expected a path of at most %zu bytes", path, sizeof address.sun_path - 1);
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    remove_stale(&address, length);
    out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    before = umask(0117); /* for the proxy, by its group */
    result = out->fd < 0 || bind(out->fd, (const struct sockaddr *) &address, length) != 0 ||
             listen(out->fd, BACKLOG) != 0;
    umask(before);
    return result ? fail(path) : 0;
}

/* "host:port" or "[host]:port" in two. */
static int split(const char *text, char host[64], char port[16])
{
    const char *colon = strrchr(text, ':');
    size_t length = colon != NULL ? (size_t) (colon - text) : 0;
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (colon == NULL || length == 0 || length >= 64 || strlen(colon + 1) >= 16)
        return 0;
    memcpy(host, text, length);
    host[length] = '\0';
    snprintf(port, 16, "%s", colon + 1);
    return 1;
}

/* getaddrinfo() takes 65536 for 0. */
static int is_port(const char *text)
{
    uint64_t number;
    return cellar_parse_u64(text, strlen(text), &number) && number <= 65535;
}

static int is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *) (const void *) address)->sin_addr.s_addr) >>
                   24 ==
               127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *) (const void *) address)->sin6_addr);
}

static int listen_inet(const char *text, int is_anywhere, server_socket *out)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found = NULL;
    char host[64], port[16];
    const int yes = 1;
    int result;
    if (!split(text, host, port) || !is_port(port) ||
        getaddrinfo(host, port, &hints, &found) != 0) {
        server_say("--listen %s: expected ADDRESS:PORT such as 127.0.0.1:8080, or unix:PATH", text);
        return -1;
    }
    if (!is_anywhere && !is_loopback(found->ai_addr)) {
        server_say("%s is no address of this machine alone, and there is no TLS here: listen at "
                   "127.0.0.1 or a Unix socket behind nginx or caddy, or say --anywhere",
                   text);
        freeaddrinfo(found);
        return -1;
    }
    out->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    result = out->fd < 0 || setsockopt(out->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
             bind(out->fd, found->ai_addr, found->ai_addrlen) != 0 || listen(out->fd, BACKLOG) != 0;
    freeaddrinfo(found);
    return result ? fail(text) : 0;
}

int server_listen(const server_options *options, server_socket *out)
{
    const int passed = n_passed();
    *out = (server_socket){.fd = -1};
    if (passed > 0)
        return take_passed(passed, out);
    if (is_unix_path(options->listen)
            ? listen_unix(options->listen + sizeof UNIX_PREFIX - 1, out) != 0
            : listen_inet(options->listen, options->is_anywhere, out) != 0)
        return -1;
    write_url(out);
    return 0;
}

void server_listen_close(const server_options *options, server_socket *listening)
{
    if (listening->is_unix && n_passed() == 0 && is_unix_path(options->listen))
        unlink(options->listen + sizeof UNIX_PREFIX - 1);
    close(listening->fd);
    listening->fd = -1;
}
