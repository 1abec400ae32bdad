/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The losses of wide noise in doubles, where its law has a formula that loses nothing.
 *
 * q(k) = c e^{-rate |k|^p} on |k| <= last: the exponent is a double-word times an integer below
 * 2^53, so e to it is right to some roundings, and losses are multiples of the rate.
 *
 * Rounded normal noise, h = 1/sigma, z = h^2 k:
 *   q(k) = h / sqrt(2 pi) e^{-k^2 h^2 / 2} J(z), J(z) = int_{-1/2}^{1/2} cosh(z u) e^{-h^2 u^2 / 2}
 * du = sum_n c_n z^{2n}, c_n = 1/(2n)! int_{-1/2}^{1/2} u^{2n} e^{-h^2 u^2 / 2} du > 0. For |z| <=
 * 2 the terms from n = TERMS on are below 2/(2 TERMS + 1)! in all, that is 4e-20, and J is at least
 * 0.99 for h <= 1/4. Sums of positive terms: J is right to 2^-48. */
#include "privacy/atoms_noise.h"

#include <math.h>

#include "math/ball.h"
#include "mechanism/weighted.h"

enum { TERMS = 10, LAW_BITS = 128, SERIES = 12, MOST = 1 << 26 };
static const double Q_MIN = 0x1p-1020, Z_MAX = 2, H2_MAX = 0.0625;

typedef struct noise_law {
    int power; /* of |k| in the exponent */
    cellar_dword rate;
    int64_t last;
    double scale; /* q(0), or for normal noise h / sqrt(2 pi) */
    int is_normal;
    double c[TERMS];
} noise_law;

/* ---- the law ------------------------------------------------------------------------------- */

/* c_n = 2/(2n)! sum_j (-h^2/2)^j / j! (1/2)^{2n+2j+1} / (2n+2j+1): alternating, and falling by more
 * than a hundred. */
static void normal_coefficients(noise_law *law)
{
    double h2 = 2 * law->rate.high, factorial = 1;
    for (int n = 0; n < TERMS; n++) {
        double sum = 0, term = 2;
        factorial *= n > 0 ? (2.0 * n - 1) * (2.0 * n) : 1;
        for (int j = 0; j < SERIES; j++) {
            int power = 2 * n + 2 * j + 1;
            sum += term * ldexp(1, -power) / power;
            term *= -h2 / 2 / (j + 1);
        }
        law->c[n] = sum / factorial;
    }
}

static double normal_j(const noise_law *law, double k)
{
    double z = 2 * law->rate.high * k, square = z * z, sum = 0;
    for (int n = TERMS; n-- > 0;)
        sum = sum * square + law->c[n];
    return sum;
}

/* 1/(2 sigma^2), and the rest. */
static int normal_init(noise_law *law, const cellar_mechanism *m)
{
    const cellar_parameter *sigma = cellar_parameter_find(&m->parameters, "sigma");
    double error;
    fmpq_t rate;
    arb_t ball;
    fmpq_init(rate);
    arb_init(ball);
    fmpq_mul(rate, sigma->value, sigma->value);
    fmpq_add(rate, rate, rate);
    fmpq_inv(rate, rate);
    arb_set_fmpq(ball, rate, LAW_BITS);
    law->rate = cellar_dword_of_ball(ball, &error);
    law->scale = sqrt(law->rate.high / M_PI);
    law->power = 2;
    law->last = INT64_MAX;
    law->is_normal = 1;
    normal_coefficients(law);
    fmpq_clear(rate);
    arb_clear(ball);
    return error < 0x1p20 && 2 * law->rate.high <= H2_MAX;
}

static int weighted_init(noise_law *law, const cellar_mechanism *m)
{
    const cellar_weighted *w = (const cellar_weighted *) m;
    double error;
    arb_t ball;
    arb_init(ball);
    arb_set_fmpq(ball, w->rate, LAW_BITS);
    law->rate = cellar_dword_of_ball(ball, &error);
    m->ops->pmf_ball(m, 0, 0, LAW_BITS, ball);
    law->scale = arf_get_d(arb_midref(ball), ARF_RND_NEAR);
    law->power = w->power;
    law->last = w->last;
    arb_clear(ball);
    return error < 0x1p20;
}

static double integer_power(int64_t k, int power)
{
    double size = (double) (k < 0 ? -k : k);
    return power == 2 ? size * size : size;
}

/* q(k), right to 2^-47. */
static double law_q(const noise_law *law, int64_t k)
{
    double power = integer_power(k, law->power), high = law->rate.high * power;
    double low = fma(law->rate.high, power, -high) + law->rate.low * power;
    double weight = exp(-high) * (1 - low) * law->scale;
    return law->is_normal ? weight * normal_j(law, (double) k) : weight;
}

