/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line of the net: a certificate, and what was once proved about it (README.md). */
#ifndef CELLAR_TESTS_NET_LINE_H
#define CELLAR_TESTS_NET_LINE_H

#include <stddef.h>

#include <cellar/certificate.h>

enum { NET_LIST = 16, NET_CLAIMS = 32 };

typedef enum net_kind {
    NET_DELTA,
    NET_DELTA_P,
    NET_EPSILON,
    NET_TIGHT,
    NET_PURE,
    NET_INFINITE,
    NET_RHO,
    NET_KINDS
} net_kind;

/* The truth lies from `lower` to `upper`, and another program has found it to be at least
 * `independent` (0: it was not asked). */
typedef struct net_claim {
    net_kind kind;
    double at, lower, upper, independent;
} net_claim;

/* Points into the text it was read from. */
typedef struct net_line {
    const char *specs[NET_LIST], *epsilons[NET_LIST], *deltas[NET_LIST];
    size_t n_specs, n_claims;
    cellar_certify_options options;
    net_claim claims[NET_CLAIMS];
} net_line;

const char *net_kind_word(net_kind kind);

/* Reads `text`, which is cut into words; claims may be missing. Returns 0 when it is no line of the
 * net. */
int net_line_read(char *text, net_line *out);

/* The certificate of a line. On failure *out is NULL. */
cellar_status net_line_certify(const net_line *line, cellar_certificate **out, cellar_error *err);

/* What a certificate says to the question of a claim, told like a claim; lower is 0 where it tells
 * none. Returns 0 when it says nothing. */
int net_claim_find(const cellar_certificate *certificate, const net_claim *asked, net_claim *out);

#endif
