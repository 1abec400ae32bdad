/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of releases, signed and verified. */
#include "glue.h"

#include <cellar/manifest.h>

/* (files, releases, recomputed, estimates, unaccounted, unrecognised, public name of the key) */
static PyObject *findings_of(const cellar_manifest_findings *found, const char *key_id)
{
    return Py_BuildValue("(nnnnnns)", (Py_ssize_t) found->n_files, (Py_ssize_t) found->n_releases,
                         (Py_ssize_t) found->n_recomputed, (Py_ssize_t) found->n_estimates,
                         (Py_ssize_t) found->n_unaccounted, (Py_ssize_t) found->n_unrecognised,
                         key_id);
}

/* sign(folder, key, {"accept": [...], "files": [...]}) */
static PyObject *sign(PyObject *module, PyObject *args)
{
    const char *folder, **files;
    PyObject *handle, *dict;
    const cellar_key *key;
    cellar_manifest_accepted accept = {0};
    cellar_manifest_findings found = {0};
    cellar_error err;
    cellar_status status;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "sOO", &folder, &handle, &dict))
        return NULL;
    key = glue_object(handle, HANDLE_KEY, 0);
    if (key == NULL)
        return NULL;
    accept.what = glue_accepted(dict, &failed);
    files = glue_texts(dict, "files", &accept.n_files, &failed);
    if (failed) {
        PyMem_Free((void *) files);
        return NULL;
    }
    accept.files = files;
    Py_BEGIN_ALLOW_THREADS status = cellar_manifest_sign(folder, key, &accept, &found, &err);
    Py_END_ALLOW_THREADS PyMem_Free((void *) files);
    return status == CELLAR_OK ? findings_of(&found, cellar_key_id(key))
                               : glue_fail(module, status, &err);
}

static PyObject *verify_folder(PyObject *module, PyObject *args)
{
    const char *folder, *key_path;
    cellar_public_key key;
    cellar_manifest_findings found = {0};
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "ss", &folder, &key_path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_public_key_read(key_path, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_manifest_verify(folder, &key, &found, &err);
    Py_END_ALLOW_THREADS return status == CELLAR_OK ? findings_of(&found, key.id)
                                                    : glue_fail(module, status, &err);
}

static PyObject *write_public_key(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *path;
    const cellar_key *key;
    cellar_public_key public_key;
    cellar_output_options how = cellar_output_options_default();
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Osp", &handle, &path, &how.replace))
        return NULL;
    key = glue_object(handle, HANDLE_KEY, 0);
    if (key == NULL)
        return NULL;
    public_key = cellar_key_public(key);
    status = cellar_public_key_write(&public_key, path, &how, &err);
    return status == CELLAR_OK ? Py_NewRef(Py_None) : glue_fail(module, status, &err);
}

PyMethodDef glue_sign_methods[] = {
    {"sign", sign, METH_VARARGS, "Signs a folder of releases."},
    {"verify_folder", verify_folder, METH_VARARGS, "Checks a signed folder."},
    {"write_public_key", write_public_key, METH_VARARGS, "The public half of a key."},
    {NULL, NULL, 0, NULL},
};
