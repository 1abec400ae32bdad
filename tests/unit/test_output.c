/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/output.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/error.h"
#include "base/folder.h"
#include "base/output.h"
#include "check.h"
#include "fail_every.h"
#include "scratch.h"

static const cellar_output_options replacing = {.replace = 1};
static const cellar_output_options shared = {.shared = 1};

static cellar_output *opened(scratch *place, const char *name, const cellar_output_options *options)
{
    cellar_output *output = NULL;
    cellar_error err = {""};
    if (cellar_output_open(scratch_path(place, name), options, &output, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return output;
}

static void committed(cellar_output *output)
{
    cellar_error err = {""};
    if (cellar_output_commit(output, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
}

static void test_appears_whole(void **state)
{
    scratch *place = *state;
    cellar_output *output = opened(place, "t.csv", NULL);
    cellar_output_string(output, "a,");
    cellar_output_printf(output, "%d\n", 42);
    cellar_output_write(output, "b\n", 2);
    assert_int_equal(cellar_output_size_bytes(output), 7);
    assert_int_equal(cellar_output_is_terminal(output), 0);
    assert_int_equal(scratch_n_entries(place), 0); /* nothing, not even a hidden name */
    committed(output);
    assert_int_equal(scratch_n_entries(place), 1);
    scratch_expect(place, "t.csv", "a,42\nb\n");
}

static void test_many_bytes(void **state)
{
    scratch *place = *state;
    cellar_output *output = opened(place, "large", NULL);
    static char line[1000];
    struct stat facts;
    memset(line, 'x', sizeof line);
    for (int i = 0; i < 3000; i++)
        cellar_output_write(output, line, sizeof line);
    cellar_output_printf(output, "%01500d", 7); /* longer than the small buffer */
    assert_int_equal(scratch_n_entries(place), 0);
    committed(output);
    assert_int_equal(stat(scratch_path(place, "large"), &facts), 0);
    assert_int_equal(facts.st_size, 3001500);
}

static void test_discard(void **state)
{
    scratch *place = *state;
    cellar_output *output = opened(place, "t", NULL);
    cellar_output_string(output, "secret");
    cellar_output_discard(output);
    output = opened(place, "u", &replacing);
    cellar_output_discard(output);
    cellar_output_discard(NULL);
    assert_int_equal(scratch_n_entries(place), 0);
}

static void test_mode_whatever_the_umask(void **state)
{
    scratch *place = *state;
    static const mode_t masks[] = {0, 022, 077, 0777};
    mode_t before = umask(0);
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        umask(masks[i]);
        committed(opened(place, "secret", &replacing));
        assert_int_equal(scratch_mode(place, "secret"), 0600);
        committed(opened(place, "public", &(cellar_output_options){.replace = 1, .shared = 1}));
        assert_int_equal(scratch_mode(place, "public"), 0644);
        committed(opened(place, "new", &shared));
        assert_int_equal(scratch_mode(place, "new"), 0644);
        unlink(scratch_path(place, "new"));
    }
    umask(before);
}

static void test_exists(void **state)
{
    scratch *place = *state;
    cellar_output *output = NULL;
    cellar_error err;
    scratch_write(place, "t", "old");
    assert_int_equal(cellar_output_open(scratch_path(place, "t"), NULL, &output, &err),
                     CELLAR_ERR_EXISTS);
    assert_null(output);
    assert_non_null(strstr(err.message, "exists already"));

    output = opened(place, "late", NULL); /* appears while we work: still not overwritten */
    cellar_output_string(output, "new");
    scratch_write(place, "late", "theirs");
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_ERR_EXISTS);
    scratch_expect(place, "late", "theirs");
    scratch_expect(place, "t", "old");
    assert_int_equal(scratch_n_entries(place), 2);
}

static void test_replace(void **state)
{
    scratch *place = *state;
    cellar_output *output;
    scratch_write(place, "t", "old");
    output = opened(place, "t", &replacing);
    cellar_output_string(output, "new");
    scratch_expect(place, "t", "old"); /* until the last moment */
    committed(output);
    scratch_expect(place, "t", "new");
    assert_int_equal(scratch_n_entries(place), 1);
}

static void test_symlink_not_followed(void **state)
{
    scratch *place = *state;
    cellar_output *output = NULL;
    struct stat facts;
    scratch_write(place, "victim", "precious");
    assert_int_equal(symlink("victim", scratch_path(place, "link")), 0);
    assert_int_equal(symlink("nowhere", scratch_path(place, "dangling")), 0);
    assert_int_equal(cellar_output_open(scratch_path(place, "link"), NULL, &output, NULL),
                     CELLAR_ERR_EXISTS);
    assert_int_equal(cellar_output_open(scratch_path(place, "dangling"), NULL, &output, NULL),
                     CELLAR_ERR_EXISTS);
    output = opened(place, "link", &replacing); /* replaces the link, not what it points to */
    cellar_output_string(output, "new");
    committed(output);
    scratch_expect(place, "victim", "precious");
    scratch_expect(place, "link", "new");
    assert_int_equal(lstat(scratch_path(place, "link"), &facts), 0);
    assert_true(S_ISREG(facts.st_mode));
}

static void test_bad_targets(void **state)
{
    static const struct {
        const char *path;
        int replace;
        cellar_status want;
    } cases[] = {{"", 0, CELLAR_ERR_ARGUMENT},        {"/tmp/", 1, CELLAR_ERR_ARGUMENT},
                 {"/tmp", 1, CELLAR_ERR_EXISTS},      {"/dev/null", 0, CELLAR_ERR_EXISTS},
                 {"/dev/null", 1, CELLAR_ERR_EXISTS}, {"no/such/folder/t", 0, CELLAR_ERR_IO},
                 {"/dev/null/t", 0, CELLAR_ERR_IO}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_output_options options = {.replace = cases[i].replace};
        cellar_output *output = NULL;
        cellar_error err = {""};
        cellar_status status = cellar_output_open(cases[i].path, &options, &output, &err);
        if (status != cases[i].want || output != NULL || err.message[0] == '\0')
            fail_msg("'%s': %s", cases[i].path, cellar_status_name(status));
    }
}

/* In a child with a limit on file sizes: the write fails as on a full disk, commit says so. */
static int child_disk_full(scratch *place, int replace)
{
    cellar_output *output = NULL;
    cellar_error err = {""};
    struct rlimit tiny = {1000, 1000};
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &tiny) != 0)
        return 2;
    if (cellar_output_open(scratch_path(place, "t"), replace ? &replacing : NULL, &output, &err))
        return 3;
    for (int i = 0; i < 100000; i++)
        cellar_output_string(output, "0123456789");
    if (cellar_output_commit(output, &err) != CELLAR_ERR_IO)
        return 4;
    return strstr(err.message, "cannot write") != NULL ? 0 : 5;
}

