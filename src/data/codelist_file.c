/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists in Cellar's own format: CSV with a header. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/output.h"
#include "data/codelist_build.h"
#include "base/csv_record.h"

static const char *const codelist_columns[] = {"code", "parent", "order", "label", "role", NULL};
static const char *const codelist_roles[] = {"",      "total", "unknown", "not-applicable",
                                             "other", NULL};

enum { ORDER_SCALE = 18 };

/* What a column of the file holds. */
typedef enum file_kind { FILE_CODE, FILE_PARENT, FILE_ORDER, FILE_LABEL, FILE_ROLE } file_kind;

/* A value of the column `order`. Codes without one come last; ties keep the order of the file. */
typedef struct file_order {
    cellar_int128 value;
    size_t position;
    int is_missing;
} file_order;

typedef struct codelist_file {
    cellar_csv csv;
    cellar_codelist *list;
    file_kind kinds[CELLAR_CSV_MAX_COLUMNS];
    size_t which[CELLAR_CSV_MAX_COLUMNS]; /* which language or hierarchy a column is */
    int is_ordered;                       /* there is a column `order` */
    file_order *orders;
    size_t order_capacity;
} codelist_file;

/* ---- the mark of a draft ---------------------------------------------------- */

/* Before the header; the reviewer's name follows. Spreadsheets add delimiters at its end. */
static const char codelist_mark[] = "# drafted from the data; reviewed-by:";
enum { REVIEWER_MAX = 100 };

static cellar_status file_read_mark(codelist_file *file, cellar_error *err)
{
    cellar_csv *csv = &file->csv;
    const size_t length = sizeof codelist_mark - 1;
    const char *name, *end, *next;
    if (csv->cursor == csv->end || *csv->cursor != '#')
        return CELLAR_OK;
    next = memchr(csv->cursor, '\n', (size_t) (csv->end - csv->cursor));
    end = next != NULL ? next : csv->end;
    if ((size_t) (end - csv->cursor) < length || memcmp(csv->cursor, codelist_mark, length) != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s:1: expected the header, or before it '%s NAME'", csv->name,
                           codelist_mark);
    name = csv->cursor + length;
    while (end > name && strchr(" \t\r,", end[-1]) != NULL)
        end--;
    while (name < end && (*name == ' ' || *name == '\t'))
        name++;
    if (end - name > REVIEWER_MAX || !cellar_utf8_valid(name, (size_t) (end - name)))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s:1: the name of the reviewer: expected at most %d bytes of UTF-8",
                           csv->name, REVIEWER_MAX);
    for (const char *c = name; c < end; c++)
        if ((unsigned char) *c < ' ' || *c == 0x7f)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s:1: the name of the reviewer holds a control character",
                               csv->name);
    file->list->reviewer = cellar_arena_copy(file->list->arena, name, (size_t) (end - name));
    csv->cursor = next != NULL ? next + 1 : csv->end;
    csv->line++;
    return file->list->reviewer != NULL ? CELLAR_OK : cellar_fail_memory(err, "a code list");
}

/* ---- the header ------------------------------------------------------------ */

static cellar_status file_add_name(codelist_file *file, size_t column, const char *name,
                                   const char **names, size_t *n_names, cellar_error *err)
{
    if (*n_names == CODELIST_MAX_NAMES)
        return cellar_csv_fail(&file->csv, column, err, "more than %d such columns",
                               CODELIST_MAX_NAMES);
    names[*n_names] = cellar_arena_copy(file->list->arena, name, strlen(name));
    if (names[*n_names] == NULL)
        return cellar_fail_memory(err, "a code list");
    file->which[column] = (*n_names)++;
    return CELLAR_OK;
}

static cellar_status file_add_hierarchy(codelist_file *file, size_t column, const char *name,
                                        cellar_error *err)
{
    cellar_codelist *list = file->list;
    size_t n = list->n_hierarchies; /* two arrays grow together */
    cellar_status status =
        file_add_name(file, column, file->csv.header[column], list->parent_columns, &n, err);
    if (status != CELLAR_OK)
        return status;
    file->kinds[column] = FILE_PARENT;
    return file_add_name(file, column, name, list->hierarchies, &list->n_hierarchies, err);
}

static cellar_status file_add_language(codelist_file *file, size_t column, const char *name,
                                       cellar_error *err)
{
    file->kinds[column] = FILE_LABEL;
    return file_add_name(file, column, name, file->list->languages, &file->list->n_languages, err);
}

