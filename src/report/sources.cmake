# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  chart.c
  chart_figure.c
  chart_file.c
  chart_marks.c
  chart_surface.c
  chart_svg.c
  markup.c
  scale.c
)
