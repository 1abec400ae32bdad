# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES additive.c calibration.c calibration_discrete.c discrete_gaussian.c
  discrete_laplace.c facts.c gaussian.c gaussian_sigma.c geometric.c identity.c laplace.c law.c mechanism.c
  noise_sampler.c parameter.c registry.c truncated_laplace.c truncated_normal.c weighted.c)
