# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  chart.c
  chart_figure.c
  chart_file.c
  chart_marks.c
  chart_surface.c
  chart_svg.c
  markup.c
  page.c
  page_style.c
  public.c
  scale.c
  section_certificate.c
  section_noise.c
  section_table.c
  section_test.c
)
