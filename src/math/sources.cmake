# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES ball.c bessel_ball.c cholesky.c dword.c fourier.c gig.c normal.c rational.c run.c run_quick.c special.c work.c)
