/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The test vectors of participant/vectors, which the participant in JavaScript is tested with, too:
 * ids, draws and bodies are the same in both programs, and each one's submissions are taken by the
 * roles here. CELLAR_WRITE_VECTORS=1 makes new ones, in which only the part of C is complete. */
#include <ctype.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <sodium.h>

#include "base/file.h"
#include "collection_fixture.h"
#include "protocol/batch.h"
#include "protocol/invitation.h"
#include "protocol/keys.h"
#include "protocol/model.h"
#include "protocol/participant.h"

enum { TEXT_MAX = 1 << 16, N_COLUMNS = 3, N_DRAWS = 100, PAYLOAD_BYTES = 21 };

static const size_t n_levels[N_COLUMNS] = {2, 3, 12};
static const char payload[PAYLOAD_BYTES + 1] = "not an image, 21 long";
static const char *const scenarios[] = {"exact", "random", "redacted", "payload",
                                        "model", "sample", "cube"};

static int scenario_has_file(const char *name)
{
    return strcmp(name, "sample") == 0 || strcmp(name, "cube") == 0;
}

/* What a scenario is about, beside people, k and columns. */
static cellar_invitation_spec scenario_spec(const char *name)
{
    cellar_invitation_spec spec = cellar_invitation_spec_default();
    spec.n_people = 600;
    spec.k = 3;
    spec.exposure = "0.9";
    if (strcmp(name, "random") == 0) {
        spec.epsilon = "1.5";
        spec.delta = "0.01";
        spec.exposure = "1";
    }
    if (strcmp(name, "redacted") == 0) {
        spec.k = 40;
        spec.exposure = "0.5";
        spec.hide = "0.8";
        spec.redacted = "0.9";
        spec.delta = "0.01";
    }
    if (strcmp(name, "model") == 0 || scenario_has_file(name))
        spec.tolerance = "0.02";
    if (scenario_has_file(name))
        spec.delta = "0.01";
    if (strcmp(name, "payload") == 0)
        spec.payload = 100;
    return spec;
}

/* ---- the files ---------------------------------------------------------------- */

static const char *vector_path(const char *scenario, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s", CELLAR_VECTORS, scenario, name);
    return path;
}

