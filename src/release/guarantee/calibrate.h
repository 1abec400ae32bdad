/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A total epsilon for mechanisms that have no epsilon of their own. */
#ifndef CELLAR_RELEASE_GUARANTEE_CALIBRATE_H
#define CELLAR_RELEASE_GUARANTEE_CALIBRATE_H

#include <cellar/certificate.h>

/* Refuses (CELLAR_ERR_RULE) a certificate, or none, whose epsilon at its first delta exceeds the
 * total. */
cellar_status cellar_calibrate_check(const cellar_certificate *certificate,
                                     const char *total_epsilon, cellar_error *err);

#endif