static int child_exit(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_disk_full(void **state)
{
    scratch *place = *state;
    for (int replace = 0; replace <= 1; replace++) {
        pid_t child = fork();
        if (child == 0)
            _exit(child_disk_full(place, replace));
        assert_int_equal(child_exit(child), 0);
        assert_int_equal(scratch_n_entries(place), 0);
    }
}

/* Standard output in a child, so that cmocka's own is left alone. */
static int child_stdout(const char *to, int discard, cellar_status want)
{
    cellar_output *output = NULL;
    cellar_error err = {""};
    int fd = open(to, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || cellar_output_open("-", NULL, &output, &err))
        return 2;
    for (int i = 0; i < 200; i++)
        cellar_output_printf(output, "line %d\n", i);
    if (lseek(STDOUT_FILENO, 0, SEEK_END) > 0)
        return 3; /* said something before commit */
    if (discard)
        cellar_output_discard(output);
    else if (cellar_output_commit(output, &err) != want)
        return 4;
    return 0;
}

static void test_stdout(void **state)
{
    scratch *place = *state;
    char path[400];
    struct stat facts;
    static const struct {
        const char *name;
        int discard;
        cellar_status want;
        off_t size;
    } cases[] = {{"page", 0, CELLAR_OK, 200 * 6 + 10 + 90 * 2 + 100 * 3},
                 {"nothing", 1, CELLAR_OK, 0},
                 {"/dev/full", 0, CELLAR_ERR_IO, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pid_t child;
        snprintf(path, sizeof path, "%s",
                 cases[i].name[0] == '/' ? cases[i].name : scratch_path(place, cases[i].name));
        child = fork();
        if (child == 0)
            _exit(child_stdout(path, cases[i].discard, cases[i].want));
        assert_int_equal(child_exit(child), 0);
        assert_int_equal(stat(path, &facts), 0);
        assert_int_equal(facts.st_size, cases[i].size);
    }
}

static cellar_status output_scenario(void *context, cellar_error *err)
{
    scratch *place = context;
    cellar_output *output = NULL;
    cellar_status status = cellar_output_open(scratch_path(place, "t"), &replacing, &output, err);
    if (status != CELLAR_OK)
        return status;
    cellar_output_printf(output, "%0900d", 1);
    return cellar_output_commit(output, err);
}

static cellar_status discard_scenario(void *context, cellar_error *err)
{
    cellar_output *output = NULL;
    cellar_status status = cellar_output_open("-", NULL, &output, err);
    (void) context;
    if (status == CELLAR_OK)
        cellar_output_discard(output);
    return status;
}

static void test_fail_every(void **state)
{
    scratch *place = *state;
    check_fail_every(output_scenario, place);
    check_fail_every(discard_scenario, place);
    assert_int_equal(scratch_n_entries(place), 1); /* no hidden name is left behind */
}

/* ---- file systems without nameless files ---- */

/* The linker sends the library's openat(2) through here (-Wl,--wrap=openat). */
static int nameless_files = 1;
int __real_openat(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat(int folder, const char *path, int flags, mode_t mode);

int __wrap_openat(int folder, const char *path, int flags, mode_t mode)
{
    if (!nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_openat(folder, path, flags, mode);
}

static void test_without_nameless_files(void **state)
{
    scratch *place = *state;
    cellar_output *output;
    static void (*const again[])(void **) = {test_discard, test_exists, test_replace,
                                             test_symlink_not_followed, test_fail_every};
    nameless_files = 0;
    output = opened(place, "t", &shared);
    cellar_output_string(output, "whole");
    assert_int_equal(scratch_n_entries(place), 1); /* hidden, the owner's, and not yet "t" */
    assert_int_equal(access(scratch_path(place, "t"), F_OK), -1);
    committed(output);
    assert_int_equal(scratch_n_entries(place), 1);
    scratch_expect(place, "t", "whole");
    assert_int_equal(scratch_mode(place, "t"), 0644);
    for (size_t i = 0; i < sizeof again / sizeof again[0]; i++) {
        scratch_walk(place, 1);
        again[i](state);
    }
    nameless_files = 1;
}

/* ---- others at work in the folder ---- */

/* What others could do there between two calls, done at the moment when a mode changes. */
static void (*at_chmod)(void);
int __real_chmod(const char *path, mode_t mode);
int __real_fchmod(int fd, mode_t mode);
int __wrap_chmod(const char *path, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);

static void interfere(void)
{
    void (*act)(void) = at_chmod;
    at_chmod = NULL;
    if (act != NULL)
        act();
}

int __wrap_chmod(const char *path, mode_t mode)
{
    interfere();
    return __real_chmod(path, mode);
}

int __wrap_fchmod(int fd, mode_t mode)
{
    interfere();
    return __real_fchmod(fd, mode);
}

static scratch *hostile;

static void exchange_for_a_link(void)
{
    assert_int_equal(unlink(scratch_path(hostile, ".staged")), 0);
    assert_int_equal(symlink("secret", scratch_path(hostile, ".staged")), 0);
}

static void publish_beside_a_secret(scratch *place, cellar_status want)
{
    char staged[400], path[400];
    cellar_error err = {""};
    cellar_status status;
    snprintf(staged, sizeof staged, "%s", scratch_path(place, ".staged"));
    snprintf(path, sizeof path, "%s", scratch_path(place, "release"));
    status = cellar_output_publish(staged, path, &shared, &err);
    if (status != want)
        fail_msg("%s: %s", cellar_status_name(status), err.message);
    assert_int_equal(scratch_mode(place, "secret"), 0600);
}

static void secret_and_staged(scratch *place)
{
    scratch_walk(place, 1);
    scratch_write(place, "secret", "true counts");
    scratch_write(place, ".staged", "noisy counts");
    assert_int_equal(__real_chmod(scratch_path(place, "secret"), 0600), 0);
}

/* A link, symbolic or hard, in the place of what waits for its name: whatever it leads to keeps its
 * mode, and is not published. */
static void test_publish_follows_no_link(void **state)
{
    scratch *place = hostile = *state;
    char secret[400];

    secret_and_staged(place);
    publish_beside_a_secret(place, CELLAR_OK);
    assert_int_equal(scratch_mode(place, "release"), 0644);

    secret_and_staged(place);
    at_chmod = exchange_for_a_link; /* between the look and the change */
    publish_beside_a_secret(place, CELLAR_ERR_IO);

    secret_and_staged(place);
    exchange_for_a_link(); /* before all of it */
    publish_beside_a_secret(place, CELLAR_ERR_IO);

    secret_and_staged(place);
    snprintf(secret, sizeof secret, "%s", scratch_path(place, "secret"));
    assert_int_equal(unlink(scratch_path(place, ".staged")), 0);
    assert_int_equal(link(secret, scratch_path(place, ".staged")), 0);
    publish_beside_a_secret(place, CELLAR_ERR_RULE);
    assert_int_equal(access(scratch_path(place, "release"), F_OK), -1);
}

/* Where renaming replaces or is unknown, a name is linked and the other one removed: a crash
 * between the two leaves both, and publishing again removes the hidden one. */
static int renames_without_replacing = 1;
int __real_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);
int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags);

int __wrap_renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    if (renames_without_replacing)
        return __real_renameat2(from_fd, from, to_fd, to, flags);
    errno = EINVAL;
    return -1;
}

/* A sync fails, of the folder or of the file: the file is not acknowledged, and not there either.
 */
static int folders_sync = 1, files_sync = 1;
int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0 || (S_ISDIR(facts.st_mode) ? folders_sync : files_sync))
        return __real_fsync(fd);
    errno = EIO;
    return -1;
}

