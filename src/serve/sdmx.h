/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How SDMX 2.1 sees a data set: a dimension for each variable in their order, the contents, and
 * time last. A variable that is summed out has the code "_T". */
#ifndef CELLAR_SERVE_SDMX_H
#define CELLAR_SERVE_SDMX_H

#include "serve/grid.h"

#define SERVE_SDMX_AGENCY "CELLAR"
#define SERVE_SDMX_VERSION "1.0"
#define SERVE_SDMX_TOTAL "_T"
#define SERVE_SDMX_TIME "TIME_PERIOD"

#define SERVE_SDMX_XML "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define SERVE_SDMX_SCHEMAS "http://www.sdmx.org/resources/sdmxml/schemas/v2_1/"

/* A dimension: a variable of the data set, or the contents (SIZE_MAX). */
typedef struct serve_sdmx_dimension {
    size_t variable;
    char id[64]; /* letters, digits and _ */
} serve_sdmx_dimension;

typedef struct serve_sdmx {
    serve_sdmx_dimension dimensions[SERVE_MAX_AXES];
    size_t n;     /* all */
    size_t n_key; /* those that a key of the REST interface has: all but time */
} serve_sdmx;

void serve_sdmx_init(serve_sdmx *sdmx, const serve_dataset *dataset);

/* The codes of one value, one a dimension. */
void serve_sdmx_codes(const serve_sdmx *sdmx, const serve_grid *grid, size_t index,
                      const char **codes);

/* Opens a message of that root ("GenericData", "Structure") and its header; NULL: about several
 * data sets. */
void serve_sdmx_open_message(cellar_text *out, const char *root, const serve_dataset *dataset);
/* Whole messages: data structures with their concepts and code lists, and dataflows. */
void serve_sdmx_add_structures(const serve_dataset *datasets, size_t n, cellar_text *out);
void serve_sdmx_add_flows(const serve_dataset *datasets, size_t n, cellar_text *out);

#endif
