/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, invitations and messages of a collection: what fits is opened, all else is refused. */
#include "collection.h"

#include "fail_every.h"
#include "protocol/message.h"

static const size_t levels[] = {2, 3, 5};
static cellar_error err;

typedef struct fixture {
    scratch *place;
    collection own, other;
} fixture;

static fixture shared;

static int set_up(void **state)
{
    if (scratch_setup((void **) &shared.place) != 0)
        return 1;
    collection_open(&shared.own, shared.place, levels, 3, 10, 2, "0.05");
    collection_open(&shared.other, shared.place, levels, 3, 10, 2, "0.05");
    *state = &shared;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    collection_close(&f->own);
    collection_close(&f->other);
    return scratch_teardown((void **) &f->place);
}

/* ---- keys ------------------------------------------------------------------ */

static void test_identities_are_read_back_for_their_role_only(void **state)
{
    fixture *f = *state;
    const cellar_collect_identity *own = cellar_collect_keys_identity(f->own.keys[2]);
    cellar_collect_identity again;
    const char *path = scratch_path(f->place, "shuffler.pub");
    assert_int_equal(cellar_collect_identity_write(own, CELLAR_COLLECT_SHUFFLER, path, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_collect_identity_read(path, CELLAR_COLLECT_SHUFFLER, &again, &err),
                     CELLAR_OK);
    assert_memory_equal(own, &again, sizeof again);
    assert_int_equal(cellar_collect_identity_read(path, CELLAR_COLLECT_CURATOR, &again, &err),
                     CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "curator"));
}

static void test_one_key_file_gives_each_role_other_keys(void **state)
{
    fixture *f = *state;
    cellar_collect_keys *keys[4];
    cellar_key *key;
    assert_int_equal(cellar_key_create(scratch_path(f->place, "one"), NULL, &err), CELLAR_OK);
    assert_int_equal(cellar_key_read(f->place->path, &key, &err), CELLAR_OK);
    for (int role = 1; role <= 3; role++)
        assert_int_equal(
            cellar_collect_keys_create(key, (cellar_collect_role) role, &keys[role], &err),
            CELLAR_OK);
    for (int a = 1; a <= 3; a++)
        for (int b = 1; b < a; b++) {
            const cellar_collect_identity *x = cellar_collect_keys_identity(keys[a]);
            const cellar_collect_identity *y = cellar_collect_keys_identity(keys[b]);
            assert_memory_not_equal(x->box, y->box, 32);
            assert_memory_not_equal(x->sign, y->sign, 32);
        }
    assert_int_equal(cellar_collect_keys_create(key, (cellar_collect_role) 4, &keys[0], &err),
                     CELLAR_ERR_ARGUMENT);
    for (int role = 1; role <= 3; role++)
        cellar_collect_keys_free(keys[role]);
    cellar_key_free(key);
}

/* An invitation whose curator has key 0, its shuffler key `shuffler`, its analyst key `analyst`. */
static cellar_status invite_with(cellar_key *const keys[3], int shuffler, int analyst)
{
    cellar_codelist *codes = numbered_list("c", 2);
    const cellar_collect_column column = {"a", codes};
    cellar_invitation_spec spec = {.title = "t",
                                   .n_people = 10,
                                   .k = 2,
                                   .exposure = "0.1",
                                   .columns = &column,
                                   .n_columns = 1};
    const int files[] = {0, 0, shuffler, analyst};
    cellar_collect_keys *roles[4];
    cellar_invitation *invitation;
    cellar_status status;
    for (int role = 1; role <= 3; role++)
        assert_int_equal(cellar_collect_keys_create(keys[files[role]], (cellar_collect_role) role,
                                                    &roles[role], &err),
                         CELLAR_OK);
    spec.shuffler = *cellar_collect_keys_identity(roles[2]);
    spec.analyst = *cellar_collect_keys_identity(roles[3]);
    status = cellar_invitation_create(&spec, roles[1], &invitation, &err);
    cellar_invitation_free(invitation);
    for (int role = 1; role <= 3; role++)
        cellar_collect_keys_free(roles[role]);
    cellar_codelist_free(codes);
    return status;
}

