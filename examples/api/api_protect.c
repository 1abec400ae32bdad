/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Perturbs a table and writes what can be published:
 *     api_protect TABLE.json TOTAL_EPSILON RELEASE.csv
 * No ledger is charged, and the release says so: "unaccounted, not for publication". */
#include <stdio.h>

#include <cellar/cellar.h>

/* Discrete Laplace noise, the total split evenly over the cells that a record touches. */
static cellar_status make_mechanism(const cellar_table *table, const char *total,
                                    cellar_mechanism **out, cellar_error *err)
{
    char share[64], spec[128];
    uint64_t n_cells = cellar_schema_cells_per_record(cellar_table_schema(table));
    cellar_status status = cellar_protect_share(total, n_cells, share, err);
    if (status != CELLAR_OK)
        return status;
    snprintf(spec, sizeof spec, "discrete-laplace:epsilon=%s", share);
    return cellar_mechanism_create(spec, out, err);
}

int main(int argc, char **argv)
{
    cellar_table *table = NULL;
    cellar_mechanism *mechanism = NULL;
    cellar_release *release = NULL;
    cellar_release_file *file = NULL;
    cellar_protect_options options = cellar_protect_options_default();
    cellar_error err = {"usage: api_protect TABLE.json TOTAL_EPSILON RELEASE.csv"};
    cellar_status status = argc == 4 ? cellar_process_harden(&err) : CELLAR_ERR_ARGUMENT;
    if (status == CELLAR_OK)
        status = cellar_table_read(argv[1], NULL, &table, &err);
    if (status == CELLAR_OK)
        status = make_mechanism(table, argv[2], &mechanism, &err);
    if (status == CELLAR_OK) /* a name that is taken is known before anything is drawn */
        status = cellar_release_file_open(argv[3], NULL, 0, &file, &err);
    if (status == CELLAR_OK) {
        options.negatives = CELLAR_NEGATIVES_KEEP; /* has to be said: there is no default */
        options.total_epsilon = argv[2];
        options.unit = "person";
        options.choice = CELLAR_CHOICE_IN_ADVANCE;
        status = cellar_release_protect(table, mechanism, &options, &release, &err);
    }
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, release, &err);
    if (status == CELLAR_OK)
        printf("%s, total epsilon %s: the certificate %s; %s\n", cellar_release_mechanism(release),
               cellar_release_total_epsilon(release),
               cellar_verdict_name(cellar_release_verdict(release)),
               cellar_release_ledger(release));
    else
        fprintf(stderr, "%s\n", err.message);
    cellar_release_file_discard(file);
    cellar_release_free(release);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
    return status != CELLAR_OK;
}
