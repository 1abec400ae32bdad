# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  draw.c
  expand.c
  information.c
  model.c
  positive.c
  records_file.c
  records_write.c
  synthesis.c
  tree.c
)
