/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The routines by the names that R calls them. */
#include "routines.h"

#include <R_ext/Rdynload.h>

#define ROUTINE(name, n)                                                                           \
    {                                                                                              \
        "C_" #name, (DL_FUNC) &cellar_r_##name, n                                                  \
    }

static const R_CallMethodDef routines[] = {
    ROUTINE(read_codelist, 2),    ROUTINE(parse_codelist, 2),
    ROUTINE(parse_recode_map, 2), ROUTINE(tabulate_frame, 3),
    ROUTINE(tabulate_file, 1),    ROUTINE(read_table, 1),
    ROUTINE(write_table, 3),      ROUTINE(merge_tables, 1),
    ROUTINE(table_shape, 1),      ROUTINE(true_counts, 1),
    ROUTINE(row_report, 1),       ROUTINE(create_key, 2),
    ROUTINE(read_key, 1),         ROUTINE(key_id, 1),
    ROUTINE(protect, 3),          ROUTINE(read_release, 1),
    ROUTINE(write_release, 3),    ROUTINE(release_facts, 1),
    ROUTINE(release_cells, 2),    ROUTINE(release_at, 2),
    ROUTINE(certify, 2),          ROUTINE(certificate_text, 3),
    ROUTINE(mechanism, 3),        ROUTINE(probabilities, 3),
    ROUTINE(known_mechanisms, 0), {NULL, NULL, 0},
};

void R_init_cellar(DllInfo *dll);
void R_init_cellar(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
