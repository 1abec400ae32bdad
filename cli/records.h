/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options about keys of records: read from a column, or derived from an identifier. */
#ifndef CELLAR_CLI_RECORDS_H
#define CELLAR_CLI_RECORDS_H

#include <cellar/key.h>
#include <cellar/tabulate.h>

#include "options.h"

typedef struct cli_record_options {
    const char *record_key, *record_id, *key;
    cli_number key_range;
} cli_record_options;

/* The rows of an option table for a cli_record_options at that offset in the verb's values. */
/* clang-format off */
#define CLI_RECORD_OPTIONS(at)                                                                     \
    {CLI_TEXT, "record-id", "COLUMN",                                                              \
     "derive record keys from this stable identifier and the secret of --key",                     \
     (at) + offsetof(cli_record_options, record_id), 0, 0, 0},                                     \
    {CLI_TEXT, "key", "FILE", "the key file ('cellar key create') for --record-id",                \
     (at) + offsetof(cli_record_options, key), 0, 0, 0},                                           \
    {CLI_TEXT, "record-key", "COLUMN", "add up record keys into cell keys",                        \
     (at) + offsetof(cli_record_options, record_key), 0, 0, 0},                                    \
    {CLI_NUMBER, "key-range", "N",                                                                 \
     "record keys are integers modulo N [decimals from 0 to below 1]",                             \
     (at) + offsetof(cli_record_options, key_range), 0, 1, 0}
/* clang-format on */

/* Checks the options and puts them into `spec`; `secret` holds what the key file gave, and outlives
 * the spec. Answers CLI_GO_ON, or an exit code after a message. */
int cli_records_read(const cli_record_options *options, cellar_tabulate_spec *spec,
                     unsigned char secret[CELLAR_KEY_SECRET_BYTES]);

#endif
