# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES additive.c discrete_laplace.c geometric.c identity.c laplace.c law.c mechanism.c
  noise_sampler.c parameter.c registry.c)
