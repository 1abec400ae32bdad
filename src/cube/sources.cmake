# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  contrast.c
  lattice.c
  precision.c
  reconstruct.c
)
