/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What pages for the public share. */
#ifndef CELLAR_REPORT_PUBLIC_H
#define CELLAR_REPORT_PUBLIC_H

#include "release/guarantee/level.h"
#include "report/report.h"

/* Who signed, as far as it was checked: files say of themselves what they like. */
void cellar_public_signer(cellar_page *page, const char *signer);
/* The level of protection, where it is no guarantee. */
void cellar_public_level(cellar_page *page, cellar_protection_level level);
/* That no ledger was charged. */
void cellar_public_unaccounted(cellar_page *page);

#endif
