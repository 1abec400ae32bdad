/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a certificate promises, in numbers and in a sentence. */
#ifndef CELLAR_PRIVACY_PROMISE_H
#define CELLAR_PRIVACY_PROMISE_H

#include <jansson.h>

#include <cellar/terms.h>

#include "base/text.h"

typedef struct cellar_promise {
    const char *covers;         /* what it is about, for its reader; NULL: nothing is promised */
    double epsilon, delta, rho; /* bounds from above; NAN: none is claimed */
    cellar_neighbours neighbours;
} cellar_promise;

cellar_promise cellar_promise_of_certificate(const char *covers, const json_t *certificate);

/* Adds a sentence about what `subject` ("All tables of this cube together") promise: the epsilon of
 * a certificate for its unit, or that there is no differential privacy. */
void cellar_promise_add(const char *subject, const json_t *certificate, cellar_text *out);
/* The same, with the reason and the condition that the certificate names. */
void cellar_promise_add_terms(const char *subject, const json_t *certificate, cellar_text *out);

#endif
