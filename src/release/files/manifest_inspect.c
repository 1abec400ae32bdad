/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a folder say about themselves: whether others may see them at all, and what
 * somebody has to answer for. */
#include "release/files/manifest.h"

#include <stdio.h>
#include <string.h>

#include <cellar/estimate.h>
#include <cellar/release.h>
#include <cellar/release_file.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "release/estimate/estimate.h"
#include "release/files/description.h"
#include "release/files/inspected.h"
#include "release/files/release_file.h"
#include "release/guarantee/level.h"
#include "release/guarantee/recertify.h"
#include "table/formats/sheet.h"

static const size_t INSPECT_BYTES = (size_t) 4 << 30;

/* ---- marks --------------------------------------------------------------------- */

/* Why others may not see the file, by the marks of what is computed from true counts
 * (docs/file-formats.md); NULL: no mark says so. */
static const char *file_secret(const inspected *file)
{
    if (strncmp(file->bytes, "cellar key 1\n", 13) == 0)
        return "is a key file";
    return cellar_inspected_says(file, "\"confidential\"", "true") ||
                   cellar_inspected_has(file, "Confidential: true counts, not for publication.") ||
                   cellar_inspected_has(file, "Confidential: an assessment of ") ||
                   cellar_inspected_has(file, "CONFIDENTIAL: computed from ") ||
                   cellar_inspected_has(file, "cellar: confidential: ") ||
                   cellar_inspected_has(file, "<body class=\"confidential\">") ||
                   cellar_inspected_has(file, ">CONFIDENTIAL</")
               ? "says that it is confidential"
               : NULL;
}

static int file_has_level(const inspected *file, cellar_protection_level level)
{
    const char *stamp = cellar_protection_level_stamp(level);
    char value[32];
    snprintf(value, sizeof value, "\"%s\"", cellar_protection_level_name(level));
    return (stamp != NULL && cellar_inspected_has(file, stamp)) ||
           cellar_inspected_says(file, "\"protection\"", value);
}

/* ---- CSV ------------------------------------------------------------------------- */

typedef enum csv_kind { CSV_OTHER, CSV_RELEASE, CSV_COUNTS, CSV_MARKED } csv_kind;

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
                                     [CELLAR_SHEET_FIT] = CSV_OTHER,
                                     [CELLAR_SHEET_ESTIMATE] = CSV_OTHER};
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

/* A folder that is looked at. */
typedef struct inspection {
    const char *allowed; /* the files that are accepted by name */
    cellar_text *used;   /* those of them that are of no known kind */
    cellar_manifest_findings *found;
} inspection;

/* What one file says about itself. */
typedef struct sayings {
    int at_level[CELLAR_LEVEL_NO_PROTECTION + 1], is_unaccounted;
} sayings;

