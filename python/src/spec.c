/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What to count: the spec of a tabulation out of a dict. */
#include "glue.h"

#include <string.h>

static void read_variable(PyObject *dict, cellar_variable_spec *out, int *failed)
{
    *out = cellar_variable_spec_default();
    out->name = glue_text(dict, "name", failed);
    out->column = glue_needed_text(dict, "column", failed);
    out->codelist = glue_object(PyDict_GetItemString(dict, "codelist"), HANDLE_CODELIST, 1);
    out->recode.map = glue_object(PyDict_GetItemString(dict, "map"), HANDLE_RECODE_MAP, 1);
    out->domain_public = glue_flag(dict, "domain_public", failed);
    out->level = (size_t) glue_whole(dict, "level", 0, failed);
    out->missing_policy = (cellar_missing_policy) glue_choice(dict, "missing", failed);
    out->recode.bottom = glue_text(dict, "bottom", failed);
    out->recode.top = glue_text(dict, "top", failed);
    out->recode.band_width = glue_text(dict, "band", failed);
    out->recode.band_origin = glue_text(dict, "band_origin", failed);
    out->recode.band_closed_right = glue_flag(dict, "band_closed_right", failed);
    *failed |= PyErr_Occurred() != NULL;
}

static void read_variables(PyObject *dict, glue_spec *a, int *failed)
{
    PyObject *list = glue_member(dict, "variables");
    const Py_ssize_t n = list != NULL ? PyList_Size(list) : 0;
    if (n < 0 || n > CELLAR_MAX_VARIABLES) {
        PyErr_SetString(PyExc_ValueError, "a table has 1 to 64 variables");
        *failed = 1;
        return;
    }
    for (Py_ssize_t v = 0; v < n; v++)
        read_variable(PyList_GetItem(list, v), &a->variables[v], failed);
    a->spec.variables = a->variables;
    a->spec.n_variables = (size_t) n;
}

static void read_margins(PyObject *dict, glue_spec *a, int *failed)
{
    PyObject *list = glue_member(dict, "margins");
    const Py_ssize_t n = list != NULL ? PyList_Size(list) : 0;
    a->spec.margins.all = glue_flag(dict, "all_margins", failed);
    a->masks = PyMem_Calloc((size_t) (n > 0 ? n : 1), sizeof *a->masks);
    if (n < 0 || a->masks == NULL) {
        *failed = 1;
        return;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        a->masks[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(list, i));
    a->spec.margins.masks = a->masks;
    a->spec.margins.n_masks = (size_t) n;
}

static void read_records(PyObject *dict, glue_spec *a, int *failed)
{
    const cellar_key *key = glue_object(PyDict_GetItemString(dict, "key"), HANDLE_KEY, 1);
    const char *delimiter = glue_text(dict, "delimiter", failed);
    cellar_tabulate_spec *spec = &a->spec;
    spec->weight_column = glue_text(dict, "weight", failed);
    spec->max_weight = glue_whole(dict, "max_weight", 0, failed);
    spec->unit_column = glue_text(dict, "unit", failed);
    spec->max_per_unit = glue_whole(dict, "max_per_unit", 0, failed);
    spec->record_key_column = glue_text(dict, "record_key", failed);
    spec->record_id_column = glue_text(dict, "record_id", failed);
    spec->key_range = glue_whole(dict, "key_range", 0, failed);
    spec->reader.count_column = glue_text(dict, "count", failed);
    spec->reader.rows_are_records = glue_flag(dict, "rows_are_records", failed);
    spec->reader.encoding = (cellar_encoding) glue_choice(dict, "encoding", failed);
    spec->reader.delimiter = delimiter != NULL ? delimiter[0] : '\0';
    if (key != NULL) {
        cellar_key_secret(key, CELLAR_KEY_RECORDS, a->secret);
        spec->record_secret = a->secret;
    }
}

int glue_spec_init(PyObject *dict, glue_spec *a)
{
    int failed = 0;
    memset(a, 0, sizeof *a);
    a->spec = cellar_tabulate_spec_default();
    a->spec.progress = glue_progress();
    a->spec.reader = cellar_reader_options_default();
    a->spec.path = glue_text(dict, "path", &failed);
    a->spec.n_threads = glue_threads(dict, &failed);
    a->spec.missing_policy = (cellar_missing_policy) glue_choice(dict, "missing_as", &failed);
    a->missing = glue_texts(dict, "missing", &a->spec.n_missing, &failed);
    a->where = glue_texts(dict, "where", &a->spec.n_where, &failed);
    a->spec.missing = a->missing;
    a->spec.where = a->where;
    read_variables(dict, a, &failed);
    read_margins(dict, a, &failed);
    read_records(dict, a, &failed);
    return !failed && !PyErr_Occurred();
}

void glue_spec_clear(glue_spec *a)
{
    volatile unsigned char *secret = a->secret; /* wiped, not optimised away */
    for (size_t i = 0; i < sizeof a->secret; i++)
        secret[i] = 0;
    PyMem_Free((void *) a->missing);
    PyMem_Free((void *) a->where);
    PyMem_Free(a->masks);
}
