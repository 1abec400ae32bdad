/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ledgers: made, added to, shown and verified. What is paid for is drawn by protect.c. */
#include "glue.h"

/* Opens a ledger; NULL: an exception is set. */
static cellar_ledger *open_ledger(PyObject *module, const char *path, const char *key)
{
    cellar_ledger *ledger = NULL;
    cellar_error err;
    const cellar_status status = cellar_ledger_open_file(path, key, &ledger, &err);
    if (status != CELLAR_OK)
        glue_fail(module, status, &err);
    return ledger;
}

static PyObject *done(PyObject *module, cellar_status status, const cellar_error *err)
{
    return status == CELLAR_OK ? Py_NewRef(Py_None) : glue_fail(module, status, err);
}

/* ---- making and changing ------------------------------------------------------------ */

static cellar_status read_cap(PyObject *dict, cellar_amounts *cap, int *failed, cellar_error *err)
{
    const char *epsilon = glue_text(dict, "epsilon", failed),
               *delta = glue_text(dict, "delta", failed), *rho = glue_text(dict, "rho", failed);
    return *failed ? CELLAR_OK : cellar_amounts_parse_cap(epsilon, delta, rho, cap, err);
}

static cellar_status read_dataset(PyObject *dict, cellar_ledger_dataset *out, int *failed,
                                  cellar_error *err)
{
    *out = cellar_ledger_dataset_default();
    out->name = glue_needed_text(dict, "dataset", failed);
    out->edition = glue_text(dict, "edition", failed);
    out->unit = glue_text(dict, "unit", failed);
    (void) cellar_neighbours_find(glue_text(dict, "neighbours", failed), &out->neighbours);
    out->population = glue_whole(dict, "population", 0, failed);
    out->accept_delta = glue_flag(dict, "accept_delta", failed);
    return read_cap(dict, &out->cap, failed, err);
}

/* create_ledger(path, key, dataset, witness or None): the key file is there */
static PyObject *create_ledger(PyObject *module, PyObject *args)
{
    const char *path, *key_path, *witness;
    PyObject *dict;
    cellar_ledger_dataset dataset;
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "ssOz", &path, &key_path, &dict, &witness))
        return NULL;
    status = read_dataset(dict, &dataset, &failed, &err);
    if (failed)
        return NULL;
    if (status == CELLAR_OK)
        status = cellar_key_read(key_path, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_create_with(path, key, &dataset, witness, &err);
    cellar_key_free(key);
    return done(module, status, &err);
}

static PyObject *adopt_ledger(PyObject *module, PyObject *args)
{
    const char *path, *key_path, *witness;
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "ssz", &path, &key_path, &witness))
        return NULL;
    status = cellar_key_read(key_path, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_adopt(path, key, witness, &err);
    cellar_key_free(key);
    return done(module, status, &err);
}

static cellar_status add_to(cellar_ledger *ledger, PyObject *dict, int *failed, cellar_error *err)
{
    const char *analyst = glue_text(dict, "analyst", failed), *edition;
    cellar_ledger_dataset dataset;
    cellar_status status;
    if (!glue_flag(dict, "has_cap", failed)) {
        const char *name = glue_needed_text(dict, "dataset", failed);
        edition = glue_needed_text(dict, "edition", failed);
        return *failed ? CELLAR_OK : cellar_ledger_add_edition(ledger, name, edition, err);
    }
    status = read_dataset(dict, &dataset, failed, err);
    if (*failed || status != CELLAR_OK)
        return status;
    return analyst != NULL
               ? cellar_ledger_add_analyst(ledger, dataset.name, analyst, dataset.cap, err)
               : cellar_ledger_add_dataset(ledger, &dataset, err);
}

/* add_to_ledger(path, key, {...}): a dataset, a share of an analyst, or (without a cap) an edition
 */
static PyObject *add_to_ledger(PyObject *module, PyObject *args)
{
    const char *path, *key;
    PyObject *dict;
    cellar_ledger *ledger;
    cellar_error err;
    cellar_status status;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "ssO", &path, &key, &dict) ||
        (ledger = open_ledger(module, path, key)) == NULL)
        return NULL;
    status = add_to(ledger, dict, &failed, &err);
    cellar_ledger_close(ledger);
    return failed ? NULL : done(module, status, &err);
}

/* enter_in_ledger(path, key, dataset, edition or None, kind, what) */
static PyObject *enter_in_ledger(PyObject *module, PyObject *args)
{
    const char *path, *key, *dataset, *edition, *what;
    int kind;
    const cellar_ledger_entry *first;
    cellar_ledger *ledger;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "ssszis", &path, &key, &dataset, &edition, &kind, &what) ||
        (ledger = open_ledger(module, path, key)) == NULL)
        return NULL;
    first = cellar_ledger_find_dataset(ledger, dataset);
    if (edition == NULL && first != NULL)
        edition = first->edition;
    status = cellar_ledger_enter(ledger, dataset, edition, (cellar_uncharged) kind, what, &err);
    cellar_ledger_close(ledger);
    return done(module, status, &err);
}

/* ---- looking at one ------------------------------------------------------------------- */

static PyObject *amounts_of(const cellar_amounts *amounts, int by_rho)
{
    char epsilon[CELLAR_AMOUNT_TEXT], delta[CELLAR_AMOUNT_TEXT], rho[CELLAR_AMOUNT_TEXT];
    cellar_amount_text_nano(amounts->epsilon_nano, epsilon);
    cellar_amount_text_atto(amounts->delta_atto, delta);
    cellar_amount_text_nano(amounts->rho_nano, rho);
    return by_rho ? Py_BuildValue("(zzs)", NULL, NULL, rho)
                  : Py_BuildValue("(ssz)", epsilon, delta, NULL);
}

