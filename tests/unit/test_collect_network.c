/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shuffler at a socket, with a proxy in between that cuts, changes, repeats and reorders what
 * passes, and a shuffler killed in mid-batch: nothing acknowledged is lost, nothing counts twice.
 */
#include "collection_people.h"

#include "base/error.h"
#include "collection_proxy.h"

enum { N = 60 };
static const size_t levels[] = {2, 3, 4};
static cellar_error err;

typedef struct fixture {
    scratch *place;
    collection own;
    people p;
    char server[512], proxy[512]; /* addresses */
} fixture;

static int set_up(void **state)
{
    static fixture f;
    if (scratch_setup((void **) &f.place) != 0)
        return 1;
    collection_open(&f.own, f.place, levels, 3, N, 2, "0.9");
    people_open(&f.p, f.place, N, levels, 3);
    snprintf(f.server, sizeof f.server, "unix:%s", scratch_path(f.place, "server"));
    snprintf(f.proxy, sizeof f.proxy, "unix:%s", scratch_path(f.place, "proxy"));
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    collection_close(&f->own);
    people_close(&f->p);
    return scratch_teardown((void **) &f->place);
}

/* ---- the server, in a process of its own ----------------------------------- */

/* Keys do not survive fork(): the child reads its own. */
static _Noreturn void server_run(fixture *f)
{
    const cellar_collect_limits limits = {.timeout_ms = 1000, .max_connections = 8};
    cellar_collect_keys *keys = collection_read_keys(f->place, CELLAR_COLLECT_SHUFFLER);
    cellar_shuffler *shuffler = NULL;
    cellar_rng *rng = NULL;
    int ok = cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, keys, &shuffler,
                                  &err) == CELLAR_OK &&
             cellar_shuffler_serve(shuffler, f->server, &limits, &err) == CELLAR_OK &&
             cellar_rng_create_secure(&rng, &err) == CELLAR_OK &&
             cellar_shuffler_forward(shuffler, rng, &err) == CELLAR_OK;
    if (!ok)
        fprintf(stderr, "the server: %s\n", err.message);
    cellar_shuffler_close(shuffler);
    cellar_rng_free(rng);
    cellar_collect_keys_free(keys);
    _exit(!ok);
}

/* Answers when the server listens. */
static pid_t server_start(fixture *f)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60); /* when a test fails nobody ends it */
        server_run(f);
    }
    server_wait(f->server);
    return pid;
}

/* ---- participants ---------------------------------------------------------- */

/* Tries once; the answer says whether it was acknowledged. */
static int send_once(fixture *f, const cellar_participant *participant, size_t row,
                     const char *address)
{
    char codes[3][32];
    const char *values[] = {codes[0], codes[1], codes[2]};
    int ok;
    for (size_t c = 0; c < 3; c++)
        snprintf(codes[c], sizeof codes[c], "c%u", (unsigned) f->p.levels[row][c]);
    err.message[0] = '\0';
    ok = cellar_participant_post(participant, row, values, address, 1500, &err) == CELLAR_OK;
    assert_true(ok || err.message[0] != '\0'); /* every failure says why */
    return ok;
}

/* Well greeted, and forged all the same: refused, with the reason, and the connection goes on. */
static void send_forged(fixture *f, const cellar_participant *participant)
{
    unsigned char bytes[2][1024];
    cellar_collect_link *link;
    size_t length = cellar_participant_size_bytes(participant);
    people_seal(&f->p, participant, 0, bytes[0]);
    people_seal(&f->p, participant, 1, bytes[1]);
    assert_int_equal(cellar_collect_link_open(participant, f->server, 1500, &link, &err),
                     CELLAR_OK);
    bytes[0][length - 1] ^= 1;
    assert_int_equal(cellar_collect_link_send(link, bytes[0], 1, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "corrupt"));
    bytes[0][12] ^= 1; /* the name of the round */
    assert_int_equal(cellar_collect_link_send(link, bytes[0], 1, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "another collection"));
    memcpy(bytes[0], bytes[1], length); /* two messages of one record, one of them twice */
    memcpy(bytes[0] + SUBMISSION_HEADER_BYTES,
           bytes[0] + SUBMISSION_HEADER_BYTES + (length - SUBMISSION_HEADER_BYTES) / 3,
           (length - SUBMISSION_HEADER_BYTES) / 3);
    assert_int_equal(cellar_collect_link_send(link, bytes[0], 1, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "one id"));
    assert_int_equal(cellar_collect_link_send(link, bytes[1], 1, &err), CELLAR_OK);
    cellar_collect_link_close(link);
}

