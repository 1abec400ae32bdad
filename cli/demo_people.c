/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The microdata of a small country that does not exist: one line per person, the same for the same
 * seed on every machine.
 *
 * Nobody in it is real, but it has what makes tables of real people hard to publish: places from
 * half the country down to one village, occupations that few people have, a diagnosis nobody
 * wants to see published, and answers that depend on each other. The islands are old, students live
 * in Harbour, most who fish are islanders, most in care are women, and the mine of Border left its
 * mark. */
#include <inttypes.h>
#include <stddef.h>

#include "demo.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { WEIGHT_ONE = 10 }; /* factors are tenths */

/* The kinds of place and the stages of life that answers depend on. */
enum { CITY, LAND, MINE, ISLAND, N_PLACES };
enum { CHILD, YOUNG, MIDDLE, OLD, N_STAGES };

static const struct {
    const char *name;
    unsigned weight; /* of 1000 people */
    int place;
} regions[] = {{"Harbour", 420, CITY},  {"Plain", 270, LAND},  {"Hills", 140, LAND},
               {"Lakes", 85, LAND},     {"Border", 50, MINE},  {"Sound", 24, ISLAND},
               {"Skerries", 9, ISLAND}, {"Farholm", 2, ISLAND}};

/* People by ten years of age, the last for 90 and more. */
static const unsigned ages[N_PLACES][10] = {
    [CITY] = {105, 105, 180, 165, 135, 115, 90, 65, 32, 8},
    [LAND] = {115, 120, 100, 115, 130, 145, 125, 95, 45, 10},
    [MINE] = {95, 105, 90, 105, 130, 160, 150, 105, 50, 10},
    [ISLAND] = {80, 85, 65, 85, 115, 155, 180, 145, 72, 18}};

static const struct {
    const char *name;
    unsigned by_stage[N_STAGES];
    unsigned women, men; /* tenths */
    unsigned by_place[N_PLACES];
} occupations[] = {{"Child", {1, 0, 0, 0}, 10, 10, {10, 10, 10, 10}},
                   {"Student", {0, 420, 12, 0}, 11, 10, {14, 7, 7, 4}},
                   {"Retired", {0, 0, 45, 880}, 10, 10, {10, 10, 12, 9}},
                   {"At home", {0, 20, 70, 30}, 16, 4, {8, 12, 12, 10}},
                   {"Unemployed", {0, 75, 50, 0}, 9, 11, {9, 10, 24, 9}},
                   {"Office", {0, 110, 250, 12}, 11, 9, {14, 7, 5, 4}},
                   {"Trade", {0, 150, 150, 15}, 12, 9, {11, 10, 9, 9}},
                   {"Care", {0, 75, 120, 5}, 17, 3, {10, 10, 12, 12}},
                   {"Teaching", {0, 25, 65, 5}, 14, 6, {10, 10, 9, 10}},
                   {"Building", {0, 75, 95, 8}, 2, 18, {9, 11, 14, 10}},
                   {"Farming", {0, 20, 55, 30}, 7, 13, {1, 20, 14, 14}},
                   {"Fishing", {0, 4, 8, 4}, 2, 18, {3, 1, 1, 190}},
                   {"Seafaring", {0, 6, 9, 1}, 3, 17, {14, 3, 3, 60}},
                   {"Law", {0, 1, 5, 1}, 9, 11, {15, 6, 6, 4}},
                   {"Clergy", {0, 0, 2, 1}, 4, 16, {8, 11, 11, 18}},
                   {"Not stated", {0, 25, 15, 8}, 9, 11, {12, 8, 9, 5}}};

