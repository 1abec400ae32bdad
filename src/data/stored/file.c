/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store may come from anywhere: nothing in it is believed before it was checked. */
#include "data/stored/file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "data/stored/heading.h"

_Static_assert(sizeof(stored_start) == 16 && sizeof(stored_tail) == 64, "as in the file");

enum { HEADING_MAX = 1 << 30, ARENA_MAX = 1 << 30 };

/* ---- life cycle ------------------------------------------------------------ */

cellar_stored_file *cellar_stored_retain(cellar_stored_file *file)
{
    atomic_fetch_add(&file->n_owners, 1);
    return file;
}

void cellar_stored_close(cellar_stored_file *file)
{
    if (file == NULL || atomic_fetch_sub(&file->n_owners, 1) > 1)
        return;
    for (size_t v = 0; file->variables != NULL && v < file->n_variables; v++) {
        cellar_codelist_free(file->variables[v].list);
        cellar_recode_map_free((cellar_recode_map *) file->variables[v].spec.recode.map);
    }
    if (file->is_mapped)
        munmap((void *) file->bytes, file->length);
    cellar_free(file->is_checked);
    cellar_arena_free(file->arena);
    cellar_free(file);
}

/* ---- recognising ------------------------------------------------------------ */

int cellar_stored_begins(const void *bytes, size_t length)
{
    return length >= sizeof STORED_MARK - 1 &&
           memcmp(bytes, STORED_MARK, sizeof STORED_MARK - 1) == 0;
}

int cellar_stored_is(const char *path)
{
    char bytes[sizeof STORED_MARK - 1];
    return cellar_stored_begins(bytes, cellar_file_peek(path, bytes, sizeof bytes));
}

/* ---- layout ----------------------------------------------------------------- */

void cellar_stored_lay_out(cellar_stored_column *columns, size_t n_columns, uint64_t *group_bytes)
{
    *group_bytes = 0;
    for (size_t c = 0; c < n_columns; c++) {
        columns[c].offset = *group_bytes;
        columns[c].piece = cellar_stored_piece_bytes(&columns[c], STORED_GROUP_ROWS);
        *group_bytes += columns[c].piece;
    }
}

size_t cellar_stored_group_rows(const cellar_stored_file *file, size_t group)
{
    const uint64_t before = (uint64_t) group * STORED_GROUP_ROWS;
    const uint64_t left = file->n_rows - before;
    return left < STORED_GROUP_ROWS ? (size_t) left : STORED_GROUP_ROWS;
}

/* All that lies between the start and the checksums. */
static uint64_t data_bytes(const cellar_stored_file *file)
{
    const uint64_t n_full = file->n_rows / STORED_GROUP_ROWS;
    const uint64_t rest = file->n_rows % STORED_GROUP_ROWS;
    uint64_t bytes = n_full * file->group_bytes;
    for (size_t c = 0; c < file->n_columns; c++)
        bytes += cellar_stored_piece_bytes(&file->columns[c], rest);
    return bytes;
}

static const unsigned char *sums_of(const cellar_stored_file *file)
{
    return file->bytes + STORED_START + data_bytes(file);
}

/* ---- checks ------------------------------------------------------------------ */

void cellar_stored_digest(const stored_start *start, const void *sums, size_t sums_length,
                          const void *heading, size_t heading_length,
                          unsigned char digest[STORED_DIGEST_BYTES])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, STORED_DIGEST_BYTES);
    crypto_generichash_update(&state, (const unsigned char *) start, sizeof *start);
    crypto_generichash_update(&state, sums, sums_length);
    crypto_generichash_update(&state, heading, heading_length);
    crypto_generichash_final(&state, digest, STORED_DIGEST_BYTES);
}

static cellar_status fail_damaged(const cellar_stored_file *file, const char *what,
                                  cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the store is damaged: %s", file->name, what);
}

