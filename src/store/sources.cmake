# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  ask.c
  build.c
  build_cells.c
  building.c
  heading.c
  store.c
  writer.c
)
