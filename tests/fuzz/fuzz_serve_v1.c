/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a request to our own interface: a first line "POST /v1/compare", then the body. A
 * cube answers; whatever comes is a response without 5xx. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/serve_place.h"
#include "../unit/serve_small.h"
#include "base/error.h"
#include "serve/site.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The small data set, with a cube of two of its kind of variables beside it. */
static cellar_site *site_of_cube(void)
{
    static const serve_category regions[] = {{.code = "north", .label = {small_codes}},
                                             {.code = "south", .label = {small_codes}}};
    static const serve_category places[] = {{.code = "n1", .label = {small_codes}},
                                            {.code = "n2", .label = {small_codes}},
                                            {.code = "s1", .label = {small_codes}, .parent = 1},
                                            {.code = "s2", .label = {small_codes}, .parent = 1},
                                            {.code = "s3", .label = {small_codes}, .parent = 1}};
    static const serve_category sexes[] = {{.code = "f", .label = {small_codes}},
                                           {.code = "m", .label = {small_codes}}};
    static const serve_level region[] = {
        {.id = "region^1", .label = {small_codes}, .categories = regions, .n_categories = 2},
        {.id = "region", .label = {small_codes}, .categories = places, .n_categories = 5}};
    static const serve_level sex[] = {
        {.id = "sex", .label = {small_codes}, .categories = sexes, .n_categories = 2}};
    static const serve_variable variables[] = {
        {.code = "region", .label = {small_codes}, .levels = region, .n_levels = 2},
        {.code = "sex", .label = {small_codes}, .levels = sex, .n_levels = 1}};
    static small_source unused;
    static serve_dataset dataset;
    static cellar_site site;
    char path[] = "/tmp/cellar-fuzz-XXXXXX";
    cellar_cube *cube;
    if (site.datasets != NULL)
        return &site;
    dataset = small_dataset(SERVE_CUBE, &unused);
    dataset.variables = variables;
    dataset.n_variables = 2;
    CELLAR_ASSERT(close(mkstemp(path)) == 0 && serve_place_cube(path, NULL) == CELLAR_OK &&
                  cellar_cube_open(path, &cube, NULL) == CELLAR_OK && unlink(path) == 0 &&
                  serve_source_of_cube(cube, "cube", &dataset.source, NULL) == CELLAR_OK);
    site = (cellar_site){.title = {small_codes},
                         .languages = small_languages,
                         .n_languages = 1,
                         .datasets = &dataset,
                         .n_datasets = 1};
    return &site;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *end = memchr(data, '\n', size);
    char line[1024];
    const size_t length = end != NULL ? (size_t) (end - (const char *) data) : 0;
    char *path = NULL, *query = NULL;
    cellar_request request = {.method = line, .address = "192.0.2.1"};
    cellar_response response;
    if (end == NULL || length >= sizeof line || memchr(data, '\0', length) != NULL)
        return 0;
    memcpy(line, data, length);
    line[length] = '\0';
    path = strchr(line, ' ');
    if (path != NULL)
        *path++ = '\0';
    query = path != NULL ? strchr(path, '?') : NULL;
    if (query != NULL)
        *query++ = '\0';
    request.path = path;
    request.query = query;
    request.body = end + 1;
    request.body_length = size - length - 1;
    cellar_site_answer(site_of_cube(), &request, &response);
    CELLAR_ASSERT(response.status >= 200 && response.status < 500);
    cellar_response_clear(&response);
    return 0;
}
