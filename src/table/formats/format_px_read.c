/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PC-Axis of Cellar and of others. Ours states its schema in a keyword of its own; from others the
 * variables are those of STUB and HEADING, with the categories of VALUES and CODES. */
#include "table/formats/format.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/formats/extension.h"
#include "table/formats/intake.h"
#include "table/formats/px.h"

enum { PX_MAX_LANGUAGES = 64 };

/* A variable as the keywords state it. */
typedef struct px_variable {
    const cellar_px_entry *values, *codes; /* the same when there are no codes */
    cellar_stated_categories stated;
    int keys_are_codes;
    size_t last; /* where the last key of a row was found */
} px_variable;

typedef struct px_file {
    const cellar_source *source;
    cellar_px px;
    size_t n_stub, n_variables;
    px_variable variables[CELLAR_MAX_VARIABLES];
    const char *languages[PX_MAX_LANGUAGES]; /* the first is the unmarked one, perhaps "" */
    size_t n_languages;
    uint64_t n_indices, n_columns; /* all cells; cells of one row: the product of the heading */
    int keyed;                     /* rows begin with the keys of the stub */
    int decimals;                  /* of the values, in Cellar's own files */
    json_t *extension;
} px_file;

static cellar_status px_fail(const px_file *file, uint64_t line, const char *keyword,
                             const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": %s: %s", file->source->name, line,
                       keyword, what);
}

/* ---- variables ------------------------------------------------------------- */

static void px_read_languages(px_file *file)
{
    const char *main = cellar_px_value(&file->px, "LANGUAGE", "");
    const cellar_px_entry *all = cellar_px_find(&file->px, "LANGUAGES", "", "");

    file->languages[0] = main != NULL ? main : "";
    file->n_languages = 1;
    for (size_t i = 0; all != NULL && i < all->n_values; i++)
        if (strcmp(all->values[i], file->languages[0]) != 0 && file->n_languages < PX_MAX_LANGUAGES)
            file->languages[file->n_languages++] = all->values[i];
}

/* The name of a variable in a language: what stands at its place in that language's STUB or
 * HEADING. */
static const char *px_name(const px_file *file, size_t v, const char *language)
{
    const char *keyword = v < file->n_stub ? "STUB" : "HEADING";
    size_t at = v < file->n_stub ? v : v - file->n_stub;
    const cellar_px_entry *entry = cellar_px_find(&file->px, keyword, language, "");
    return entry != NULL && at < entry->n_values ? entry->values[at] : NULL;
}

/* The labels in every language; where a language has none, the codes speak. */
static cellar_status px_read_labels(px_file *file, size_t v, cellar_error *err)
{
    px_variable *variable = &file->variables[v];
    size_t n = variable->stated.n;
    const char *const **labels =
        cellar_arena_alloc(file->px.arena, file->n_languages, sizeof *labels);
    const char **none = cellar_arena_alloc(file->px.arena, n, sizeof *none);

    if (labels == NULL || none == NULL)
        return cellar_fail_memory(err, "a px file");
    for (size_t l = 0; l < file->n_languages; l++) {
        const char *tag = l == 0 ? "" : file->languages[l];
        const char *name = px_name(file, v, tag);
        const cellar_px_entry *values =
            name != NULL ? cellar_px_find(&file->px, "VALUES", tag, name) : NULL;
        labels[l] = values != NULL && values->n_values == n ? values->values : none;
    }
    variable->stated.n_languages = file->n_languages;
    variable->stated.languages = file->languages;
    variable->stated.labels = labels;
    return CELLAR_OK;
}

/* The category that stands for the whole: the one ELIMINATION names, or the code _T. */
static size_t px_find_total(const px_file *file, const px_variable *variable)
{
    const char *name = variable->stated.variable;
    const char *eliminated = cellar_px_value(&file->px, "ELIMINATION", name);
    size_t n = variable->stated.n;

    if (n < 2)
        return CELLAR_NO_CODE;
    if (eliminated != NULL && strcasecmp(eliminated, "YES") != 0 &&
        strcasecmp(eliminated, "NO") != 0)
        for (size_t c = 0; c < n; c++)
            if (strcmp(variable->values->values[c], eliminated) == 0 ||
                strcmp(variable->codes->values[c], eliminated) == 0)
                return c;
    for (size_t c = 0; c < n; c++)
        if (strcmp(variable->codes->values[c], "_T") == 0)
            return c;
    return CELLAR_NO_CODE;
}

