/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes: reading one, and asking it. Public. */
#include "glue.h"

static PyObject *read_cube(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_cube *cube = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_cube_open(path, &cube, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_CUBE, cube)
                               : glue_fail(module, status, &err);
}

/* Every digest, every estimate, every sum, and the certificate. */
static PyObject *verify_cube(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *name;
    const cellar_cube *cube;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Os", &handle, &name))
        return NULL;
    cube = glue_object(handle, HANDLE_CUBE, 0);
    if (cube == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_cube_verify(cube, name, &err);
    if (status == CELLAR_OK)
        status = cellar_cube_recertify(cube, name, &err);
    Py_END_ALLOW_THREADS if (status != CELLAR_OK) return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

/* (description, [(variable, [categories of each level])]) */
static PyObject *cube_about(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_cube *cube;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    cube = glue_object(handle, HANDLE_CUBE, 0);
    list = cube != NULL ? PyList_New(0) : NULL;
    for (size_t v = 0; list != NULL && v < cellar_cube_n_variables(cube); v++) {
        PyObject *levels = PyList_New(0);
        for (size_t l = 1; l <= cellar_cube_n_levels(cube, v); l++)
            glue_append(&levels, PyLong_FromSize_t(cellar_cube_n_categories(cube, v, l)));
        glue_append(&list, levels == NULL
                               ? NULL
                               : Py_BuildValue("(sN)", cellar_cube_variable(cube, v), levels));
    }
    return list == NULL ? NULL : Py_BuildValue("(sN)", cellar_cube_description(cube), list);
}

/* [(name, variables, cells, mechanism or None, exact, sd)] */
static PyObject *cube_tables(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_cube *cube;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    cube = glue_object(handle, HANDLE_CUBE, 0);
    list = cube != NULL ? PyList_New(0) : NULL;
    for (size_t t = 0; list != NULL && t < cellar_cube_n_tables(cube); t++) {
        cellar_cube_table_info info;
        cellar_error err;
        const cellar_status status = cellar_cube_table_at(cube, t, &info, &err);
        if (status != CELLAR_OK) {
            Py_DECREF(list);
            return glue_fail(module, status, &err);
        }
        glue_append(&list, Py_BuildValue("(snKzOd)", info.name, (Py_ssize_t) info.n_variables,
                                         (unsigned long long) info.n_cells, info.mechanism,
                                         info.is_exact ? Py_True : Py_False, info.sd));
    }
    return list;
}

/* ---- questions ------------------------------------------------------------------------ */

/* The sides of a question: [{"variable", "level", "codes"}, ...] */
typedef struct sides {
    cellar_cube_side sides[CELLAR_MAX_VARIABLES];
    size_t n;
} sides;

static void sides_clear(sides *s)
{
    for (size_t i = 0; i < s->n; i++)
        PyMem_Free((void *) s->sides[i].codes);
}

static int sides_init(PyObject *list, sides *s)
{
    const Py_ssize_t n = PyList_Size(list);
    int failed = n < 0;
    *s = (sides){0};
    if (n > CELLAR_MAX_VARIABLES) {
        PyErr_SetString(PyExc_ValueError, "a table has at most 64 variables");
        return 0;
    }
    for (Py_ssize_t i = 0; !failed && i < n; i++) {
        PyObject *dict = PyList_GetItem(list, i);
        cellar_cube_side *side = &s->sides[s->n++];
        side->variable = glue_needed_text(dict, "variable", &failed);
        side->level = (size_t) glue_whole(dict, "level", 0, &failed);
        if (glue_member(dict, "codes") != NULL)
            side->codes = glue_texts(dict, "codes", &side->n_codes, &failed);
    }
    if (failed)
        sides_clear(s);
    return !failed;
}

/* ask_cube(cube, sides, margins, whole) -> an estimate */
static PyObject *ask_cube(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    int margins, whole;
    const cellar_cube *cube;
    cellar_cube_question question;
    cellar_estimate *estimate = NULL;
    cellar_error err;
    cellar_status status;
    sides s;
    if (!PyArg_ParseTuple(args, "OOpp", &handle, &list, &margins, &whole))
        return NULL;
    cube = glue_object(handle, HANDLE_CUBE, 0);
    if (cube == NULL || !sides_init(list, &s))
        return NULL;
    question = (cellar_cube_question){s.sides, s.n, margins};
    Py_BEGIN_ALLOW_THREADS status = whole ? cellar_cube_ask_whole(cube, &question, &estimate, &err)
                                          : cellar_cube_ask(cube, &question, &estimate, &err);
    Py_END_ALLOW_THREADS sides_clear(&s);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_ESTIMATE, estimate)
                               : glue_fail(module, status, &err);
}

/* cube_half_widths(cube, sides, margins, confidence, simultaneous, cells) */
static PyObject *cube_half_widths(PyObject *module, PyObject *args)
{
    PyObject *handle, *list, *result = NULL;
    int margins, simultaneous;
    double confidence, *widths;
    unsigned long long n;
    const cellar_cube *cube;
    cellar_error err;
    sides s;
    if (!PyArg_ParseTuple(args, "OOpdpK", &handle, &list, &margins, &confidence, &simultaneous, &n))
        return NULL;
    cube = glue_object(handle, HANDLE_CUBE, 0);
    if (cube == NULL || !sides_init(list, &s))
        return NULL;
    widths = PyMem_Calloc((size_t) n + 1, sizeof *widths);
    if (widths == NULL)
        PyErr_NoMemory();
    else {
        const cellar_cube_question question = {s.sides, s.n, margins};
        const cellar_status status = cellar_cube_half_widths(
            cube, &question, confidence, simultaneous, widths, (size_t) n, &err);
        result = status == CELLAR_OK ? PyList_New(0) : glue_fail(module, status, &err);
        for (size_t i = 0; result != NULL && i < n; i++)
            glue_append(&result, PyFloat_FromDouble(widths[i]));
    }
    PyMem_Free(widths);
    sides_clear(&s);
    return result;
}

/* compare_cube(cube, of, comparison, other or None, confidence) ->
 * (estimate, se, low, high, p value, undetermined) */
static PyObject *compare_cube(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *of, *other;
    int comparison;
    double confidence;
    const cellar_cube *cube;
    cellar_cube_sum *sum = NULL, *second = NULL;
    cellar_cube_finding found;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Osizd", &handle, &of, &comparison, &other, &confidence))
        return NULL;
    cube = glue_object(handle, HANDLE_CUBE, 0);
    if (cube == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_cube_sum_parse(cube, of, &sum, &err);
    if (status == CELLAR_OK && other != NULL)
        status = cellar_cube_sum_parse(cube, other, &second, &err);
    if (status == CELLAR_OK)
        status = cellar_cube_compare(cube, sum, (cellar_comparison) comparison, second, confidence,
                                     &found, &err);
    cellar_cube_sum_free(sum);
    cellar_cube_sum_free(second);
    Py_END_ALLOW_THREADS return status != CELLAR_OK
        ? glue_fail(module, status, &err)
        : Py_BuildValue("(ddddNO)", found.estimate, found.se, found.low, found.high,
                        glue_known(found.p_value), found.is_undetermined ? Py_True : Py_False);
}

PyMethodDef glue_cube_methods[] = {
    {"read_cube", read_cube, METH_VARARGS, "A cube from its file."},
    {"verify_cube", verify_cube, METH_VARARGS, "Checks all of a cube."},
    {"cube_about", cube_about, METH_VARARGS, "What a cube says of itself."},
    {"cube_tables", cube_tables, METH_VARARGS, "The tables it has."},
    {"ask_cube", ask_cube, METH_VARARGS, "A table of a cube."},
    {"cube_half_widths", cube_half_widths, METH_VARARGS, "Intervals of a table."},
    {"compare_cube", compare_cube, METH_VARARGS, "A count, or two compared."},
    {NULL, NULL, 0, NULL},
};
