# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  columns.c
  codelist.c
  codelist_file.c
  codelist_hrc.c
  codelist_tree.c
  csv_record.c
  encoding.c
  statfile.c
  statfile_labels.c
  statfile_parse.c
  statfile_value.c
  stream.c
)
