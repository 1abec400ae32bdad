/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of cellar infer share: reading releases and cubes, notes. */
#include <stdio.h>
#include <string.h>

#include <cellar/release_file.h>
#include <cellar/text.h>

#include "cube.h"
#include "infer.h"
#include "lists.h"

void infer_note(infer_answer *answer, const char *note)
{
    cli_words_add(&answer->notes, note, strlen(note));
}

void infer_note_population(infer_answer *answer)
{
    infer_note(answer,
               "The test is about the chances that made the counts, not about the people who "
               "were counted: of a census it asks whether a population such as this one "
               "would often look like this.");
}

int infer_real(const char *option, const char *text, double otherwise, double *out)
{
    *out = otherwise;
    return text != NULL ? cli_list_real(option, text, out) : CLI_GO_ON;
}

static int find_variables(const cellar_schema *schema, const cli_words *names, size_t *variables)
{
    for (size_t i = 0; i < names->n; i++) {
        const char *known[CELLAR_MAX_VARIABLES + 1] = {NULL}, *nearest;
        if (i >= CELLAR_MAX_VARIABLES)
            return cli_usage("too many variables");
        variables[i] = cellar_schema_find_variable(schema, names->items[i]);
        if (variables[i] != CELLAR_NO_CODE)
            continue;
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
            known[v] = cellar_schema_variable(schema, v);
        nearest = cellar_nearest_word(names->items[i], known);
        if (nearest != NULL)
            return cli_usage("the release has no variable '%s'; did you mean '%s'?",
                             names->items[i], nearest);
        return cli_usage("the release has no variable '%s'", names->items[i]);
    }
    return CLI_GO_ON;
}

static int read_release(const char *path, const cli_words *names, infer_source *source)
{
    size_t variables[CELLAR_MAX_VARIABLES];
    cellar_error err;
    cellar_status status =
        cellar_release_read(path, cellar_table_format_of_path(path), &source->release, &err);
    int result;
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    result = find_variables(cellar_release_schema(source->release), names, variables);
    if (result != CLI_GO_ON)
        return result;
    status = (source->is_pooled ? cellar_noisy_pooled_from_release : cellar_noisy_from_release)(
        source->release, names->n > 0 ? variables : NULL, names->n, &source->noisy, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

static int read_cube(const char *path, const cli_words *names, infer_source *source)
{
    cellar_cube_side sides[CELLAR_MAX_VARIABLES];
    cellar_error err;
    cellar_status status;
    int result = cli_cube_sides(names, sides);
    if (result != CLI_GO_ON)
        return result;
    if (names->n == 0)
        return cli_usage("a cube has many tables: name the variables, --columns a,b");
    status = cellar_cube_open(path, &source->cube, &err);
    if (status == CELLAR_OK)
        status = cellar_noisy_from_cube(source->cube, sides, names->n, &source->noisy, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit(status, &err);
}

int infer_read(const char *path, const cli_words *names, infer_source *source)
{
    if (source->is_pooled && cellar_cube_is_file(path))
        return cli_usage("--pooled is for a release; a cube is estimated from all its values");
    return cellar_cube_is_file(path) ? read_cube(path, names, source)
                                     : read_release(path, names, source);
}

void infer_source_clear(infer_source *source)
{
    cellar_noisy_free(source->noisy);
    cellar_release_free(source->release);
    cellar_cube_close(source->cube);
}

static void describe_cube(const cellar_noisy *noisy, infer_answer *answer)
{
    cli_results_text(&answer->header, "source", "a table of a cube");
    cli_results_text(&answer->header, "stands_in", cellar_noisy_mechanism(noisy));
    infer_note(answer,
               "Errors of cells of a cube are correlated. The statistic takes them for independent "
               "noise of the same variance; the bootstrap draws the noise of all measured tables "
               "again and estimates as the cube was, so that the p-value knows the correlations.");
}

static void describe_release(const cellar_release *release, const cellar_noisy *noisy,
                             infer_answer *answer)
{
    cli_results *header = &answer->header;
    cli_results_text(header, "mechanism", cellar_noisy_mechanism(noisy));
    cli_results_text(header, "negatives", cellar_negatives_name(cellar_noisy_negatives(noisy)));
    if (release != NULL && cellar_release_below(release) == CELLAR_BELOW_SUPPRESS) {
        cli_results_count(header, "suppressed_below", (uint64_t) cellar_release_threshold(release));
        infer_note(answer,
                   "A suppressed cell is known to be below the threshold, and nothing else: "
                   "what reckons with the noise uses just that. A naive test takes it "
                   "for 0.");
    }
    if (cellar_noisy_n_summed(noisy) > 1) {
        cli_results_count(header, "cells_summed", cellar_noisy_n_summed(noisy));
        infer_note(answer,
                   "The release has no such margin: its cells were summed, with the exact "
                   "distribution of the noise of the sums. A released margin would be more exact.");
    }
}

static void describe_pooled(const infer_source *source, infer_answer *answer)
{
    cli_results_text(&answer->header, "mechanism", cellar_release_mechanism(source->release));
    cli_results_text(&answer->header, "pooled", "yes");
    cli_results_text(&answer->header, "stands_in", cellar_noisy_mechanism(source->noisy));
    infer_note(answer,
               "Every cell is estimated from all values of the release, so that errors are "
               "correlated. The statistic takes them for independent noise of the same variance; "
               "the bootstrap draws all of the noise again, so that the p-value knows the "
               "correlations.");
}

void infer_describe_source(const infer_source *source, infer_answer *answer)
{
    if (source->is_pooled)
        describe_pooled(source, answer);
    else if (source->cube != NULL)
        describe_cube(source->noisy, answer);
    else
        describe_release(source->release, source->noisy, answer);
}
