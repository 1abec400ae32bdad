/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Payloads: they reach the analyst with their rows, and no envelope shows how long one is. */
#include <sodium.h>

#include "collection_fixture.h"
#include "protocol/batch.h"
#include "protocol/payload.h"

enum { N_PEOPLE = 12, PAYLOAD = 3000 };

static const size_t n_levels[] = {2, 2};

typedef struct attached {
    fixture f;
    cellar_decision *decision;
    collect_round round;
} attached;

static int setup(void **state)
{
    static attached a;
    cellar_invitation_spec spec = cellar_invitation_spec_default();
    cellar_collect_report report;
    cellar_collect_margins *margins;

    spec.n_people = N_PEOPLE;
    spec.k = 2;
    spec.exposure = "1";
    spec.payload = PAYLOAD;
    *state = &a;
    if (fixture_open(&a.f, n_levels, 2, spec) != 0)
        return 1;
    people_round(&a.f.p, &a.f.own, NULL, a.f.place->folder);
    margins = fixture_margins(&a.f, &report);
    a.decision = fixture_decision(&a.f, margins);
    cellar_collect_margins_free(margins);
    return round_of(a.f.own.invitation, a.decision, &a.round, NULL) != CELLAR_OK;
}

static int teardown(void **state)
{
    attached *a = *state;
    void *f = &a->f;
    cellar_decision_free(a->decision);
    return fixture_close(&f);
}

static cellar_participant *attached_participant(const attached *a)
{
    cellar_collect_policy policy = people_policy();
    cellar_participant *participant;
    assert_int_equal(cellar_participant_create(a->f.own.invitation, a->decision, &policy,
                                               a->f.p.key, &participant, NULL),
                     CELLAR_OK);
    return participant;
}

/* Somebody's payload: as many bytes as their number squared, all of them their number. */
static size_t payload_of(size_t row, unsigned char bytes[PAYLOAD])
{
    memset(bytes, (int) row + 1, row * row);
    return row * row;
}

static void person_seal(const attached *a, const cellar_participant *participant, size_t row,
                        unsigned char *sealed)
{
    unsigned char payload[PAYLOAD];
    char codes[2][8];
    const char *const values[] = {codes[0], codes[1]};
    for (size_t c = 0; c < 2; c++)
        snprintf(codes[c], sizeof codes[c], "c%u", (unsigned) a->f.p.levels[row][c]);
    assert_int_equal(cellar_participant_seal_with(participant, row, values, payload,
                                                  payload_of(row, payload), sealed, NULL),
                     CELLAR_OK);
}

static void test_an_invitation_says_how_long(void **state)
{
    attached *a = *state;
    cellar_invitation_spec spec = cellar_invitation_spec_default();
    cellar_codelist *codes = numbered_list("c", 2);
    const cellar_collect_column column = {"a", codes};
    cellar_invitation *invitation;
    size_t length;
    const uint64_t sizes[] = {0, 1, CELLAR_COLLECT_PAYLOAD_MAX, CELLAR_COLLECT_PAYLOAD_MAX + 1};

    assert_int_equal(cellar_invitation_payload_bytes(a->f.own.invitation), PAYLOAD);
    assert_non_null(strstr(cellar_decision_text(a->decision, &length), "\npayload 3000\n"));
    assert_non_null(strstr(cellar_decision_text(a->decision, &length), "makes the row theirs"));
    spec.title = "sizes";
    spec.n_people = spec.k = 2;
    spec.exposure = "1";
    spec.columns = &column;
    spec.n_columns = 1;
    collection_name_roles(&a->f.own, &spec);
    for (size_t i = 0; i < 4; i++) {
        spec.payload = sizes[i];
        assert_int_equal(cellar_invitation_create(&spec, a->f.own.keys[1], &invitation, NULL),
                         i < 3 ? CELLAR_OK : CELLAR_ERR_INPUT);
        cellar_invitation_free(invitation);
    }
    cellar_codelist_free(codes);
}

