/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar certify: the guarantee of a mechanism, or of several released together. */
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/certificate.h>

#include "options.h"

enum { GRID_MAX = 100000 };
/* Keys of any range: what differencing reveals does not depend on it. */
static const uint64_t KEY_RANGE = UINT64_C(1000000000000000000);

typedef struct certify_values {
    const char *epsilon, *delta, *unit, *path;
    cli_words invariants;
    cli_number cells, max_weight, per_unit, min_count, population, effort;
    int neighbours, negatives, domain, choice, parallel, explain, force, json;
} certify_values;

#define AT(member) offsetof(certify_values, member)
static const cli_option certify_options[] = {
    SECTION("What to compute"),
    TEXT("epsilon", "LIST", epsilon, "delta at these, such as 0.5,1 or 0.01..10/50"),
    TEXT("delta", "LIST", delta, "epsilon at these"),
    NUMBER("effort", "N", effort, 0, 1000000,
           "look at N times 4 million released values for each figure, and take a proven bound for "
           "all larger counts after that; 0: no limit [1]"),
    SECTION("What one unit can change"),
    CHOICE("neighbours", "add-remove|substitute", neighbours,
           "whether a unit is in the data is hidden, or which categories it has [add-remove]"),
    NUMBER("cells", "D", cells, 1, 1000000,
           "released cells that one record touches, per mechanism [1]"),
    NUMBER("max-weight", "W", max_weight, 1, 1000000, "the largest weight of a record [1]"),
    NUMBER("per-unit", "M", per_unit, 1, 1000000, "the largest number of records of a unit [1]"),
    TEXT("unit", "NAME", unit, "what is protected, such as person [record]"),
    FLAG("parallel", parallel, "the mechanisms protect tables of different units"),
    SECTION("How it is released"),
    CHOICE("negatives", "keep|zero", negatives,
           "what becomes of released values below zero [keep]"),
    MANY("invariant", "NAME", invariants, "a true total that is published; may be repeated"),
    CHOICE("domain", "declared|drafted|asserted|observed", domain,
           "where the categories come from [declared]"),
    CHOICE("parameters", "in-advance|public-data|confidential-data", choice,
           "how the parameters were chosen"),
    NUMBER("min-count", "A", min_count, 0, 1000000,
           "no true count is below, which only the data can show"),
    NUMBER("population", "N", population, 1, 0,
           "units in the population: warn when delta is at least 1/N"),
    SECTION("Output"),
    FLAG("explain", explain, "say what the numbers mean, or carry out the attack"),
    OUTPUT(path, "write to a file [standard output]"),
    FLAG("force", force, "replace an existing file"),
    FLAG("json", json, "print JSON"),
    SECTION("Other"),
};

static const char *const certify_examples[] = {
    "cellar certify discrete-laplace:epsilon=1 --cells 7 --explain",
    "cellar certify truncated-laplace:epsilon=0.5,m=10 --epsilon 0.5 --negatives zero",
    "cellar certify discrete-gaussian:sigma=20 laplace:epsilon=0.1 --delta 1e-9 --json", NULL};

static const cli_command certify_command = {
    "certify",
    "SPEC... [options]",
    "Proves what a mechanism guarantees, or several released together: pure epsilon, delta at "
    "given "
    "epsilon and epsilon at given delta, for the worst of all counts. All numbers are proven upper "
    "bounds. A certificate that fails is still an answer.",
    certify_options,
    sizeof certify_options / sizeof certify_options[0],
    certify_examples};

/* ---- lists of decimals ------------------------------------------------------- */

/* LOW..HIGH/N: N points, evenly spaced in their logarithms. */
static int decimals_add_grid(const char *option, const char *text, cli_words *out)
{
    const char *dots = strstr(text, "..");
    double low, high;
    long n;
    char *end, number[40];
    snprintf(number, sizeof number, "%.*s", (int) (dots - text), text);
    low = strtod(number, &end);
    if (*end != '\0')
        low = -1;
    high = strtod(dots + 2, &end);
    n = *end == '/' ? strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || !(low > 0) || !(high > low) || !isfinite(high) || n < 2 || n > GRID_MAX)
        return cli_usage("--%s: a grid reads 0.01..10/50, got '%s'", option, text);
    for (long i = 0; i < n; i++) {
        double share = (double) i / (double) (n - 1);
        snprintf(number, sizeof number, "%.12g", exp(log(low) + share * (log(high) - log(low))));
        cli_words_add(out, number, strlen(number));
    }
    return CLI_GO_ON;
}

static int decimals_read(const char *option, const char *text, cli_words *out)
{
    cli_words parts = {0};
    int result = CLI_GO_ON;
    if (text == NULL)
        return CLI_GO_ON;
    cli_words_split(&parts, text, ',', 0);
    for (size_t i = 0; i < parts.n && result == CLI_GO_ON; i++) {
        if (strstr(parts.items[i], "..") != NULL)
            result = decimals_add_grid(option, parts.items[i], out);
        else
            cli_words_add(out, parts.items[i], strlen(parts.items[i]));
    }
    cli_words_clear(&parts);
    return result;
}

/* ---- the run -------------------------------------------------------------------- */

