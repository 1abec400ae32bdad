/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a site did, for monitoring: numbers of requests and decisions, never of people. */
#ifndef CELLAR_SERVE_METRICS_H
#define CELLAR_SERVE_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/text.h"

enum { SERVE_STATUS_CODES = 16 };

typedef enum serve_decision {
    SERVE_DECISION_DRAWN,
    SERVE_DECISION_EXISTS,
    SERVE_DECISION_REFUSED,
    SERVE_DECISION_FAILED,
    SERVE_N_DECISIONS
} serve_decision;

/* Zeros are a beginning. Threads share it. */
typedef struct serve_metrics {
    _Atomic uint64_t responses[SERVE_STATUS_CODES]; /* by status; the last: others */
    _Atomic uint64_t draws[SERVE_N_DECISIONS];
} serve_metrics;

void serve_metrics_response(serve_metrics *metrics, int status);
void serve_metrics_draw(serve_metrics *metrics, serve_decision decision);
const char *serve_decision_text(serve_decision decision);
/* In the text format of Prometheus. */
void serve_metrics_write(const serve_metrics *metrics, cellar_text *out);

#endif
