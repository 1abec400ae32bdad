/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes come from anywhere: nothing in the heading is believed before it was checked. */
#include "cube/file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/formats/extension.h"

enum { HEADING_MAX = 1 << 28 };
/* Precisions are added up and divided: what no noise has would leave the range of doubles. */
static const double VARIANCE_LEAST = 1e-40, VARIANCE_MOST = 1e40;

typedef struct reading {
    const char *name;
    const unsigned char *bytes;
    size_t length;
    cube_file_start start;
    const json_t *heading; /* its member `cellar` */
    cellar_error *err;
} reading;

static cellar_status fail_damaged(const reading *r, const char *what)
{
    return cellar_fail(r->err, CELLAR_ERR_INPUT, "%s: the cube is damaged: %s", r->name, what);
}

/* ---- the heading ------------------------------------------------------------------- */

static cellar_status read_start(reading *r)
{
    if (r->length < sizeof r->start || memcmp(r->bytes, CUBE_FILE_MARK, sizeof r->start.mark) != 0)
        return cellar_fail(r->err, CELLAR_ERR_INPUT,
                           "%s: expected a cube, as `cellar cube build` "
                           "writes it",
                           r->name);
    if (!cellar_cube_file_fits_machine())
        return cellar_fail(r->err, CELLAR_ERR_UNSUPPORTED,
                           "cubes are written and read on little-endian machines only");
    memcpy(&r->start, r->bytes, sizeof r->start);
    if (r->start.version != CUBE_FILE_VERSION)
        return cellar_fail(r->err, CELLAR_ERR_INPUT,
                           "%s: version %u of the format; this program reads version %d", r->name,
                           r->start.version, CUBE_FILE_VERSION);
    if (r->start.heading_length > HEADING_MAX ||
        r->start.heading_length > r->length - sizeof r->start ||
        r->start.values_start > r->length || r->start.values_start % CUBE_FILE_ALIGN != 0 ||
        r->start.values_start < sizeof r->start + r->start.heading_length)
        return fail_damaged(r, "its heading does not fit into it");
    return CELLAR_OK;
}

static cellar_status read_variable(const reading *r, const json_t *object, cube_variable *out)
{
    const json_t *text = json_object_get(object, "codelist");
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *domain = json_string_value(json_object_get(object, "domain"));
    cellar_codelist *list = NULL;
    cellar_status status;
    cellar_domain kind;
    if (name == NULL || domain == NULL || !json_is_string(text))
        return fail_damaged(r, "a variable lacks its name, domain or code list");
    if (!cellar_domain_find(domain, &kind) || kind == CELLAR_DOMAIN_OBSERVED)
        return fail_damaged(r, "the categories of a variable are not public");
    status = cellar_codelist_parse(r->name, json_string_value(text), json_string_length(text),
                                   &list, r->err);
    if (status == CELLAR_OK)
        status = cellar_cube_variable_init(out, name, kind, list,
                                           json_is_true(json_object_get(object, "levels")), r->err);
    cellar_codelist_free(list);
    return status;
}

static cellar_status read_space(const reading *r, const json_t *table, cube_space *out)
{
    const json_t *by = json_object_get(table, "by"), *levels = json_object_get(table, "levels");
    *out = (cube_space){.order = (uint8_t) json_array_size(by)};
    if (!json_is_array(by) || json_array_size(by) > CUBE_ORDER_MAX ||
        json_array_size(levels) != json_array_size(by))
        return fail_damaged(r, "a table does not say which variables it crosses");
    for (size_t i = 0; i < out->order; i++) {
        const json_int_t v = json_integer_value(json_array_get(by, i));
        const json_int_t level = json_integer_value(json_array_get(levels, i));
        if (v < 0 || v >= CELLAR_MAX_VARIABLES || level < 1 || level > CUBE_LEVELS_MAX)
            return fail_damaged(r, "a table names a variable or level that is not there");
        out->variable[i] = (uint8_t) v;
        out->level[i] = (uint8_t) level;
    }
    return CELLAR_OK;
}

