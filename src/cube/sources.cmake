# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  cell_variance.c
  contrast.c
  cube.c
  file_read.c
  file_write.c
  lattice.c
  precision.c
  reconstruct.c
  variable.c
)