static PyObject *balance_of(cellar_ledger *ledger, const cellar_ledger_entry *entry)
{
    const char *analyst = entry->kind == CELLAR_ENTRY_ANALYST ? entry->analyst : NULL;
    const cellar_ledger_entry *dataset = cellar_ledger_find_dataset(ledger, entry->dataset);
    cellar_balance b;
    if (cellar_ledger_balance(ledger, entry->dataset, analyst, &b, NULL) != CELLAR_OK)
        return PyErr_NoMemory();
    return Py_BuildValue("(szssNNNnnz)", entry->dataset, analyst, dataset->unit,
                         cellar_neighbours_name(dataset->neighbours), amounts_of(&b.cap, b.by_rho),
                         amounts_of(&b.spent, b.by_rho), amounts_of(&b.left, b.by_rho),
                         (Py_ssize_t) b.n_charges, (Py_ssize_t) b.n_uncharged,
                         analyst == NULL ? cellar_ledger_statement(ledger, entry->dataset) : NULL);
}

static PyObject *entry_of(const cellar_ledger_entry *e)
{
    return Py_BuildValue("(Lsszzzzzz)", (long long) e->number, cellar_entry_kind_name(e->kind),
                         e->time, e->dataset, e->edition, e->analyst, e->request, e->mechanism,
                         e->what);
}

/* ledger(path, key) -> (id, head, witness or None, balances, history) */
static PyObject *ledger_about(PyObject *module, PyObject *args)
{
    const char *path, *key;
    cellar_ledger *ledger;
    PyObject *balances, *history, *result = NULL;
    if (!PyArg_ParseTuple(args, "ss", &path, &key) ||
        (ledger = open_ledger(module, path, key)) == NULL)
        return NULL;
    balances = PyList_New(0);
    history = PyList_New(0);
    for (size_t i = 0; i < cellar_ledger_n_entries(ledger); i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        if (entry->kind == CELLAR_ENTRY_DATASET || entry->kind == CELLAR_ENTRY_ANALYST)
            glue_append(&balances, balance_of(ledger, entry));
        glue_append(&history, entry_of(entry));
    }
    if (balances != NULL && history != NULL)
        result = Py_BuildValue("(sszOO)", cellar_ledger_id(ledger), cellar_ledger_head(ledger),
                               cellar_ledger_witness(ledger), balances, history);
    Py_XDECREF(balances);
    Py_XDECREF(history);
    cellar_ledger_close(ledger);
    return result;
}

/* verify_ledger(path, key, release or None) -> the number of its entry, 0 without one */
static PyObject *verify_ledger(PyObject *module, PyObject *args)
{
    const char *path, *key, *against;
    cellar_ledger *ledger;
    cellar_against found = {0, NULL, CELLAR_CHARGE_NONE};
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "ssz", &path, &key, &against) ||
        (ledger = open_ledger(module, path, key)) == NULL)
        return NULL;
    status = cellar_ledger_verify(ledger, &err);
    if (status == CELLAR_OK && against != NULL)
        status = cellar_ledger_verify_against(ledger, against, &found, &err);
    cellar_ledger_close(ledger);
    return status == CELLAR_OK ? PyLong_FromLongLong(found.number)
                               : glue_fail(module, status, &err);
}

static PyObject *amplified_of(const cellar_amplified *found, cellar_sampling_scheme scheme)
{
    PyObject *assumptions = PyList_New(0);
    const char *sentence;
    for (size_t i = 0;
         assumptions != NULL && (sentence = cellar_sampling_assumption(scheme, i)) != NULL; i++)
        glue_append(&assumptions, PyUnicode_FromString(sentence));
    return assumptions != NULL ? Py_BuildValue("(ddN)", found->epsilon, found->delta, assumptions)
                               : NULL;
}

/* amplify_ledger(path, key, dataset, scheme, rate, unit, panel, calibrated) */
static PyObject *amplify_ledger(PyObject *module, PyObject *args)
{
    const char *path, *key, *dataset;
    cellar_sampling sampling = cellar_sampling_default();
    cellar_amplified found;
    cellar_ledger *ledger;
    cellar_error err;
    cellar_status status;
    int scheme;
    if (!PyArg_ParseTuple(args, "sssidspp", &path, &key, &dataset, &scheme, &sampling.rate,
                          &sampling.unit, &sampling.is_panel, &sampling.has_calibrated_weights) ||
        (ledger = open_ledger(module, path, key)) == NULL)
        return NULL;
    sampling.scheme = (cellar_sampling_scheme) scheme;
    status = cellar_ledger_amplify(ledger, dataset, &sampling, &found, &err);
    cellar_ledger_close(ledger);
    return status == CELLAR_OK ? amplified_of(&found, sampling.scheme)
                               : glue_fail(module, status, &err);
}

PyMethodDef glue_ledger_methods[] = {
    {"create_ledger", create_ledger, METH_VARARGS, "Makes a ledger with its first dataset."},
    {"adopt_ledger", adopt_ledger, METH_VARARGS, "Goes on with a ledger its witness lost."},
    {"add_to_ledger", add_to_ledger, METH_VARARGS, "Adds a dataset, an edition or a share."},
    {"enter_in_ledger", enter_in_ledger, METH_VARARGS, "Notes what is outside the budget."},
    {"ledger_about", ledger_about, METH_VARARGS, "Balances and history."},
    {"verify_ledger", verify_ledger, METH_VARARGS, "Reads everything again."},
    {"amplify_ledger", amplify_ledger, METH_VARARGS, "The cap for the population of a sample."},
    {NULL, NULL, 0, NULL},
};
