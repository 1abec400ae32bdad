/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Submissions that somebody without any key takes for the shuffler. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include <cellar/collect.h>
#include <cellar/output.h>

#include "base/error.h"
#include "protocol/decision.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 16 };

size_t cellar_collect_submission_bytes(const cellar_invitation *invitation,
                                       const cellar_decision *decision)
{
    collect_round round;
    return round_of(invitation, decision, &round, NULL) == CELLAR_OK
               ? round_submission_bytes(&round)
               : 0;
}

/* The round is over when its batch is written. */
static cellar_status round_is_open(const char *folder, const collect_round *round,
                                   cellar_error *err)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s/round-%s.batch", folder, round_label(round));
    if (n < 0 || n >= PATH_BYTES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.200s...: the path is too long", folder);
    return access(path, F_OK) == 0 ? cellar_fail(err, CELLAR_ERR_RULE, "the round is over")
                                   : CELLAR_OK;
}

/* Named by a hash of the bytes, which are random to everybody but their sender. */
cellar_status cellar_collect_inbox_put(const char *folder, const cellar_invitation *invitation,
                                       const cellar_decision *decision, const void *submission,
                                       size_t length, cellar_error *err)
{
    unsigned char hash[NAME_BYTES];
    char digits[2 * NAME_BYTES + 1], path[PATH_BYTES];
    collect_round round;
    cellar_output *output = NULL;
    int n;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(round_of(invitation, decision, &round, err));
    CELLAR_TRY(submission_check(&round, submission, length, err));
    CELLAR_TRY(round_is_open(folder, &round, err));
    crypto_generichash(hash, sizeof hash, submission, length, NULL, 0);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    n = snprintf(path, sizeof path, "%s/inbox-%s/%s", folder, round_label(&round), digits);
    if (n < 0 || n >= PATH_BYTES)
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.200s...: the path is too long", folder));
    status = cellar_output_open(path, NULL, &output, err);
    if (status == CELLAR_OK) {
        cellar_output_write(output, submission, length);
        status = cellar_output_commit(output, err);
    }
    if (status == CELLAR_ERR_EXISTS)
        status = CELLAR_OK;
out:
    return status;
}
