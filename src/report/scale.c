/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/scale.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCALE_WANTED_STEPS = 6 };

/* The largest of 1, 2, 5 times a power of ten that is not above `rough` by much. */
static double scale_step(double rough)
{
    const double power = pow(10, floor(log10(rough)));
    const double lead = rough / power;
    return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static void scale_fit_log(cellar_scale *scale, double low, double high)
{
    if (!(low > 0) || !(high > 0)) {
        low = 0.1;
        high = 1;
    }
    if (high / low < 10) { /* less than a decade tells little on such an axis */
        const double middle = sqrt(low) * sqrt(high);
        low = fmax(middle / 4, 1e-320);
        high = fmin(middle * 4, 1e308);
    }
    scale->low = low;
    scale->high = high;
}

static void scale_fit_linear(cellar_scale *scale, double low, double high)
{
    if (!isfinite(low) || !isfinite(high)) {
        low = 0;
        high = 1;
    }
    if (!(high - low > 1e-12 * fmax(fabs(low), fabs(high)))) { /* one value: room on both sides */
        const double room = low != 0 ? fabs(low) / 2 : 0.5;
        low -= room;
        high += room;
    }
    const double step = scale_step((high / SCALE_WANTED_STEPS) - (low / SCALE_WANTED_STEPS));
    scale->low = fmax(step * floor(low / step + 1e-9), -1.7e308);
    scale->high = fmin(step * ceil(high / step - 1e-9), 1.7e308);
}

void cellar_scale_fit(cellar_scale *scale, double low, double high)
{
    if (scale->log)
        scale_fit_log(scale, low, high);
    else
        scale_fit_linear(scale, low, high);
}

int cellar_scale_shows(const cellar_scale *scale, double value)
{
    return isfinite(value) && (!scale->log || value > 0);
}

double cellar_scale_place(const cellar_scale *scale, double value)
{
    double share;
    if (scale->log)
        share = (log(value) - log(scale->low)) / (log(scale->high) - log(scale->low));
    else
        share = (value / 2 - scale->low / 2) / (scale->high / 2 - scale->low / 2);
    share = fmin(fmax(share, -9), 10); /* far beyond the ends is as good as farther */
    return scale->from + share * (scale->to - scale->from);
}

static int scale_holds(const cellar_scale *scale, double value)
{
    const double slack = 1e-9;
    if (scale->log)
        return value >= scale->low * (1 - slack) && value <= scale->high * (1 + slack);
    const double room = slack * scale->high - slack * scale->low;
    return value >= scale->low - room && value <= scale->high + room;
}

static size_t scale_ticks_log(const cellar_scale *scale, double *ticks)
{
    static const double leads[] = {1, 2, 5};
    const int first = (int) floor(log10(scale->low)), last = (int) ceil(log10(scale->high));
    const int stride = (last - first + 9) / 10; /* decades between labels */
    const size_t n_leads = last - first <= 2 ? 3 : 1;
    size_t n = 0;
    for (int power = first; power <= last; power += stride)
        for (size_t i = 0; i < n_leads; i++) {
            const double tick = leads[i] * pow(10, power);
            if (scale_holds(scale, tick) && n < CELLAR_SCALE_MAX_TICKS)
                ticks[n++] = tick;
        }
    return n;
}

static size_t scale_ticks_linear(const cellar_scale *scale, double *ticks)
{
    const double step =
        scale_step(scale->high / SCALE_WANTED_STEPS - scale->low / SCALE_WANTED_STEPS);
    const double first = ceil(scale->low / step - 1e-9);
    size_t n = 0;
    while (n < CELLAR_SCALE_MAX_TICKS) {
        const double tick = (first + (double) n) * step;
        if (!scale_holds(scale, tick))
            break;
        ticks[n++] = fabs(tick) < step / 2 ? 0 : tick;
    }
    return n;
}

size_t cellar_scale_ticks(const cellar_scale *scale, double ticks[CELLAR_SCALE_MAX_TICKS])
{
    return scale->log ? scale_ticks_log(scale, ticks) : scale_ticks_linear(scale, ticks);
}

static void scale_superscript(int exponent, char out[16])
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[8];
    size_t used = 0;
    snprintf(plain, sizeof plain, "%d", exponent);
    for (const char *c = plain; *c != '\0'; c++) {
        const char *raised = *c == '-' ? "⁻" : digits[*c - '0'];
        memcpy(out + used, raised, strlen(raised));
        used += strlen(raised);
    }
    out[used] = '\0';
}

void cellar_scale_label(double tick, char label[32])
{
    const double size = fabs(tick);
    if (size == 0 || (size >= 9.9e-4 && size < 9.9e5)) {
        snprintf(label, 32, "%.6g", tick);
        return;
    }
    const double exponent = floor(log10(size) + 1e-9);
    const double lead = tick / pow(10, exponent);
    char power[16];
    scale_superscript((int) exponent, power);
    if (fabs(lead - 1) < 1e-6)
        snprintf(label, 32, "10%s", power);
    else
        snprintf(label, 32, "%.3g·10%s", lead, power);
}
