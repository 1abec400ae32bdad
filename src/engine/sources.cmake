# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES answer.c coding.c dialect.c postgresql.c question.c sqlite.c tabulate_at.c)
