/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From tables to releases, and what is read from these. */
#include "glue.h"

#include <string.h>

/* ---- keys ---------------------------------------------------------------------- */

static PyObject *read_key(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_key_read(path, &key, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_KEY, key)
                               : glue_fail(module, status, &err);
}

static PyObject *create_key(PyObject *module, PyObject *args)
{
    const char *path, *edition;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "sz", &path, &edition))
        return NULL;
    status = cellar_key_create(path, edition, &err);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

static PyObject *key_id(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_key *key;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    key = glue_object(handle, HANDLE_KEY, 0);
    return key != NULL ? PyUnicode_FromString(cellar_key_id(key)) : NULL;
}

/* ---- options -------------------------------------------------------------------- */

static int is_spec_of(const char *spec, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(spec, name, length) == 0 && (spec[length] == ':' || spec[length] == '\0');
}

/* A word that has to be one of a few. */
static void check_word(int is_known, const char *name, const char *word, int *failed)
{
    if (word == NULL || is_known)
        return;
    PyErr_Format(PyExc_ValueError, "%s cannot be '%s'", name, word);
    *failed = 1;
}

static int read_options(PyObject *dict, cellar_protect_options *out)
{
    int failed = 0;
    const char *negatives = glue_text(dict, "negatives", &failed);
    const char *neighbours = glue_text(dict, "neighbours", &failed);
    const char *below = glue_text(dict, "below", &failed);
    size_t n_accepted;
    const char **accepted = glue_texts(dict, "accept", &n_accepted, &failed);

    *out = cellar_protect_options_default();
    check_word(cellar_negatives_find(negatives, &out->negatives), "negatives", negatives, &failed);
    check_word(cellar_neighbours_find(neighbours, &out->neighbours), "neighbours", neighbours,
               &failed);
    out->choice = (cellar_parameter_choice) glue_number(dict, "chosen", 0, &failed);
    check_word(below == NULL || strcmp(below, "zero") == 0 || strcmp(below, "suppress") == 0,
               "below", below, &failed);
    if (below != NULL && strcmp(below, "suppress") == 0)
        out->below = CELLAR_BELOW_SUPPRESS;
    for (size_t i = 0; accepted != NULL && !failed && i < n_accepted; i++) {
        check_word(cellar_acceptance_find(accepted[i]) != 0, "accept", accepted[i], &failed);
        out->accept |= cellar_acceptance_find(accepted[i]);
    }
    PyMem_Free((void *) accepted);
    out->threshold = glue_number(dict, "threshold", 0, &failed);
    out->max_cells = (uint64_t) glue_number(dict, "max_cells", (long long) out->max_cells, &failed);
    out->per_cell = (int) glue_number(dict, "per_cell", 0, &failed);
    out->total_epsilon = glue_text(dict, "total_epsilon", &failed);
    out->domain_public = (int) glue_number(dict, "domain_public", 0, &failed);
    out->unit = glue_text(dict, "unit", &failed);
    out->max_per_unit = (uint64_t) glue_number(dict, "per_unit", 1, &failed);
    out->max_weight = (uint64_t) glue_number(dict, "max_weight", 0, &failed);
    out->date = glue_text(dict, "date", &failed);
    out->delta = glue_text(dict, "delta", &failed);
    out->edition = glue_text(dict, "edition", &failed);
    out->dataset = glue_text(dict, "dataset", &failed);
    out->key = glue_object(PyDict_GetItemString(dict, "key"), HANDLE_KEY, 1);
    out->n_threads = (int) glue_number(dict, "threads", 0, &failed);
    return !failed && !PyErr_Occurred();
}

/* ---- drawing --------------------------------------------------------------------- */

/* Who pays, and where the release appears. */
typedef struct purse {
    const char *ledger, *ledger_key;
    cellar_payment payment;
    cellar_charged_file file;
} purse;

static int read_purse(PyObject *dict, purse *out)
{
    int failed = 0;
    *out = (purse){.payment = cellar_payment_default(), .file = cellar_charged_file_default()};
    out->ledger = glue_text(dict, "ledger", &failed);
    out->ledger_key = glue_text(dict, "ledger_key", &failed);
    out->payment.dataset = glue_text(dict, "dataset", &failed);
    out->payment.request = glue_text(dict, "request", &failed);
    out->payment.edition = glue_text(dict, "edition", &failed);
    out->payment.analyst = glue_text(dict, "analyst", &failed);
    out->payment.accept_delta = (int) glue_number(dict, "accept_delta", 0, &failed);
    out->file.path = glue_text(dict, "output", &failed);
    if (out->ledger != NULL && (out->file.path == NULL || out->ledger_key == NULL)) {
        PyErr_SetString(PyExc_ValueError,
                        "a charged release needs ledger_key and output: the file is its record");
        failed = 1;
    }
    return !failed;
}