static void test_a_name_that_is_not_synced(void **state)
{
    scratch *place = *state;
    cellar_output *output = opened(place, "t", NULL);
    cellar_error err = {""};
    cellar_output_string(output, "whole");
    folders_sync = 0;
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_ERR_IO);
    folders_sync = 1;
    assert_non_null(strstr(err.message, "sync the folder"));
    assert_int_equal(scratch_n_entries(place), 0);
}

static void test_bytes_that_are_not_synced(void **state)
{
    scratch *place = *state;
    cellar_output *output = opened(place, "t", NULL);
    cellar_error err = {""};
    cellar_output_string(output, "whole");
    files_sync = 0;
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_ERR_IO);
    files_sync = 1;
    assert_int_equal(scratch_n_entries(place), 0);
}

static void test_publish_by_links(void **state)
{
    scratch *place = *state;
    char staged[400], path[400];
    cellar_error err;

    snprintf(staged, sizeof staged, "%s", scratch_path(place, ".staged"));
    snprintf(path, sizeof path, "%s", scratch_path(place, "release"));
    renames_without_replacing = 0;
    secret_and_staged(place);
    publish_beside_a_secret(place, CELLAR_OK);
    secret_and_staged(place);
    assert_int_equal(link(staged, path), 0);
    publish_beside_a_secret(place, CELLAR_OK);
    assert_int_equal(access(staged, F_OK), -1);
    secret_and_staged(place);
    scratch_write(place, "release", "theirs");
    publish_beside_a_secret(place, CELLAR_ERR_EXISTS);
    scratch_expect(place, "release", "theirs");
    scratch_walk(place, 1);
    assert_int_equal(cellar_folder_create(staged, &err), CELLAR_OK);
    assert_int_equal(cellar_folder_publish(staged, path, &err), CELLAR_OK);
    assert_int_equal(scratch_mode(place, "release"), 0755);
    renames_without_replacing = 1;
}

