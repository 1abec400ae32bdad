# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  cell_keys.c
  description.c
  draw.c
  draw_dense.c
  draw_sparse.c
  forecast.c
  predicate.c
  protect.c
  protection.c
  release.c
  share.c
  zeros.c
)
