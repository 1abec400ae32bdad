/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/audit_chain.h"

#include <inttypes.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"

static const char PURPOSE[] = "cellar audit 1";
static const char MARK[] = ",\"chain\":\"";
enum { MARK_BYTES = sizeof MARK - 1, HEX = 2 * AUDIT_HASH, END_BYTES = MARK_BYTES + HEX + 2 };

/* ---- one line ------------------------------------------------------------------ */

/* `body` goes without its closing brace, which the hash adds. */
static void chain_hash(const unsigned char before[AUDIT_HASH], const char *body, size_t length,
                       unsigned char out[AUDIT_HASH])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, AUDIT_HASH);
    crypto_generichash_update(&state, (const unsigned char *) PURPOSE, sizeof PURPOSE);
    crypto_generichash_update(&state, before, AUDIT_HASH);
    crypto_generichash_update(&state, (const unsigned char *) body, length);
    crypto_generichash_update(&state, (const unsigned char *) "}", 1);
    crypto_generichash_final(&state, out, AUDIT_HASH);
}

void audit_chain_seal(audit_chain *chain, const cellar_text *body, cellar_text *line)
{
    char hex[HEX + 1];
    if (body->failed || body->length == 0) {
        line->failed = 1;
        return;
    }
    chain_hash(chain->hash, body->bytes, body->length - 1, chain->hash);
    chain->n++;
    sodium_bin2hex(hex, sizeof hex, chain->hash, AUDIT_HASH);
    cellar_text_add(line, body->bytes, body->length - 1);
    cellar_text_printf(line, "%s%s\"}", MARK, hex);
}

/* Goes on by a line that was read; 0, and the chain stays, when it does not follow. */
static int follow(audit_chain *chain, const char *line, size_t length)
{
    unsigned char hash[AUDIT_HASH];
    char hex[HEX + 1];
    const char *end;
    if (length < END_BYTES)
        return 0;
    end = line + length - END_BYTES;
    chain_hash(chain->hash, line, length - END_BYTES, hash);
    sodium_bin2hex(hex, sizeof hex, hash, AUDIT_HASH);
    if (memcmp(end, MARK, MARK_BYTES) != 0 || memcmp(end + MARK_BYTES, hex, HEX) != 0 ||
        memcmp(end + MARK_BYTES + HEX, "\"}", 2) != 0)
        return 0;
    memcpy(chain->hash, hash, AUDIT_HASH);
    chain->n++;
    return 1;
}

void audit_chain_head(const audit_chain *chain, cellar_audit_head *out)
{
    out->n_entries = chain->n;
    sodium_bin2hex(out->hash, sizeof out->hash, chain->hash, AUDIT_HASH);
}

/* ---- all of them ----------------------------------------------------------------- */

cellar_status audit_chain_read(audit_chain *chain, const char *path, FILE *file, uint64_t *n_bytes,
                               audit_visit *visit, void *context, cellar_error *err)
{
    char *line = cellar_alloc(AUDIT_LINE_MAX, 1);
    cellar_status status = CELLAR_OK;
    if (line == NULL)
        return cellar_fail_memory(err, "an audit log");
    while (fgets(line, AUDIT_LINE_MAX, file) != NULL) {
        size_t length = strlen(line);
        if (length == 0 || line[length - 1] != '\n') {
            if (feof(file) && length + 1 < AUDIT_LINE_MAX && length > 0)
                break; /* cut short */
            length++;  /* too long, or a zero byte: it follows from nothing */
        }
        if (!follow(chain, line, length - 1))
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                                   "%s:%" PRIu64
                                   ": this line does not follow from those before it: the log was "
                                   "changed, or lines are missing",
                                   path, chain->n + 1));
        *n_bytes += length;
        if (visit != NULL)
            CELLAR_TRY(visit(context, chain, line, length - 1, err));
    }
    if (ferror(file))
        status = cellar_fail_errno(err, path, "read the audit log");
out:
    cellar_free(line);
    return status;
}
