/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "glue.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- library objects ----------------------------------------------------------- */

typedef struct glue_box {
    void *object;
    glue_kind kind;
    pid_t process;
    int has_report;
    cellar_row_report report;
} glue_box;

static const struct kind_facts {
    const char *name;
    const char *again;
} kinds[GLUE_N_KINDS] = {
#define GLUE_KIND(kind, free, words, again) [GLUE_##kind] = {words, again},
    GLUE_KINDS(GLUE_KIND)
#undef GLUE_KIND
};

static void object_free(glue_kind kind, void *object)
{
    switch (kind) {
#define GLUE_KIND(kind, free, words, again)                                                        \
    case GLUE_##kind:                                                                              \
        free(object);                                                                              \
        break;
        GLUE_KINDS(GLUE_KIND)
#undef GLUE_KIND
    default:
        break;
    }
}

static SEXP box_tag(void)
{
    return Rf_install("cellar handle");
}

static void box_finalize(SEXP handle)
{
    glue_box *box = R_ExternalPtrAddr(handle);
    if (box == NULL)
        return;
    R_ClearExternalPtr(handle);
    object_free(box->kind, box->object);
    free(box);
}

SEXP glue_new(glue_kind kind)
{
    SEXP handle = PROTECT(R_MakeExternalPtr(NULL, box_tag(), R_NilValue));
    glue_box *box;
    R_RegisterCFinalizerEx(handle, box_finalize, TRUE);
    box = calloc(1, sizeof *box);
    if (box == NULL)
        Rf_error("not enough memory for a %s", kinds[kind].name);
    box->kind = kind;
    box->process = getpid();
    R_SetExternalPtrAddr(handle, box);
    UNPROTECT(1);
    return handle;
}

static glue_box *box_of(SEXP handle, glue_kind kind)
{
    glue_box *box;
    if (TYPEOF(handle) != EXTPTRSXP || R_ExternalPtrTag(handle) != box_tag())
        Rf_error("expected a %s", kinds[kind].name);
    box = R_ExternalPtrAddr(handle);
    if (box == NULL)
        Rf_error("this %s was saved and loaded, which does not keep it: %s", kinds[kind].name,
                 kinds[kind].again);
    if (box->kind != kind)
        Rf_error("expected a %s, not a %s", kinds[kind].name, kinds[box->kind].name);
    return box;
}

void glue_put(SEXP handle, void *object)
{
    glue_box *box = R_ExternalPtrAddr(handle);
    box->object = object;
}

void *glue_get(SEXP handle, glue_kind kind)
{
    const glue_box *box = box_of(handle, kind);
    if (box->object == NULL)
        Rf_error("this %s is closed: %s", kinds[kind].name, kinds[kind].again);
    if (kind == GLUE_KEY && box->process != getpid())
        Rf_error("a key does not survive fork(): %s in this process", kinds[kind].again);
    return box->object;
}

void *glue_get_if(SEXP handle, glue_kind kind)
{
    return handle == R_NilValue ? NULL : glue_get(handle, kind);
}

void glue_close(SEXP handle)
{
    glue_box *box = R_ExternalPtrAddr(handle);
    object_free(box->kind, box->object);
    box->object = NULL;
}

cellar_row_report *glue_report(SEXP handle)
{
    glue_box *box = box_of(handle, GLUE_TABLE);
    return box->has_report ? &box->report : NULL;
}

void glue_put_report(SEXP handle, const cellar_row_report *report)
{
    glue_box *box = R_ExternalPtrAddr(handle);
    box->report = *report;
    box->has_report = 1;
}

SEXP glue_fail(cellar_status status, const cellar_error *err)
{
    static const char *const names[] = {"status", "message", NULL};
    SEXP list = PROTECT(glue_list(names)), class;
    SET_VECTOR_ELT(list, 0, glue_string(cellar_status_name(status)));
    SET_VECTOR_ELT(list, 1, glue_string(err->message));
    class = PROTECT(glue_string("cellar_failure"));
    Rf_classgets(list, class);
    UNPROTECT(2);
    return list;
}

/* ---- values out of lists ---------------------------------------------------------- */

SEXP glue_member(SEXP list, const char *name)
{
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    if (TYPEOF(list) != VECSXP || TYPEOF(names) != STRSXP)
        return R_NilValue;
    for (R_xlen_t i = 0; i < XLENGTH(list); i++)
        if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
            return VECTOR_ELT(list, i);
    return R_NilValue;
}

const char *glue_utf8(SEXP text)
{
    if (TYPEOF(text) != STRSXP || XLENGTH(text) != 1 || STRING_ELT(text, 0) == NA_STRING)
        Rf_error("expected a text");
    return Rf_translateCharUTF8(STRING_ELT(text, 0));
}

const char *glue_text(SEXP list, const char *name)
{
    SEXP value = glue_member(list, name);
    return value == R_NilValue ? NULL : glue_utf8(value);
}

const char *glue_needed_text(SEXP list, const char *name)
{
    const char *text = glue_text(list, name);
    if (text == NULL)
        Rf_error("`%s` is one text", name);
    return text;
}

const char **glue_texts(SEXP list, const char *name, size_t *n)
{
    SEXP value = glue_member(list, name);
    const char **texts;
    *n = 0;
    if (value != R_NilValue && TYPEOF(value) != STRSXP)
        Rf_error("'%s' are texts", name);
    if (value == R_NilValue || XLENGTH(value) == 0)
        return NULL;
    *n = (size_t) XLENGTH(value);
    texts = (const char **) R_alloc(*n, sizeof *texts);
    for (size_t i = 0; i < *n; i++) {
        SEXP text = STRING_ELT(value, (R_xlen_t) i);
        if (text == NA_STRING)
            Rf_error("'%s' has a missing text", name);
        texts[i] = Rf_translateCharUTF8(text);
    }
    return texts;
}

