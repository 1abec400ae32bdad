/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a data frame as the library reads them: where they lie, and characters as codes. */
#include "routines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- characters: R holds each distinct text once, so that its address is its value ---- */

typedef struct text_slot {
    SEXP text; /* NULL: free */
    uint32_t code;
} text_slot;

/* Numbers of texts, from 1 in order of appearance; NA has 0. It grows while the library works: what
 * it holds is freed by glue_frame_clear(). */
typedef struct text_codes {
    const SEXP *values;
    text_slot *slots;
    const char **levels;
    size_t n, n_slots;                  /* of texts; a power of two, at least four times as many */
    void *outgrown[8 * sizeof(size_t)]; /* levels that the library may still read */
    size_t n_outgrown;
} text_codes;

static size_t slot_of(const text_codes *codes, SEXP text)
{
    const uint64_t mixed = ((uint64_t) (uintptr_t) text >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t) (mixed >> 32) & (codes->n_slots - 1);
    while (codes->slots[slot].text != text && codes->slots[slot].text != NULL)
        slot = (slot + 1) & (codes->n_slots - 1);
    return slot;
}

/* Twice the room. 0 when memory ends. */
static int codes_grow(text_codes *codes)
{
    text_codes larger = *codes;
    larger.n_slots = codes->n_slots > 0 ? 2 * codes->n_slots : 64;
    larger.slots = calloc(larger.n_slots, sizeof *larger.slots);
    larger.levels = malloc(larger.n_slots / 4 * sizeof *larger.levels);
    if (larger.slots == NULL || larger.levels == NULL) {
        free(larger.slots);
        free(larger.levels);
        return 0;
    }
    for (size_t i = 0; i < codes->n_slots; i++)
        if (codes->slots[i].text != NULL)
            larger.slots[slot_of(&larger, codes->slots[i].text)] = codes->slots[i];
    if (codes->n > 0)
        memcpy(larger.levels, codes->levels, codes->n * sizeof *larger.levels);
    free(codes->slots);
    larger.outgrown[larger.n_outgrown++] = codes->levels;
    *codes = larger;
    return 1;
}

typedef struct translation {
    SEXP text;
    const char *utf8;
} translation;

static void translate(void *context)
{
    translation *job = context;
    job->utf8 = Rf_translateCharUTF8(job->text);
}

/* A text in UTF-8, as it is where it can be: bytes that are no text are for the library to refuse.
 * R must not jump out of the library: R_ToplevelExec() catches the jump. NULL when memory ends. */
static const char *utf8_of(SEXP text)
{
    translation job = {text, CHAR(text)};
    const cetype_t encoding = Rf_getCharCE(text);
    const char *byte = job.utf8;
    while (*byte != 0 && (unsigned char) *byte < 128)
        byte++;
    if (*byte == 0 || encoding == CE_UTF8 || encoding == CE_BYTES)
        return job.utf8;
    return R_ToplevelExec(translate, &job) ? job.utf8 : NULL;
}

static int codes_add(text_codes *codes, SEXP text)
{
    size_t slot;
    if (4 * (codes->n + 1) > codes->n_slots && !codes_grow(codes))
        return 0;
    codes->levels[codes->n] = utf8_of(text);
    if (codes->levels[codes->n] == NULL)
        return 0;
    slot = slot_of(codes, text);
    codes->slots[slot] = (text_slot){text, (uint32_t) ++codes->n};
    return 1;
}

static int make_codes(void *context, uint64_t first, size_t n, uint32_t *out,
                      const char *const **levels, size_t *n_levels)
{
    text_codes *codes = context;
    const SEXP *values = codes->values + first;
    if (codes->n_slots == 0) {
        if (!codes_grow(codes))
            return 0;
        codes->slots[slot_of(codes, NA_STRING)].text = NA_STRING;
    }
    for (size_t i = 0; i < n; i++) {
        size_t slot = slot_of(codes, values[i]);
        if (codes->slots[slot].text == NULL) {
            if (!codes_add(codes, values[i]))
                return 0;
            slot = slot_of(codes, values[i]);
        }
        out[i] = codes->slots[slot].code;
    }
    *levels = codes->levels;
    *n_levels = codes->n;
    return 1;
}

