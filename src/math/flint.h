/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The headers of FLINT, and of Arb, which is a library of its own beside FLINT 2 and a part of
 * FLINT 3. The rest of the code includes this header only. */
#ifndef CELLAR_MATH_FLINT_H
#define CELLAR_MATH_FLINT_H

#include <stdint.h> /* bits and counts beside balls are int64_t */

#include <flint/flint.h>
#include <flint/fmpq.h>
#include <flint/fmpz.h>
#include <flint/fmpz_vec.h>

#if __FLINT_VERSION >= 3
#include <flint/acb_calc.h>
#include <flint/acb_dft.h>
#include <flint/arb.h>
#include <flint/arb_calc.h>
#include <flint/arb_hypgeom.h>
#include <flint/arb_mat.h>
#include <flint/arf.h>
#include <flint/bernoulli.h>
#else
#include <acb_calc.h>
#include <acb_dft.h>
#include <arb.h>
#include <arb_calc.h>
#include <arb_hypgeom.h>
#include <arb_mat.h>
#include <arf.h>
#include <bernoulli.h>
#endif

#endif
