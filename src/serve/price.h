/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What drawing a canonical table costs: a function of the configuration alone, the same for front
 * and vault, so that the cost shown is the cost charged whoever asks meanwhile. No count, no record
 * and no ledger is an argument. */
#ifndef CELLAR_SERVE_PRICE_H
#define CELLAR_SERVE_PRICE_H

#include <cellar/amounts.h>
#include <cellar/mechanism.h>
#include <cellar/release.h>

#include "serve/dataset.h"
#include "serve/drawn.h"

enum {
    SERVE_COST_TEXT = 96,
    SERVE_DRAWN_CELLS_MAX = 1 << 24 /* of a table: all of its cells are drawn one by one */
};

typedef struct serve_price {
    const serve_class *class; /* which tables */
    cellar_mechanism *mechanism;
    cellar_amounts amounts;          /* with rho wherever that is what is added up */
    char text[SERVE_COST_TEXT];      /* "rho 0.03125", "epsilon 0.5, delta 1e-9" */
    char amount[CELLAR_AMOUNT_TEXT]; /* "0.03125": what max_cost is compared with */
    double sd;                       /* of the noise of a cell; NAN: not known */
} serve_price;

typedef struct serve_prices {
    serve_price *items; /* of the classes, in their order */
    size_t n;
    int by_rho;
    cellar_amounts cap;             /* that all tables together stay below */
    cellar_protect_options options; /* of every release */
} serve_prices;

/* Certifies each class once. `unit` is what is protected; the texts outlive the prices. Refused
 * (CELLAR_ERR_RULE, CELLAR_ERR_INPUT): a mechanism without a guarantee, or one that does not draw
 * each cell by itself. `name` is that of the configuration. Clear them in every case. */
cellar_status serve_prices_init(serve_prices *prices, const char *name,
                                const serve_drawn_text *text, const char *unit, cellar_error *err);
void serve_prices_clear(serve_prices *prices); /* {0} is fine */

/* The price of a table; NULL: no class has it, so that it cannot be drawn. */
const serve_price *serve_price_of(const serve_prices *prices, const serve_dataset *dataset,
                                  const serve_table *table);
/* Why a vault never draws a table that the rules allow: the name of a rule of its own, a sentence.
 */
typedef struct serve_obstacle {
    const char *rule, *detail;
} serve_obstacle;

/* NULL: it would, for its price if the data set has prices. */
const serve_obstacle *serve_find_obstacle(const serve_dataset *dataset, const serve_table *table);
/* 1 when the price is at most a decimal in the currency of the prices; -1: it is no decimal. */
int serve_price_is_within(const serve_prices *prices, const serve_price *price,
                          const char *max_cost);

#endif