static cellar_status px_read_variable(px_file *file, size_t v, cellar_error *err)
{
    px_variable *variable = &file->variables[v];
    const char *name = px_name(file, v, ""), *keys = cellar_px_value(&file->px, "KEYS", name);
    const char *contents = cellar_px_value(&file->px, "CONTVARIABLE", "");

    variable->values = cellar_px_find(&file->px, "VALUES", "", name);
    variable->codes = cellar_px_find(&file->px, "CODES", "", name);
    if (variable->values == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: no VALUES for the variable '%s'",
                           file->source->name, name);
    if (variable->codes == NULL)
        variable->codes = variable->values;
    if (variable->codes->n_values != variable->values->n_values)
        return px_fail(file, variable->codes->line, "CODES", "not as many as there are VALUES",
                       err);
    if (contents != NULL && strcmp(contents, name) == 0 && variable->values->n_values > 1 &&
        file->extension == NULL)
        return px_fail(file, variable->values->line, "CONTVARIABLE",
                       "the table holds several measures; give one with a single measure", err);
    variable->keys_are_codes = keys != NULL && strcasecmp(keys, "CODES") == 0;
    file->keyed |= keys != NULL;
    variable->stated = (cellar_stated_categories){
        .variable = name, .n = variable->values->n_values, .codes = variable->codes->values};
    variable->stated.total = px_find_total(file, variable);
    if (__builtin_mul_overflow(file->n_indices, variable->stated.n, &file->n_indices))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "%s: too many possible cells",
                           file->source->name);
    if (v >= file->n_stub)
        file->n_columns *= variable->stated.n;
    return px_read_labels(file, v, err);
}

static cellar_status px_read_variables(px_file *file, cellar_error *err)
{
    const cellar_px_entry *stub = cellar_px_find(&file->px, "STUB", "", "");
    const cellar_px_entry *heading = cellar_px_find(&file->px, "HEADING", "", "");
    size_t n_stub = stub != NULL ? stub->n_values : 0;
    size_t n_heading = heading != NULL ? heading->n_values : 0;
    cellar_status status;

    if (n_stub + n_heading == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: neither STUB nor HEADING",
                           file->source->name);
    if (n_stub > CELLAR_MAX_VARIABLES || n_heading > CELLAR_MAX_VARIABLES - n_stub)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: more than %d variables", file->source->name,
                           CELLAR_MAX_VARIABLES);
    file->n_stub = n_stub;
    file->n_variables = n_stub + n_heading;
    file->n_indices = file->n_columns = 1;
    px_read_languages(file);
    for (size_t v = 0; v < file->n_variables; v++) {
        status = px_read_variable(file, v, err);
        if (status != CELLAR_OK)
            return status;
    }
    /* A small file must not make us hold a large grid. */
    if (file->n_indices > 1000000 && file->n_indices / 16 > file->source->length)
        return cellar_fail(err, CELLAR_ERR_MEMORY,
                           "%s: mentions too few of its %" PRIu64 " possible cells",
                           file->source->name, file->n_indices);
    return CELLAR_OK;
}

/* ---- data ------------------------------------------------------------------ */

/* Called with every cell of the grid that the data mentions, in the order of the file. */
typedef cellar_status px_visitor(void *context, const cellar_sheet_cell *cell, cellar_error *err);

static cellar_status px_read_cell(const px_file *file, const cellar_px_token *token,
                                  cellar_sheet_cell *cell, cellar_error *err)
{
    const int decimals = file->decimals;
    cellar_int128 decimal;
    int exact;

    if (cellar_px_find_symbol(token->bytes, token->length, &cell->status))
        return CELLAR_OK;
    if (decimals > 0 || !cellar_parse_i64(token->bytes, token->length, &cell->value)) {
        if (!cellar_parse_decimal(token->bytes, token->length, decimals, &decimal, &exact) ||
            !exact || decimal > INT64_MAX || decimal < -INT64_MAX)
            return px_fail(file, token->line, "DATA",
                           decimals > 0 ? "expected a number of no more than the stated decimals, "
                                          "dots or a dash"
                                        : "expected a whole number, dots or a dash",
                           err);
        cell->value = (int64_t) decimal;
    }
    if (cell->value < 0 && file->source->kind == CELLAR_SHEET_TABLE)
        return px_fail(file, token->line, "DATA", "a count cannot be negative", err);
    return CELLAR_OK;
}

