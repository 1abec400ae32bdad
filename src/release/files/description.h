/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said about a release, as the JSON object that files carry. */
#ifndef CELLAR_RELEASE_FILES_DESCRIPTION_H
#define CELLAR_RELEASE_FILES_DESCRIPTION_H

#include "release/release.h"

#define CELLAR_RELEASE_UNACCOUNTED "unaccounted, not for publication"

/* 1 for what a file may say about its charge: a stamp (cellar_stamp_is_sound()), or that it is
 * unaccounted. Everything else is refused when it is read. */
int cellar_ledger_text_is_sound(const char *text);

/* The object of facts, with `parameters` (an object, stolen) of the mechanism and the certificate
 * (stolen). On failure *out is NULL. */
cellar_status cellar_description_create(const cellar_release_facts *facts, const char *name,
                                        json_t *parameters, json_t *certificate, json_t **out,
                                        cellar_error *err);

/* Reads and checks an object; what it lacks is named. Strings of `out` lie in it. A seeded
 * simulation is refused when the object comes from a file (`name` is not NULL). */
cellar_status cellar_description_read(const json_t *description, const char *name,
                                      cellar_release_facts *out, cellar_error *err);

/* Removes from an object read from a file all that is not the description. */
void cellar_description_prune(json_t *description);

/* The parameters of a mechanism: numbers as the nearest doubles, words as they are. NULL when
 * memory ends. */
json_t *cellar_description_parameters(const cellar_mechanism *mechanism);

#endif
