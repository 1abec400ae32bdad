/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a table before any record was seen. */
#ifndef CELLAR_TABLE_COUNTING_DECLARED_H
#define CELLAR_TABLE_COUNTING_DECLARED_H

#include "table/build.h"

/* The schema of the inner cells, when every domain is declared; else *out is NULL. Free it with
 * cellar_schema_free(). */
cellar_status cellar_tabulate_declared_schema(const cellar_tabulate_spec *spec, cellar_schema **out,
                                              cellar_error *err);

#endif
