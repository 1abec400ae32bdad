/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals straight from a release. */
#include <cellar/interval.h>

#include "base/error.h"

cellar_status cellar_noisy_for_sets(const cellar_release *release, const char *of,
                                    const char *other, cellar_noisy **out, cellar_error *err)
{
    size_t variables[CELLAR_MAX_VARIABLES], n = 0;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_cell_set_variables(release, of, variables, &n, err));
    if (other != NULL)
        CELLAR_TRY(cellar_cell_set_variables(release, other, variables, &n, err));
    if (n == 0)
        variables[n++] = 0; /* everything: the sum of any margin */
    status = cellar_noisy_from_release(release, variables, n, out, err);
    if (status == CELLAR_ERR_RULE) /* no such margin: its cells, each with its distribution */
        status = cellar_noisy_from_release(release, NULL, 0, out, err);
out:
    return status;
}

cellar_status cellar_release_interval(const cellar_release *release, const char *of,
                                      cellar_comparison comparison, const char *other,
                                      const cellar_interval_options *options, cellar_interval *out,
                                      cellar_error *err)
{
    cellar_noisy *noisy = NULL;
    cellar_cell_set *set = NULL, *second = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_noisy_for_sets(release, of, other, &noisy, err));
    CELLAR_TRY(cellar_cell_set_parse(noisy, of, &set, err));
    if (other != NULL)
        CELLAR_TRY(cellar_cell_set_parse(noisy, other, &second, err));
    CELLAR_TRY(cellar_interval_run(noisy, set, comparison, second, options, out, err));
out:
    cellar_cell_set_free(set);
    cellar_cell_set_free(second);
    cellar_noisy_free(noisy);
    return status;
}
