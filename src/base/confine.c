/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The filter of system calls: a list of those that are refused, not of those that are allowed. What
 * libraries call changes with their versions, and a filter that ends a run in the middle of its
 * work does more harm than one that leaves harmless calls alone. */
#include <cellar/process.h>

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/error.h"

#if defined(__x86_64__)
#define CONFINE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define CONFINE_ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define CONFINE_ARCH AUDIT_ARCH_RISCV64
#endif

#if defined(CONFINE_ARCH) && !defined(CELLAR_SANITIZE)

typedef struct confined {
    unsigned unless; /* one of these must be allowed for it; 0: refused in every case */
    uint32_t call;
} confined;

/* io_uring would open sockets without a system call that this filter sees. */
static const confined refused[] = {
    {CELLAR_MAY_EXECUTE, SYS_execve},
    {CELLAR_MAY_EXECUTE, SYS_execveat},
    {CELLAR_MAY_CONNECT, SYS_socket},
    {CELLAR_MAY_CONNECT | CELLAR_MAY_EXECUTE, SYS_socketpair}, /* to a helper program */
    {CELLAR_MAY_CONNECT, SYS_connect},
    {CELLAR_MAY_CONNECT, SYS_bind},
    {CELLAR_MAY_CONNECT, SYS_listen},
    {0, SYS_io_uring_setup},
    {0, SYS_ptrace},
    {0, SYS_process_vm_readv},
    {0, SYS_process_vm_writev},
    {0, SYS_pidfd_getfd},
    {0, SYS_perf_event_open},
    {0, SYS_bpf},
    {0, SYS_userfaultfd},
    {0, SYS_init_module},
    {0, SYS_finit_module},
    {0, SYS_kexec_load},
    {0, SYS_mount},
    {0, SYS_umount2},
    {0, SYS_pivot_root},
    {0, SYS_chroot},
    {0, SYS_unshare},
    {0, SYS_setns},
    {0, SYS_add_key},
    {0, SYS_request_key},
    {0, SYS_keyctl},
    {0, SYS_open_by_handle_at},
    {0, SYS_acct},
    {0, SYS_quotactl},
    {0, SYS_reboot},
    {0, SYS_swapon},
    {0, SYS_swapoff},
};
enum { N_REFUSED = sizeof refused / sizeof refused[0], N_AROUND = 7 };

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define IF_EQUAL(value, then, otherwise)                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), then, otherwise)

/* Calls by the numbers of another architecture would mean something else: they are all refused. So
 * are those of x32, which have bit 30. */
static unsigned short confine_program(unsigned may, struct sock_filter *out)
{
    static const struct sock_filter begin[] = {
        LOAD(arch),
        IF_EQUAL(CONFINE_ARCH, 1, 0),
        ANSWER(SECCOMP_RET_ERRNO | EPERM),
        LOAD(nr),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, UINT32_C(1) << 30, 0, 1),
        ANSWER(SECCOMP_RET_ERRNO | EPERM)};
    static const struct sock_filter refuse = ANSWER(SECCOMP_RET_ERRNO | EPERM);
    static const struct sock_filter allow = ANSWER(SECCOMP_RET_ALLOW);
    unsigned short n = 0;
    for (size_t i = 0; i < sizeof begin / sizeof begin[0]; i++)
        out[n++] = begin[i];
    for (size_t i = 0; i < N_REFUSED; i++) {
        if ((refused[i].unless & may) != 0)
            continue;
        out[n++] = (struct sock_filter) IF_EQUAL(refused[i].call, 0, 1);
        out[n++] = refuse;
    }
    out[n++] = allow;
    return n;
}

cellar_status cellar_process_confine(unsigned may, cellar_error *err)
{
    struct sock_filter code[2 * N_REFUSED + N_AROUND];
    struct sock_fprog program = {.len = confine_program(may, code), .filter = code};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 || errno == EINVAL)
        return CELLAR_OK; /* EINVAL: a kernel without filters */
    return cellar_fail_errno(err, "this process", "confine it");
}

#else

cellar_status cellar_process_confine(unsigned may, cellar_error *err)
{
    (void) may;
    (void) err;
    return CELLAR_OK;
}

#endif
