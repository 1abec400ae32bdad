/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/microdata.h>

#include "base/memory.h"

void cellar_columns_free(char **names, size_t n_names)
{
    for (size_t i = 0; i < n_names; i++)
        cellar_free(names[i]);
    cellar_free(names);
}