/* Every submission has the same length, whatever is attached; too much is refused. */
static void test_lengths_show_nothing(void **state)
{
    attached *a = *state;
    cellar_participant *participant = attached_participant(a);
    size_t length = cellar_participant_size_bytes(participant);
    unsigned char *sealed = calloc(1, length), payload[PAYLOAD + 1] = {0};
    const char *const values[] = {"c0", "c0"};
    cellar_error err;

    assert_int_equal(length, SUBMISSION_HEADER_BYTES + 4 * cellar_decision_n_columns(a->decision) +
                                 4 + PAYLOAD + 2 * MESSAGE_LAYER_BYTES);
    assert_int_equal(length, cellar_collect_submission_bytes(a->f.own.invitation, a->decision));
    assert_int_equal(
        cellar_participant_seal_with(participant, 0, values, payload, PAYLOAD, sealed, &err),
        CELLAR_OK);
    assert_int_equal(
        cellar_participant_seal_with(participant, 0, values, payload, PAYLOAD + 1, sealed, &err),
        CELLAR_ERR_INPUT);
    free(sealed);
    cellar_participant_free(participant);
}

/* The first payload that is opened decides which person it is; the row must be theirs. */
static int check_row(void *context, const unsigned char *id, const unsigned char *body)
{
    attached *a = context;
    const unsigned char *payload = body + 4 * cellar_decision_n_columns(a->decision);
    size_t length = (size_t) bytes_get(payload, 4), row = length > 0 ? payload[4] - 1u : 0;
    uint32_t levels[CELLAR_MAX_VARIABLES];
    (void) id;
    assert_int_equal(length, row * row);
    assert_true(row_read(a->f.own.invitation, a->decision, body, levels));
    for (size_t i = 0; i < cellar_decision_n_columns(a->decision); i++)
        assert_int_equal(levels[i], a->f.p.levels[row][cellar_decision_column(a->decision, i)]);
    return 1;
}

static void test_payloads_reach_the_analyst_alone(void **state)
{
    attached *a = *state;
    cellar_participant *participant = attached_participant(a);
    size_t length = cellar_participant_size_bytes(participant);
    unsigned char *sealed = malloc(length), *opened = malloc(length);
    unsigned char id[MESSAGE_ID_BYTES];
    cellar_shuffler *shuffler;
    collect_batch batch;
    cellar_collect_report report;
    int is_new;

    assert_int_equal(cellar_shuffler_open(a->f.place->folder, a->f.own.invitation, a->decision,
                                          a->f.own.keys[2], &shuffler, NULL),
                     CELLAR_OK);
    for (size_t i = 0; i < N_PEOPLE; i++) {
        person_seal(a, participant, i, sealed);
        assert_int_equal(cellar_shuffler_take(shuffler, sealed, length, &is_new, NULL), CELLAR_OK);
    }
    /* What the shuffler takes off is closed to itself and to the curator. */
    assert_true(
        message_peel(&a->round, a->f.own.keys[2], sealed + SUBMISSION_HEADER_BYTES, id, opened));
    for (int role = 1; role <= 3; role++)
        assert_int_equal(message_open(&a->round, a->f.own.keys[role], opened, id, sealed),
                         role == CELLAR_COLLECT_ANALYST);
    people_forward(&a->f.p, shuffler);
    assert_int_equal(
        collect_batch_read(scratch_path(a->f.place, "round-2.batch"), &a->round, &batch, NULL),
        CELLAR_OK);
    assert_int_equal(
        collect_batch_open_all(&batch, &a->round, a->f.own.keys[3], check_row, a, &report, NULL),
        CELLAR_OK);
    assert_int_equal(report.n_counted, N_PEOPLE);
    collect_batch_clear(&batch);
    free(sealed);
    free(opened);
    cellar_participant_free(participant);
}

/* Bytes behind the payload would be a second, hidden one; a length beyond the place is no length.
 */
static void test_padding_is_zeros(void **state)
{
    unsigned char payload[4 + 8] = {3, 0, 0, 0, 'a', 'b', 'c'};
    (void) state;
    assert_true(payload_is_valid(payload, 8));
    payload[11] = 1;
    assert_false(payload_is_valid(payload, 8));
    payload[11] = 0;
    payload[0] = 9;
    assert_false(payload_is_valid(payload, 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_invitation_says_how_long),
        cmocka_unit_test(test_lengths_show_nothing),
        cmocka_unit_test(test_payloads_reach_the_analyst_alone),
        cmocka_unit_test(test_padding_is_zeros),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
