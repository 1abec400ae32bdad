/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects data in two rounds so that no party sees a whole record. In round one every value of
 * every record goes separately through a shuffler, which cannot read it, to a curator, which does
 * not know whose it is: the curator learns how often each value of each column occurs. From these
 * counts it decides which columns are safe together. In round two an analyst receives exactly these
 * columns. docs/protocol.md says what each role could learn, alone and with others, and what is not
 * hidden. */
#ifndef CELLAR_COLLECT_H
#define CELLAR_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/collect_decision.h>
#include <cellar/collect_papers.h>
#include <cellar/export.h>
#include <cellar/key.h>
#include <cellar/random.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a participant's budget ------------------------------------------------- */

/* What a participant has sent over all collections, by its budget file. */
typedef struct cellar_collect_budget {
    double limit;          /* on `spent`; INFINITY when none was chosen */
    double spent;          /* the epsilons of randomised records, added up */
    uint64_t n_randomised; /* answers that were charged for */
    uint64_t n_exact;      /* answers, and rows of round two, that were not randomised */
} cellar_collect_budget;

/* Chooses the limit, an epsilon as a decimal as typed, from now on; makes the file (mode 0600) when
 * there is none. With a limit, answers of round one and to questions that are not randomised are
 * refused; rows of round two, which never are, need the policy's consent only. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_budget_limit(const char *path,
                                                                      const char *limit,
                                                                      cellar_error *err);
/* A file that does not exist says that nothing was sent. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_budget_read(const char *path,
                                                                     cellar_collect_budget *out,
                                                                     cellar_error *err);

/* ---- participants ---------------------------------------------------------- */

/* One participant, or a gateway with a file of many. */
typedef struct cellar_participant cellar_participant;

/* Takes part in round one (`decision` NULL) or two, after checking the policy (NULL in round one:
 * no demands). `key` is the participant's own, not that of a role (CELLAR_ERR_RULE): with the same
 * key the same row is counted once, however often it is sent. The invitation and the decision
 * outlive the participant. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_participant_create(const cellar_invitation *invitation, const cellar_decision *decision,
                          const cellar_collect_policy *policy, const cellar_key *key,
                          cellar_participant **out, cellar_error *err);
/* Answers a question, after checking the policy (NULL: no demands). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_create_asked(
    const cellar_invitation *invitation, const cellar_question *question,
    const cellar_collect_policy *policy, const cellar_key *key, cellar_participant **out,
    cellar_error *err);
CELLAR_API void cellar_participant_free(cellar_participant *participant); /* wipes; NULL is fine */
/* The length of what is sent: the same for everybody. */
CELLAR_API size_t cellar_participant_size_bytes(const cellar_participant *participant)
    CELLAR_NONNULL(1);
/* Functions below that send also charge the policy's budget, on disk, before anything is sent: the
 * same records sent again cost nothing more. CELLAR_ERR_BUDGET when the limit does not allow them.
 * cellar_participant_seal() and cellar_collect_link_send() charge nothing. */

/* Seals the record number `row` (0 for a single one): one value for each column of the invitation,
 * of which round two sends only those released. A value that is not of its column's list is
 * CELLAR_ERR_INPUT. `bytes` has room for cellar_participant_size_bytes(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_seal(
    const cellar_participant *participant, uint64_t row, const char *const *values, void *bytes,
    cellar_error *err) CELLAR_NONNULL(1);
/* The same with a payload, which goes to the analyst with the row of round two: an image, a
 * document, of at most cellar_invitation_payload_bytes(), padded to that. Round one ignores it;
 * with a length of 0 nobody but the analyst sees that there is none. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_seal_with(
    const cellar_participant *participant, uint64_t row, const char *const *values,
    const void *payload, size_t length, void *bytes, cellar_error *err) CELLAR_NONNULL(1);
/* In files of records, the column that holds the path of each record's payload, or nothing; a path
 * that does not begin with a slash begins where the file lies. `column` outlives the participant;
 * NULL: records have no payload. */
CELLAR_API void cellar_participant_payload_column(cellar_participant *participant,
                                                  const char *column) CELLAR_NONNULL(1);
/* Looks for the record among the messages of a tally: CELLAR_ERR_RULE when one of its values was
 * not counted as it was sent. The participant is one of round one. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_find(
    const cellar_participant *participant, uint64_t row, const char *const *values,
    const cellar_collect_margins *tally, cellar_error *err) CELLAR_NONNULL(1);
/* The same for every record of a CSV file that was sent with cellar_participant_send_file(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_find_file(
    const cellar_participant *participant, const char *csv_path,
    const cellar_collect_margins *tally, uint64_t *n_found, cellar_error *err);
/* Seals every record of a CSV file with a header into one new file in the folder `inbox`, where a
 * shuffler finds it; columns that were not asked for are left alone. The name follows from the key
 * and the round: what waits there already is CELLAR_ERR_EXISTS. A fault in any row means that
 * nothing is sent. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_participant_send_file(const cellar_participant *participant, const char *csv_path,
                             const char *inbox, uint64_t *n_sent, cellar_error *err);
/* The same over a connection to the shuffler at "HOST:PORT" or "unix:PATH". It answers when all is
 * acknowledged; after a failure send all of it again: what was taken already is counted once. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_post_file(
    const cellar_participant *participant, const char *csv_path, const char *address,
    uint32_t timeout_ms, uint64_t *n_sent, cellar_error *err);

/* A connection to the shuffler, with keys of its own that are forgotten with it. The shuffler is
 * the one the invitation names, or the connection fails. The participant outlives it. */