/* The keys of a row: where in the grid it begins. */
static cellar_status px_read_keys(px_file *file, cellar_px_cursor *cursor, cellar_px_token *token,
                                  uint64_t *row, cellar_error *err)
{
    *row = 0;
    for (size_t v = 0; v < file->n_stub; v++) {
        px_variable *variable = &file->variables[v];
        const cellar_px_entry *list = variable->keys_are_codes ? variable->codes : variable->values;
        size_t n = list->n_values, tried = 0, at = variable->last;

        if (v > 0 && !cellar_px_next_token(cursor, token))
            return px_fail(file, cursor->line, "DATA", "a row without all its keys", err);
        for (; tried < n; tried++, at = (at + 1) % n)
            if (strlen(list->values[at]) == token->length &&
                memcmp(list->values[at], token->bytes, token->length) == 0)
                break;
        if (tried == n)
            return px_fail(file, token->line, "DATA", "a key that the variable does not have", err);
        variable->last = at;
        *row = *row * n + at;
    }
    return CELLAR_OK;
}

static cellar_status px_read_data(px_file *file, px_visitor *visit, void *context,
                                  cellar_error *err)
{
    const cellar_source *source = file->source;
    cellar_px_cursor cursor = {file->px.data, source->bytes + source->length, file->px.data_line};
    cellar_px_token token;
    cellar_status status = CELLAR_OK;
    uint64_t n = 0, row = 0;

    while (cellar_px_next_token(&cursor, &token)) {
        cellar_sheet_cell cell = {0};
        if (file->keyed && n % file->n_columns == 0) {
            CELLAR_TRY(px_read_keys(file, &cursor, &token, &row, err));
            if (!cellar_px_next_token(&cursor, &token))
                return px_fail(file, cursor.line, "DATA", "a row without cells", err);
        }
        if (!file->keyed && n == file->n_indices)
            return px_fail(file, token.line, "DATA", "more cells than the variables make", err);
        cell.index = file->keyed ? row * file->n_columns + n % file->n_columns : n;
        CELLAR_TRY(px_read_cell(file, &token, &cell, err));
        CELLAR_TRY(visit(context, &cell, err));
        n++;
    }
    if (cursor.at == cursor.end || *cursor.at != ';')
        return px_fail(file, cursor.line, "DATA", "the file ends before the semicolon", err);
    if (file->keyed ? n % file->n_columns != 0 : n != file->n_indices)
        return px_fail(file, cursor.line, "DATA", "fewer cells than the variables make", err);
out:
    return status;
}

/* ---- Cellar's own ---------------------------------------------------------- */

static cellar_status px_check_agreement(const px_file *file, const cellar_loaded *loaded,
                                        cellar_error *err)
{
    const cellar_schema *schema = loaded->schema;
    const size_t n = cellar_schema_n_variables(schema);
    int agree = file->n_variables == n + (size_t) loaded->with_errors;
    if (agree && loaded->with_errors) {
        const cellar_stated_categories *measure = &file->variables[n].stated;
        agree = measure->n == 2 && strcmp(measure->codes[1], CELLAR_SHEET_ERROR_NAME) == 0;
    }
    for (size_t v = 0; agree && v < n; v++) {
        const px_variable *variable = &file->variables[v];
        agree = variable->stated.n == cellar_schema_n_categories(schema, v);
        for (size_t c = 0; agree && c < variable->stated.n; c++)
            agree =
                cellar_px_is_plain_of(variable->stated.codes[c], cellar_schema_code(schema, v, c));
    }
    if (!agree)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: its variables are not those that the keyword CELLAR states",
                           file->source->name);
    return CELLAR_OK;
}

typedef struct px_own {
    const px_file *file;
    cellar_loaded *out;
    cellar_sheet_cell cell; /* a value that waits for its standard error */
} px_own;

