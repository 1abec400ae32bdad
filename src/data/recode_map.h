/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recode maps inside the library. */
#ifndef CELLAR_DATA_RECODE_MAP_H
#define CELLAR_DATA_RECODE_MAP_H

#include <cellar/microdata.h>

/* A map is a code list whose codes are the values and whose labels are what becomes of them. */
struct cellar_recode_map {
    cellar_codelist *pairs;
};

/* What becomes of a value, by the entry of its own or the catch-all; NULL when there is neither. */
const char *cellar_recode_pairs_find(const cellar_codelist *pairs, const char *text, size_t length);

/* Adds what the values become to an unfinished list, each once, in the order of the map. */
cellar_status cellar_recode_pairs_add_targets(const cellar_codelist *pairs, cellar_codelist *list,
                                              cellar_error *err);

#endif
