/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A producer of Arrow streams for tests: records with a few columns in batches, everything owned by
 * the test, which counts what was not released. */
#ifndef CELLAR_TESTS_ARROW_SAMPLE_H
#define CELLAR_TESTS_ARROW_SAMPLE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/frame.h>

enum { SAMPLE_COLUMNS_MAX = 12, SAMPLE_BUFFERS_MAX = 4 };

/* A column of one batch. The test fills the arrays; `levels` describes a dictionary. */
typedef struct sample_column {
    const char *name, *format, *level_format;
    const void *buffers[SAMPLE_BUFFERS_MAX];
    int64_t n_buffers, offset, null_count;
    int64_t n_levels;
    const void *level_buffers[SAMPLE_BUFFERS_MAX];
    int64_t n_level_buffers;
} sample_column;

typedef struct sample_batch {
    int64_t n_rows, offset;
    sample_column columns[SAMPLE_COLUMNS_MAX];
} sample_batch;

typedef struct sample_stream {
    const sample_batch *batches; /* the first one's formats are the schema's */
    size_t n_batches, n_columns, next;
    int fails_at; /* the number of the batch that get_next refuses; -1: none */
    int n_alive;  /* structs that were handed out and not released */
} sample_stream;

/* Every struct has its own block: children and dictionary inside it. */
typedef struct sample_schema {
    struct ArrowSchema children[SAMPLE_COLUMNS_MAX], levels[SAMPLE_COLUMNS_MAX],
        *pointers[SAMPLE_COLUMNS_MAX];
    sample_stream *stream;
} sample_schema;

typedef struct sample_array {
    struct ArrowArray children[SAMPLE_COLUMNS_MAX], levels[SAMPLE_COLUMNS_MAX],
        *pointers[SAMPLE_COLUMNS_MAX];
    sample_stream *stream;
} sample_array;

static inline void sample_release_schema(struct ArrowSchema *schema)
{
    sample_schema *mine = schema->private_data;
    if (mine != NULL) {
        mine->stream->n_alive--;
        free(mine);
    }
    schema->release = NULL;
}

static inline void sample_release_array(struct ArrowArray *array)
{
    sample_array *mine = array->private_data;
    if (mine != NULL) {
        mine->stream->n_alive--;
        free(mine);
    }
    array->release = NULL;
}

static inline int sample_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    sample_stream *sample = stream->private_data;
    sample_schema *mine = calloc(1, sizeof *mine);
    mine->stream = sample;
    sample->n_alive++;
    for (size_t c = 0; c < sample->n_columns; c++) {
        const sample_column *column = &sample->batches[0].columns[c];
        mine->pointers[c] = &mine->children[c];
        mine->children[c] = (struct ArrowSchema){
            .format = column->format, .name = column->name, .release = sample_release_schema};
        mine->levels[c] =
            (struct ArrowSchema){.format = column->level_format, .release = sample_release_schema};
        if (column->level_format != NULL)
            mine->children[c].dictionary = &mine->levels[c];
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .n_children = (int64_t) sample->n_columns,
                                .children = mine->pointers,
                                .release = sample_release_schema,
                                .private_data = mine};
    return 0;
}

static inline int sample_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    sample_stream *sample = stream->private_data;
    const sample_batch *batch = &sample->batches[sample->next];
    sample_array *mine;
    if (sample->fails_at == (int) sample->next)
        return 5;
    *out = (struct ArrowArray){.release = NULL};
    if (sample->next == sample->n_batches)
        return 0;
    sample->next++;
    mine = calloc(1, sizeof *mine);
    mine->stream = sample;
    sample->n_alive++;
    for (size_t c = 0; c < sample->n_columns; c++) {
        sample_column *column = (sample_column *) &batch->columns[c];
        mine->pointers[c] = &mine->children[c];
        mine->children[c] = (struct ArrowArray){.length = batch->n_rows + batch->offset,
                                                .null_count = column->null_count,
                                                .offset = column->offset,
                                                .n_buffers = column->n_buffers,
                                                .buffers = column->buffers,
                                                .release = sample_release_array};
        mine->levels[c] = (struct ArrowArray){.length = column->n_levels,
                                              .n_buffers = column->n_level_buffers,
                                              .buffers = column->level_buffers,
                                              .release = sample_release_array};
        if (column->level_format != NULL)
            mine->children[c].dictionary = &mine->levels[c];
    }
    *out = (struct ArrowArray){.length = batch->n_rows,
                               .offset = batch->offset,
                               .n_children = (int64_t) sample->n_columns,
                               .children = mine->pointers,
                               .release = sample_release_array,
                               .private_data = mine};
    return 0;
}

static inline const char *sample_get_last_error(struct ArrowArrayStream *stream)
{
    (void) stream;
    return "the sample fails here";
}

static inline void sample_release_stream(struct ArrowArrayStream *stream)
{
    ((sample_stream *) stream->private_data)->n_alive--;
    stream->release = NULL;
}

static inline struct ArrowArrayStream sample_open(sample_stream *sample)
{
    sample->n_alive++;
    return (struct ArrowArrayStream){.get_schema = sample_get_schema,
                                     .get_next = sample_get_next,
                                     .get_last_error = sample_get_last_error,
                                     .release = sample_release_stream,
                                     .private_data = sample};
}

#endif
