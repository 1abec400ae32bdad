/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/statfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/limits.h"
#include "data/statspawn.h"

enum { STATFILE_STALL_MS = 60 * 1000, STATFILE_LEAST_SECONDS = 60 };

static int statfile_ends(const char *path, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length > n && strncasecmp(path + length - n, ending, n) == 0;
}

cellar_data_format cellar_statfile_format(const char *path)
{
    static const struct {
        const char *ending;
        cellar_data_format format;
    } endings[] = {{".sav", CELLAR_DATA_SAV}, {".zsav", CELLAR_DATA_SAV},
                   {".por", CELLAR_DATA_POR}, {".dta", CELLAR_DATA_DTA},
                   {".xpt", CELLAR_DATA_XPT}, {".sas7bdat", CELLAR_DATA_SAS}};
    size_t length = strlen(path);

    if (statfile_ends(path, length, ".gz")) /* refused later, with a sentence that says so */
        length -= strlen(".gz");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (statfile_ends(path, length, endings[i].ending))
            return endings[i].format;
    return CELLAR_DATA_TEXT;
}

/* ---- the file and its reader ------------------------------------------------ */

/* One request to cellar-statread. */
typedef struct statfile_run {
    const char *path;
    const cellar_reader_options *options;
    int fd;
    cellar_statwire_request request;
    cellar_statspawn child;
    cellar_statwire wire;
} statfile_run;

static cellar_status statfile_check(const statfile_run *run, int64_t *size, cellar_error *err)
{
    const char *kind = cellar_statfile_kind(run->options->format);
    struct stat about;
    unsigned char head[2];
    ssize_t got;

    if (fstat(run->fd, &about) != 0)
        return cellar_fail_errno(err, run->path, "read the file");
    if (!S_ISREG(about.st_mode))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: %s is read out of order and must be a regular file", run->path,
                           kind);
    *size = about.st_size;
    got = pread(run->fd, head, sizeof head, 0);
    if (got < 0)
        return cellar_fail_errno(err, run->path, "read the file");
    if (got == sizeof head && head[0] == 0x1f && head[1] == 0x8b)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s: %s cannot be read while gzipped; unpack it first", run->path, kind);
    return CELLAR_OK;
}

/* A MiB of a file takes a small part of a second. */
static cellar_status statfile_start(statfile_run *run, const char *path,
                                    const cellar_reader_options *options, cellar_statwire_task task,
                                    const size_t *columns, size_t n_columns, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t size = 0;

    *run = (statfile_run){.path = path, .options = options, .child = {.fd = -1}};
    if (strcmp(path, "-") == 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s cannot be read from standard input; give the name of a file",
                           cellar_statfile_kind(options->format));
    run->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (run->fd < 0)
        return cellar_fail_errno(err, path, "open the file");
    CELLAR_TRY(statfile_check(run, &size, err));
    run->request =
        (cellar_statwire_request){.version = CELLAR_STATWIRE_VERSION,
                                  .task = task,
                                  .format = options->format,
                                  .memory_bytes = cellar_limit_reader_bytes(options, size),
                                  .seconds = STATFILE_LEAST_SECONDS + (uint64_t) size / (1 << 20),
                                  .n_columns = n_columns};
    CELLAR_TRY(cellar_statspawn_start(run->fd, &run->request, columns, &run->child, err));
    cellar_statwire_open(path, options->format, size, run->child.fd, STATFILE_STALL_MS, &run->wire);
out:
    close(run->fd);
    return status;
}

/* Ends the program. Where its answer broke off, how it ended tells why. */
static cellar_status statfile_finish(statfile_run *run, cellar_status status, cellar_error *err)
{
    const char *kind = cellar_statfile_kind(run->options->format);
    int ended_by = cellar_statspawn_stop(&run->child, run->wire.over);

    cellar_statwire_clear(&run->wire);
    if (status == CELLAR_OK || !run->wire.over)
        return status;
    if (ended_by == SIGXCPU)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: reading it takes longer than %s of its size can: it is damaged, or "
                           "made to do harm",
                           run->path, kind);
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: not %s, or a damaged one: the program that reads it crashed, and "
                       "nothing of the file is used",
                       run->path, kind);
}

/* ---- requests --------------------------------------------------------------- */

cellar_status cellar_statfile_columns(const char *path, const cellar_reader_options *options,
                                      char ***names, size_t *n_names, cellar_error *err)
{
    statfile_run run;
    cellar_status status =
        statfile_start(&run, path, options, CELLAR_STATWIRE_COLUMNS, NULL, 0, err);

    *names = NULL;
    *n_names = 0;
    if (status != CELLAR_OK)
        return status;
    status =
        cellar_statwire_read_columns(&run.wire, cellar_limit_columns(options), names, n_names, err);
    return statfile_finish(&run, status, err);
}

cellar_status cellar_statfile_read(const char *path, const cellar_reader_options *options,
                                   const size_t *columns, size_t n_columns,
                                   cellar_row_callback *row, void *context, double *fraction_done,
                                   cellar_error *err)
{
    statfile_run run;
    cellar_status status =
        statfile_start(&run, path, options, CELLAR_STATWIRE_ROWS, columns, n_columns, err);

    if (status != CELLAR_OK)
        return status;
    status = cellar_statwire_read_rows(&run.wire, n_columns, row, context, fraction_done, err);
    if (status == CELLAR_OK && fraction_done != NULL)
        *fraction_done = 1;
    return statfile_finish(&run, status, err);
}

cellar_status cellar_statfile_labels(const char *path, const cellar_reader_options *options,
                                     const size_t *columns, size_t n_columns,
                                     cellar_codelist **lists, cellar_error *err)
{
    statfile_run run;
    cellar_status status =
        statfile_start(&run, path, options, CELLAR_STATWIRE_LABELS, columns, n_columns, err);

    for (size_t i = 0; i < n_columns; i++)
        lists[i] = NULL;
    if (status != CELLAR_OK)
        return status;
    status = cellar_statwire_read_labels(&run.wire, n_columns, lists, err);
    return statfile_finish(&run, status, err);
}
