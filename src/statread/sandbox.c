/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "statread/sandbox.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/error.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_RISCV64
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
#define SANDBOX_ARCHITECTURE AUDIT_ARCH_PPC64LE
#else
#error "sandbox.c: name the AUDIT_ARCH_ of this processor (64 bits, little-endian)"
#endif

enum { SANDBOX_OWN_BYTES = 16 << 20 }; /* code, stack and conversions */

/* ---- limits ------------------------------------------------------------------ */

static cellar_status sandbox_limit(int what, uint64_t soft, uint64_t hard, cellar_error *err)
{
    struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard}, old;
    if (getrlimit((__rlimit_resource_t) what, &old) == 0) { /* never above what it has */
        if (limit.rlim_max > old.rlim_max)
            limit.rlim_max = old.rlim_max;
        if (limit.rlim_cur > limit.rlim_max)
            limit.rlim_cur = limit.rlim_max;
    }
    if (setrlimit((__rlimit_resource_t) what, &limit) != 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "the program that reads it cannot limit itself (setrlimit)");
    return CELLAR_OK;
}

static cellar_status sandbox_limits(uint64_t memory_bytes, uint64_t seconds, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (memory_bytes > 0) {
        uint64_t all = SANDBOX_OWN_BYTES + memory_bytes;
        CELLAR_TRY(sandbox_limit(RLIMIT_AS, all, all, err));
    }
    CELLAR_TRY(sandbox_limit(RLIMIT_CPU, seconds, seconds + 5, err));
    CELLAR_TRY(sandbox_limit(RLIMIT_FSIZE, 0, 0, err));
    CELLAR_TRY(sandbox_limit(RLIMIT_CORE, 0, 0, err));
    CELLAR_TRY(sandbox_limit(RLIMIT_NOFILE, 0, 0, err));
out:
    return status;
}

/* ---- system calls ------------------------------------------------------------ */

#define LOAD(field)                                                                                \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t) offsetof(struct seccomp_data, field))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
/* Answers so for the system call `number`; otherwise goes on. */
#define CALL(number, what) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), ANSWER(what)
#define ALLOW(number) CALL(number, SECCOMP_RET_ALLOW)
#define FAIL(number) CALL(number, SECCOMP_RET_ERRNO | EACCES)

/* Numbers of calls, then what becomes of them. Looking for files fails instead of ending the
 * process because the C library does so where it can do without: time zones, character sets. */
static struct sock_filter sandbox_calls[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SANDBOX_ARCHITECTURE, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    ALLOW(__NR_read),
    ALLOW(__NR_pread64),
    ALLOW(__NR_write),
    ALLOW(__NR_close),
    ALLOW(__NR_brk),
    ALLOW(__NR_munmap),
    ALLOW(__NR_mremap),
    ALLOW(__NR_madvise),
    ALLOW(__NR_futex),
    ALLOW(__NR_getrandom),
    ALLOW(__NR_clock_gettime),
    ALLOW(__NR_gettimeofday),
    ALLOW(__NR_exit),
    ALLOW(__NR_exit_group),
    FAIL(__NR_fstat),
    FAIL(__NR_newfstatat),
    FAIL(__NR_openat),
    FAIL(__NR_faccessat),
    FAIL(__NR_readlinkat),
#ifdef __NR_open /* newer processors do without */
    FAIL(__NR_open),
    FAIL(__NR_stat),
    FAIL(__NR_access),
    FAIL(__NR_readlink),
#endif
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    /* Memory, yes; files and code, no. The low half of an argument comes first. */
    LOAD(args[2]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 2, 0),
    LOAD(args[3]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 1, 0),
    ANSWER(SECCOMP_RET_KILL_PROCESS),
    ANSWER(SECCOMP_RET_ALLOW),
};

cellar_status cellar_sandbox_enter(uint64_t memory_bytes, uint64_t seconds, cellar_error *err)
{
    const struct sock_fprog filter = {.len = sizeof sandbox_calls / sizeof *sandbox_calls,
                                      .filter = sandbox_calls};
    cellar_status status = sandbox_limits(memory_bytes, seconds, err);

    if (status != CELLAR_OK)
        return status;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "this system has no seccomp filters, without which files of this format "
                           "are not read; allow them (kernel, container), or convert the file to "
                           "CSV elsewhere");
    return CELLAR_OK;
}