/* The grid has places outside the margins of the table; they hold no number. */
static cellar_status px_take_own(px_own *own, const cellar_sheet_cell *cell, cellar_error *err)
{
    if (cell->value == 0 && cell->status == CELLAR_CELL_NOT_AVAILABLE &&
        !cellar_schema_has_cell(own->out->schema, cell->index))
        return CELLAR_OK;
    return cellar_extension_add_cell(own->file->source, own->out, cell, err);
}

/* With standard errors every second number is one; dots where it is not known. */
static cellar_status px_visit_own(void *context, const cellar_sheet_cell *cell, cellar_error *err)
{
    px_own *own = context;
    if (!own->out->with_errors)
        return px_take_own(own, cell, err);
    if (cell->index % 2 == 0) {
        own->cell = *cell;
        own->cell.index /= 2;
        return CELLAR_OK;
    }
    if (cell->value < 0)
        return px_fail(own->file, own->file->px.data_line, "DATA",
                       "a standard error cannot be negative", err);
    own->cell.se = cell->status != CELLAR_CELL_NORMAL ? CELLAR_SHEET_NO_ERROR : cell->value;
    return px_take_own(own, &own->cell, err);
}

static cellar_status px_read_own(px_file *file, cellar_loaded *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    px_own own = {.file = file, .out = out};

    if (file->keyed)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: KEYS do not go with the keyword CELLAR",
                           file->source->name);
    CELLAR_TRY(cellar_extension_begin(file->source, file->extension, out, err));
    file->decimals = out->decimals;
    CELLAR_TRY(px_check_agreement(file, out, err));
    CELLAR_TRY(px_read_data(file, px_visit_own, &own, err));
    CELLAR_TRY(cellar_extension_finish(file->source, file->extension, out, err));
out:
    return status;
}

/* ---- others' --------------------------------------------------------------- */

typedef struct px_foreign {
    const px_file *file;
    cellar_intake *intake;
} px_foreign;

static cellar_status px_visit_foreign(void *context, const cellar_sheet_cell *cell,
                                      cellar_error *err)
{
    px_foreign *foreign = context;
    uint32_t codes[CELLAR_MAX_VARIABLES];
    uint64_t rest = cell->index;

    for (size_t v = foreign->file->n_variables; v-- > 0;) {
        size_t n = foreign->file->variables[v].stated.n;
        codes[v] = (uint32_t) (rest % n);
        rest /= n;
    }
    return cellar_intake_add_row(foreign->intake, codes, cell, err);
}

static cellar_status px_read_foreign(px_file *file, cellar_loaded *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    px_foreign foreign = {.file = file};
    cellar_intake_layout layout = {.statuses = 1};
    cellar_intake_repeat repeat = {0};
    cellar_codelist *list = NULL;

    if (file->source->kind != CELLAR_SHEET_TABLE)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: no keyword CELLAR, so nothing says that this is %s",
                           file->source->name, cellar_source_wanted(file->source));
    CELLAR_TRY(cellar_intake_create(file->source, &foreign.intake, err));
    for (size_t v = 0; v < file->n_variables; v++) {
        const cellar_stated_categories *stated = &file->variables[v].stated;
        CELLAR_TRY(cellar_stated_codelist(file->source->name, stated, &list, err));
        CELLAR_TRY(cellar_intake_add_variable(foreign.intake, stated->variable, list, err));
        cellar_codelist_free(list);
        list = NULL;
        CELLAR_TRY(cellar_intake_state_codes(foreign.intake, v, stated, err));
    }
    CELLAR_TRY(cellar_intake_begin(foreign.intake, &layout, err));
    CELLAR_TRY(px_read_data(file, px_visit_foreign, &foreign, err));
    status = cellar_intake_finish(foreign.intake, out, &repeat, err);
    if (repeat.found)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: DATA: the same row twice", file->source->name);
out:
    cellar_codelist_free(list);
    cellar_intake_free(foreign.intake);
    return status;
}

cellar_status cellar_format_px_read(const cellar_source *source, cellar_loaded *out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    px_file file = {.source = source};

    CELLAR_TRY(cellar_px_parse(source, &file.px, err));
    CELLAR_TRY(cellar_px_extension(source, &file.px, &file.extension, err));
    CELLAR_TRY(px_read_variables(&file, err));
    status =
        file.extension != NULL ? px_read_own(&file, out, err) : px_read_foreign(&file, out, err);
out:
    json_decref(file.extension);
    cellar_px_clear(&file.px);
    return status;
}
