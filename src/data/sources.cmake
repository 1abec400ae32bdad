# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  columns.c
  encoding.c
  stream.c
)