static void test_one_key_file_is_not_for_two_roles(void **state)
{
    fixture *f = *state;
    static const char *const names[] = {"first", "second", "third"};
    cellar_key *keys[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cellar_key_create(scratch_path(f->place, names[i]), NULL, &err),
                         CELLAR_OK);
        assert_int_equal(cellar_key_read(f->place->path, &keys[i], &err), CELLAR_OK);
    }
    for (int shuffler = 0; shuffler < 3; shuffler++)
        for (int analyst = 0; analyst < 3; analyst++) {
            int is_apart = shuffler != 0 && analyst != 0 && shuffler != analyst;
            assert_int_equal(invite_with(keys, shuffler, analyst),
                             is_apart ? CELLAR_OK : CELLAR_ERR_RULE);
            if (!is_apart)
                assert_non_null(strstr(err.message, "one key file"));
        }
    for (int i = 0; i < 3; i++)
        cellar_key_free(keys[i]);
}

/* ---- invitations ----------------------------------------------------------- */

static void test_an_invitation_says_what_was_asked(void **state)
{
    fixture *f = *state;
    const cellar_invitation *invitation = f->own.invitation;
    assert_string_equal(cellar_invitation_title(invitation), "a test");
    assert_int_equal(cellar_invitation_n_people(invitation), 10);
    assert_int_equal(cellar_invitation_k(invitation), 2);
    assert_true(cellar_invitation_exposure(invitation) == 0.05);
    assert_int_equal(cellar_invitation_n_columns(invitation), 3);
    assert_string_equal(cellar_invitation_column(invitation, 2), "c");
    assert_int_equal(cellar_codelist_n_codes(cellar_invitation_codes(invitation, 2)), 5);
    /* The same questions asked again are another collection. */
    assert_memory_not_equal(cellar_invitation_session(invitation),
                            cellar_invitation_session(f->other.invitation), 32);
}

/* Whatever byte is changed, cut or added: the invitation is refused, with a reason. */
static void test_no_byte_of_an_invitation_can_be_changed(void **state)
{
    fixture *f = *state;
    size_t length;
    const char *text = cellar_invitation_text(f->own.invitation, &length);
    char *copy = malloc(length + 1);
    cellar_invitation *read;
    assert_int_equal(cellar_invitation_parse("x", text, length, &read, &err), CELLAR_OK);
    cellar_invitation_free(read);
    for (size_t i = 0; i < length; i += 3) {
        memcpy(copy, text, length);
        copy[i] ^= 1;
        err.message[0] = '\0';
        assert_int_not_equal(cellar_invitation_parse("x", copy, length, &read, &err), CELLAR_OK);
        assert_null(read);
        assert_true(err.message[0] != '\0');
    }
    for (size_t n = 0; n < length; n += 7)
        assert_int_not_equal(cellar_invitation_parse("x", text, n, &read, &err), CELLAR_OK);
    memcpy(copy, text, length);
    copy[length] = '\n';
    assert_int_not_equal(cellar_invitation_parse("x", copy, length + 1, &read, &err), CELLAR_OK);
    free(copy);
}

static void test_invitations_that_ask_nonsense(void **state)
{
    fixture *f = *state;
    cellar_codelist *codes = numbered_list("c", 2);
    const cellar_collect_column twice[] = {{"a", codes}, {"a", codes}};
    const cellar_collect_column broken[] = {{"a\nb", codes}};
    cellar_invitation_spec good = {
        .title = "t", .n_people = 10, .k = 2, .exposure = "0.1", .columns = twice, .n_columns = 1};
    cellar_invitation_spec bad[9];
    cellar_invitation *invitation;
    collection_name_roles(&f->own, &good);
    for (size_t i = 0; i < 9; i++)
        bad[i] = good;
    bad[0].title = "";
    bad[1].n_people = 1;
    bad[2].k = 0;
    bad[3].exposure = "1.1";
    bad[4].exposure = NULL;
    bad[5].n_columns = 2;
    bad[6].columns = broken;
    bad[7].n_columns = 0;
    bad[8].k = 11; /* of 10 people */
    for (size_t i = 0; i < 9; i++) {
        assert_int_not_equal(cellar_invitation_create(&bad[i], f->own.keys[1], &invitation, &err),
                             CELLAR_OK);
        assert_null(invitation);
    }
    assert_int_equal(cellar_invitation_create(&good, f->own.keys[1], &invitation, &err), CELLAR_OK);
    cellar_invitation_free(invitation);
    cellar_codelist_free(codes);
}