/* Its certificate claims no more than can be computed. Frees the release. */
static cellar_status inspect_release(const inspected *file, cellar_release *release, sayings *said,
                                     cellar_manifest_findings *out, cellar_error *err)
{
    int is_checked = 0;
    cellar_status status = cellar_release_recertify(release, file->path, &is_checked, err);
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

/* A release is whole. */
static cellar_status inspect_whole(const inspected *file, cellar_table_format format, sayings *said,
                                   cellar_manifest_findings *out, cellar_error *err)
{
    cellar_release *release = NULL;
    cellar_status status = cellar_release_read(file->path, format, &release, err);
    return status == CELLAR_OK ? inspect_release(file, release, said, out, err) : status;
}

/* The certificates of its sources belong to other tables and are not computed again; those of the
 * releases themselves are. Frees the estimate. */
static void inspect_estimate(cellar_estimate *estimate, sayings *said,
                             cellar_manifest_findings *out)
{
    said->at_level[cellar_estimate_level(estimate)] = 1;
    said->is_unaccounted |=
        strstr(cellar_estimate_description(estimate), CELLAR_RELEASE_UNACCOUNTED) != NULL;
    out->n_estimates++;
    cellar_estimate_free(estimate);
}

/* An estimate is whole. */
static cellar_status inspect_whole_estimate(const inspected *file, cellar_table_format format,
                                            sayings *said, cellar_manifest_findings *out,
                                            cellar_error *err)
{
    cellar_estimate *estimate = NULL;
    const cellar_status status = cellar_estimate_read(file->path, format, &estimate, err);
    if (status == CELLAR_OK)
        inspect_estimate(estimate, said, out);
    return status;
}

/* Its values in SDMX-CSV and in a spreadsheet are those of the description, by its digest. A fitted
 * table of version 0.1 does not say how it was computed. */
static cellar_status inspect_estimate_beside(const inspected *file, json_t *sidecar, sayings *said,
                                             cellar_manifest_findings *out, cellar_error *err)
{
    cellar_estimate *estimate = NULL;
    cellar_status status;
    if (json_object_get(sidecar, "computed") == NULL)
        return CELLAR_OK;
    if (strncmp(file->bytes, "PK\003\004", 4) != 0 && strncmp(file->bytes, "STRUCTURE,", 10) != 0)
        return inspect_whole_estimate(file, CELLAR_TABLE_CSV, said, out, err);
    status = cellar_sidecar_estimate(file->path, sidecar, &estimate, err);
    if (status == CELLAR_OK)
        inspect_estimate(estimate, said, out);
    return status;
}

/* Values that are those of the description beside them, of a release or an estimate. */
static cellar_status inspect_beside(const inspected *file, sayings *said,
                                    cellar_manifest_findings *out, cellar_error *err)
{
    json_t *sidecar = NULL;
    cellar_release *release = NULL;
    const char *kind;
    cellar_status status =
        cellar_sidecar_read(file->path, file->bytes, file->length, &sidecar, err);
    if (status != CELLAR_OK)
        return status;
    kind = json_string_value(json_object_get(sidecar, "kind"));
    if (kind == NULL || (strcmp(kind, "fit") != 0 && strcmp(kind, "estimate") != 0)) {
        status = cellar_sidecar_release(file->path, sidecar, &release, err);
        if (status == CELLAR_OK)
            status = inspect_release(file, release, said, out, err);
    } else {
        status = inspect_estimate_beside(file, sidecar, said, out, err);
    }
    json_decref(sidecar);
    return status;
}

/* The certificate of a plan's pack says that a ledger was charged, or that none was. */
static cellar_status inspect_pack(const inspected *file, cellar_error *err)
{
    json_t *pack = json_loadb(file->bytes, file->length, JSON_REJECT_DUPLICATES, NULL);
    const char *ledger = json_string_value(json_object_get(pack, "ledger"));
    cellar_status status = CELLAR_OK;
    if (ledger == NULL || !cellar_ledger_text_is_sound(ledger))
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: 'ledger' should be the stamp of a charge, or "
                             "'" CELLAR_RELEASE_UNACCOUNTED "'",
                             file->path);
    json_decref(pack);
    return status;
}

/* The heading of a cube; NULL: the file has none. Its values are checked by cellar_cube_verify().
 */
static json_t *cube_heading(const inspected *file)
{
    uint64_t length = 0;
    for (size_t i = 8; i-- > 0;) /* little-endian */
        length = length << 8 | (unsigned char) file->bytes[CELLAR_CUBE_LENGTH_AT + i];
    return length <= file->length - CELLAR_CUBE_HEADING_AT
               ? json_loadb(file->bytes + CELLAR_CUBE_HEADING_AT, (size_t) length,
                            JSON_REJECT_DUPLICATES, NULL)
               : NULL;
}

/* A cube says who paid, and its certificate claims no more than can be computed from its heading.
 */
static cellar_status inspect_cube(const inspected *file, sayings *said,
                                  cellar_manifest_findings *out, cellar_error *err)
{
    json_t *heading = cube_heading(file);
    const json_t *description = json_object_get(json_object_get(heading, "cellar"), "description");
    const json_t *certificate = json_object_get(description, "certificate");
    const char *ledger = json_string_value(json_object_get(description, "ledger"));
    cellar_protection_level level = CELLAR_LEVEL_NO_PROTECTION;
    cellar_status status = CELLAR_OK;
    if (!json_is_object(certificate) || ledger == NULL || !cellar_ledger_text_is_sound(ledger))
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: the cube is damaged: its heading lacks a certificate, or the "
                             "stamp of a charge",
                             file->path);
    if (status == CELLAR_OK)
        status = cellar_recertify_cube(json_object_get(heading, "cellar"), file->path, err);
    if (status == CELLAR_OK)
        status = cellar_level_of(certificate, NULL, 1, &level, err);
    if (status == CELLAR_OK) {
        said->at_level[level] = 1;
        out->n_releases++;
        out->n_recomputed++;
    }
    json_decref(heading);
    return status;
}

