/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the extension share: handles of library objects, and values out of dicts. */
#ifndef CELLAR_PYTHON_GLUE_H
#define CELLAR_PYTHON_GLUE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <cellar/cellar.h>

/* What a handle holds. It can be neither copied nor pickled, and shows nothing. */
typedef enum handle_kind {
    HANDLE_CODELIST,
    HANDLE_RECODE_MAP,
    HANDLE_TABLE,
    HANDLE_RELEASE,
    HANDLE_KEY,
    HANDLE_CURVE,
    HANDLE_ESTIMATE,
    HANDLE_CUBE,
    HANDLE_PLAN,
    HANDLE_MATRIX,
    HANDLE_SYNTHESIS,
    HANDLE_N_KINDS
} handle_kind;

/* Takes over `object`, also when it fails (NULL). */
PyObject *glue_handle(PyObject *module, handle_kind kind, void *object);
/* The object of a handle of that kind; NULL: an exception is set. None is NULL without one where
 * `is_optional`. */
void *glue_object(PyObject *given, handle_kind kind, int is_optional);
/* Ends work with CELLAR_ERR_CANCELLED when a signal's handler raised, as Ctrl-C does. */
cellar_progress glue_progress(void);
/* Raises cellar.Error with the sentence and the name of the status; answers NULL. */
PyObject *glue_fail(PyObject *module, cellar_status status, const cellar_error *err);

/* Members of a dict; absent and None are the default. On a wrong type *failed is set, and an
 * exception with it; nothing more is read then. Texts live as long as the dict. */
const char *glue_text(PyObject *dict, const char *name, int *failed);
/* None is a wrong type. */
const char *glue_needed_text(PyObject *dict, const char *name, int *failed);
long long glue_number(PyObject *dict, const char *name, long long otherwise, int *failed);
/* Negative ones are refused. */
uint64_t glue_whole(PyObject *dict, const char *name, uint64_t otherwise, int *failed);
/* 0 or 1; absent: 0. */
int glue_flag(PyObject *dict, const char *name, int *failed);
/* The number of a word that Python has looked up; absent: 0. */
int glue_choice(PyObject *dict, const char *name, int *failed);
/* The member "threads"; 0: one for each processor. */
int glue_threads(PyObject *dict, int *failed);
/* A list of texts, as an array to be freed with PyMem_Free(). */
const char **glue_texts(PyObject *dict, const char *name, size_t *n, int *failed);
/* Likewise of numbers; NULL and no failure where the member is absent. */
double *glue_reals(PyObject *dict, const char *name, size_t *n, int *failed);
uint64_t *glue_counts(PyObject *dict, const char *name, size_t *n, int *failed);
double glue_real(PyObject *dict, const char *name, double otherwise, int *failed);
/* Positions of variables, at most CELLAR_MAX_VARIABLES; answers how many. */
size_t glue_positions(PyObject *dict, const char *name, size_t positions[CELLAR_MAX_VARIABLES],
                      int *failed);
/* The words of the member "accept", as a sum of cellar_acceptance. */
unsigned glue_accepted(PyObject *dict, int *failed);
/* A borrowed member, or NULL. */
PyObject *glue_member(PyObject *dict, const char *name);

/* Adds `item` (taken over; NULL: an exception is set) to *list, which becomes NULL on failure. */
void glue_append(PyObject **list, PyObject *item);
/* A list of (name, domain, codes), one for each variable. */
PyObject *glue_shape(const cellar_schema *schema);
/* The codes of a cell, with room for `n_more` items behind them. */
PyObject *glue_row(const cellar_schema *schema, uint64_t index, Py_ssize_t n_more);
/* None for NAN. */
PyObject *glue_known(double value);
/* Takes over a stream that was made with that status. */
PyObject *glue_stream(PyObject *module, cellar_status status, struct ArrowArrayStream *stream,
                      const cellar_error *err);
/* What a certificate guarantees, as cellar.Certificate takes it. */
PyObject *glue_certificate(const cellar_certificate *certificate);

/* What to count (spec.c), as long as its dict lives. After glue_spec_init(), which answers 0 with
 * an exception set when it fails, glue_spec_clear() is due in any case. */
typedef struct glue_spec {
    cellar_tabulate_spec spec;
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    const char **missing, **where;
    uint64_t *masks;
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
} glue_spec;
int glue_spec_init(PyObject *dict, glue_spec *a);
void glue_spec_clear(glue_spec *a);
/* What a tabulation with that status made (tabulate.c): the table, which is taken over, and what
 * became of the rows. */
PyObject *glue_counted(PyObject *module, cellar_status status, cellar_table *table,
                       const cellar_row_report *report, const cellar_error *err);

/* The methods of the files of those names. */
extern PyMethodDef glue_tabulate_methods[], glue_database_methods[], glue_ledger_methods[],
    glue_protect_methods[], glue_certify_methods[], glue_assess_methods[], glue_exposure_methods[],
    glue_infer_methods[], glue_estimate_methods[], glue_cube_methods[], glue_plan_methods[],
    glue_report_methods[], glue_selection_methods[], glue_sign_methods[];

#endif
