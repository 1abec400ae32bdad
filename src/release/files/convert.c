/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/convert.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "release/estimate/estimate.h"
#include "release/files/numbers_read.h"
#include "release/files/release_file.h"
#include "release/release.h"
#include "table/formats/about.h"

static const size_t CONVERT_BYTES = (size_t) 4 << 30;

/* One conversion: what is read, and what is written. */
typedef struct conversion {
    cellar_table_read_options read;   /* the format is decided */
    cellar_table_write_options write; /* what the user did not say is filled in */
    int replace;
    const char *to;
    cellar_source source;
    char *bytes, *beside; /* beside: NULL when there is no FILE.cellar.json */
    size_t beside_length;
    cellar_about about;
} conversion;

cellar_convert_options cellar_convert_options_default(void)
{
    return (cellar_convert_options){.read = cellar_table_read_options_default(),
                                    .write = cellar_table_write_options_default()};
}

/* ---- reading --------------------------------------------------------------- */

/* 1 when FILE.cellar.json is there; else a CSV is a table of true counts. */
static int conversion_has_beside(const char *path)
{
    char name[4096];
    const int n = snprintf(name, sizeof name, "%s.cellar.json", path);
    return n > 0 && (size_t) n < sizeof name && access(name, F_OK) == 0;
}

/* A CSV without FILE.cellar.json whose values are not called `count` has lost that file. */
static cellar_status conversion_check_alone(const cellar_source *source, cellar_error *err)
{
    cellar_csv csv;
    cellar_status status;
    cellar_csv_init(&csv, source->name, source->bytes, source->length, ',');
    status = cellar_csv_read_header(&csv, err);
    for (cellar_sheet_kind kind = CELLAR_SHEET_RELEASE;
         status == CELLAR_OK && kind <= CELLAR_SHEET_ESTIMATE; kind++)
        if (cellar_csv_find_column(&csv, cellar_sheet_value_name(CELLAR_SHEET_TABLE)) ==
                CELLAR_CSV_NO_COLUMN &&
            cellar_csv_find_column(&csv, cellar_sheet_value_name(kind)) != CELLAR_CSV_NO_COLUMN)
            status = cellar_fail(err, CELLAR_ERR_INPUT,
                                 "%s: its values are '%s', and %s.cellar.json, which says what "
                                 "they mean, is not beside it",
                                 source->name, cellar_sheet_value_name(kind), source->name);
    cellar_csv_clear(&csv);
    return status;
}

static cellar_status conversion_read(conversion *c, const char *from, cellar_error *err)
{
    const int whole = c->read.format == CELLAR_TABLE_JSONSTAT || c->read.format == CELLAR_TABLE_PX;
    cellar_status status = CELLAR_OK;

    c->source = (cellar_source){.name = from, .options = &c->read};
    CELLAR_TRY(cellar_file_read(from, CONVERT_BYTES, &c->bytes, &c->source.length, err));
    c->source.bytes = c->bytes;
    if (!whole && cellar_numbers_is_sdmx(&c->source)) {
        c->read.format = CELLAR_TABLE_SDMX;
        if (!conversion_has_beside(from))
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                                   "%s: SDMX-CSV holds no code lists: it is read with "
                                   "%s.cellar.json beside it, which is not there",
                                   from, from));
    }
    if (!whole && conversion_has_beside(from))
        CELLAR_TRY(cellar_numbers_beside(&c->source, &c->beside, &c->beside_length, err));
    else if (c->read.format == CELLAR_TABLE_CSV)
        CELLAR_TRY(conversion_check_alone(&c->source, err));
    CELLAR_TRY(cellar_about_read(&c->source, c->beside, c->beside_length, &c->about, err));
    cellar_about_fill(&c->about, &c->write);
    c->source.kind = c->about.kind == CELLAR_SHEET_FIT ? CELLAR_SHEET_ESTIMATE : c->about.kind;
    if (c->source.kind != CELLAR_SHEET_TABLE && c->read.n_codelists > 0)
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                             "%s: is %s, whose code lists are part of it: leave out --domain", from,
                             cellar_source_wanted(&c->source));
out:
    return status;
}

/* ---- the three kinds ------------------------------------------------------- */

static cellar_status convert_read_table(const conversion *c, cellar_table **out, cellar_error *err)
{
    cellar_numbers numbers;
    cellar_status status;
    *out = NULL;
    if (c->beside == NULL)
        return cellar_table_parse(c->source.name, c->source.bytes, c->source.length, &c->read, out,
                                  err);
    status = cellar_numbers_parse(&c->source, c->beside, c->beside_length, &numbers, err);
    if (status == CELLAR_OK)
        status = cellar_loaded_table(c->source.name, &numbers.loaded, out, err);
    cellar_numbers_clear(&numbers);
    return status;
}

