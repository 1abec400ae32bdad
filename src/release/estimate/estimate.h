/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How an estimate is made: a schema, arrays and where they come from. */
#ifndef CELLAR_RELEASE_ESTIMATE_ESTIMATE_H
#define CELLAR_RELEASE_ESTIMATE_ESTIMATE_H

#include <jansson.h>

#include <cellar/estimate.h>

#include "release/files/numbers_read.h"

/* The decimals of fits: far below any noise, and exact in doubles up to nine thousand million. */
enum { CELLAR_ESTIMATE_DECIMALS = 6 };

struct cellar_estimate {
    cellar_schema *schema;
    cellar_cells cells; /* `count`: values in units of 10^-decimals, two's complement; `key`: their
                           standard errors, or NULL; every cell but the schema's structural zeros */
    int64_t *whole;     /* by position, or NULL */
    int decimals;
    json_t *description;
    char *description_text;
    cellar_protection_level level;
};

/* What an estimate is made of. Arrays have one number for each index of the schema and stay the
 * caller's. Numbers of more than 2^53 units are refused: doubles would not hold them. */
typedef struct cellar_estimate_parts {
    const cellar_schema *schema; /* retained */
    const int64_t *value;        /* in units of 10^-decimals */
    const int64_t *se;    /* likewise; CELLAR_SHEET_NO_ERROR where it is not known; or NULL */
    const int64_t *whole; /* or NULL */
    int decimals;
    json_t *computed; /* how: an object with a text `method`; retained */
    json_t *sources;  /* descriptions of releases or cubes, each with a certificate and the level of
                         its `protection`; retained */
} cellar_estimate_parts;

/* On failure *out is NULL. Makers check for memory by passing NULL objects through. */
cellar_status cellar_estimate_create(const cellar_estimate_parts *parts, cellar_estimate **out,
                                     cellar_error *err);

/* A real number in units of 10^-decimals, rounded to the nearest. */
double cellar_estimate_units(double value, int decimals);

/* The estimate of what was read from a file (estimate_file.c): takes the cells of `numbers`. */
cellar_status cellar_estimate_of_numbers(const char *name, cellar_numbers *numbers,
                                         cellar_estimate **out, cellar_error *err);
/* The estimate in the bytes of a file, as cellar_numbers_parse() takes them. */
cellar_status cellar_estimate_parse(const cellar_source *source, const char *beside, size_t length,
                                    cellar_estimate **out, cellar_error *err);
/* All that the object beside a file (cellar_sidecar_read()) says about an estimate, without its
 * cells. */
cellar_status cellar_sidecar_estimate(const char *path, json_t *sidecar, cellar_estimate **out,
                                      cellar_error *err);

#endif
