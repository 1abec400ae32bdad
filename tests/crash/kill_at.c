/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command and kills it at its n-th system call: what lies on disk changes only there, so
 * that counting n up from 0 visits every state a crash can leave.
 *
 *     kill_at N COMMAND...
 *
 * Exits 0 when it killed, 10 when the command ended by itself before, 77 when the system does not
 * allow tracing. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENDED = 10, NOT_ALLOWED = 77 };

static int stopped_at_call(int status)
{
    return WIFSTOPPED(status) && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

static int is_group_or_event_stop(int status)
{
    return WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP;
}

int main(int argc, char **argv)
{
    long n_left = argc > 2 ? atol(argv[1]) * 2 : 0; /* a call stops twice: before and after */
    int status;
    pid_t child = argc > 2 ? fork() : -1;

    if (child < 0) {
        fprintf(stderr, "usage: kill_at N COMMAND...\n");
        return 2;
    }
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(NOT_ALLOWED);
        raise(SIGSTOP);
        execvp(argv[2], argv + 2);
        _exit(2);
    }
    if (waitpid(child, &status, 0) != child || WIFEXITED(status))
        return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL,
               PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL) != 0)
        return NOT_ALLOWED;
    for (pid_t thread = child;;) {
        int pass_on = 0;
        if (stopped_at_call(status) && n_left-- <= 0) {
            kill(child, SIGKILL);
            while (waitpid(-1, &status, __WALL) > 0 || errno == EINTR)
                ;
            return 0;
        }
        if (WIFSTOPPED(status) && !stopped_at_call(status) && !is_group_or_event_stop(status))
            pass_on = WSTOPSIG(status);
        if (WIFSTOPPED(status))
            ptrace(PTRACE_SYSCALL, thread, NULL, (void *) (long) pass_on);
        thread = waitpid(-1, &status, __WALL);
        if (thread < 0)
            return ENDED;
        if (thread == child && (WIFEXITED(status) || WIFSIGNALED(status)))
            return ENDED;
    }
}
