/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server.h"

/* ---- files: Landlock ---------------------------------------------------------------------------
 */

/* The kernel's interface in its sixth version; older headers lack the later members. */
struct ruleset {
    uint64_t files, net, scoped;
};
struct path_rule {
    uint64_t allowed;
    int32_t fd;
} __attribute__((packed));

enum {
    MAY_WRITE_FILE = 1 << 1,
    MAY_READ_FILE = 1 << 2,
    MAY_READ_FOLDER = 1 << 3,
    MAY_REMOVE_FILE = 1 << 5,
    MAY_MAKE_FOLDER = 1 << 7,
    MAY_MAKE_FILE = 1 << 8,
    MAY_REFER = 1 << 13,
    MAY_TRUNCATE = 1 << 14
};
enum { RULE_PATH_BENEATH = 1, ASK_VERSION = 1 };

/* What versions of the interface can take away: execute, write, read, list, remove (2), make (7);
 * then refer, truncate, ioctl of devices. */
static uint64_t all_of(int version)
{
    return version >= 5 ? 0xffff : version >= 3 ? 0x7fff : version == 2 ? 0x3fff : 0x1fff;
}

static int allow_path(int ruleset, const char *path, int is_written, uint64_t handled)
{
    struct path_rule rule = {.allowed = MAY_READ_FILE | MAY_READ_FOLDER,
                             .fd = open(path, O_PATH | O_CLOEXEC)};
    int result;
    if (is_written)
        rule.allowed |= MAY_WRITE_FILE | MAY_REMOVE_FILE | MAY_MAKE_FILE | MAY_MAKE_FOLDER |
                        MAY_REFER | MAY_TRUNCATE;
    rule.allowed &= handled;
    if (rule.fd < 0)
        return 0;
    result = (int) syscall(SYS_landlock_add_rule, ruleset, RULE_PATH_BENEATH, &rule, 0);
    close(rule.fd);
    return result == 0;
}

/* 1: done, 0: the kernel cannot, -1 after a message. */
static int confine_files(const cellar_site *site)
{
    struct ruleset rules = {0};
    const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
    const size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int fd, is_written;
    if (version < 1)
        return 0;
    rules = (struct ruleset){.files = all_of((int) version), .net = 3, .scoped = 3};
    fd = (int) syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (fd < 0)
        return 0;
    for (size_t i = 0;; i++) {
        const char *path = cellar_site_path(site, i, &is_written);
        if (path == NULL)
            break;
        if (!allow_path(fd, path, is_written, rules.files)) {
            server_say("%s: cannot be opened: %s", path, strerror(errno));
            close(fd);
            return -1;
        }
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_landlock_restrict_self, fd, 0) != 0) {
        close(fd);
        return 0;
    }
    close(fd);
    return 1;
}

/* ---- system calls: seccomp ---------------------------------------------------------------------
 */

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#else
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#endif

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t) offsetof(struct seccomp_data, field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define CALL(number, what) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), ANSWER(what)
#define ALLOW(name) CALL(__NR_##name, SECCOMP_RET_ALLOW)
/* Allows a call unless its argument has one of these bits. */
#define UNLESS(name, argument, bits)                                                               \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD(args[argument]),                  \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), ANSWER(REFUSE),                        \
        ANSWER(SECCOMP_RET_ALLOW)
/* Allows a call if its argument has this bit. */
#define IF(name, argument, bit)                                                                    \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD(args[argument]),                  \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bit), 1, 0), ANSWER(REFUSE),                         \
        ANSWER(SECCOMP_RET_ALLOW)