static cellar_status read_variables(const reading *r, cube_variable *variables, size_t *n)
{
    const json_t *list = json_object_get(r->heading, "variables");
    const json_t *object;
    size_t i;
    if (json_array_size(list) == 0 || json_array_size(list) > CELLAR_MAX_VARIABLES)
        return fail_damaged(r, "it has no variables, or too many");
    json_array_foreach(list, i, object)
    {
        cellar_status status = read_variable(r, object, &variables[i]);
        if (status != CELLAR_OK)
            return status;
        *n = i + 1;
    }
    return CELLAR_OK;
}

static cellar_status read_tables(const reading *r, cube_space **out, size_t *n)
{
    const json_t *list = json_object_get(r->heading, "tables");
    const json_t *object;
    size_t i;
    *n = json_array_size(list);
    if (*n == 0)
        return fail_damaged(r, "it has no tables");
    *out = cellar_alloc(*n, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(r->err, "the tables of a cube");
    json_array_foreach(list, i, object)
    {
        cellar_status status = read_space(r, object, &(*out)[i]);
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

/* ---- the values ---------------------------------------------------------------------- */

/* 1 for a variance that the noise of a mechanism may have. */
static int is_variance(const char *mechanism, double variance)
{
    return strcmp(mechanism, CUBE_EXACT) == 0
               ? variance == 0
               : variance > VARIANCE_LEAST && variance < VARIANCE_MOST;
}

/* The tables of the file must be the lattice, in its order. */
static cellar_status place_tables(const reading *r, const cube_space *tables, size_t n,
                                  cellar_cube *cube)
{
    const json_t *list = json_object_get(r->heading, "tables");
    size_t at = (size_t) r->start.values_start;
    if (n != cube->lattice.n || memcmp(tables, cube->lattice.spaces, n * sizeof *tables) != 0)
        return fail_damaged(r, "some table below another one is not in it");
    for (size_t t = 0; t < n; t++) {
        const json_t *table = json_array_get(list, t);
        const char *mechanism = json_string_value(json_object_get(table, "mechanism"));
        const char *digest = json_string_value(json_object_get(table, "digest"));
        const double variance = json_number_value(json_object_get(table, "variance"));
        const double n_cells = cube->lattice.n_cells[t];
        const size_t n_parts = mechanism != NULL ? 2 : 1;
        cube_measure *measure = &cube->tables[t];
        if (n_cells * sizeof(int64_t) * (double) n_parts > (double) (r->length - at))
            return fail_damaged(r, "its values end too early");
        if (digest == NULL || strlen(digest) != CUBE_DIGEST_TEXT - 1 ||
            (mechanism != NULL && !is_variance(mechanism, variance)))
            return fail_damaged(r, "a table lacks its digest or the variance of its noise");
        memcpy(measure->digest, digest, CUBE_DIGEST_TEXT);
        if (mechanism != NULL) {
            cellar_status status =
                cellar_cube_plan_measure(cube, (uint32_t) t, mechanism, variance, r->err);
            if (status != CELLAR_OK)
                return status;
            measure->measured = (const int64_t *) (const void *) (r->bytes + at);
            at += (size_t) n_cells * sizeof(int64_t);
        }
        measure->values = (const int64_t *) (const void *) (r->bytes + at);
        at += (size_t) n_cells * sizeof(int64_t);
    }
    return at == r->length ? CELLAR_OK : fail_damaged(r, "something follows its values");
}

static cellar_status read_cube(reading *r, cellar_cube **out)
{
    cube_variable variables[CELLAR_MAX_VARIABLES] = {{0}};
    cube_space *tables = NULL;
    size_t n_variables = 0, n_tables = 0;
    cellar_cube *cube = NULL;
    const json_t *description = json_object_get(r->heading, "description");
    const json_int_t decimals = json_integer_value(json_object_get(r->heading, "decimals"));
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(read_variables(r, variables, &n_variables));
    CELLAR_TRY(read_tables(r, &tables, &n_tables));
    if (decimals < 0 || decimals > 9 ||
        !json_is_object(json_object_get(description, "certificate")))
        CELLAR_TRY(fail_damaged(r, "it has no certificate, or too many decimals"));
    CELLAR_TRY(cellar_cube_create(variables, n_variables, tables, n_tables, &cube, r->err));
    cube->decimals = (int) decimals;
    CELLAR_TRY(place_tables(r, tables, n_tables, cube));
    status = cellar_cube_settle(cube, r->err);
    if (status == CELLAR_ERR_ARGUMENT)
        status = fail_damaged(r, "some table cannot be estimated from the measured ones");
    if (status != CELLAR_OK)
        goto out;
    CELLAR_TRY(cellar_cube_describe(cube, json_deep_copy(description), r->err));
    *out = cube;
    cube = NULL;
out:
    for (size_t v = 0; v < n_variables; v++)
        cellar_cube_variable_clear(&variables[v]);
    cellar_free(tables);
    cellar_cube_close(cube);
    return status;
}

cellar_status cellar_cube_parse(const char *name, const void *bytes, size_t length,
                                cellar_cube **out, cellar_error *err)
{
    reading r = {.name = name, .bytes = bytes, .length = length, .err = err};
    json_error_t why;
    json_t *root = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(read_start(&r));
    root = json_loadb((const char *) r.bytes + sizeof r.start, (size_t) r.start.heading_length,
                      JSON_REJECT_DUPLICATES, &why);
    r.heading = json_object_get(root, "cellar");
    if (!json_is_object(r.heading) ||
        strcmp(json_is_string(json_object_get(r.heading, "kind"))
                   ? json_string_value(json_object_get(r.heading, "kind"))
                   : "",
               "cube") != 0)
        CELLAR_TRY(fail_damaged(&r, "its heading cannot be read"));
    CELLAR_TRY(read_cube(&r, out));
out:
    json_decref(root);
    return status;
}

/* ---- files --------------------------------------------------------------------------------- */

int cellar_cube_is_file(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char mark[sizeof CUBE_FILE_MARK - 1];
    const int found = fd >= 0 && read(fd, mark, sizeof mark) == (ssize_t) sizeof mark &&
                      memcmp(mark, CUBE_FILE_MARK, sizeof mark) == 0;
    if (fd >= 0)
        close(fd);
    return found;
}

cellar_status cellar_cube_open(const char *path, cellar_cube **out, cellar_error *err)
{
    struct stat facts;
    void *map = MAP_FAILED;
    cellar_status status = CELLAR_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *out = NULL;
    if (fd < 0)
        return cellar_fail_errno(err, path, "open the cube");
    if (fstat(fd, &facts) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "read the cube"));
    if (!S_ISREG(facts.st_mode) || facts.st_size < (off_t) sizeof(cube_file_start))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: expected a cube, as `cellar cube build` writes it", path));
    map = mmap(NULL, (size_t) facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        CELLAR_TRY(cellar_fail_errno(err, path, "map the cube"));
    CELLAR_TRY(cellar_cube_parse(path, map, (size_t) facts.st_size, out, err));
    (*out)->map = map;
    (*out)->map_length = (size_t) facts.st_size;
    map = MAP_FAILED;
    (*out)->path = cellar_alloc(strlen(path) + 1, 1);
    if ((*out)->path == NULL) {
        cellar_cube_close(*out);
        *out = NULL;
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
    }
    memcpy((*out)->path, path, strlen(path));
out:
    if (map != MAP_FAILED)
        munmap(map, (size_t) facts.st_size);
    close(fd);
    return status;
}

cellar_status cellar_cube_check_table(const cellar_cube *cube, uint32_t table, const char *name,
                                      cellar_error *err)
{
    char digest[CUBE_DIGEST_TEXT];
    cellar_text words = {0};
    cellar_status status = cellar_cube_table_digest(cube, table, digest, err);
    if (status != CELLAR_OK || strcmp(digest, cube->tables[table].digest) == 0)
        return status;
    cellar_cube_table_name(cube, table, &words);
    status = cellar_fail(err, CELLAR_ERR_INPUT, "%s: the values of table %s were changed", name,
                         words.failed ? "" : words.bytes);
    cellar_text_clear(&words);
    return status;
}
