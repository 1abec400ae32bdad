/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/metrics.h"

#include <inttypes.h>

static const int codes[SERVE_STATUS_CODES - 1] = {200, 201, 204, 301, 303, 304, 400, 401,
                                                  403, 404, 405, 413, 429, 500, 503};

const char *serve_decision_text(serve_decision decision)
{
    static const char *const texts[] = {"drawn", "exists", "refused", "failed"};
    return texts[decision];
}

void serve_metrics_response(serve_metrics *metrics, int status)
{
    size_t i = 0;
    while (i < SERVE_STATUS_CODES - 1 && codes[i] != status)
        i++;
    atomic_fetch_add_explicit(&metrics->responses[i], 1, memory_order_relaxed);
}

void serve_metrics_draw(serve_metrics *metrics, serve_decision decision)
{
    atomic_fetch_add_explicit(&metrics->draws[decision], 1, memory_order_relaxed);
}

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void serve_metrics_write(const serve_metrics *metrics, cellar_text *out)
{
    cellar_text_add_string(out, "# HELP cellar_responses_total Responses by HTTP status.\n"
                                "# TYPE cellar_responses_total counter\n");
    for (size_t i = 0; i < SERVE_STATUS_CODES - 1; i++)
        cellar_text_printf(out, "cellar_responses_total{status=\"%d\"} %" PRIu64 "\n", codes[i],
                           read_counter(&metrics->responses[i]));
    cellar_text_printf(out, "cellar_responses_total{status=\"other\"} %" PRIu64 "\n",
                       read_counter(&metrics->responses[SERVE_STATUS_CODES - 1]));
    cellar_text_add_string(out, "# HELP cellar_draws_total Requests to draw by decision.\n"
                                "# TYPE cellar_draws_total counter\n");
    for (size_t i = 0; i < SERVE_N_DECISIONS; i++)
        cellar_text_printf(out, "cellar_draws_total{decision=\"%s\"} %" PRIu64 "\n",
                           serve_decision_text((serve_decision) i),
                           read_counter(&metrics->draws[i]));
}
