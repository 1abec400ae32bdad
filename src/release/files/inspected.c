/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/inspected.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <cellar/text.h>

#include "release/files/manifest.h"
#include "table/formats/px.h"

int cellar_inspected_ends(const inspected *file, const char *ending)
{
    size_t length = strlen(file->path), n = strlen(ending);
    return length >= n && strcmp(file->path + length - n, ending) == 0;
}

int cellar_inspected_has(const inspected *file, const char *text)
{
    return memmem(file->bytes, file->length, text, strlen(text)) != NULL;
}

int cellar_inspected_says(const inspected *file, const char *member, const char *value)
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

static int file_begins(const inspected *file, const char *text)
{
    return strncmp(file->bytes, text, strlen(text)) == 0;
}

/* ---- files that belong to another ------------------------------------------------- */

enum { NAME_BYTES = 4096 };

/* 1 when the folder has the first `length` bytes of the name with `ending` behind them. */
static int file_has_sibling(const inspected *file, size_t length, const char *ending)
{
    char name[NAME_BYTES];
    const int n = snprintf(name, sizeof name, "%.*s%s", (int) length, file->name, ending);
    return n > 0 && n < NAME_BYTES && cellar_manifest_lists(file->lines, name);
}

/* 1 for "X" + `ending` beside the file X. */
static int file_is_beside(const inspected *file, const char *ending)
{
    return cellar_inspected_ends(file, ending) &&
           file_has_sibling(file, strlen(file->name) - strlen(ending), "");
}

/* The table for readers that a plan makes of a release. */
static int file_is_display(const inspected *file)
{
    static const char ending[] = ".display.csv";
    static const char *const formats[] = {".csv", ".json", ".px", ".ods", ".xlsx"};
    const char *feed = strchr(file->bytes, '\n');
    static const char last[] = ",\"released, as displayed\"";
    int found = 0;
    if (!cellar_inspected_ends(file, ending) || feed == NULL ||
        feed - file->bytes < (ptrdiff_t) sizeof last - 1 ||
        strncmp(feed - (sizeof last - 1), last, sizeof last - 1) != 0)
        return 0;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        found |= file_has_sibling(file, strlen(file->name) - (sizeof ending - 1), formats[i]);
    return found;
}

/* ---- prose -------------------------------------------------------------------------- */

static int name_is_prose(const char *name)
{
    static const char *const names[] = {"README", "LICENSE", "LICENCE", "COPYING",
                                        "NOTICE", "CHANGES", "CITATION"};
    const char *slash = strrchr(name, '/'), *dot;
    name = slash != NULL ? slash + 1 : name;
    dot = strrchr(name, '.');
    if (dot != NULL && strcmp(dot, ".md") == 0)
        return 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0 &&
            (dot == NULL || strcmp(dot, ".txt") == 0))
            return 1;
    return 0;
}

/* 1 when every line has as many of the separator as the first, which has some: records do. */
static int text_is_columns(const char *text, char separator)
{
    size_t first = 0, n_lines = 0;
    for (const char *line = text; *line != '\0'; n_lines++) {
        size_t n = 0;
        for (; *line != '\0' && *line != '\n'; line++)
            n += *line == separator;
        line += *line == '\n';
        if (n_lines > 0 && n != first)
            return 0;
        first = n;
    }
    return first > 0 && n_lines > 1;
}

static int file_is_prose(const inspected *file)
{
    return name_is_prose(file->name) && strlen(file->bytes) == file->length &&
           cellar_utf8_valid(file->bytes, file->length) && !text_is_columns(file->bytes, ',') &&
           !text_is_columns(file->bytes, ';') && !text_is_columns(file->bytes, '\t');
}

/* ---- kinds --------------------------------------------------------------------------- */

/* A certificate that stands for itself (cellar certify --json). */
static int file_is_certificate(const inspected *file)
{
    return file_begins(file, "{") && cellar_inspected_has(file, "\"verdict\"") &&
           cellar_inspected_has(file, "\"profile\"") &&
           cellar_inspected_has(file, "\"neighbours\"");
}

static int file_is_estimate(const inspected *file)
{
    return cellar_inspected_says(file, "\"kind\"", "\"fit\"") ||
           cellar_inspected_says(file, "\"kind\"", "\"estimate\"");
}

static inspected_kind kind_of_px(const inspected *file)
{
    return cellar_inspected_has(file, CELLAR_PX_MARK "{%22kind%22:%22fit%22,") ||
                   cellar_inspected_has(file, CELLAR_PX_MARK "{%22kind%22:%22estimate%22,")
               ? INSPECTED_ESTIMATE_PX
               : INSPECTED_PX;
}

static inspected_kind kind_of_json(const inspected *file)
{
    if (file_is_beside(file, ".cellar.json"))
        return cellar_inspected_says(file, "\"kind\"", "\"release\"") || file_is_estimate(file)
                   ? INSPECTED_HARMLESS
                   : INSPECTED_OTHER;
    if (cellar_inspected_says(file, "\"kind\"", "\"release\""))
        return INSPECTED_JSON;
    if (file_is_estimate(file)) /* version 0.1 did not say how a table was computed */
        return cellar_inspected_has(file, "\"computed\"") ? INSPECTED_ESTIMATE_JSON
                                                          : INSPECTED_HARMLESS;
    if (file_is_beside(file, "-metadata.json"))
        return cellar_inspected_has(file, "http://www.w3.org/ns/csvw") ? INSPECTED_HARMLESS
                                                                       : INSPECTED_OTHER;
    if (file_is_certificate(file))
        return cellar_inspected_has(file, "\"ledger\"") ? INSPECTED_PACK : INSPECTED_HARMLESS;
    return INSPECTED_OTHER;
}

static inspected_kind kind_of_csv(const inspected *file)
{
    if (file_is_display(file))
        return INSPECTED_HARMLESS;
    return file_has_sibling(file, strlen(file->name), ".cellar.json") ? INSPECTED_BESIDE
                                                                      : INSPECTED_OTHER;
}

inspected_kind cellar_inspected_kind(const inspected *file)
{
    if (file->length > CELLAR_CUBE_HEADING_AT && file_begins(file, CELLAR_CUBE_MARK))
        return INSPECTED_CUBE;
    if (cellar_inspected_ends(file, ".json"))
        return kind_of_json(file);
    if (cellar_inspected_ends(file, ".px") && cellar_inspected_has(file, CELLAR_PX_MARK))
        return kind_of_px(file);
    if (cellar_inspected_ends(file, ".html"))
        return cellar_inspected_has(file, "<meta name=\"generator\" content=\"Cellar ")
                   ? INSPECTED_HARMLESS
                   : INSPECTED_OTHER;
    if (cellar_inspected_ends(file, ".svg"))
        return file_begins(file, "<svg ") ? INSPECTED_HARMLESS : INSPECTED_OTHER;
    if (file_begins(file, "cellar public key 1\n") || file_is_prose(file))
        return INSPECTED_HARMLESS;
    return kind_of_csv(file);
}
