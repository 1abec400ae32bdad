/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "records.h"

static int records_check(const cli_record_options *options)
{
    if ((options->record_id != NULL) != (options->key != NULL))
        return cli_usage("--record-id and --key need each other");
    if (options->record_id != NULL && options->record_key != NULL)
        return cli_usage("record keys are either read (--record-key) or derived (--record-id)");
    if (options->key_range.given && options->record_key == NULL && options->record_id == NULL)
        return cli_usage("--key-range needs --record-key or --record-id");
    return CLI_GO_ON;
}

int cli_records_read(const cli_record_options *options, cellar_tabulate_spec *spec,
                     unsigned char secret[CELLAR_KEY_SECRET_BYTES])
{
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status;
    const int result = records_check(options);
    if (result != CLI_GO_ON)
        return result;
    spec->record_key_column = options->record_key;
    spec->record_id_column = options->record_id;
    spec->key_range = options->key_range.value;
    if (options->key == NULL)
        return CLI_GO_ON;
    status = cellar_key_read(options->key, &key, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    cellar_key_secret(key, CELLAR_KEY_RECORDS, secret);
    cellar_key_free(key);
    spec->record_secret = secret;
    return CLI_GO_ON;
}
