/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preloaded into a program: writes down every call that changes the disk or brings it there, in
 * order, for power_cut.py.
 *
 *     RECORD_LOG=file LD_PRELOAD=... program
 *
 * A line is a word and its arguments; files and folders are numbers of inodes, names and bytes are
 * hexadecimal. What the program says by write(2) is in the log too: it acknowledges something. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* The function of that name that this one stands before. */
#define REAL(like, name)                                                                           \
    __typeof__(like) *real;                                                                        \
    *(void **) &real = dlsym(RTLD_NEXT, name)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- the log --------------------------------------------------------------- */

/* Writes a line whole: "text" and then, if there are any, bytes in hexadecimal. */
__attribute__((format(printf, 3, 4))) static void note_bytes(const void *bytes, size_t n,
                                                             const char *format, ...)
{
    static const char digits[] = "0123456789abcdef";
    const char *path = getenv("RECORD_LOG");
    const unsigned char *from = bytes;
    int saved = errno;
    char *line = malloc(2 * n + 1200);
    FILE *log = path != NULL ? fopen(path, "ae") : NULL;
    va_list arguments;
    size_t length;
    if (line == NULL || log == NULL)
        abort();
    va_start(arguments, format);
    length = (size_t) vsnprintf(line, 1200, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < n; i++) {
        line[length++] = digits[from[i] >> 4];
        line[length++] = digits[from[i] & 15];
    }
    line[length++] = '\n';
    pthread_mutex_lock(&lock);
    if (fwrite(line, 1, length, log) != length || fclose(log) != 0)
        abort();
    pthread_mutex_unlock(&lock);
    free(line);
    errno = saved;
}

#define NOTE(...) note_bytes("", 0, __VA_ARGS__)

/* ---- who is who ------------------------------------------------------------ */

static unsigned long long file_number(int fd)
{
    struct stat facts;
    return fstat(fd, &facts) == 0 ? (unsigned long long) facts.st_ino : 0;
}

/* A name in a folder: the folder's number, and the name in hexadecimal. */
typedef struct named {
    unsigned long long folder;
    char name[600];
} named;

static named name_of(int folder, const char *path)
{
    named out = {0, ""};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    char parent[4096];
    struct stat facts;
    snprintf(parent, sizeof parent, "%.*s.", (int) (name - path), path);
    if (fstatat(folder, parent, &facts, 0) == 0)
        out.folder = (unsigned long long) facts.st_ino;
    for (size_t i = 0; name[i] != '\0' && 2 * i + 3 < sizeof out.name; i++)
        snprintf(out.name + 2 * i, 3, "%02x", (unsigned) (unsigned char) name[i]);
    return out;
}

/* ---- bytes ----------------------------------------------------------------- */

ssize_t write(int fd, const void *bytes, size_t length)
{
    REAL(write, "write");
    off_t at = fd > 2 ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t n = real(fd, bytes, length);
    if (n > 0 && fd <= 2)
        note_bytes(bytes, (size_t) n, "said ");
    else if (n > 0 && at >= 0)
        note_bytes(bytes, (size_t) n, "write %llu %lld ", file_number(fd), (long long) at);
    return n;
}

static ssize_t write_at(const char *name, int fd, const void *bytes, size_t length, off_t at)
{
    REAL(pwrite, name);
    ssize_t n = real(fd, bytes, length, at);
    if (n > 0)
        note_bytes(bytes, (size_t) n, "write %llu %lld ", file_number(fd), (long long) at);
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

/* A call that is written down when it has succeeded. */
#define AFTER(name, parameters, arguments, ...)                                                    \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, #name);                                                                         \
        int result = real arguments;                                                               \
        if (result == 0)                                                                           \
            NOTE(__VA_ARGS__);                                                                     \
        return result;                                                                             \
    }

AFTER(ftruncate, (int fd, off_t length), (fd, length), "cut %llu %lld", file_number(fd),
      (long long) length)
AFTER(ftruncate64, (int fd, off_t length), (fd, length), "cut %llu %lld", file_number(fd),
      (long long) length)
AFTER(fchmod, (int fd, mode_t mode), (fd, mode), "mode %llu %o", file_number(fd), (unsigned) mode)
AFTER(fsync, (int fd), (fd), "sync %llu", file_number(fd))
AFTER(fdatasync, (int fd), (fd), "datasync %llu", file_number(fd))
AFTER(syncfs, (int fd), (fd), "syncall%.0d", fd)

/* ---- names ----------------------------------------------------------------- */

/* A call that changes a name: written down with what the name was before. */
#define NAMED(name, parameters, arguments, folder, path, ...)                                      \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, #name);                                                                         \
        named n = name_of(folder, path);                                                           \
        int result = real arguments;                                                               \
        if (result == 0)                                                                           \
            NOTE(__VA_ARGS__);                                                                     \
        return result;                                                                             \
    }

