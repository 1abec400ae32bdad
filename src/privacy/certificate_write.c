/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a certificate: as JSON for programs, in sentences for a release committee. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"
#include "math/rational.h"
#include "privacy/certificate.h"

/* ---- JSON ------------------------------------------------------------------------ */

enum { JSON_DIGITS = 17 };

/* The 17 digits of a double lie a little off it: those of a bound, not on the wrong side. What few
 * digits tell was asked for, or is known exactly, and stays. */
static json_t *json_directed(double value, int is_up)
{
    char text[40];
    int side;
    fmpq_t printed, exact;
    if (!isfinite(value))
        return json_null();
    snprintf(text, sizeof text, "%.*g", CELLAR_FEW_DIGITS, value);
    if (strtod(text, NULL) == value)
        return json_real(value);
    snprintf(text, sizeof text, "%.*g", JSON_DIGITS, value);
    fmpq_init(printed);
    fmpq_init(exact);
    CELLAR_ASSERT(cellar_rational_parse(text, strlen(text), printed));
    cellar_rational_set_double(exact, value);
    side = fmpq_cmp(printed, exact);
    fmpq_clear(printed);
    fmpq_clear(exact);
    if (is_up ? side < 0 : side > 0)
        value = nextafter(value, is_up ? INFINITY : -INFINITY);
    return json_real(value);
}

static json_t *json_upper(double value)
{
    return json_directed(value, 1);
}

static json_t *json_lower(double value)
{
    return json_directed(value, 0);
}

static json_t *json_points(const cellar_certificate *c)
{
    json_t *array = json_array();
    for (size_t i = 0; i < c->n_points; i++) {
        const cellar_profile_point *p = &c->points[i];
        json_array_append_new(
            array,
            json_pack("{s:f, s:o, s:o, s:o, s:b, s:o, s:{s:I, s:I, s:b}}", "epsilon", p->epsilon,
                      "delta", json_upper(p->delta), "delta_lower", json_lower(p->delta_lower),
                      "delta_probabilistic", json_upper(p->delta_probabilistic),
                      "delta_probabilistic_is_bound", p->probabilistic_is_bound, "delta_published",
                      json_upper(p->delta_published), "worst_case", "count", (json_int_t) p->count,
                      "neighbour", (json_int_t) p->neighbour, "every_count", p->everywhere));
    }
    return array;
}

static json_t *json_epsilons(const cellar_certificate *c)
{
    json_t *array = json_array();
    for (size_t i = 0; i < c->n_epsilons; i++)
        json_array_append_new(array, json_pack("{s:f, s:o, s:o}", "delta", c->epsilons[i].delta,
                                               "epsilon", json_upper(c->epsilons[i].epsilon),
                                               "lower", json_lower(c->epsilons[i].lower)));
    return array;
}

static json_t *json_guarantee(const cellar_guarantee *g)
{
    return json_pack("{s:o, s:o}", "epsilon", json_upper(g->epsilon), "delta",
                     json_upper(g->delta));
}

static json_t *json_composition(const cellar_certificate *c)
{
    const cellar_composition *comp = &c->composition;
    return json_pack(
        "{s:I, s:o, s:o, s:{s:o, s:o, s:o, s:o, s:b}, s:o}", "parts", (json_int_t) comp->n_parts,
        "basic", json_guarantee(&comp->basic), "advanced", json_guarantee(&comp->advanced), "tight",
        "epsilon", json_upper(comp->tight.epsilon), "delta", json_upper(comp->tight.delta), "lower",
        json_lower(comp->lower), "gap", json_upper(comp->tight.epsilon - comp->lower), "tight",
        comp->is_tight, "rho", json_upper(comp->rho));
}

static json_t *json_texts(char *const *texts, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_string(texts[i]));
    return array;
}

static json_t *json_mechanisms(const cellar_certificate *c)
{
    json_t *array = json_array();
    for (size_t i = 0; i < c->n_specs; i++)
        json_array_append_new(array, json_pack("{s:s, s:I}", "mechanism", c->specs[i], "revision",
                                               (json_int_t) c->revisions[i]));
    return array;
}

/* The cells that one record lies in, of all mechanisms together. Substitution changes two for each,
 * and a joint mechanism is one part. */
