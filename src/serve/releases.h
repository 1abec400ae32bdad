/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of releases as a source (source.h), and what they bring of variables. */
#ifndef CELLAR_SERVE_RELEASES_H
#define CELLAR_SERVE_RELEASES_H

#include "serve/source.h"

/* Reads all releases of a folder: files .json, .px and .csv, of a table in several formats one. A
 * vault adds to a folder that `grows`; in another a manifest must fit if it is there, and the
 * certificate of a pack is that of all its tables. Refresh the source before the first question. */
cellar_status serve_source_open_releases(const char *folder, int grows, serve_source **out,
                                         cellar_error *err);

/* The file that answers a table, and the table in it that it is added up from; NULL: none does. The
 * file stays as long as the source. */
struct piece_file *serve_releases_find(const serve_source *source, const serve_dataset *dataset,
                                       const serve_table *wanted, serve_table *from, int *is_exact);

/* Inference (source_releases_infer.c), as the functions of a source of these names. */
cellar_status serve_releases_compare(const serve_source *source, const serve_cut *first,
                                     cellar_comparison comparison, const serve_cut *second,
                                     double confidence, cellar_cube_finding *out,
                                     cellar_error *err);
cellar_status serve_releases_noisy(const serve_source *source, const serve_dataset *dataset,
                                   const serve_table *table, int *needs_bootstrap,
                                   cellar_noisy **out, cellar_error *err);

/* The certificate of a pack, in its folder, and what it promises for all tables together: a
 * sentence in the arena and the same in numbers, nothing when there is no such file (joint.c). */
#define SERVE_JOINT_FILE "certificate.json"
cellar_status serve_joint_read(const char *folder, cellar_arena *arena, const char **out,
                               cellar_promise *promise, cellar_error *err);

/* The releases that were read. */
size_t serve_releases_n(const serve_source *source);
const cellar_schema *serve_releases_schema(const serve_source *source, size_t release);

#endif
