/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a data frame, handed to lanes in pieces. A stream, and codes that are made, belong to
 * the caller's thread, lane 0: it asks for the next part as long as less than two wait, and
 * releases those that are done. */
#include <pthread.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/frame/frame.h"

enum { WAITING_MAX = 2, COLUMNS_MAX = 100000 };

struct frame_part {
    frame_part *next;
    frame_column *columns;
    uint64_t n_rows, next_row, number;
    size_t n_out;            /* pieces that lanes have */
    struct ArrowArray array; /* owned, of a stream */
};

struct frame_source {
    const char *file;
    frame_layout *layouts;
    size_t n_columns;
    unsigned char *is_used;
    struct ArrowArrayStream stream; /* release is NULL: there is none, but columns in memory */
    cellar_frame given;
    uint64_t next_given, part_rows; /* the first row of the next part, and how many it may have */

    pthread_mutex_t lock;
    pthread_cond_t more;
    frame_part *first, *last; /* oldest first; those that are done go from the front */
    uint64_t n_parts, n_pieces, n_rows_taken;
    int is_ended; /* there are no more parts */
};

/* ---- parts ------------------------------------------------------------------- */

static void part_free(const frame_source *source, frame_part *part)
{
    frame_free_columns(part->columns, source->n_columns);
    if (part->array.release != NULL)
        part->array.release(&part->array);
    cellar_free(part);
}

static int part_is_done(const frame_part *part)
{
    return part->next_row == part->n_rows && part->n_out == 0;
}

/* Called with the lock held. */
static void add_part(frame_source *source, frame_part *part)
{
    part->number = ++source->n_parts;
    if (source->last != NULL)
        source->last->next = part;
    else
        source->first = part;
    source->last = part;
}

/* Takes the parts that are done off the list. Called with the lock held. */
static frame_part *drop_done(frame_source *source)
{
    frame_part *done = source->first, *end = NULL;
    while (source->first != NULL && part_is_done(source->first)) {
        end = source->first;
        source->first = end->next;
    }
    if (end == NULL)
        return NULL;
    end->next = NULL;
    if (source->first == NULL)
        source->last = NULL;
    return done;
}

static void free_parts(const frame_source *source, frame_part *part)
{
    while (part != NULL) {
        frame_part *next = part->next;
        part_free(source, part);
        part = next;
    }
}

/* ---- life cycle -------------------------------------------------------------- */

static frame_source *source_create(const char *file)
{
    frame_source *source = cellar_alloc(1, sizeof *source);
    if (source == NULL)
        return NULL;
    source->file = file;
    pthread_mutex_init(&source->lock, NULL);
    pthread_cond_init(&source->more, NULL);
    return source;
}

void frame_source_close(frame_source *source)
{
    if (source == NULL)
        return;
    free_parts(source, source->first);
    if (source->stream.release != NULL)
        source->stream.release(&source->stream);
    frame_free_layouts(source->layouts, source->n_columns);
    cellar_free(source->is_used);
    pthread_cond_destroy(&source->more);
    pthread_mutex_destroy(&source->lock);
    cellar_free(source);
}

/* What the producer says of its failure. */
static cellar_status stream_fail(frame_source *source, int code, cellar_error *err)
{
    const char *why = source->stream.get_last_error != NULL
                          ? source->stream.get_last_error(&source->stream)
                          : NULL;
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the stream failed: %.500s", source->file,
                       why != NULL && why[0] != '\0' ? why : strerror(code));
}

