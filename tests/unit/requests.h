/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests for tables of the same people, each of which differs from the first in one thing. */
#ifndef CELLAR_TESTS_REQUESTS_H
#define CELLAR_TESTS_REQUESTS_H

#include <stdio.h>
#include <string.h>

#include <cellar/tabulate.h>

#include "check.h"
#include "code_lists.h"
#include "scratch.h"
#include "splitmix.h"

enum { REQUEST_PEOPLE = 400, REQUEST_MAX = 4 };

typedef struct request {
    const char *label;
    const char *by[REQUEST_MAX];    /* "sex", "region", "age"; NULL: all three */
    const char *where[REQUEST_MAX]; /* up to NULL */
    const char *missing[REQUEST_MAX];
    cellar_missing_policy policy; /* CELLAR_MISSING_UNDECIDED: drop */
    const char *regions;          /* another code list of the regions */
    const char *sexes_map;        /* a recode map */
    const char *bottom, *top, *width, *origin;
    int closed_right;
    const char *weight, *unit, *record_key;
    uint64_t max_weight, max_per_unit, key_range;
    const char *rules; /* structural zeros */
    int all_margins, levels, skips_bad_rows;
    const char *margins[REQUEST_MAX]; /* "sr": of sex and region, by first letters; "-": total */
} request;

#define REQUEST_REGIONS                                                                            \
    "code,parent,label\nr1,north,One\nr2,north,Two\nr3,,Three\nr4,,Four\nnorth,,\n"

/* The first is what the others differ from; some of them count the same people by chance. */
static const request different_requests[] = {
    {.label = "plain"},
    {"as many people, two exchanged: first", .where = {"id<=300"}},
    {"as many people, two exchanged: second", .where = {"id>1", "id<=301"}},
    {"everybody, said by a condition", .where = {"id>=1"}},
    {"everybody, said by another", .where = {"id>0"}},
    {"two regions", .where = {"region=r1|r2"}},
    {"two regions, by what they are not", .where = {"region!=r3|r4"}},
    {"one region less", .where = {"region!=r4"}},
    {"one region", .where = {"region=r1"}},
    {"all margins", .all_margins = 1},
    {"one margin", .margins = {"sr"}},
    {"another margin", .margins = {"s"}},
    {"both margins", .margins = {"sr", "s"}},
    {"the total", .margins = {"-"}},
    {"levels", .levels = 1},
    {"sex", .by = {"sex"}},
    {"sex, with the total", .by = {"sex"}, .all_margins = 1},
    {"region", .by = {"region"}},
    {"sex and region", .by = {"sex", "region"}},
    {"region and age", .by = {"region", "age"}},
    {"narrower bands", .width = "5"},
    {"bands closed on the right", .closed_right = 1},
    {"shifted bands", .origin = "5"},
    {"lower top", .top = "80"},
    {"higher bottom", .bottom = "10"},
    {"mapped", .sexes_map = "from,to\nF,F\nM,M\n"},
    {"missing as a level", .by = {"sex"}, .policy = CELLAR_MISSING_LEVEL},
    {"another missing value", .missing = {"99"}},
    {"units", .unit = "household", .max_per_unit = 2},
    {"larger units", .unit = "household", .max_per_unit = 3},
    {"other units", .unit = "id", .max_per_unit = 2},
    {"weights", .weight = "weight", .max_weight = 3},
    {"weights clipped elsewhere", .weight = "weight", .max_weight = 4},
    {"weights of one", .weight = "one", .max_weight = 1},
    {"record keys", .record_key = "id", .key_range = 4096},
    {"other record keys", .record_key = "id", .key_range = 8192},
    {"bad rows skipped", .skips_bad_rows = 1},
    {"a structural zero", .rules = "sex = F & region = r9\n",
     .regions = "code,parent\nr1,north\nr2,north\nr3,\nr4,\nr9,\nnorth,\n"},
    {"one code more", .regions = "code,parent\nr1,north\nr2,north\nr3,\nr4,\nr9,\nnorth,\n"},
    {"another hierarchy", .regions = "code,parent\nr1,north\nr2,north\nr3,north\nr4,\nnorth,\n"},
    {"another hierarchy, with its levels", .levels = 1,
     .regions = "code,parent\nr1,north\nr2,north\nr3,north\nr4,\nnorth,\n"},
    {"another role",
     .regions = "code,parent,role\nr1,north,\nr2,north,\nr3,,\nr4,,other\nnorth,,\n"},
};

enum { N_DIFFERENT = sizeof different_requests / sizeof *different_requests };

/* Everybody's data, from a generator that never changes; nobody's age is 99 or missing. In the
 * second version of them one person, and no other, has moved. */
