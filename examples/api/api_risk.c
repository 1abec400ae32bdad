/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often the homogeneity attack on a table goes through, and how often it is right:
 *     api_risk TABLE KNOWN SENSITIVE SPEC...
 * What it prints comes from true counts: confidential. */
#include <stdio.h>

#include <cellar/cellar.h>

static cellar_status find(const cellar_table *table, const char *name, size_t *out,
                          cellar_error *err)
{
    *out = cellar_schema_find_variable(cellar_table_schema(table), name);
    if (*out != CELLAR_NO_CODE)
        return CELLAR_OK;
    snprintf(err->message, sizeof err->message, "the table has no variable '%s'", name);
    return CELLAR_ERR_ARGUMENT;
}

static cellar_status assess(const cellar_groups *groups, const char *spec, cellar_error *err)
{
    cellar_mechanism *mechanism = NULL;
    cellar_risk_options options = cellar_risk_options_default();
    cellar_risk_summary risk;
    cellar_status status = cellar_mechanism_create(spec, &mechanism, err);
    options.measure = CELLAR_RISK_LOCAL;
    options.method = CELLAR_RISK_EXACT;
    if (status == CELLAR_OK) {
        const cellar_mechanism *mechanisms[1] = {mechanism};
        status = cellar_risk_assess(groups, mechanisms, 1, &options, &risk, err);
    }
    if (status == CELLAR_OK)
        printf("%-30s risk %.4f, precision %.4f, baseline %.4f\n", spec, risk.mean.value,
               risk.mean.precision, risk.baseline);
    cellar_mechanism_free(mechanism);
    return status;
}

int main(int argc, char **argv)
{
    cellar_table *table = NULL;
    cellar_groups *groups = NULL;
    size_t known = 0, sensitive = 0;
    cellar_error err = {"usage: api_risk TABLE KNOWN SENSITIVE SPEC..."};
    cellar_status status = argc > 4 ? cellar_process_harden(&err) : CELLAR_ERR_ARGUMENT;
    if (status == CELLAR_OK)
        status = cellar_table_read(argv[1], NULL, &table, &err);
    if (status == CELLAR_OK)
        status = find(table, argv[2], &known, &err);
    if (status == CELLAR_OK)
        status = find(table, argv[3], &sensitive, &err);
    if (status == CELLAR_OK)
        status = cellar_groups_create(table, &known, 1, &sensitive, 1, &groups, &err);
    for (int i = 4; i < argc && status == CELLAR_OK; i++)
        status = assess(groups, argv[i], &err);
    if (status != CELLAR_OK)
        fprintf(stderr, "%s\n", err.message);
    cellar_groups_free(groups);
    cellar_table_free(table);
    return status != CELLAR_OK;
}