enum { SPEC_MAX = 4096 };

/* What a draw holds on its way. */
typedef struct drawing {
    cellar_prepared *prepared;
    cellar_mechanism *mechanism;
    cellar_ledger *ledger;
    char spec[SPEC_MAX];
} drawing;

/* What is hidden about a unit is the dataset's to say. */
static cellar_status follow_dataset(const cellar_ledger *ledger, const purse *p,
                                    cellar_protect_options *options, cellar_error *err)
{
    const cellar_ledger_entry *dataset =
        p->payment.dataset != NULL ? cellar_ledger_find_dataset(ledger, p->payment.dataset) : NULL;
    if (dataset == NULL)
        return CELLAR_OK; /* spending refuses it */
    if (options->neighbours != CELLAR_NEIGHBOURS_DEFAULT &&
        options->neighbours != dataset->neighbours) {
        PyOS_snprintf(err->message, sizeof err->message,
                      "neighbours='%s': dataset '%s' accounts under %s, and these cannot be added",
                      cellar_neighbours_name(options->neighbours), p->payment.dataset,
                      cellar_neighbours_name(dataset->neighbours));
        return CELLAR_ERR_ARGUMENT;
    }
    options->neighbours = dataset->neighbours;
    if (options->unit == NULL)
        options->unit = dataset->unit;
    return CELLAR_OK;
}

static cellar_status prepare(const cellar_table *table, const char *spec,
                             const cellar_protect_options *options, drawing *d, cellar_error *err)
{
    cellar_status status;
    if (is_spec_of(spec, "cell-key"))
        return cellar_protect_prepare_cell_keys(table, spec, options, &d->prepared, err);
    if (is_spec_of(spec, "multinomial-dirichlet"))
        return cellar_protect_prepare_dirichlet(table, spec, options, &d->prepared, err);
    status = cellar_protect_complete_spec(table, spec, options, d->spec, sizeof d->spec, err);
    if (status == CELLAR_OK)
        status = cellar_mechanism_create(d->spec, &d->mechanism, err);
    return status == CELLAR_OK
               ? cellar_protect_prepare(table, d->mechanism, options, &d->prepared, err)
               : status;
}

/* Cell keys cost no budget: the ledger notes them. */
static cellar_status note(drawing *d, const purse *p, cellar_release **out, cellar_error *err)
{
    char stamp[CELLAR_STAMP_TEXT];
    cellar_release_file *file = NULL;
    cellar_status status =
        cellar_release_file_open(p->file.path, &p->file.write, p->file.replace, &file, err);
    if (status == CELLAR_OK)
        status = cellar_prepared_note(d->prepared, d->ledger, &p->payment, stamp, err);
    if (status == CELLAR_OK)
        status = cellar_prepared_draw(d->prepared, stamp, out, err);
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, *out, err);
    cellar_release_file_discard(file);
    return status;
}

static cellar_status spend(drawing *d, const purse *p, cellar_release **out, cellar_error *err)
{
    cellar_spend_result result;
    cellar_status status =
        cellar_prepared_spend(d->prepared, d->ledger, &p->payment, &p->file, &result, out, err);
    if (status == CELLAR_OK && *out == NULL) /* asked before: the recorded file stands */
        status = cellar_release_read(p->file.path, CELLAR_TABLE_AUTO, out, err);
    return status;
}

static cellar_status draw(const cellar_table *table, const char *spec,
                          cellar_protect_options *options, const purse *p, cellar_release **out,
                          cellar_error *err)
{
    drawing d = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (p->ledger != NULL) {
        status = cellar_ledger_open_file(p->ledger, p->ledger_key, &d.ledger, err);
        if (status == CELLAR_OK)
            status = follow_dataset(d.ledger, p, options, err);
    }
    if (status == CELLAR_OK)
        status = prepare(table, spec, options, &d, err);
    if (status == CELLAR_OK && d.ledger == NULL)
        status = cellar_prepared_draw(d.prepared, NULL, out, err);
    else if (status == CELLAR_OK)
        status = is_spec_of(spec, "cell-key") ? note(&d, p, out, err) : spend(&d, p, out, err);
    cellar_prepared_free(d.prepared);
    cellar_mechanism_free(d.mechanism);
    cellar_ledger_close(d.ledger);
    return status;
}

