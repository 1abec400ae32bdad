/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What writer and reader of a cube's file share. */
#ifndef CELLAR_CUBE_FILE_H
#define CELLAR_CUBE_FILE_H

#include "cube/cube.h"
#include "release/files/inspected.h"

#define CUBE_FILE_MARK CELLAR_CUBE_MARK /* programs that take the file for text would change it */
enum { CUBE_FILE_VERSION = 1, CUBE_FILE_ALIGN = 64 };

/* The first bytes. After the heading, at a multiple of CUBE_FILE_ALIGN, come the tables in the
 * order of the heading: the measured values of each, if it was measured, then its estimates. */
typedef struct cube_file_start {
    char mark[12];
    uint32_t version;
    uint64_t heading_length, values_start;
} cube_file_start;

/* 1 where 64-bit numbers in memory are those of the file. */
static inline int cellar_cube_file_fits_machine(void)
{
    const uint32_t one = 1;
    return *(const unsigned char *) &one == 1;
}

/* The member `cellar` of the heading; NULL: no memory. */
json_t *cellar_cube_heading(const cellar_cube *cube);

cellar_status cellar_cube_table_digest(const cellar_cube *cube, uint32_t table,
                                       char out[CUBE_DIGEST_TEXT], cellar_error *err);

#endif
