/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a certificate to a charge. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "math/rational.h"

/* 1 when that delta is the first at which the certificate states epsilon. */
static int cost_is_first(const cellar_certificate *certificate, const char *delta)
{
    fmpq_t value;
    int is_first;
    fmpq_init(value);
    is_first = cellar_certificate_n_epsilons(certificate) > 0 &&
               cellar_rational_parse(delta, strlen(delta), value) &&
               cellar_rational_double(value) == cellar_certificate_epsilon_at(certificate, 0).delta;
    fmpq_clear(value);
    return is_first;
}

cellar_status cellar_amounts_from_certificate(const cellar_certificate *certificate,
                                              const char *delta, cellar_amounts *out,
                                              cellar_error *err)
{
    double rho = cellar_certificate_composition(certificate).rho;
    const char *pure = cellar_certificate_pure_exact(certificate);
    double epsilon = cellar_certificate_pure_epsilon(certificate);
    cellar_amounts exact;
    cellar_status status = CELLAR_OK;

    if (cellar_certificate_verdict(certificate) != CELLAR_VERDICT_HOLDS)
        return cellar_fail(err, CELLAR_ERR_RULE, "there is no guarantee to charge for: %s",
                           cellar_certificate_reason(certificate));
    if (delta != NULL && !cost_is_first(certificate, delta))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the certificate was not asked about a delta of %.60s first", delta);
    if (delta != NULL && pure == NULL)
        epsilon = cellar_certificate_epsilon_at(certificate, 0).epsilon;
    if (isinf(epsilon) && (delta != NULL || isnan(rho)))
        return cellar_fail(err, CELLAR_ERR_RULE, "the mechanism has no pure epsilon%s",
                           delta != NULL ? ", and none for that delta"
                                         : "; say the delta to charge");
    CELLAR_TRY(cellar_amounts_from_bounds(isinf(epsilon) ? 0 : epsilon, 0, rho, out, err));
    CELLAR_TRY(cellar_amounts_parse(pure, pure == NULL ? delta : NULL, NULL, &exact, err));
    out->delta_atto = exact.delta_atto;
    if (pure != NULL)
        out->epsilon_nano = exact.epsilon_nano;
out:
    return status;
}