double glue_real(SEXP list, const char *name, double otherwise)
{
    SEXP value = glue_member(list, name);
    if (value == R_NilValue)
        return otherwise;
    if (XLENGTH(value) != 1 || (!Rf_isNumeric(value) && !Rf_isLogical(value)))
        Rf_error("'%s' is one number", name);
    return Rf_asReal(value);
}

int64_t glue_whole(SEXP list, const char *name, int64_t otherwise)
{
    const double value = glue_real(list, name, (double) otherwise);
    if (glue_member(list, name) == R_NilValue)
        return otherwise;
    if (!(fabs(value) <= 9007199254740992.0) || value != floor(value))
        Rf_error("'%s' is a whole number", name);
    return (int64_t) value;
}

void *glue_object(SEXP list, const char *name, glue_kind kind)
{
    return glue_get_if(glue_member(list, name), kind);
}

const size_t *glue_variables(const cellar_schema *schema, SEXP given, const char *name, size_t *n)
{
    const char **names = glue_texts(given, name, n);
    size_t *variables = (size_t *) R_alloc(*n + 1, sizeof *variables);
    for (size_t i = 0; i < *n; i++) {
        variables[i] = cellar_schema_find_variable(schema, names[i]);
        if (variables[i] == CELLAR_NO_CODE)
            Rf_error("there is no variable '%s'", names[i]);
    }
    return variables;
}

/* ---- values for R ----------------------------------------------------------------- */

SEXP glue_string(const char *text)
{
    SEXP one = PROTECT(text != NULL ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
    SEXP string = Rf_ScalarString(one);
    UNPROTECT(1);
    return string;
}

SEXP glue_list(const char *const *names)
{
    R_xlen_t n = 0;
    SEXP list, texts;
    while (names[n] != NULL)
        n++;
    list = PROTECT(Rf_allocVector(VECSXP, n));
    texts = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t i = 0; i < n; i++)
        SET_STRING_ELT(texts, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, texts);
    UNPROTECT(2);
    return list;
}

SEXP glue_number(double value)
{
    return Rf_ScalarReal(value);
}

double *glue_reals(SEXP list, R_xlen_t at, size_t n)
{
    SET_VECTOR_ELT(list, at, Rf_allocVector(REALSXP, (R_xlen_t) n));
    return REAL(VECTOR_ELT(list, at));
}

int *glue_flags(SEXP list, R_xlen_t at, size_t n)
{
    SET_VECTOR_ELT(list, at, Rf_allocVector(LGLSXP, (R_xlen_t) n));
    return LOGICAL(VECTOR_ELT(list, at));
}

SEXP glue_words(SEXP list, R_xlen_t at, size_t n)
{
    SET_VECTOR_ELT(list, at, Rf_allocVector(STRSXP, (R_xlen_t) n));
    return VECTOR_ELT(list, at);
}

void glue_set_word(SEXP words, size_t i, const char *text)
{
    SET_STRING_ELT(words, (R_xlen_t) i, text != NULL ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
}

static SEXP category_codes(const cellar_schema *schema, size_t variable)
{
    const size_t n = cellar_schema_n_categories(schema, variable);
    SEXP codes = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) n));
    for (size_t c = 0; c < n; c++)
        glue_set_word(codes, c, cellar_schema_code(schema, variable, c));
    UNPROTECT(1);
    return codes;
}

SEXP glue_shape(const cellar_schema *schema)
{
    static const char *const names[] = {"name", "domain", "codes", "leaves", NULL};
    const size_t n = cellar_schema_n_variables(schema);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t) n));
    for (size_t v = 0; v < n; v++) {
        SEXP one = PROTECT(glue_list(names));
        SET_VECTOR_ELT(list, (R_xlen_t) v, one);
        SET_VECTOR_ELT(one, 0, glue_string(cellar_schema_variable(schema, v)));
        SET_VECTOR_ELT(one, 1, glue_string(cellar_domain_name(cellar_schema_domain(schema, v))));
        SET_VECTOR_ELT(one, 2, category_codes(schema, v));
        SET_VECTOR_ELT(one, 3, glue_number((double) cellar_schema_n_leaves(schema, v)));
        UNPROTECT(1);
    }
    UNPROTECT(1);
    return list;
}

SEXP glue_factor(const cellar_schema *schema, size_t variable, const void *cells, size_t n,
                 glue_index *index)
{
    SEXP factor = PROTECT(Rf_allocVector(INTSXP, (R_xlen_t) n)), class;
    uint32_t categories[CELLAR_MAX_VARIABLES];
    for (size_t i = 0; i < n; i++) {
        cellar_schema_categories(schema, index(cells, i), categories);
        INTEGER(factor)[i] = (int) categories[variable] + 1;
    }
    Rf_setAttrib(factor, R_LevelsSymbol, category_codes(schema, variable));
    class = PROTECT(glue_string("factor"));
    Rf_classgets(factor, class);
    UNPROTECT(2);
    return factor;
}

/* ---- work that can be interrupted --------------------------------------------------- */

static void check_interrupt(void *unused)
{
    (void) unused;
    R_CheckUserInterrupt();
}

/* R may be called on its own thread only, and must not jump out of the library: R_ToplevelExec()
 * catches the jump. */
static int report_progress(void *context, const char *stage, double fraction)
{
    const pthread_t *caller = context;
    (void) stage;
    (void) fraction;
    return pthread_equal(*caller, pthread_self()) && !R_ToplevelExec(check_interrupt, NULL);
}

cellar_progress glue_progress(void)
{
    pthread_t *caller = (pthread_t *) R_alloc(1, sizeof *caller);
    *caller = pthread_self();
    return (cellar_progress){report_progress, caller};
}
