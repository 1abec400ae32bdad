/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The server under load: slow connections, connections without end, one network with too many, and
 * no descriptors left. Honest senders are answered meanwhile. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include "collection_fixture.h"
#include "collection_proxy.h"
#include "protocol/server.h"

enum { N = 20, N_SLOW = 1000 };
static const size_t levels[] = {2, 3, 4};
static cellar_error err;

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {.n_people = N, .k = 2, .exposure = "0.9"};
    *state = &f;
    return fixture_open(&f, levels, 3, spec);
}

/* Where the server of this test listens: each has a port of its own. */
static int port;

static const char *address_of_test(void)
{
    static char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    return address;
}

/* A shuffler in a process of its own; keys do not survive fork(). */
static pid_t shuffler_start(fixture *f, const cellar_collect_limits *limits)
{
    pid_t pid;
    scratch_walk(f->place, 1); /* what earlier tests left, keys included */
    collection_close(&f->own);
    collection_invite(&f->own, f->place, levels, 3,
                      (cellar_invitation_spec){.n_people = N, .k = 2, .exposure = "0.9"});
    port = port == 0 ? 10000 + (int) (getpid() % 10000) : port + 1;
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        cellar_collect_keys *keys = collection_read_keys(f->place, CELLAR_COLLECT_SHUFFLER);
        cellar_shuffler *shuffler = NULL;
        alarm(120); /* when a test fails nobody ends it */
        _exit(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, keys, &shuffler,
                                   &err) != CELLAR_OK ||
              cellar_shuffler_serve(shuffler, address_of_test(), limits, &err) != CELLAR_OK);
    }
    server_wait(address_of_test());
    return pid;
}

/* A connection from 127.A.B.1 that does not wait; -1 when there are no descriptors. */
static int connect_from(int a, int b, int is_waiting)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t) port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in from = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | (is_waiting ? 0 : SOCK_NONBLOCK), 0);
    if (fd < 0)
        return -1;
    from.sin_addr.s_addr = htonl((127U << 24) | ((unsigned) a << 16) | ((unsigned) b << 8) | 1);
    (void) bind(fd, (const struct sockaddr *) &from, sizeof from);
    if (connect(fd, (const struct sockaddr *) &to, sizeof to) != 0 && errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    return fd;
}

/* ---- slow connections ------------------------------------------------------ */

/* Opens as many connections as it may, and sends a byte of a greeting on each from time to time.
 * From other networks (8 of them) it comes back whenever it is cut off. */
static _Noreturn void slow_run(int from_others)
{
    static int fds[N_SLOW];
    struct rlimit files;
    alarm(120);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void) setrlimit(RLIMIT_NOFILE, &files);
    }
    for (int i = 0; i < N_SLOW; i++)
        fds[i] = connect_from(from_others ? 66 : 0, from_others ? i % 8 : 0, 0);
    for (int turn = 0;; turn++) {
        for (int i = turn % 10; i < N_SLOW; i += 10) {
            char byte;
            ssize_t got = fds[i] < 0 ? 0 : recv(fds[i], &byte, 1, 0);
            if (fds[i] >= 0 && got < 0 && (errno == EAGAIN || errno == ENOTCONN)) {
                (void) !send(fds[i], "C", 1, MSG_NOSIGNAL);
            } else if (from_others) {
                if (fds[i] >= 0)
                    close(fds[i]);
                fds[i] = connect_from(66, i % 8, 0);
            }
        }
        pause_ms(20);
    }
}

static int post_row(fixture *f, const cellar_participant *participant, size_t row)
{
    char codes[3][32];
    const char *values[] = {codes[0], codes[1], codes[2]};
    for (size_t c = 0; c < 3; c++)
        snprintf(codes[c], sizeof codes[c], "c%u", (unsigned) f->p.levels[row][c]);
    return cellar_participant_post(participant, row, values, address_of_test(), 3000, &err) ==
           CELLAR_OK;
}

/* Everybody is answered, after three attempts at the most: long before the slow ones are cut off
 * for being late. */
static void check_slow(fixture *f, int from_others)
{
    const cellar_collect_limits limits = {.timeout_ms = 15000};
    pid_t server = shuffler_start(f, &limits), slow = fork();
    cellar_participant *participant;
    int status = -1;
    assert_true(slow >= 0);
    if (slow == 0)
        slow_run(from_others);
    participant = fixture_participant(f);
    pause_ms(2000); /* all of them are there, and idle */
    for (size_t i = 0; i < N; i++) {
        int ok = 0;
        for (int attempt = 0; attempt < 3 && !ok; attempt++) {
            ok = post_row(f, participant, i);
            if (!ok)
                pause_ms(200);
        }
        if (!ok) {
            server_kill(slow);
            server_kill(server);
            fail_msg("person %zu is kept out: %s", i, err.message);
        }
    }
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    server_kill(slow);
    cellar_participant_free(participant);
}

static void test_slow_connections_of_the_same_network_keep_nobody_out(void **state)
{
    check_slow(*state, 0);
}

static void test_slow_connections_of_other_networks_keep_nobody_out(void **state)
{
    check_slow(*state, 1);
}

/* ---- limits ---------------------------------------------------------------- */