static PyObject *protect(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict;
    const char *spec;
    const cellar_table *table;
    cellar_protect_options options;
    cellar_release *release = NULL;
    cellar_error err;
    cellar_status status;
    purse p;

    if (!PyArg_ParseTuple(args, "OsO", &handle, &spec, &dict))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    if (table == NULL || !read_options(dict, &options) || !read_purse(dict, &p))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = draw(table, spec, &options, &p, &release, &err);
    Py_END_ALLOW_THREADS return status == CELLAR_OK ? glue_handle(module, HANDLE_RELEASE, release)
                                                    : glue_fail(module, status, &err);
}

/* ---- releases --------------------------------------------------------------------- */

static PyObject *read_release(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_release *release = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_release_read(path, CELLAR_TABLE_AUTO, &release, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_RELEASE, release)
                               : glue_fail(module, status, &err);
}

static PyObject *write_release(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *path;
    int zeros, replace;
    const cellar_release *release;
    cellar_table_write_options options = cellar_table_write_options_default();
    cellar_release_file *file = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Ospp", &handle, &path, &zeros, &replace))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    if (release == NULL)
        return NULL;
    options.format = cellar_table_format_of_path(path);
    options.zeros = zeros;
    status = cellar_release_file_open(path, &options, replace, &file, &err);
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, release, &err);
    cellar_release_file_discard(file);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

/* Texts that a release says of itself. */
static PyObject *release_texts(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_release *release;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    return release == NULL
               ? NULL
               : Py_BuildValue("(sssss)", cellar_release_mechanism(release),
                               cellar_verdict_name(cellar_release_verdict(release)),
                               cellar_release_ledger(release), cellar_release_certificate(release),
                               cellar_release_description(release));
}

/* Rows: codes of each variable, then the released value (None: suppressed). */
static PyObject *release_rows(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_release *release;
    const cellar_schema *schema;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    if (release == NULL)
        return NULL;
    schema = cellar_release_schema(release);
    list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < cellar_release_n_cells(release); i++) {
        const cellar_released_cell cell = cellar_release_cell(release, i);
        PyObject *row = glue_row(schema, cell.index, 1);
        if (row != NULL)
            PyTuple_SetItem(row, (Py_ssize_t) cellar_schema_n_variables(schema),
                            cell.status == CELLAR_CELL_SUPPRESSED
                                ? Py_NewRef(Py_None)
                                : PyLong_FromLongLong(cell.released));
        glue_append(&list, row);
    }
    return list;
}

static PyObject *release_stream(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_release *release;
    struct ArrowArrayStream stream;
    cellar_error err;
    int zeros;
    if (!PyArg_ParseTuple(args, "Op", &handle, &zeros))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    return release == NULL
               ? NULL
               : glue_stream(module, cellar_release_stream(release, zeros, &stream, &err), &stream,
                             &err);
}

static PyObject *release_at(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict;
    const cellar_release *release;
    const char **codes;
    size_t n;
    int failed = 0;
    uint64_t index;
    cellar_error err;
    cellar_status status;
    cellar_released_cell cell;
    if (!PyArg_ParseTuple(args, "OO", &handle, &dict))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    codes = glue_texts(dict, "codes", &n, &failed);
    if (release == NULL || failed) {
        PyMem_Free((void *) codes);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (codes[i][0] == '\0')
            codes[i] = NULL; /* the total */
    status = cellar_schema_find_cell(cellar_release_schema(release), codes, n, &index, &err);
    PyMem_Free((void *) codes);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    cell = cellar_release_at(release, index);
    return cell.status == CELLAR_CELL_SUPPRESSED ? Py_NewRef(Py_None)
                                                 : PyLong_FromLongLong(cell.released);
}

PyMethodDef glue_protect_methods[] = {
    {"read_key", read_key, METH_VARARGS, "A key from its file."},
    {"create_key", create_key, METH_VARARGS, "A new key file."},
    {"key_id", key_id, METH_VARARGS, "The public name of a key."},
    {"protect", protect, METH_VARARGS, "Draws a release."},
    {"read_release", read_release, METH_VARARGS, "A release from a file."},
    {"write_release", write_release, METH_VARARGS, "A release into a file."},
    {"release_texts", release_texts, METH_VARARGS, "What a release says of itself."},
    {"release_rows", release_rows, METH_VARARGS, "The listed cells."},
    {"release_stream", release_stream, METH_VARARGS, "The cells as an Arrow stream."},
    {"release_at", release_at, METH_VARARGS, "One released value by its codes."},
    {NULL, NULL, 0, NULL},
};
