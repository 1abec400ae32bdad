/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/ledger_open.h"

#include "base/error.h"

cellar_status cellar_plan_open_ledger(const cellar_plan *plan, cellar_ledger **out,
                                      cellar_error *err)
{
    const plan_ledger *account = &plan->ledger;
    cellar_text path = {0};
    cellar_key *key = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (account->key == NULL)
        cellar_text_printf(&path, "%s.key", account->file);
    else
        cellar_text_add_string(&path, account->key);
    if (path.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
    CELLAR_TRY(cellar_key_read(path.bytes, &key, err));
    CELLAR_TRY(cellar_ledger_open(account->file, key, out, err));
out:
    cellar_key_free(key);
    cellar_text_clear(&path);
    return status;
}
