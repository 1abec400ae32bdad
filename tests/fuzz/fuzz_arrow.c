/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrow streams that lie: lengths, offsets, numbers of buffers and children, formats, dictionaries,
 * missing pointers. Buffers are as long as any stated value can reach (the interface does not say
 * how long they are), and everything that was handed out must be released. */
#include <stdlib.h>
#include <string.h>

#include <cellar/columns.h>

enum { COLUMNS = 3, BUFFERS = 5, MEMORY = 4096 };

/* Bytes of the input, zeros after its end. */
typedef struct bytes {
    const uint8_t *data;
    size_t n;
} bytes;

static uint8_t take(bytes *b)
{
    if (b->n == 0)
        return 0;
    b->n--;
    return *b->data++;
}

/* Small numbers mostly, now and then an impossible one. */
static int64_t take_number(bytes *b)
{
    const uint8_t x = take(b);
    static const int64_t odd[] = {-1, INT64_MAX, INT64_MIN, INT64_MAX / 2};
    return x >= 252 ? odd[x - 252] : x % 32;
}

typedef struct source {
    bytes input;
    struct ArrowSchema types[COLUMNS], levels[COLUMNS], *type_pointers[COLUMNS];
    struct ArrowArray arrays[COLUMNS], dictionaries[COLUMNS], *array_pointers[COLUMNS];
    const void *buffers[2 * COLUMNS][BUFFERS];
    uint64_t memory[MEMORY / 8]; /* what all buffers point at */
    char formats[2 * COLUMNS][16];
    int n_alive, n_batches;
} source;

static void release_schema(struct ArrowSchema *schema)
{
    if (schema->private_data != NULL)
        ((source *) schema->private_data)->n_alive--;
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    if (array->private_data != NULL)
        ((source *) array->private_data)->n_alive--;
    array->release = NULL;
}

static void take_format(source *s, size_t i)
{
    static const char *const formats[] = {
        "c",      "C",  "s",  "S",  "i",   "I", "l",     "L",        "u",
        "U",      "vu", "b",  "f",  "g",   "n", "d:9,2", "d:9,2,32", "d:70,-3,256",
        "d:1,99", "+l", "+r", "+s", "tdD", "e", "",      "d:"};
    strcpy(s->formats[i], formats[take(&s->input) % (sizeof formats / sizeof *formats)]);
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    source *s = stream->private_data;
    static const char *const names[] = {"x", "y", NULL, "z"};
    const uint8_t odd = take(&s->input);
    for (size_t c = 0; c < COLUMNS; c++) {
        take_format(s, c);
        take_format(s, COLUMNS + c);
        s->types[c] = (struct ArrowSchema){.format = s->formats[c],
                                           .name = odd == 3 ? names[take(&s->input) % 4]
                                                            : names[c == 2 ? 3 : c],
                                           .release = release_schema};
        s->levels[c] =
            (struct ArrowSchema){.format = s->formats[COLUMNS + c], .release = release_schema};
        if (take(&s->input) % 2 == 1)
            s->types[c].dictionary = &s->levels[c];
        s->type_pointers[c] = odd == 7 ? NULL : &s->types[c];
    }
    if (odd == 8)
        s->types[0].format = NULL;
    *out = (struct ArrowSchema){.format = odd == 1 ? "+l" : "+s",
                                .n_children =
                                    odd == 2 ? take_number(&s->input) % (COLUMNS + 1) : COLUMNS,
                                .children = odd == 4 ? NULL : s->type_pointers,
                                .release = odd == 5 ? NULL : release_schema,
                                .private_data = s};
    s->n_alive += odd != 5 && odd != 6;
    return odd == 6 ? 22 : 0;
}

/* Offsets, codes and views stay small, so that nothing reaches beyond the buffer by itself. */
static void fill_memory(source *s)
{
    uint8_t *at = (uint8_t *) s->memory;
    memset(s->memory, 0, sizeof s->memory);
    for (size_t i = 0; i < MEMORY / 4; i++) {
        const int32_t value = (int32_t) (take(&s->input) % 64) - (take(&s->input) == 255);
        memcpy(at + 4 * i, &value, 4);
        if (s->input.n == 0)
            break;
    }
}

static void fill_array(source *s, size_t i, struct ArrowArray *array)
{
    for (size_t b = 0; b < BUFFERS; b++)
        s->buffers[i][b] = take(&s->input) == 255 ? NULL : s->memory;
    *array = (struct ArrowArray){.length = take_number(&s->input),
                                 .null_count = take_number(&s->input),
                                 .offset = take_number(&s->input),
                                 .n_buffers = take(&s->input) % (BUFFERS + 1),
                                 .buffers = take(&s->input) == 255 ? NULL : s->buffers[i],
                                 .release = take(&s->input) == 255 ? NULL : release_array};
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    source *s = stream->private_data;
    uint8_t odd;
    *out = (struct ArrowArray){.release = NULL};
    if (s->input.n == 0 || s->n_batches++ == 4)
        return 0;
    odd = take(&s->input);
    fill_memory(s);
    for (size_t c = 0; c < COLUMNS; c++) {
        fill_array(s, c, &s->arrays[c]);
        fill_array(s, COLUMNS + c, &s->dictionaries[c]);
        s->arrays[c].dictionary = take(&s->input) == 255 ? NULL : &s->dictionaries[c];
        s->array_pointers[c] = take(&s->input) == 255 ? NULL : &s->arrays[c];
    }
    *out = (struct ArrowArray){.length = take_number(&s->input),
                               .offset = take_number(&s->input) % 8,
                               .null_count = odd == 1 ? -1 : 0,
                               .n_buffers = 1,
                               .buffers = s->buffers[0],
                               .n_children = odd == 2 ? take_number(&s->input) : COLUMNS,
                               .children = odd == 3 ? NULL : s->array_pointers,
                               .release = release_array,
                               .private_data = s};
    s->n_alive++;
    return odd == 4 ? (out->release(out), 5) : 0;
}

static void release_stream(struct ArrowArrayStream *stream)
{
    ((source *) stream->private_data)->n_alive--;
    stream->release = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    source *s = calloc(1, sizeof *s);
    struct ArrowArrayStream stream = {.get_schema = get_schema,
                                      .get_next = get_next,
                                      .release = release_stream,
                                      .private_data = s};
    const cellar_variable_spec variables[] = {{.column = "x"}, {.column = "y"}};
    cellar_tabulate_spec spec = {.variables = variables, .n_variables = 2, .n_threads = 1};
    cellar_table *table = NULL;
    if (s == NULL)
        return 0;
    s->input = (bytes){data, size};
    s->n_alive = 1;
    spec.missing_policy = CELLAR_MISSING_LEVEL;
    spec.weight_column = take(&s->input) % 2 == 1 ? "z" : NULL;
    spec.reader.bad_rows = CELLAR_BAD_ROWS_SKIP;
    if (cellar_tabulate_stream(&spec, &stream, &table, NULL, NULL) == CELLAR_OK)
        cellar_table_free(table);
    if (stream.release != NULL || s->n_alive != 0)
        abort();
    free(s);
    return 0;
}
