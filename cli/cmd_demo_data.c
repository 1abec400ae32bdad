/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar demo-data: the files that README and tutorial work with. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "demo.h"
#include "options.h"
#include "verbs.h"

enum { DEMO_PEOPLE = 100000, DEMO_MOST_PEOPLE = 100000000 };

typedef struct demo_values {
    cli_number people, seed;
    int force;
} demo_values;

#define AT(member) offsetof(demo_values, member)
static const cli_option demo_options[] = {
    NUMBER("people", "N", people, 1, DEMO_MOST_PEOPLE, "how many people [100000]"),
    NUMBER("seed", "S", seed, 1, 0,
           "of the people; those of the stand-in file have the next seed [1]"),
    FLAG("force", force, "overwrite files that exist"),
};
#undef AT

static const char *const demo_examples[] = {"cellar demo-data",
                                            "cellar demo-data village --people 1000", NULL};

static const cli_command demo_command = {
    "demo-data",
    "[FOLDER] [options]",
    "Writes a small country that does not exist into FOLDER, which is made if need be: people.csv "
    "(one line per person), standin.csv (other people of such a country, to choose parameters on), "
    "codelists/, plans/ and sites/. Without FOLDER it is written here. The same seed "
    "gives the same people on every machine.",
    demo_options,
    sizeof demo_options / sizeof demo_options[0],
    demo_examples};

/* What one run writes, and where. */
typedef struct demo_run {
    const demo_values *values;
    const char *folder;
    uint64_t people, seed;
    size_t path_size;
    char *path; /* of the file at hand */
} demo_run;

static void run_path(demo_run *run, const char *name)
{
    snprintf(run->path, run->path_size, "%s/%s", run->folder, name);
}

static int run_folder(demo_run *run, const char *name)
{
    run_path(run, name);
    if (mkdir(run->path, 0755) == 0 || errno == EEXIST)
        return CLI_GO_ON;
    cli_message("%s: cannot make this folder: %s", run->path, strerror(errno));
    return CLI_FAILED;
}

/* A file of the program, or people when it is NULL. Nobody is real: everybody may read them. */
static int run_file(demo_run *run, const char *name, const demo_file *file, uint64_t seed)
{
    const cellar_output_options how = {.replace = run->values->force, .shared = 1};
    cellar_output *output;
    cellar_error err;
    cellar_status status;
    run_path(run, name);
    status = cellar_output_open(run->path, &how, &output, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    if (file != NULL)
        cellar_output_write(output, file->bytes, file->size);
    else
        demo_write_people(run->people, seed, output);
    status = cellar_output_commit(output, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

/* People first: a folder that is refused is refused before anything is in it. */
static int run_all(demo_run *run)
{
    int result = run_folder(run, "");
    if (result == CLI_GO_ON)
        result = run_file(run, "people.csv", NULL, run->seed);
    if (result == CLI_GO_ON)
        result = run_file(run, "standin.csv", NULL, run->seed + 1);
    if (result == CLI_GO_ON)
        result = run_folder(run, "codelists");
    if (result == CLI_GO_ON)
        result = run_folder(run, "plans");
    if (result == CLI_GO_ON)
        result = run_folder(run, "sites");
    for (const demo_file *file = demo_files; file->name != NULL && result == CLI_GO_ON; file++)
        result = run_file(run, file->name, file, 0);
    if (result != CLI_GO_ON)
        return result;
    cli_message("wrote people.csv, standin.csv (%" PRIu64 " made-up people each), codelists/, "
                "plans/, sites/",
                run->people);
    return CLI_DONE;
}

int cli_demo_data(int argc, char **argv)
{
    demo_values values = {0};
    cli_words folders = {0};
    int result = cli_options_parse(&demo_command, argc, argv, &values, &folders);
    demo_run run = {.values = &values,
                    .folder = folders.n > 0 ? folders.items[0] : ".",
                    .people = values.people.given ? values.people.value : DEMO_PEOPLE,
                    .seed = values.seed.given ? values.seed.value : 1};
    if (result == CLI_GO_ON && folders.n > 1)
        result = cli_usage("demo-data takes one folder, and '%s' is a second", folders.items[1]);
    if (result == CLI_GO_ON) {
        run.path_size = strlen(run.folder) + 64;
        run.path = cli_alloc(run.path_size, 1);
        result = run_all(&run);
        free(run.path);
    }
    cli_words_clear(&folders);
    cli_options_clear(&demo_command, &values);
    return result;
}