NAMED(unlink, (const char *path), (path), AT_FDCWD, path, "remove %llu %s", n.folder, n.name)
NAMED(rmdir, (const char *path), (path), AT_FDCWD, path, "remove %llu %s", n.folder, n.name)
NAMED(unlinkat, (int folder, const char *path, int flags), (folder, path, flags), folder, path,
      "remove %llu %s", n.folder, n.name)

static unsigned long long number_at(int folder, const char *path)
{
    struct stat facts;
    return fstatat(folder, path, &facts, AT_SYMLINK_NOFOLLOW) == 0
               ? (unsigned long long) facts.st_ino
               : 0;
}

NAMED(mkdir, (const char *path, mode_t mode), (path, mode), AT_FDCWD, path,
      "folder %llu %s %llu %o", n.folder, n.name, number_at(AT_FDCWD, path), (unsigned) mode)
NAMED(mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode), folder, path,
      "folder %llu %s %llu %o", n.folder, n.name, number_at(folder, path), (unsigned) mode)
NAMED(link, (const char *from, const char *to), (from, to), AT_FDCWD, to, "name %llu %s %llu",
      n.folder, n.name, number_at(AT_FDCWD, to))
NAMED(linkat, (int from_fd, const char *from, int to_fd, const char *to, int flags),
      (from_fd, from, to_fd, to, flags), to_fd, to, "name %llu %s %llu", n.folder, n.name,
      number_at(to_fd, to))

static void note_rename(named from, named to, unsigned long long number)
{
    NOTE("rename %llu %s %llu %s %llu", from.folder, from.name, to.folder, to.name, number);
}

#define RENAME(name, parameters, arguments, from_fd, to_fd)                                        \
    int name parameters                                                                            \
    {                                                                                              \
        REAL(name, #name);                                                                         \
        named before = name_of(from_fd, from), after = name_of(to_fd, to);                         \
        unsigned long long number = number_at(from_fd, from);                                      \
        int result = real arguments;                                                               \
        if (result == 0)                                                                           \
            note_rename(before, after, number);                                                    \
        return result;                                                                             \
    }

RENAME(rename, (const char *from, const char *to), (from, to), AT_FDCWD, AT_FDCWD)
RENAME(renameat, (int from_fd, const char *from, int to_fd, const char *to),
       (from_fd, from, to_fd, to), from_fd, to_fd)
RENAME(renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned int flags),
       (from_fd, from, to_fd, to, flags), from_fd, to_fd)

/* ---- files ----------------------------------------------------------------- */

static void note_open(int fd, int folder, const char *path, int flags, int was_there)
{
    struct stat facts;
    if (fd < 0 || fstat(fd, &facts) != 0 || S_ISDIR(facts.st_mode))
        return;
    if ((flags & O_TMPFILE) == O_TMPFILE)
        NOTE("file %llu %o", (unsigned long long) facts.st_ino, (unsigned) facts.st_mode & 07777u);
    else if (!was_there) {
        named n = name_of(folder, path);
        NOTE("file %llu %o", (unsigned long long) facts.st_ino, (unsigned) facts.st_mode & 07777u);
        NOTE("name %llu %s %llu", n.folder, n.name, (unsigned long long) facts.st_ino);
    } else if ((flags & O_TRUNC) != 0)
        NOTE("cut %llu 0", (unsigned long long) facts.st_ino);
}

static mode_t mode_in(int flags, va_list more)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, mode_t) : 0;
}

static int is_there(int folder, const char *path)
{
    return faccessat(folder, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static int open_any(const char *name, const char *path, int flags, mode_t mode)
{
    REAL(open, name);
    int was_there = is_there(AT_FDCWD, path), fd = real(path, flags, mode);
    note_open(fd, AT_FDCWD, path, flags, was_there);
    return fd;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list more;                                                                              \
        mode_t mode;                                                                               \
        va_start(more, flags);                                                                     \
        mode = mode_in(flags, more);                                                               \
        va_end(more);                                                                              \
        return open_any(#name, path, flags, mode);                                                 \
    }

OPEN(open)
OPEN(open64)

static int openat_any(const char *name, int folder, const char *path, int flags, mode_t mode)
{
    REAL(openat, name);
    int was_there = is_there(folder, path), fd = real(folder, path, flags, mode);
    note_open(fd, folder, path, flags, was_there);
    return fd;
}

#define OPENAT(name)                                                                               \
    int name(int folder, const char *path, int flags, ...)                                         \
    {                                                                                              \
        va_list more;                                                                              \
        mode_t mode;                                                                               \
        va_start(more, flags);                                                                     \
        mode = mode_in(flags, more);                                                               \
        va_end(more);                                                                              \
        return openat_any(#name, folder, path, flags, mode);                                       \
    }

OPENAT(openat)
OPENAT(openat64)
