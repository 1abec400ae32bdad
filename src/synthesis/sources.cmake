# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  expand.c
  records_file.c
  records_write.c
  synthesis.c
)
