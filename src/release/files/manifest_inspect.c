/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a folder say about themselves: whether others may see them at all, and what
 * somebody has to answer for. */
#include "release/files/manifest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cellar/estimate.h>
#include <cellar/release.h>
#include <cellar/release_file.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "release/files/description.h"
#include "table/formats/px.h"
#include "table/formats/sheet.h"

static const size_t INSPECT_BYTES = (size_t) 4 << 30;

/* One file. */
typedef struct inspected {
    const char *path;
    char *bytes;
    size_t length;
} inspected;

/* ---- marks --------------------------------------------------------------------- */

static int file_ends(const inspected *file, const char *ending)
{
    size_t length = strlen(file->path), n = strlen(ending);
    return length >= n && strcmp(file->path + length - n, ending) == 0;
}

/* 1 when FILE.cellar.json is there. */
static int file_has_sidecar(const inspected *file)
{
    cellar_text path = {0};
    cellar_text_printf(&path, "%s.cellar.json", file->path);
    const int found = !path.failed && access(path.bytes, F_OK) == 0;
    cellar_text_clear(&path);
    return found;
}

static int file_has(const inspected *file, const char *text)
{
    return memmem(file->bytes, file->length, text, strlen(text)) != NULL;
}

/* 1 when some JSON object in the file has the member with the value, both written as in JSON. */
static int file_says(const inspected *file, const char *member, const char *value)
{
    const char *end = file->bytes + file->length, *at = file->bytes;
    const size_t length = strlen(member), n = strlen(value);
    while ((at = memmem(at, (size_t) (end - at), member, length)) != NULL) {
        const char *next = at += length;
        while (next < end && (isspace((unsigned char) *next) || *next == ':'))
            next++;
        if ((size_t) (end - next) >= n && memcmp(next, value, n) == 0)
            return 1;
    }
    return 0;
}

/* Why others may not see the file, by the marks of what is computed from true counts
 * (docs/file-formats.md); NULL: no mark says so. */
static const char *file_secret(const inspected *file)
{
    if (strncmp(file->bytes, "cellar key 1\n", 13) == 0)
        return "is a key file";
    return file_says(file, "\"confidential\"", "true") ||
                   file_has(file, "Confidential: true counts, not for publication.") ||
                   file_has(file, "Confidential: an assessment of true counts") ||
                   file_has(file, "<body class=\"confidential\">") ||
                   file_has(file, ">CONFIDENTIAL</")
               ? "says that it is confidential"
               : NULL;
}

static int file_has_level(const inspected *file, cellar_protection_level level)
{
    const char *stamp = cellar_protection_level_stamp(level);
    char value[32];
    snprintf(value, sizeof value, "\"%s\"", cellar_protection_level_name(level));
    return (stamp != NULL && file_has(file, stamp)) || file_says(file, "\"protection\"", value);
}

/* ---- CSV ------------------------------------------------------------------------- */

typedef enum csv_kind { CSV_OTHER, CSV_RELEASE, CSV_ESTIMATE, CSV_COUNTS, CSV_MARKED } csv_kind;

/* Looks whether some row of SDMX-CSV is marked confidential. */
static cellar_status csv_look_rows(cellar_csv *csv, size_t column, csv_kind *kind,
                                   cellar_error *err)
{
    int found = 1;
    while (found && *kind != CSV_MARKED) {
        cellar_status status = cellar_csv_next(csv, &found, err);
        if (status != CELLAR_OK)
            return status;
        if (found && cellar_csv_field_is(&csv->fields[column], "C"))
            *kind = CSV_MARKED;
    }
    return CELLAR_OK;
}

