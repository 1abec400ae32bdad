/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar ledger amplify: what the cap is for the population that a sample was drawn from. */
#include <stdio.h>

#include "json_out.h"
#include "ledger_out.h"

static const char *const schemes[] = {"poisson", "without-replacement"};
static const char PURPOSE[] =
    "For the whole cap: every release is charged its full cost, and amplified costs do not add.";

static void write_json(cli_json *json, const char *dataset, const cellar_sampling *sampling,
                       const cellar_amplified *amplified)
{
    const char *sentence;
    cli_json_begin(json, NULL, '{');
    cli_json_text(json, "dataset", dataset);
    cli_json_text(json, "sampling", schemes[sampling->scheme]);
    cli_json_real(json, "rate", sampling->rate);
    cli_json_real(json, "epsilon", amplified->epsilon);
    cli_json_real(json, "delta", amplified->delta);
    cli_json_text(json, "note", PURPOSE);
    cli_json_begin(json, "assumptions", '[');
    for (size_t i = 0; (sentence = cellar_sampling_assumption(sampling->scheme, i)) != NULL; i++)
        cli_json_text(json, NULL, sentence);
    cli_json_end(json, ']');
    cli_json_end(json, '}');
}

static void write_text(cellar_output *output, const char *dataset, const cellar_sampling *sampling,
                       const cellar_amplified *amplified)
{
    const char *sentence;
    cellar_output_printf(output,
                         "Dataset %s, a sample (%s, rate %.6g): for a %s of the population the "
                         "whole cap is epsilon %.6g, delta %.6g.\n%s\n\nThis assumes:\n",
                         dataset, schemes[sampling->scheme], sampling->rate, sampling->unit,
                         amplified->epsilon, amplified->delta, PURPOSE);
    for (size_t i = 0; (sentence = cellar_sampling_assumption(sampling->scheme, i)) != NULL; i++)
        cellar_output_printf(output, "- %s\n", sentence);
}

cellar_status cli_ledger_amplify(const cellar_ledger *ledger, const char *dataset,
                                 const cellar_sampling *sampling, int as_json, cellar_error *err)
{
    cli_json json = {0};
    cellar_amplified amplified;
    cellar_status status = cellar_ledger_amplify(ledger, dataset, sampling, &amplified, err);
    if (status == CELLAR_OK)
        status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    if (as_json)
        write_json(&json, dataset, sampling, &amplified);
    else
        write_text(json.output, dataset, sampling, &amplified);
    return cellar_output_commit(json.output, err);
}
