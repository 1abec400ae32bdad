/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a mechanism guarantees when a record touches several cells:
 *     api_certify SPEC CELLS DELTA */
#include <stdio.h>
#include <stdlib.h>

#include <cellar/cellar.h>

static void print_certificate(const cellar_certificate *certificate)
{
    cellar_composition all = cellar_certificate_composition(certificate);
    cellar_epsilon_at at = cellar_certificate_epsilon_at(certificate, 0);
    if (cellar_certificate_verdict(certificate) != CELLAR_VERDICT_HOLDS)
        printf("does not hold: %s\n", cellar_certificate_reason(certificate));
    /* Every number is a proven upper bound; a pure epsilon of infinity means that there is none. */
    printf("pure epsilon       %g\n", cellar_certificate_pure_epsilon(certificate));
    printf("at delta %-8g  epsilon %.6f\n", at.delta, at.epsilon);
    printf("the epsilons added %.6f\n", all.basic.epsilon);
}

int main(int argc, char **argv)
{
    cellar_mechanism *mechanism = NULL;
    cellar_certificate *certificate = NULL;
    cellar_certify_options options = cellar_certify_options_default();
    cellar_error err = {"usage: api_certify SPEC CELLS DELTA"};
    cellar_status status = argc == 4 ? CELLAR_OK : CELLAR_ERR_ARGUMENT;
    if (status == CELLAR_OK)
        status = cellar_mechanism_create(argv[1], &mechanism, &err);
    if (status == CELLAR_OK) {
        const cellar_certify_part part = {mechanism, 1}; /* met once */
        const char *deltas[1] = {argv[3]}; /* decimals are texts, so that they are exact */
        options.unit = "person";
        options.n_cells = strtoull(argv[2], NULL, 10);
        options.choice = CELLAR_CHOICE_IN_ADVANCE;
        options.deltas = deltas;
        options.n_deltas = 1;
        status = cellar_certify(&part, 1, &options, &certificate, &err);
    }
    if (status == CELLAR_OK)
        print_certificate(certificate);
    else
        fprintf(stderr, "%s\n", err.message);
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return status != CELLAR_OK;
}
