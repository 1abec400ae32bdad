/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who runs when. A front and the links to its vault are one generation. For a new configuration a
 * new front starts beside the old one, at the same listening socket; once it answers, the old one
 * is asked to finish. So no request is dropped, and a configuration that is refused changes
 * nothing. There is never more than one vault: the next starts when the one before has ended, which
 * it does when its front has. Until then a front holds its draws back, and no other replaces it:
 * its vault would never start, and those draws would fail. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "server.h"

enum { DRAINING_MAX = 16, STOP_MS = 20000, PAUSE_MS = 1000 };

typedef struct generation {
    pid_t front;             /* 0: there is none */
    int ready;               /* the end of a pipe at which it says so; -1: it has */
    int links[SERVER_LINKS]; /* the vault's ends, until it is started; -1: none */
    int64_t born_ms;
} generation;

typedef struct supervisor {
    const server_options *options;
    server_socket *listening;
    generation current, next;
    pid_t draining[DRAINING_MAX];
    size_t n_draining;
    pid_t vault;
    int vault_ready; /* -1: it has said so, or there is none */
    int signals;
    int is_serving;     /* 1: the service manager was told */
    int is_asked_again; /* 1: another configuration while one is being started */
    int is_stopping;
    int64_t stop_by_ms, start_at_ms; /* 0: not */
    int exit_code;
} supervisor;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_links(int links[SERVER_LINKS])
{
    for (size_t i = 0; i < SERVER_LINKS; i++)
        close_fd(&links[i]);
}

/* ---- starting ---------------------------------------------------------------------------------
 */

/* What a child does not inherit: the supervisor's descriptors and signals. It ends when the
 * supervisor does. */
static void become_child(supervisor *s, pid_t parent)
{
    sigset_t none;
    close_links(s->current.links);
    close_links(s->next.links);
    close_fd(&s->current.ready);
    close_fd(&s->next.ready);
    close_fd(&s->vault_ready);
    close_fd(&s->signals);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
}

static int make_links(int fronts[SERVER_LINKS], int vaults[SERVER_LINKS])
{
    for (size_t i = 0; i < SERVER_LINKS; i++)
        fronts[i] = vaults[i] = -1;
    for (size_t i = 0; i < SERVER_LINKS; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
            close_links(fronts);
            close_links(vaults);
            return 0;
        }
        fronts[i] = pair[0];
        vaults[i] = pair[1];
    }
    return 1;
}

static void start_front(supervisor *s)
{
    server_front front = {.options = s->options, .socket = *s->listening};
    const pid_t parent = getpid();
    int links[SERVER_LINKS], ready[2] = {-1, -1};
    pid_t pid = -1;
    s->start_at_ms = 0;
    s->is_asked_again = 0;
    if (make_links(front.links, links) && pipe2(ready, O_CLOEXEC) == 0)
        pid = fork();
    if (pid == 0) {
        become_child(s, parent);
        close_links(links);
        close(ready[0]);
        front.ready = ready[1];
        _exit(server_become(s->options->front_user) ? server_front_run(&front) : 1);
    }
    if (pid < 0) {
        server_say("cannot start a process: %s", strerror(errno));
        s->start_at_ms = now_ms() + PAUSE_MS;
        close_links(links);
        close_fd(&ready[0]);
    } else {
        s->next = (generation){.front = pid, .ready = ready[0], .born_ms = now_ms()};
        memcpy(s->next.links, links, sizeof links);
    }
    close_links(front.links);
    close_fd(&ready[1]);
}

static int awaits_vault(const supervisor *s)
{
    return s->current.links[0] >= 0;
}

