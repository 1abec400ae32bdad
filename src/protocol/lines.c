/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/lines.h"

#include <inttypes.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"

int lines_value_valid(const char *value, size_t length)
{
    if (length == 0 || length > LINES_VALUE_MAX || !cellar_utf8_valid(value, length) ||
        value[0] == ' ' || value[length - 1] == ' ')
        return 0;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) value[i] < 0x20 || value[i] == 0x7f)
            return 0;
    return 1;
}

int lines_value_is(const char *value, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(value, word, length) == 0;
}

/* ---- reading --------------------------------------------------------------- */

cellar_status lines_fail(const cellar_lines *lines, const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": expected %s", lines->name,
                       lines->line, what);
}

cellar_status lines_begin(cellar_lines *lines, const char *name, const char *bytes, size_t length,
                          const char *header, cellar_error *err)
{
    size_t n = strlen(header);
    *lines = (cellar_lines){name, bytes, bytes + length, 1};
    if (length <= n || memcmp(bytes, header, n) != 0 || bytes[n] != '\n')
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: expected the line '%s'", name, header);
    lines->at += n + 1;
    lines->line++;
    return CELLAR_OK;
}

int lines_next_is(const cellar_lines *lines, const char *name)
{
    size_t n = strlen(name);
    return (size_t) (lines->end - lines->at) > n && memcmp(lines->at, name, n) == 0 &&
           lines->at[n] == ' ';
}

cellar_status lines_take(cellar_lines *lines, const char *name, const char **value, size_t *length,
                         cellar_error *err)
{
    const char *end;
    if (!lines_next_is(lines, name))
        return lines_fail(lines, name, err);
    *value = lines->at + strlen(name) + 1;
    end = memchr(*value, '\n', (size_t) (lines->end - *value));
    if (end == NULL)
        return lines_fail(lines, "a whole line", err);
    *length = (size_t) (end - *value);
    if (!lines_value_valid(*value, *length))
        return lines_fail(lines, "1 to 200 bytes of UTF-8 without control characters", err);
    lines->at = end + 1;
    lines->line++;
    return CELLAR_OK;
}

cellar_status lines_take_number(cellar_lines *lines, const char *name, uint64_t *out,
                                cellar_error *err)
{
    cellar_lines before = *lines;
    const char *value;
    size_t length;
    cellar_status status = lines_take(lines, name, &value, &length, err);
    if (status == CELLAR_OK &&
        (!cellar_parse_u64(value, length, out) || (value[0] == '0' && length > 1)))
        status = lines_fail(&before, "a whole number", err);
    return status;
}

cellar_status lines_take_decimal(cellar_lines *lines, const char *name, uint64_t most,
                                 uint64_t *out, cellar_error *err)
{
    cellar_lines before = *lines;
    cellar_text again = {0};
    const char *value;
    size_t length;
    cellar_int128 units = 0;
    int exact = 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take(lines, name, &value, &length, err));
    if (!cellar_parse_decimal(value, length, LINES_SCALE, &units, &exact) || !exact || units < 0 ||
        units > (cellar_int128) most)
        CELLAR_TRY(lines_fail(&before, "a decimal that is neither below 0 nor too large", err));
    *out = (uint64_t) units;
    cellar_text_add_decimal(&again, units, LINES_SCALE);
    if (again.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a decimal"));
    if (again.length != length || memcmp(again.bytes, value, length) != 0)
        CELLAR_TRY(lines_fail(&before, "a decimal in its shortest form", err));
out:
    cellar_text_clear(&again);
    return status;
}

cellar_status lines_take_share(cellar_lines *lines, const char *name, uint64_t *out,
                               cellar_error *err)
{
    return lines_take_decimal(lines, name, LINES_ONE, out, err);
}

cellar_status lines_take_hex(cellar_lines *lines, const char *name, unsigned char *out, size_t n,
                             cellar_error *err)
{
    cellar_lines before = *lines;
    const char *value;
    size_t length, n_read = 0;
    cellar_status status = lines_take(lines, name, &value, &length, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < length; i++)
        if (value[i] >= 'A' && value[i] <= 'F') /* one text for one meaning */
            return lines_fail(&before, "lower case digits", err);
    if (length != 2 * n || sodium_hex2bin(out, n, value, length, NULL, &n_read, NULL) != 0 ||
        n_read != n)
        return lines_fail(&before, "hexadecimal digits, as many as the key has", err);
    return CELLAR_OK;
}

