/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The desks of curator and analyst: papers and batches over a network that cuts, changes, repeats
 * and reorders, a desk killed in the middle of a delivery, and shufflers that are none. */
#include "collection_fixture.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "collection_proxy.h"
#include "protocol/desk.h"
#include "protocol/keys.h"

enum { N = 300 };
static const size_t levels[] = {2, 3};
static cellar_error err;

typedef struct desks {
    fixture f;
    char server[512], proxy[512], folder[512];
    cellar_collect_desk at, through; /* the curator's, directly and through the proxy */
} desks;

static const char *in_folder(desks *d, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", d->folder, name);
    return path;
}

static int set_up(void **state)
{
    static desks d;
    const cellar_invitation_spec spec = {.n_people = N, .k = 2, .exposure = "0.9"};
    *state = &d;
    if (fixture_open(&d.f, levels, 2, spec) != 0)
        return 1;
    snprintf(d.server, sizeof d.server, "unix:%s", scratch_path(d.f.place, "desk"));
    snprintf(d.proxy, sizeof d.proxy, "unix:%s", scratch_path(d.f.place, "proxy"));
    snprintf(d.folder, sizeof d.folder, "%s", scratch_path(d.f.place, "curator"));
    assert_int_equal(mkdir(d.folder, 0700), 0);
    d.at = (cellar_collect_desk){*cellar_collect_keys_identity(d.f.own.keys[1]),
                                 CELLAR_COLLECT_CURATOR, d.server, 1500};
    d.through = d.at;
    d.through.address = d.proxy;
    people_round(&d.f.p, &d.f.own, NULL, d.f.place->folder);
    return 0;
}

static int tear_down(void **state)
{
    desks *d = *state;
    void *f = &d->f;
    static const char *const left[] = {"invitation", "round-1.batch", "round-1.batch.part", "copy"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        remove(in_folder(d, left[i]));
    rmdir(d->folder);
    return fixture_close(&f);
}

static pid_t desk_start(desks *d, cellar_collect_role role)
{
    const cellar_collect_limits limits = {.timeout_ms = 1000, .max_connections = 8};
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) { /* keys do not survive fork(): the child reads its own */
        alarm(60);  /* when a test fails nobody ends it */
        cellar_collect_keys *keys = collection_read_keys(d->f.place, role);
        cellar_status status = cellar_collect_desk_serve(d->folder, d->f.own.invitation, NULL, keys,
                                                         d->server, "closed", &limits, &err);
        if (status != CELLAR_OK)
            fprintf(stderr, "the desk: %s\n", err.message);
        _exit(status != CELLAR_OK);
    }
    server_wait(d->server);
    return pid;
}

/* ---- papers ---------------------------------------------------------------- */

