/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sockets by name: "HOST:PORT" or "unix:PATH". */
#ifndef CELLAR_PROTOCOL_ADDRESS_H
#define CELLAR_PROTOCOL_ADDRESS_H

#include <stdint.h>

#include <cellar/status.h>

/* A socket that listens, not blocking. A Unix socket that nobody listens at any more is replaced;
 * the umask decides who may use it. The descriptor is the caller's. */
cellar_status address_listen(const char *address, int *fd, cellar_error *err);
/* A connection; reading and writing fail after the timeout. */
cellar_status address_connect(const char *address, uint32_t timeout_ms, int *fd, cellar_error *err);

#endif
