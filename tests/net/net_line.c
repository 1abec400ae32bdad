/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "net_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t KEY_RANGE = UINT64_C(1000000000000000000); /* any one will do */

static const char *const words[NET_KINDS] = {"delta", "delta_p",  "epsilon", "tight",
                                             "pure",  "infinite", "rho"};

const char *net_kind_word(net_kind kind)
{
    return words[kind];
}

/* ---- reading ------------------------------------------------------------------- */

/* KIND AT LOWER UPPER [VALUE] */
static int read_claim(char *text, net_claim *out)
{
    double *const numbers[] = {&out->at, &out->lower, &out->upper, &out->independent};
    char *rest = NULL, *kind = strtok_r(text, " ", &rest), *number;
    size_t n = 0;
    out->independent = 0;
    for (; n < 4 && (number = strtok_r(NULL, " ", &rest)) != NULL; n++) {
        char *end;
        *numbers[n] = strtod(number, &end);
        if (*end != '\0')
            return 0;
    }
    for (int i = 0; i < NET_KINDS && n >= 3; i++)
        if (strcmp(kind, words[i]) == 0) {
            out->kind = (net_kind) i;
            return 1;
        }
    return 0;
}

static size_t split_list(char *text, const char **out)
{
    char *rest = NULL;
    size_t n = 0;
    for (char *one = strtok_r(text, ",", &rest); one != NULL && n < NET_LIST;
         one = strtok_r(NULL, ",", &rest))
        out[n++] = one;
    return n;
}

/* The value of an option of `cellar certify`. */
static int read_option(const char *name, char *value, net_line *out)
{
    cellar_certify_options *o = &out->options;
    const struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {{"--cells", &o->n_cells},
                   {"--max-weight", &o->max_weight},
                   {"--per-unit", &o->max_per_unit},
                   {"--min-count", &o->min_count},
                   {"--population", &o->population}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return (int) (*numbers[i].number = strtoull(value, NULL, 10)) != 0;
    if (strcmp(name, "--epsilon") == 0)
        return (o->n_epsilons = split_list(value, out->epsilons)) > 0;
    if (strcmp(name, "--delta") == 0)
        return (o->n_deltas = split_list(value, out->deltas)) > 0;
    if (strcmp(name, "--neighbours") == 0 && strcmp(value, "substitute") == 0)
        return (int) (o->neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE);
    if (strcmp(name, "--negatives") == 0 && strcmp(value, "zero") == 0)
        return (int) (o->negatives = CELLAR_NEGATIVES_ZERO);
    return 0;
}

static int read_words(char *text, net_line *out)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *value = NULL;
        if (strcmp(word, "--parallel") == 0)
            out->options.parallel = 1;
        else if (word[0] != '-' && out->n_specs < NET_LIST)
            out->specs[out->n_specs++] = word;
        else if ((value = strtok_r(NULL, " ", &rest)) == NULL || !read_option(word, value, out))
            return 0;
    }
    out->options.epsilons = out->epsilons;
    out->options.deltas = out->deltas;
    return out->n_specs > 0;
}

int net_line_read(char *text, net_line *out)
{
    char *rest = NULL, *line = strtok_r(text, ";\n", &rest);
    *out = (net_line){.options = cellar_certify_options_default()};
    for (char *said = strtok_r(NULL, ";\n", &rest); said != NULL;
         said = strtok_r(NULL, ";\n", &rest))
        if (out->n_claims == NET_CLAIMS || !read_claim(said, &out->claims[out->n_claims++]))
            return 0;
    return line != NULL && read_words(line, out);
}

/* ---- certifying ------------------------------------------------------------------- */

static cellar_status certify_dirichlet(const net_line *line, cellar_certificate **out,
                                       cellar_error *err)
{
    cellar_dirichlet *d = NULL;
    cellar_status status = cellar_dirichlet_create(line->specs[0], &d, err);
    if (status == CELLAR_OK)
        status = cellar_certify_dirichlet(d, &line->options, out, err);
    cellar_dirichlet_free(d);
    return status;
}

static cellar_status certify_cell_key(const net_line *line, cellar_certificate **out,
                                      cellar_error *err)
{
    cellar_cell_key *k = NULL;
    cellar_status status = cellar_cell_key_create(line->specs[0], KEY_RANGE, &k, err);
    if (status == CELLAR_OK)
        status = cellar_certify_cell_key(k, &line->options, out, err);
    cellar_cell_key_free(k);
    return status;
}

cellar_status net_line_certify(const net_line *line, cellar_certificate **out, cellar_error *err)
{
    cellar_mechanism *mechanisms[NET_LIST] = {NULL};
    cellar_certify_part parts[NET_LIST];
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (strncmp(line->specs[0], "multinomial-dirichlet:", 22) == 0)
        return certify_dirichlet(line, out, err);
    if (strncmp(line->specs[0], "cell-key:", 9) == 0)
        return certify_cell_key(line, out, err);
    for (size_t i = 0; i < line->n_specs && status == CELLAR_OK; i++) {
        status = cellar_mechanism_create(line->specs[i], &mechanisms[i], err);
        parts[i] = (cellar_certify_part){mechanisms[i], 1};
    }
    if (status == CELLAR_OK)
        status = cellar_certify(parts, line->n_specs, &line->options, out, err);
    for (size_t i = 0; i < line->n_specs; i++)
        cellar_mechanism_free(mechanisms[i]);
    return status;
}

/* ---- what a certificate says --------------------------------------------------------- */

static int find_point(const cellar_certificate *c, net_claim *out)
{
    for (size_t i = 0; i < cellar_certificate_n_points(c); i++) {
        const cellar_profile_point p = cellar_certificate_point(c, i);
        if (p.epsilon != out->at)
            continue;
        out->lower = out->kind == NET_DELTA ? p.delta_lower : 0;
        out->upper = out->kind == NET_DELTA ? p.delta : p.delta_probabilistic;
        if (out->kind == NET_DELTA_P && !p.probabilistic_is_bound)
            out->lower = p.delta_probabilistic;
        return !isnan(out->upper);
    }
    return 0;
}

static int find_epsilon(const cellar_certificate *c, net_claim *out)
{
    for (size_t i = 0; i < cellar_certificate_n_epsilons(c); i++) {
        const cellar_epsilon_at e = cellar_certificate_epsilon_at(c, i);
        if (e.delta != out->at)
            continue;
        out->lower = e.lower;
        out->upper = e.epsilon;
        return 1;
    }
    return 0;
}

int net_claim_find(const cellar_certificate *certificate, const net_claim *asked, net_claim *out)
{
    const cellar_composition comp = cellar_certificate_composition(certificate);
    *out = (net_claim){.kind = asked->kind, .at = asked->at};
    switch (asked->kind) {
    case NET_DELTA:
    case NET_DELTA_P:
        return find_point(certificate, out);
    case NET_EPSILON:
        return find_epsilon(certificate, out);
    case NET_TIGHT:
        out->lower = isnan(comp.lower) ? 0 : comp.lower;
        out->upper = comp.tight.epsilon;
        return fabs(comp.tight.delta - asked->at) <= 1e-15 * asked->at && !isnan(out->upper);
    case NET_PURE:
        out->upper = cellar_certificate_pure_epsilon(certificate);
        return 1;
    case NET_INFINITE:
        out->upper = cellar_certificate_infinite(certificate);
        return 1;
    default:
        out->upper = comp.rho;
        return !isnan(out->upper);
    }
}
