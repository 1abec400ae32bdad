/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_out.h"
#include "utility.h"

/* ---- answers ---------------------------------------------------------------------- */

static void put_header(utility_run *run, const cellar_utility *u)
{
    cellar_association a = cellar_utility_original(u);
    if (run->header.n > 0)
        return;
    cli_results_begin(&run->header, "table");
    if (run->grid.specs.n <= 1)
        cli_results_text(&run->header, "mechanism", cellar_utility_mechanism(u));
    cli_results_count(&run->header, "cells", cellar_utility_n_cells(u));
    cli_results_count(&run->header, "copies", cellar_utility_n_copies(u));
    if (run->grid.specs.n > 0) {
        cli_results_count(&run->header, "seed", run->options.seed);
        cli_results_text(&run->header, "negatives", cellar_negatives_name(run->options.negatives));
    }
    cli_results_begin(&run->original, "original");
    cli_results_real(&run->original, "total", a.total);
    cli_results_real(&run->original, "chi_square", a.chi_square);
    cli_results_real(&run->original, "df", a.df);
    cli_results_real(&run->original, "g_square", a.g_square);
    cli_results_real(&run->original, "cramers_v", a.cramers_v);
    cli_results_real(&run->original, "p_value_chi_square", a.p_chi_square);
    cli_results_real(&run->original, "p_value_g_square", a.p_g_square);
}

void utility_put_place(const utility_run *run, size_t spec, const char *mechanism, double delta,
                       cli_results *results)
{
    if (run->grid.specs.n <= 1)
        return;
    cli_results_text(results, "mechanism", mechanism);
    for (size_t k = 0; k < run->grid.keys.n; k++)
        cli_results_real(results, run->grid.keys.items[k],
                         strtod(run->grid.values.items[spec * run->grid.keys.n + k], NULL));
    if (cli_vary_value(&run->grid, spec, "epsilon") != NULL)
        cli_results_real(results, "delta", delta);
}

static void put_result(cli_results *results, const cellar_utility_result *r)
{
    if (r->variables != NULL)
        cli_results_text(results, "variables", r->variables);
    if (r->count >= 0 || r->is_above) {
        cli_results_count(results, r->is_above ? "count_above" : "count",
                          r->count >= 0 ? (uint64_t) r->count : 0);
        cli_results_count(results, "cells", r->cells);
    }
    if (r->radius >= 0)
        cli_results_count(results, "r", (uint64_t) r->radius);
    cli_results_real(results, "original", r->original);
    cli_results_real(results, "mean", r->mean);
    cli_results_real(results, "sd", r->sd);
    cli_results_real(results, "expected", r->expected);
    cli_results_real(results, "minimum", r->minimum);
    cli_results_real(results, "quartile_1", r->quartile_1);
    cli_results_real(results, "median", r->median);
    cli_results_real(results, "quartile_3", r->quartile_3);
    cli_results_real(results, "maximum", r->maximum);
    cli_results_count(results, "copies", r->copies);
}

static void put_spread(cli_results *results, const cellar_utility_spread *s)
{
    static const char *const keys[CELLAR_UTILITY_N_LEVELS] = {
        "minimum",    "quantile_0.05", "quartile_1", "median",
        "quartile_3", "quantile_0.95", "maximum"};
    cli_results_text(results, "source", cellar_spread_source_name(s->source));
    if (s->count >= 0)
        cli_results_count(results, "count", (uint64_t) s->count);
    if (s->ways > 0)
        cli_results_count(results, "ways", s->ways);
    cli_results_real(results, "n", s->n);
    cli_results_real(results, "mean", s->mean);
    for (size_t k = 0; k < CELLAR_UTILITY_N_LEVELS; k++)
        cli_results_real(results, keys[k], s->quantiles[k]);
}

static void put_distance(cli_results *results, const cellar_utility_distance *d)
{
    static const char *const keys[CELLAR_UTILITY_N_DISTANCE_LEVELS] = {
        "minimum", "q10", "q20", "q30", "q40", "median", "q60",
        "q70",     "q80", "q90", "q95", "q99", "maximum"};
    cli_results_text(results, "cells", d->is_all ? "all" : "not released as zero");
    cli_results_count(results, "n", d->n);
    cli_results_real(results, "mean", d->mean);
    for (size_t k = 0; k < CELLAR_UTILITY_N_DISTANCE_LEVELS; k++)
        cli_results_real(results, keys[k], d->quantiles[k]);
}