/* The vault of the generation that serves. */
static void start_vault(supervisor *s)
{
    const pid_t parent = getpid();
    int links[SERVER_LINKS], ready[2];
    if (!awaits_vault(s) || s->vault > 0 || pipe2(ready, O_CLOEXEC) != 0)
        return;
    s->vault = fork();
    if (s->vault == 0) {
        memcpy(links, s->current.links, sizeof links);
        for (size_t i = 0; i < SERVER_LINKS; i++)
            s->current.links[i] = -1;
        become_child(s, parent);
        close(ready[0]);
        close(s->listening->fd);
        _exit(server_become(s->options->vault_user) ? server_vault_run(s->options, links, ready[1])
                                                    : 1);
    }
    close(ready[1]);
    s->vault_ready = ready[0];
    close_links(s->current.links);
}

/* ---- what happens -----------------------------------------------------------------------------
 */

static void tell_serving(supervisor *s)
{
    if (s->is_serving)
        return;
    s->is_serving = 1;
    printf("%s\n", s->listening->url);
    fflush(stdout);
    server_notify("READY=1");
}

/* The new front answers: the old one finishes. */
static void take_over(supervisor *s, int needs_vault)
{
    if (s->current.front > 0) {
        kill(s->current.front, SIGUSR1);
        if (s->n_draining < DRAINING_MAX)
            s->draining[s->n_draining++] = s->current.front;
        close_links(s->current.links);
        server_say("a new front answers");
        server_notify("READY=1");
    }
    s->current = s->next;
    s->next = (generation){.ready = -1, .links = {-1, -1, -1, -1}};
    if (!needs_vault) {
        close_links(s->current.links);
        tell_serving(s);
    } else
        start_vault(s);
    if (s->is_asked_again && !awaits_vault(s))
        start_front(s);
}

static void hear_front(supervisor *s)
{
    char said = '\0';
    const ssize_t n = read(s->next.ready, &said, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    close_fd(&s->next.ready);
    if (n == 1 && !s->is_stopping)
        take_over(s, said == 'v');
}

static void hear_vault(supervisor *s)
{
    char said;
    const ssize_t n = read(s->vault_ready, &said, 1);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    close_fd(&s->vault_ready);
    if (n == 1)
        tell_serving(s);
}

static void stop(supervisor *s, int exit_code)
{
    if (!s->is_stopping) {
        s->exit_code = exit_code;
        server_notify("STOPPING=1");
    }
    s->is_stopping = 1;
    s->stop_by_ms = now_ms() + STOP_MS;
    if (s->current.front > 0)
        kill(s->current.front, SIGTERM);
    if (s->next.front > 0)
        kill(s->next.front, SIGTERM);
    for (size_t i = 0; i < s->n_draining; i++)
        kill(s->draining[i], SIGTERM);
    close_links(s->current.links);
    close_links(s->next.links);
}

static void reload(supervisor *s)
{
    server_notify("RELOADING=1");
    if (s->next.front > 0 || awaits_vault(s))
        s->is_asked_again = 1;
    else
        start_front(s);
}

/* A front that was not ready: its message says why, unless it was killed. */
static void front_refused(supervisor *s, int status)
{
    close_links(s->next.links);
    close_fd(&s->next.ready);
    s->next.front = 0;
    if (s->is_stopping)
        return;
    if (!s->is_serving && s->current.front == 0)
        stop(s, WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    else if (s->current.front == 0 || WIFSIGNALED(status)) /* the one before died, or this one */
        s->start_at_ms = now_ms() + PAUSE_MS;
    else {
        server_say("the new configuration is not served; the old one stays");
        server_notify("READY=1");
    }
}

static void front_ended(supervisor *s)
{
    const int is_young = now_ms() - s->current.born_ms < PAUSE_MS;
    s->current.front = 0;
    if (s->is_stopping)
        return;
    close_links(s->current.links);
    server_say("the front ended, and is started again");
    if (is_young)
        s->start_at_ms = now_ms() + PAUSE_MS;
    else if (s->next.front == 0)
        start_front(s);
}

/* A vault that ends by itself before it is ready has said why, and would say it again. */
static void vault_ended(supervisor *s, int status)
{
    const int has_refused = s->vault_ready >= 0 && WIFEXITED(status);
    close_fd(&s->vault_ready);
    s->vault = 0;
    if (s->is_stopping)
        return;
    if (awaits_vault(s)) { /* that of the generation before has ended */
        start_vault(s);
        if (s->is_asked_again && s->next.front == 0)
            start_front(s);
    } else if (!s->is_serving)
        stop(s, 1);
    else if (has_refused)
        server_say("there is no vault: tables are read, and none is drawn");
    else if (s->current.front > 0 && s->next.front == 0) {
        server_say("the vault ended, and is started again");
        s->start_at_ms = now_ms() + PAUSE_MS; /* a new front, with links to a new vault */
    }
}

static void reap(supervisor *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid == s->next.front)
            front_refused(s, status);
        else if (pid == s->current.front)
            front_ended(s);
        else if (pid == s->vault)
            vault_ended(s, status);
        for (size_t i = 0; i < s->n_draining; i++)
            if (s->draining[i] == pid)
                s->draining[i] = s->draining[--s->n_draining];
    }
}

