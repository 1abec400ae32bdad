/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file is read twice: first to learn which margins and upper levels it has, so that the true
 * table gets the same, then for the numbers. */
#include "utility/foreign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"

static const size_t FILE_LIMIT = (size_t) 4 << 30;

/* One line of the file. */
typedef struct foreign_cell {
    uint64_t index, line;
    int64_t value;
} foreign_cell;

typedef struct foreign_reader {
    const char *name, *bytes;
    size_t length;
    const char *wanted; /* the column asked for, or NULL */
    cellar_csv csv;
    const cellar_schema *schema; /* of the table; in the second reading with the margins */
    size_t columns[CELLAR_MAX_VARIABLES], value_column;
    uint64_t *masks, hierarchies; /* of what the file has */
    size_t n_masks, masks_capacity;
    foreign_cell *cells;
    size_t n_cells, capacity;
} foreign_reader;

/* ---- the header ---------------------------------------------------------------- */

static cellar_status reader_find_value(foreign_reader *r, cellar_error *err)
{
    size_t n_others = 0, other = 0;
    r->value_column = cellar_csv_find_column(&r->csv, r->wanted != NULL ? r->wanted : "count");
    if (r->value_column != CELLAR_CSV_NO_COLUMN)
        return CELLAR_OK;
    if (r->wanted != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: has no column '%s' (--column)", r->name,
                           r->wanted);
    for (size_t c = 0; c < r->csv.n_columns; c++)
        if (cellar_schema_find_variable(r->schema, r->csv.header[c]) == CELLAR_NO_CODE) {
            n_others++;
            other = c;
        }
    if (n_others != 1)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s:1: has no column 'count': name the column of perturbed counts with "
                           "--column",
                           r->name);
    r->value_column = other;
    return CELLAR_OK;
}

static cellar_status reader_open(foreign_reader *r, cellar_error *err)
{
    cellar_status status;
    cellar_csv_clear(&r->csv);
    cellar_csv_init(&r->csv, r->name, r->bytes, r->length,
                    cellar_csv_delimiter_of(r->bytes, r->length));
    status = cellar_csv_read_header(&r->csv, err);
    for (size_t v = 0; status == CELLAR_OK && v < r->schema->n_variables; v++) {
        r->columns[v] = cellar_csv_find_column(&r->csv, r->schema->axes[v].name);
        if (r->columns[v] == CELLAR_CSV_NO_COLUMN)
            status = cellar_fail(err, CELLAR_ERR_INPUT,
                                 "%s:1: has no column '%s', which is a variable of the table",
                                 r->name, r->schema->axes[v].name);
    }
    return status == CELLAR_OK ? reader_find_value(r, err) : status;
}

/* The next line, its fields without the spaces around them. */
static cellar_status reader_next(foreign_reader *r, int *found, cellar_error *err)
{
    cellar_status status = cellar_csv_next(&r->csv, found, err);
    if (status == CELLAR_OK && *found)
        cellar_csv_trim(&r->csv);
    return status;
}

/* ---- codes ----------------------------------------------------------------------- */

typedef enum code_kind { CODE_LEAF, CODE_INNER, CODE_TOTAL, CODE_UNKNOWN } code_kind;

/* A code of the table is what the table says. Others know the total by many names. */
static code_kind reader_kind(const foreign_reader *r, size_t v)
{
    static const char *const totals[] = {"", "_T", "Total", "Tot", "All"};
    const cellar_csv_field *f = &r->csv.fields[r->columns[v]];
    const cellar_codelist *list = cellar_schema_codelist(r->schema, v);
    size_t category = cellar_schema_find_code(r->schema, v, f->bytes, f->length);
    size_t code = cellar_codelist_find(list, f->bytes, f->length);

    if (category != CELLAR_NO_CODE && category < r->schema->axes[v].n_leaves)
        return CODE_LEAF;
    if (code != CELLAR_NO_CODE)
        return cellar_codelist_role(list, code) == CELLAR_CODE_TOTAL ? CODE_TOTAL : CODE_INNER;
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        if (strlen(totals[i]) == f->length && strncasecmp(totals[i], f->bytes, f->length) == 0)
            return CODE_TOTAL;
    return CODE_UNKNOWN;
}

/* ---- first reading: the margins ---------------------------------------------------- */

static cellar_status reader_add_mask(foreign_reader *r, uint64_t mask, cellar_error *err)
{
    for (size_t i = 0; i < r->n_masks; i++)
        if (r->masks[i] == mask)
            return CELLAR_OK;
    if (!cellar_grow(&r->masks, &r->masks_capacity, r->n_masks + 1, sizeof *r->masks))
        return cellar_fail_memory(err, "margins");
    r->masks[r->n_masks++] = mask;
    return CELLAR_OK;
}