static cellar_status read_ends(const cellar_stored_file *file, stored_start *start,
                               stored_tail *tail, cellar_error *err)
{
    const uint32_t one = 1;
    if (!cellar_stored_begins(file->bytes, file->length))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: expected a store, as `cellar store build` writes it", file->name);
    if (*(const unsigned char *) &one != 1)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "stores are written and read on little-endian machines only");
    if (file->length < STORED_START + sizeof *tail)
        return fail_damaged(file, "it is cut short", err);
    memcpy(start, file->bytes, sizeof *start);
    memcpy(tail, file->bytes + file->length - sizeof *tail, sizeof *tail);
    if (start->version != STORED_VERSION)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: version %u of the format; this program reads version %d",
                           file->name, start->version, STORED_VERSION);
    if (memcmp(tail->mark, STORED_MARK, sizeof tail->mark) != 0 || tail->version != STORED_VERSION)
        return fail_damaged(file, "it is cut short, or something was added", err);
    if (tail->heading_length > HEADING_MAX || tail->heading_at < STORED_START ||
        tail->heading_at > file->length ||
        tail->heading_at + tail->heading_length + sizeof *tail != file->length)
        return fail_damaged(file, "its heading does not fit into it", err);
    return CELLAR_OK;
}

static cellar_status read_file(cellar_stored_file *file, int ignore_digest, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    unsigned char digest[STORED_DIGEST_BYTES];
    stored_start start;
    stored_tail tail;
    size_t sums_length;

    CELLAR_TRY(read_ends(file, &start, &tail, err));
    CELLAR_TRY(cellar_stored_read_heading(file, (const char *) file->bytes + tail.heading_at,
                                          (size_t) tail.heading_length, err));
    file->n_groups = (size_t) ((file->n_rows + STORED_GROUP_ROWS - 1) / STORED_GROUP_ROWS);
    cellar_stored_lay_out(file->columns, file->n_columns, &file->group_bytes);
    sums_length = file->n_groups * file->n_columns * sizeof(uint64_t);
    if (STORED_START + data_bytes(file) + sums_length != tail.heading_at)
        return fail_damaged(file, "it has more or fewer rows than it says", err);
    cellar_stored_digest(&start, sums_of(file), sums_length, file->bytes + tail.heading_at,
                         (size_t) tail.heading_length, digest);
    if (!ignore_digest && memcmp(digest, tail.digest, sizeof digest) != 0)
        return fail_damaged(file, "its heading fails its digest", err);
    file->is_checked = cellar_alloc(file->n_groups * file->n_columns, sizeof *file->is_checked);
    if (file->is_checked == NULL)
        return cellar_fail_memory(err, "a store");
out:
    return status;
}

/* ---- opening ----------------------------------------------------------------- */

static cellar_status stored_create(const char *name, const void *bytes, size_t length,
                                   int is_mapped, int ignore_digest, cellar_stored_file **out,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_stored_file *file = cellar_alloc(1, sizeof *file);

    if (file == NULL) {
        if (is_mapped)
            munmap((void *) bytes, length);
        return cellar_fail_memory(err, "a store");
    }
    file->n_owners = 1;
    file->bytes = bytes;
    file->length = length;
    file->is_mapped = is_mapped;
    file->arena = cellar_arena_create(ARENA_MAX);
    file->name = file->arena != NULL ? cellar_arena_copy(file->arena, name, strlen(name)) : NULL;
    if (file->name == NULL) {
        status = cellar_fail_memory(err, "a store");
        goto out;
    }
    CELLAR_TRY(read_file(file, ignore_digest, err));
    *out = file;
    file = NULL;
out:
    cellar_stored_close(file);
    return status;
}

