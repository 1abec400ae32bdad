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
    assert_int_equal(cellar_shuffler_n_cut(shuffler), 1);
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
}

/* ---- power cuts ---- */

typedef struct tail_case {
    const char *label;
    size_t n_synced, n_more; /* submissions before and after the last sync */
    size_t first, n_bad;     /* records that are zeroed */
    long n_bytes;            /* how many bytes of each; -1: all */
    int is_lost;             /* a record is damaged that had been synced */
} tail_case;

static const tail_case tail_cases[] = {
    {"one zeroed record at the end", 5, 1, 5, 1, -1, 0},
    {"a torn record at the end", 5, 1, 5, 1, 7, 0},
    {"several zeroed records", 5, 4, 5, 4, -1, 0},
    {"a zeroed one before a whole one", 5, 3, 6, 1, -1, 0},
    {"nothing was synced", 0, 3, 0, 1, -1, 0},
    {"a synced record in the middle", 8, 0, 3, 1, 7, 1},
    {"the last synced record", 8, 0, 7, 1, -1, 1},
    {"a synced one with others behind it", 5, 3, 4, 1, -1, 1},
};

/* Zeroes records of the spool, all of which have one length. */
static void spool_zero(fixture *f, const tail_case *c)
{
    static const unsigned char zeros[4096];
    FILE *spool = fopen(scratch_path(f->place, "round-1.spool"), "r+b");
    long header = 1024, record;
    fseek(spool, 0, SEEK_END);
    record = (ftell(spool) - header) / (long) (c->n_synced + c->n_more);
    assert_true(record < (long) sizeof zeros);
    for (size_t i = c->first; i < c->first + c->n_bad; i++) {
        size_t n = (size_t) (c->n_bytes < 0 ? record : c->n_bytes);
        fseek(spool, header + (long) i * record, SEEK_SET);
        assert_int_equal(fwrite(zeros, 1, n, spool), n);
    }
    fclose(spool);
}

static void take_rows(fixture *f, const cellar_participant *participant, cellar_shuffler *shuffler,
                      size_t first, size_t n)
{
    unsigned char bytes[1024];
    for (size_t i = first; i < first + n; i++) {
        people_seal(&f->p, participant, i, bytes);
        take(shuffler, bytes, cellar_participant_size_bytes(participant));
    }
}

static void check_tail(fixture *f, const cellar_participant *participant, const tail_case *c)
{
    cellar_shuffler *shuffler;
    cellar_status status;
    scratch_walk(f->place, 1);
    shuffler = open_shuffler(f);
    take_rows(f, participant, shuffler, 0, c->n_synced);
    assert_int_equal(cellar_shuffler_sync(shuffler, &err), CELLAR_OK);
    take_rows(f, participant, shuffler, c->n_synced, c->n_more);
    cellar_shuffler_close(shuffler);
    spool_zero(f, c);
    status = cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                  &shuffler, &err);
    if (c->is_lost) {
        assert_int_equal(status, CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, "damaged"));
        return;
    }
    if (status != CELLAR_OK)
        fail_msg("%s: %s", c->label, err.message);
    assert_int_equal(cellar_shuffler_n_held(shuffler), c->first);
    assert_int_equal(cellar_shuffler_n_cut(shuffler), c->n_synced + c->n_more - c->first);
    people_send(&f->p, &f->own, NULL, shuffler); /* all send, some of them once more */
    people_forward(&f->p, shuffler);
}

static void test_a_power_cut_costs_nothing_that_was_acknowledged(void **state)
{
    fixture *f = *state;
    cellar_participant *participant = fixture_participant(f);
    cellar_collect_margins *margins;
    cellar_collect_report report;
    for (size_t i = 0; i < sizeof tail_cases / sizeof *tail_cases; i++) {
        check_tail(f, participant, &tail_cases[i]);
        if (tail_cases[i].is_lost)
            continue;
        margins = fixture_margins(f, &report);
        people_expect_margins(&f->p, margins);
        cellar_collect_margins_free(margins);
    }
    cellar_participant_free(participant);
}

/* A crash while the file was made: no record had been taken. */
static void test_a_spool_without_a_header_is_begun_anew(void **state)
{
    static const unsigned char zeros[1024];
    fixture *f = *state;
    cellar_shuffler *shuffler;
    for (size_t length = 0; length <= sizeof zeros; length += 512) {
        FILE *spool;
        scratch_walk(f->place, 1);
        spool = fopen(scratch_path(f->place, "round-1.spool"), "wb");
        assert_int_equal(fwrite(zeros, 1, length, spool), length);
        fclose(spool);
        shuffler = open_shuffler(f);
        assert_int_equal(cellar_shuffler_n_held(shuffler), 0);
        cellar_shuffler_close(shuffler);
    }
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
        cmocka_unit_test(test_a_power_cut_costs_nothing_that_was_acknowledged),
        cmocka_unit_test(test_a_spool_without_a_header_is_begun_anew),
        cmocka_unit_test(test_a_spool_of_others_is_refused),
        cmocka_unit_test(test_forged_cut_and_foreign_submissions_are_refused),
        cmocka_unit_test(test_nothing_is_forwarded_early_insecurely_or_twice),
        cmocka_unit_test(test_the_permutation_is_uniform),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
