# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  dataset.c
  drawn.c
  population.c
  price.c
  question.c
  records.c
  released.c
  rules.c
  rules_read.c
  suggest.c
)