cellar_status cellar_stored_open(const char *path, cellar_stored_file **out, cellar_error *err)
{
    struct stat facts;
    void *bytes = MAP_FAILED;
    int fd;

    *out = NULL;
    fd = cellar_file_open_plain(path, O_RDONLY, err);
    if (fd < 0)
        return CELLAR_ERR_IO;
    if (fstat(fd, &facts) == 0 && facts.st_size > 0)
        bytes = mmap(NULL, (size_t) facts.st_size, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return cellar_fail_errno(err, path, "map the file into memory");
    return stored_create(path, bytes, (size_t) facts.st_size, 1, 0, out, err);
}

cellar_status cellar_stored_open_memory(const char *name, const void *bytes, size_t length,
                                        int ignore_digest, cellar_stored_file **out,
                                        cellar_error *err)
{
    *out = NULL;
    return stored_create(name, bytes, length, 0, ignore_digest, out, err);
}

/* ---- values ------------------------------------------------------------------- */

/* Two running sums over each of eight streams of words: the first notices any change of one word,
 * the second a change of places. */
uint64_t cellar_stored_sum(const void *bytes, size_t length)
{
    enum { STREAMS = 8, STRIDE = STREAMS * sizeof(uint64_t) };
    uint64_t sums[2][STREAMS] = {{0}}, words[STREAMS], out;
    const unsigned char *at = bytes;
    _Static_assert((int) STRIDE == (int) STORED_ALIGN, "a piece is whole strides");
    for (; length >= STRIDE; at += STRIDE, length -= STRIDE) {
        memcpy(words, at, sizeof words);
        for (size_t i = 0; i < STREAMS; i++) {
            sums[0][i] += words[i];
            sums[1][i] += sums[0][i];
        }
    }
    crypto_generichash((unsigned char *) &out, sizeof out, (const unsigned char *) sums,
                       sizeof sums, NULL, 0);
    return out;
}

/* The least and the largest of the values; there is one at least. */
#define VALUES_RANGE(type)                                                                         \
    do {                                                                                           \
        const type *of = values;                                                                   \
        type low = of[0], high = of[0];                                                            \
        for (size_t i = 1; i < n; i++) {                                                           \
            low = of[i] < low ? of[i] : low;                                                       \
            high = of[i] > high ? of[i] : high;                                                    \
        }                                                                                          \
        *least = low;                                                                              \
        *most = high;                                                                              \
    } while (0)

static void values_range(const void *values, unsigned width, size_t n, uint64_t *least,
                         uint64_t *most)
{
    switch (width) {
    case 1:
        VALUES_RANGE(uint8_t);
        break;
    case 2:
        VALUES_RANGE(uint16_t);
        break;
    case 4:
        VALUES_RANGE(uint32_t);
        break;
    default:
        VALUES_RANGE(uint64_t);
        break;
    }
}

static cellar_status check_piece(const cellar_stored_file *file, size_t group, size_t c,
                                 const void *values, cellar_error *err)
{
    const cellar_stored_column *column = &file->columns[c];
    const size_t rows = cellar_stored_group_rows(file, group);
    uint64_t stated, least, most;
    memcpy(&stated, sums_of(file) + (group * file->n_columns + c) * sizeof stated, sizeof stated);
    if (stated != cellar_stored_sum(values, (size_t) cellar_stored_piece_bytes(column, rows)))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: the store is damaged: block %zu of column '%.200s' fails its "
                           "checksum",
                           file->name, group + 1, column->name);
    values_range(values, column->width, rows, &least, &most);
    if (least < column->least || (column->limit > 0 && most >= column->limit))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: the store is damaged: block %zu of column '%.200s' holds a value "
                           "that the column cannot have",
                           file->name, group + 1, column->name);
    return CELLAR_OK;
}

static const void *piece_at(const cellar_stored_file *file, size_t group, size_t c)
{
    const size_t rows = cellar_stored_group_rows(file, group);
    uint64_t at = STORED_START + (uint64_t) group * file->group_bytes;

    if (rows == STORED_GROUP_ROWS)
        at += file->columns[c].offset;
    else
        for (size_t before = 0; before < c; before++)
            at += cellar_stored_piece_bytes(&file->columns[before], rows);
    return file->bytes + at;
}

cellar_status cellar_stored_check(const cellar_stored_file *file, size_t group, size_t column,
                                  const void **values, cellar_error *err)
{
    *values = piece_at(file, group, column);
    return check_piece(file, group, column, *values, err);
}

cellar_status cellar_stored_piece(const cellar_stored_file *file, size_t group, size_t column,
                                  const void **values, cellar_error *err)
{
    _Atomic uint8_t *is_checked = &file->is_checked[group * file->n_columns + column];
    cellar_status status = CELLAR_OK;
    *values = piece_at(file, group, column);
    if (!atomic_load_explicit(is_checked, memory_order_relaxed)) {
        CELLAR_TRY(check_piece(file, group, column, *values, err));
        atomic_store_explicit(is_checked, 1, memory_order_relaxed);
    }
out:
    return status;
}

const char *cellar_stored_text(const cellar_stored_variable *variable, uint64_t value)
{
    return value == 0 ? ""
                      : cellar_codelist_code(variable->list,
                                             cellar_codelist_leaf(variable->list, value - 1));
}
