/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vault of a table builder: it holds records, keys and the ledger, draws a table when it is
 * asked to, and answers with the name of a release or a refusal, nothing else. It never sees a
 * request of the network: small messages come from the front, each checked as if the front were
 * hostile. */
#ifndef CELLAR_VAULT_H
#define CELLAR_VAULT_H

#include <stddef.h>

#include <cellar/export.h>
#include <cellar/key.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_vault cellar_vault;

enum { CELLAR_VAULT_MESSAGE_BYTES = 65536 }; /* the largest message, and the largest reply */

/* ---- a signed configuration ------------------------------------------------ */

/* Signs a configuration, with the digests of the files that decide what is drawn (code lists,
 * recodes, matrices), into CONFIG.sig, which is replaced. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_config_sign(const char *config_path,
                                                             const cellar_key *key,
                                                             cellar_error *err);
/* Refuses a configuration that this key did not sign as it is (CELLAR_ERR_RULE). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_config_verify(const char *config_path,
                                                               const cellar_public_key *key,
                                                               cellar_error *err);

/* ---- life cycle ------------------------------------------------------------ */

/* Start from cellar_vault_options_default(). */
typedef struct cellar_vault_options {
    const cellar_public_key *signer; /* whose signature the configuration needs [NULL: anybody may
                                        write it] */
} cellar_vault_options;

/* No signature is asked for. */
CELLAR_API cellar_vault_options cellar_vault_options_default(void);

/* Opens the stores, keys and ledgers of the configuration that a site of the same file serves, and
 * finishes what an earlier vault had begun. Data sets of one population must charge one data set of
 * one ledger, else it is refused (CELLAR_ERR_INPUT). `options` may be NULL. On failure *out is
 * NULL.
 */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_vault_open(const char *config_path,
                                                            const cellar_vault_options *options,
                                                            cellar_vault **out, cellar_error *err);
CELLAR_API void cellar_vault_close(cellar_vault *vault); /* NULL is fine */

/* ---- answering ------------------------------------------------------------- */

/* Answers one message, both JSON objects (docs/table-builder-vault.md lists them). Whatever is
 * wrong with a message is said in the reply; a failure (CELLAR_ERR_MEMORY) has none. What an
 * operator should know and the front should not, such as a disk that failed, is in `err`, whose
 * message is else empty. May be called by several threads at once: requests for one table draw it
 * once, and charges are committed together. Free *reply with free(3). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_vault_answer(cellar_vault *vault,
                                                              const char *message, size_t length,
                                                              char **reply, size_t *reply_length,
                                                              cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
