# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES answer.c config.c cuts.c dataset.c guarantee.c pending.c question.c reply.c request.c
  router.c site.c site_open.c source.c source_cube.c texts.c variable.c)
