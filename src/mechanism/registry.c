/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every mechanism there is, in the order of the documentation. To add one, see "Add a mechanism
 * in five steps" in docs/development.md. */
#include "mechanism/registry.h"

const cellar_mechanism_ops *const cellar_mechanism_registry[] = {
    &cellar_identity_ops,
    &cellar_laplace_ops,
    &cellar_discrete_laplace_ops,
    &cellar_gaussian_ops,
    &cellar_discrete_gaussian_ops,
    &cellar_truncated_laplace_ops,
    &cellar_truncated_normal_ops,
    &cellar_hellinger_ops,
    &cellar_poisson_ops,
    &cellar_poisson_zeros_ops,
    &cellar_negbin_ops,
    &cellar_pig_ops,
    &cellar_sichel_ops,
    &cellar_delaporte_ops,
    &cellar_gamma_ops,
    &cellar_round_ops,
    &cellar_exponential_ops,
    &cellar_max_entropy_ops,
    &cellar_ptable_ops,
    &cellar_cell_key_ops,
    NULL,
};
