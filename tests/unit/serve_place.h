/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder with a small cube (cube_certified.h) and configurations that serve it. */
#ifndef CELLAR_TESTS_SERVE_PLACE_H
#define CELLAR_TESTS_SERVE_PLACE_H

#include "base/output.h"
#include "cube_certified.h"
#include "scratch.h"
#include "serve/site.h"

#define SERVE_PLACE_SITE                                                                           \
    "serve: 1\n"                                                                                   \
    "site: {title: {en: Tables, sv: Tabeller}, languages: [en, sv], base_url: 'http://x/'}\n"
#define SERVE_PLACE_DATASET                                                                        \
    "datasets:\n"                                                                                  \
    "  - id: people\n"                                                                             \
    "    kind: cube\n"                                                                             \
    "    cube: sample.cube\n"                                                                      \
    "    population: country\n"                                                                    \
    "    title: {en: People, sv: Folk}\n"                                                          \
    "    updated: 2026-11-18\n"                                                                    \
    "    variables:\n"                                                                             \
    "      - {name: region, role: geo, label: {en: Region, sv: Region}, levels: [Part, Place],\n"  \
    "         notes: {n1: Small}, labels: {north: {en: North, sv: Norr}}}\n"

static inline cellar_status serve_place_cube(const char *path, cellar_error *err)
{
    const cellar_output_options replace = {.replace = 1};
    cellar_cube *cube = NULL;
    cellar_output *output = NULL;
    cellar_status status = cube_sample("discrete-gaussian:sigma=2", 4, &cube, err);
    if (status == CELLAR_OK)
        status = cube_sample_certify(cube, err);
    if (status == CELLAR_OK)
        status = cellar_output_open(path, &replace, &output, err);
    if (status == CELLAR_OK)
        status = cellar_cube_write(cube, output, err);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, err);
    else
        cellar_output_discard(output);
    cellar_cube_close(cube);
    return status;
}

/* Writes the cube and the configuration `text` as site.yaml. */
static inline void serve_place_make(scratch *place, const char *text)
{
    cellar_error err = {""};
    if (serve_place_cube(scratch_path(place, "sample.cube"), &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    scratch_write(place, "site.yaml", text);
}

/* Opens a site of `text`, which may be NULL: the data set above. */
static inline cellar_site *serve_place_open(scratch *place, const char *text)
{
    cellar_site *site = NULL;
    cellar_error err = {""};
    serve_place_make(place, text != NULL ? text : SERVE_PLACE_SITE SERVE_PLACE_DATASET);
    if (cellar_site_open(scratch_path(place, "site.yaml"), NULL, &site, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return site;
}

#endif