/* Of 10,000 people of that stage; sex and place change it by tenths. */
static const struct {
    const char *name;
    unsigned by_stage[N_STAGES];
    unsigned women, men;
    unsigned by_place[N_PLACES];
    unsigned if_unemployed; /* tenths */
} diagnoses[] = {{"None", {9200, 8900, 7800, 4600}, 10, 10, {10, 10, 9, 10}, 9},
                 {"Asthma", {700, 600, 500, 600}, 11, 9, {11, 9, 30, 7}, 10},
                 {"Depression", {40, 450, 600, 400}, 13, 7, {11, 9, 13, 11}, 25},
                 {"Diabetes", {20, 50, 520, 1700}, 9, 11, {9, 10, 13, 10}, 13},
                 {"Heart disease", {15, 30, 350, 2100}, 8, 13, {10, 10, 13, 9}, 12},
                 {"Cancer", {6, 15, 190, 700}, 10, 10, {10, 10, 16, 10}, 10},
                 {"Epilepsy", {60, 60, 65, 90}, 10, 10, {10, 10, 10, 10}, 12},
                 {"HIV", {0, 8, 22, 5}, 4, 16, {16, 5, 5, 5}, 16}};

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

/* A position of `weights`, as likely as its weight. */
static size_t random_choice(uint64_t *state, const unsigned *weights, size_t n)
{
    unsigned total = 0, drawn;
    size_t chosen = 0;
    for (size_t i = 0; i < n; i++)
        total += weights[i];
    drawn = random_below(state, total);
    while (drawn >= weights[chosen])
        drawn -= weights[chosen++];
    return chosen;
}

static size_t random_region(uint64_t *state)
{
    unsigned weights[COUNT(regions)];
    for (size_t i = 0; i < COUNT(regions); i++)
        weights[i] = regions[i].weight;
    return random_choice(state, weights, COUNT(regions));
}

/* Within ten years all ages are alike, but of the oldest fewer and fewer are left. */
static unsigned random_age(uint64_t *state, int place)
{
    unsigned decade = (unsigned) random_choice(state, ages[place], 10);
    unsigned years = random_below(state, 10);
    for (int i = 0; decade == 9 && i < 3; i++) {
        unsigned other = random_below(state, 14);
        years = i == 0 || other < years ? other : years;
    }
    return 10 * decade + years;
}

static size_t random_occupation(uint64_t *state, int stage, int is_woman, int place)
{
    unsigned weights[COUNT(occupations)];
    for (size_t i = 0; i < COUNT(occupations); i++)
        weights[i] = occupations[i].by_stage[stage] *
                     (is_woman ? occupations[i].women : occupations[i].men) *
                     occupations[i].by_place[place];
    return random_choice(state, weights, COUNT(occupations));
}

static size_t random_diagnosis(uint64_t *state, int stage, int is_woman, int place,
                               int is_unemployed)
{
    unsigned weights[COUNT(diagnoses)];
    for (size_t i = 0; i < COUNT(diagnoses); i++)
        weights[i] = diagnoses[i].by_stage[stage] *
                     (is_woman ? diagnoses[i].women : diagnoses[i].men) *
                     diagnoses[i].by_place[place] *
                     (is_unemployed ? diagnoses[i].if_unemployed : WEIGHT_ONE);
    return random_choice(state, weights, COUNT(diagnoses));
}

static void write_person(uint64_t *state, uint64_t person, cellar_output *output)
{
    size_t region = random_region(state);
    int place = regions[region].place;
    unsigned age = random_age(state, place);
    int is_woman = random_below(state, 1000) < (age < 60 ? 495U : 540U);
    int stage = age < 16 ? CHILD : age < 26 ? YOUNG : age < 67 ? MIDDLE : OLD;
    size_t occupation = random_occupation(state, stage, is_woman, place);
    int is_unemployed = occupations[occupation].name[0] == 'U';
    size_t diagnosis = random_diagnosis(state, stage, is_woman, place, is_unemployed);
    cellar_output_printf(output, "%" PRIu64 ",%s,%s,%u,%s,%s\n", person, regions[region].name,
                         is_woman ? "F" : "M", age, occupations[occupation].name,
                         diagnoses[diagnosis].name);
}

void demo_write_people(uint64_t n_people, uint64_t seed, cellar_output *output)
{
    uint64_t state = seed;
    cellar_output_string(output, "id,region,sex,age,occupation,diagnosis\n");
    for (uint64_t person = 1; person <= n_people; person++)
        write_person(&state, person, output);
}
