/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small plan with its data and code lists, in a folder that is gone afterwards. */
#ifndef CELLAR_TESTS_PLAN_PLACE_H
#define CELLAR_TESTS_PLAN_PLACE_H

#include <stdlib.h>

#include <cellar/plan.h>

#include "base/text.h"
#include "scratch.h"

/* Four people in two regions, and what every plan below begins with. */
static const char *const plan_data_csv = "id,region,sex\n1,N,F\n2,N,M\n3,N,M\n4,S,F\n";
#define PLAN_HEAD                                                                                  \
    "plan: 1\n"                                                                                    \
    "data: {file: people.csv, edition: '1'}\n"                                                     \
    "unit: {name: person}\n"                                                                       \
    "variables:\n"                                                                                 \
    "  - {name: region, codelist: region.csv, hierarchy: true}\n"                                  \
    "  - {name: sex, codelist: sex.csv}\n"                                                         \
    "negatives: keep\n"                                                                            \
    "parameter_choice: advance\n"

static inline int plan_place_setup(void **state)
{
    int failed = scratch_setup(state);
    scratch *place = *state;
    scratch_write(place, "people.csv", plan_data_csv);
    scratch_write(place, "region.csv", "code,parent,role\n_T,,total\nLand,_T,\nN,Land,\nS,Land,\n");
    scratch_write(place, "sex.csv", "code,role\n_T,total\nF,\nM,\n");
    return failed;
}

/* Removes a folder of files, if it is one. */
static inline void plan_place_remove(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(path);
}

/* Removes the packs of runs, too, and what interrupted ones left. */
static inline int plan_place_teardown(void **state)
{
    static const char *const folders[] = {"pack", "first", ".cellar-pack.staged"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        plan_place_remove(scratch_path(*state, folders[i]));
    return scratch_teardown(state);
}

/* The plan whose text is given, looked for in the folder of the test. */
static inline cellar_status plan_place_parse(scratch *place, const char *text, cellar_plan **out,
                                             cellar_error *err)
{
    return cellar_plan_parse("plan.yaml", scratch_path(place, ""), text, strlen(text), out, err);
}

#endif
