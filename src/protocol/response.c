/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/response.h"

#include <math.h>
#include <string.h>

#include <sodium.h>

#include "base/memory.h"

enum { WORDS = 8, WORDS_BYTES = 64 }; /* of 64 bits, from one hash */

response response_of(uint64_t epsilon, size_t n_values)
{
    double e = expm1((double) epsilon / 1e18);
    double keep = e / (e + (double) n_values) * (1 - 0x1p-48); /* rounding never adds to epsilon */
    if (epsilon == 0)
        return (response){UINT64_MAX, (uint32_t) n_values};
    return (response){(uint64_t) (keep * 0x1p64), (uint32_t) n_values};
}

double response_keep(const response *r)
{
    return r->keep == UINT64_MAX ? 1 : (double) r->keep * 0x1p-64;
}

/* A pseudo-random function of ticket, round, message, value and turn: eight words. */
static void response_words(const collect_round *round, const unsigned char *ticket, size_t index,
                           uint32_t level, uint64_t turn, unsigned char words[WORDS_BYTES])
{
    static const char label[] = "cellar collect response";
    unsigned char input[sizeof label + CELLAR_COLLECT_ID_BYTES + 16];
    memcpy(input, label, sizeof label);
    memcpy(input + sizeof label, round->id, CELLAR_COLLECT_ID_BYTES);
    bytes_put(input + sizeof label + CELLAR_COLLECT_ID_BYTES, 4, index);
    bytes_put(input + sizeof label + CELLAR_COLLECT_ID_BYTES + 4, 4, level);
    bytes_put(input + sizeof label + CELLAR_COLLECT_ID_BYTES + 8, 8, turn);
    crypto_generichash(words, WORDS_BYTES, input, sizeof input, ticket, TICKET_BYTES);
}

/* The first word chooses between the value and another; the first of the others below a multiple
 * of m names that other one, exactly uniform. Answers for two values of one participant are
 * independent, so that their epsilons add up when somebody sends a changed record. */
uint32_t response_draw(const response *r, const collect_round *round,
                       const unsigned char ticket[TICKET_BYTES], size_t index, uint32_t level)
{
    uint64_t limit = UINT64_MAX - (UINT64_MAX % r->n_values + 1) % r->n_values, word = 0;
    unsigned char words[WORDS_BYTES];
    uint32_t other, told = 0;
    int found = 0;

    if (r->keep == UINT64_MAX)
        return level;
    for (uint64_t turn = 0; !found; turn++) {
        response_words(round, ticket, index, level, turn, words);
        if (turn == 0)
            told = 0 - (uint32_t) (bytes_get(words, 8) < r->keep); /* all ones: as it is */
        for (size_t i = 1; i < WORDS && !found; i++) {
            word = bytes_get(words + 8 * i, 8);
            found = word <= limit;
        }
    }
    other = (uint32_t) (word % r->n_values);
    cellar_wipe(words, sizeof words);
    return (level & told) | (other & ~told);
}

uint64_t response_word(const collect_round *round, const unsigned char ticket[TICKET_BYTES],
                       size_t index)
{
    unsigned char words[WORDS_BYTES];
    uint64_t word;
    response_words(round, ticket, index, 0, 0, words);
    word = bytes_get(words, 8);
    cellar_wipe(words, sizeof words);
    return word;
}
