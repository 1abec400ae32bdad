/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A certificate inside: what was asked, what was found, what must be said. */
#ifndef CELLAR_PRIVACY_CERTIFICATE_H
#define CELLAR_PRIVACY_CERTIFICATE_H

#include <jansson.h>

#include <cellar/certificate.h>

#include "math/flint.h"

/* A double that so many digits state exactly stands for these digits: it was asked for, or is known
 * exactly. */
enum { CELLAR_WARNINGS_MAX = 16, CELLAR_FEW_DIGITS = 12 };

struct cellar_certificate {
    /* what was asked */
    cellar_certify_options options; /* its pointers are not kept, but for those below */
    char *unit;
    char **invariants;
    size_t n_invariants;
    char **specs;
    uint32_t *revisions;
    size_t n_specs;
    /* what was found */
    cellar_verdict verdict;
    char *reason;
    double pure, pure_lower; /* INFINITY: there is none */
    char *pure_exact;
    double infinite;
    cellar_profile_point *points;
    size_t n_points;
    cellar_epsilon_at *epsilons;
    size_t n_epsilons;
    cellar_composition composition;
    char *warnings[CELLAR_WARNINGS_MAX];
    size_t n_warnings;
    int is_checked; /* of the first four epsilons, the last one that could be computed a second way
                       agreed */
    /* of cell keys */
    int is_cell_key;
    double difference;
    uint64_t difference_count;
};

/* An empty certificate for these options. On failure *out is NULL. */
cellar_status cellar_certificate_create(const cellar_certify_options *options, size_t n_specs,
                                        cellar_certificate **out, cellar_error *err);
cellar_status cellar_certificate_name(cellar_certificate *c, size_t index, const char *spec,
                                      uint32_t revision, cellar_error *err);
/* printf; the verdict gets worse only. */
cellar_status cellar_certificate_judge(cellar_certificate *c, cellar_verdict verdict,
                                       cellar_error *err, const char *format, ...)
    CELLAR_PRINTF(4, 5);
/* What the source of the categories does to a certificate: a verdict or a warning. */
cellar_status cellar_certificate_judge_domain(cellar_certificate *c,
                                              const cellar_certify_options *options,
                                              cellar_error *err);
cellar_status cellar_certificate_warn(cellar_certificate *c, cellar_error *err, const char *format,
                                      ...) CELLAR_PRINTF(3, 4);

/* The object of cellar_certificate_write_json(); NULL when memory ends. */
json_t *cellar_certificate_json(const cellar_certificate *certificate);

#endif