/* The last of the columns that hold values shows what a table is. */
static csv_kind csv_kind_of(const cellar_csv *csv)
{
    static const csv_kind kinds[] = {[CELLAR_SHEET_TABLE] = CSV_COUNTS,
                                     [CELLAR_SHEET_RELEASE] = CSV_RELEASE,
                                     [CELLAR_SHEET_FIT] = CSV_ESTIMATE,
                                     [CELLAR_SHEET_ESTIMATE] = CSV_ESTIMATE};
    csv_kind kind = CSV_OTHER;
    size_t last = 0;
    for (cellar_sheet_kind i = CELLAR_SHEET_TABLE; i <= CELLAR_SHEET_ESTIMATE; i++) {
        size_t column = cellar_csv_find_column(csv, cellar_sheet_value_name(i));
        if (column != CELLAR_CSV_NO_COLUMN && column >= last) {
            last = column;
            kind = kinds[i];
        }
    }
    return kind;
}

/* A file that is no CSV of commas is some other file. */
static cellar_status csv_look(const inspected *file, csv_kind *kind, cellar_error *err)
{
    size_t column = CELLAR_CSV_NO_COLUMN;
    cellar_csv csv;
    cellar_status status;
    cellar_csv_init(&csv, file->path, file->bytes, file->length, ',');
    status = cellar_csv_read_header(&csv, err);
    if (status == CELLAR_OK) {
        *kind = csv_kind_of(&csv);
        column = cellar_csv_find_column(&csv, "CONF_STATUS");
    }
    if (column != CELLAR_CSV_NO_COLUMN)
        status = csv_look_rows(&csv, column, kind, err);
    cellar_csv_clear(&csv);
    return status == CELLAR_ERR_MEMORY ? status : CELLAR_OK;
}

/* ---- one file ---------------------------------------------------------------------- */

/* What one file says about itself. */
typedef struct sayings {
    int at_level[CELLAR_LEVEL_NO_PROTECTION + 1], is_unaccounted;
} sayings;

/* A release is whole, and its certificate claims no more than can be computed. */
static cellar_status inspect_release(const inspected *file, cellar_table_format format,
                                     sayings *said, cellar_manifest_findings *out,
                                     cellar_error *err)
{
    cellar_release *release = NULL;
    int is_checked = 0;
    cellar_status status = cellar_release_read(file->path, format, &release, err);
    if (status == CELLAR_OK)
        status = cellar_release_recertify(release, file->path, &is_checked, err);
    if (status == CELLAR_OK) {
        said->at_level[cellar_release_level(release)] = 1;
        said->is_unaccounted |=
            strcmp(cellar_release_ledger(release), CELLAR_RELEASE_UNACCOUNTED) == 0;
        out->n_releases++;
        out->n_recomputed += (size_t) is_checked;
    }
    cellar_release_free(release);
    return status;
}

/* An estimate is whole. The certificates of its sources belong to other tables and are not computed
 * again; the releases themselves are. */
static cellar_status inspect_estimate(const inspected *file, cellar_table_format format,
                                      sayings *said, cellar_manifest_findings *out,
                                      cellar_error *err)
{
    cellar_estimate *estimate = NULL;
    const cellar_status status = cellar_estimate_read(file->path, format, &estimate, err);
    if (status == CELLAR_OK) {
        said->at_level[cellar_estimate_level(estimate)] = 1;
        said->is_unaccounted |=
            strstr(cellar_estimate_description(estimate), CELLAR_RELEASE_UNACCOUNTED) != NULL;
        out->n_estimates++;
    }
    cellar_estimate_free(estimate);
    return status;
}

/* 1 when the description in a px file or in JSON states the kind. */
static int file_is_kind(const inspected *file, cellar_sheet_kind kind)
{
    char note[64], value[32];
    snprintf(note, sizeof note, "%%22kind%%22:%%22%s%%22", cellar_sheet_kind_name(kind));
    snprintf(value, sizeof value, "\"%s\"", cellar_sheet_kind_name(kind));
    return file_has(file, note) || file_says(file, "\"kind\"", value);
}

static int file_is_estimate(const inspected *file)
{
    return file_is_kind(file, CELLAR_SHEET_FIT) || file_is_kind(file, CELLAR_SHEET_ESTIMATE);
}

