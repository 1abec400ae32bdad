/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/guarantee/certify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "privacy/certificate.h"
#include "release/guarantee/level.h"

/* Where the guarantee is told, when there is more to tell than a pure epsilon. */
static const char *const certify_epsilons[] = {"0.5", "1", "2"};
static const char *const certify_deltas[] = {"1e-6", "1e-9"};
enum { CERTIFY_N_DELTAS = sizeof certify_deltas / sizeof *certify_deltas };

/* 1 when the name stands between two of the commas that separate names. */
static int question_names(const char *names, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(names, name); at != NULL; at = strstr(at + 1, name))
        if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return 1;
    return 0;
}

/* Each once; who has no room is among the others. */
static void question_add_reviewer(cellar_question *question, const char *name)
{
    static const char others[] = "others";
    char *text = question->reviewers;
    const size_t length = strlen(text), room = sizeof question->reviewers - length;
    question->options.reviewers = text;
    if (question_names(text, name) || question_names(text, others))
        return;
    if (strlen(name) + 2 + sizeof others + 2 > room)
        name = others;
    snprintf(text + length, room, "%s%s", length > 0 ? ", " : "", name);
}

void cellar_question_add_domains(cellar_question *question, const cellar_schema *schema)
{
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        const cellar_domain domain = cellar_schema_domain(schema, v);
        if (domain < question->options.domain) /* the values go from worst to best */
            question->options.domain = domain;
        if (domain == CELLAR_DOMAIN_DRAFTED)
            question_add_reviewer(question, cellar_schema_reviewer(schema, v));
    }
}

void cellar_question_init(cellar_question *out, const cellar_release_facts *facts)
{
    cellar_certify_options *options = &out->options;
    size_t n = 0;

    *options = cellar_certify_options_default();
    options->neighbours = facts->neighbours;
    options->negatives = facts->negatives;
    out->reviewers[0] = '\0';
    options->choice = facts->choice;
    options->n_cells = facts->cells_per_record;
    options->max_per_unit = facts->max_per_unit;
    options->max_weight = facts->max_weight;
    options->unit = facts->unit;
    options->epsilons = certify_epsilons;
    options->n_epsilons = sizeof certify_epsilons / sizeof *certify_epsilons;
    if (facts->delta != NULL)
        out->deltas[n++] = facts->delta;
    for (size_t i = 0; i < CERTIFY_N_DELTAS; i++) /* each once, however it is written */
        if (facts->delta == NULL || strtod(facts->delta, NULL) != strtod(certify_deltas[i], NULL))
            out->deltas[n++] = certify_deltas[i];
    options->deltas = out->deltas;
    options->n_deltas = n;
}

static void certify_ask(const cellar_protection *protection, cellar_question *out)
{
    cellar_question_init(out, &protection->facts);
    cellar_question_add_domains(out, protection->schema);
    if (out->options.domain == CELLAR_DOMAIN_OBSERVED) /* refused unless asserted */
        out->options.domain = CELLAR_DOMAIN_ASSERTED;
}

/* Post-processing keeps pure and approximate differential privacy, but not the probabilistic one,
 * which was computed without the threshold. */
static int certify_forget_probabilistic(json_t *certificate)
{
    json_t *point;
    size_t i;
    int failed = 0;
    json_array_foreach(json_object_get(certificate, "profile"), i, point) failed |=
        json_object_set_new(point, "delta_probabilistic", json_null());
    return failed;
}

/* What the certificate of the law does not know about this release. */
static int certify_add(json_t *certificate, const cellar_release_facts *facts)
{
    int failed = 0;
    if (facts->threshold > 1)
        failed |= certify_forget_probabilistic(certificate);
    if (facts->below == CELLAR_BELOW_SUPPRESS)
        failed |= json_object_set_new(
            certificate, "post_processing",
            json_sprintf("released values below %lld are suppressed, zeros among them; which cells "
                         "these are follows from the released values alone, so that what is stated "
                         "here about the values holds for the release",
                         (long long) facts->threshold));
    if (facts->noise == CELLAR_NOISE_KEYED)
        failed |= json_object_set_new(
            certificate, "condition",
            json_string("keyed noise: holds against bounded computation as long as the key is "
                        "secret"));
    return failed;
}