static void plant_in_the_draft(void)
{
    assert_int_equal(unlink(scratch_path(hostile, "draft/b")), 0);
    assert_int_equal(symlink("../secret", scratch_path(hostile, "draft/b")), 0);
}

/* The same for a folder: links to files outside, and a link in the place of the folder. */
static void test_folders_follow_no_link(void **state)
{
    scratch *place = hostile = *state;
    char draft[400], pack[400];
    cellar_error err;

    snprintf(draft, sizeof draft, "%s", scratch_path(place, "draft"));
    snprintf(pack, sizeof pack, "%s", scratch_path(place, "pack"));
    scratch_write(place, "secret", "true counts");
    assert_int_equal(__real_chmod(scratch_path(place, "secret"), 0600), 0);
    assert_int_equal(cellar_folder_create(draft, &err), CELLAR_OK);
    scratch_write(place, "draft/a", "a");
    scratch_write(place, "draft/b", "b");
    at_chmod = plant_in_the_draft; /* when "a" gets its mode */
    assert_int_equal(cellar_folder_publish(draft, pack, &err), CELLAR_ERR_IO);
    assert_int_equal(scratch_mode(place, "secret"), 0600);
    assert_int_equal(access(pack, F_OK), -1);
    assert_int_equal(cellar_folder_remove(draft, &err), CELLAR_OK);

    assert_int_equal(mkdir(scratch_path(place, "private"), 0700), 0);
    assert_int_equal(symlink("private", draft), 0);
    assert_int_equal(cellar_folder_publish(draft, pack, &err), CELLAR_ERR_IO);
    assert_int_equal(cellar_folder_remove(draft, &err), CELLAR_ERR_IO);
    assert_int_equal(scratch_mode(place, "private"), 0700);
}

