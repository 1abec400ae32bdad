/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mechanisms the conformance suite asks, at least one of every name in the registry. A new
 * mechanism adds its lines here; the checks need no change. */
#ifndef CELLAR_TESTS_SPECS_H
#define CELLAR_TESTS_SPECS_H

#include <stdint.h>

typedef struct conformance_spec {
    const char *spec;
    /* FNV-1a of 5000 draws for counts 0..99 under seed 1. A change means that keyed noise changes:
     * bump the mechanism's revision and write the new number. */
    uint64_t draws;
} conformance_spec;

static const conformance_spec conformance_specs[] = {
#ifdef CONFORMANCE_TEMPLATE /* the template is tested without being in the registry */
    {"template:scale=0.3", UINT64_C(0xaa0d73a4704397b1)},
    {"template:scale=4", UINT64_C(0xf0a8453beab3b89c)},
#else
    {"identity", UINT64_C(0x426172469a3567a5)},
    {"laplace:epsilon=0.1", UINT64_C(0x64bc6737b2c420ad)},
    {"laplace:epsilon=1", UINT64_C(0x3aae545c14ab4245)},
    {"laplace:epsilon=5", UINT64_C(0x7ed24e5df8ba0ef8)},
    {"discrete-laplace:epsilon=0.01", UINT64_C(0x91586ae649ad027d)},
    {"discrete-laplace:epsilon=1", UINT64_C(0xfcc0280b9f0f0c7e)},
    {"discrete-laplace:epsilon=30", UINT64_C(0x426172469a3567a5)},
    {"gaussian:sigma=0.2", UINT64_C(0xa128ed0c17dc17d2)},
    {"gaussian:sigma=0.7", UINT64_C(0x9bafe4bdac628f74)},
    {"gaussian:sigma=2", UINT64_C(0xdca5df9b03e3bdab)},
    {"gaussian:sigma=50", UINT64_C(0x8acfd1c895f3bf5a)},
    {"gaussian:epsilon=0.5,delta=1e-5,calibration=pdp", UINT64_C(0x6383bb73924bb3e2)},
    {"discrete-gaussian:sigma=0.3", UINT64_C(0x9a15d510254ba808)},
    {"discrete-gaussian:sigma=1", UINT64_C(0xf7b60ea95fba98eb)},
    {"discrete-gaussian:sigma=9.5", UINT64_C(0xed09187283286f40)},
    {"discrete-gaussian:sigma=50", UINT64_C(0xe51707b7ff29b81e)},
    {"discrete-gaussian:epsilon=1,delta=1e-6", UINT64_C(0x1f00b313d8c95613)},
    {"truncated-laplace:epsilon=1.5,m=7", UINT64_C(0x501b9b949a00ceb7)},
    {"truncated-laplace:epsilon=0.01,m=1", UINT64_C(0x774ca76455420213)},
    {"truncated-normal:epsilon=1.5,m=12", UINT64_C(0x2a6b5c33746b4a7a)},
    {"truncated-normal:epsilon=0.001,m=100", UINT64_C(0xb48e9632ae500e76)},
    {"hellinger:epsilon=1", UINT64_C(0x7b03098c920b35f5)},
    {"hellinger:epsilon=20", UINT64_C(0xd7fdd870bbbc2ab5)},
    {"poisson:alpha=0.1", UINT64_C(0xc6e6410df1b06456)},
    {"poisson:alpha=1", UINT64_C(0xc7d38295058c33df)},
    {"poisson:alpha=0", UINT64_C(0x055e728f5918a7e5)},
    {"poisson-zeros:alpha=0.1", UINT64_C(0xd242b660da9b71e4)},
    {"negbin:alpha=0.5,sigma=0.03", UINT64_C(0xeda0af4b9b0cf412)},
    {"negbin:alpha=0.5,sigma=0.000001", UINT64_C(0xbec809c80e158735)},
    {"pig:alpha=0.5,sigma=0.01", UINT64_C(0xc08e9bef8757569c)},
    {"sichel:alpha=0.5,sigma=0.004,nu=-0.5", UINT64_C(0xff37ea2627224e6a)},
    {"sichel:alpha=1,sigma=0.0001,nu=15.5", UINT64_C(0x8a9a7bb9bd124a12)},
    {"delaporte:alpha=0.5,sigma=0.004,nu=0.3", UINT64_C(0x2f20b0decc2ee354)},
    {"gamma:alpha=0.5,sigma=0.5", UINT64_C(0x91832380fba6c675)},
    {"gamma:alpha=0.3,sigma=1.5", UINT64_C(0xe9492c74500c9622)},
    {"exponential:file=" CELLAR_TESTS "/property/utilities.csv,epsilon=1.5",
     UINT64_C(0xa4b878df1ee14b44)},
    {"round:base=3", UINT64_C(0x1d4271474b6d4911)},
    {"round:base=10", UINT64_C(0xf0a289c2d3a7d61f)},
    {"max-entropy:variance=1,m=2", UINT64_C(0xd82db95598fd8a94)},
    {"max-entropy:variance=6,m=5,min=3", UINT64_C(0xe77864ad82f35ef2)},
    {"max-entropy:variance=2,m=8,stay=0.5,form=at-most,mono=yes", UINT64_C(0xff17c01347190d94)},
    {"ptable:file=" CELLAR_TESTS "/property/ptable.csv", UINT64_C(0x26e7d60ea02ee330)},
    {"ptable:file=" CELLAR_TESTS "/property/ons.csv", UINT64_C(0xf2f40b508f045f59)},
    {"cell-key:file=" CELLAR_TESTS "/property/ptable.csv", UINT64_C(0x26e7d60ea02ee330)},
    {"cell-key:file=" CELLAR_TESTS "/property/ons.csv,boundary=at-most",
     UINT64_C(0xf2f40b508f045f59)},
#endif
};

#endif
