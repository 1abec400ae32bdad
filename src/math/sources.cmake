# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES ball.c bessel_ball.c fourier.c normal.c rational.c special.c cholesky.c)
