/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/chi_square.h"

#define MATHLIB_STANDALONE
#include <Rmath.h>

double cellar_chi_square_tail(double statistic, double df)
{
    return df > 0 ? pchisq(statistic, df, 0, 0) : 1;
}

double cellar_chi_square_quantile(double tail, double df)
{
    return qchisq(tail, df, 0, 0);
}

double cellar_normal_quantile(double tail)
{
    return qnorm(tail, 0, 1, 0, 0);
}
