/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "glue.h"

#include <limits.h>
#include <string.h>

typedef struct handle {
    PyObject_HEAD void *object;
    handle_kind kind;
} handle;

typedef struct module_state {
    PyTypeObject *handle_type;
    PyObject *error;
} module_state;

static const char *const kind_names[HANDLE_N_KINDS] = {[HANDLE_CODELIST] = "code list",
                                                       [HANDLE_RECODE_MAP] = "recode map",
                                                       [HANDLE_TABLE] = "table",
                                                       [HANDLE_RELEASE] = "release",
                                                       [HANDLE_KEY] = "key",
                                                       [HANDLE_CURVE] = "curve of exposure",
                                                       [HANDLE_ESTIMATE] = "table of estimates",
                                                       [HANDLE_CUBE] = "cube",
                                                       [HANDLE_PLAN] = "plan",
                                                       [HANDLE_MATRIX] = "matrix",
                                                       [HANDLE_SYNTHESIS] = "set of records"};

static void object_free(handle_kind kind, void *object)
{
    switch (kind) {
    case HANDLE_CODELIST:
        cellar_codelist_free(object);
        break;
    case HANDLE_RECODE_MAP:
        cellar_recode_map_free(object);
        break;
    case HANDLE_TABLE:
        cellar_table_free(object);
        break;
    case HANDLE_RELEASE:
        cellar_release_free(object);
        break;
    case HANDLE_CURVE:
        cellar_exposure_curve_free(object);
        break;
    case HANDLE_ESTIMATE:
        cellar_estimate_free(object);
        break;
    case HANDLE_CUBE:
        cellar_cube_close(object);
        break;
    case HANDLE_PLAN:
        cellar_plan_free(object);
        break;
    case HANDLE_MATRIX:
        cellar_matrix_free(object);
        break;
    case HANDLE_SYNTHESIS:
        cellar_synthesis_free(object);
        break;
    default:
        cellar_key_free(object);
        break;
    }
}

/* ---- handles ----------------------------------------------------------------- */

static void handle_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    handle *h = (handle *) self;
    if (h->object != NULL)
        object_free(h->kind, h->object);
    ((freefunc) PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyObject *handle_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<handle of a %s>", kind_names[((handle *) self)->kind]);
}

static PyObject *handle_reduce(PyObject *self, PyObject *ignored)
{
    (void) ignored;
    PyErr_Format(PyExc_TypeError, "a %s cannot be pickled or copied: it stays in memory",
                 kind_names[((handle *) self)->kind]);
    return NULL;
}

