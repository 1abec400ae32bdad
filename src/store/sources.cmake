# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  build.c
  heading.c
  store.c
  writer.c
)