/* Reads the file as a release or an estimate if it is one. */
static cellar_status inspect_numbers(const inspected *file, csv_kind kind, sayings *said,
                                     cellar_manifest_findings *out, cellar_error *err)
{
    if (kind == CSV_RELEASE)
        return inspect_release(file, CELLAR_TABLE_CSV, said, out, err);
    if (kind == CSV_ESTIMATE && file_has_sidecar(file))
        return inspect_estimate(file, CELLAR_TABLE_CSV, said, out, err);
    if (file_ends(file, ".px") && file_has(file, CELLAR_PX_MARK))
        return file_is_estimate(file) ? inspect_estimate(file, CELLAR_TABLE_PX, said, out, err)
                                      : inspect_release(file, CELLAR_TABLE_PX, said, out, err);
    if (!file_ends(file, ".json") || file_ends(file, ".cellar.json"))
        return CELLAR_OK;
    if (file_is_kind(file, CELLAR_SHEET_RELEASE))
        return inspect_release(file, CELLAR_TABLE_JSONSTAT, said, out, err);
    if (file_is_estimate(file))
        return inspect_estimate(file, CELLAR_TABLE_JSONSTAT, said, out, err);
    return CELLAR_OK;
}

static cellar_status inspect_file(const inspected *file, cellar_manifest_findings *out,
                                  cellar_error *err)
{
    csv_kind kind = CSV_OTHER;
    sayings said = {.is_unaccounted = file_has(file, CELLAR_RELEASE_UNACCOUNTED)};
    const char *secret = file_secret(file);
    cellar_error unreadable; /* a file of another kind need not be CSV */
    const int is_csv = file_ends(file, ".csv");
    cellar_status status = csv_look(file, &kind, is_csv ? err : &unreadable);
    if (!is_csv) { /* by its content, whatever its name: only what true counts look like matters */
        kind = kind == CSV_RELEASE || kind == CSV_ESTIMATE ? CSV_OTHER : kind;
        status = status == CELLAR_ERR_MEMORY ? status : CELLAR_OK;
    }

    if (kind == CSV_COUNTS)
        secret = "has a column 'count', as tables of true counts have";
    else if (kind == CSV_MARKED)
        secret = "has rows marked confidential (CONF_STATUS is C)";
    if (secret != NULL)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: %s; it is not for others to read", file->path,
                           secret);
    for (int level = CELLAR_LEVEL_GUARANTEE; level <= CELLAR_LEVEL_NO_PROTECTION; level++)
        said.at_level[level] = file_has_level(file, (cellar_protection_level) level);
    if (status == CELLAR_OK)
        status = inspect_numbers(file, kind, &said, out, err);
    for (int level = CELLAR_LEVEL_GUARANTEE; level <= CELLAR_LEVEL_NO_PROTECTION; level++)
        out->n_at_level[level] += (size_t) said.at_level[level];
    out->n_unaccounted += (size_t) said.is_unaccounted;
    return status;
}

/* ---- the folder -------------------------------------------------------------------- */

cellar_status cellar_manifest_inspect(const char *folder, const char *lines,
                                      cellar_manifest_findings *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (const char *line = lines, *end; status == CELLAR_OK && (end = strchr(line, '\n')) != NULL;
         line = end + 1) {
        const char *name = strchr(line, ' ') + 2; /* the lines were read before */
        inspected file = {0};
        cellar_text path = {0};
        cellar_text_printf(&path, "%s/%.*s", folder, (int) (end - name), name);
        status = path.failed
                     ? cellar_fail_memory(err, "a manifest")
                     : cellar_file_read(path.bytes, INSPECT_BYTES, &file.bytes, &file.length, err);
        file.path = path.bytes;
        if (status == CELLAR_OK)
            status = inspect_file(&file, out, err);
        cellar_free(file.bytes);
        cellar_text_clear(&path);
    }
    return status;
}

unsigned cellar_manifest_needs(const cellar_manifest_findings *findings)
{
    unsigned needs = findings->n_unaccounted > 0 ? CELLAR_ACCEPT_UNACCOUNTED : 0;
    for (int level = CELLAR_LEVEL_GUARANTEE; level <= CELLAR_LEVEL_NO_PROTECTION; level++)
        if (findings->n_at_level[level] > 0)
            needs |= cellar_protection_level_needs((cellar_protection_level) level);
    return needs;
}