static const struct sock_filter calls[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    /* sockets that are there, and those accepted from the one that listens */
    ALLOW(accept4),
    ALLOW(accept),
    ALLOW(epoll_pwait),
    ALLOW(epoll_ctl),
    ALLOW(recvfrom),
    ALLOW(recvmsg),
    ALLOW(sendto),
    ALLOW(sendmsg),
    ALLOW(read),
    ALLOW(readv),
    ALLOW(write),
    ALLOW(writev),
    ALLOW(sendfile),
    ALLOW(shutdown),
    ALLOW(close),
    ALLOW(getsockname),
    ALLOW(getpeername),
    ALLOW(getsockopt),
    ALLOW(setsockopt),
    ALLOW(fcntl),
    ALLOW(ppoll),
    ALLOW(epoll_create1),
    ALLOW(eventfd2),
    /* threads and time */
    ALLOW(futex),
    IF(clone, 0, CLONE_THREAD),
    CALL(__NR_clone3, SECCOMP_RET_ERRNO | ENOSYS), /* its flags cannot be seen */
    ALLOW(set_robust_list),
    ALLOW(rseq),
    ALLOW(sched_yield),
    ALLOW(sched_getaffinity),
    ALLOW(clock_gettime),
    ALLOW(clock_nanosleep),
    ALLOW(nanosleep),
    ALLOW(gettimeofday),
    ALLOW(restart_syscall),
    ALLOW(gettid),
    ALLOW(getpid),
    ALLOW(getppid),
    ALLOW(tgkill),
    ALLOW(rt_sigaction),
    ALLOW(rt_sigprocmask),
    ALLOW(rt_sigtimedwait),
    ALLOW(rt_sigpending),
    ALLOW(rt_sigreturn),
    ALLOW(sigaltstack),
    ALLOW(exit),
    ALLOW(exit_group),
    ALLOW(prlimit64),
    ALLOW(getrandom),
    ALLOW(sysinfo),
    ALLOW(uname),
    /* memory, but no code */
    ALLOW(brk),
    ALLOW(munmap),
    ALLOW(mremap),
    ALLOW(madvise),
    ALLOW(membarrier),
    UNLESS(mmap, 2, PROT_EXEC),
    UNLESS(mprotect, 2, PROT_EXEC),
    /* files, within what Landlock leaves */
    ALLOW(openat),
    ALLOW(newfstatat),
    ALLOW(fstat),
    ALLOW(statx),
    ALLOW(lseek),
    ALLOW(pread64),
    ALLOW(pwrite64),
    ALLOW(getdents64),
    ALLOW(faccessat),
    ALLOW(readlinkat),
    ALLOW(ftruncate),
    ALLOW(fsync),
    ALLOW(fdatasync),
    ALLOW(flock),
    ALLOW(fchmod),
    ALLOW(umask),
    ALLOW(linkat),
    ALLOW(unlinkat),
    ALLOW(renameat2),
    ALLOW(mkdirat),
    ALLOW(getuid),
    ALLOW(geteuid),
    ALLOW(getgid),
    ALLOW(getegid),
#ifdef __NR_open /* newer processors do without */
    ALLOW(open),
    ALLOW(stat),
    ALLOW(lstat),
    ALLOW(access),
    ALLOW(readlink),
    ALLOW(poll),
    ALLOW(epoll_wait),
    ALLOW(epoll_create),
    ALLOW(link),
    ALLOW(unlink),
    ALLOW(rename),
    ALLOW(renameat),
    ALLOW(mkdir),
    ALLOW(time),
#endif
    ANSWER(REFUSE),
};

static int confine_calls(void)
{
    const struct sock_fprog filter = {.len = sizeof calls / sizeof *calls,
                                      .filter = (struct sock_filter *) (uintptr_t) calls};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

int sandbox_enter(const cellar_site *site, int is_needed)
{
#ifdef CELLAR_SANITIZE /* sanitizers open files and start programs */
    (void) site, (void) is_needed;
    return 1;
#else
    const int files = confine_files(site);
    if (files < 0)
        return 0;
    if (files == 1 && confine_calls())
        return 1;
    server_say("this kernel cannot confine the front (%s)%s", files == 1 ? "seccomp" : "Landlock",
               is_needed ? ", and --require-sandbox was given" : "; it is served all the same");
    return !is_needed;
#endif
}
