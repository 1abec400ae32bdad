/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV records live in base/, where every layer that reads text can use them. */
#ifndef CELLAR_DATA_CSV_RECORD_H
#define CELLAR_DATA_CSV_RECORD_H

#include "base/csv_record.h"

#endif
