/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into a program: at its n-th call that changes the disk, something happens.
 *
 *     FAULT_AT=n FAULT=kill|half|after|full|eio|dying LD_PRELOAD=... program
 *
 * kill, after: the process is killed before or after the call; half: it writes half and is killed.
 * full: from then on the disk is full. eio: this call fails with EIO. dying: this and every later
 * write and sync does. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum fault { NONE, KILL, HALF, AFTER, FULL, EIO_ONCE, DYING };
enum call { WRITES, SYNCS, NAMES, CREATES };

static enum fault fault_kind(void)
{
    static const char *const names[] = {"", "kill", "half", "after", "full", "eio", "dying"};
    const char *name = getenv("FAULT");
    for (int i = 1; name != NULL && i <= DYING; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum fault) i;
    return NONE;
}

/* What is to happen at this call. */
static enum fault fault_now(enum call call)
{
    static long n_calls;
    const char *at = getenv("FAULT_AT");
    long chosen = at != NULL ? atol(at) : -1, n;
    enum fault kind = fault_kind();
    if (chosen < 0)
        return NONE;
    n = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED); /* threads share it */
    if (n < chosen)
        return NONE;
    if (n == chosen)
        return kind == FULL && (call == SYNCS || call == NAMES) ? NONE : kind;
    if (kind == FULL && (call == WRITES || call == CREATES))
        return FULL;
    return kind == DYING && (call == WRITES || call == SYNCS) ? DYING : NONE;
}

static void die(void)
{
    raise(SIGKILL);
}

/* The part of every call that comes before the real one: 1 when it is to fail. */
static int fails(enum fault fault)
{
    if (fault == KILL || fault == HALF)
        die();
    if (fault == FULL)
        errno = ENOSPC;
    if (fault == EIO_ONCE || fault == DYING)
        errno = EIO;
    return fault == FULL || fault == EIO_ONCE || fault == DYING;
}

/* The function of that name that this one stands before. */
#define REAL(like, name)                                                                           \
    __typeof__(like) *real;                                                                        \
    *(void **) &real = dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *bytes, size_t length)
{
    REAL(write, "write");
    enum fault fault = fd > 2 ? fault_now(WRITES) : NONE;
    ssize_t n;
    if (fault == HALF)
        real(fd, bytes, length / 2);
    if (fails(fault))
        return -1;
    n = real(fd, bytes, length);
    if (fault == AFTER)
        die();
    return n;
}

static ssize_t write_at(const char *name, int fd, const void *bytes, size_t length, off_t at)
{
    REAL(pwrite, name);
    enum fault fault = fault_now(WRITES);
    ssize_t n;
    if (fault == HALF)
        real(fd, bytes, length / 2, at);
    if (fails(fault))
        return -1;
    n = real(fd, bytes, length, at);
    if (fault == AFTER)
        die();
    return n;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return write_at("pwrite", fd, bytes, length, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at)
{
    return write_at("pwrite64", fd, bytes, length, at);
}

#define SIMPLE(kind, name, parameters, arguments)                                                  \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, #name);                                                                         \
        enum fault fault = fault_now(kind);                                                        \
        int result;                                                                                \
        if (fails(fault))                                                                          \
            return -1;                                                                             \
        result = real arguments;                                                                   \
        if (fault == AFTER)                                                                        \
            die();                                                                                 \
        return result;                                                                             \
    }

SIMPLE(SYNCS, fsync, (int fd), (fd))
SIMPLE(SYNCS, fdatasync, (int fd), (fd))
SIMPLE(NAMES, ftruncate, (int fd, off_t length), (fd, length))
SIMPLE(NAMES, ftruncate64, (int fd, off_t length), (fd, length))
SIMPLE(NAMES, unlink, (const char *path), (path))
SIMPLE(CREATES, rename, (const char *from, const char *to), (from, to))
SIMPLE(CREATES, renameat2,
       (int from_fd, const char *from, int to_fd, const char *to, unsigned int flags),
       (from_fd, from, to_fd, to, flags))
SIMPLE(CREATES, linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags),
       (from_fd, from, to_fd, to, flags))
SIMPLE(CREATES, renameat, (int from_fd, const char *from, int to_fd, const char *to),
       (from_fd, from, to_fd, to))
SIMPLE(NAMES, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
SIMPLE(CREATES, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
SIMPLE(NAMES, fchmod, (int fd, mode_t mode), (fd, mode))

/* O_TMPFILE has the bits of O_DIRECTORY, which alone creates nothing. */
static int creates(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_any(const char *name, const char *path, int flags, mode_t mode)
{
    REAL(open, name);
    enum fault fault = creates(flags) ? fault_now(CREATES) : NONE;
    int fd;
    if (fails(fault))
        return -1;
    fd = real(path, flags, mode);
    if (fault == AFTER)
        die();
    return fd;
}

/* The mode is there only where it is needed; reading one more argument does no harm elsewhere. */
#define MODE_OF(flags, mode)                                                                       \
    do {                                                                                           \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    } while (0)

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        mode_t mode;                                                                               \
        MODE_OF(flags, mode);                                                                      \
        return open_any(#name, path, flags, mode);                                                 \
    }

OPEN(open)
OPEN(open64)

int openat(int folder, const char *path, int flags, ...)
{
    REAL(openat, "openat");
    enum fault fault = creates(flags) ? fault_now(CREATES) : NONE;
    mode_t mode;
    int fd;
    MODE_OF(flags, mode);
    if (fails(fault))
        return -1;
    fd = real(folder, path, flags, mode);
    if (fault == AFTER)
        die();
    return fd;
}
