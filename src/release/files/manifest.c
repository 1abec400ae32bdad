/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cellar/output.h>
#include <cellar/text.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "release/files/digest.h"

enum { READ_BYTES = 1 << 16, DIGITS = CELLAR_DIGEST_TEXT - 1, PATH_AT = DIGITS + 2 };

/* The files of a folder as lines of a manifest. */
typedef struct listing {
    const char *folder;
    int shared; /* 1: refuse what only the owner may read */
    char **lines;
    size_t n, capacity;
} listing;

static void listing_clear(listing *list)
{
    for (size_t i = 0; i < list->n; i++)
        cellar_free(list->lines[i]);
    cellar_free(list->lines);
}

char *cellar_manifest_path(const char *folder, const char *name)
{
    cellar_text path = {0};
    cellar_text_printf(&path, "%s/%s", folder, name);
    if (path.failed)
        cellar_text_clear(&path);
    return path.bytes;
}

/* ---- what is in the folder --------------------------------------------------- */

static cellar_status digest_file(const char *path, char out[CELLAR_DIGEST_TEXT], cellar_error *err)
{
    unsigned char *bytes = NULL;
    cellar_digest *digest = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    cellar_status status = CELLAR_OK;

    if (fd < 0)
        return cellar_fail_errno(err, path, "open the file");
    CELLAR_TRY(cellar_digest_create(&digest, err));
    bytes = cellar_alloc(READ_BYTES, 1);
    if (bytes == NULL)
        CELLAR_TRY(cellar_fail_memory(err, path));
    for (ssize_t n = 1; n != 0;) {
        n = read(fd, bytes, READ_BYTES);
        if (n < 0 && errno != EINTR)
            CELLAR_TRY(cellar_fail_errno(err, path, "read the file"));
        if (n > 0)
            cellar_digest_add(digest, bytes, (size_t) n);
    }
    status = cellar_digest_finish(digest, out, err);
out:
    cellar_free(bytes);
    cellar_digest_free(digest);
    close(fd);
    return status;
}

/* sha256sum(1) writes such names as they are: no control character, no backslash. */
static int name_is_plain(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if ((unsigned char) *c < 0x20 || *c == 0x7f || *c == '\\')
            return 0;
    return cellar_utf8_valid(name, strlen(name));
}

static cellar_status listing_add(listing *list, const FTSENT *entry, cellar_error *err)
{
    const char *name = entry->fts_path + strlen(list->folder);
    char digest[CELLAR_DIGEST_TEXT];
    cellar_text line = {0};
    cellar_status status;

    name += strspn(name, "/");
    if (!name_is_plain(name))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: a file in it has a name that is no plain UTF-8", list->folder);
    if (list->shared && (entry->fts_statp->st_mode & 0044) == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: only its owner may read it, as confidential files are; what is "
                           "signed is for others to read",
                           entry->fts_path);
    status = digest_file(entry->fts_accpath, digest, err);
    if (status != CELLAR_OK)
        return status;
    cellar_text_printf(&line, "%s  %s", digest, name);
    if (line.failed ||
        !cellar_grow(&list->lines, &list->capacity, list->n + 1, sizeof *list->lines)) {
        cellar_text_clear(&line);
        return cellar_fail_memory(err, "a manifest");
    }
    list->lines[list->n++] = line.bytes;
    return CELLAR_OK;
}

static cellar_status listing_visit(listing *list, const FTSENT *entry, cellar_error *err)
{
    switch (entry->fts_info) {
    case FTS_D:
    case FTS_DP:
        return CELLAR_OK;
    case FTS_F:
        if (entry->fts_level == 1 && (strcmp(entry->fts_name, CELLAR_MANIFEST_FILE) == 0 ||
                                      strcmp(entry->fts_name, CELLAR_MANIFEST_SIGNATURE) == 0))
            return CELLAR_OK;
        if (entry->fts_level == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: is a file, not a folder",
                               list->folder);
        return listing_add(list, entry, err);
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        errno = entry->fts_errno;
        return cellar_fail_errno(err, entry->fts_path, "look at");
    case FTS_SL:
    case FTS_SLNONE:
        if (entry->fts_level == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: is a symbolic link, which may lead elsewhere tomorrow; name "
                               "the folder itself",
                               list->folder);
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: is a symbolic link; a manifest is of plain files, and the link is "
                           "none",
                           entry->fts_path);
    default:
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: a manifest is of plain files, not of devices and pipes",
                           entry->fts_path);
    }
}

static int line_order(const void *a, const void *b)
{
    return strcmp(*(char *const *) a + PATH_AT, *(char *const *) b + PATH_AT);
}

