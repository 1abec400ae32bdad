/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawings in SVG as pictures in PNG, by librsvg and cairo. */
#ifndef CELLAR_REPORT_PICTURE_H
#define CELLAR_REPORT_PICTURE_H

#include "base/output.h"

/* Writes the drawing as PNG, `zoom` times as large as it asks to be. CELLAR_ERR_UNSUPPORTED when
 * the libraries are not there or cannot draw it. */
cellar_status cellar_picture_write(const cellar_text *svg, double zoom, cellar_output *output,
                                   cellar_error *err);

#endif
