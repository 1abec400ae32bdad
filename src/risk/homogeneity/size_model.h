/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the library needs of size models besides the public functions. */
#ifndef CELLAR_RISK_HOMOGENEITY_SIZE_MODEL_H
#define CELLAR_RISK_HOMOGENEITY_SIZE_MODEL_H

#include <cellar/risk.h>

/* Refuses parameters that make no law. */
cellar_status cellar_size_model_check(const cellar_size_model *model, cellar_error *err);
enum { CELLAR_SIZE_WINDOW_MAX = 1 << 20 };
/* The sizes from 1 on that hold all but about 1e-20 of the law; CELLAR_SIZE_WINDOW_MAX of them or
 * more when that is a part only. */
void cellar_size_model_window(const cellar_size_model *model, uint64_t *low, uint64_t *high);

#endif