static void hear_signal(supervisor *s)
{
    struct signalfd_siginfo signal;
    if (read(s->signals, &signal, sizeof signal) != sizeof signal)
        return;
    if (signal.ssi_signo == SIGCHLD)
        reap(s);
    else if (signal.ssi_signo == SIGHUP && !s->is_stopping)
        reload(s);
    else if (signal.ssi_signo != SIGHUP)
        stop(s, 0);
}

/* ---- the loop ---------------------------------------------------------------------------------
 */

static int is_over(const supervisor *s)
{
    return s->is_stopping && s->current.front == 0 && s->next.front == 0 && s->n_draining == 0 &&
           s->vault == 0;
}

static void kill_all(const supervisor *s)
{
    const pid_t all[] = {s->current.front, s->next.front, s->vault};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] > 0)
            kill(all[i], SIGKILL);
    for (size_t i = 0; i < s->n_draining; i++)
        kill(s->draining[i], SIGKILL);
}

static int wait_ms(const supervisor *s)
{
    const int64_t at = s->is_stopping ? s->stop_by_ms : s->start_at_ms;
    const int64_t left = at - now_ms();
    return at == 0 ? -1 : left > 0 ? (int) left : 0;
}

static void look_at_clock(supervisor *s)
{
    if (s->is_stopping && now_ms() >= s->stop_by_ms) {
        kill_all(s);
        s->stop_by_ms = now_ms() + STOP_MS;
    } else if (!s->is_stopping && s->start_at_ms > 0 && now_ms() >= s->start_at_ms &&
               s->next.front == 0)
        start_front(s);
}

int server_supervise(const server_options *options, server_socket *listening)
{
    supervisor s = {.options = options,
                    .listening = listening,
                    .current = {.ready = -1, .links = {-1, -1, -1, -1}},
                    .next = {.ready = -1, .links = {-1, -1, -1, -1}},
                    .vault_ready = -1};
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGHUP);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigprocmask(SIG_BLOCK, &wanted, NULL);
    s.signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s.signals < 0) {
        server_say("cannot wait for signals: %s", strerror(errno));
        return 1;
    }
    start_front(&s);
    while (!is_over(&s)) {
        struct pollfd at[] = {{.fd = s.signals, .events = POLLIN},
                              {.fd = s.next.ready, .events = POLLIN},
                              {.fd = s.vault_ready, .events = POLLIN}};
        if (poll(at, 3, wait_ms(&s)) < 0 && errno != EINTR)
            break;
        if (at[1].revents != 0)
            hear_front(&s);
        if (at[2].revents != 0)
            hear_vault(&s);
        if (at[0].revents != 0)
            hear_signal(&s);
        look_at_clock(&s);
    }
    close_fd(&s.signals);
    return s.exit_code;
}
