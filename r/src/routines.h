/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The routines that R calls, and what only some files of the glue share. */
#ifndef CELLAR_R_ROUTINES_H
#define CELLAR_R_ROUTINES_H

#include <stdio.h>
#include <string.h>

#include "glue.h"

/* frame.c: the columns of a data frame, valid until .Call() returns. Clear it after the library's
 * call. */
cellar_frame glue_frame(SEXP columns, SEXP n_rows);
void glue_frame_clear(const cellar_frame *frame);

/* stream.c: an empty stream for others to fill, freed by R's collector. */
SEXP cellar_r_new_stream(void);
/* The stream behind an external pointer of class nanoarrow_array_stream. */
struct ArrowArrayStream *glue_arrow_stream(SEXP handle);

/* tabulate.c: what to count. `secret` has room for the key's (CELLAR_KEY_SECRET_BYTES), which the
 * caller wipes. */
cellar_tabulate_spec glue_spec(SEXP given, unsigned char *secret);
void glue_wipe(unsigned char *secret);
SEXP cellar_r_read_codelist(SEXP path, SEXP mark);
SEXP cellar_r_parse_codelist(SEXP name, SEXP bytes);
SEXP cellar_r_parse_recode_map(SEXP name, SEXP bytes);
SEXP cellar_r_tabulate_frame(SEXP spec, SEXP columns, SEXP n_rows);
SEXP cellar_r_tabulate_file(SEXP spec);
SEXP cellar_r_tabulate_stream(SEXP spec, SEXP stream);
SEXP cellar_r_read_table(SEXP path);
SEXP cellar_r_write_table(SEXP table, SEXP path, SEXP options);
SEXP cellar_r_merge_tables(SEXP tables);
SEXP cellar_r_table_shape(SEXP table);
SEXP cellar_r_true_counts(SEXP table);
SEXP cellar_r_row_report(SEXP table);

/* database.c */
SEXP cellar_r_find_dialect(SEXP names);
SEXP cellar_r_tabulate_database(SEXP spec, SEXP place, SEXP fetch);

/* protect.c */
SEXP cellar_r_create_key(SEXP path, SEXP edition);
SEXP cellar_r_read_key(SEXP path);
SEXP cellar_r_key_id(SEXP key);
SEXP cellar_r_protect(SEXP table, SEXP spec, SEXP options);
/* The member "accept", words that R has checked, as a sum of cellar_acceptance. */
unsigned glue_accepted(SEXP given);

/* sign.c */
SEXP cellar_r_sign(SEXP folder, SEXP key, SEXP given);
SEXP cellar_r_verify_folder(SEXP folder, SEXP public_key);
SEXP cellar_r_write_public_key(SEXP key, SEXP path, SEXP replace);

/* release.c */
SEXP cellar_r_read_release(SEXP path);
SEXP cellar_r_write_release(SEXP release, SEXP path, SEXP options);
SEXP cellar_r_release_facts(SEXP release);
SEXP cellar_r_release_cells(SEXP release, SEXP zeros);
SEXP cellar_r_release_at(SEXP release, SEXP codes);

/* certify.c */
SEXP cellar_r_certify(SEXP spec, SEXP options);
SEXP cellar_r_certificate_text(SEXP certificate, SEXP path, SEXP explain);
SEXP cellar_r_membership(SEXP spec, SEXP levels, SEXP given);
SEXP cellar_r_mechanism(SEXP spec, SEXP counts, SEXP negatives);
SEXP cellar_r_probabilities(SEXP spec, SEXP count, SEXP values);
SEXP cellar_r_known_mechanisms(void);

/* infer.c */
SEXP cellar_r_interval(SEXP releases, SEXP given);
SEXP cellar_r_test_model(SEXP release, SEXP given);
SEXP cellar_r_cramers_v(SEXP release, SEXP given);
SEXP cellar_r_odds_ratios(SEXP handle, SEXP given);
SEXP cellar_r_test_binomial(SEXP released, SEXP given);

/* ptable.c */
SEXP cellar_r_design_matrix(SEXP spec, SEXP path);
SEXP cellar_r_read_matrix(SEXP path, SEXP large);
SEXP cellar_r_write_matrix(SEXP matrix, SEXP path, SEXP options);
SEXP cellar_r_matrix_facts(SEXP matrix);

/* fit.c: what R makes a data frame of; `fit` may be NULL. */
SEXP glue_estimate(SEXP handle, const cellar_adjustment *fit);
SEXP cellar_r_fit(SEXP releases, SEXP given);
SEXP cellar_r_read_estimate(SEXP path);
SEXP cellar_r_write_estimate(SEXP estimate, SEXP path, SEXP options);

/* assess.c */
SEXP cellar_r_risk(SEXP table, SEXP given);
SEXP cellar_r_risk_groups(SEXP table, SEXP spec, SEXP given);
SEXP cellar_r_exposure(SEXP table, SEXP given);
SEXP cellar_r_exposure_bounds(SEXP table, SEXP given);
SEXP cellar_r_utility(SEXP table, SEXP what, SEXP given);

/* selection.c */
SEXP cellar_r_select_columns(SEXP table, SEXP given);
SEXP cellar_r_suppress_values(SEXP table, SEXP given);

/* cube.c */
SEXP cellar_r_open_cube(SEXP path, SEXP verify);
SEXP cellar_r_cube_facts(SEXP cube);
SEXP cellar_r_cube_table(SEXP cube, SEXP given);
SEXP cellar_r_cube_interval(SEXP cube, SEXP given);
SEXP cellar_r_cube_plan(SEXP path, SEXP builds, SEXP given);

/* plan.c */
SEXP cellar_r_plan(SEXP path);
SEXP cellar_r_plan_check(SEXP path, SEXP given);
SEXP cellar_r_plan_compare(SEXP path, SEXP given);
SEXP cellar_r_plan_run(SEXP path, SEXP given);
SEXP cellar_r_report_public(SEXP releases, SEXP path, SEXP given);
SEXP cellar_r_report_cube(SEXP cube, SEXP path, SEXP given);
SEXP cellar_r_report_committee(SEXP table, SEXP path, SEXP given);
SEXP cellar_r_synthesize(SEXP handle, SEXP kind, SEXP given);
SEXP cellar_r_write_synthesis(SEXP synthesis, SEXP path, SEXP given);

/* ledger.c */
SEXP cellar_r_create_ledger(SEXP path, SEXP key_path, SEXP given);
SEXP cellar_r_ledger(SEXP path, SEXP key_path);
SEXP cellar_r_adopt_ledger(SEXP path, SEXP key_path, SEXP witness);
SEXP cellar_r_add_to_ledger(SEXP path, SEXP key_path, SEXP given);
SEXP cellar_r_enter_in_ledger(SEXP path, SEXP key_path, SEXP given);
SEXP cellar_r_amplify_ledger(SEXP path, SEXP key_path, SEXP given);
SEXP cellar_r_verify_ledger(SEXP path, SEXP key_path, SEXP against);

#endif