/* Greets, and says what the server answers; -1 for nothing. */
static int greet(const fixture *f, int fd)
{
    unsigned char hello[HELLO_BYTES], welcome[WELCOME_BYTES], header[STREAM_HEADER_BYTES];
    channel_verdict verdict = CHANNEL_BUSY;
    collect_round round;
    channel own;
    round_one(f->own.invitation, &round);
    channel_hello(&own, &round, hello);
    if (fd < 0 || send(fd, hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello ||
        recv(fd, welcome, sizeof welcome, MSG_WAITALL) != sizeof welcome ||
        !channel_welcomed(&own, &round, welcome, &verdict, header))
        return -1;
    return (int) verdict;
}

static void test_a_network_has_its_share_of_the_places(void **state)
{
    fixture *f = *state;
    const cellar_collect_limits limits = {
        .timeout_ms = 60000, .max_connections = 4, .max_per_address = 3};
    const struct {
        int a, b, verdict;
    } steps[] = {
        {7, 0, CHANNEL_GO_ON}, {7, 0, CHANNEL_GO_ON}, {7, 0, CHANNEL_GO_ON},
        {7, 0, CHANNEL_BUSY},  {8, 0, CHANNEL_GO_ON}, {8, 1, CHANNEL_GO_ON}, /* takes one of 7.0 */
        {7, 0, CHANNEL_BUSY},
    };
    int fds[sizeof steps / sizeof *steps];
    pid_t pid = shuffler_start(f, &limits);
    pause_ms(300); /* the one that looked whether there is a server has left */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        fds[i] = connect_from(steps[i].a, steps[i].b, 1);
        assert_int_equal(greet(f, fds[i]), steps[i].verdict);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        close(fds[i]);
    server_kill(pid);
}

/* A sender that keeps every deadline of a frame, and is in no hurry. */
static void test_a_connection_does_not_last_for_ever(void **state)
{
    fixture *f = *state;
    const cellar_collect_limits limits = {.timeout_ms = 300};
    pid_t pid = shuffler_start(f, &limits);
    cellar_participant *participant = fixture_participant(f);
    unsigned char bytes[1024];
    cellar_collect_link *link;
    int n = 0;
    people_seal(&f->p, participant, 0, bytes);
    assert_int_equal(cellar_collect_link_open(participant, address_of_test(), 3000, &link, &err),
                     CELLAR_OK);
    while (n < 200 && cellar_collect_link_send(link, bytes, 1, &err) == CELLAR_OK) {
        pause_ms(60);
        n++;
    }
    assert_true(n < 200);
    cellar_collect_link_close(link);
    server_kill(pid);
    cellar_participant_free(participant);
}

/* ---- descriptors ----------------------------------------------------------- */

/* A service that plays its own clients: it is asked once in every turn whether it is done. */
typedef struct starving {
    const char *path;
    int clients[8], hoard[64];
    size_t n_hoard, n_turns, n_hungry;
    struct timespec begin;
} starving;

static long elapsed_ms(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - begin->tv_sec) * 1000 + (now.tv_nsec - begin->tv_nsec) / 1000000;
}

static void starving_begin(starving *s)
{
    struct rlimit few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &few), 0);
    few.rlim_cur = 48;
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(address_connect(s->path, 1000, &s->clients[i], &err), CELLAR_OK);
        assert_int_equal(send(s->clients[i], "no greeting", 11, MSG_NOSIGNAL), 11);
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (s->n_hoard < 64 && (s->hoard[s->n_hoard] = dup(0)) >= 0)
        s->n_hoard++;
    clock_gettime(CLOCK_MONOTONIC, &s->begin);
}

/* For a second and a half nobody can be let in; then everybody is, and is cut off for sending no
 * greeting. */
static int starving_is_done(void *context)
{
    starving *s = context;
    char byte;
    size_t n_over = 0;
    if (s->n_turns++ == 0)
        starving_begin(s);
    if (elapsed_ms(&s->begin) < 1500) {
        s->n_hungry++;
        return 0;
    }
    while (s->n_hoard > 0)
        close(s->hoard[--s->n_hoard]);
    for (size_t i = 0; i < 8; i++) {
        ssize_t got = recv(s->clients[i], &byte, 1, MSG_DONTWAIT);
        n_over += got == 0 || (got < 0 && errno == ECONNRESET);
    }
    return n_over == 8 || elapsed_ms(&s->begin) > 30000;
}

static cellar_status nothing_taken(void *context, const service_sender *sender,
                                   const unsigned char *frame, unsigned char *answer,
                                   cellar_error *e)
{
    (void) context, (void) sender, (void) frame, (void) e;
    answer[0] = 0;
    return CELLAR_OK;
}

static cellar_status nothing_synced(void *context, cellar_error *e)
{
    (void) context, (void) e;
    return CELLAR_OK;
}

static void test_without_descriptors_the_server_waits(void **state)
{
    fixture *f = *state;
    char path[512];
    collect_round round;
    struct rlimit before;
    const cellar_collect_limits limits = {.timeout_ms = 500, .max_connections = 16};
    starving s = {.path = path};
    const service of = {.round = &round,
                        .keys = f->own.keys[CELLAR_COLLECT_SHUFFLER],
                        .frame_bytes = 100,
                        .answer_bytes = 100,
                        .n_waiting = 1,
                        .context = &s,
                        .take = nothing_taken,
                        .sync = nothing_synced,
                        .is_done = starving_is_done};
    round_one(f->own.invitation, &round);
    snprintf(path, sizeof path, "unix:%s", scratch_path(f->place, "hungry"));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(service_run(&of, path, &limits, &err), CELLAR_OK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (size_t i = 0; i < 8; i++)
        close(s.clients[i]);
    assert_true(s.n_hungry < 100); /* a turn of the server takes 200 ms when nothing happens */
    assert_true(elapsed_ms(&s.begin) < 30000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_descriptors_the_server_waits),
        cmocka_unit_test(test_a_network_has_its_share_of_the_places),
        cmocka_unit_test(test_a_connection_does_not_last_for_ever),
        cmocka_unit_test(test_slow_connections_of_the_same_network_keep_nobody_out),
        cmocka_unit_test(test_slow_connections_of_other_networks_keep_nobody_out),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
