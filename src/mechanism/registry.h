/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line per mechanism: the table of functions at the foot of its file. */
#ifndef CELLAR_MECHANISM_REGISTRY_H
#define CELLAR_MECHANISM_REGISTRY_H

#include "mechanism/mechanism.h"

extern const cellar_mechanism_ops cellar_identity_ops;
extern const cellar_mechanism_ops cellar_laplace_ops;
extern const cellar_mechanism_ops cellar_discrete_laplace_ops;
extern const cellar_mechanism_ops cellar_gaussian_ops;
extern const cellar_mechanism_ops cellar_discrete_gaussian_ops;
extern const cellar_mechanism_ops cellar_truncated_laplace_ops;
extern const cellar_mechanism_ops cellar_truncated_normal_ops;
extern const cellar_mechanism_ops cellar_exponential_ops;
extern const cellar_mechanism_ops cellar_max_entropy_ops;
extern const cellar_mechanism_ops cellar_ptable_ops;
extern const cellar_mechanism_ops cellar_cell_key_ops;
extern const cellar_mechanism_ops cellar_hellinger_ops;
extern const cellar_mechanism_ops cellar_poisson_ops;
extern const cellar_mechanism_ops cellar_poisson_zeros_ops;
extern const cellar_mechanism_ops cellar_negbin_ops;
extern const cellar_mechanism_ops cellar_pig_ops;
extern const cellar_mechanism_ops cellar_sichel_ops;
extern const cellar_mechanism_ops cellar_delaporte_ops;
extern const cellar_mechanism_ops cellar_gamma_ops;
extern const cellar_mechanism_ops cellar_round_ops;

#endif
