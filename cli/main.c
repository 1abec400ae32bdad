/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program: finds the verb and runs it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <cellar/process.h>
#include <cellar/text.h>
#include <cellar/version.h>

#include "message.h"
#include "verbs.h"

typedef struct main_verb {
    const char *name, *group, *summary;
    int (*run)(int argc, char **argv);
} main_verb;

static const main_verb verbs[] = {
    {"describe", "From records to tables", "what a data file holds, before counting it",
     cli_describe},
    {"tabulate", "From records to tables", "count records into a table", cli_tabulate},
    {"sql", "From records to tables", "the question to a database that counts by itself", cli_sql},
    {"merge", "From records to tables", "add up tables that were counted apart", cli_merge},
    {"store", "From records to tables", "records as small codes, for fast tables", cli_store},
    {"collect", "From records to tables", "collect data so that no party sees a whole record",
     cli_collect},
    {"protect", "From tables to releases", "perturb a table into values that can be published",
     cli_protect},
    {"plan", "From tables to releases", "a set of tables with a budget, released together",
     cli_plan},
    {"cube", "From tables to releases", "one budget for every table, totals that add", cli_cube},
    {"convert", "From tables to releases", "a table, release or estimate in another format",
     cli_convert},
    {"synthesize", "From tables to releases", "made-up records whose tables are those of a release",
     cli_synthesize},
    {"certify", "From tables to releases", "what a mechanism guarantees, proved", cli_certify},
    {"mechanism", "From tables to releases", "what a mechanism does to a count", cli_mechanism},
    {"ptable", "From tables to releases", "design, read and write transition matrices", cli_ptable},
    {"ledger", "From tables to releases", "the privacy budget of datasets", cli_ledger},
    {"key", "From tables to releases", "make and replace key files", cli_key},
    {"sign", "From tables to releases", "sign a folder of releases", cli_sign},
    {"risk", "Assessments", "how likely a sensitive value is read off a release", cli_risk},
    {"exposure", "Assessments", "how many people stand out, and what to do about it", cli_exposure},
    {"audit", "Assessments", "what several tables together give away", cli_audit},
    {"utility", "Assessments", "what an analyst loses", cli_utility},
    {"report", "Assessments", "one page: for the public, or for the committee", cli_report},
    {"fit", "Analysis of releases", "totals that add, from releases whose totals do not", cli_fit},
    {"infer", "Analysis of releases", "tests and intervals that know the noise", cli_infer},
    {"verify-release", "Analysis of releases", "check a signed folder, offline",
     cli_verify_release},
    {"serve", "Publication", "tables that people build themselves, over HTTP", cli_serve},
    {"demo-data", "To begin with", "a small country to try everything on", cli_demo_data},
    {"completion", "To begin with", "let bash, zsh or fish complete verbs and options",
     cli_completion},
    {NULL, NULL, NULL, NULL},
};
enum { N_ROWS = sizeof verbs / sizeof verbs[0] }; /* the last one ends the table */