/* A folder in which others can exchange files is refused; the sticky bit keeps them from it. */
static void test_folders_of_others(void **state)
{
    scratch *place = *state;
    static const struct {
        mode_t mode;
        cellar_status want;
    } cases[] = {{0700, CELLAR_OK},       {0755, CELLAR_OK},        {01777, CELLAR_OK},
                 {01730, CELLAR_OK},      {0777, CELLAR_ERR_RULE},  {0770, CELLAR_ERR_RULE},
                 {0702, CELLAR_ERR_RULE}, {02775, CELLAR_ERR_RULE}, {0720, CELLAR_ERR_RULE}};
    char staged[400];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cellar_output *output = NULL;
        cellar_error err = {""};
        cellar_status status;
        scratch_walk(place, 1);
        scratch_write(place, ".staged", "x");
        snprintf(staged, sizeof staged, "%s", scratch_path(place, ".staged"));
        assert_int_equal(__real_chmod(place->folder, cases[i].mode), 0);
        status = cellar_output_open(scratch_path(place, "t"), NULL, &output, &err);
        cellar_output_discard(output);
        if (status != cases[i].want)
            fail_msg("%o: %s", cases[i].mode, err.message);
        if (status != CELLAR_OK)
            assert_non_null(strstr(err.message, "chmod go-w"));
        status = cellar_output_publish(staged, scratch_path(place, "t"), NULL, &err);
        assert_int_equal(status, cases[i].want);
    }
    assert_int_equal(__real_chmod(place->folder, 0700), 0);
    if (geteuid() == 0) { /* who may give it away */
        cellar_output *output = NULL;
        assert_int_equal(chown(place->folder, 65534, 65534), 0);
        assert_int_equal(cellar_output_open(scratch_path(place, "t2"), NULL, &output, NULL),
                         CELLAR_ERR_RULE);
        assert_int_equal(chown(place->folder, 0, 0), 0);
    }
}

#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(test_appears_whole),
        SCRATCH_TEST(test_many_bytes),
        SCRATCH_TEST(test_discard),
        SCRATCH_TEST(test_mode_whatever_the_umask),
        SCRATCH_TEST(test_exists),
        SCRATCH_TEST(test_replace),
        SCRATCH_TEST(test_symlink_not_followed),
        SCRATCH_TEST(test_bad_targets),
        SCRATCH_TEST(test_disk_full),
        SCRATCH_TEST(test_stdout),
        SCRATCH_TEST(test_fail_every),
        SCRATCH_TEST(test_without_nameless_files),
        SCRATCH_TEST(test_publish_follows_no_link),
        SCRATCH_TEST(test_a_name_that_is_not_synced),
        SCRATCH_TEST(test_bytes_that_are_not_synced),
        SCRATCH_TEST(test_publish_by_links),
        SCRATCH_TEST(test_folders_follow_no_link),
        SCRATCH_TEST(test_folders_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
