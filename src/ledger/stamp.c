/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stamp of a charge: "cellar-ledger 1 LEDGER ENTRY HEAD", written and read here alone. */
#include "ledger/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEDGER_ID_DIGITS = 16 };

void cellar_ledger_stamp(const cellar_ledger *ledger, const cellar_ledger_entry *charge,
                         char out[CELLAR_STAMP_TEXT])
{
    snprintf(out, CELLAR_STAMP_TEXT, "%s%s %" PRId64 " %s", CELLAR_STAMP_BEGINS,
             cellar_ledger_id(ledger), charge->number, charge->head);
}

/* Copies `length` hexadecimal digits; answers what follows them, or NULL. */
static const char *stamp_hex(const char *text, size_t length, char *out)
{
    if (strspn(text, "0123456789abcdef") != length)
        return NULL;
    memcpy(out, text, length);
    out[length] = '\0';
    return text + length;
}

const char *cellar_stamp_read(const char *text, cellar_stamp *out)
{
    const size_t begins = strlen(CELLAR_STAMP_BEGINS);
    uint64_t number;
    size_t n_digits;
    if (strncmp(text, CELLAR_STAMP_BEGINS, begins) != 0)
        return NULL;
    text = stamp_hex(text + begins, LEDGER_ID_DIGITS, out->ledger);
    if (text == NULL || *text != ' ')
        return NULL;
    n_digits = strspn(++text, "0123456789");
    if (!cellar_parse_u64(text, n_digits, &number) || number > INT64_MAX || text[n_digits] != ' ')
        return NULL;
    out->number = (int64_t) number;
    return stamp_hex(text + n_digits + 1, CELLAR_LEDGER_HASH_TEXT - 1, out->head);
}

int cellar_stamp_is_sound(const char *text)
{
    cellar_stamp stamp;
    const char *end = cellar_stamp_read(text, &stamp);
    return end != NULL && *end == '\0' && stamp.number >= 1;
}

/* ---- what is noted without a charge ------------------------------------------------------- */

static const char NOTE[] = "uncharged, in entry ", OF[] = " of ledger ";

void cellar_ledger_note_stamp(const cellar_ledger *ledger, size_t number,
                              char out[CELLAR_STAMP_TEXT])
{
    snprintf(out, CELLAR_STAMP_TEXT, "%s%zu%s%s", NOTE, number, OF, cellar_ledger_id(ledger));
}

int cellar_note_stamp_is_sound(const char *text)
{
    char id[LEDGER_ID_DIGITS + 1];
    uint64_t number;
    size_t n_digits;
    if (strncmp(text, NOTE, sizeof NOTE - 1) != 0)
        return 0;
    text += sizeof NOTE - 1;
    n_digits = strspn(text, "0123456789");
    if (!cellar_parse_u64(text, n_digits, &number) || number == 0 ||
        strncmp(text + n_digits, OF, sizeof OF - 1) != 0)
        return 0;
    text = stamp_hex(text + n_digits + sizeof OF - 1, LEDGER_ID_DIGITS, id);
    return text != NULL && *text == '\0';
}
