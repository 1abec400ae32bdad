/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shuffler: what it took survives and counts once, nothing leaves early, and in no order that
 * anybody could know. */
#include "collection_fixture.h"

#include "protocol/batch.h"

enum { N = 60 };
static const size_t levels[] = {2, 3, 4};
static cellar_error err;

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {.n_people = N, .k = 2, .exposure = "0.9"};
    *state = &f;
    return fixture_open(&f, levels, 3, spec);
}

static cellar_shuffler *open_shuffler(fixture *f)
{
    cellar_shuffler *shuffler;
    if (cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2], &shuffler,
                             &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return shuffler;
}

static int take(cellar_shuffler *shuffler, const void *bytes, size_t length)
{
    int is_new;
    cellar_status status = cellar_shuffler_take(shuffler, bytes, length, &is_new, &err);
    if (status != CELLAR_OK)
        fail_msg("%s", err.message);
    return is_new;
}

static void test_what_was_taken_survives_and_counts_once(void **state)
{
    fixture *f = *state;
    cellar_participant *participant = fixture_participant(f);
    size_t length = cellar_participant_size_bytes(participant);
    unsigned char *bytes = malloc(length);
    cellar_shuffler *shuffler;
    FILE *spool;
    scratch_walk(f->place, 1);
    shuffler = open_shuffler(f);
    assert_int_equal(cellar_shuffler_size_bytes(shuffler), length);
    for (size_t i = 0; i < 10; i++) {
        people_seal(&f->p, participant, i, bytes);
        assert_true(take(shuffler, bytes, length));
        assert_false(take(shuffler, bytes, length)); /* the same bytes again */
        people_seal(&f->p, participant, i, bytes);
        assert_false(take(shuffler, bytes, length)); /* sealed anew */
    }
    assert_int_equal(cellar_shuffler_sync(shuffler, &err), CELLAR_OK);
    cellar_shuffler_close(shuffler);
    spool = fopen(scratch_path(f->place, "round-1.spool"), "ab");
    assert_int_equal(fwrite(bytes, 1, 100, spool), 100); /* a crash in the middle of a record */
    fclose(spool);
    shuffler = open_shuffler(f);
    assert_int_equal(cellar_shuffler_n_held(shuffler), 10);
    people_send(&f->p, &f->own, NULL, shuffler); /* all send, ten of them once more */
    assert_int_equal(cellar_shuffler_n_held(shuffler), N);
    cellar_shuffler_close(shuffler);
    free(bytes);
    cellar_participant_free(participant);
}

static void test_a_spool_is_one_shufflers_and_whole(void **state)
{
    fixture *f = *state;
    cellar_shuffler *shuffler, *second;
    FILE *spool;
    long length;
    scratch_walk(f->place, 1);
    shuffler = open_shuffler(f);
    assert_int_equal(scratch_mode(f->place, "round-1.spool"), 0600);
    people_send(&f->p, &f->own, NULL, shuffler);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &second, &err),
                     CELLAR_ERR_EXISTS);
    assert_int_equal(cellar_shuffler_sync(shuffler, &err), CELLAR_OK);
    cellar_shuffler_close(shuffler);
    spool = fopen(scratch_path(f->place, "round-1.spool"), "r+b");
    fseek(spool, 0, SEEK_END);
    length = ftell(spool);
    fseek(spool, length / 2, SEEK_SET);
    fputs("damage", spool);
    fclose(spool);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &second, &err),
                     CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "damaged"));
    assert_int_equal(truncate(scratch_path(f->place, "round-1.spool"), length / 2), 0);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &second, &err),
                     CELLAR_ERR_INPUT); /* what was acknowledged is missing */
}

/* A spool that somebody made before, to read it later under another name. */
static void test_a_spool_of_others_is_refused(void **state)
{
    fixture *f = *state;
    cellar_shuffler *shuffler;
    char other[400];
    scratch_walk(f->place, 1);
    scratch_write(f->place, "theirs", "");
    snprintf(other, sizeof other, "%s", scratch_path(f->place, "theirs"));
    assert_int_equal(link(other, scratch_path(f->place, "round-1.spool")), 0);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &shuffler, &err),
                     CELLAR_ERR_RULE);
}

