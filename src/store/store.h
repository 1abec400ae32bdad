/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CELLAR_STORE_STORE_H
#define CELLAR_STORE_STORE_H

#include <cellar/store.h>

#include "data/stored/file.h"

struct cellar_store {
    cellar_stored_file *file;
};

#endif