static uint64_t cells_in_all(const cellar_certificate *c)
{
    const int sides = c->options.neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1;
    const uint64_t cells = c->composition.n_parts / (uint64_t) sides;
    return cells > c->options.n_cells ? cells : c->options.n_cells;
}

json_t *cellar_certificate_json(const cellar_certificate *c)
{
    const cellar_certify_options *o = &c->options;
    return json_pack(
        "{s:s, s:s?, s:o, s:s, s:s, s:I, s:I, s:I, s:o, s:s, s:s, s:s, s:I, s:b, s:o, s:s?, s:o, "
        "s:o, s:o, s:o, s:b, s:o, s:o}",
        "verdict", cellar_verdict_name(c->verdict), "reason", c->reason, "mechanisms",
        json_mechanisms(c), "neighbours", cellar_neighbours_name(o->neighbours), "unit", c->unit,
        "cells_per_unit", (json_int_t) cells_in_all(c), "records_per_unit",
        (json_int_t) o->max_per_unit, "max_weight", (json_int_t) o->max_weight, "invariants",
        json_texts(c->invariants, c->n_invariants), "domain", cellar_domain_name(o->domain),
        "negatives", o->negatives == CELLAR_NEGATIVES_ZERO ? "zero" : "keep", "parameter_choice",
        cellar_parameter_choice_name(o->choice), "min_count", (json_int_t) o->min_count, "parallel",
        o->parallel, "pure_epsilon", json_upper(c->pure), "pure_epsilon_exact", c->pure_exact,
        "infinite_loss", json_upper(c->infinite), "profile", json_points(c), "epsilon_at",
        json_epsilons(c), "composition", json_composition(c), "checked", c->is_checked,
        "difference", c->is_cell_key ? json_upper(c->difference) : json_null(), "warnings",
        json_texts(c->warnings, c->n_warnings));
}

cellar_status cellar_certificate_write_json(const cellar_certificate *c, cellar_output *output,
                                            cellar_error *err)
{
    json_t *object = cellar_certificate_json(c);
    char *text =
        object != NULL ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(JSON_DIGITS)) : NULL;
    json_decref(object);
    if (text == NULL)
        return cellar_fail_memory(err, "a certificate");
    cellar_output_string(output, text);
    cellar_output_string(output, "\n");
    free(text); /* jansson's own */
    return CELLAR_OK;
}

/* ---- words ------------------------------------------------------------------------- */

/* Evett's scale of the strength of evidence (Evett, Jackson, Lambert and McCrossan 2000). */
static const char *evett_word(double ratio)
{
    static const struct {
        double up_to;
        const char *word;
    } scale[] = {{1, "no"},
                 {10, "limited"},
                 {100, "moderate"},
                 {1000, "moderately strong"},
                 {10000, "strong"}};
    for (size_t i = 0; i < sizeof scale / sizeof *scale; i++)
        if (ratio <= scale[i].up_to)
            return scale[i].word;
    return "very strong";
}

/* What epsilon means to somebody who suspects something of a person. To have one category and not
 * another is to be taken out and put back elsewhere: under add-remove it counts twice. */
static void write_meaning(double epsilon, double delta, cellar_neighbours neighbours,
                          cellar_output *output)
{
    const int twice = neighbours != CELLAR_NEIGHBOURS_SUBSTITUTE;
    const double ratio = exp(epsilon);
    char bound[32], squared[32], said[32], left_out[32];
    cellar_bound_text(ratio, bound);
    cellar_output_printf(output, "  epsilon %s", cellar_bound_text(epsilon, said));
    if (delta > 0)
        cellar_output_printf(output, " at delta %s, but for what delta leaves out",
                             cellar_bound_text(delta, left_out));
    cellar_output_printf(
        output,
        ": any released value is at most %s times as likely %s.\n  "
        "Even odds (1 : 1) %s become at most %s : 1, a\n  probability of %.1f %% "
        "instead of 50 %%: %s support on Evett's scale of evidence.\n",
        bound, twice ? "with the unit as without it" : "with one unit as with another",
        twice ? "that the unit is in the data" : "on which of two categories the unit has", bound,
        ceil(1000 / (1 + exp(-epsilon))) / 10, evett_word(ratio));
    if (twice)
        cellar_output_printf(output,
                             "  Which category a unit in the data has counts twice: at most "
                             "%s : 1%s.\n",
                             cellar_bound_text(exp(2 * epsilon), squared),
                             delta > 0 ? ", with delta 1 + e^epsilon times as large" : "");
}