static cellar_certify_options certify_prepare(const certify_values *values,
                                              const cli_words *epsilons, const cli_words *deltas)
{
    static const cellar_domain domains[] = {CELLAR_DOMAIN_DECLARED, CELLAR_DOMAIN_DRAFTED,
                                            CELLAR_DOMAIN_ASSERTED,
                                            CELLAR_DOMAIN_OBSERVED}; /* as --domain lists them */
    cellar_certify_options o = cellar_certify_options_default();
    o.neighbours =
        values->neighbours == 2 ? CELLAR_NEIGHBOURS_SUBSTITUTE : CELLAR_NEIGHBOURS_ADD_REMOVE;
    o.negatives = values->negatives == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    if (values->domain > 0)
        o.domain = domains[values->domain - 1];
    o.choice = (cellar_parameter_choice) values->choice;
    o.n_cells = values->cells.given ? values->cells.value : 1;
    o.max_weight = values->max_weight.given ? values->max_weight.value : 1;
    o.max_per_unit = values->per_unit.given ? values->per_unit.value : 1;
    o.unit = values->unit;
    o.invariants = cli_words_items(&values->invariants);
    o.min_count = values->min_count.value;
    o.population = values->population.value;
    if (values->effort.given)
        o.effort = (double) values->effort.value;
    o.parallel = values->parallel;
    o.epsilons = cli_words_items(epsilons);
    o.n_epsilons = epsilons->n;
    o.deltas = cli_words_items(deltas);
    o.n_deltas = deltas->n;
    return o;
}

static int has_name(const char *spec, const char *name)
{
    size_t length = strlen(name);
    return strncmp(spec, name, length) == 0 && spec[length] == ':';
}

static cellar_status certify_dirichlet(const char *spec, const cellar_certify_options *options,
                                       cellar_certificate **out, cellar_error *err)
{
    cellar_dirichlet *dirichlet = NULL;
    cellar_status status = cellar_dirichlet_create(spec, &dirichlet, err);
    if (status == CELLAR_OK)
        status = cellar_certify_dirichlet(dirichlet, options, out, err);
    cellar_dirichlet_free(dirichlet);
    return status;
}

static cellar_status certify_cell_key(const char *spec, const cellar_certify_options *options,
                                      cellar_certificate **out, cellar_error *err)
{
    cellar_cell_key *cell_key = NULL;
    cellar_status status = cellar_cell_key_create(spec, KEY_RANGE, &cell_key, err);
    if (status == CELLAR_OK)
        status = cellar_certify_cell_key(cell_key, options, out, err);
    cellar_cell_key_free(cell_key);
    return status;
}

static cellar_status certify_make(const cli_words *specs, const cellar_certify_options *options,
                                  cellar_certificate **out, cellar_error *err)
{
    cellar_mechanism **mechanisms;
    cellar_certify_part *parts;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    for (size_t i = 0; i < specs->n; i++) /* with cell keys nothing else matters */
        if (has_name(specs->items[i], "cell-key"))
            return certify_cell_key(specs->items[i], options, out, err);
    if (specs->n == 1 && has_name(specs->items[0], "multinomial-dirichlet"))
        return certify_dirichlet(specs->items[0], options, out, err);
    mechanisms = cli_alloc(specs->n, sizeof *mechanisms);
    parts = cli_alloc(specs->n, sizeof *parts);
    for (size_t i = 0; i < specs->n && status == CELLAR_OK; i++) {
        status = cellar_mechanism_create(specs->items[i], &mechanisms[i], err);
        parts[i] = (cellar_certify_part){mechanisms[i], 1};
    }
    if (status == CELLAR_OK)
        status = cellar_certify(parts, specs->n, options, out, err);
    for (size_t i = 0; i < specs->n; i++)
        cellar_mechanism_free(mechanisms[i]);
    free(mechanisms);
    free(parts);
    return status;
}

static int certify_run(const certify_values *values, const cli_words *specs,
                       const cellar_certify_options *options)
{
    cellar_output_options how = cellar_output_options_default();
    const char *path = values->path != NULL ? values->path : "-";
    cellar_output *output = NULL;
    cellar_certificate *certificate = NULL;
    cellar_error err;
    cellar_status status;

    how.replace = values->force;
    how.shared = 1;
    status = cellar_output_open(path, &how, &output, &err);
    if (status == CELLAR_OK)
        status = certify_make(specs, options, &certificate, &err);
    if (status == CELLAR_OK && values->json)
        status = cellar_certificate_write_json(certificate, output, &err);
    else if (status == CELLAR_OK)
        cellar_certificate_write(certificate, values->explain, output);
    if (status == CELLAR_OK) {
        status = cellar_output_commit(output, &err);
        output = NULL;
    }
    cellar_output_discard(output);
    cellar_certificate_free(certificate);
    return cli_exit(status, &err);
}

int cli_certify(int argc, char **argv)
{
    certify_values values = {0};
    cli_words specs = {0}, epsilons = {0}, deltas = {0};
    int result = cli_options_parse(&certify_command, argc, argv, &values, &specs);

    if (result == CLI_GO_ON && specs.n == 0)
        result = cli_usage("certify: name a mechanism, such as discrete-laplace:epsilon=1");
    if (result == CLI_GO_ON)
        result = decimals_read("epsilon", values.epsilon, &epsilons);
    if (result == CLI_GO_ON)
        result = decimals_read("delta", values.delta, &deltas);
    if (result == CLI_GO_ON) {
        cellar_certify_options options = certify_prepare(&values, &epsilons, &deltas);
        result = certify_run(&values, &specs, &options);
    }
    cli_words_clear(&specs);
    cli_words_clear(&epsilons);
    cli_words_clear(&deltas);
    cli_options_clear(&certify_command, &values);
    return result;
}