static void expect_margins(fixture *f)
{
    cellar_collect_margins *margins;
    cellar_collect_report report;
    if (cellar_collect_margins_read(scratch_path(f->place, "round-1.batch"), f->own.invitation,
                                    f->own.keys[1], &margins, &report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    people_expect_margins(&f->p, margins);
    assert_int_equal(report.n_messages, 3 * N);
    assert_int_equal(report.n_counted, 3 * N);
    cellar_collect_margins_free(margins);
}

static void test_faults_on_the_way_lose_and_repeat_nothing(void **state)
{
    fixture *f = *state;
    cellar_participant *participant;
    proxy between;
    pid_t pid = server_start(f);
    int slow, status = -1, n_failed = 0;
    assert_int_equal(
        cellar_participant_create(f->own.invitation, NULL, NULL, f->p.key, &participant, &err),
        CELLAR_OK);
    proxy_start(&between, f->proxy, f->server);
    for (size_t i = 0; i + 1 < N; i++) {
        int ok = 0;
        if (i == 25) { /* killed in mid-batch: the spool is taken up again */
            server_kill(pid);
            pid = server_start(f);
        }
        if (i == 30) /* begins a hello and falls silent: nobody waits for it */
            assert_true(address_connect(f->server, 1000, &slow, &err) == CELLAR_OK &&
                        send(slow, "CHE", 3, MSG_NOSIGNAL) == 3);
        for (int attempt = 0; attempt < 12 && !ok; attempt++) {
            ok = send_once(f, participant, i, f->proxy);
            n_failed += !ok;
        }
        assert_true(ok);
    }
    send_forged(f, participant);
    assert_true(send_once(f, participant, N - 1, f->server));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    proxy_stop(&between);
    close(slow);
    assert_true(n_failed > 0);
    expect_margins(f);
    cellar_participant_free(participant);
    remove(scratch_path(f->place, "round-1.batch"));
}

/* A window of many at once, over TCP, from a file. */
static void test_a_file_over_tcp(void **state)
{
    fixture *f = *state;
    char saved[512], port[16];
    cellar_participant *participant;
    struct stat facts;
    uint64_t n_sent = 0;
    FILE *csv = fopen(scratch_path(f->place, "people.csv"), "w");
    pid_t pid;
    fprintf(csv, "a,b,c\n");
    for (size_t i = 0; i < N; i++)
        fprintf(csv, "c%u,c%u,c%u\n", f->p.levels[i][0], f->p.levels[i][1], f->p.levels[i][2]);
    fclose(csv);
    memcpy(saved, f->server, sizeof saved);
    snprintf(port, sizeof port, "%d", 20000 + (int) (getpid() % 20000));
    snprintf(f->server, sizeof f->server, "127.0.0.1:%s", port);
    pid = server_start(f);
    assert_int_equal(
        cellar_participant_create(f->own.invitation, NULL, NULL, f->p.key, &participant, &err),
        CELLAR_OK);
    if (cellar_participant_post_file(participant, scratch_path(f->place, "people.csv"), f->server,
                                     0, &n_sent, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(n_sent, N);
    waitpid(pid, NULL, 0);
    assert_int_equal(stat(scratch_path(f->place, "round-1.spool"), &facts), -1);
    expect_margins(f);
    memcpy(f->server, saved, sizeof saved);
    cellar_participant_free(participant);
    remove(scratch_path(f->place, "round-1.batch"));
}

/* An impostor at the address, and a shuffler at another collection. */
static void test_only_the_shuffler_of_the_invitation_is_trusted(void **state)
{
    fixture *f = *state;
    collection other = {{NULL}, NULL};
    cellar_collect_link *link;
    cellar_participant *participant;
    pid_t pid = server_start(f);
    scratch copy = *f->place; /* scratch_setup() has one place of its own */
    collection_open(&other, &copy, levels, 3, N, 2, "0.9");
    assert_int_equal(
        cellar_participant_create(other.invitation, NULL, NULL, f->p.key, &participant, &err),
        CELLAR_OK);
    assert_int_equal(cellar_collect_link_open(participant, f->server, 1000, &link, &err),
                     CELLAR_ERR_RULE);
    assert_null(link);
    assert_non_null(strstr(err.message, "not the shuffler"));
    server_kill(pid);
    assert_int_equal(cellar_collect_link_open(participant, f->server, 1000, &link, &err),
                     CELLAR_ERR_IO);
    assert_int_equal(cellar_collect_link_open(participant, "nonsense", 1000, &link, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_participant_free(participant);
    collection_close(&other);
}

/* The limit of the server is 8 connections: the ninth is told so, and comes in when one leaves. */
static void test_who_is_one_too_many_is_told(void **state)
{
    fixture *f = *state;
    cellar_participant *participant;
    cellar_collect_link *links[8], *ninth;
    pid_t pid = server_start(f);
    int ok = 0;
    assert_int_equal(
        cellar_participant_create(f->own.invitation, NULL, NULL, f->p.key, &participant, &err),
        CELLAR_OK);
    pause_ms(300); /* the one that looked whether there is a server has left */
    for (int i = 0; i < 8; i++)
        assert_int_equal(cellar_collect_link_open(participant, f->server, 1000, &links[i], &err),
                         CELLAR_OK);
    assert_int_equal(cellar_collect_link_open(participant, f->server, 1000, &ninth, &err),
                     CELLAR_ERR_IO);
    assert_non_null(strstr(err.message, "busy"));
    cellar_collect_link_close(links[0]);
    for (int i = 0; i < 50 && !ok; i++) {
        pause_ms(20);
        ok = cellar_collect_link_open(participant, f->server, 1000, &ninth, &err) == CELLAR_OK;
    }
    assert_true(ok);
    cellar_collect_link_close(ninth);
    for (int i = 1; i < 8; i++)
        cellar_collect_link_close(links[i]);
    server_kill(pid);
    cellar_participant_free(participant);
    remove(scratch_path(f->place, "round-1.spool"));
}

/* Greetings byte by byte: none can be changed. */
static void test_no_byte_of_a_greeting_can_be_changed(void **state)
{
    fixture *f = *state;
    collect_round round;
    channel client, server;
    channel_verdict verdict = CHANNEL_GO_ON;
    unsigned char hello[HELLO_BYTES], welcome[WELCOME_BYTES], header[STREAM_HEADER_BYTES];
    unsigned char plain[8] = "secret", frame[8 + FRAME_EXTRA_BYTES], second[sizeof frame];
    round_one(f->own.invitation, &round);
    for (size_t i = 0; i < WELCOME_BYTES; i++) {
        channel_hello(&client, &round, hello);
        assert_true(channel_welcome(&server, &round, f->own.keys[2], hello, &verdict, welcome));
        welcome[i] ^= 1;
        assert_false(channel_welcomed(&client, &round, welcome, &verdict, header));
    }
    channel_hello(&client, &round, hello);
    hello[20] ^= 1; /* another round */
    assert_true(channel_welcome(&server, &round, f->own.keys[2], hello, &verdict, welcome));
    assert_int_equal(verdict, CHANNEL_OTHER_ROUND);
    hello[0] ^= 1;
    assert_false(channel_welcome(&server, &round, f->own.keys[2], hello, &verdict, welcome));
    verdict = CHANNEL_GO_ON;
    channel_hello(&client, &round, hello);
    assert_true(channel_welcome(&server, &round, f->own.keys[2], hello, &verdict, welcome));
    assert_true(channel_welcomed(&client, &round, welcome, &verdict, header));
    assert_true(channel_begin(&server, header));
    channel_seal(&client, plain, sizeof plain, frame);
    channel_seal(&client, plain, sizeof plain, second);
    assert_memory_not_equal(frame, second, sizeof frame);
    assert_false(channel_open(&server, second, sizeof second, plain)); /* not the next one */
    assert_true(channel_open(&server, frame, sizeof frame, plain));
    assert_false(channel_open(&server, frame, sizeof frame, plain)); /* not once more */
    assert_string_equal((char *) plain, "secret");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_byte_of_a_greeting_can_be_changed),
        cmocka_unit_test(test_faults_on_the_way_lose_and_repeat_nothing),
        cmocka_unit_test(test_a_file_over_tcp),
        cmocka_unit_test(test_who_is_one_too_many_is_told),
        cmocka_unit_test(test_only_the_shuffler_of_the_invitation_is_trusted),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
