/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests whether two variables of a release are independent, reckoning with its noise:
 *     api_independence RELEASE A B */
#include <stdio.h>

#include <cellar/cellar.h>

static cellar_status test(const cellar_release *release, const char *a, const char *b,
                          cellar_loglinear **out, cellar_error *err)
{
    const cellar_schema *schema = cellar_release_schema(release);
    size_t variables[2] = {cellar_schema_find_variable(schema, a),
                           cellar_schema_find_variable(schema, b)};
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = NULL; /* the released values and their distribution at each count */
    char model[512];
    cellar_status status;
    if (variables[0] == CELLAR_NO_CODE || variables[1] == CELLAR_NO_CODE) {
        snprintf(err->message, sizeof err->message, "the release has no such variable");
        return CELLAR_ERR_ARGUMENT;
    }
    snprintf(model, sizeof model, "\"%s\" + \"%s\"", a, b);
    options.reference = CELLAR_REFERENCE_BOOTSTRAP; /* right for small counts, too */
    options.n_replicates = 199;
    status = cellar_noisy_from_release(release, variables, 2, &noisy, err);
    if (status == CELLAR_OK)
        status = cellar_loglinear_create(noisy, model, NULL, &options, out, err);
    cellar_noisy_free(noisy);
    return status;
}

int main(int argc, char **argv)
{
    cellar_release *release = NULL;
    cellar_loglinear *result = NULL;
    cellar_error err = {"usage: api_independence RELEASE A B"};
    cellar_status status = argc == 4 ? CELLAR_OK : CELLAR_ERR_ARGUMENT;
    if (status == CELLAR_OK) /* refuses what carries no certificate, or not its own */
        status = cellar_release_read(argv[1], CELLAR_TABLE_AUTO, &release, &err);
    if (status == CELLAR_OK)
        status = test(release, argv[2], argv[3], &result, &err);
    if (status == CELLAR_OK) {
        cellar_test aware = cellar_loglinear_aware(result);
        cellar_test naive = cellar_loglinear_naive(result);
        printf("aware: statistic %.1f, df %g, p-value %.3g\n", aware.statistic, aware.df,
               aware.p_value);
        printf("naive: statistic %.1f, df %g, p-value %.3g\n", naive.statistic, naive.df,
               naive.p_value);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    cellar_loglinear_free(result);
    cellar_release_free(release);
    return status != CELLAR_OK;
}
