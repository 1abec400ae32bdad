# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES ball.c normal.c rational.c)