static void invitation_publish(desks *d)
{
    size_t length;
    const char *text = cellar_invitation_text(d->f.own.invitation, &length);
    FILE *file = fopen(in_folder(d, "invitation"), "wb");
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

static int fetch(desks *d, const cellar_collect_desk *at, const char *paper)
{
    int found = 0;
    remove(in_folder(d, "copy"));
    err.message[0] = '\0';
    if (cellar_collect_fetch(at, paper, in_folder(d, "copy"), &found, &err) != CELLAR_OK)
        assert_true(err.message[0] != '\0');                          /* every failure says why */
    assert_int_equal(access(in_folder(d, "copy"), F_OK) == 0, found); /* whole, or not at all */
    return found;
}

static void test_papers_come_whole_or_not_at_all(void **state)
{
    desks *d = *state;
    proxy between;
    pid_t pid = desk_start(d, CELLAR_COLLECT_CURATOR);
    cellar_invitation *read;
    int n_found = 0;
    assert_false(fetch(d, &d->at, "invitation")); /* not published yet */
    assert_int_equal(err.message[0], '\0');
    assert_false(fetch(d, &d->at, "round-1.batch")); /* nobody's business */
    invitation_publish(d);
    proxy_start(&between, d->proxy, d->server);
    for (int i = 0; i < 18; i++)
        if (fetch(d, &d->through, "invitation")) {
            assert_int_equal(cellar_invitation_read(in_folder(d, "copy"), &read, &err), CELLAR_OK);
            assert_memory_equal(cellar_invitation_session(read),
                                cellar_invitation_session(d->f.own.invitation), 32);
            cellar_invitation_free(read);
            n_found++;
        }
    proxy_stop(&between);
    assert_in_range(n_found, 3, 17);
    server_kill(pid);
}

static void test_only_the_pinned_curator_is_believed(void **state)
{
    desks *d = *state;
    cellar_collect_desk other = d->at;
    pid_t pid = desk_start(d, CELLAR_COLLECT_CURATOR);
    other.identity = *cellar_collect_keys_identity(d->f.own.keys[2]);
    assert_false(fetch(d, &other, "invitation"));
    assert_non_null(strstr(err.message, "not the curator"));
    other = d->at;
    other.role = CELLAR_COLLECT_ANALYST;
    assert_false(fetch(d, &other, "invitation"));
    assert_non_null(strstr(err.message, "another collection"));
    server_kill(pid);
}

/* ---- batches --------------------------------------------------------------- */

static cellar_status deliver(desks *d, const cellar_collect_desk *at, int role, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/round-1.batch", d->f.place->folder);
    err.message[0] = '\0';
    return cellar_collect_deliver(at, d->f.own.keys[role], name, path, &err);
}

/* What lies there is what the shuffler made, byte for byte. */
static void expect_batch(desks *d)
{
    char *sent, *got;
    size_t n_sent, n_got;
    assert_int_equal(
        cellar_file_read(scratch_path(d->f.place, "round-1.batch"), 1 << 24, &sent, &n_sent, &err),
        CELLAR_OK);
    assert_int_equal(cellar_file_read(in_folder(d, "round-1.batch"), 1 << 24, &got, &n_got, &err),
                     CELLAR_OK);
    assert_int_equal(n_sent, n_got);
    assert_memory_equal(sent, got, n_sent);
    cellar_free(sent);
    cellar_free(got);
}

static void test_a_batch_arrives_whole_through_faults(void **state)
{
    desks *d = *state;
    proxy between;
    pid_t pid = desk_start(d, CELLAR_COLLECT_CURATOR);
    int n_failed = 0;
    proxy_start(&between, d->proxy, d->server);
    for (int i = 0; i < 12; i++) {
        cellar_status status = deliver(d, &d->through, CELLAR_COLLECT_SHUFFLER, "round-1.batch");
        assert_true(status == CELLAR_OK || err.message[0] != '\0');
        n_failed += status != CELLAR_OK;
        if (status == CELLAR_OK)
            expect_batch(d);
        if (i == 5) { /* killed and started again */
            server_kill(pid);
            pid = desk_start(d, CELLAR_COLLECT_CURATOR);
        }
    }
    proxy_stop(&between);
    assert_in_range(n_failed, 4, 11);
    expect_batch(d);
    assert_int_equal(deliver(d, &d->at, CELLAR_COLLECT_SHUFFLER, "round-1.batch"), CELLAR_OK);
    expect_batch(d);
    assert_int_equal(access(in_folder(d, "round-1.batch.part"), F_OK), -1);
    server_kill(pid);
}

static void test_only_the_shuffler_delivers_and_only_what_is_awaited(void **state)
{
    desks *d = *state;
    pid_t pid = desk_start(d, CELLAR_COLLECT_CURATOR);
    FILE *file;
    remove(in_folder(d, "round-1.batch"));
    assert_int_equal(deliver(d, &d->at, CELLAR_COLLECT_ANALYST, "round-1.batch"), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "only the shuffler"));
    assert_int_equal(deliver(d, &d->at, CELLAR_COLLECT_SHUFFLER, "round-2.batch"), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "nobody waits"));
    assert_int_equal(deliver(d, &d->at, CELLAR_COLLECT_SHUFFLER, "round-pairs.batch"),
                     CELLAR_ERR_RULE);
    assert_int_equal(deliver(d, &d->at, CELLAR_COLLECT_SHUFFLER, "decision"), CELLAR_ERR_ARGUMENT);
    file = fopen(scratch_path(d->f.place, "round-1.batch"), "r+b"); /* a shuffler's own mistake */
    fseek(file, 100, SEEK_SET);
    fputs("damage", file);
    fclose(file);
    assert_int_equal(deliver(d, &d->at, CELLAR_COLLECT_SHUFFLER, "round-1.batch"), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "no batch"));
    assert_int_equal(access(in_folder(d, "round-1.batch"), F_OK), -1);
    assert_int_equal(access(in_folder(d, "round-1.batch.part"), F_OK), -1);
    server_kill(pid);
}

