/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the microdata of a small country that does not exist: one line per person, the same for
 * the same seed on every machine.
 *
 *     small_country [N_PEOPLE [SEED]]    [100000 1]
 *
 * Nobody in it is real, but it has what makes tables of real people hard to publish: small places,
 * rare occupations, and answers that depend on each other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <cellar/cellar.h>

typedef struct choice {
    const char *name;
    unsigned weight;
} choice;

static const choice regions[] = {{"Harbour", 410}, {"Plain", 330},   {"Hills", 180},
                                 {"Lakes", 70},    {"Skerries", 10}, {NULL, 0}};
static const choice activities[][6] = {
    /* children, adults, the old: who works depends on age */
    {{"Not applicable", 1}, {NULL, 0}},
    {{"Employed", 720},
     {"Unemployed", 60},
     {"Student", 90},
     {"At home", 110},
     {"Unknown", 20},
     {NULL, 0}},
    {{"Retired", 900}, {"Employed", 60}, {"At home", 30}, {"Unknown", 10}, {NULL, 0}}};
static const choice health[][4] = {{{"Good", 90}, {"Fair", 8}, {"Poor", 2}, {NULL, 0}},
                                   {{"Good", 70}, {"Fair", 22}, {"Poor", 8}, {NULL, 0}},
                                   {{"Good", 35}, {"Fair", 40}, {"Poor", 25}, {NULL, 0}}};

/* SplitMix64 (Steele, Lea and Flood 2014, section 3): small, well mixed and not for secrets. */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0..n-1. The bias is below n / 2^64: nothing for a made-up country. */
static unsigned random_below(uint64_t *state, unsigned n)
{
    return (unsigned) (random_bits(state) % n);
}

static const char *random_choice(uint64_t *state, const choice *choices)
{
    unsigned total = 0, drawn;
    for (const choice *c = choices; c->name != NULL; c++)
        total += c->weight;
    drawn = random_below(state, total);
    while (drawn >= choices->weight)
        drawn -= (choices++)->weight;
    return choices->name;
}

/* Few reach the highest ages: the smallest of two draws, the second one longer. */
static unsigned random_age(uint64_t *state)
{
    unsigned a = random_below(state, 104), b = random_below(state, 160);
    return a < b ? a : b;
}

static int positive(const char *text, uint64_t *out)
{
    size_t length = 0;
    while (text[length] != '\0')
        length++;
    return cellar_parse_u64(text, length, out) && *out > 0;
}

int main(int argc, char **argv)
{
    uint64_t n_people = 100000, state = 1;
    if (argc > 3 || (argc > 1 && !positive(argv[1], &n_people)) ||
        (argc > 2 && !positive(argv[2], &state))) {
        fprintf(stderr, "usage: small_country [N_PEOPLE [SEED]]\n");
        return 2;
    }
    printf("id,region,sex,age,activity,health\n");
    for (uint64_t person = 1; person <= n_people; person++) {
        const char *region = random_choice(&state, regions);
        const char *sex = random_below(&state, 1000) < 507 ? "F" : "M";
        unsigned age = random_age(&state);
        int stage = age < 16 ? 0 : age < 67 ? 1 : 2;
        const char *activity = random_choice(&state, activities[stage]);
        printf("%" PRIu64 ",%s,%s,%u,%s,%s\n", person, region, sex, age, activity,
               random_choice(&state, health[stage]));
    }
    return fflush(stdout) != 0 || ferror(stdout);
}
