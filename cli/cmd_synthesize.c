/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar synthesize: made-up records whose tables are those of a release or a cube. */
#include "verbs.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include <cellar/cube.h>

#include "json_out.h"
#include "reader.h"
#include "synthesize.h"

#define AT(member) offsetof(synthesize_values, member)
static const cli_option synthesize_options[] = {
    OUTPUT(path, "the records, as .csv or .tsv, compressed if .gz follows"),
    FLAG("labels", labels, "write the labels of the code lists instead of codes"),
    TEXT("language", "TAG", language, "with --labels: which of several languages [the first]"),
    TEXT("count", "NAME", count_column,
         "write each combination once, with a column NAME that says how many records it stands "
         "for (tabulate --count NAME reads it)"),
    FLAG("shuffle", shuffle, "in an order that is drawn [in the order of categories]"),
    SECTION("From a release"),
    FLAG("ignore-margins", ignore_margins,
         "expand the inner cells of a release although its margins are not their sums"),
    SECTION("From a cube"),
    NUMBER("records", "N", records, 1, 0, "make so many records [the estimated total]"),
    NUMBER("sets", "M", sets, 1, 1000,
           "draw M sets, FILE-1.csv and so on; they cost nothing more and share the noise of the "
           "cube"),
    NUMBER("max-table-cells", "N", max_table_cells, 1, 0,
           "the model uses tables of at most N cells [1000000]"),
    NUMBER("limit", "N", limit, 0, 0, "show how well the N worst tables are met, 0 for all [10]"),
    SECTION("Everything"),
    NUMBER("max-records", "N", max_records, 1, 0,
           "refuse to make more records [1000000000; 100000000 from a cube]"),
    FLAG("neutralise-formulas", neutralise_formulas,
         "put ' before what a spreadsheet would take for a formula"),
    FLAG("force", force, "replace files that exist"),
    FLAG("json", json, "print JSON"),
};

static const char *const synthesize_examples[] = {
    "cellar synthesize people.release.csv -o people.synthetic.csv",
    "cellar synthesize people.release.csv --labels --shuffle -o people.csv.gz",
    "cellar synthesize country.cube -o country.csv --sets 3", NULL};

static const cli_command synthesize_command = {
    "synthesize",
    "RELEASE|CUBE -o FILE [options]",
    "Makes synthetic records. From a release whose values are whole and not negative, or from "
    "whole "
    "numbers that fit or cube table --whole made: as many records of each cell as its value says, "
    "so that counting the records gives the table back. From a cube: records of a model of its "
    "tables, with a report of how well each table is met. Only what is public is read: nothing is "
    "charged, and the guarantee is that of the release or cube. No record was copied; one may "
    "coincide with a real person; what protects people is the certificate, which stands beside the "
    "records in FILE.synthetic.json.",
    synthesize_options,
    sizeof synthesize_options / sizeof synthesize_options[0],
    synthesize_examples};

static cellar_status show(const cellar_synthesis *records, const synthesize_values *values,
                          cellar_error *err)
{
    cellar_output *output;
    cellar_status status;
    cli_json json = {0};
    if (!values->json) {
        cli_message("%s: %" PRIu64 " synthetic records, %zu different ones", values->path,
                    cellar_synthesis_n_records(records), cellar_synthesis_n_combinations(records));
        return CELLAR_OK;
    }
    status = cellar_output_open("-", NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    json.output = output;
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "file", values->path);
    cli_json_text(&json, "statement", CELLAR_SYNTHETIC_STATEMENT);
    cli_json_count(&json, "records", cellar_synthesis_n_records(records));
    cli_json_count(&json, "combinations", cellar_synthesis_n_combinations(records));
    cli_json_end(&json, '}');
    return cellar_output_commit(output, err);
}

/* A damaged cube is refused as a cube, and not as a table of unknown format. */
static int is_named_cube(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && strcmp(path + length - 5, ".cube") == 0;
}

static int synthesize_main(const synthesize_values *values, const char *path)
{
    cellar_synthesis_options options = cellar_synthesis_options_default();
    cellar_synthesis_write_options write = cellar_synthesis_write_options_default();
    cellar_synthesis *records = NULL;
    cellar_error err;
    cellar_status status;

    options.ignore_margins = values->ignore_margins;
    if (values->max_records.given)
        options.max_records = values->max_records.value;
    write.labels = values->labels;
    write.language = values->language;
    write.count_column = values->count_column;
    write.shuffle = values->shuffle;
    write.neutralise_formulas = values->neutralise_formulas;
    write.replace = values->force;
    if (cellar_cube_is_file(path) || is_named_cube(path))
        return values->ignore_margins
                   ? cli_usage("--ignore-margins is for releases: a cube has no margins beside it")
                   : cli_synthesize_cube(values, path, &write);
    if (values->sets.given)
        return cli_usage("--sets is for cubes: a release has one set of records, those that its "
                         "values count. For intervals ask the release (cellar infer interval); "
                         "several sets are several releases, each drawn and charged by cellar "
                         "protect with a request of its own");
    if (values->records.given || values->max_table_cells.given || values->limit.given)
        return cli_usage("--records, --max-table-cells and --limit are for cubes: a release has "
                         "the records that its values count");
    status = cellar_synthesis_from_file(path, &options, &records, &err);
    if (status == CELLAR_OK)
        status = cellar_synthesis_write(records, values->path, &write, &err);
    if (status == CELLAR_OK)
        status = show(records, values, &err);
    cellar_synthesis_free(records);
    return cli_exit(status, &err);
}

int cli_synthesize(int argc, char **argv)
{
    synthesize_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&synthesize_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n != 1)
        result = cli_usage(
            "synthesize needs one file: a release, whole numbers made from some, or a cube");
    if (result == CLI_GO_ON && values.path == NULL)
        result = cli_usage("synthesize: name the file to write: -o people.csv");
    if (result == CLI_GO_ON && values.language != NULL && !values.labels)
        result = cli_usage("--language is for --labels");
    if (result == CLI_GO_ON)
        result = cli_reader_spare(words.items[0], values.path);
    if (result == CLI_GO_ON)
        result = synthesize_main(&values, words.items[0]);
    cli_words_clear(&words);
    cli_options_clear(&synthesize_command, &values);
    return result;
}
