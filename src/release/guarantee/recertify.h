/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates that files claim, beside those that are computed from what the files hold. */
#ifndef CELLAR_RELEASE_GUARANTEE_RECERTIFY_H
#define CELLAR_RELEASE_GUARANTEE_RECERTIFY_H

#include <jansson.h>

#include <cellar/status.h>

/* A claim may be weaker than what was computed and never stronger (CELLAR_ERR_INPUT, which names
 * the member that is). */
cellar_status cellar_recertify_compare(const json_t *claimed, const json_t *own, const char *name,
                                       cellar_error *err);
cellar_status cellar_recertify_fail(const char *name, const char *what, cellar_error *err);
/* The delta that was charged: the first at which the certificate states epsilon. NULL: none. */
const char *cellar_recertify_delta(const json_t *certificate, char text[32]);

/* The same of a cube, from its heading (docs/file-formats.md): the tight composition of one cell
 * of each measured table, conditional on the exact tables. */
cellar_status cellar_recertify_cube(const json_t *heading, const char *name, cellar_error *err);

#endif