static void put_note(utility_run *run, const char *note)
{
    if (cli_words_find(&run->notes, note) == (size_t) -1)
        cli_words_add(&run->notes, note, strlen(note));
}

/* The risk of one place in the grid, in rows of its own. */
static void put_risks(utility_run *run, size_t spec, double delta, const char *mechanism,
                      const utility_risk_point *point)
{
    const cellar_risk_summary *summaries[] = {&point->local, &point->expected};
    const cellar_risk_measure measures[] = {CELLAR_RISK_LOCAL, CELLAR_RISK_EXPECTED};
    for (size_t i = 0; i < 2; i++) {
        cli_results_begin(&run->risks, cellar_risk_measure_name(measures[i]));
        utility_put_place(run, spec, mechanism, delta, &run->risks);
        utility_risk_row(&run->risks, summaries[i]);
    }
    put_note(run, "risks are means over groups; read them beside precision and baseline (cellar "
                  "risk)");
    if (run->risk.is_lower_bound)
        put_note(run, "risks are lower bounds if all of the table is released: it holds margins or "
                      "further variables, with which an attacker can do more");
}

void utility_put_answer(utility_run *run, size_t spec, double delta, const cellar_utility *u,
                        const utility_risk_point *point)
{
    int with_notes = 1;
    put_header(run, u);
    if (!run->values->json && run->values->csv == 0)
        with_notes = utility_put_people(run, spec, delta, u);
    for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        cli_results_begin(&run->results, r->measure);
        utility_put_place(run, spec, cellar_utility_mechanism(u), delta, &run->results);
        if (point != NULL)
            utility_risk_columns(&run->results, point);
        put_result(&run->results, r);
    }
    if (point != NULL)
        put_risks(run, spec, delta, cellar_utility_mechanism(u), point);
    for (size_t i = 0; i < cellar_utility_n_spreads(u); i++) {
        const cellar_utility_spread *s = cellar_utility_spread_at(u, i);
        cli_results_begin(&run->spreads, s->measure);
        utility_put_place(run, spec, cellar_utility_mechanism(u), delta, &run->spreads);
        put_spread(&run->spreads, s);
    }
    for (size_t i = 0; i < cellar_utility_n_distances(u); i++) {
        const cellar_utility_distance *d = cellar_utility_distance_at(u, i);
        cli_results_begin(&run->distances, d->measure);
        utility_put_place(run, spec, cellar_utility_mechanism(u), delta, &run->distances);
        put_distance(&run->distances, d);
    }
    for (size_t i = 0; i < cellar_utility_n_notes(u) && with_notes; i++)
        put_note(run, cellar_utility_note(u, i));
}

/* ---- writing --------------------------------------------------------------------------- */

static void write_json(const utility_run *run, cellar_output *output)
{
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "assessment", "utility");
    cli_json_truth(&json, "confidential", 1);
    cli_results_json_header(&run->header, &json);
    cli_json_begin(&json, "original", '{');
    cli_results_json_header(&run->original, &json);
    cli_json_end(&json, '}');
    cli_results_json(&run->results, &json, "results");
    cli_results_json(&run->spreads, &json, "spreads");
    if (run->distances.n > 0)
        cli_results_json(&run->distances, &json, "distances");
    if (run->risks.n > 0)
        cli_results_json(&run->risks, &json, "risks");
    cli_json_begin(&json, "notes", '[');
    for (size_t i = 0; i < run->notes.n; i++)
        cli_json_text(&json, NULL, run->notes.items[i]);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

void utility_write(const utility_run *run, cellar_output *output)
{
    const cli_results *lists[] = {&run->results, &run->spreads, &run->distances};
    if (run->values->json)
        write_json(run, output);
    else if (run->values->csv > 0)
        cli_results_csv(lists[run->values->csv - 1], output);
    else
        utility_write_people(run, output);
}
