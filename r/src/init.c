/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The routines by the names that R calls them, and their numbers of arguments. */
#include "routines.h"

#include <R_ext/Rdynload.h>

/* clang-format off */
#define ROUTINES(X)                                                                                \
    X(read_codelist, 2) X(parse_codelist, 2) X(parse_recode_map, 2)                                \
    X(tabulate_frame, 3) X(tabulate_file, 1) X(new_stream, 0) X(tabulate_stream, 2)                \
    X(read_table, 1) X(write_table, 3)                                                             \
    X(merge_tables, 1) X(table_shape, 1) X(true_counts, 1) X(row_report, 1)                        \
    X(find_dialect, 1) X(tabulate_database, 3)                                                     \
    X(create_key, 2) X(read_key, 1) X(key_id, 1) X(protect, 3)                                     \
    X(read_release, 1) X(write_release, 3) X(release_facts, 1) X(release_cells, 2) X(release_at, 2) \
    X(certify, 2) X(certificate_text, 3)                                                           \
    X(mechanism, 3) X(probabilities, 3) X(known_mechanisms, 0)                                     \
    X(interval, 2) X(test_model, 2) X(cramers_v, 2) X(test_binomial, 2)                            \
    X(design_matrix, 2) X(read_matrix, 2) X(write_matrix, 3) X(matrix_facts, 1)                    \
    X(fit, 2) X(read_estimate, 1) X(write_estimate, 3)                                             \
    X(risk, 2) X(risk_groups, 3) X(exposure, 2) X(exposure_bounds, 2) X(utility, 3)                \
    X(open_cube, 2) X(cube_facts, 1) X(cube_table, 2) X(cube_interval, 2) X(cube_plan, 3)          \
    X(plan, 1) X(plan_check, 2) X(plan_run, 2)                                                     \
    X(report_public, 3) X(report_cube, 3) X(report_committee, 3)                                   \
    X(synthesize, 3) X(write_synthesis, 3)                                                         \
    X(create_ledger, 3) X(ledger, 2) X(verify_ledger, 3) X(adopt_ledger, 3) X(add_to_ledger, 3) X(enter_in_ledger, 3) X(amplify_ledger, 3)            \
    X(membership, 3) X(odds_ratios, 2) X(plan_compare, 2) X(select_columns, 2) X(suppress_values, 2) \
    X(sign, 3) X(verify_folder, 2) X(write_public_key, 3)
/* clang-format on */

#define ROUTINE(name, n_arguments) {"C_" #name, (DL_FUNC) &cellar_r_##name, n_arguments},
static const R_CallMethodDef routines[] = {ROUTINES(ROUTINE){NULL, NULL, 0}};
#undef ROUTINE

void R_init_cellar(DllInfo *dll);
void R_init_cellar(DllInfo *dll)
{
    R_registerRoutines(dll, NULL, routines, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}