static cellar_status file_read_column(codelist_file *file, size_t column, cellar_error *err)
{
    const char *name = file->csv.header[column], *nearest;

    if (strcmp(name, "parent") == 0)
        return file_add_hierarchy(file, column, "", err);
    if (strncmp(name, "parent:", 7) == 0 && name[7] != '\0')
        return file_add_hierarchy(file, column, name + 7, err);
    if (strcmp(name, "label") == 0)
        return file_add_language(file, column, "", err);
    if (strncmp(name, "label@", 6) == 0 && name[6] != '\0')
        return file_add_language(file, column, name + 6, err);
    if (strcmp(name, "code") == 0)
        file->kinds[column] = FILE_CODE;
    else if (strcmp(name, "order") == 0)
        file->kinds[column] = FILE_ORDER;
    else if (strcmp(name, "role") == 0)
        file->kinds[column] = FILE_ROLE;
    else if ((nearest = cellar_nearest_word(name, codelist_columns)) != NULL)
        return cellar_csv_fail(&file->csv, column, err, "unknown; did you mean '%s'?", nearest);
    else
        return cellar_csv_fail(&file->csv, column, err,
                               "unknown; expected code, parent, parent:HIERARCHY, order, label, "
                               "label@LANGUAGE or role");
    file->is_ordered |= file->kinds[column] == FILE_ORDER;
    return CELLAR_OK;
}

static cellar_status file_read_header(codelist_file *file, cellar_error *err)
{
    cellar_status status = cellar_csv_read_header(&file->csv, err);

    for (size_t i = 0; status == CELLAR_OK && i < file->csv.n_columns; i++)
        status = file_read_column(file, i, err);
    if (status == CELLAR_OK && cellar_csv_find_column(&file->csv, "code") == CELLAR_CSV_NO_COLUMN)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%llu: the header has no column 'code'",
                           file->csv.name, (unsigned long long) cellar_csv_line(&file->csv));
    return status;
}

/* ---- the codes ------------------------------------------------------------- */

static cellar_status file_read_role(const codelist_file *file, size_t column, codelist_entry *entry,
                                    cellar_error *err)
{
    for (uint8_t role = 0; codelist_roles[role] != NULL; role++)
        if (cellar_csv_field_is(&file->csv.fields[column], codelist_roles[role])) {
            entry->role = role;
            return CELLAR_OK;
        }
    return cellar_csv_fail(&file->csv, column, err,
                           "expected total, unknown, not-applicable, other or nothing");
}

static cellar_status file_read_order(codelist_file *file, size_t column, cellar_error *err)
{
    const cellar_csv_field *field = &file->csv.fields[column];
    size_t position = file->list->n_codes - 1;
    file_order *order;
    int exact;

    if (!cellar_grow(&file->orders, &file->order_capacity, position + 1, sizeof *file->orders))
        return cellar_fail_memory(err, "a code list");
    order = &file->orders[position];
    *order = (file_order){.position = position, .is_missing = field->length == 0};
    if (!order->is_missing &&
        (!cellar_parse_decimal(field->bytes, field->length, ORDER_SCALE, &order->value, &exact) ||
         !exact))
        return cellar_csv_fail(&file->csv, column, err,
                               "expected a number with at most %d decimals", ORDER_SCALE);
    return CELLAR_OK;
}

/* An empty parent is none. An empty label is none unless it is quoted: then it is empty. */
static cellar_status file_read_text(const codelist_file *file, size_t column, const char **out,
                                    cellar_error *err)
{
    const cellar_csv_field *field = &file->csv.fields[column];

    if (field->length == 0 && !(field->quoted && file->kinds[column] == FILE_LABEL))
        return CELLAR_OK;
    *out = cellar_arena_copy(file->list->arena, field->bytes, field->length);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a code list");
}

static cellar_status file_read_code(codelist_file *file, size_t code_column, cellar_error *err)
{
    const cellar_csv_field *code = &file->csv.fields[code_column];
    cellar_status status = CELLAR_OK;
    codelist_entry *entry;

    if (code->length == 0)
        return cellar_csv_fail(&file->csv, code_column, err, "a code must not be empty");
    entry = cellar_codelist_new_entry(file->list, code->bytes, code->length, code->line, err);
    if (entry == NULL)
        return CELLAR_ERR_MEMORY;
    for (size_t i = 0; status == CELLAR_OK && i < file->csv.n_columns; i++)
        switch (file->kinds[i]) {
        case FILE_CODE:
            break;
        case FILE_PARENT:
            status = file_read_text(file, i, &entry->parents[file->which[i]], err);
            break;
        case FILE_LABEL:
            status = file_read_text(file, i, &entry->labels[file->which[i]], err);
            break;
        case FILE_ORDER:
            status = file_read_order(file, i, err);
            break;
        case FILE_ROLE:
            status = file_read_role(file, i, entry, err);
            break;
        }
    return status;
}

