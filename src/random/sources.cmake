# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES inverse.c key.c locked.c rng.c symmetric.c thresholds.c)
