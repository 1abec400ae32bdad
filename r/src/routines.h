/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The routines that R calls, and what only some files of the glue share. */
#ifndef CELLAR_R_ROUTINES_H
#define CELLAR_R_ROUTINES_H

#include <stdio.h>
#include <string.h>

#include "glue.h"

/* frame.c: the columns of a data frame, valid until .Call() returns. */
cellar_frame glue_frame(SEXP columns, SEXP n_rows);

/* tabulate.c */
SEXP cellar_r_read_codelist(SEXP path, SEXP mark);
SEXP cellar_r_parse_codelist(SEXP name, SEXP bytes);
SEXP cellar_r_parse_recode_map(SEXP name, SEXP bytes);
SEXP cellar_r_tabulate_frame(SEXP spec, SEXP columns, SEXP n_rows);
SEXP cellar_r_tabulate_file(SEXP spec);
SEXP cellar_r_read_table(SEXP path);
SEXP cellar_r_write_table(SEXP table, SEXP path, SEXP options);
SEXP cellar_r_merge_tables(SEXP tables);
SEXP cellar_r_table_shape(SEXP table);
SEXP cellar_r_true_counts(SEXP table);
SEXP cellar_r_row_report(SEXP table);

/* protect.c */
SEXP cellar_r_create_key(SEXP path, SEXP edition);
SEXP cellar_r_read_key(SEXP path);
SEXP cellar_r_key_id(SEXP key);
SEXP cellar_r_protect(SEXP table, SEXP spec, SEXP options);

/* release.c */
SEXP cellar_r_read_release(SEXP path);
SEXP cellar_r_write_release(SEXP release, SEXP path, SEXP options);
SEXP cellar_r_release_facts(SEXP release);
SEXP cellar_r_release_cells(SEXP release, SEXP zeros);
SEXP cellar_r_release_at(SEXP release, SEXP codes);

/* certify.c */
SEXP cellar_r_certify(SEXP spec, SEXP options);
SEXP cellar_r_certificate_text(SEXP certificate, SEXP path, SEXP explain);
SEXP cellar_r_mechanism(SEXP spec, SEXP counts, SEXP negatives);
SEXP cellar_r_probabilities(SEXP spec, SEXP count, SEXP values);
SEXP cellar_r_known_mechanisms(void);

#endif