/* ---- atoms --------------------------------------------------------------------------------- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* |k'|^p - |k|^p for b = count + k = neighbour + k'. */
static int64_t loss_steps(const noise_law *law, const cellar_pair *pair, int64_t b)
{
    return (int64_t) (integer_power(b - pair->count[1], law->power) -
                      integer_power(b - pair->count[0], law->power));
}

/* Losses are steps times the rate: a lattice. */
static void noise_lattice(const cellar_pair *pair, cellar_atoms *atoms)
{
    const cellar_weighted *w = (const cellar_weighted *) pair->m;
    int64_t first = atoms->n > 0 ? atoms->index[0] : 0, spacing = 0;
    fmpz_t factor;
    if (atoms->n == 0)
        return;
    for (size_t i = 1; i < atoms->n; i++)
        spacing = gcd(atoms->index[i] - first, spacing);
    if (spacing == 0) /* one loss only */
        spacing = first != 0 ? first : 1;
    spacing = spacing < 0 ? -spacing : spacing;
    fmpz_init_set_si(factor, first);
    fmpq_mul_fmpz(atoms->offset, w->rate, factor);
    fmpz_set_si(factor, spacing);
    fmpq_mul_fmpz(atoms->spacing, w->rate, factor);
    fmpz_clear(factor);
    for (size_t i = 0; i < atoms->n; i++)
        atoms->index[i] = (atoms->index[i] - first) / spacing;
    atoms->is_lattice = 1;
}

static void noise_fill(const noise_law *law, const cellar_pair *pair, int64_t low, int64_t high,
                       cellar_atoms *atoms)
{
    double widest = 0;
    for (int64_t b = low; b <= high; b++) {
        int64_t k = b - pair->count[0], other = b - pair->count[1], steps;
        cellar_atom *atom = &atoms->items[atoms->n];
        if (k > law->last || -k > law->last)
            continue;
        atom->mass = law_q(law, k) * (1 + 0x1p-46);
        if (other > law->last || -other > law->last) {
            atoms->infinite += atom->mass * (1 + 0x1p-40);
            atoms->infinite_true += atom->mass * (1 - 0x1p-40);
            continue;
        }
        steps = loss_steps(law, pair, b);
        atom->loss = law->rate.high * (double) steps;
        if (law->is_normal)
            atom->loss += log(normal_j(law, (double) k) / normal_j(law, (double) other));
        atoms->index[atoms->n++] = law->is_normal ? b - low : steps;
        widest = fmax(widest, fabs(atom->loss));
    }
    atoms->loss_error = widest * 0x1p-50 + (law->is_normal ? 0x1p-45 : 0);
}

/* 1 when there is a formula for it. */
static int law_init(noise_law *law, const cellar_pair *pair)
{
    const cellar_facts *facts = pair->m->ops->facts;
    if (pair->clamped || (facts != &cellar_weighted_facts && facts != &cellar_gaussian_facts))
        return 0;
    return facts == &cellar_weighted_facts ? weighted_init(law, pair->m)
                                           : normal_init(law, pair->m);
}

void cellar_atoms_noise_trim(const cellar_pair *pair, int64_t *low, int64_t *high)
{
    const int64_t middle = pair->count[0];
    int64_t inside = 0, outside = (*high - middle > middle - *low ? *high - middle : middle - *low);
    noise_law law = {0};
    if (!law_init(&law, pair) || law.last != INT64_MAX || outside <= 0 || outside > MOST ||
        law_q(&law, outside) >= Q_MIN)
        return;
    while (outside - inside > 1) {
        int64_t k = inside + (outside - inside) / 2;
        if (law_q(&law, k) >= Q_MIN)
            inside = k;
        else
            outside = k;
    }
    *low = *low > middle - inside ? *low : middle - inside;
    *high = *high < middle + inside ? *high : middle + inside;
}

int cellar_atoms_by_noise(const cellar_pair *pair, int64_t low, int64_t high, cellar_atoms *atoms)
{
    int64_t ends[] = {low - pair->count[0], high - pair->count[0], low - pair->count[1],
                      high - pair->count[1]};
    noise_law law = {0};
    if (!law_init(&law, pair))
        return 0;
    for (size_t i = 0; i < 4; i++)
        if (integer_power(ends[i], law.power) > 0x1p52 || (i < 2 && law_q(&law, ends[i]) < Q_MIN) ||
            (law.is_normal && fabs(2 * law.rate.high * (double) ends[i]) > Z_MAX))
            return 0;
    noise_fill(&law, pair, low, high, atoms);
    if (!law.is_normal)
        noise_lattice(pair, atoms);
    return 1;
}
