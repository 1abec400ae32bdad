/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seeded microdata for the benchmarks, on standard output.
 *
 *   make_people ROWS [SHAPE] [CELLS]
 *
 * SHAPE `census` (the default) has five text columns in random order with 228, 2, 19, 20 and 20
 * levels (3,465,600 possible cells) of which about CELLS (235,874) occur; `wide` has six columns
 * of 100 levels (10^12 possible cells); `keyed` is `census` with a record key, a decimal of nine
 * digits; `ten` has ten columns of 2 to 20 levels. Labels are 2 to 30 bytes. The same arguments
 * always give the same bytes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = 10, MAX_LEVELS = 256, LABEL_BYTES = 32 };

typedef struct shape {
    const char *name;
    const char *header;
    size_t n_columns;
    uint64_t n_levels[MAX_COLUMNS];
    int has_key;
} shape;

static const shape shapes[] = {
    {"census", "area,sex,age,occupation,industry\n", 5, {228, 2, 19, 20, 20}, 0},
    {"keyed", "area,sex,age,occupation,industry,key\n", 5, {228, 2, 19, 20, 20}, 1},
    {"wide", "a,b,c,d,e,f\n", 6, {100, 100, 100, 100, 100, 100}, 0},
    {"ten", "a,b,c,d,e,f,g,h,i,j\n", 10, {2, 3, 4, 5, 6, 8, 10, 12, 16, 20}, 0},
};

static uint64_t mix(uint64_t x) /* splitmix64 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A label whose length is 2 to 30 bytes: mostly short, some long, all different in a column. */
static void make_label(char *label, size_t column, uint64_t level)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz ABCDEF-()";
    uint64_t bits = mix(column * 1000 + level + 1);
    size_t length = 2 + (size_t) (bits % 9);
    if (bits >> 60 == 0)
        length = 12 + (size_t) (bits >> 40) % 19;
    /* two base-16 letters keep the labels of a column apart */
    label[0] = (char) ('A' + level % 16);
    label[1] = (char) ('a' + level / 16);
    for (size_t i = 2; i < length; i++) {
        bits = mix(bits);
        label[i] = letters[bits % (sizeof letters - 1)];
    }
    label[length] = '\0';
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

int main(int argc, char **argv)
{
    static char labels[MAX_COLUMNS][MAX_LEVELS][LABEL_BYTES];
    uint64_t n_rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 8200000;
    const char *name = argc > 2 ? argv[2] : "census";
    uint64_t n_cells = argc > 3 ? strtoull(argv[3], NULL, 10) : 235874;
    uint64_t n_possible = 1, step = 2654435761u;
    const shape *s = NULL;

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0)
            s = &shapes[i];
    if (s == NULL || n_cells == 0) {
        fputs("usage: make_people ROWS [census|wide|keyed|ten] [CELLS]\n", stderr);
        return 2;
    }
    for (size_t c = 0; c < s->n_columns; c++) {
        n_possible *= s->n_levels[c];
        for (uint64_t level = 0; level < s->n_levels[c]; level++)
            make_label(labels[c][level], c, level);
    }
    while (gcd(step, n_possible) != 1)
        step++;
    fputs(s->header, stdout);
    for (uint64_t row = 0; row < n_rows; row++) {
        /* the square of a uniform number: common cells and rare ones, all of them hit */
        double u = (double) (mix(row) >> 11) * 0x1p-53;
        uint64_t cell = (uint64_t) (u * u * (double) n_cells) * step % n_possible;
        for (size_t c = 0; c < s->n_columns; c++) {
            fputs(labels[c][cell % s->n_levels[c]], stdout);
            putc(c + 1 < s->n_columns || s->has_key ? ',' : '\n', stdout);
            cell /= s->n_levels[c];
        }
        if (s->has_key)
            printf("0.%09" PRIu64 "\n", mix(row ^ UINT64_C(0x5bd1e995)) % 1000000000);
    }
    return fclose(stdout) == 0 ? 0 : 1;
}
