/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units with several records: at most so many of each count, chosen without looking at others. */
#ifndef CELLAR_DATA_UNITS_H
#define CELLAR_DATA_UNITS_H

#include <stddef.h>
#include <stdint.h>

typedef struct cellar_units cellar_units;

/* NULL when memory ends. */
cellar_units *cellar_units_create(uint64_t max_per_unit);
void cellar_units_free(cellar_units *units); /* NULL is fine */

/* Asks whether one more record of the unit may count: 1 for its first max_per_unit records, then 0;
 * negative when memory ends. Identifiers are kept as 128-bit keyed hashes, never as text. One
 * thread at a time, in the order of the file. */
int cellar_units_admit(cellar_units *units, const char *identifier, size_t length);

/* How many units there are. */
size_t cellar_units_n(const cellar_units *units);

/* The number of a unit: 0 of the first that is asked for, 1 of the next one, and so on. 0 when
 * memory ends. Units are either numbered or asked whether a record may count, never both. */
int cellar_units_number(cellar_units *units, const char *identifier, size_t length,
                        uint64_t *number);

#endif