static void write_setting(const cellar_certificate *c, cellar_output *output)
{
    const cellar_certify_options *o = &c->options;
    for (size_t i = 0; i < c->n_specs; i++)
        cellar_output_printf(output, "mechanism         %s (revision %" PRIu32 ")\n", c->specs[i],
                             c->revisions[i]);
    cellar_output_printf(
        output, "unit              %s, at most %" PRIu64 " record%s, weight at most %" PRIu64 "\n",
        c->unit, o->max_per_unit, o->max_per_unit == 1 ? "" : "s", o->max_weight);
    cellar_output_printf(output, "neighbours        %s\n", cellar_neighbours_name(o->neighbours));
    cellar_output_printf(output, "cells per record  %" PRIu64 "%s\n", cells_in_all(c),
                         o->parallel      ? ", in one of the tables"
                         : c->n_specs > 1 ? " in all"
                                          : "");
    cellar_output_printf(output, "domain            %s\n", cellar_domain_name(o->domain));
    cellar_output_printf(output, "negatives         %s\n",
                         o->negatives == CELLAR_NEGATIVES_ZERO ? "zero" : "keep");
    cellar_output_printf(output, "parameters        %s\n", cellar_parameter_choice_name(o->choice));
    for (size_t i = 0; i < c->n_invariants; i++)
        cellar_output_printf(output, "invariant         %s\n", c->invariants[i]);
}

/* 1: one cell of one mechanism, drawn by itself, changes by one record. */
static int is_one_cell(const cellar_certificate *c)
{
    return c->n_specs == 1 && c->options.max_per_unit == 1 && c->options.n_cells == 1 &&
           c->options.neighbours != CELLAR_NEIGHBOURS_SUBSTITUTE;
}

/* 1 when delta may be clearly smaller than what is said. Composition is close to a hundredth at
 * least where it is tight. */
static int point_is_bound(const cellar_certificate *c, const cellar_profile_point *p)
{
    const double close = is_one_cell(c) ? 1 - 1e-6 : 0.99;
    return p->delta_lower < close * p->delta && !(is_one_cell(c) && p->everywhere);
}

/* One epsilon that was asked for, rounded up like what is said of it. */
static void write_point(const cellar_certificate *c, const cellar_profile_point *p,
                        cellar_output *output)
{
    char epsilon[32], delta[32];
    cellar_output_printf(output, "epsilon %-10s delta %s%s", cellar_bound_text(p->epsilon, epsilon),
                         point_is_bound(c, p) ? "at most " : "",
                         cellar_upper_text(p->delta, delta));
    if (!isnan(p->delta_probabilistic))
        cellar_output_printf(output, "  probabilistic %s%s",
                             p->probabilistic_is_bound ? "at most " : "",
                             cellar_upper_text(p->delta_probabilistic, delta));
    if (!isnan(p->delta_published))
        cellar_output_printf(output, "  published %s",
                             cellar_upper_text(p->delta_published, delta));
    if (p->everywhere)
        cellar_output_string(output, "  (any count)\n");
    else if (is_one_cell(c) && point_is_bound(c, p))
        cellar_output_string(output, "  (all counts)\n");
    else
        cellar_output_printf(output, "  (worst: %" PRId64 " against %" PRId64 ")\n", p->count,
                             p->neighbour);
}

static void write_findings(const cellar_certificate *c, cellar_output *output)
{
    char delta[32], epsilon[32], lower[32];
    cellar_output_printf(output, "pure epsilon      %s\n",
                         isfinite(c->pure) ? cellar_upper_text(c->pure, epsilon) : "none");
    cellar_output_printf(output, "infinite loss     %s\n", cellar_upper_text(c->infinite, delta));
    for (size_t i = 0; i < c->n_points; i++)
        write_point(c, &c->points[i], output);
    for (size_t i = 0; i < c->n_epsilons; i++)
        cellar_output_printf(output, "delta %-12s epsilon %s (not below %s)\n",
                             cellar_bound_text(c->epsilons[i].delta, delta),
                             cellar_upper_text(c->epsilons[i].epsilon, epsilon),
                             cellar_lower_text(c->epsilons[i].lower, lower));
}

