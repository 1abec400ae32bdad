/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate that a release carries. */
#ifndef CELLAR_RELEASE_GUARANTEE_CERTIFY_H
#define CELLAR_RELEASE_GUARANTEE_CERTIFY_H

#include <cellar/cell_key.h>
#include <cellar/dirichlet.h>

#include "release/protect.h"

/* A cube has one certificate for everything, which may take longer than others. */
enum { CELLAR_CUBE_EFFORT = 16 };

/* What the certificate of a release is asked. `options` points into the struct: do not copy it. */
typedef struct cellar_question {
    cellar_certify_options options;
    const char *deltas[3];
    char reviewers[512];
} cellar_question;

/* Everything that facts say about a guarantee, and nothing else: no other place decides what a
 * certificate of a release is asked. The delta that is charged comes first. Domains are declared
 * until cellar_question_add_domains() finds another. */
void cellar_question_init(cellar_question *out, const cellar_release_facts *facts);
/* Takes the domains of one more table: of all that are added the worst counts, and every reviewer
 * of a drafted one is named. */
void cellar_question_add_domains(cellar_question *question, const cellar_schema *schema);

/* The guarantee of all that one unit touches: protection->certificate, and the same as a JSON
 * object. `protection` knows all its facts but the level, which is set. When none can be computed
 * the verdict is unknown; when two computations of it disagree, or the level has to be accepted and
 * is not, it is refused (CELLAR_ERR_RULE). On failure *out is NULL. */
cellar_status cellar_release_certify(cellar_protection *protection,
                                     const cellar_mechanism *mechanism, json_t **out,
                                     cellar_error *err);
cellar_status cellar_release_certify_keys(cellar_protection *protection,
                                          const cellar_cell_key *cell_key, json_t **out,
                                          cellar_error *err);
/* is_invariant: the total drawn is the table's own. */
cellar_status cellar_release_certify_dirichlet(cellar_protection *protection,
                                               const cellar_dirichlet *dirichlet, int is_invariant,
                                               json_t **out, cellar_error *err);

#endif
