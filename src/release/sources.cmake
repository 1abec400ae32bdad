# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  cell_keys.c
  description.c
  digest.c
  draw.c
  draw_dense.c
  draw_sparse.c
  forecast.c
  predicate.c
  protect.c
  protection.c
  release.c
  release_read.c
  release_write.c
  share.c
  zeros.c
)
