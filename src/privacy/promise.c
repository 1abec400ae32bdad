/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/promise.h"

#include <math.h>
#include <string.h>

cellar_promise cellar_promise_of_certificate(const char *covers, const json_t *certificate)
{
    const char *verdict = json_string_value(json_object_get(certificate, "verdict"));
    const char *neighbours = json_string_value(json_object_get(certificate, "neighbours"));
    const json_t *first = json_array_get(json_object_get(certificate, "epsilon_at"), 0);
    const json_t *rho = json_object_get(json_object_get(certificate, "composition"), "rho");
    const json_t *epsilon = json_object_get(certificate, "pure_epsilon");
    cellar_promise promise = {.epsilon = NAN,
                              .rho = json_is_number(rho) ? json_number_value(rho) : NAN,
                              .neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE};
    if (!json_is_number(epsilon)) {
        epsilon = json_object_get(first, "epsilon");
        promise.delta = json_number_value(json_object_get(first, "delta"));
    }
    if (verdict == NULL || strcmp(verdict, "holds") != 0 || !json_is_number(epsilon))
        return promise;
    if (neighbours != NULL && !cellar_neighbours_find(neighbours, &promise.neighbours))
        return promise;
    promise.epsilon = json_number_value(epsilon);
    promise.covers = covers;
    return promise;
}

static void promise_add_bound(cellar_text *out, const char *name, double value)
{
    char text[32];
    cellar_text_printf(out, "%s %s", name, cellar_bound_text(value, text));
}

void cellar_promise_add(const char *subject, const json_t *certificate, cellar_text *out)
{
    const cellar_promise promise = cellar_promise_of_certificate(subject, certificate);
    const char *unit = json_string_value(json_object_get(certificate, "unit"));
    if (promise.covers == NULL) {
        cellar_text_printf(out, "%s are not differentially private.", subject);
        return;
    }
    cellar_text_printf(out, "%s are differentially private for one %s: ", subject,
                       unit != NULL ? unit : "record");
    promise_add_bound(out, "epsilon", promise.epsilon);
    if (promise.delta > 0)
        cellar_text_printf(out, " at delta %g", promise.delta);
    if (!isnan(promise.rho))
        promise_add_bound(out, ", rho", promise.rho);
    cellar_text_printf(out, " (%s).", cellar_neighbours_name(promise.neighbours));
}

static void promise_add_member(cellar_text *out, const char *words, const json_t *certificate,
                               const char *key)
{
    const char *text = json_string_value(json_object_get(certificate, key));
    if (text != NULL)
        cellar_text_printf(out, " %s: %s.", words, text);
}

void cellar_promise_add_terms(const char *subject, const json_t *certificate, cellar_text *out)
{
    cellar_promise_add(subject, certificate, out);
    promise_add_member(out, "The certificate says", certificate, "reason");
    promise_add_member(out, "On condition of this", certificate, "condition");
}