/* ---- messages -------------------------------------------------------------- */

typedef struct letter {
    collect_round round;
    unsigned char ticket[TICKET_BYTES], body[MESSAGE_BODY_MAX];
    unsigned char outer[MESSAGE_OUTER_MAX], inner[MESSAGE_INNER_MAX];
    unsigned char id[MESSAGE_ID_BYTES], inner_id[MESSAGE_ID_BYTES];
} letter;

static void letter_write(fixture *f, letter *l, size_t column, uint32_t level)
{
    round_one(f->own.invitation, &l->round);
    memset(l->ticket, 7, sizeof l->ticket);
    value_write(column, level, l->body);
    message_seal(&l->round, l->ticket, column, l->body, l->outer);
}

static void test_two_layers_come_off_in_their_order(void **state)
{
    fixture *f = *state;
    letter l, again;
    unsigned char body[MESSAGE_BODY_MAX];
    size_t column;
    uint32_t level;
    letter_write(f, &l, 2, 4);
    letter_write(f, &again, 2, 4);
    assert_int_equal(round_outer_bytes(&l.round), 8 + 2 * (48 + 32));
    assert_true(message_peel(&l.round, f->own.keys[2], l.outer, l.id, l.inner));
    assert_true(message_open(&l.round, f->own.keys[1], l.inner, l.inner_id, body));
    assert_true(value_read(f->own.invitation, body, &column, &level));
    assert_int_equal(column, 2);
    assert_int_equal(level, 4);
    assert_memory_not_equal(l.id, l.inner_id, sizeof l.id);
    /* Sealed again: other bytes, the same ids. */
    assert_memory_not_equal(l.outer, again.outer, round_outer_bytes(&l.round));
    assert_true(message_peel(&l.round, f->own.keys[2], again.outer, again.id, again.inner));
    assert_memory_equal(l.id, again.id, sizeof l.id);
    assert_memory_not_equal(l.inner, again.inner, round_inner_bytes(&l.round));
}

static void test_only_the_right_role_opens(void **state)
{
    fixture *f = *state;
    letter l;
    unsigned char id[MESSAGE_ID_BYTES], body[MESSAGE_INNER_MAX];
    letter_write(f, &l, 0, 1);
    for (int role = 1; role <= 3; role++) {
        assert_int_equal(message_peel(&l.round, f->own.keys[role], l.outer, id, l.inner),
                         role == CELLAR_COLLECT_SHUFFLER);
        assert_false(message_peel(&l.round, f->other.keys[role], l.outer, id, body));
    }
    for (int role = 1; role <= 3; role++)
        assert_int_equal(message_open(&l.round, f->own.keys[role], l.inner, id, body),
                         role == CELLAR_COLLECT_CURATOR);
}

/* The keys are right, but the round, the collection or the decision is not. */
static void test_a_message_belongs_to_one_round(void **state)
{
    fixture *f = *state;
    letter l;
    collect_round rounds[3];
    unsigned char decision[CELLAR_COLLECT_ID_BYTES] = {1}, id[MESSAGE_ID_BYTES];
    unsigned char inner[MESSAGE_INNER_MAX];
    letter_write(f, &l, 0, 1);
    round_one(f->other.invitation, &rounds[0]);
    round_two(f->own.invitation, decision, 2, &rounds[1]); /* bodies of the same length */
    decision[0] = 2;
    round_two(f->own.invitation, decision, 2, &rounds[2]);
    assert_int_equal(round_outer_bytes(&rounds[1]), round_outer_bytes(&l.round));
    for (size_t i = 0; i < 3; i++)
        assert_false(message_peel(&rounds[i], f->own.keys[2], l.outer, id, inner));
    message_seal(&rounds[1], l.ticket, 0, l.body, l.outer);
    assert_false(message_peel(&rounds[2], f->own.keys[2], l.outer, id, inner));
    assert_true(message_peel(&rounds[1], f->own.keys[2], l.outer, id, inner));
    assert_true(message_open(&rounds[1], f->own.keys[3], inner, id, l.body));
    assert_false(message_open(&rounds[2], f->own.keys[3], inner, id, l.body));
}