static cellar_status reader_margins(foreign_reader *r, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int found = 1;
    CELLAR_TRY(reader_open(r, err));
    for (;;) {
        uint64_t mask = 0;
        CELLAR_TRY(reader_next(r, &found, err));
        if (!found)
            break;
        for (size_t v = 0; v < r->schema->n_variables; v++) {
            code_kind kind = reader_kind(r, v);
            if (kind == CODE_UNKNOWN)
                CELLAR_TRY(cellar_csv_fail(&r->csv, r->columns[v], err,
                                           "is no category of the table; declare it to the table "
                                           "with a code list (--domain)"));
            mask |= kind == CODE_TOTAL ? 0 : UINT64_C(1) << v;
            r->hierarchies |= kind == CODE_INNER ? UINT64_C(1) << v : 0;
        }
        CELLAR_TRY(reader_add_mask(r, mask, err));
    }
    if (r->n_masks == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: has no rows", r->name));
out:
    return status;
}

/* ---- second reading: the numbers ------------------------------------------------------ */

/* A whole number, also when it is written with decimals that are zero. */
static cellar_status reader_value(const foreign_reader *r, int64_t *out, cellar_error *err)
{
    const cellar_csv_field *f = &r->csv.fields[r->value_column];
    const char *point = f->length > 0 ? memchr(f->bytes, '.', f->length) : NULL;
    size_t length = point != NULL ? (size_t) (point - f->bytes) : f->length;
    int whole = 1;
    for (size_t i = length + 1; i < f->length; i++)
        whole = whole && f->bytes[i] == '0';
    if (!whole || !cellar_parse_i64(f->bytes, length, out))
        return cellar_csv_fail(&r->csv, r->value_column, err, "expected a whole number");
    return CELLAR_OK;
}

static cellar_status reader_cell(foreign_reader *r, cellar_error *err)
{
    foreign_cell cell = {.line = cellar_csv_line(&r->csv)};
    cellar_status status = reader_value(r, &cell.value, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t v = 0; v < r->schema->n_variables; v++) {
        const schema_axis *axis = &r->schema->axes[v];
        const cellar_csv_field *f = &r->csv.fields[r->columns[v]];
        uint64_t category = reader_kind(r, v) == CODE_TOTAL
                                ? axis->n_categories - 1
                                : cellar_schema_find_code(r->schema, v, f->bytes, f->length);
        CELLAR_ASSERT(category < axis->n_categories);
        cell.index += category * axis->stride;
    }
    if (cell.value != 0 && cellar_schema_is_structural_zero(r->schema, cell.index))
        return cellar_csv_fail(&r->csv, r->value_column, err,
                               "is not 0, and a rule of the table declares the cell impossible");
    if (!cellar_grow(&r->cells, &r->capacity, r->n_cells + 1, sizeof *r->cells))
        return cellar_fail_memory(err, "perturbed counts");
    r->cells[r->n_cells++] = cell;
    return CELLAR_OK;
}

static int cell_order(const void *a, const void *b)
{
    const foreign_cell *x = a, *y = b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static cellar_status reader_cells(foreign_reader *r, cellar_cells *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int found = 1;
    CELLAR_TRY(reader_open(r, err));
    for (;;) {
        CELLAR_TRY(reader_next(r, &found, err));
        if (!found)
            break;
        CELLAR_TRY(reader_cell(r, err));
    }
    qsort(r->cells, r->n_cells, sizeof *r->cells, cell_order);
    out->index = cellar_alloc(r->n_cells, sizeof *out->index);
    out->count = cellar_alloc(r->n_cells, sizeof *out->count);
    if (out->index == NULL || out->count == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "perturbed counts"));
    for (size_t i = 0; i < r->n_cells; i++) {
        if (i > 0 && r->cells[i].index == r->cells[i - 1].index)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                                   "%s:%" PRIu64 ": the cell is already in line %" PRIu64, r->name,
                                   r->cells[i].line, r->cells[i - 1].line));
        out->index[out->n] = r->cells[i].index;
        out->count[out->n++] = (uint64_t) r->cells[i].value;
    }
out:
    return status;
}

/* ---- all together ---------------------------------------------------------------------- */

cellar_status cellar_utility_foreign_parse(const cellar_table *table, const char *name,
                                           const char *bytes, size_t length, const char *column,
                                           utility_foreign *out, cellar_error *err)
{
    foreign_reader r = {
        .name = name, .bytes = bytes, .length = length, .wanted = column, .schema = table->schema};
    cellar_margins margins = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(reader_margins(&r, err));
    margins.masks = r.masks;
    margins.n_masks = r.n_masks;
    margins.hierarchies = r.hierarchies;
    CELLAR_TRY(cellar_table_create_expanded(table, &margins, &out->table, err));
    r.schema = out->table->schema;
    CELLAR_TRY(reader_cells(&r, &out->cells, err));
out:
    cellar_csv_clear(&r.csv);
    cellar_free(r.masks);
    cellar_free(r.cells);
    return status;
}

cellar_status cellar_utility_foreign_read(const cellar_table *table, const char *path,
                                          const char *column, utility_foreign *out,
                                          cellar_error *err)
{
    char *bytes;
    size_t length;
    cellar_status status = cellar_file_read(path, FILE_LIMIT, &bytes, &length, err);
    if (status == CELLAR_OK && length >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: is compressed (gzip), and counts to compare are read as text: "
                             "unpack it first (gunzip)",
                             path);
    if (status == CELLAR_OK)
        status = cellar_utility_foreign_parse(table, path, bytes, length, column, out, err);
    cellar_free(bytes);
    return status;
}

void cellar_utility_foreign_clear(utility_foreign *foreign)
{
    cellar_table_free(foreign->table);
    cellar_cells_clear(&foreign->cells);
}
