# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES confine.c csv_record.c error.c file.c folder.c markup.c memory.c output.c place.c process.c terms.c text.c text_number.c threads.c version.c)