typedef struct cellar_collect_link cellar_collect_link;

/* Connects to the shuffler at "HOST:PORT" or "unix:PATH". On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_collect_link_open(const cellar_participant *participant, const char *address,
                         uint32_t timeout_ms, cellar_collect_link **out, cellar_error *err);
CELLAR_API void cellar_collect_link_close(cellar_collect_link *link); /* wipes; NULL is fine */
/* Sends n submissions that lie one after the other, and waits until the shuffler has each of them
 * on disk. CELLAR_ERR_RULE, and why, when it refuses one. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_link_send(cellar_collect_link *link,
                                                                   const void *submissions,
                                                                   size_t n, cellar_error *err)
    CELLAR_NONNULL(1);
/* One record in one call: connects, seals, sends, and answers when it is on the shuffler's disk. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_post(
    const cellar_participant *participant, uint64_t row, const char *const *values,
    const char *address, uint32_t timeout_ms, cellar_error *err);
/* Remembers in the file `path` that this decision was accepted. When the file holds another
 * decision in the same collection, the curator asks twice: CELLAR_ERR_RULE. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_participant_remember(const char *path, const cellar_invitation *invitation,
                            const cellar_decision *decision, cellar_error *err) CELLAR_NONNULL(3);

/* The same for a question. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_participant_remember_question(
    const char *path, const cellar_invitation *invitation, const cellar_question *question,
    cellar_error *err) CELLAR_NONNULL(3);

/* ---- the shuffler ---------------------------------------------------------- */

typedef struct cellar_shuffler cellar_shuffler;

/* Takes up the work of round one (`decision` NULL) or two in a folder, where it was left: what is
 * there of it lies in FOLDER/round-N.spool, and the batch will be FOLDER/round-N.batch. When there
 * is a batch already the round is over: CELLAR_ERR_RULE. The keys outlive the shuffler. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_shuffler_open(
    const char *folder, const cellar_invitation *invitation, const cellar_decision *decision,
    const cellar_collect_keys *keys, cellar_shuffler **out, cellar_error *err);
/* The same for the answers to a question, in FOLDER/round-pairs or FOLDER/round-triples. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_shuffler_open_asked(
    const char *folder, const cellar_invitation *invitation, const cellar_question *question,
    const cellar_collect_keys *keys, cellar_shuffler **out, cellar_error *err) CELLAR_NONNULL(3);
CELLAR_API void cellar_shuffler_close(cellar_shuffler *shuffler); /* NULL is fine */
/* The length of one submission. */
CELLAR_API size_t cellar_shuffler_size_bytes(const cellar_shuffler *shuffler) CELLAR_NONNULL(1);
/* Submissions held, and how many must have come before anything is forwarded. */
CELLAR_API uint64_t cellar_shuffler_n_held(const cellar_shuffler *shuffler) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_shuffler_n_announced(const cellar_shuffler *shuffler) CELLAR_NONNULL(1);
/* Submissions that a crash left unfinished at the end of the spool, and that were cut from it when
 * it was opened. None of them had been acknowledged: their senders send again. */
CELLAR_API uint64_t cellar_shuffler_n_cut(const cellar_shuffler *shuffler) CELLAR_NONNULL(1);
/* Takes a submission: all of its messages or none. *is_new is 0 when it was here already. It may be
 * acknowledged only after cellar_shuffler_sync(). A forged, cut or foreign one is refused with
 * CELLAR_ERR_INPUT or CELLAR_ERR_RULE, and the shuffler goes on. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_shuffler_take(cellar_shuffler *shuffler,
                                                               const void *submission,
                                                               size_t length, int *is_new,
                                                               cellar_error *err) CELLAR_NONNULL(1);
/* Takes all submissions that wait in the folder `inbox`, syncs, and removes their files. What is
 * forged, cut or foreign is counted in the report and gone as well; files with other names than
 * submissions have are left alone and counted. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_shuffler_take_folder(cellar_shuffler *shuffler,
                                                                      const char *inbox,
                                                                      cellar_collect_report *report,
                                                                      cellar_error *err);
/* The length of a submission of round one (`decision` NULL) or two: the same for everybody. 0 when
 * the decision releases nothing, so that there is no round two. */