static void write_guarantee(const char *name, const cellar_guarantee *g, cellar_output *output)
{
    char epsilon[32], delta[32];
    if (!isnan(g->epsilon))
        cellar_output_printf(output, "%-17s epsilon %s, delta %s\n", name,
                             cellar_upper_text(g->epsilon, epsilon),
                             cellar_upper_text(g->delta, delta));
}

static void write_composition(const cellar_certificate *c, cellar_output *output)
{
    const cellar_composition *comp = &c->composition;
    char text[32];
    if (comp->n_parts > 1) {
        cellar_output_printf(output, "composed of       %" PRIu64 " parts\n", comp->n_parts);
        write_guarantee("  basic", &comp->basic, output);
        write_guarantee("  advanced", &comp->advanced, output);
        write_guarantee(comp->is_tight ? "  tight" : "  best known", &comp->tight, output);
        if (comp->is_tight && isfinite(comp->tight.epsilon - comp->lower)) /* neither is infinite */
            cellar_output_printf(output, "  lower bound     epsilon %s (gap %.2g)\n",
                                 cellar_lower_text(comp->lower, text),
                                 comp->tight.epsilon - comp->lower);
    }
    if (!isnan(comp->rho))
        cellar_output_printf(output, "rho (zCDP)        %s\n", cellar_upper_text(comp->rho, text));
}

/* The differencing attack on cell keys, carried out. */
static void write_attack(const cellar_certificate *c, cellar_output *output)
{
    uint64_t n = c->difference_count;
    cellar_output_printf(
        output,
        "\nThe attack, carried out\n  The attacker wants to know whether Ada is among the "
        "unemployed of her village. He asks\n  for two counts: the unemployed of the village, and "
        "the unemployed of the village who\n  are not Ada's age, sex and occupation, a description "
        "that fits nobody else.\n  If Ada is not unemployed, both cells hold the same records. The "
        "same records have the\n  same cell key, and the same key and count give the same "
        "perturbation: the two\n  released values are equal, with certainty.\n  If she is, the "
        "first cell has one record more, so another key and another count. With\n  a true count of "
        "%" PRIu64 " without her, and %" PRIu64
        " with her, the two released\n  values differ with probability %.6g.\n  Two different "
        "values therefore prove that Ada is unemployed; no epsilon bounds that.\n  Two equal "
        "values are evidence against it: %.4g times as likely if she is not.\n  Asking again does "
        "not help to average the noise away, which is what cell keys are for.\n",
        n, n + 1, c->difference, 1 / fmax(1 - c->difference, 1e-12));
}

static void write_explanation(const cellar_certificate *c, cellar_output *output)
{
    const cellar_composition *comp = &c->composition;
    cellar_output_string(output, "\nWhat this means\n");
    if (isfinite(c->pure))
        write_meaning(c->pure, 0, c->options.neighbours, output);
    else if (isfinite(comp->tight.epsilon))
        write_meaning(comp->tight.epsilon, comp->tight.delta, c->options.neighbours, output);
    for (size_t i = 0; i < c->n_points; i++)
        if (c->points[i].epsilon != comp->tight.epsilon && !isfinite(c->pure))
            write_meaning(c->points[i].epsilon, c->points[i].delta, c->options.neighbours, output);
    if (!isfinite(c->pure))
        cellar_output_string(
            output,
            "  delta bounds what exceeds that: an event that has probability p without the unit "
            "has\n  at most e^epsilon p + delta with it. The probabilistic delta is the "
            "probability of a\n  released value whose likelihood ratio exceeds e^epsilon.\n");
    cellar_output_string(output,
                         "  The guarantee is about what the release adds to whatever else is "
                         "known. It does not say\n"
                         "  that nothing can be learned about the group a person belongs to.\n");
}

void cellar_certificate_write(const cellar_certificate *c, int explain, cellar_output *output)
{
    cellar_output_printf(output, "verdict           %s\n", cellar_verdict_name(c->verdict));
    if (c->reason != NULL)
        cellar_output_printf(output, "                  %s\n", c->reason);
    write_setting(c, output);
    if (!c->is_cell_key) {
        write_findings(c, output);
        write_composition(c, output);
    }
    for (size_t i = 0; i < c->n_warnings; i++)
        cellar_output_printf(output, "warning           %s\n", c->warnings[i]);
    if (explain && c->is_cell_key)
        write_attack(c, output);
    else if (explain)
        write_explanation(c, output);
}
