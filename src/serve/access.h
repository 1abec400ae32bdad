/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who asks, and whether now: what every request meets before its route. */
#ifndef CELLAR_SERVE_ACCESS_H
#define CELLAR_SERVE_ACCESS_H

#include "serve/routes.h"

/* Opens the files of tokens and of the audit log, and starts counting calls, as the configuration
 * of the site says. Close it in every case. */
cellar_status serve_access_open(cellar_site *site, cellar_error *err);
void serve_access_close(cellar_site *site);

/* Finds whose token came with the call, and counts the call. *is_admitted is 0 after a reply was
 * made: 401 for a token that is nobody's, 429 with the seconds to wait. */
cellar_status serve_access_admit(const cellar_site *site, serve_call *call, serve_reply *reply,
                                 int *is_admitted);

#endif
