/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which level of protection a certificate stands for, and the gate in front of releases. */
#ifndef CELLAR_RELEASE_GUARANTEE_LEVEL_H
#define CELLAR_RELEASE_GUARANTEE_LEVEL_H

#include <jansson.h>

#include <cellar/acceptance.h>
#include <cellar/mechanism.h>
#include <cellar/status.h>

/* The level of a certificate (the object of docs/certificates.md). `mechanism` is that of one cell,
 * or NULL when cells are not drawn one by one; `max_weight` is a record's largest weight. */
cellar_status cellar_level_of(const json_t *certificate, const cellar_mechanism *mechanism,
                              uint64_t max_weight, cellar_protection_level *out, cellar_error *err);

/* Refuses a level that has to be accepted and is not among `accepted` (CELLAR_ERR_RULE). */
cellar_status cellar_level_pass(cellar_protection_level level, const char *spec, unsigned accepted,
                                cellar_error *err);

/* The level of that name; 0 when there is none. */
int cellar_level_find(const char *name, cellar_protection_level *out);

#endif