static void test_no_byte_of_a_message_can_be_changed(void **state)
{
    fixture *f = *state;
    letter l;
    unsigned char id[MESSAGE_ID_BYTES], out[MESSAGE_INNER_MAX];
    letter_write(f, &l, 1, 2);
    for (size_t i = 0; i < round_outer_bytes(&l.round); i++) {
        l.outer[i] ^= 0x40;
        assert_false(message_peel(&l.round, f->own.keys[2], l.outer, id, out));
        l.outer[i] ^= 0x40;
    }
    assert_true(message_peel(&l.round, f->own.keys[2], l.outer, id, l.inner));
    for (size_t i = 0; i < round_inner_bytes(&l.round); i++) {
        l.inner[i] ^= 0x40;
        assert_false(message_open(&l.round, f->own.keys[1], l.inner, id, out));
        l.inner[i] ^= 0x40;
    }
}

static void test_values_outside_their_column(void **state)
{
    fixture *f = *state;
    unsigned char body[MESSAGE_VALUE_BYTES];
    size_t column;
    uint32_t level;
    for (size_t c = 0; c < 4; c++)
        for (uint32_t v = 0; v < 7; v++) {
            value_write(c, v, body);
            assert_int_equal(value_read(f->own.invitation, body, &column, &level),
                             c < 3 && v < levels[c]);
        }
    value_write(0, 0, body);
    body[3] = 1;
    assert_false(value_read(f->own.invitation, body, &column, &level));
}

static void test_ids_differ_by_all_that_matters(void **state)
{
    fixture *f = *state;
    enum { N = 6 };
    letter l[N];
    unsigned char secret[TICKET_BYTES] = {3};
    for (size_t i = 0; i < N; i++) {
        letter_write(f, &l[i], 0, 1);
        ticket_of_row(secret, i / 3, l[i].ticket);
        message_seal(&l[i].round, l[i].ticket, i % 3, l[i].body, l[i].outer);
        assert_true(message_peel(&l[i].round, f->own.keys[2], l[i].outer, l[i].id, l[i].inner));
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(l[i].id, l[j].id, MESSAGE_ID_BYTES);
    }
}

static void test_headers_of_submissions(void **state)
{
    fixture *f = *state;
    collect_round round;
    unsigned char *bytes;
    size_t length;
    round_one(f->own.invitation, &round);
    length = round_submission_bytes(&round);
    bytes = calloc(length + 1, 1);
    submission_header(&round, bytes);
    assert_int_equal(submission_check(&round, bytes, length, &err), CELLAR_OK);
    for (size_t n = 0; n <= length + 1; n++)
        assert_int_equal(submission_check(&round, bytes, n, &err) == CELLAR_OK, n == length);
    for (size_t i = 0; i < SUBMISSION_HEADER_BYTES; i++) {
        bytes[i] ^= 1;
        assert_int_not_equal(submission_check(&round, bytes, length, &err), CELLAR_OK);
        bytes[i] ^= 1;
    }
    free(bytes);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    fixture *f = context;
    cellar_invitation *invitation = NULL;
    size_t length;
    const char *text = cellar_invitation_text(f->own.invitation, &length);
    cellar_status status = cellar_invitation_parse("x", text, length, &invitation, e);
    cellar_invitation_free(invitation);
    return status;
}

static void test_memory_may_end(void **state)
{
    check_fail_every(scenario, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identities_are_read_back_for_their_role_only),
        cmocka_unit_test(test_one_key_file_gives_each_role_other_keys),
        cmocka_unit_test(test_one_key_file_is_not_for_two_roles),
        cmocka_unit_test(test_an_invitation_says_what_was_asked),
        cmocka_unit_test(test_no_byte_of_an_invitation_can_be_changed),
        cmocka_unit_test(test_invitations_that_ask_nonsense),
        cmocka_unit_test(test_two_layers_come_off_in_their_order),
        cmocka_unit_test(test_only_the_right_role_opens),
        cmocka_unit_test(test_a_message_belongs_to_one_round),
        cmocka_unit_test(test_no_byte_of_a_message_can_be_changed),
        cmocka_unit_test(test_values_outside_their_column),
        cmocka_unit_test(test_ids_differ_by_all_that_matters),
        cmocka_unit_test(test_headers_of_submissions),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
