/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

const char *cellar_place_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Who could take our files away: users to whom the mode gives it, and the folder's owner. */
static cellar_status place_check(const char *folder, const struct stat *facts,
                                 cellar_place_rule rule, cellar_error *err)
{
    const unsigned mode = (unsigned) facts->st_mode & 07777u;
    if (facts->st_uid != geteuid() && facts->st_uid != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: the folder belongs to another user, who could exchange what is "
                           "written there; choose a folder of yours",
                           folder);
    if ((mode & 022) == 0 || (rule == CELLAR_PLACE_KEPT && (mode & S_ISVTX) != 0))
        return CELLAR_OK;
    if (rule == CELLAR_PLACE_KEPT)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: others can write to the folder (mode %04o) and exchange what is "
                           "written there; chmod go-w, or chmod +t if it is to be shared",
                           folder, mode);
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "%s: others can write to the folder (mode %04o), and what lies beside this "
                       "file is trusted; chmod go-w, or choose a folder of mode 0700 or 0755",
                       folder, mode);
}

cellar_status cellar_place_open(const char *path, cellar_place_rule rule, cellar_place *out,
                                cellar_error *err)
{
    struct stat facts = {0};
    cellar_text folder = {0};
    cellar_status status = CELLAR_OK;

    *out = (cellar_place){-1, cellar_place_name(path)};
    if (out->name == path)
        cellar_text_add_string(&folder, ".");
    else
        cellar_text_add(&folder, path, out->name - path > 1 ? (size_t) (out->name - path) - 1 : 1);
    if (folder.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a folder"));
    out->fd = open(folder.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (out->fd < 0 && errno == EACCES) /* it may let us write and not read */
        out->fd = open(folder.bytes, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (out->fd < 0 || fstat(out->fd, &facts) != 0)
        CELLAR_TRY(cellar_fail_errno(err, folder.bytes, "open the folder"));
    CELLAR_TRY(place_check(folder.bytes, &facts, rule, err));
out:
    cellar_text_clear(&folder);
    if (status != CELLAR_OK)
        cellar_place_close(out);
    return status;
}

void cellar_place_close(cellar_place *place)
{
    if (place->fd >= 0)
        close(place->fd);
    place->fd = -1;
}

cellar_status cellar_place_hide(const char *ending, char out[CELLAR_PLACE_HIDDEN_BYTES],
                                cellar_error *err)
{
    uint8_t random[16];
    int length;
    if (getrandom(random, sizeof random, 0) != (ssize_t) sizeof random)
        return cellar_fail_errno(err, "the system", "give random bytes");
    length = snprintf(out, CELLAR_PLACE_HIDDEN_BYTES, ".cellar-");
    for (size_t i = 0; i < sizeof random; i++)
        length += snprintf(out + length, CELLAR_PLACE_HIDDEN_BYTES - (size_t) length, "%02x",
                           (unsigned) random[i]);
    snprintf(out + length, CELLAR_PLACE_HIDDEN_BYTES - (size_t) length, "%s", ending);
    return CELLAR_OK;
}

/* Not every file system can rename without replacing; those that cannot have hard links for files,
 * and rename(2) itself replaces no folder that holds something. */
int cellar_place_rename(const cellar_place *place, const char *from, const char *to, int replace)
{
    struct stat facts;
    if (replace)
        return renameat(place->fd, from, place->fd, to);
    if (renameat2(place->fd, from, place->fd, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (fstatat(place->fd, from, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode))
        return renameat(place->fd, from, place->fd, to);
    return linkat(place->fd, from, place->fd, to, 0) == 0 ? unlinkat(place->fd, from, 0) : -1;
}

int cellar_place_is(const cellar_place *place, const char *name, const struct stat *facts)
{
    struct stat found;
    return fstatat(place->fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           found.st_dev == facts->st_dev && found.st_ino == facts->st_ino;
}

int cellar_place_sync(const cellar_place *place, int file)
{
    if (fsync(place->fd) == 0)
        return 0;
    if (errno != EBADF && errno != EINVAL)
        return -1;
    if (file >= 0)
        return syncfs(file);
    sync();
    return 0;
}

cellar_status cellar_place_check_file(int fd, const char *path, struct stat *facts,
                                      cellar_error *err)
{
    if (fstat(fd, facts) != 0)
        return cellar_fail_errno(err, path, "look at the file");
    if (!S_ISREG(facts->st_mode) || facts->st_uid != geteuid() || facts->st_nlink != 1)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: is not the file that was written there: it must be a plain file of "
                           "yours with one name",
                           path);
    return CELLAR_OK;
}