/* ---- the desk itself, without a network ------------------------------------ */

static desk_verdict take(desk *d, uint64_t sender, desk_frame wish)
{
    static const unsigned char binding[CHANNEL_BINDING_BYTES] = {7};
    const service_sender from = {sender, binding};
    unsigned char request[DESK_FRAME_BYTES], answer[DESK_FRAME_BYTES];
    desk_frame said;
    desk_write(&wish, request);
    assert_int_equal(desk_take(d, &from, request, answer, &err), CELLAR_OK);
    assert_true(desk_read(answer, &said));
    return (desk_verdict) said.kind;
}

static void test_a_delivery_is_one_senders_and_in_order(void **state)
{
    desks *all = *state;
    desk d = {
        .folder = all->folder, .invitation = all->f.own.invitation, .role = CELLAR_COLLECT_CURATOR};
    static const unsigned char binding[CHANNEL_BINDING_BYTES] = {7};
    unsigned char digest[32], signature[64], bytes[8] = {0};
    unsigned char paper = (unsigned char) desk_find("round-1.batch");
    desk_frame begin = {DESK_BEGIN, paper, 64, 16, signature},
               part = {DESK_PART, paper, 8, 0, bytes};
    desk_digest(binding, paper, 16, digest);
    crypto_sign_detached(signature, NULL, digest, sizeof digest,
                         all->f.own.keys[CELLAR_COLLECT_SHUFFLER]->sign_secret);
    assert_int_equal(take(&d, 1, part), DESK_REFUSED); /* nothing has begun */
    assert_int_equal(take(&d, 1, begin), DESK_OK);
    assert_int_equal(take(&d, 2, part), DESK_REFUSED); /* somebody else's */
    assert_int_equal(take(&d, 1, part), DESK_OK);
    assert_int_equal(take(&d, 1, part), DESK_REFUSED); /* once more */
    assert_int_equal(take(&d, 1, (desk_frame){DESK_FINISH, paper, 0, 0, NULL}), DESK_REFUSED);
    part.offset = 8;
    assert_int_equal(take(&d, 1, part), DESK_OK);
    part.offset = 16;
    assert_int_equal(take(&d, 1, part), DESK_REFUSED); /* more than was announced */
    assert_int_equal(take(&d, 1, (desk_frame){DESK_FINISH, paper, 0, 0, NULL}), DESK_REFUSED);
    begin.offset = 17; /* the signature is of another length */
    assert_int_equal(take(&d, 1, begin), DESK_REFUSED);
    assert_int_equal(take(&d, 1, (desk_frame){9, 0, 0, 0, NULL}), DESK_REFUSED);
    assert_int_equal(take(&d, 1, (desk_frame){DESK_GET, 0, 0, UINT64_MAX, NULL}), DESK_REFUSED);
    desk_close(&d);
    assert_int_equal(access(in_folder(all, "round-1.batch.part"), F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_papers_come_whole_or_not_at_all),
        cmocka_unit_test(test_only_the_pinned_curator_is_believed),
        cmocka_unit_test(test_a_batch_arrives_whole_through_faults),
        cmocka_unit_test(test_only_the_shuffler_delivers_and_only_what_is_awaited),
        cmocka_unit_test(test_a_delivery_is_one_senders_and_in_order),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
