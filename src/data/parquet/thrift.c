/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/parquet/thrift.h"

enum { DEPTH_MAX = 32 };

static void fail(thrift_reader *r)
{
    r->failed = 1;
    r->at = r->end;
}

static unsigned byte(thrift_reader *r)
{
    if (r->at == r->end) {
        fail(r);
        return 0;
    }
    return *r->at++;
}

/* Seven bits a byte, the lowest first. */
static uint64_t varint(thrift_reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const unsigned b = byte(r);
        value |= (uint64_t) (b & 0x7f) << shift;
        if (b < 0x80)
            return value;
    }
    fail(r);
    return 0;
}

/* 0, -1, 1, -2, ... are written 0, 1, 2, 3, ... */
static int64_t zigzag(thrift_reader *r)
{
    const uint64_t value = varint(r);
    return (int64_t) (value >> 1) ^ -(int64_t) (value & 1);
}

static const char *bytes(thrift_reader *r, size_t *length)
{
    const uint64_t n = varint(r);
    const char *at = (const char *) r->at;
    *length = 0;
    if (n > (uint64_t) (r->end - r->at)) {
        fail(r);
        return "";
    }
    *length = (size_t) n;
    r->at += n;
    return at;
}

/* Every element takes a byte at least, so that hostile numbers end here. */
static size_t list(thrift_reader *r, thrift_type *type)
{
    const unsigned head = byte(r);
    const uint64_t n = head >> 4 < 15 ? head >> 4 : varint(r);
    *type = (thrift_type) (head & 15);
    if (n > (uint64_t) (r->end - r->at)) {
        fail(r);
        return 0;
    }
    return (size_t) n;
}

static void skip(thrift_reader *r, thrift_type type, int is_element);

static void skip_list(thrift_reader *r)
{
    thrift_type type;
    const size_t n = list(r, &type);
    for (size_t i = 0; i < n && !r->failed; i++)
        skip(r, type, 1);
}

static void skip_map(thrift_reader *r)
{
    const uint64_t n = varint(r);
    const unsigned types = n > 0 ? byte(r) : 0;
    for (uint64_t i = 0; i < n && !r->failed; i++) {
        skip(r, (thrift_type) (types >> 4), 1);
        skip(r, (thrift_type) (types & 15), 1);
    }
}

/* A truth value is part of the head of a field, and a byte as an element. */
static void skip(thrift_reader *r, thrift_type type, int is_element)
{
    thrift_fields inner;
    size_t ignored;
    if (++r->depth > DEPTH_MAX)
        fail(r);
    switch (r->failed ? THRIFT_TRUE : type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        if (is_element)
            (void) byte(r);
        break;
    case THRIFT_BYTE:
        (void) byte(r);
        break;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        (void) varint(r);
        break;
    case THRIFT_DOUBLE:
        for (int i = 0; i < 8; i++)
            (void) byte(r);
        break;
    case THRIFT_BINARY:
        (void) bytes(r, &ignored);
        break;
    case THRIFT_LIST:
    case THRIFT_SET:
        skip_list(r);
        break;
    case THRIFT_MAP:
        skip_map(r);
        break;
    case THRIFT_STRUCT:
        inner = thrift_begin(r);
        while (thrift_next(&inner))
            thrift_skip(&inner);
        break;
    default:
        fail(r);
    }
    r->depth--;
}

thrift_fields thrift_begin(thrift_reader *reader)
{
    return (thrift_fields){.reader = reader};
}

int thrift_next(thrift_fields *fields)
{
    const unsigned head = byte(fields->reader);
    if (head == 0 || fields->reader->failed)
        return 0;
    fields->type = (thrift_type) (head & 15);
    /* The number of the field, or how far it is from the one before. */
    fields->id =
        head >> 4 > 0 ? fields->id + (int) (head >> 4) : (int) (int16_t) zigzag(fields->reader);
    if (fields->id < 0 || fields->id > INT16_MAX)
        fail(fields->reader);
    return !fields->reader->failed;
}

int64_t thrift_integer(thrift_fields *fields)
{
    if (fields->type == THRIFT_BYTE)
        return (int8_t) byte(fields->reader);
    if (fields->type != THRIFT_I16 && fields->type != THRIFT_I32 && fields->type != THRIFT_I64)
        fail(fields->reader);
    return zigzag(fields->reader);
}

int thrift_bool(thrift_fields *fields)
{
    if (fields->type != THRIFT_TRUE && fields->type != THRIFT_FALSE)
        fail(fields->reader);
    return fields->type == THRIFT_TRUE;
}

const char *thrift_binary(thrift_fields *fields, size_t *length)
{
    if (fields->type != THRIFT_BINARY)
        fail(fields->reader);
    return bytes(fields->reader, length);
}

size_t thrift_structs(thrift_fields *fields)
{
    thrift_type type = THRIFT_STRUCT;
    size_t n;
    if (fields->type != THRIFT_LIST)
        fail(fields->reader);
    n = list(fields->reader, &type);
    if (n > 0 && type != THRIFT_STRUCT)
        fail(fields->reader);
    return fields->reader->failed ? 0 : n;
}

thrift_fields thrift_struct(thrift_fields *fields)
{
    if (fields->type != THRIFT_STRUCT)
        fail(fields->reader);
    return thrift_begin(fields->reader);
}

void thrift_skip(thrift_fields *fields)
{
    skip(fields->reader, fields->type, 0);
}