static PyMethodDef handle_methods[] = {
    {"__reduce__", handle_reduce, METH_NOARGS, "Refused."},
    {"__reduce_ex__", handle_reduce, METH_O, "Refused."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot handle_slots[] = {{Py_tp_dealloc, handle_dealloc},
                                     {Py_tp_repr, handle_repr},
                                     {Py_tp_methods, handle_methods},
                                     {0, NULL}};

static PyType_Spec handle_spec = {.name = "cellar._cellar.Handle",
                                  .basicsize = sizeof(handle),
                                  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                  .slots = handle_slots};

PyObject *glue_handle(PyObject *module, handle_kind kind, void *object)
{
    module_state *state = PyModule_GetState(module);
    handle *h = (handle *) ((allocfunc) PyType_GetSlot(state->handle_type, Py_tp_alloc))(
        state->handle_type, 0);
    if (h == NULL) {
        object_free(kind, object);
        return NULL;
    }
    h->kind = kind;
    h->object = object;
    return (PyObject *) h;
}

void *glue_object(PyObject *given, handle_kind kind, int is_optional)
{
    if (given == NULL || given == Py_None) {
        if (!is_optional)
            PyErr_Format(PyExc_TypeError, "expected a %s", kind_names[kind]);
        return NULL;
    }
    /* all handles are of one type, whose deallocator is ours */
    if (PyType_GetSlot(Py_TYPE(given), Py_tp_dealloc) != (void *) handle_dealloc ||
        ((handle *) given)->kind != kind) {
        PyErr_Format(PyExc_TypeError, "expected a %s", kind_names[kind]);
        return NULL;
    }
    return ((handle *) given)->object;
}

static PyObject *raise_error(PyObject *module, cellar_status status, const cellar_error *err)
{
    module_state *state = PyModule_GetState(module);
    PyObject *words = PyImport_ImportModule("cellar._words");
    PyObject *message =
        words != NULL ? PyObject_CallMethod(words, "in_words_of_python", "s", err->message) : NULL;
    PyObject *error =
        message != NULL ? PyObject_CallFunctionObjArgs(state->error, message, NULL) : NULL;
    PyObject *name = error != NULL ? PyUnicode_FromString(cellar_status_name(status)) : NULL;
    if (error != NULL && name != NULL && PyObject_SetAttrString(error, "status", name) == 0)
        PyErr_SetObject(state->error, error);
    Py_XDECREF(words);
    Py_XDECREF(message);
    Py_XDECREF(error);
    Py_XDECREF(name);
    return NULL;
}

PyObject *glue_fail(PyObject *module, cellar_status status, const cellar_error *err)
{
    if (PyErr_Occurred()) /* what a signal's handler raised comes first: KeyboardInterrupt, say */
        return NULL;
    return raise_error(module, status, err);
}

/* ---- dicts -------------------------------------------------------------------- */

PyObject *glue_member(PyObject *dict, const char *name)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    return value == Py_None ? NULL : value;
}

/* Raises TypeError: the argument of that name is `wanted`, and not of the type that it has. */
static void fail_type(const char *name, const char *wanted, PyObject *value)
{
    PyObject *type = PyType_GetName(Py_TYPE(value));
    if (type != NULL)
        PyErr_Format(PyExc_TypeError, "`%s` is %s, not %U", name, wanted, type);
    Py_XDECREF(type);
}

static const char *text_of(PyObject *value, const char *name, int *failed)
{
    Py_ssize_t length = 0;
    const char *text;
    if (*failed)
        return NULL;
    text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &length) : NULL;
    if (text == NULL && PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "`%s`: a text is no UTF-8", name);
    else if (text == NULL)
        fail_type(name, "a str", value);
    else if (text != NULL && strlen(text) != (size_t) length) {
        PyErr_Format(PyExc_ValueError, "`%s`: a text holds a zero byte", name);
        text = NULL;
    }
    *failed |= text == NULL;
    return text;
}

const char *glue_text(PyObject *dict, const char *name, int *failed)
{
    PyObject *value = glue_member(dict, name);
    return value != NULL ? text_of(value, name, failed) : NULL;
}

const char *glue_needed_text(PyObject *dict, const char *name, int *failed)
{
    PyObject *value = glue_member(dict, name);
    return text_of(value != NULL ? value : Py_None, name, failed);
}

