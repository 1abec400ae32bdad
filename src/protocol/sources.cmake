# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  invitation.c
  keys.c
  lines.c
  message.c
)
