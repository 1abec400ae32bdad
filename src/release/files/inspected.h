/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One file of a folder that is to be signed, and which kind of publication it is. */
#ifndef CELLAR_RELEASE_FILES_INSPECTED_H
#define CELLAR_RELEASE_FILES_INSPECTED_H

#include <stddef.h>

#include <cellar/status.h>

/* How the file of a cube begins (cube/file.h), and where its heading has its length and begins. */
#define CELLAR_CUBE_MARK "CELLARCUBE\r\n"
enum { CELLAR_CUBE_LENGTH_AT = 16, CELLAR_CUBE_HEADING_AT = 32 };

typedef struct inspected {
    const char *path;  /* as the folder was given */
    const char *name;  /* inside the folder */
    const char *lines; /* of the manifest: the files beside it */
    char *bytes;       /* a NUL follows */
    size_t length;
} inspected;

/* What can be published. Everything else is INSPECTED_OTHER, and signed only by name. */
typedef enum inspected_kind {
    INSPECTED_OTHER,
    INSPECTED_CSV,           /* a release in CSV, with its description beside it */
    INSPECTED_JSON,          /* a release in JSON-stat */
    INSPECTED_PX,            /* a release in PC-Axis */
    INSPECTED_ESTIMATE_JSON, /* an estimate or a fitted table in JSON-stat */
    INSPECTED_ESTIMATE_PX,   /* the same in PC-Axis */
    INSPECTED_BESIDE, /* values in a format that is only written (SDMX-CSV), or of an estimate */
    INSPECTED_PACK,   /* certificate.json of a plan's pack */
    INSPECTED_CUBE,
    INSPECTED_HARMLESS /* descriptions, certificates, pages and charts for the public, prose */
} inspected_kind;

/* Tells kinds apart by content, and prose by its name too. */
inspected_kind cellar_inspected_kind(const inspected *file);

int cellar_inspected_ends(const inspected *file, const char *ending);
int cellar_inspected_has(const inspected *file, const char *text);
/* 1 when some JSON object in the file has the member with the value, both written as in JSON. */
int cellar_inspected_says(const inspected *file, const char *member, const char *value);

#endif
