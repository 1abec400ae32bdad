# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES additivity.c association.c copies.c equal_delta.c expect.c frame.c law.c margins.c
  measure.c plan.c rank.c spread.c utility.c)
