/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Randomised response: a value is reported as it is with probability `keep`, and else one drawn
 * uniformly from all m of its column. Of two values, each report is then at most
 * e^epsilon = 1 + m keep / (1 - keep) times as likely under one as under the other. */
#ifndef CELLAR_PROTOCOL_RESPONSE_H
#define CELLAR_PROTOCOL_RESPONSE_H

#include "protocol/message.h"

typedef struct response {
    uint64_t keep; /* of 2^64 */
    uint32_t n_values;
} response;

/* The largest multiple of 2^-64, but for rounding, that keeps epsilon (in units of 10^-18) for
 * n_values of them. An epsilon of 0 means that values are told as they are. */
response response_of(uint64_t epsilon, size_t n_values);
/* The probability, from below: 1 without randomisation. */
double response_keep(const response *r);

/* What the participant reports in message number `index` of the round instead of `level`. It
 * follows from the ticket: whoever sends again says the same, so nothing is learned by asking
 * twice. The work does not depend on the level. */
uint32_t response_draw(const response *r, const collect_round *round,
                       const unsigned char ticket[TICKET_BYTES], size_t index, uint32_t level);

/* 64 bits that follow from ticket, round and message. */
uint64_t response_word(const collect_round *round, const unsigned char ticket[TICKET_BYTES],
                       size_t index);

/* A bound on delta at epsilon for one column of n people, for whoever sees the reports without
 * their senders. */
double response_shuffled_delta(const response *r, uint64_t n_people, double epsilon);
/* An epsilon, at most that of one report, at which it is at most `delta`. */
double response_shuffled_epsilon(const response *r, uint64_t n_people, double delta);

#endif
