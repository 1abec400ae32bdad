# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES cells.c certify.c check.c compare.c compare_cube.c contradictions.c cube_build.c
  cube_choose.c cube_count.c cube_design.c cube_extend.c cube_noise.c cube_universe.c display.c
  fields.c law.c note.c pack.c pack_certificate.c read.c remedy.c resolve.c rules.c run.c schema.c
  sigma.c split.c summands.c work.c yaml.c)