cellar_status lines_take_text(cellar_lines *lines, const cellar_text *expected, const char *what,
                              cellar_error *err)
{
    if (expected->failed)
        return cellar_fail_memory(err, "lines");
    if ((size_t) (lines->end - lines->at) < expected->length ||
        memcmp(lines->at, expected->bytes, expected->length) != 0)
        return lines_fail(lines, what, err);
    for (size_t i = 0; i < expected->length; i++)
        lines->line += expected->bytes[i] == '\n';
    lines->at += expected->length;
    return CELLAR_OK;
}

cellar_status lines_end(const cellar_lines *lines, cellar_error *err)
{
    return lines->at == lines->end ? CELLAR_OK : lines_fail(lines, "the end of the file", err);
}

/* ---- writing --------------------------------------------------------------- */

void lines_add(cellar_text *text, const char *name, const char *value)
{
    cellar_text_printf(text, "%s %s\n", name, value);
}

void lines_add_number(cellar_text *text, const char *name, uint64_t value)
{
    cellar_text_printf(text, "%s %" PRIu64 "\n", name, value);
}

void lines_add_share(cellar_text *text, const char *name, uint64_t units)
{
    cellar_text_printf(text, "%s ", name);
    cellar_text_add_decimal(text, (cellar_int128) units, LINES_SCALE);
    cellar_text_add_char(text, '\n');
}

void lines_add_hex(cellar_text *text, const char *name, const unsigned char *bytes, size_t n)
{
    char digits[2 * COLLECT_SIGNATURE_BYTES + 1];
    CELLAR_ASSERT(n <= COLLECT_SIGNATURE_BYTES);
    sodium_bin2hex(digits, sizeof digits, bytes, n);
    lines_add(text, name, digits);
}

/* ---- signatures ------------------------------------------------------------ */

/* The first line of every kind of file differs, so a signature of one is none of another. */
void lines_sign(cellar_text *text, const cellar_collect_keys *keys)
{
    unsigned char signature[COLLECT_SIGNATURE_BYTES];
    if (text->failed)
        return;
    crypto_sign_detached(signature, NULL, (const unsigned char *) text->bytes, text->length,
                         keys->sign_secret);
    lines_add_hex(text, "signature", signature, sizeof signature);
}

cellar_status lines_verify(const char *name, const char *bytes, size_t length,
                           const unsigned char signer[CELLAR_COLLECT_KEY_BYTES],
                           size_t *signed_length, cellar_error *err)
{
    unsigned char signature[COLLECT_SIGNATURE_BYTES];
    cellar_lines lines = {name, bytes, bytes + length, 1};
    cellar_status status;

    if (length < LINES_SIGNATURE_LENGTH)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the signature is missing", name);
    lines.at = lines.end - LINES_SIGNATURE_LENGTH;
    status = lines_take_hex(&lines, "signature", signature, sizeof signature, NULL);
    if (status != CELLAR_OK)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the signature is missing", name);
    *signed_length = length - LINES_SIGNATURE_LENGTH;
    if (crypto_sign_verify_detached(signature, (const unsigned char *) bytes, *signed_length,
                                    signer) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: the signature is not that of the one who should have signed", name);
    return CELLAR_OK;
}

cellar_status lines_begin_signed(cellar_lines *lines, const char *name, const char *bytes,
                                 size_t length, const char *header,
                                 const unsigned char signer[CELLAR_COLLECT_KEY_BYTES],
                                 cellar_error *err)
{
    size_t signed_length = length > LINES_SIGNATURE_LENGTH ? length - LINES_SIGNATURE_LENGTH : 0;
    cellar_status status = lines_begin(lines, name, bytes, signed_length, header, err);
    if (status == CELLAR_OK)
        status = lines_verify(name, bytes, length, signer, &signed_length, err);
    return status;
}

cellar_status lines_keep(const char *bytes, size_t length, cellar_text *text,
                         unsigned char id[CELLAR_COLLECT_ID_BYTES], cellar_error *err)
{
    cellar_text_add(text, bytes, length);
    if (text->failed)
        return cellar_fail_memory(err, "a signed paper");
    crypto_generichash(id, CELLAR_COLLECT_ID_BYTES, (const unsigned char *) bytes, length, NULL, 0);
    return CELLAR_OK;
}