static cellar_status read_stream_schema(frame_source *source, size_t max_columns, cellar_error *err)
{
    struct ArrowSchema schema = {0};
    cellar_status status;
    int code;
    if (source->stream.get_schema == NULL || source->stream.get_next == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the stream lacks functions", source->file);
    code = source->stream.get_schema(&source->stream, &schema);
    if (code != 0)
        return stream_fail(source, code, err);
    if (schema.release == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the stream has no schema", source->file);
    status = frame_read_schema(&schema, source->file, max_columns > 0 ? max_columns : COLUMNS_MAX,
                               &source->layouts, &source->n_columns, err);
    schema.release(&schema);
    return status;
}

cellar_status frame_source_open_stream(struct ArrowArrayStream *stream, const char *file,
                                       size_t max_columns, frame_source **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    frame_source *source = stream->release != NULL ? source_create(file) : NULL;

    *out = NULL;
    if (stream->release == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: the stream was released already", file);
    if (source == NULL) {
        stream->release(stream);
        return cellar_fail_memory(err, "a reader");
    }
    source->stream = *stream; /* a move: the caller's is empty now */
    stream->release = NULL;
    CELLAR_TRY(read_stream_schema(source, max_columns, err));
    source->is_used = cellar_alloc(source->n_columns, 1);
    if (source->is_used == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a reader"));
    *out = source;
    source = NULL;
out:
    frame_source_close(source);
    return status;
}

cellar_status frame_source_open_given(const cellar_frame *frame, const char *file,
                                      frame_source **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    frame_source *source = source_create(file);

    *out = NULL;
    if (source == NULL)
        return cellar_fail_memory(err, "a reader");
    source->given = *frame;
    source->part_rows = frame->n_rows;
    for (size_t c = 0; c < frame->n_columns; c++)
        if (frame->columns[c].make_codes != NULL)
            source->part_rows = FRAME_MADE_ROWS;
    source->n_columns = frame->n_columns;
    source->is_used = cellar_alloc(frame->n_columns, 1);
    if (source->is_used == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a reader"));
    CELLAR_TRY(frame_read_given(frame, file, &source->layouts, err));
    *out = source;
    source = NULL;
out:
    frame_source_close(source);
    return status;
}

/* ---- columns ----------------------------------------------------------------- */

size_t frame_source_n_columns(const frame_source *source)
{
    return source->n_columns;
}

const char *frame_source_column(const frame_source *source, size_t column)
{
    return source->layouts[column].name;
}

cellar_status frame_source_use(frame_source *source, size_t column, cellar_error *err)
{
    source->is_used[column] = 1;
    if (source->layouts[column].refusal[0] != '\0')
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: column '%.200s' %s", source->file,
                           source->layouts[column].name, source->layouts[column].refusal);
    return CELLAR_OK;
}

/* ---- pieces ------------------------------------------------------------------ */

static cellar_status pull_given(frame_source *source, frame_part *part, cellar_error *err)
{
    const uint64_t first = source->next_given, left = source->given.n_rows - first;
    part->n_rows = left < source->part_rows ? left : source->part_rows;
    source->next_given += part->n_rows;
    return part->n_rows == 0 ? CELLAR_OK
                             : frame_take_given(&source->given, source->is_used, first,
                                                part->n_rows, part->columns, err);
}

/* At the end of the stream part->array.release is NULL. */
static cellar_status pull_batch(frame_source *source, frame_part *part, cellar_error *err)
{
    const int code = source->stream.get_next(&source->stream, &part->array);
    if (code != 0) {
        part->array.release = NULL;
        return stream_fail(source, code, err);
    }
    return part->array.release == NULL
               ? CELLAR_OK
               : frame_read_array(&part->array, source->layouts, source->n_columns, source->is_used,
                                  source->file, part->columns, &part->n_rows, err);
}

/* Gets the next part. *out is NULL when there are no more. */
static cellar_status pull(frame_source *source, frame_part **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const int is_stream = source->stream.release != NULL;
    frame_part *part = cellar_alloc(1, sizeof *part);

    *out = NULL;
    if (part == NULL)
        return cellar_fail_memory(err, "a batch of rows");
    part->columns = cellar_alloc(source->n_columns, sizeof *part->columns);
    if (part->columns == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a batch of rows"));
    CELLAR_TRY((is_stream ? pull_batch : pull_given)(source, part, err));
    if (is_stream ? part->array.release != NULL : part->n_rows > 0) {
        *out = part;
        part = NULL;
    }
out:
    if (part != NULL)
        part_free(source, part);
    return status;
}

/* Called with the lock held. */
static void take_rows(frame_source *source, frame_part *part, frame_piece *piece)
{
    const uint64_t left = part->n_rows - part->next_row;
    *piece = (frame_piece){.part = part,
                           .columns = part->columns,
                           .part_number = part->number,
                           .first = part->next_row,
                           .n = left < FRAME_PIECE_ROWS ? (size_t) left : FRAME_PIECE_ROWS,
                           .sequence = source->n_pieces++};
    part->next_row += piece->n;
    part->n_out++;
    source->n_rows_taken += piece->n;
    piece->fraction = source->stream.release == NULL
                          ? (double) source->n_rows_taken / (double) source->given.n_rows
                          : -1;
}

/* The first part with rows that nobody took, and how many there are. */
static frame_part *first_waiting(const frame_source *source, size_t *n_waiting)
{
    frame_part *found = NULL;
    *n_waiting = 0;
    for (frame_part *part = source->first; part != NULL; part = part->next)
        if (part->next_row < part->n_rows) {
            found = found != NULL ? found : part;
            ++*n_waiting;
        }
    return found;
}

/* Lane 0 gets another part, with the lock held but while it asks. */
static cellar_status get_more(frame_source *source, cellar_error *err)
{
    frame_part *done = drop_done(source), *part = NULL;
    cellar_status status;
    pthread_mutex_unlock(&source->lock);
    free_parts(source, done);
    status = pull(source, &part, err);
    pthread_mutex_lock(&source->lock);
    if (part != NULL)
        add_part(source, part);
    else
        source->is_ended = 1;
    pthread_cond_broadcast(&source->more);
    return status;
}

cellar_status frame_source_take(frame_source *source, int lane, frame_is_over *is_over,
                                void *context, frame_piece *piece, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *piece = (frame_piece){0};
    pthread_mutex_lock(&source->lock);
    while (status == CELLAR_OK && !is_over(context, source->n_pieces)) {
        size_t n_waiting;
        frame_part *part = first_waiting(source, &n_waiting);
        if (lane == 0 && !source->is_ended && n_waiting < WAITING_MAX)
            status = get_more(source, err);
        else if (part != NULL) {
            take_rows(source, part, piece);
            break;
        } else if (source->is_ended)
            break;
        else
            pthread_cond_wait(&source->more, &source->lock);
    }
    pthread_mutex_unlock(&source->lock);
    return status;
}

void frame_source_give_back(frame_source *source, const frame_piece *piece)
{
    pthread_mutex_lock(&source->lock);
    piece->part->n_out--;
    pthread_mutex_unlock(&source->lock);
}

void frame_source_stop(frame_source *source)
{
    pthread_mutex_lock(&source->lock);
    source->is_ended = 1;
    pthread_cond_broadcast(&source->more);
    pthread_mutex_unlock(&source->lock);
}