static const main_verb *main_find(const char *name)
{
    for (size_t i = 0; verbs[i].name != NULL; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static void main_print_help(FILE *stream)
{
    const char *group = "";
    fputs("Usage: cellar VERB ...\n\nCellar protects frequency tables about people.\n", stream);
    for (size_t i = 0; verbs[i].name != NULL; i++) {
        if (strcmp(group, verbs[i].group) != 0)
            fprintf(stream, "\n%s\n", verbs[i].group);
        group = verbs[i].group;
        fprintf(stream, "  %-16s%s\n", verbs[i].name, verbs[i].summary);
    }
    fputs("\nMore\n"
          "  help VERB       the options of a verb, with examples (also cellar VERB --help)\n"
          "  -V, --version   the version of the program\n",
          stream);
}

static int main_unknown(const char *name)
{
    const char *names[N_ROWS + 1] = {"help"};
    const char *nearest;
    for (size_t i = 0; verbs[i].name != NULL; i++)
        names[i + 1] = verbs[i].name;
    nearest = cellar_nearest_word(name, names);
    if (nearest != NULL)
        return cli_usage("unknown verb '%s'; did you mean '%s'?", name, nearest);
    return cli_usage("unknown verb '%s'; cellar help lists all", name);
}

/* A database is asked, perhaps over the network. */
static int main_asks_database(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--from") == 0 || strncmp(argv[i], "--from=", 7) == 0)
            return 1;
    return 0;
}

/* What a verb may do that most have no use for. Files of SPSS, Stata and SAS are read by a program
 * of its own, so that verbs that read records may start one. Of a collection the door may, which
 * has no key; its word must come first. */
static unsigned main_may(const char *name, int argc, char **argv)
{
    static const char *const read_records[] = {"describe", "tabulate", "plan", "exposure",
                                               "cube",     "risk",     "store"};
    static const char *const count_there[] = {"tabulate", "plan", "cube", "store"};
    const char *first = argc > 1 ? argv[1] : "";
    if (strcmp(name, "collect") == 0)
        return CELLAR_MAY_CONNECT | (strcmp(first, "door") == 0 ? CELLAR_MAY_EXECUTE : 0u);
    if (main_asks_database(argc, argv))
        for (size_t i = 0; i < sizeof count_there / sizeof count_there[0]; i++)
            if (strcmp(name, count_there[i]) == 0)
                return CELLAR_MAY_CONNECT;
    if (strcmp(name, "serve") == 0)
        return CELLAR_MAY_CONNECT | CELLAR_MAY_EXECUTE;
    for (size_t i = 0; i < sizeof read_records / sizeof read_records[0]; i++)
        if (strcmp(name, read_records[i]) == 0)
            return CELLAR_MAY_EXECUTE;
    return 0;
}

static int main_run(const main_verb *verb, int argc, char **argv)
{
    cellar_error err;
    cellar_status status = cellar_process_confine(main_may(verb->name, argc, argv), &err);
    return status == CELLAR_OK ? verb->run(argc, argv) : cli_exit(status, &err);
}

static int main_help(int argc, char **argv)
{
    char help[] = "--help";
    char *verb_argv[] = {NULL, help, NULL};
    const main_verb *verb;
    if (argc < 2 || strcmp(argv[1], "help") == 0) {
        main_print_help(stdout);
        return CLI_DONE;
    }
    verb = main_find(argv[1]);
    if (verb == NULL)
        return main_unknown(argv[1]);
    verb_argv[0] = argv[1];
    return main_run(verb, 2, verb_argv);
}

void cli_verbs_visit(cli_options_visitor *visit, void *context)
{
    char help[] = "--help";
    cli_options_visit_help(visit, context);
    for (size_t i = 0; verbs[i].name != NULL; i++) {
        char name[32];
        char *argv[] = {name, help, NULL};
        snprintf(name, sizeof name, "%s", verbs[i].name);
        verbs[i].run(2, argv);
    }
    cli_options_visit_help(NULL, NULL);
}

void cli_verbs_list(void (*each)(const char *name, const char *summary))
{
    for (size_t i = 0; verbs[i].name != NULL; i++)
        each(verbs[i].name, verbs[i].summary);
}

static int main_dispatch(int argc, char **argv)
{
    const main_verb *verb;
    if (argc < 2) {
        main_print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("cellar %s\n", cellar_version());
        return CLI_DONE;
    }
    if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
        strcmp(argv[1], "-h") == 0)
        return main_help(argc - 1, argv + 1);
    verb = main_find(argv[1]);
    return verb != NULL ? main_run(verb, argc - 1, argv + 1) : main_unknown(argv[1]);
}

/* A full disk shows only when the last bytes leave: without this check it would go unnoticed. */
static int main_close_stdout(int result)
{
    int failed = ferror(stdout);
    if (fclose(stdout) == 0 && !failed)
        return result;
    cli_message("standard output: cannot write: %s", strerror(errno));
    return result == CLI_DONE ? CLI_FAILED : result;
}

int main(int argc, char **argv)
{
    cellar_error err;
    cellar_status status = cellar_process_harden(&err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    cellar_process_keep_memory();
    signal(SIGPIPE, SIG_DFL); /* a reader that went away ends the program without a word */
    return main_close_stdout(main_dispatch(argc, argv));
}
