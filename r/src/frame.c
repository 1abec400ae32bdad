/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns of a data frame as the library reads them: where they lie, and characters as codes. */
#include "routines.h"

#include <limits.h>

/* ---- characters: R holds each distinct text once, so that its address is its value ---- */

typedef struct text_codes {
    SEXP *texts; /* the distinct ones, in order of appearance */
    int *slots;  /* number of a text + 1, by address; 0: free */
    size_t n, n_slots;
} text_codes;

static size_t slot_of(const text_codes *codes, SEXP text)
{
    const uint64_t mixed = ((uint64_t) (uintptr_t) text >> 4) * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = (size_t) (mixed >> 20) & (codes->n_slots - 1);
    while (codes->slots[slot] != 0 && codes->texts[codes->slots[slot] - 1] != text)
        slot = (slot + 1) & (codes->n_slots - 1);
    return slot;
}

/* Twice the room. The smaller arrays stay until .Call() returns; together they are no larger. */
static void codes_grow(text_codes *codes)
{
    text_codes larger = {.n = codes->n, .n_slots = 2 * codes->n_slots};
    larger.texts = (SEXP *) R_alloc(larger.n_slots / 2, sizeof *larger.texts);
    larger.slots = (int *) R_alloc(larger.n_slots, sizeof *larger.slots);
    memset(larger.slots, 0, larger.n_slots * sizeof *larger.slots);
    for (size_t i = 0; i < codes->n; i++) {
        larger.texts[i] = codes->texts[i];
        larger.slots[slot_of(&larger, codes->texts[i])] = (int) i + 1;
    }
    *codes = larger;
}

/* The number of a text, from 1; NA has 0. */
static uint32_t code_of(text_codes *codes, SEXP text)
{
    size_t slot;
    if (text == NA_STRING)
        return 0;
    slot = slot_of(codes, text);
    if (codes->slots[slot] == 0) {
        if (2 * (codes->n + 1) > codes->n_slots) {
            codes_grow(codes);
            slot = slot_of(codes, text);
        }
        codes->texts[codes->n] = text;
        codes->slots[slot] = (int) ++codes->n;
    }
    return (uint32_t) codes->slots[slot];
}

/* Numbers of 1, 2 or 4 bytes, so that a column of few texts takes few bytes. */
static void number_set(void *numbers, unsigned bytes, size_t i, uint32_t code)
{
    if (bytes == 1)
        ((uint8_t *) numbers)[i] = (uint8_t) code;
    else if (bytes == 2)
        ((uint16_t *) numbers)[i] = (uint16_t) code;
    else
        ((uint32_t *) numbers)[i] = code;
}

static unsigned bytes_for(size_t n_codes)
{
    return n_codes <= UINT8_MAX ? 1 : n_codes <= UINT16_MAX ? 2 : 4;
}

enum { LOOK_AHEAD = 1 << 16 };

static void read_characters(SEXP values, cellar_column *column)
{
    const size_t n = (size_t) XLENGTH(values);
    const SEXP *texts = STRING_PTR_RO(values);
    text_codes codes = {.n_slots = 32};
    const char **levels;
    void *numbers;
    codes_grow(&codes);
    for (size_t i = 0; i < n && i < LOOK_AHEAD; i++) /* how many there are, mostly */
        (void) code_of(&codes, texts[i]);
    column->value_bytes = bytes_for(codes.n + codes.n / 8);
    numbers = R_alloc(n + 1, (int) column->value_bytes);
    for (size_t i = 0; i < n; i++) {
        const uint32_t code = code_of(&codes, texts[i]);
        if (bytes_for(code) > column->value_bytes) { /* begin again, wider */
            column->value_bytes = bytes_for(code);
            numbers = R_alloc(n + 1, (int) column->value_bytes);
            i = (size_t) -1;
            continue;
        }
        number_set(numbers, column->value_bytes, i, code);
    }
    levels = (const char **) R_alloc(codes.n + 1, sizeof *levels);
    for (size_t i = 0; i < codes.n; i++)
        levels[i] = Rf_translateCharUTF8(codes.texts[i]);
    column->kind = CELLAR_COLUMN_CODES;
    column->is_unsigned = 1;
    column->missing = 0;
    column->values = numbers;
    column->levels = levels;
    column->n_levels = codes.n;
    column->first_code = 1;
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
