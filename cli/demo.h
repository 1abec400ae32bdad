/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small country of the documentation: its people, code lists and plan. */
#ifndef CELLAR_CLI_DEMO_H
#define CELLAR_CLI_DEMO_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/output.h>

/* Writes people who do not exist, as CSV (demo_people.c). */
void demo_write_people(uint64_t n_people, uint64_t seed, cellar_output *output);

/* A file of examples/, put into the program when it is built (CMakeLists.txt). */
typedef struct demo_file {
    const char *name; /* with its folder */
    const unsigned char *bytes;
    size_t size;
} demo_file;
extern const demo_file demo_files[]; /* ends with a name NULL */

#endif
