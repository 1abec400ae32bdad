/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages a person reads: one HTML file each, with its charts inside. A page loads nothing, runs
 * nothing and asks nothing of the network; every label in it is text, whatever it says.
 *
 * The type is the gate: the page for the public is made from releases alone. The page for the
 * committee is computed from true counts, and confidential. */
#ifndef CELLAR_REPORT_H
#define CELLAR_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/progress.h>
#include <cellar/release.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from cellar_report_options_default(). Strings stay the caller's. */
typedef struct cellar_report_options {
    const char *title;        /* of the page [made from what it is about] */
    const char *const *names; /* public: what each release is called, such as its file's name; NULL:
                                 numbered */
    uint64_t max_rows;        /* public: so many rows of a table at most; 0: none [200] */
    const char *charts; /* a folder that exists: every chart goes there, too, as SVG and PNG; or
                           NULL */
    int replace;        /* 1: existing files are replaced [0] */
    cellar_progress progress;
} cellar_report_options;

CELLAR_API cellar_report_options cellar_report_options_default(void);

/* Writes the page about `n` releases to `path` ("-": standard output), readable by all: what is
 * released, what its certificate says, the noise, how to test with it, the numbers. It reads
 * nothing but the releases; a mechanism that lives in a file of its own is named, not opened.
 * `options` may be NULL. On failure there is no page. */
CELLAR_API cellar_status cellar_report_public(const cellar_release *const *releases, size_t n,
                                              const cellar_report_options *options,
                                              const char *path, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
