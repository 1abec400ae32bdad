/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small text files of a collection: lines "name value", in a fixed order, the last of them a
 * signature over all before it. Numbers and keys have one spelling each, so there is one text for
 * one meaning. */
#ifndef CELLAR_PROTOCOL_LINES_H
#define CELLAR_PROTOCOL_LINES_H

#include <cellar/status.h>

#include "base/text.h"
#include "protocol/keys.h"

enum {
    LINES_VALUE_MAX = 200,        /* bytes of a name, a code or a title */
    LINES_FILE_MAX = 1 << 26,     /* of an invitation with many codes */
    LINES_SIGNATURE_LENGTH = 139, /* "signature ", 128 digits, newline */
    LINES_SCALE = 18              /* decimals are held in units of 10^-18 */
};
static const uint64_t LINES_ONE = UINT64_C(1000000000000000000);

/* A reader over bytes that outlive it. */
typedef struct cellar_lines {
    const char *name; /* the file, in messages */
    const char *at, *end;
    uint64_t line;
} cellar_lines;

/* 1 for what may stand behind a name: UTF-8 of 1 to LINES_VALUE_MAX bytes, no control characters,
 * no blank at either end. */
int lines_value_valid(const char *value, size_t length);
/* 1 when the value is that word. */
int lines_value_is(const char *value, size_t length, const char *word);

/* The first line must be `header`; *lines begins after it. */
cellar_status lines_begin(cellar_lines *lines, const char *name, const char *bytes, size_t length,
                          const char *header, cellar_error *err);
/* 1 when the next line begins with `name` and a blank. */
int lines_next_is(const cellar_lines *lines, const char *name);
/* Takes the next line, which must be of that name; *value is not NUL-terminated. */
cellar_status lines_take(cellar_lines *lines, const char *name, const char **value, size_t *length,
                         cellar_error *err);
cellar_status lines_take_number(cellar_lines *lines, const char *name, uint64_t *out,
                                cellar_error *err);
/* A decimal from 0 to `most`, in units of 10^-18; a share is one from 0 to 1. */
cellar_status lines_take_decimal(cellar_lines *lines, const char *name, uint64_t most,
                                 uint64_t *out, cellar_error *err);
cellar_status lines_take_share(cellar_lines *lines, const char *name, uint64_t *out,
                               cellar_error *err);
cellar_status lines_take_hex(cellar_lines *lines, const char *name, unsigned char *out, size_t n,
                             cellar_error *err);
/* Takes whole lines that must read exactly so; `what` they are, in a message. */
cellar_status lines_take_text(cellar_lines *lines, const cellar_text *expected, const char *what,
                              cellar_error *err);
/* Nothing may be left. */
cellar_status lines_end(const cellar_lines *lines, cellar_error *err);
cellar_status lines_fail(const cellar_lines *lines, const char *what, cellar_error *err);

void lines_add(cellar_text *text, const char *name, const char *value);
void lines_add_number(cellar_text *text, const char *name, uint64_t value);
void lines_add_share(cellar_text *text, const char *name, uint64_t units);
void lines_add_hex(cellar_text *text, const char *name, const unsigned char *bytes, size_t n);
/* Signs what `text` holds and adds the line. */
void lines_sign(cellar_text *text, const cellar_collect_keys *keys);

/* The length of what is signed, if the bytes end with the signature of `signer` over it. */
cellar_status lines_verify(const char *name, const char *bytes, size_t length,
                           const unsigned char signer[CELLAR_COLLECT_KEY_BYTES],
                           size_t *signed_length, cellar_error *err);

/* lines_begin() on what stands before the signature, which is verified before anything is read. */
cellar_status lines_begin_signed(cellar_lines *lines, const char *name, const char *bytes,
                                 size_t length, const char *header,
                                 const unsigned char signer[CELLAR_COLLECT_KEY_BYTES],
                                 cellar_error *err);

/* Keeps a paper as it was signed, and names it by a hash of all of it. */
cellar_status lines_keep(const char *bytes, size_t length, cellar_text *text,
                         unsigned char id[CELLAR_COLLECT_ID_BYTES], cellar_error *err);

#endif
