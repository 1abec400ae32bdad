# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  anonymity.c
  anonymity_measures.c
  anonymity_wildcard.c
  exposure_bound.c
  exposure_curve.c
  exposure_estimate.c
  exposure_minimum.c
  exposure_statistical.c
)
