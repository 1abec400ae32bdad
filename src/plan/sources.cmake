# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES cells.c certify.c check.c law.c read.c resolve.c rules.c schema.c split.c work.c
  yaml.c)
