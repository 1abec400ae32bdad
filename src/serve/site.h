/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A site inside the library: what routes see. */
#ifndef CELLAR_SERVE_SITE_H
#define CELLAR_SERVE_SITE_H

#include <cellar/site.h>

#include "base/memory.h"
#include "serve/audit.h"
#include "serve/config.h"
#include "serve/dataset.h"
#include "serve/limits.h"
#include "serve/metrics.h"
#include "serve/tokens.h"

struct cellar_site {
    cellar_site_options options;
    serve_texts title;
    const char *base_url; /* where the public sees it, without a slash at its end; "" by default */
    const char *const *languages; /* "en", ...; the first is the default */
    size_t n_languages;
    serve_dataset *datasets;
    size_t n_datasets;
    serve_tokens *tokens; /* NULL: nobody has one */
    serve_limits *limits; /* of calls; NULL: none */
    serve_audit *audit;   /* NULL: nothing is written down */
    serve_metrics metrics;
    unsigned calls_per_window, window_seconds;
    struct serve_pages *pages; /* files that are served as they are (pages.h); NULL: none */
    const char *license;       /* of the data, a name or an address; "" by default */
    const char *saved_folder;  /* of saved queries; NULL: they are refused */
    const char **paths;        /* that are read while it answers */
    size_t n_paths;
    serve_config *config; /* as it was read; its texts are shown */
    cellar_arena *arena;  /* of what was made from it */
};

/* By id, without regard to case; NULL when there is none. */
const serve_dataset *serve_find_dataset(const cellar_site *site, const char *id);

#endif
