/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CELLAR_TESTS_MECHANISM_SPECS_H
#define CELLAR_TESTS_MECHANISM_SPECS_H

/* Mechanisms of every kind, with parameters that are not special. */
static const char *const specs[] = {"laplace:epsilon=0.7",
                                    "laplace:epsilon=3.1",
                                    "discrete-laplace:epsilon=0.2",
                                    "discrete-laplace:epsilon=1.7",
                                    "gaussian:sigma=0.6",
                                    "gaussian:sigma=2.5",
                                    "discrete-gaussian:sigma=0.8",
                                    "discrete-gaussian:sigma=3.3",
                                    "truncated-laplace:epsilon=0.3,m=4",
                                    "truncated-normal:epsilon=2,m=6",
                                    "identity",
                                    "poisson:alpha=0.3",
                                    "poisson:alpha=2",
                                    "negbin:alpha=0.5,sigma=0.3",
                                    "negbin:alpha=0.2,sigma=3",
                                    "pig:alpha=0.5,sigma=0.4",
                                    "sichel:alpha=1,sigma=0.5,nu=-1.3",
                                    "sichel:alpha=0.4,sigma=2,nu=0.7",
                                    "delaporte:alpha=0.5,sigma=0.6,nu=0.3",
                                    "delaporte:alpha=0.5,sigma=2,nu=0.3",
                                    "max-entropy:variance=1.5,m=3",
                                    "max-entropy:variance=2,m=4,min=2",
                                    "round:base=5",
                                    "hellinger:epsilon=2"};
enum { N_SPECS = sizeof specs / sizeof *specs };

#endif
