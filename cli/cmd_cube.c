/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar cube: one budget for every table of a universe. */
#include "verbs.h"

#include <stddef.h>
#include <string.h>

#include <cellar/text.h>

#include "cube.h"

#define AT(member) offsetof(cube_values, member)
static const cli_option cube_options[] = {
    SECTION("A table of a cube"),
    TEXT("by", "A,B", by, "table: the variables; none for the total"),
    MANY("level", "A=N", level,
         "table: a level of the hierarchy of a variable, 1 for the top [finest]"),
    MANY("only", "A=X,Y", only, "table: only these categories of a variable"),
    MANY("group", "A:NAME=X,Y", group,
         "table: show these categories of a variable as one; repeat it for each group"),
    FLAG("margins", margins, "table: with all totals"),
    FLAG("whole", whole,
         "table: non-negative whole numbers that add within this table, and to no other"),
    TEXT("interval", "LEVEL", interval,
         "table: intervals that cover with this probability, such as 0.95"),
    FLAG("simultaneous", simultaneous, "table: all intervals of the table hold together"),
    OUTPUT(path, "table: write a file, with standard errors"),
    CHOICE("format", "csv|json|px|sdmx|csvw|ods|xlsx", format,
           "table: CSV, JSON-stat, PC-Axis, SDMX-CSV, CSV with a CSVW description, or a "
           "spreadsheet [by the ending of the name]"),
    FLAG("force", force, "table: replace files that exist"),
    SECTION("What a file of a table says"),
    CLI_ABOUT_OPTIONS(AT(about)),
    SECTION("Everything"),
    FLAG("verify", verify,
         "show: check every digest, every estimate, every sum and the certificate"),
    MANY("from", "PLACE", from,
         "build: the database that counts the table which the plan names: sqlite:FILE, "
         "postgresql:CONNINFO, odbc:DATASOURCE or clickhouse:URL; repeat it for shards"),
    TEXT("date", "DAY", date, "build: the day of the cube, such as 2026-07-01 [today]"),
    NUMBER("limit", "N", limit, 0, 0, "show N rows, 0 for all [40]"),
    FLAG("json", json, "print JSON"),
    NUMBER("threads", "N", threads, 1, 1024, "use so many processors [all]"),
};

static const char *const cube_examples[] = {
    "cellar cube plan universe.yaml", "cellar cube build universe.yaml",
    "cellar cube table country.cube --by region,sex --margins --interval 0.95",
    "cellar cube show country.cube", NULL};

static const cli_command cube_command = {
    "cube",
    "plan|compare|build|table|show FILE [options]",
    "Measures a few tables with noise and answers every table of a universe from them, so that all "
    "totals add and one guarantee covers everything. plan and compare read a plan with a universe "
    "(docs/cube.md describes it) and no data: they show which tables are measured, the standard "
    "deviation of every table, the guarantee, and what else the budget could buy. build counts the "
    "data in one pass, charges the ledger once, draws, and writes the cube, which is public. table "
    "and show read a cube.",
    cube_options,
    sizeof cube_options / sizeof cube_options[0],
    cube_examples};

static const struct cube_action {
    const char *name;
    int (*run)(const char *path, const cube_values *values);
} cube_actions[] = {{"plan", cli_cube_plan},
                    {"compare", cli_cube_compare},
                    {"build", cli_cube_build},
                    {"table", cli_cube_table},
                    {"show", cli_cube_show}};
enum { N_ACTIONS = sizeof cube_actions / sizeof cube_actions[0] };

static const char *const action_names[] = {"plan", "compare", "build", "table", "show", NULL};
enum { PLAN = 1, COMPARE = 2, BUILD = 4, TABLE = 8, SHOW = 16 };
static const cli_place cube_places[] = {
    {"by", TABLE},           {"level", TABLE},
    {"only", TABLE},         {"group", TABLE},
    {"margins", TABLE},      {"interval", TABLE},
    {"simultaneous", TABLE}, {"whole", TABLE},
    {"output", TABLE},       {"format", TABLE},
    {"title", TABLE},        {"source", TABLE},
    {"note", TABLE},         {"units", TABLE},
    {"updated", TABLE},      {"role", TABLE},
    {"matrix", TABLE},       {"structure-id", TABLE},
    {"force", TABLE},        {"limit", TABLE | PLAN | COMPARE | SHOW},
    {"verify", SHOW},        {"date", BUILD},
    {"threads", BUILD},      {"from", BUILD}};

static int cube_run(const cli_words *words, const cube_values *values)
{
    const char *nearest;
    for (size_t i = 0; i < N_ACTIONS; i++)
        if (strcmp(words->items[0], cube_actions[i].name) == 0) {
            int result =
                cli_options_check_places(&cube_command, values, cube_places,
                                         sizeof cube_places / sizeof *cube_places, action_names, i);
            return result == CLI_GO_ON ? cube_actions[i].run(words->items[1], values) : result;
        }
    nearest = cellar_nearest_word(words->items[0], action_names);
    if (nearest != NULL)
        return cli_usage("cube: there is no '%s'; did you mean '%s'?", words->items[0], nearest);
    return cli_usage("cube: say what to do, such as plan, not '%s'", words->items[0]);
}

int cli_cube(int argc, char **argv)
{
    cube_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&cube_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n != 2)
        result = cli_usage("cube needs what to do and a file: cube plan UNIVERSE.yaml, cube table "
                           "FILE.cube");
    if (result == CLI_GO_ON)
        result = cube_run(&words, &values);
    cli_words_clear(&words);
    cli_options_clear(&cube_command, &values);
    return result;
}
