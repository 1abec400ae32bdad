/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages to the vault, whose replies are data: they are read like any other input. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/v1.h"
#include "table/formats/extension.h"

cellar_status v1_ask_vault(const cellar_site *site, json_t *message, json_t **reply,
                           cellar_error *err)
{
    char *text = message != NULL ? cellar_json_text(message, JSON_COMPACT) : NULL, *answer = NULL;
    size_t length = 0;
    cellar_error why = {""};
    cellar_status status = CELLAR_OK;
    *reply = NULL;
    json_decref(message);
    if (text == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a message"));
    if (site->options.ask_vault == NULL)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "this site runs without a vault"));
    status = site->options.ask_vault(site->options.vault_context, text, strlen(text), &answer,
                                     &length, &why);
    if (status == CELLAR_OK)
        status = serve_json_read(answer, length, reply, &why);
    if (status != CELLAR_OK && status != CELLAR_ERR_MEMORY)
        status = cellar_fail(err, CELLAR_ERR_IO, "the vault does not answer");
out:
    free(answer);
    cellar_free(text);
    return status;
}
