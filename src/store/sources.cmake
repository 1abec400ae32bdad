# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  ask.c
  build.c
  heading.c
  store.c
  writer.c
)
