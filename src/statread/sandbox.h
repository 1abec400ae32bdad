/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a process that reads a hostile file gives up first. */
#ifndef CELLAR_STATREAD_SANDBOX_H
#define CELLAR_STATREAD_SANDBOX_H

#include <stdint.h>

#include <cellar/status.h>

/* From here on this process, and whatever a file makes of it, can read and write the descriptors it
 * has, take `memory_bytes` of memory for the file (0: no limit), compute for `seconds` and end.
 * Files, the network, other processes and code that is not loaded yet are out of reach: looking for
 * a file fails, anything else ends the process. There is no way back. */
cellar_status cellar_sandbox_enter(uint64_t memory_bytes, uint64_t seconds, cellar_error *err);

#endif
