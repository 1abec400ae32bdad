/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sockets by name: "HOST:PORT" or "unix:PATH". */
#ifndef CELLAR_PROTOCOL_ADDRESS_H
#define CELLAR_PROTOCOL_ADDRESS_H

#include <stdint.h>

#include <cellar/status.h>

/* A socket that listens, not blocking. A Unix socket that nobody listens at any more is replaced;
 * the umask decides who may use it. The descriptor is the caller's. */
cellar_status address_listen(const char *address, int *fd, cellar_error *err);
/* The next connection that waits at such a socket, not blocking, and the network it comes from (a
 * /24 of IPv4, a /56 of IPv6) as a number, ADDRESS_LOCAL for a Unix socket. -1 and errno when there
 * is none. */
enum { ADDRESS_LOCAL = 1 };
int address_accept(int listener, uint64_t *origin);
/* A connection; reading and writing fail after the timeout. */
cellar_status address_connect(const char *address, uint32_t timeout_ms, int *fd, cellar_error *err);

#endif
