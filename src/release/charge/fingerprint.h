/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a request asks for, as one digest. */
#ifndef CELLAR_RELEASE_CHARGE_FINGERPRINT_H
#define CELLAR_RELEASE_CHARGE_FINGERPRINT_H

#include <cellar/release.h>

enum { CELLAR_FINGERPRINT_TEXT = 65 };

/* A digest of the whole content of the table and of every option that decides what is drawn from it
 * and what it means, but for the mechanism: what a ledger compares when a request is asked again
 * (cellar_charge.content). `before` is the digest of the tables before it in a list, or whatever
 * else tells requests apart, or NULL. It is confidential: it would confirm a guess of the counts.
 */
cellar_status cellar_protect_fingerprint(const char *before, const cellar_table *table,
                                         const cellar_protect_options *options,
                                         char out[CELLAR_FINGERPRINT_TEXT], cellar_error *err);

#endif