static void test_forged_cut_and_foreign_submissions_are_refused(void **state)
{
    fixture *f = *state;
    cellar_participant *participant = fixture_participant(f);
    size_t length = cellar_participant_size_bytes(participant);
    size_t outer = (length - SUBMISSION_HEADER_BYTES) / 3;
    unsigned char *bytes = malloc(length), *other = malloc(length);
    cellar_shuffler *shuffler;
    int is_new;
    scratch_walk(f->place, 1);
    shuffler = open_shuffler(f);
    people_seal(&f->p, participant, 0, bytes);
    people_seal(&f->p, participant, 1, other);
    for (size_t i = 0; i < length; i += 37) {
        bytes[i] ^= 8;
        assert_int_not_equal(cellar_shuffler_take(shuffler, bytes, length, &is_new, &err),
                             CELLAR_OK);
        assert_false(is_new);
        bytes[i] ^= 8;
        assert_int_not_equal(cellar_shuffler_take(shuffler, bytes, i, &is_new, &err), CELLAR_OK);
    }
    assert_int_equal(cellar_shuffler_n_held(shuffler), 0);
    assert_true(take(shuffler, bytes, length));
    memcpy(other + SUBMISSION_HEADER_BYTES, bytes + SUBMISSION_HEADER_BYTES, outer);
    assert_int_equal(cellar_shuffler_take(shuffler, other, length, &is_new, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "repeats"));
    memcpy(other + SUBMISSION_HEADER_BYTES, other + SUBMISSION_HEADER_BYTES + outer, outer);
    assert_int_equal(cellar_shuffler_take(shuffler, other, length, &is_new, &err), CELLAR_ERR_RULE);
    assert_int_equal(cellar_shuffler_n_held(shuffler), 1);
    cellar_shuffler_close(shuffler);
    free(bytes);
    free(other);
    cellar_participant_free(participant);
}

static void test_nothing_is_forwarded_early_insecurely_or_twice(void **state)
{
    fixture *f = *state;
    cellar_shuffler *shuffler;
    cellar_participant *participant = fixture_participant(f);
    size_t length = cellar_participant_size_bytes(participant);
    unsigned char *bytes = malloc(length);
    cellar_rng *secure, *seeded;
    int is_new;
    scratch_walk(f->place, 1);
    assert_int_equal(cellar_rng_create_secure(&secure, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_create_seeded(1, 1, &seeded, &err), CELLAR_OK);
    shuffler = open_shuffler(f);
    for (size_t i = 0; i + 1 < N; i++) {
        people_seal(&f->p, participant, i, bytes);
        assert_true(take(shuffler, bytes, length));
    }
    assert_int_equal(cellar_shuffler_forward(shuffler, secure, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "announced"));
    people_seal(&f->p, participant, N - 1, bytes);
    assert_true(take(shuffler, bytes, length));
    assert_int_equal(cellar_shuffler_forward(shuffler, seeded, &err), CELLAR_ERR_RULE);
    assert_int_equal(access(scratch_path(f->place, "round-1.batch"), F_OK), -1);
    assert_int_equal(cellar_shuffler_forward(shuffler, secure, &err), CELLAR_OK);
    assert_int_equal(access(scratch_path(f->place, "round-1.spool"), F_OK), -1);
    assert_int_equal(cellar_shuffler_forward(shuffler, secure, &err), CELLAR_ERR_RULE);
    assert_int_equal(cellar_shuffler_take(shuffler, bytes, length, &is_new, &err), CELLAR_ERR_RULE);
    cellar_shuffler_close(shuffler);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &shuffler, &err),
                     CELLAR_ERR_RULE);
    cellar_rng_free(secure);
    cellar_rng_free(seeded);
    free(bytes);
    cellar_participant_free(participant);
}

/* 12000 permutations of five messages over 120 cells, and 10000 places of the first of 100
 * messages: a fair shuffle fails each with a probability below 1e-6. */
static void test_the_permutation_is_uniform(void **state)
{
    enum { DRAWS = 12000, CELLS = 120, PLACES = 100 };
    int hits[CELLS] = {0}, places[PLACES] = {0};
    double chi = 0;
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_secure(&rng, &err), CELLAR_OK);
    for (int d = 0; d < DRAWS; d++) {
        unsigned char m[5][3] = {{0}, {1}, {2}, {3}, {4}};
        int cell = 0;
        assert_int_equal(collect_batch_permute(&m[0][0], 5, 3, rng, &err), CELLAR_OK);
        for (int i = 0; i < 5; i++) { /* Lehmer's code */
            int smaller = 0;
            for (int j = i + 1; j < 5; j++)
                smaller += m[j][0] < m[i][0];
            cell = cell * (5 - i) + smaller;
        }
        hits[cell]++;
    }
    for (int i = 0; i < CELLS; i++)
        chi += (hits[i] - 100.0) * (hits[i] - 100.0) / 100.0;
    assert_true(chi < 210); /* 119 degrees of freedom */
    for (int d = 0; d < 10000; d++) {
        unsigned char m[PLACES] = {1};
        assert_int_equal(collect_batch_permute(m, PLACES, 1, rng, &err), CELLAR_OK);
        for (int i = 0; i < PLACES; i++)
            places[i] += m[i];
    }
    chi = 0;
    for (int i = 0; i < PLACES; i++)
        chi += (places[i] - 100.0) * (places[i] - 100.0) / 100.0;
    assert_true(chi < 184); /* 99 degrees of freedom */
    cellar_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_taken_survives_and_counts_once),
        cmocka_unit_test(test_a_spool_is_one_shufflers_and_whole),
        cmocka_unit_test(test_a_spool_of_others_is_refused),
        cmocka_unit_test(test_forged_cut_and_foreign_submissions_are_refused),
        cmocka_unit_test(test_nothing_is_forwarded_early_insecurely_or_twice),
        cmocka_unit_test(test_the_permutation_is_uniform),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