static char *vector_read(const char *scenario, const char *name, size_t *length)
{
    char *bytes;
    cellar_error err;
    if (cellar_file_read(vector_path(scenario, name), TEXT_MAX, &bytes, length, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return bytes;
}

/* The value of a line "name value" as bytes; their number. */
static size_t fact(const char *facts, const char *name, unsigned char *out, size_t size)
{
    const char *line = facts;
    size_t n = strlen(name), length = 0;
    while (line != NULL && (strncmp(line, name, n) != 0 || line[n] != ' ')) {
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    if (line == NULL)
        fail_msg("no line '%s'", name);
    assert_int_equal(
        sodium_hex2bin(out, size, line + n + 1, strcspn(line + n + 1, "\n"), NULL, &length, NULL),
        0);
    return length;
}

/* ---- one scenario --------------------------------------------------------------- */

typedef struct vectors {
    char *facts, *by_js;
    cellar_invitation *invitation;
    cellar_decision *decision;
    cellar_collect_keys keys[4];       /* by role; what seals and opens, no signatures */
    cellar_participant participant[3]; /* by round */
    unsigned char ticket[TICKET_BYTES];
    const char *values[N_COLUMNS];
} vectors;

static const char *const values[N_COLUMNS] = {"c1", "c2", "c0"};

static void participant_fill(vectors *v, int round, const cellar_decision *decision)
{
    cellar_participant *p = &v->participant[round];
    *p = (cellar_participant){.invitation = v->invitation, .decision = decision};
    assert_int_equal(fact(v->facts, "participant", p->secret, sizeof p->secret), 32);
    assert_int_equal(round_of(v->invitation, decision, &p->round, NULL), CELLAR_OK);
}

static void vectors_open(vectors *v, const char *scenario)
{
    static const char *const names[] = {"", "curator", "shuffler", "analyst"};
    size_t length;
    char *text = vector_read(scenario, "invitation", &length);
    cellar_error err;
    memset(v, 0, sizeof *v);
    if (cellar_invitation_parse("invitation", text, length, &v->invitation, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_free(text);
    text = vector_read(scenario, "decision", &length);
    if (cellar_decision_parse("decision", text, length, v->invitation, &v->decision, &err) !=
        CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_free(text);
    v->facts = vector_read(scenario, "facts", &length);
    v->by_js = vector_read(scenario, "by-js", &length);
    for (int role = 1; role <= 3; role++) {
        cellar_collect_keys *keys = &v->keys[role];
        keys->role = (cellar_collect_role) role;
        keys->identity = v->invitation->identities[role];
        assert_int_equal(fact(v->facts, names[role], keys->box_secret, 32), 32);
    }
    participant_fill(v, 1, NULL);
    participant_fill(v, 2, v->decision);
    ticket_of_row(v->participant[1].secret, 0, v->ticket);
}

static void vectors_close(vectors *v)
{
    cellar_free(v->facts);
    cellar_free(v->by_js);
    cellar_decision_free(v->decision);
    cellar_invitation_free(v->invitation);
}

/* Opens all messages of a submission: ids of both layers, then the body, one after the other. */
static size_t submission_open(const vectors *v, int round, const unsigned char *submission,
                              unsigned char *out)
{
    const collect_round *r = &v->participant[round].round;
    const cellar_collect_keys *recipient = &v->keys[round == 1 ? 1 : 3];
    size_t at = 0;
    for (size_t i = 0; i < r->n_messages; i++) {
        unsigned char inner[4096], id[MESSAGE_ID_BYTES];
        assert_true(message_peel(r, &v->keys[2],
                                 submission + SUBMISSION_HEADER_BYTES + i * round_outer_bytes(r),
                                 out + at, inner));
        assert_true(message_open(r, recipient, inner, id, out + at + 2 * MESSAGE_ID_BYTES));
        memcpy(out + at + MESSAGE_ID_BYTES, id, sizeof id);
        at += 2 * MESSAGE_ID_BYTES + r->body_bytes;
    }
    return at;
}

/* What chance decides for a hundred records with the same values: a byte for each column. */
static size_t draws(const vectors *v, int round, unsigned char *out)
{
    const cellar_participant *p = &v->participant[round];
    size_t n = 0;
    for (uint64_t row = 0; row < N_DRAWS; row++) {
        unsigned char submission[TEXT_MAX], opened[TEXT_MAX];
        size_t one = 2 * MESSAGE_ID_BYTES + p->round.body_bytes;
        assert_int_equal(cellar_participant_seal(p, row, values, submission, NULL), CELLAR_OK);
        submission_open(v, round, submission, opened);
        for (size_t i = 0; i < p->round.n_messages && round == 1; i++)
            out[n++] = opened[i * one + 2 * MESSAGE_ID_BYTES + 4];
        for (size_t i = 0; round == 2 && i < v->decision->n_columns; i++)
            out[n++] = opened[2 * MESSAGE_ID_BYTES + 4 * i];
    }
    return n;
}

/* ---- writing ---------------------------------------------------------------------- */

static void fact_write(FILE *file, const char *name, const void *bytes, size_t n)
{
    char *digits = malloc(2 * n + 1);
    sodium_bin2hex(digits, 2 * n + 1, bytes, n);
    fprintf(file, "%s %s\n", name, digits);
    free(digits);
}

static void paper_write(const char *scenario, const char *name, const char *text, size_t length)
{
    FILE *file = fopen(vector_path(scenario, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void round_write(FILE *file, const vectors *v, int round)
{
    unsigned char submission[TEXT_MAX], opened[TEXT_MAX];
    const cellar_participant *p = &v->participant[round];
    char name[64];
    assert_int_equal(cellar_participant_seal_with(
                         p, 0, values, payload,
                         v->invitation->terms.payload > 0 ? PAYLOAD_BYTES : 0, submission, NULL),
                     CELLAR_OK);
    snprintf(name, sizeof name, "round-%d", round);
    fact_write(file, name, p->round.id, sizeof p->round.id);
    snprintf(name, sizeof name, "opened-%d", round);
    fact_write(file, name, opened, submission_open(v, round, submission, opened));
    snprintf(name, sizeof name, "draws-%d", round);
    fact_write(file, name, opened, draws(v, round, opened));
    snprintf(name, sizeof name, "by-c-%d", round);
    fact_write(file, name, submission, round_submission_bytes(&p->round));
}

/* The people of a model: a fixed sequence. The papers of a cube differ from those of a sample in
 * one word, so a sample stands for it here. */
static cellar_collect_model *model_make(const char *scenario)
{
    static const char *const names[N_COLUMNS] = {"a", "b", "c"};
    cellar_collect_column columns[N_COLUMNS];
    cellar_collect_model *model;
    scratch *place;
    FILE *file;
    assert_int_equal(scratch_setup((void **) &place), 0);
    file = fopen(scratch_path(place, "sample.csv"), "w");
    assert_non_null(file);
    fputs("a,b,c\n", file);
    for (size_t i = 0; i < 7200; i++)
        fprintf(file, "c%zu,c%zu,c%zu\n", i % n_levels[0], i / 2 % n_levels[1],
                i / 6 % n_levels[2]);
    assert_int_equal(fclose(file), 0);
    for (size_t c = 0; c < N_COLUMNS; c++)
        columns[c] = (cellar_collect_column){names[c], numbered_list("c", n_levels[c])};
    assert_int_equal(cellar_collect_model_open(CELLAR_COLLECT_SAMPLE,
                                               scratch_path(place, "sample.csv"), columns,
                                               N_COLUMNS, &model, NULL),
                     CELLAR_OK);
    if (strcmp(scenario, "cube") == 0)
        model->kind = CELLAR_COLLECT_CUBE;
    for (size_t c = 0; c < N_COLUMNS; c++)
        cellar_codelist_free((cellar_codelist *) columns[c].codes);
    scratch_teardown((void **) &place);
    return model;
}

static cellar_decision *scenario_decide(const fixture *f, const cellar_collect_margins *margins,
                                        const cellar_collect_model *model)
{
    cellar_decision *decision;
    cellar_error err;
    if (model == NULL)
        return fixture_decision(f, margins);
    if (cellar_decision_create_modelled(margins, model, f->own.invitation, f->own.keys[1],
                                        &decision, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return decision;
}

static void scenario_write(const char *scenario)
{
    static const char *const names[] = {"", "curator", "shuffler", "analyst"};
    unsigned char secret[32];
    cellar_collect_report report;
    cellar_invitation_spec spec = scenario_spec(scenario);
    cellar_collect_model *model = NULL;
    fixture f = {0};
    vectors v;
    FILE *file;
    size_t length;
    const char *text;

    if (scenario_has_file(scenario))
        spec.model = model = model_make(scenario);
    assert_int_equal(fixture_open(&f, n_levels, N_COLUMNS, spec), 0);
    people_round(&f.p, &f.own, NULL, f.place->folder);
    cellar_collect_margins *margins = fixture_margins(&f, &report);
    cellar_decision *decision = scenario_decide(&f, margins, model);
    mkdir(vector_path(scenario, ""), 0777);
    text = cellar_invitation_text(f.own.invitation, &length);
    paper_write(scenario, "invitation", text, length);
    text = cellar_decision_text(decision, &length);
    paper_write(scenario, "decision", text, length);
    paper_write(scenario, "by-js", "", 0);
    remove(vector_path(scenario, "curator.pub"));
    assert_int_equal(cellar_collect_identity_write(&f.own.keys[1]->identity, CELLAR_COLLECT_CURATOR,
                                                   vector_path(scenario, "curator.pub"), NULL),
                     CELLAR_OK);
    file = fopen(vector_path(scenario, "facts"), "w");
    assert_non_null(file);
    for (int role = 1; role <= 3; role++)
        fact_write(file, names[role], f.own.keys[role]->box_secret, 32);
    randombytes_buf(secret, sizeof secret);
    fact_write(file, "participant", secret, sizeof secret);
    assert_int_equal(fflush(file), 0);
    vectors_open(&v, scenario);
    fact_write(file, "ticket", v.ticket, sizeof v.ticket);
    round_write(file, &v, 1);
    round_write(file, &v, 2);
    assert_int_equal(fclose(file), 0);
    vectors_close(&v);
    cellar_decision_free(decision);
    cellar_collect_margins_free(margins);
    cellar_collect_model_free(model);
    void *state = &f;
    fixture_close(&state);
}

/* ---- checks ------------------------------------------------------------------------ */

/* What was opened once is what is sealed and opened today. */
static void test_the_same_answers(void **state)
{
    unsigned char expected[TEXT_MAX], submission[TEXT_MAX], opened[TEXT_MAX];
    (void) state;
    for (size_t s = 0; s < sizeof scenarios / sizeof *scenarios; s++) {
        vectors v;
        vectors_open(&v, scenarios[s]);
        assert_int_equal(fact(v.facts, "ticket", expected, sizeof expected), sizeof v.ticket);
        assert_memory_equal(expected, v.ticket, sizeof v.ticket);
        for (int round = 1; round <= 2; round++) {
            char name[16];
            size_t n;
            snprintf(name, sizeof name, "round-%d", round);
            assert_int_equal(fact(v.facts, name, expected, sizeof expected), 32);
            assert_memory_equal(expected, v.participant[round].round.id, 32);
            assert_int_equal(
                cellar_participant_seal_with(&v.participant[round], 0, values, payload,
                                             v.invitation->terms.payload > 0 ? PAYLOAD_BYTES : 0,
                                             submission, NULL),
                CELLAR_OK);
            snprintf(name, sizeof name, "opened-%d", round);
            n = fact(v.facts, name, expected, sizeof expected);
            assert_int_equal(submission_open(&v, round, submission, opened), n);
            assert_memory_equal(opened, expected, n);
            snprintf(name, sizeof name, "draws-%d", round);
            n = fact(v.facts, name, expected, sizeof expected);
            assert_int_equal(draws(&v, round, opened), n);
            assert_memory_equal(opened, expected, n);
        }
        vectors_close(&v);
    }
}

/* The shuffler takes what either program sealed, once: it is the same answer of the same person. */
static void test_both_programs_are_heard(void **state)
{
    unsigned char expected[TEXT_MAX], submission[TEXT_MAX], opened[TEXT_MAX];
    static const char *const by[] = {"by-c-", "by-js-"};
    scratch *place = *state;
    for (size_t s = 0; s < sizeof scenarios / sizeof *scenarios; s++)
        for (int round = 1; round <= 2; round++) {
            cellar_shuffler *shuffler;
            vectors v;
            char name[16];
            vectors_open(&v, scenarios[s]);
            assert_int_equal(cellar_shuffler_open(place->folder, v.invitation,
                                                  round == 1 ? NULL : v.decision, &v.keys[2],
                                                  &shuffler, NULL),
                             CELLAR_OK);
            snprintf(name, sizeof name, "opened-%d", round);
            fact(v.facts, name, expected, sizeof expected);
            for (int program = 0; program < 2; program++) {
                int is_new;
                size_t n, length;
                snprintf(name, sizeof name, "%s%d", by[program], round);
                length =
                    fact(program == 0 ? v.facts : v.by_js, name, submission, sizeof submission);
                assert_int_equal(cellar_shuffler_take(shuffler, submission, length, &is_new, NULL),
                                 CELLAR_OK);
                assert_int_equal(is_new, program == 0);
                n = submission_open(&v, round, submission, opened);
                assert_memory_equal(opened, expected, n);
            }
            assert_int_equal(cellar_shuffler_n_held(shuffler), 1);
            cellar_shuffler_close(shuffler);
            remove(scratch_path(place, round == 1 ? "round-1.spool" : "round-2.spool"));
            vectors_close(&v);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_answers),
        cmocka_unit_test_setup_teardown(test_both_programs_are_heard, scratch_setup,
                                        scratch_teardown),
    };
    if (getenv("CELLAR_WRITE_VECTORS") != NULL)
        for (size_t s = 0; s < sizeof scenarios / sizeof *scenarios; s++)
            scenario_write(scenarios[s]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