long long glue_number(PyObject *dict, const char *name, long long otherwise, int *failed)
{
    PyObject *value = glue_member(dict, name);
    long long number = value != NULL && !*failed ? PyLong_AsLongLong(value) : otherwise;
    if (value == NULL || *failed || number != -1 || !PyErr_Occurred())
        return number;
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        fail_type(name, "a whole number", value);
    else if (PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Format(PyExc_ValueError, "`%s` is a whole number within 63 bits", name);
    *failed = 1;
    return 0;
}

uint64_t glue_whole(PyObject *dict, const char *name, uint64_t otherwise, int *failed)
{
    const long long number = glue_number(dict, name, 0, failed);
    if (glue_member(dict, name) == NULL)
        return otherwise;
    if (number < 0) {
        PyErr_Format(PyExc_ValueError, "`%s` is a whole number that is not negative", name);
        *failed = 1;
        return 0;
    }
    return (uint64_t) number;
}

int glue_flag(PyObject *dict, const char *name, int *failed)
{
    return glue_number(dict, name, 0, failed) != 0;
}

int glue_choice(PyObject *dict, const char *name, int *failed)
{
    return (int) glue_number(dict, name, 0, failed);
}

int glue_threads(PyObject *dict, int *failed)
{
    const uint64_t n = glue_whole(dict, "threads", 0, failed);
    return n < INT_MAX ? (int) n : INT_MAX;
}

const char **glue_texts(PyObject *dict, const char *name, size_t *n, int *failed)
{
    PyObject *list = glue_member(dict, name);
    const Py_ssize_t size = list != NULL && !*failed ? PyList_Size(list) : 0;
    const char **texts = size >= 0 ? PyMem_Calloc((size_t) size + 1, sizeof *texts) : NULL;
    *n = 0;
    if (texts == NULL) {
        *failed = 1;
        return size >= 0 ? (PyErr_NoMemory(), NULL) : NULL;
    }
    for (Py_ssize_t i = 0; i < size; i++)
        texts[i] = text_of(PyList_GetItem(list, i), name, failed);
    *n = (size_t) size;
    return texts;
}

double glue_real(PyObject *dict, const char *name, double otherwise, int *failed)
{
    PyObject *value = glue_member(dict, name);
    const double number = value != NULL && !*failed ? PyFloat_AsDouble(value) : otherwise;
    if (value != NULL && !*failed && number == -1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            fail_type(name, "a number", value);
        *failed = 1;
    }
    return number;
}

/* The member as a list of n items, and memory for n of `size` bytes; NULL: absent, or a failure. */
static void *list_room(PyObject *dict, const char *name, size_t size, size_t *n, PyObject **list,
                       int *failed)
{
    void *room;
    *n = 0;
    *list = glue_member(dict, name);
    if (*list == NULL || *failed)
        return NULL;
    if (PyList_Size(*list) < 0) {
        *failed = 1;
        return NULL;
    }
    *n = (size_t) PyList_Size(*list);
    room = PyMem_Calloc(*n + 1, size);
    if (room == NULL) {
        PyErr_NoMemory();
        *failed = 1;
    }
    return room;
}

double *glue_reals(PyObject *dict, const char *name, size_t *n, int *failed)
{
    PyObject *list;
    double *numbers = list_room(dict, name, sizeof *numbers, n, &list, failed);
    for (size_t i = 0; numbers != NULL && i < *n; i++)
        numbers[i] = PyFloat_AsDouble(PyList_GetItem(list, (Py_ssize_t) i));
    *failed |= PyErr_Occurred() != NULL;
    return numbers;
}

uint64_t *glue_counts(PyObject *dict, const char *name, size_t *n, int *failed)
{
    PyObject *list;
    uint64_t *numbers = list_room(dict, name, sizeof *numbers, n, &list, failed);
    for (size_t i = 0; numbers != NULL && i < *n && !PyErr_Occurred(); i++)
        numbers[i] = PyLong_AsUnsignedLongLong(PyList_GetItem(list, (Py_ssize_t) i));
    *failed |= PyErr_Occurred() != NULL;
    return numbers;
}

size_t glue_positions(PyObject *dict, const char *name, size_t positions[CELLAR_MAX_VARIABLES],
                      int *failed)
{
    size_t n;
    uint64_t *numbers = glue_counts(dict, name, &n, failed);
    if (n > CELLAR_MAX_VARIABLES) {
        PyErr_SetString(PyExc_ValueError, "a table has 1 to 64 variables");
        *failed = 1;
    }
    for (size_t i = 0; numbers != NULL && !*failed && i < n; i++)
        positions[i] = (size_t) numbers[i];
    PyMem_Free(numbers);
    return *failed ? 0 : n;
}

/* ---- answers --------------------------------------------------------------------- */

void glue_append(PyObject **list, PyObject *item)
{
    if (*list != NULL && (item == NULL || PyList_Append(*list, item) < 0))
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

PyObject *glue_shape(const cellar_schema *schema)
{
    PyObject *list = PyList_New(0);
    for (size_t v = 0; list != NULL && v < cellar_schema_n_variables(schema); v++) {
        PyObject *codes = PyList_New(0);
        for (size_t c = 0; codes != NULL && c < cellar_schema_n_categories(schema, v); c++)
            glue_append(&codes, PyUnicode_FromString(cellar_schema_code(schema, v, c)));
        glue_append(&list, codes == NULL
                               ? NULL
                               : Py_BuildValue("(ssN)", cellar_schema_variable(schema, v),
                                               cellar_domain_name(cellar_schema_domain(schema, v)),
                                               codes));
    }
    return list;
}

PyObject *glue_row(const cellar_schema *schema, uint64_t index, Py_ssize_t n_more)
{
    const size_t n = cellar_schema_n_variables(schema);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    PyObject *row = PyTuple_New((Py_ssize_t) n + n_more);
    cellar_schema_categories(schema, index, categories);
    for (size_t v = 0; row != NULL && v < n; v++)
        PyTuple_SetItem(row, (Py_ssize_t) v,
                        PyUnicode_FromString(cellar_schema_code(schema, v, categories[v])));
    return row;
}

PyObject *glue_known(double value)
{
    return value == value ? PyFloat_FromDouble(value) : Py_NewRef(Py_None);
}

static void stream_destructor(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream != NULL && stream->release != NULL)
        stream->release(stream);
    PyMem_Free(stream);
}

PyObject *glue_stream(PyObject *module, cellar_status status, struct ArrowArrayStream *stream,
                      const cellar_error *err)
{
    struct ArrowArrayStream *kept;
    PyObject *capsule = NULL;
    if (status != CELLAR_OK)
        return glue_fail(module, status, err);
    kept = PyMem_Calloc(1, sizeof *kept);
    if (kept == NULL)
        PyErr_NoMemory();
    else {
        *kept = *stream;
        capsule = PyCapsule_New(kept, "arrow_array_stream", stream_destructor);
    }
    if (capsule == NULL) {
        stream->release(stream);
        PyMem_Free(kept);
    }
    return capsule;
}

/* ---- the module ---------------------------------------------------------------- */

static int module_exec(PyObject *module)
{
    PyMethodDef *const methods[] = {
        glue_tabulate_methods,  glue_database_methods, glue_ledger_methods,   glue_protect_methods,
        glue_certify_methods,   glue_assess_methods,   glue_exposure_methods, glue_infer_methods,
        glue_estimate_methods,  glue_cube_methods,     glue_plan_methods,     glue_report_methods,
        glue_selection_methods, glue_sign_methods};
    module_state *state = PyModule_GetState(module);
    state->handle_type = (PyTypeObject *) PyType_FromModuleAndSpec(module, &handle_spec, NULL);
    if (state->handle_type == NULL || PyModule_AddType(module, state->handle_type) < 0)
        return -1;
    state->error = PyErr_NewExceptionWithDoc(
        "cellar.Error",
        "What the library refuses, in a sentence; `status` is the name of the status.", NULL, NULL);
    if (state->error == NULL || PyModule_AddObjectRef(module, "Error", state->error) < 0 ||
        PyModule_AddStringConstant(module, "version", cellar_version()) < 0)
        return -1;
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (PyModule_AddFunctions(module, methods[i]) < 0)
            return -1;
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    Py_VISIT(state->handle_type);
    Py_VISIT(state->error);
    return 0;
}

static int module_clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->handle_type);
    Py_CLEAR(state->error);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef module_def = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "_cellar",
                                        .m_doc = "libcellar; use the package cellar.",
                                        .m_size = sizeof(module_state),
                                        .m_slots = module_slots,
                                        .m_traverse = module_traverse,
                                        .m_clear = module_clear};

PyMODINIT_FUNC PyInit__cellar(void);
PyMODINIT_FUNC PyInit__cellar(void)
{
    return PyModuleDef_Init(&module_def);
}
