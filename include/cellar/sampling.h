/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cap of a ledger means for the population that the data are a sample of. */
#ifndef CELLAR_SAMPLING_H
#define CELLAR_SAMPLING_H

#include <stddef.h>

#include <cellar/export.h>
#include <cellar/ledger.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cellar_sampling_scheme {
    CELLAR_SAMPLING_POISSON,            /* each unit by its own coin; with add-remove */
    CELLAR_SAMPLING_WITHOUT_REPLACEMENT /* a sample of a given size; with substitute */
} cellar_sampling_scheme;

/* How the custodian drew the sample. Start from cellar_sampling_default(). */
typedef struct cellar_sampling {
    cellar_sampling_scheme scheme;
    double rate;                /* the chance of every unit to be in the sample; required */
    const char *unit;           /* what was drawn: must be the unit of the dataset; required */
    int is_panel;               /* 1: the same units in every edition; refused */
    int has_calibrated_weights; /* 1: refused */
} cellar_sampling;

/* Rate and unit are required. */
CELLAR_API cellar_sampling cellar_sampling_default(void);

typedef struct cellar_amplified {
    double epsilon, delta;
} cellar_amplified;

/* The guarantee that the whole cap of a dataset is for a unit of the population. The ledger goes on
 * charging what releases cost for the units of the sample: amplified costs do not add. Refused
 * (CELLAR_ERR_RULE): another unit, panels, calibrated weights, a scheme that does not go with the
 * dataset's neighbours, caps of rho, and datasets about which something is known outside the
 * budget. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_amplify(
    const cellar_ledger *ledger, const char *dataset, const cellar_sampling *sampling,
    cellar_amplified *out, cellar_error *err) CELLAR_NONNULL(1, 2, 3, 4);

/* What must be true for that, sentence by sentence; NULL beyond the last. */
CELLAR_API const char *cellar_sampling_assumption(cellar_sampling_scheme scheme, size_t index);

#ifdef __cplusplus
}
#endif

#endif
