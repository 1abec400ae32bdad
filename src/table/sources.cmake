# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  accumulate.c
  cellmap.c
  cells.c
  schema.c
  schema_margins.c
  schema_query.c
  structural.c
  structural_bind.c
  structural_cover.c
  structural_derive.c
  table.c
  table_expand.c
  table_groups.c
  table_margin.c
  tabulate.c
)
