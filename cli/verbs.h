/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The verbs, one cmd_<verb>.c each (verify-release is in cmd_sign.c, sql in cmd_tabulate.c). */
#ifndef CELLAR_CLI_VERBS_H
#define CELLAR_CLI_VERBS_H

#include "options.h"

/* argv[0] is the verb. Each answers the exit code of the program. */
int cli_audit(int argc, char **argv);
int cli_certify(int argc, char **argv);
int cli_collect(int argc, char **argv);
int cli_completion(int argc, char **argv);
int cli_convert(int argc, char **argv);
int cli_cube(int argc, char **argv);
int cli_demo_data(int argc, char **argv);
int cli_describe(int argc, char **argv);
int cli_exposure(int argc, char **argv);
int cli_fit(int argc, char **argv);
int cli_infer(int argc, char **argv);
int cli_key(int argc, char **argv);
int cli_ledger(int argc, char **argv);
int cli_mechanism(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_plan(int argc, char **argv);
int cli_protect(int argc, char **argv);
int cli_ptable(int argc, char **argv);
int cli_report(int argc, char **argv);
int cli_risk(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_sign(int argc, char **argv);
int cli_sql(int argc, char **argv);
int cli_store(int argc, char **argv);
int cli_synthesize(int argc, char **argv);
int cli_tabulate(int argc, char **argv);
int cli_utility(int argc, char **argv);
int cli_verify_release(int argc, char **argv);

/* For completion, in main.c, which has the table of verbs: the options of each, in order, and their
 * names with what --help says of them. */
void cli_verbs_visit(cli_options_visitor *visit, void *context);
void cli_verbs_list(void (*each)(const char *name, const char *summary));

#endif
