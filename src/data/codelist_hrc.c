/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hierarchies in the layout of tau-Argus: "one code a line", depth by leading marks. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "data/codelist_build.h"

typedef struct hrc_file {
    const char *name, *mark;
    size_t mark_length;
    cellar_codelist *list;
    const char **path; /* the code last seen at each depth */
    size_t depth;      /* of the last code, from 1; 0 before the first */
    size_t capacity;
    uint64_t line;
} hrc_file;

static cellar_status hrc_fail(const hrc_file *file, const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": %s", file->name, file->line, what);
}

static int hrc_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Trims blanks at either end of a span. */
static void hrc_trim(const char **text, size_t *length)
{
    while (*length > 0 && hrc_is_blank((*text)[0])) {
        ++*text;
        --*length;
    }
    while (*length > 0 && hrc_is_blank((*text)[*length - 1]))
        --*length;
}

static cellar_status hrc_add_code(hrc_file *file, const char *code, size_t length, size_t depth,
                                  cellar_error *err)
{
    codelist_entry *entry;

    if (!cellar_grow(&file->path, &file->capacity, depth, sizeof *file->path))
        return cellar_fail_memory(err, "a hierarchy");
    entry = cellar_codelist_new_entry(file->list, code, length, file->line, err);
    if (entry == NULL)
        return CELLAR_ERR_MEMORY;
    entry->parents[0] = depth > 1 ? file->path[depth - 2] : NULL;
    file->path[depth - 1] = entry->code;
    file->depth = depth;
    return CELLAR_OK;
}

static cellar_status hrc_read_line(hrc_file *file, const char *text, size_t length,
                                   cellar_error *err)
{
    size_t depth = 1;

    hrc_trim(&text, &length);
    if (length == 0)
        return CELLAR_OK;
    while (length >= file->mark_length && memcmp(text, file->mark, file->mark_length) == 0) {
        text += file->mark_length;
        length -= file->mark_length;
        depth++;
    }
    hrc_trim(&text, &length);
    if (length == 0)
        return hrc_fail(file, "marks without a code", err);
    if (memchr(text, '\0', length) != NULL)
        return hrc_fail(file, "holds a NUL byte", err);
    if (!cellar_utf8_valid(text, length))
        return hrc_fail(file, "is not valid UTF-8", err);
    if (file->depth == 0 && depth > 1)
        return hrc_fail(file, "the first code must stand at the top, without marks", err);
    if (depth > file->depth + 1)
        return hrc_fail(file, "more than one level deeper than the line before", err);
    return hrc_add_code(file, text, length, depth, err);
}

static cellar_status hrc_read_lines(hrc_file *file, const char *bytes, size_t length,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    while (status == CELLAR_OK && length > 0) {
        const char *lf = memchr(bytes, '\n', length);
        size_t n = lf != NULL ? (size_t) (lf - bytes) : length;
        file->line++;
        status = hrc_read_line(file, bytes, n, err);
        n += lf != NULL;
        bytes += n;
        length -= n;
    }
    if (status == CELLAR_OK && file->list->n_codes == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the hierarchy holds no codes", file->name);
    return status;
}

cellar_status cellar_codelist_parse_hrc(const char *name, const char *bytes, size_t length,
                                        const char *mark, cellar_codelist **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    hrc_file file = {.name = name, .mark = mark, .mark_length = strlen(mark)};

    *out = NULL;
    if (file.mark_length == 0 || mark[strcspn(mark, " \t\r\n")] != '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: the mark of a level must not be empty or hold blanks", name);
    CELLAR_TRY(cellar_codelist_create_for_file(name, &file.list, err));
    file.list->n_hierarchies = 1;
    file.list->hierarchies[0] = "";
    CELLAR_TRY(hrc_read_lines(&file, bytes, length, err));
    CELLAR_TRY(cellar_codelist_finish(file.list, err));
    *out = file.list;
    file.list = NULL;
out:
    cellar_codelist_free(file.list);
    cellar_free(file.path);
    return status;
}

cellar_status cellar_codelist_read_hrc(const char *path, const char *mark, cellar_codelist **out,
                                       cellar_error *err)
{
    char *bytes;
    size_t length;
    cellar_status status = cellar_file_read(path, CODELIST_MAX_FILE_BYTES, &bytes, &length, err);

    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_codelist_parse_hrc(path, bytes, length, mark, out, err);
    cellar_free(bytes);
    return status;
}
