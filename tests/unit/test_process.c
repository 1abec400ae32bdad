/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/process.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cellar/output.h>

#include "check.h"

/* Hardening cannot be undone, so each case runs in a child that answers 0 when all is well. */
static int in_child(int (*work)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(work());
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static int child_hardened(void)
{
    struct rlimit limit;
    if (cellar_process_harden(NULL) != CELLAR_OK)
        return 1;
    if (getrlimit(RLIMIT_CORE, &limit) != 0 || limit.rlim_cur != 0 || limit.rlim_max != 0)
        return 2;
    if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
        return 3;
    if (umask(0) != 077)
        return 4;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 5;
}

static void test_harden(void **state)
{
    (void) state;
    assert_int_equal(in_child(child_hardened), 0);
}

#ifndef CELLAR_SANITIZE
/* 1 when the kernel refuses what the confined process has no use for. */
static int refuses_others(void)
{
    char byte = 0;
    struct iovec own = {&byte, 1}, other = {&byte, 1};
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1 && errno == EPERM &&
           process_vm_readv(getpid(), &own, 1, &other, 1, 0) == -1 && errno == EPERM &&
           unshare(CLONE_NEWUSER) == -1 && errno == EPERM;
}

static int child_confined(void)
{
    char *const arguments[] = {NULL};
    FILE *file;
    if (cellar_process_harden(NULL) != CELLAR_OK || cellar_process_confine(0, NULL) != CELLAR_OK)
        return 1;
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
        return 2;
    if (execve("/bin/true", arguments, arguments) != -1 || errno != EPERM)
        return 3;
    if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EPERM)
        return 4;
    if (!refuses_others())
        return 5;
    file = tmpfile(); /* the work goes on */
    return file != NULL && fclose(file) == 0 ? 0 : 6;
}

static int child_may_execute(void)
{
    char *const arguments[] = {NULL};
    if (cellar_process_harden(NULL) || cellar_process_confine(CELLAR_MAY_EXECUTE, NULL))
        return 2;
    if (socket(AF_UNIX, SOCK_STREAM, 0) != -1 || errno != EPERM || !refuses_others())
        return 3;
    execve("/bin/true", arguments, arguments);
    return 4;
}

static int child_may_connect(void)
{
    char *const arguments[] = {NULL};
    if (cellar_process_harden(NULL) || cellar_process_confine(CELLAR_MAY_CONNECT, NULL))
        return 1;
    if (socket(AF_UNIX, SOCK_STREAM, 0) == -1 || !refuses_others())
        return 2;
    return execve("/bin/true", arguments, arguments) == -1 && errno == EPERM ? 0 : 3;
}

static void test_confine(void **state)
{
    (void) state;
    assert_int_equal(in_child(child_confined), 0);
    assert_int_equal(in_child(child_may_execute), 0);
    assert_int_equal(in_child(child_may_connect), 0);
}
#endif

/* With 0, 1 and 2 closed, no file may take their numbers, and writing to them must fail. */
static int child_closed_descriptors(void)
{
    char byte = 0;
    int fd;
    close(0);
    close(1);
    close(2);
    if (cellar_process_harden(NULL) != CELLAR_OK)
        return 1;
    fd = open("/dev/zero", O_RDONLY);
    if (fd <= 2)
        return 2;
    if (write(1, "x", 1) != -1 || errno != EBADF || write(2, "x", 1) != -1 || errno != EBADF)
        return 3;
    if (read(0, &byte, 1) != -1 || errno != EBADF)
        return 4;
    return 0;
}

static void test_closed_descriptors(void **state)
{
    (void) state;
    assert_int_equal(in_child(child_closed_descriptors), 0);
}

static int child_file_limit(void)
{
    struct rlimit tiny = {10, 10};
    FILE *file = tmpfile();
    if (file == NULL || setrlimit(RLIMIT_FSIZE, &tiny) != 0 || cellar_process_harden(NULL))
        return 1;
    if (write(fileno(file), "0123456789", 10) != 10)
        return 2;
    return write(fileno(file), "x", 1) == -1 && errno == EFBIG ? 0 : 3;
}

static void test_file_limit_is_an_error(void **state)
{
    (void) state;
    assert_int_equal(in_child(child_file_limit), 0);
}

/* An undumpable process must still be able to name its nameless files, as root and as a user. */
static int child_output_after_hardening(void)
{
    char folder[] = "/tmp/cellar-test-XXXXXX", path[64];
    cellar_output *output = NULL;
    int answer = 0;
    if (mkdtemp(folder) == NULL || chmod(folder, 01777) != 0)
        return 1;
    snprintf(path, sizeof path, "%s/t", folder);
    if (fork() == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        if (cellar_process_harden(NULL) || cellar_output_open(path, NULL, &output, NULL))
            _exit(3);
        _exit(cellar_output_commit(output, NULL) == CELLAR_OK ? 0 : 4);
    }
    wait(&answer);
    unlink(path);
    rmdir(folder);
    return WIFEXITED(answer) ? WEXITSTATUS(answer) : 5;
}

static void test_output_after_hardening(void **state)
{
    (void) state;
    assert_int_equal(in_child(child_output_after_hardening), 0);
}

static void test_n_processors(void **state)
{
    cpu_set_t one, before;
    (void) state;
    assert_true(cellar_process_n_processors() >= 1);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before) && CPU_COUNT(&one) == 0)
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(cellar_process_n_processors(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(cellar_process_n_processors(), CPU_COUNT(&before));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_harden),
#ifndef CELLAR_SANITIZE
        cmocka_unit_test(test_confine),
#endif
        cmocka_unit_test(test_closed_descriptors),
        cmocka_unit_test(test_file_limit_is_an_error),
        cmocka_unit_test(test_output_after_hardening),
        cmocka_unit_test(test_n_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
