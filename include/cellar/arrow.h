/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases and estimates as data frames, by the Arrow C stream interface (cellar/frame.h). */
#ifndef CELLAR_ARROW_H
#define CELLAR_ARROW_H

#include <cellar/estimate.h>
#include <cellar/export.h>
#include <cellar/frame.h>
#include <cellar/release.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is published as one batch of rows: for each variable a column of codes (32-bit numbers of a
 * dictionary of texts), then what is published of the cell. The stream holds a copy of all, so that
 * it can be read after its origin was freed. On failure *out is not touched. */

/* `released` (64-bit integers; null where the cell is suppressed) and `status` (a dictionary of
 * normal, structural-zero, suppressed). With `zeros` every possible cell is a row, else the listed
 * ones are. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_release_stream(const cellar_release *release,
                                                                int zeros,
                                                                struct ArrowArrayStream *out,
                                                                cellar_error *err)
    CELLAR_NONNULL(1);

/* `estimate` (doubles), `se` where it has standard errors (null where none is known), and `fitted`
 * where it has whole numbers. Tables of a cube are estimates: cellar_cube_ask(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_estimate_stream(const cellar_estimate *estimate,
                                                                 struct ArrowArrayStream *out,
                                                                 cellar_error *err)
    CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