static cellar_status inspect_kind(const inspected *file, inspected_kind kind, sayings *said,
                                  inspection *run, cellar_error *err)
{
    switch (kind) {
    case INSPECTED_CSV:
        return inspect_whole(file, CELLAR_TABLE_CSV, said, run->found, err);
    case INSPECTED_JSON:
        return inspect_whole(file, CELLAR_TABLE_JSONSTAT, said, run->found, err);
    case INSPECTED_PX:
        return inspect_whole(file, CELLAR_TABLE_PX, said, run->found, err);
    case INSPECTED_ESTIMATE_JSON:
        return inspect_whole_estimate(file, CELLAR_TABLE_JSONSTAT, said, run->found, err);
    case INSPECTED_ESTIMATE_PX:
        return inspect_whole_estimate(file, CELLAR_TABLE_PX, said, run->found, err);
    case INSPECTED_BESIDE:
        return inspect_beside(file, said, run->found, err);
    case INSPECTED_PACK:
        return inspect_pack(file, err);
    case INSPECTED_CUBE:
        return inspect_cube(file, said, run->found, err);
    case INSPECTED_HARMLESS:
        return CELLAR_OK;
    case INSPECTED_OTHER:
        break;
    }
    if (!cellar_manifest_names(run->allowed, file->name))
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "%s: is no release, cube, certificate, page for the public, chart or note that "
            "Cellar recognises; to sign it all the same, accept it by name "
            "(--accept-file)",
            file->path);
    run->found->n_unrecognised++;
    cellar_manifest_name(run->used, file->name);
    return CELLAR_OK;
}

static cellar_status inspect_file(const inspected *file, inspection *run, cellar_error *err)
{
    cellar_manifest_findings *out = run->found;
    csv_kind kind = CSV_OTHER;
    sayings said = {.is_unaccounted = cellar_inspected_has(file, CELLAR_RELEASE_UNACCOUNTED)};
    const char *secret = file_secret(file);
    cellar_error unreadable; /* a file of another kind need not be CSV */
    const int is_csv = cellar_inspected_ends(file, ".csv");
    cellar_status status = csv_look(file, &kind, is_csv ? err : &unreadable);
    if (!is_csv) { /* by its content, whatever its name: only what true counts look like matters */
        kind = kind == CSV_RELEASE ? CSV_OTHER : kind;
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
        status =
            inspect_kind(file, kind == CSV_RELEASE ? INSPECTED_CSV : cellar_inspected_kind(file),
                         &said, run, err);
    for (int level = CELLAR_LEVEL_GUARANTEE; level <= CELLAR_LEVEL_NO_PROTECTION; level++)
        out->n_at_level[level] += (size_t) said.at_level[level];
    out->n_unaccounted += (size_t) said.is_unaccounted;
    return status;
}

/* ---- the folder -------------------------------------------------------------------- */

void cellar_manifest_name(cellar_text *names, const char *name)
{
    cellar_text_printf(names, "file %s\n", name);
}

int cellar_manifest_names(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = names, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        if ((size_t) (end - line) == length + 5 && strncmp(line + 5, name, length) == 0)
            return 1;
    return 0;
}

cellar_status cellar_manifest_inspect(const char *folder, const char *lines, const char *allowed,
                                      cellar_text *used, cellar_manifest_findings *out,
                                      cellar_error *err)
{
    inspection run = {.allowed = allowed, .used = used, .found = out};
    cellar_status status = CELLAR_OK;
    for (const char *line = lines, *end; status == CELLAR_OK && (end = strchr(line, '\n')) != NULL;
         line = end + 1) {
        const char *name = strchr(line, ' ') + 2; /* the lines were read before */
        inspected file = {.lines = lines};
        cellar_text path = {0};
        cellar_text_printf(&path, "%s/%.*s", folder, (int) (end - name), name);
        status = path.failed ? cellar_fail_memory(err, "a manifest")
                             : cellar_file_read_plain(path.bytes, INSPECT_BYTES, &file.bytes,
                                                      &file.length, err);
        file.path = path.bytes;
        if (status == CELLAR_OK) {
            file.name = path.bytes + strlen(folder) + 1;
            status = inspect_file(&file, &run, err);
        }
        if (status == CELLAR_OK && used->failed)
            status = cellar_fail_memory(err, "a manifest");
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
