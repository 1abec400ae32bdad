/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An axis: where a value stands, and which values are worth a label. */
#ifndef CELLAR_REPORT_SCALE_H
#define CELLAR_REPORT_SCALE_H

#include <stddef.h>

enum { CELLAR_SCALE_MAX_TICKS = 32 };

typedef struct cellar_scale {
    int log;
    double low, high; /* the values at both ends; low < high, and positive when log */
    double from, to;  /* where these stand, in pixels */
} cellar_scale;

/* Widens [low, high], as seen in the data, to a range that shows it well: round numbers at both
 * ends, never empty. NANs stand for no data. */
void cellar_scale_fit(cellar_scale *scale, double low, double high);

/* 1 when the value has a place on the axis' line (which may lie beyond its ends). */
int cellar_scale_shows(const cellar_scale *scale, double value);
double cellar_scale_place(const cellar_scale *scale, double value);

/* Round numbers within the axis, increasing; answers how many. */
size_t cellar_scale_ticks(const cellar_scale *scale, double ticks[CELLAR_SCALE_MAX_TICKS]);
/* A tick as people write it: 0.25, 2000, 10⁻⁶. */
void cellar_scale_label(double tick, char label[32]);

#endif
