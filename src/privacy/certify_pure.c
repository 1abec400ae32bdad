/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pure epsilon and infinite loss of everything together. */
#include "privacy/certify.h"

#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "math/rational.h"

/* The pure epsilons of all parts a unit meets; in parallel the largest. */
cellar_status cellar_certify_pure(cellar_setting *s, cellar_error *err)
{
    fmpq_t total, one, most;
    double sum = 0, largest = 0;
    int exact = 1;
    cellar_text text = {0};
    fmpq_init(total);
    fmpq_init(one);
    fmpq_init(most);
    for (size_t i = 0; i < s->n; i++) {
        cellar_reach reach = cellar_setting_reach(s, i);
        double epsilon = 0;
        int is_exact = 0, found = 1;
        /* monotone ratios are furthest from 1 at their ends, where every step has its share */
        int is_last = s->mechanisms[i]->ops->is_additive || cellar_facts_monotone(s->mechanisms[i]);
        for (int64_t shift = is_last ? s->shift : 1; shift <= s->shift && found; shift++) {
            double other;
            reach.shift = shift;
            found = cellar_supremum_pure(&reach, &other, &is_exact, one);
            epsilon = fmax(epsilon, other);
        }
        if (!found)
            epsilon = INFINITY;
        exact &= is_exact && found && (s->shift == 1 || s->mechanisms[i]->ops->is_additive);
        sum = nextafter(sum + epsilon, INFINITY);
        largest = fmax(largest, epsilon);
        fmpq_add(total, total, one);
        if (fmpq_cmp(one, most) > 0)
            fmpq_set(most, one);
    }
    s->c->pure = (s->options->parallel ? largest
                  : s->n == 1          ? largest
                                       : sum) *
                 (double) (cellar_setting_parts_each(s) * s->group);
    if (cellar_setting_parts_each(s) * s->group > 1 || s->n > 1)
        s->c->pure = nextafter(s->c->pure, INFINITY);
    if (exact) {
        fmpq_mul_ui(total, s->options->parallel ? most : total,
                    cellar_setting_parts_each(s) * s->group);
        cellar_rational_add(&text, total);
        s->c->pure = cellar_rational_double(total);
        if (text.failed)
            cellar_text_clear(&text);
        s->c->pure_exact = text.bytes;
    }
    fmpq_clear(total);
    fmpq_clear(one);
    fmpq_clear(most);
    return exact && s->c->pure_exact == NULL ? cellar_fail_memory(err, "a certificate") : CELLAR_OK;
}

cellar_status cellar_certify_infinite(cellar_setting *s, cellar_error *err)
{
    double finite = 0, worst_log = 0, second = 0, total;
    for (size_t i = 0; i < s->n; i++) {
        cellar_reach reach = cellar_setting_reach(s, i);
        cellar_worst worst;
        double log_finite;
        cellar_setting_infinite(s, i, &worst);
        if (!worst.is_proved) {
            cellar_status status = cellar_certificate_judge(
                s->c, CELLAR_VERDICT_UNKNOWN, err, "nothing is proved about %s for large counts",
                cellar_mechanism_spec(reach.m));
            if (status != CELLAR_OK)
                return status;
        }
        log_finite = (double) s->options->n_cells * log1p(-fmin(worst.bound, 1));
        finite += log_finite * (double) cellar_setting_parts_each(s) / (double) s->options->n_cells;
        if (log_finite < worst_log) {
            second = worst_log;
            worst_log = log_finite;
        } else {
            second = fmin(second, log_finite);
        }
        s->c->infinite = worst.bound;
    }
    if (s->n == 1 && cellar_setting_parts_each(s) == 1)
        return CELLAR_OK;
    total = !s->options->parallel ? finite
            : s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE
                ? fmin(worst_log + second, 2 * worst_log)
                : worst_log;
    s->c->infinite = total < 0 ? fmin(1, -expm1(total) * (1 + 1e-12)) : 0;
    return CELLAR_OK;
}
