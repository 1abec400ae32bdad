/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/local.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/group.h"

/* Values are taken one by one, with the probabilities that so far none was shown, or one that is
 * in the truth (also times its count), or one that is not. Sums of products of positive numbers:
 * no division by an absence that may be zero. */
void cellar_local(const cellar_presence *presence, const uint64_t *counts, size_t n_positive,
                  uint64_t n_zeros, cellar_risk *out)
{
    double empty = 1, shown = 0, right = 0, stray, size = 0;
    double zeros = (double) n_zeros, absent0 = presence_absent(presence, 0);
    double absent_zeros = pow(absent0, zeros);
    double *s = out->scenario;

    for (size_t i = 0; i < n_positive; i++) {
        double absent = presence_absent(presence, counts[i]);
        double present = presence_present(presence, counts[i]) * empty;
        right = right * absent + present * (double) counts[i];
        shown = shown * absent + present;
        empty *= absent;
        size += (double) counts[i];
    }
    stray =
        n_zeros > 0 ? empty * zeros * presence_present(presence, 0) * pow(absent0, zeros - 1) : 0;
    for (int i = 0; i < CELLAR_RISK_N_SCENARIOS; i++)
        s[i] = 0;
    s[n_positive == 1 ? 0 : 7] = shown * absent_zeros;
    s[n_positive == 1 ? 1 : 6] = stray;
    s[n_positive == 1 ? 3 : 5] = empty * absent_zeros;
    out->right = right * absent_zeros / size;
    cellar_risk_finish(out, n_positive == 1);
}

cellar_status cellar_risk_of_counts(const cellar_mechanism *mechanism, const uint64_t *counts,
                                    size_t n_values, cellar_risk *out, cellar_error *err)
{
    cellar_presence *presence = cellar_alloc(1, sizeof *presence);
    uint64_t *positive = cellar_alloc(n_values, sizeof *positive);
    cellar_status status = CELLAR_OK;
    size_t n = 0;

    if (presence == NULL || positive == NULL) {
        status = cellar_fail_memory(err, "the risk of a group");
        goto out;
    }
    for (size_t i = 0; i < n_values; i++)
        if (counts[i] > 0)
            positive[n++] = counts[i];
    cellar_presence_init(presence, mechanism, 1);
    cellar_local(presence, positive, n, n_values - n, out);
out:
    cellar_free(presence);
    cellar_free(positive);
    return status;
}
