/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of any mechanism with any parameters: none may abort, and every answer is a pair of
 * bounds in the right order. Bytes are drawn from in turn, so that every input is a certificate. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include <cellar/certificate.h>

#include "base/error.h"
#include "math/flint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct source {
    const uint8_t *data;
    size_t size;
} source;

static unsigned draw(source *s)
{
    if (s->size == 0)
        return 0;
    s->size--;
    return *s->data++;
}

/* A decimal between 10^low and 10^high. */
static void draw_number(source *s, int low, int high, char *out, size_t size)
{
    const int range = high - low;
    snprintf(out, size, "%u.%ue%d", 1 + draw(s) % 9, draw(s), low + (int) draw(s) % (range + 1));
}

/* One parameter: its name, and powers of ten between which it is drawn; high < low: a whole number.
 */
typedef struct range {
    const char *name;
    int low, high;
} range;

static void draw_spec(source *s, char *out, size_t size)
{
    static const struct {
        const char *name;
        range of[3];
    } kinds[] = {
        {"laplace", {{"epsilon", -3, 2}}},
        {"discrete-laplace", {{"epsilon", -3, 2}}},
        {"gaussian", {{"sigma", -2, 3}}},
        {"discrete-gaussian", {{"sigma", -2, 3}}},
        {"poisson", {{"alpha", -4, 5}}},
        {"poisson-zeros", {{"alpha", -4, -1}}},
        {"gamma", {{"alpha", -3, 0}, {"sigma", 0, 0}}},
        {"negbin", {{"alpha", -3, 5}, {"sigma", -4, 1}}},
        {"pig", {{"alpha", -3, 5}, {"sigma", -4, 1}}},
        {"sichel", {{"alpha", -3, 5}, {"sigma", -4, 1}, {"nu", -1, 1}}},
        {"delaporte", {{"alpha", -3, 5}, {"sigma", -4, 1}, {"nu", -9, -2}}},
        {"hellinger", {{"epsilon", -2, 1}}},
        {"truncated-laplace", {{"epsilon", -4, 1}, {"m", 1, 0}}},
        {"truncated-normal", {{"epsilon", -3, 1}, {"m", 1, 0}}},
        {"round", {{"base", 1, 0}}},
        {"identity", {{NULL, 0, 0}}},
    };
    const size_t k = draw(s) % (sizeof kinds / sizeof *kinds);
    size_t length = (size_t) snprintf(out, size, "%s", kinds[k].name);
    for (size_t i = 0; i < 3 && kinds[k].of[i].name != NULL; i++) {
        const range *r = &kinds[k].of[i];
        char number[32];
        if (r->high < r->low)
            snprintf(number, sizeof number, "%u", 1 + draw(s) * (1 + draw(s)));
        else
            draw_number(s, r->low, r->high, number, sizeof number);
        length += (size_t) snprintf(out + length, size - length, "%c%s=%s", i > 0 ? ',' : ':',
                                    r->name, number);
    }
}

static void check(const cellar_certificate *c)
{
    for (size_t i = 0; i < cellar_certificate_n_points(c); i++) {
        const cellar_profile_point p = cellar_certificate_point(c, i);
        CELLAR_ASSERT(p.delta >= 0 && p.delta <= 1);
        CELLAR_ASSERT(p.delta_lower >= 0 && p.delta_lower <= p.delta);
        CELLAR_ASSERT(p.delta_probabilistic >= p.delta_lower && p.delta_probabilistic <= 1);
    }
    for (size_t i = 0; i < cellar_certificate_n_epsilons(c); i++) {
        const cellar_epsilon_at at = cellar_certificate_epsilon_at(c, i);
        CELLAR_ASSERT(at.epsilon >= 0 && at.lower <= at.epsilon);
    }
    CELLAR_ASSERT(cellar_certificate_pure_epsilon(c) >= 0);
    CELLAR_ASSERT(cellar_certificate_infinite(c) >= 0 && cellar_certificate_infinite(c) <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PARTS_MAX = 3 };
    source s = {data, size};
    char spec[128], epsilon[32], delta[32];
    const char *epsilons[] = {epsilon}, *deltas[] = {delta};
    cellar_mechanism *mechanisms[PARTS_MAX] = {NULL};
    cellar_certify_part parts[PARTS_MAX];
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_error err = {""};
    size_t n = 0, wanted = 1 + draw(&s) % PARTS_MAX;
    for (; n < wanted; n++) {
        draw_spec(&s, spec, sizeof spec);
        if (cellar_mechanism_create(spec, &mechanisms[n], &err) != CELLAR_OK)
            break;
        parts[n] = (cellar_certify_part){mechanisms[n], 1 + draw(&s)};
    }
    options.n_cells = 1 + draw(&s) % 4;
    options.max_weight = 1 + draw(&s) % 4;
    options.max_per_unit = 1 + draw(&s) % 3;
    options.neighbours = (cellar_neighbours) (1 + draw(&s) % 2);
    options.negatives = (cellar_negatives) (1 + draw(&s) % 2);
    options.min_count = draw(&s) % 8 == 0 ? (uint64_t) draw(&s) * draw(&s) * 15 : 0;
    options.parallel = draw(&s) % 8 == 0;
    options.effort = 0.01; /* counted work: no input takes long */
    draw_number(&s, -3, 3, epsilon, sizeof epsilon);
    draw_number(&s, -300, -2, delta, sizeof delta);
    options.epsilons = epsilons;
    options.deltas = deltas;
    options.n_epsilons = draw(&s) % 2;
    options.n_deltas = draw(&s) % 2;
    if (n > 0 && cellar_certify(parts, n, &options, &c, &err) == CELLAR_OK)
        check(c);
    else
        CELLAR_ASSERT(n == 0 || err.message[0] != '\0');
    cellar_certificate_free(c);
    for (size_t i = 0; i < n; i++)
        cellar_mechanism_free(mechanisms[i]);
    flint_cleanup();
    return 0;
}
