/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/version.h>

const char *cellar_version(void)
{
    return CELLAR_VERSION;
}