static inline void write_people(scratch *place, int has_moved)
{
    uint64_t seed = 17;
    FILE *file = fopen(scratch_path(place, "people.csv"), "w");
    assert_non_null(file);
    fputs("id,sex,region,age,household,weight,one\n", file);
    for (int id = 1; id <= REQUEST_PEOPLE; id++) {
        int sex = (int) (next_random(&seed) % 2), region = (int) (next_random(&seed) % 4);
        int age = (int) (next_random(&seed) % 99), weight = (int) (next_random(&seed) % 60);
        if (has_moved && id == 200)
            region = (region + 1) % 4;
        fprintf(file, "%d,%c,r%d,%d,h%d,%d.%d,1\n", id, "FM"[sex], region + 1, age, id / 2,
                weight / 10, weight % 10);
    }
    assert_int_equal(fclose(file), 0);
}

/* ---- from a request to a table ------------------------------------------------- */

typedef struct request_parts {
    cellar_variable_spec variables[REQUEST_MAX];
    cellar_codelist *sexes, *regions;
    cellar_recode_map *map;
    uint64_t masks[REQUEST_MAX];
    char rules[400];
} request_parts;

static inline size_t request_length(const char *const *words)
{
    size_t n = 0;
    while (n < REQUEST_MAX && words[n] != NULL)
        n++;
    return n;
}

static inline void request_variables(const request *r, request_parts *parts,
                                     cellar_tabulate_spec *spec)
{
    static const char *const all[REQUEST_MAX] = {"sex", "region", "age"};
    const char *const *by = r->by[0] != NULL ? r->by : all;
    spec->variables = parts->variables;
    spec->n_variables = request_length(by);
    for (size_t v = 0; v < spec->n_variables; v++) {
        cellar_variable_spec *variable = &parts->variables[v];
        *variable = (cellar_variable_spec){.column = by[v] != NULL ? by[v] : ""};
        if (variable->column[0] == 's') {
            variable->codelist = parts->sexes;
            variable->recode.map = parts->map;
        } else if (variable->column[0] == 'r') {
            variable->codelist = parts->regions;
            if (r->levels)
                spec->margins.hierarchies |= UINT64_C(1) << v;
        } else {
            variable->recode = (cellar_recode){.bottom = r->bottom != NULL ? r->bottom : "0",
                                               .top = r->top != NULL ? r->top : "90",
                                               .band_width = r->width != NULL ? r->width : "10",
                                               .band_origin = r->origin,
                                               .band_closed_right = r->closed_right};
        }
    }
}

static inline void request_margins(const request *r, request_parts *parts,
                                   cellar_tabulate_spec *spec)
{
    spec->margins.all = r->all_margins;
    spec->margins.masks = parts->masks;
    spec->margins.n_masks = request_length(r->margins);
    for (size_t m = 0; m < spec->margins.n_masks; m++) {
        parts->masks[m] = 0;
        for (size_t v = 0; v < spec->n_variables; v++)
            if (strchr(r->margins[m], spec->variables[v].column[0]) != NULL)
                parts->masks[m] |= UINT64_C(1) << v;
    }
}

static inline cellar_status request_tabulate(scratch *place, const request *r, cellar_table **out,
                                             cellar_error *err)
{
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    request_parts parts = {.sexes = parse_list("code,role\nF,\nM,\n?,unknown\n"),
                           .regions =
                               parse_list(r->regions != NULL ? r->regions : REQUEST_REGIONS)};
    char path[400];
    cellar_status status;

    if (r->sexes_map != NULL)
        assert_int_equal(
            cellar_recode_map_parse("map", r->sexes_map, strlen(r->sexes_map), &parts.map, NULL),
            CELLAR_OK);
    if (r->rules != NULL) {
        scratch_write(place, "rules", r->rules);
        snprintf(parts.rules, sizeof parts.rules, "%s", scratch_path(place, "rules"));
        spec.structural_zeros_path = parts.rules;
    }
    snprintf(path, sizeof path, "%s", scratch_path(place, "people.csv"));
    spec.path = path;
    spec.n_threads = 1;
    request_variables(r, &parts, &spec);
    request_margins(r, &parts, &spec);
    spec.where = r->where;
    spec.n_where = request_length(r->where);
    spec.missing = r->missing;
    spec.n_missing = request_length(r->missing);
    spec.missing_policy = r->policy != CELLAR_MISSING_UNDECIDED ? r->policy : CELLAR_MISSING_DROP;
    spec.weight_column = r->weight;
    spec.max_weight = r->max_weight;
    spec.unit_column = r->unit;
    spec.max_per_unit = r->max_per_unit;
    spec.record_key_column = r->record_key;
    spec.key_range = r->key_range;
    spec.reader.bad_rows = r->skips_bad_rows ? CELLAR_BAD_ROWS_SKIP : CELLAR_BAD_ROWS_ERROR;
    status = cellar_tabulate(&spec, out, NULL, err);
    cellar_codelist_free(parts.sexes);
    cellar_codelist_free(parts.regions);
    cellar_recode_map_free(parts.map);
    return status;
}

static inline cellar_table *request_table(scratch *place, const request *r)
{
    cellar_table *table = NULL;
    cellar_error err = {""};
    if (request_tabulate(place, r, &table, &err) != CELLAR_OK)
        fail_msg("%s: %s", r->label, err.message);
    return table;
}

#endif