static cellar_status listing_make(listing *list, cellar_error *err)
{
    char *folder = cellar_manifest_path(list->folder, "");
    char *roots[] = {folder, NULL};
    FTS *walk = NULL;
    cellar_status status = CELLAR_OK;

    if (folder == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a manifest"));
    folder[strlen(list->folder)] = '\0'; /* a copy that fts may change */
    walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        CELLAR_TRY(cellar_fail_errno(err, list->folder, "look into"));
    for (const FTSENT *entry; status == CELLAR_OK && (errno = 0, entry = fts_read(walk)) != NULL;)
        status = listing_visit(list, entry, err);
    if (status == CELLAR_OK && errno != 0)
        status = cellar_fail_errno(err, list->folder, "look into");
    if (status == CELLAR_OK && list->n > 0)
        qsort(list->lines, list->n, sizeof *list->lines, line_order);
out:
    if (walk != NULL)
        fts_close(walk);
    cellar_free(folder);
    return status;
}

/* ---- writing and comparing ------------------------------------------------------ */

cellar_status cellar_manifest_write(const char *folder, size_t *n_files, cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    options.replace = 1;
    options.shared = 1;
    listing list = {.folder = folder};
    cellar_output *output;
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_FILE);
    cellar_status status = CELLAR_OK;

    if (path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a manifest"));
    CELLAR_TRY(listing_make(&list, err));
    CELLAR_TRY(cellar_output_open(path, &options, &output, err));
    for (size_t i = 0; i < list.n; i++)
        cellar_output_printf(output, "%s\n", list.lines[i]);
    status = cellar_output_commit(output, err);
    if (n_files != NULL)
        *n_files = list.n;
out:
    listing_clear(&list);
    cellar_free(path);
    return status;
}

int cellar_manifest_lists(const char *lines, const char *name)
{
    const size_t length = strlen(name);
    for (const char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        if ((size_t) (end - line) == PATH_AT + length && strncmp(line + PATH_AT, name, length) == 0)
            return 1;
    return 0;
}

/* The next line of a manifest, cut off at its end; NULL after the last. */
static char *line_next(char **rest)
{
    char *line = *rest, *end = strchr(line, '\n');
    if (*line == '\0')
        return NULL;
    *rest = end != NULL ? end + 1 : line + strlen(line);
    if (end != NULL)
        *end = '\0';
    return line;
}

static int line_is_sound(const char *line)
{
    return strspn(line, "0123456789abcdef") == DIGITS && line[DIGITS] == ' ' &&
           line[DIGITS + 1] == ' ' && line[PATH_AT] != '\0' && name_is_plain(line);
}

/* Both are in the order of paths, so that the first difference says which file it is about. */
static cellar_status listing_compare(const listing *list, const char *path, char *recorded,
                                     cellar_error *err)
{
    size_t i = 0;
    for (char *line; (line = line_next(&recorded)) != NULL; i++) {
        int order;
        if (!line_is_sound(line))
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s:%zu: expected a digest of %d digits, two spaces and a path",
                               path, i + 1, DIGITS);
        order = i < list->n ? strcmp(list->lines[i] + PATH_AT, line + PATH_AT) : 1;
        if (order > 0)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s/%s: is in the manifest and not there",
                               list->folder, line + PATH_AT);
        if (order < 0)
            break;
        if (memcmp(list->lines[i], line, DIGITS) != 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s/%s: changed since the manifest was written", list->folder,
                               line + PATH_AT);
    }
    if (i < list->n)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s/%s: is not in the manifest", list->folder,
                           list->lines[i] + PATH_AT);
    return CELLAR_OK;
}

cellar_status cellar_manifest_read(const char *folder, int shared, char **lines, size_t *length,
                                   size_t *n_files, cellar_error *err)
{
    listing list = {.folder = folder, .shared = shared};
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_FILE), *copy = NULL;
    cellar_status status = CELLAR_OK;

    *lines = NULL;
    if (path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a manifest"));
    CELLAR_TRY(cellar_file_read_plain(path, CELLAR_MANIFEST_LIMIT, lines, length, err));
    CELLAR_TRY(listing_make(&list, err));
    copy = cellar_alloc(*length + 1, 1);
    if (copy == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a manifest"));
    memcpy(copy, *lines, *length + 1);
    if (strlen(copy) != *length || (*length > 0 && copy[*length - 1] != '\n'))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: its last line is cut", path));
    CELLAR_TRY(listing_compare(&list, path, copy, err));
    if (n_files != NULL)
        *n_files = list.n;
out:
    if (status != CELLAR_OK) {
        cellar_free(*lines);
        *lines = NULL;
    }
    listing_clear(&list);
    cellar_free(copy);
    cellar_free(path);
    return status;
}

cellar_status cellar_manifest_check(const char *folder, size_t *n_files, cellar_error *err)
{
    char *lines;
    size_t length;
    cellar_status status = cellar_manifest_read(folder, 0, &lines, &length, n_files, err);
    cellar_free(lines);
    return status;
}
