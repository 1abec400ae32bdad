# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES histogram.c gaps.c inverse.c inverse_draw.c key.c locked.c rng.c search.c signature.c symmetric.c thresholds.c urn.c)