CELLAR_API size_t cellar_collect_submission_bytes(const cellar_invitation *invitation,
                                                  const cellar_decision *decision)
    CELLAR_NONNULL(1);
/* Leaves a submission that came from elsewhere in FOLDER/inbox-1 or FOLDER/inbox-2, where a
 * shuffler finds it, and answers when it is on disk. Needs no key: only what everybody can see of a
 * submission is checked, so the shuffler may refuse it later. The same bytes twice are one file.
 * CELLAR_ERR_RULE when the round is over, or it is of another one. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_inbox_put(
    const char *folder, const cellar_invitation *invitation, const cellar_decision *decision,
    const void *submission, size_t length, cellar_error *err) CELLAR_NONNULL(1, 2, 4);
/* Start from cellar_collect_limits_default(). */
typedef struct cellar_collect_limits {
    uint32_t timeout_ms;    /* for a greeting, and for each frame; then the sender is cut off. A
                               connection lasts six times as long, and a tenth longer for each
                               frame [10000 when 0] */
    size_t max_connections; /* at once [256 when 0]; fewer when the process may open fewer files */
    size_t max_per_address; /* of them from one network, a /24 of IPv4 or a /56 of IPv6; does not
                               apply to Unix sockets [a quarter when 0] */
} cellar_collect_limits;

/* The values in brackets. */
CELLAR_API cellar_collect_limits cellar_collect_limits_default(void);

/* Listens at "HOST:PORT" or "unix:PATH" and takes submissions until the announced number is there.
 * A sender gets its answer when its submission is on disk. Memory is bounded for every connection.
 * When all places are taken, a new connection takes the place of one that has completed nothing for
 * a tenth of the timeout, or of one from the network with the most connections; otherwise it is
 * answered that the server is busy. `limits` may be NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_shuffler_serve(cellar_shuffler *shuffler,
                                                                const char *address,
                                                                const cellar_collect_limits *limits,
                                                                cellar_error *err)
    CELLAR_NONNULL(1);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_shuffler_sync(cellar_shuffler *shuffler,
                                                               cellar_error *err) CELLAR_NONNULL(1);
/* Permutes all messages uniformly and writes the batch, once; then the spool, which could show what
 * belongs together, is removed. CELLAR_ERR_RULE before the announced number has come, and for a
 * generator that is not secure. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_shuffler_forward(cellar_shuffler *shuffler,
                                                                  cellar_rng *rng,
                                                                  cellar_error *err)
    CELLAR_NONNULL(1);

/* ---- desks: what goes between the roles over sockets ------------------------ */

/* Hands out the papers of a folder (invitation, decision, questions, tally) to everybody who asks,
 * as they appear there, and takes batches that the shuffler of the invitation delivers: a curator
 * those of round one and of answers, an analyst that of round two, for which it needs the decision.
 * Ends when the file `until` is in the folder; NULL: never. A batch that is there is never
 * replaced. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_desk_serve(
    const char *folder, const cellar_invitation *invitation, const cellar_decision *decision,
    const cellar_collect_keys *keys, const char *address, const char *until,
    const cellar_collect_limits *limits, cellar_error *err) CELLAR_NONNULL(4);

/* Where a desk is, and whose it must be. */
typedef struct cellar_collect_desk {
    cellar_collect_identity identity;
    cellar_collect_role role;
    const char *address;
    uint32_t timeout_ms; /* [10000 when 0] */
} cellar_collect_desk;

/* Fetches a paper ("invitation", "decision", "question-pairs", "question-triples", "tally") into a
 * new file; *found is 0, and there is no file, when it has not been published. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_fetch(const cellar_collect_desk *at,
                                                               const char *paper, const char *path,
                                                               int *found, cellar_error *err);
/* Delivers the batch in the file `path` ("round-1.batch", "round-2.batch", "round-pairs.batch",
 * "round-triples.batch" is its name there), and answers when it is on disk there. After a failure
 * deliver it again. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_collect_deliver(const cellar_collect_desk *at, const cellar_collect_keys *shuffler,
                       const char *name, const char *path, cellar_error *err);

/* ---- the analyst ----------------------------------------------------------- */

/* Opens the batch of round two and counts the released columns. A column with redactions has one
 * category more, "(redacted)". */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_collect_table_read(const char *batch_path, const cellar_invitation *invitation,
                          const cellar_decision *decision, const cellar_collect_keys *analyst,
                          cellar_table **out, cellar_collect_report *report, cellar_error *err);
/* Opens the same batch and writes every payload to a file of its own in the new folder `folder`,
 * named by its number in the batch, whose order is that of a secret permutation; last the file
 * rows.csv, with the released columns and the name of the payload's file, empty when a row has
 * none. A folder without rows.csv is not complete. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_collect_payloads_write(const char *batch_path, const cellar_invitation *invitation,
                              const cellar_decision *decision, const cellar_collect_keys *analyst,
                              const char *folder, cellar_collect_report *report, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
