# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  ask.c
  ask_picks.c
  contrast.c
  cube.c
  file_read.c
  file_write.c
  lattice.c
  picks.c
  precision.c
  precision_pure.c
  reconstruct.c
  variable.c
)