/* Takes `found`, the answer of certifying: no answer is told as such, with the sentence that says
 * why, unless memory ended or two computations disagree, which no release may hide. */
static cellar_status certify_tell(cellar_status found, const cellar_certificate *certificate,
                                  const cellar_error *why, const cellar_release_facts *facts,
                                  json_t **out, cellar_error *err)
{
    *out = NULL;
    if (found == CELLAR_ERR_MEMORY)
        return cellar_fail_memory(err, "a certificate");
    if (found == CELLAR_ERR_RULE)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s", why->message);
    *out = found == CELLAR_OK ? cellar_certificate_json(certificate)
                              : json_pack("{s:s, s:s++}", "verdict", "unknown", "reason",
                                          "no certificate could be computed: ", why->message, "");
    if (*out != NULL && certify_add(*out, facts) == 0)
        return CELLAR_OK;
    json_decref(*out);
    *out = NULL;
    return cellar_fail_memory(err, "a certificate");
}

enum { CERTIFY_NAME_BYTES = 200 };

/* What messages call a mechanism. The spec of multinomial-dirichlet has the total of the table,
 * which is a true count: its name has to do. */
static const char *certify_name(const char *spec, char name[CERTIFY_NAME_BYTES])
{
    const char *end = strchr(spec, ':');
    if (strncmp(spec, "multinomial-dirichlet:", 22) != 0)
        return spec;
    snprintf(name, CERTIFY_NAME_BYTES, "%.*s", (int) (end - spec), spec);
    return name;
}

/* The same, and the gate: nothing is released at a level that nobody answers for. `mechanism` is
 * NULL when cells are not drawn one by one. */
static cellar_status certify_finish(cellar_protection *protection,
                                    const cellar_mechanism *mechanism, cellar_status found,
                                    const cellar_error *why, json_t **out, cellar_error *err)
{
    cellar_release_facts *facts = &protection->facts;
    char name[CERTIFY_NAME_BYTES];
    cellar_status status = certify_tell(found, protection->certificate, why, facts, out, err);
    if (status == CELLAR_OK)
        status = cellar_level_of(*out, mechanism, facts->max_weight, &facts->level, err);
    if (status == CELLAR_OK && facts->noise != CELLAR_NOISE_SEEDED)
        status = cellar_level_pass(facts->level, certify_name(facts->mechanism, name),
                                   protection->accepted, err);
    if (status != CELLAR_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

cellar_status cellar_release_certify(cellar_protection *protection,
                                     const cellar_mechanism *mechanism, json_t **out,
                                     cellar_error *err)
{
    cellar_certify_part part = {mechanism, 1};
    cellar_question question;
    cellar_error why;
    cellar_status found;

    certify_ask(protection, &question);
    found = cellar_certify(&part, 1, &question.options, &protection->certificate, &why);
    return certify_finish(protection, mechanism, found, &why, out, err);
}

cellar_status cellar_release_certify_keys(cellar_protection *protection,
                                          const cellar_cell_key *cell_key, json_t **out,
                                          cellar_error *err)
{
    cellar_question question;
    cellar_error why;
    cellar_status found;

    certify_ask(protection, &question);
    found = cellar_certify_cell_key(cell_key, &question.options, &protection->certificate, &why);
    return certify_finish(protection, NULL, found, &why, out, err);
}

cellar_status cellar_release_certify_dirichlet(cellar_protection *protection,
                                               const cellar_dirichlet *dirichlet, int is_invariant,
                                               json_t **out, cellar_error *err)
{
    static const char *const invariants[] = {"total", NULL};
    cellar_question question;
    cellar_error why;
    cellar_status found;

    certify_ask(protection, &question);
    question.options.invariants = is_invariant ? invariants : NULL;
    found = cellar_certify_dirichlet(dirichlet, &question.options, &protection->certificate, &why);
    return certify_finish(protection, NULL, found, &why, out, err);
}