static void read_characters(SEXP values, cellar_column *column)
{
    text_codes *codes = (text_codes *) R_alloc(1, sizeof *codes);
    memset(codes, 0, sizeof *codes);
    codes->values = STRING_PTR_RO(values);
    column->kind = CELLAR_COLUMN_CODES;
    column->missing = 0;
    column->first_code = 1;
    column->make_codes = make_codes;
    column->context = codes;
}

/* ---- columns ------------------------------------------------------------------------ */

/* list(name, values, levels, first, missing_at, is_long): levels make codes of the values, the
 * first of which is `first`; `missing_at` is a logical vector of values that are missing besides
 * NA; `is_long` means integer64, whose bits lie in doubles. */
static void read_column(SEXP given, uint64_t n_rows, cellar_column *column)
{
    SEXP values = glue_member(given, "values"), missing_at = glue_member(given, "missing_at");
    memset(column, 0, sizeof *column);
    column->name = glue_text(given, "name");
    if ((uint64_t) XLENGTH(values) != n_rows)
        Rf_error("column '%s' has another number of rows than the data frame", column->name);
    column->value_bytes = 4;
    column->has_missing = 1;
    column->missing = INT_MIN;
    if (TYPEOF(values) == STRSXP) {
        read_characters(values, column);
    } else if (TYPEOF(values) == INTSXP || TYPEOF(values) == LGLSXP) {
        column->kind = CELLAR_COLUMN_INTEGERS;
        column->values =
            TYPEOF(values) == INTSXP ? (const void *) INTEGER(values) : LOGICAL(values);
    } else if (TYPEOF(values) == REALSXP) {
        const int is_long = (int) glue_whole(given, "is_long", 0);
        column->kind = is_long ? CELLAR_COLUMN_INTEGERS : CELLAR_COLUMN_FLOATS;
        column->values = REAL(values);
        column->value_bytes = 8;
        column->missing = is_long ? INT64_MIN : 0;
        column->has_missing = is_long;
    } else {
        Rf_error("column '%s' is no vector of texts or numbers", column->name);
    }
    if (glue_member(given, "levels") != R_NilValue && TYPEOF(values) != STRSXP) {
        column->levels = glue_texts(given, "levels", &column->n_levels);
        column->first_code = glue_whole(given, "first", 1);
        column->kind = CELLAR_COLUMN_CODES;
    }
    if (missing_at != R_NilValue) {
        uint8_t *mask = (uint8_t *) R_alloc((size_t) n_rows + 1, 1);
        if (TYPEOF(missing_at) != LGLSXP || (uint64_t) XLENGTH(missing_at) != n_rows)
            Rf_error("'missing_at' has a logical value for each row");
        for (uint64_t i = 0; i < n_rows; i++)
            mask[i] = LOGICAL(missing_at)[i] != 0;
        column->is_missing = mask;
    }
}

cellar_frame glue_frame(SEXP columns, SEXP n_rows)
{
    const size_t n = (size_t) XLENGTH(columns);
    cellar_column *read = (cellar_column *) R_alloc(n + 1, sizeof *read);
    cellar_frame frame = {.columns = read, .n_columns = n, .n_rows = (uint64_t) Rf_asReal(n_rows)};
    for (size_t c = 0; c < n; c++)
        read_column(VECTOR_ELT(columns, (R_xlen_t) c), frame.n_rows, &read[c]);
    return frame;
}

void glue_frame_clear(const cellar_frame *frame)
{
    for (size_t c = 0; c < frame->n_columns; c++) {
        text_codes *codes = frame->columns[c].context;
        if (codes == NULL)
            continue;
        for (size_t i = 0; i < codes->n_outgrown; i++)
            free(codes->outgrown[i]);
        free(codes->levels);
        free(codes->slots);
        memset(codes, 0, sizeof *codes);
    }
}
