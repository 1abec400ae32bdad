# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  analyst.c
  batch.c
  decision.c
  files.c
  ids.c
  invitation.c
  keys.c
  lines.c
  margins.c
  message.c
  participant.c
  shuffler.c
  spool.c
)