static cellar_status convert_table(const conversion *c, size_t *n_cells, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_release_file *file = NULL;
    cellar_table *table = NULL;
    cellar_sheet sheet;

    CELLAR_TRY(convert_read_table(c, &table, err));
    CELLAR_TRY(cellar_sheet_of_table(table, &sheet, err));
    CELLAR_TRY(cellar_release_file_open_confidential(c->to, &c->write, c->replace, &file, err));
    CELLAR_TRY(cellar_release_file_put(file, &sheet, err));
    *n_cells = cellar_table_n_cells(table);
out:
    cellar_release_file_discard(file);
    cellar_table_free(table);
    return status;
}

static cellar_status convert_release(const conversion *c, size_t *n_cells, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_release_file *file = NULL;
    cellar_release *release = NULL;

    CELLAR_TRY(cellar_release_parse(&c->source, c->beside, c->beside_length, &release, err));
    CELLAR_TRY(cellar_release_file_open(c->to, &c->write, c->replace, &file, err));
    CELLAR_TRY(cellar_release_file_write(file, release, err));
    *n_cells = cellar_release_n_cells(release);
out:
    cellar_release_file_discard(file);
    cellar_release_free(release);
    return status;
}

/* A file of fitted whole numbers stays one. */
static cellar_status convert_keep_whole(const conversion *c, cellar_estimate *estimate,
                                        cellar_error *err)
{
    const size_t n = estimate->cells.n;
    if (c->about.kind != CELLAR_SHEET_FIT)
        return CELLAR_OK;
    estimate->whole = cellar_alloc(n, sizeof *estimate->whole);
    if (estimate->whole == NULL)
        return cellar_fail_memory(err, "an estimate");
    memcpy(estimate->whole, estimate->cells.count, n * sizeof *estimate->whole);
    return CELLAR_OK;
}

static cellar_status convert_estimate(const conversion *c, size_t *n_cells, cellar_error *err)
{
    const cellar_estimate_view view =
        c->about.kind == CELLAR_SHEET_FIT ? CELLAR_ESTIMATE_WHOLE : CELLAR_ESTIMATE_VALUES;
    cellar_status status = CELLAR_OK;
    cellar_release_file *file = NULL;
    cellar_estimate *estimate = NULL;

    CELLAR_TRY(cellar_estimate_parse(&c->source, c->beside, c->beside_length, &estimate, err));
    CELLAR_TRY(convert_keep_whole(c, estimate, err));
    CELLAR_TRY(cellar_release_file_open(c->to, &c->write, c->replace, &file, err));
    CELLAR_TRY(cellar_estimate_write(estimate, view, file, err));
    *n_cells = cellar_estimate_n_cells(estimate);
out:
    cellar_release_file_discard(file);
    cellar_estimate_free(estimate);
    return status;
}

cellar_status cellar_convert(const char *from, const char *to,
                             const cellar_convert_options *options, cellar_conversion *out,
                             cellar_error *err)
{
    const cellar_convert_options defaults = cellar_convert_options_default();
    const cellar_convert_options *how = options != NULL ? options : &defaults;
    conversion c = {.read = how->read, .write = how->write, .replace = how->replace, .to = to};
    cellar_conversion done = {0};
    cellar_status status = CELLAR_OK;

    c.read.format = cellar_numbers_format(from, how->read.format);
    if (c.read.format == CELLAR_TABLE_CSVW) /* its description adds nothing to the cells */
        c.read.format = CELLAR_TABLE_CSV;
    CELLAR_TRY(cellar_numbers_check_format(from, c.read.format, err));
    CELLAR_TRY(conversion_read(&c, from, err));
    status = c.source.kind == CELLAR_SHEET_TABLE     ? convert_table(&c, &done.n_cells, err)
             : c.source.kind == CELLAR_SHEET_RELEASE ? convert_release(&c, &done.n_cells, err)
                                                     : convert_estimate(&c, &done.n_cells, err);
    done.kind = cellar_sheet_kind_name(c.about.kind);
    if (status == CELLAR_OK && out != NULL)
        *out = done;
out:
    cellar_about_clear(&c.about);
    if (c.bytes != NULL)
        cellar_wipe(c.bytes, c.source.length);
    cellar_free(c.bytes);
    cellar_free(c.beside);
    return status;
}