static cellar_status file_read_codes(codelist_file *file, cellar_error *err)
{
    size_t code_column = cellar_csv_find_column(&file->csv, "code");
    cellar_status status;
    int found;

    while ((status = cellar_csv_next(&file->csv, &found, err)) == CELLAR_OK && found)
        if ((status = file_read_code(file, code_column, err)) != CELLAR_OK)
            return status;
    if (status == CELLAR_OK && file->list->n_codes == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the list holds no codes", file->csv.name);
    return status;
}

static int file_order_compare(const void *left, const void *right)
{
    const file_order *a = left, *b = right;
    if (a->is_missing != b->is_missing)
        return a->is_missing - b->is_missing;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->position < b->position ? -1 : 1;
}

static cellar_status file_sort_codes(codelist_file *file, cellar_error *err)
{
    cellar_codelist *list = file->list;
    codelist_entry *sorted = cellar_alloc(list->n_codes, sizeof *sorted);

    if (sorted == NULL)
        return cellar_fail_memory(err, "a code list");
    qsort(file->orders, list->n_codes, sizeof *file->orders, file_order_compare);
    for (size_t i = 0; i < list->n_codes; i++)
        sorted[i] = list->entries[file->orders[i].position];
    cellar_free(list->entries);
    list->entries = sorted;
    list->capacity = list->n_codes;
    return CELLAR_OK;
}

cellar_status cellar_codelist_parse(const char *name, const char *bytes, size_t length,
                                    cellar_codelist **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    codelist_file *file = cellar_alloc(1, sizeof *file);

    *out = NULL;
    if (file == NULL)
        return cellar_fail_memory(err, "a code list");
    cellar_csv_init(&file->csv, name, bytes, length, ',');
    CELLAR_TRY(cellar_codelist_create_for_file(name, &file->list, err));
    file->list->code_column = "code";
    CELLAR_TRY(file_read_mark(file, err));
    CELLAR_TRY(file_read_header(file, err));
    CELLAR_TRY(file_read_codes(file, err));
    if (file->is_ordered)
        CELLAR_TRY(file_sort_codes(file, err));
    CELLAR_TRY(cellar_codelist_finish(file->list, err));
    *out = file->list;
    file->list = NULL;
out:
    cellar_codelist_free(file->list);
    cellar_csv_clear(&file->csv);
    cellar_free(file->orders);
    cellar_free(file);
    return status;
}

/* ---- writing --------------------------------------------------------------- */

static void file_add_names(cellar_text *text, const char *column, char sign,
                           const char *const *names, size_t n_names)
{
    cellar_text name = {0};

    for (size_t i = 0; i < n_names; i++) {
        cellar_text_reset(&name);
        cellar_text_add_string(&name, column);
        if (names[i][0] != '\0') {
            cellar_text_add_char(&name, sign);
            cellar_text_add_string(&name, names[i]);
        }
        cellar_text_add_char(text, ',');
        if (name.failed)
            text->failed = 1;
        else
            cellar_csv_add_field(text, name.bytes, ',');
    }
    cellar_text_clear(&name);
}

static void file_add_optional(cellar_text *text, const char *field)
{
    cellar_text_add_char(text, ',');
    if (field != NULL)
        cellar_csv_add_field(text, field, ',');
}

void cellar_codelist_add_text(const cellar_codelist *list, cellar_text *text)
{
    int has_roles = 0;

    for (size_t i = 0; i < list->n_codes; i++)
        has_roles |= list->entries[i].role != CELLAR_CODE_PLAIN;
    if (list->reviewer != NULL) {
        cellar_text_add_string(text, codelist_mark);
        cellar_text_add_string(text, list->reviewer[0] != '\0' ? " " : "");
        cellar_text_add_string(text, list->reviewer);
        cellar_text_add_char(text, '\n');
    }
    cellar_text_add_string(text, "code");
    file_add_names(text, "parent", ':', list->hierarchies, list->n_hierarchies);
    file_add_names(text, "label", '@', list->languages, list->n_languages);
    cellar_text_add_string(text, has_roles ? ",role\n" : "\n");
    for (size_t i = 0; i < list->n_codes; i++) {
        const codelist_entry *entry = &list->entries[i];
        cellar_csv_add_field(text, entry->code, ',');
        for (size_t h = 0; h < list->n_hierarchies; h++)
            file_add_optional(text, entry->parents[h]);
        for (size_t l = 0; l < list->n_languages; l++)
            file_add_optional(text, entry->labels[l]);
        if (has_roles) {
            cellar_text_add_char(text, ',');
            cellar_text_add_string(text, codelist_roles[entry->role]);
        }
        cellar_text_add_char(text, '\n');
    }
}

void cellar_codelist_write(const cellar_codelist *list, cellar_output *output)
{
    cellar_text text = {0};

    cellar_codelist_add_text(list, &text);
    cellar_output_text(output, &text);
    cellar_text_clear(&text);
}
