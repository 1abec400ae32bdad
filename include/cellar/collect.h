/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collecting without a trusted curator, in two rounds. In round one each value of each record goes
 * its own way through a shuffler that cannot read it to a curator that cannot tell whose it is: the
 * curator learns how often each value of each column occurs. From that it decides which columns are
 * safe together, and in round two an analyst receives exactly those. docs/protocol.md tells what
 * each role could learn, alone and with others, and what is not hidden. */
#ifndef CELLAR_COLLECT_H
#define CELLAR_COLLECT_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/codelist.h>
#include <cellar/export.h>
#include <cellar/key.h>
#include <cellar/random.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- who takes part -------------------------------------------------------- */

typedef enum cellar_collect_role {
    CELLAR_COLLECT_CURATOR = 1,
    CELLAR_COLLECT_SHUFFLER = 2,
    CELLAR_COLLECT_ANALYST = 3
} cellar_collect_role;

enum {
    CELLAR_COLLECT_KEY_BYTES = 32,
    CELLAR_COLLECT_KEY_ID_BYTES = 8,
    CELLAR_COLLECT_ID_BYTES = 32
};

/* The public half of a role: what is encrypted for it, and what its signatures are checked with. */
typedef struct cellar_collect_identity {
    unsigned char key[CELLAR_COLLECT_KEY_ID_BYTES]; /* the id of the key file: cellar_key_id() */
    unsigned char box[CELLAR_COLLECT_KEY_BYTES];    /* X25519 */
    unsigned char sign[CELLAR_COLLECT_KEY_BYTES];   /* Ed25519 */
} cellar_collect_identity;

/* The secret half, in locked memory. One key file gives different keys to different roles; in one
 * collection every role, and every participant, needs a key file of its own, or CELLAR_ERR_RULE. */
typedef struct cellar_collect_keys cellar_collect_keys;

/* On failure *out is NULL; so in all functions below. */
CELLAR_API cellar_status cellar_collect_keys_create(const cellar_key *key, cellar_collect_role role,
                                                    cellar_collect_keys **out, cellar_error *err);
CELLAR_API void cellar_collect_keys_free(cellar_collect_keys *keys); /* wipes; NULL is fine */
CELLAR_API const cellar_collect_identity *
cellar_collect_keys_identity(const cellar_collect_keys *keys);

/* An identity as a small text file that may be published; the role is part of it, and a file of
 * another role is refused. */
CELLAR_API cellar_status cellar_collect_identity_write(const cellar_collect_identity *identity,
                                                       cellar_collect_role role, const char *path,
                                                       cellar_error *err);
CELLAR_API cellar_status cellar_collect_identity_read(const char *path, cellar_collect_role role,
                                                      cellar_collect_identity *out,
                                                      cellar_error *err);

/* ---- the invitation: what is asked of whom, signed by the curator ---------- */

typedef struct cellar_invitation cellar_invitation;

/* A column and its values: the leaves of a code list, declared before anything is collected. */
typedef struct cellar_collect_column {
    const char *name;
    const cellar_codelist *codes;
} cellar_collect_column;

typedef struct cellar_invitation_spec {
    const char *title;    /* one line */
    uint64_t n_people;    /* nothing is forwarded before so many have sent */
    uint64_t k;           /* required, from 1: groups of fewer are small */
    const char *exposure; /* the share of people allowed in small groups, a decimal as typed:
                             required */
    uint64_t population; /* 0: the same people answer in both rounds; else other people, so many, of
                            the same population (section 7) */
    const char *epsilon; /* of randomised response, for each value of round one: a decimal as
                            typed, above 0 to 16; NULL: values are told as they are */
    int is_open;         /* the tally is published, so that everybody can check the decision: the
                            mode without a central curator, which needs an epsilon */
    const char *hide;    /* a decimal above 0 to 1: rare values may be redacted in round two, and so
                            many others of their columns by chance that at most this share of the
                            redactions is no chance (1: no others). NULL: nothing is redacted */
    const char *redacted; /* with hide: at most this share of a column's entries, on average */
    unsigned order;       /* 2 or 3: the curator may ask for pairs, and triples, of values that at
                             least `common` people have, in the fixed setting without epsilon or
                             hide; 0: for single columns only */
    uint64_t common;      /* with an order: at least k */
    const char *delta; /* with a population, an epsilon or hide: the decision may be wrong with this
                       probability */
    const cellar_collect_column *columns;
    size_t n_columns; /* at most 64 */
    cellar_collect_identity shuffler, analyst;
} cellar_invitation_spec;

CELLAR_API cellar_status cellar_invitation_create(const cellar_invitation_spec *spec,
                                                  const cellar_collect_keys *curator,
                                                  cellar_invitation **out, cellar_error *err);
/* Reads one; the signature must be that of the curator the invitation names. Whom that is has to be
 * checked against what is known: cellar_invitation_curator(). */
CELLAR_API cellar_status cellar_invitation_read(const char *path, cellar_invitation **out,
                                                cellar_error *err);
CELLAR_API cellar_status cellar_invitation_parse(const char *name, const char *bytes, size_t length,
                                                 cellar_invitation **out, cellar_error *err);
CELLAR_API void cellar_invitation_free(cellar_invitation *invitation); /* NULL is fine */

/* The invitation as it is written and signed. */
CELLAR_API const char *cellar_invitation_text(const cellar_invitation *invitation, size_t *length);
/* A hash of all of it: the name of the collection in every message. */
CELLAR_API const unsigned char *cellar_invitation_session(const cellar_invitation *invitation);
CELLAR_API const char *cellar_invitation_title(const cellar_invitation *invitation);
CELLAR_API uint64_t cellar_invitation_n_people(const cellar_invitation *invitation);
CELLAR_API uint64_t cellar_invitation_k(const cellar_invitation *invitation);
CELLAR_API double cellar_invitation_exposure(const cellar_invitation *invitation);
/* 0 when the same people answer twice. */
CELLAR_API uint64_t cellar_invitation_population(const cellar_invitation *invitation);
CELLAR_API unsigned cellar_invitation_order(const cellar_invitation *invitation);
/* 1 when the curator will publish the tally. */
CELLAR_API int cellar_invitation_is_open(const cellar_invitation *invitation);
CELLAR_API size_t cellar_invitation_n_columns(const cellar_invitation *invitation);
CELLAR_API const char *cellar_invitation_column(const cellar_invitation *invitation, size_t column);
CELLAR_API const cellar_codelist *cellar_invitation_codes(const cellar_invitation *invitation,
                                                          size_t column);
CELLAR_API const cellar_collect_identity *
cellar_invitation_identity(const cellar_invitation *invitation, cellar_collect_role role);

/* What round one gives away of somebody, whatever else is known: local differential privacy under
 * substitution, from randomised response alone. Infinite when values are told as they are. */
typedef struct cellar_collect_certificate {
    double epsilon_value;  /* of one value */
    double epsilon_record; /* of all columns of a participant together */
} cellar_collect_certificate;

CELLAR_API cellar_collect_certificate cellar_collect_certify(const cellar_invitation *invitation);
/* The epsilon of a record at `delta` for whoever sees the reports without their senders, when the
 * announced number of people follow the protocol and the shuffler tells nobody: a proven bound,
 * never above that of the certificate. May take seconds. */
CELLAR_API double cellar_collect_certify_shuffled(const cellar_invitation *invitation,
                                                  double delta);

/* ---- the decision: which columns go to the analyst, signed by the curator --- */

/* What became of the messages of a batch, or of the submissions in an inbox. */
typedef struct cellar_collect_report {
    uint64_t n_messages;   /* that came */
    uint64_t n_counted;    /* the rest */
    uint64_t n_duplicates; /* sent more than once, counted once */
    uint64_t n_refused;    /* not readable, of another round, or without sense */
    uint64_t n_ignored;    /* files of an inbox that have no name of a submission, and stay there */
    struct {
        char why[160];
        uint64_t n;
    } reasons[8]; /* of the refused, in the order they came up; the last takes the rest */
    size_t n_reasons;
} cellar_collect_report;

/* How often each value of each column occurs: confidential. */
typedef struct cellar_collect_margins cellar_collect_margins;

/* Opens the batch of round one and counts. Fails with CELLAR_ERR_RULE when the batch is not the
 * shuffler's, holds fewer people than announced, or its columns have different totals. */
CELLAR_API cellar_status cellar_collect_margins_read(
    const char *batch_path, const cellar_invitation *invitation, const cellar_collect_keys *curator,
    cellar_collect_margins **out, cellar_collect_report *report, cellar_error *err);
CELLAR_API void cellar_collect_margins_free(cellar_collect_margins *margins); /* NULL is fine */
CELLAR_API uint64_t cellar_collect_margins_n_people(const cellar_collect_margins *margins);
CELLAR_API uint64_t cellar_collect_margins_count(const cellar_collect_margins *margins,
                                                 size_t column, size_t level);
/* The share of a value. When values were randomised, the counts are of reports, and this is an
 * unbiased estimate that may lie outside of [0,1]. */
CELLAR_API double cellar_collect_margins_share(const cellar_collect_margins *margins,
                                               const cellar_invitation *invitation, size_t column,
                                               size_t level);

/* The tally of an open collection: every message as it was counted, signed, for everybody. */
CELLAR_API cellar_status cellar_collect_tally_write(const cellar_collect_margins *margins,
                                                    const cellar_invitation *invitation,
                                                    const cellar_collect_keys *curator,
                                                    const char *path, cellar_error *err);
/* Counts it again. */
CELLAR_API cellar_status cellar_collect_tally_read(const char *path,
                                                   const cellar_invitation *invitation,
                                                   cellar_collect_margins **out, cellar_error *err);

typedef struct cellar_decision cellar_decision;

/* A question of the curator between the rounds, signed: which pairs, or triples, of columns it
 * wants to know more about, and which values are common enough for that. */
typedef struct cellar_question cellar_question;
/* What was answered: confidential. */
typedef struct cellar_collect_joints cellar_collect_joints;

/* Asks for pairs (`pairs` NULL), or for triples after them: sets of columns whose parts are all
 * safe, and of them only values whose parts at least `common` people have. CELLAR_ERR_RULE when
 * nothing is left to ask. */
CELLAR_API cellar_status cellar_question_create(const cellar_collect_margins *margins,
                                                const cellar_collect_joints *pairs,
                                                const cellar_invitation *invitation,
                                                const cellar_collect_keys *curator,
                                                cellar_question **out, cellar_error *err);
CELLAR_API cellar_status cellar_question_read(const char *path, const cellar_invitation *invitation,
                                              cellar_question **out, cellar_error *err);
CELLAR_API cellar_status cellar_question_parse(const char *name, const char *bytes, size_t length,
                                               const cellar_invitation *invitation,
                                               cellar_question **out, cellar_error *err);
CELLAR_API void cellar_question_free(cellar_question *question); /* NULL is fine */
CELLAR_API const char *cellar_question_text(const cellar_question *question, size_t *length);
CELLAR_API size_t cellar_question_order(const cellar_question *question); /* 2: pairs, 3: triples */
CELLAR_API size_t cellar_question_n_asked(const cellar_question *question); /* sets of columns */

/* Opens the batch of answers and counts. */
CELLAR_API cellar_status cellar_collect_joints_read(
    const char *batch_path, const cellar_invitation *invitation, const cellar_question *question,
    const cellar_collect_keys *curator, cellar_collect_joints **out, cellar_collect_report *report,
    cellar_error *err);
CELLAR_API void cellar_collect_joints_free(cellar_collect_joints *joints); /* NULL is fine */

/* Chooses the most columns whose exposure is bounded by what the invitation allows, by Theorems 2
 * and 3 from the margins alone, and signs the choice. With a population it is the statistical
 * exposure of so many other people that is bounded, but for the probability delta. */
CELLAR_API cellar_status cellar_decision_create(const cellar_collect_margins *margins,
                                                const cellar_invitation *invitation,
                                                const cellar_collect_keys *curator,
                                                cellar_decision **out, cellar_error *err);
/* The same with what was answered to questions: `n` of them. */
CELLAR_API cellar_status cellar_decision_create_known(const cellar_collect_margins *margins,
                                                      const cellar_collect_joints *const *joints,
                                                      size_t n, const cellar_invitation *invitation,
                                                      const cellar_collect_keys *curator,
                                                      cellar_decision **out, cellar_error *err);
/* Reads one: it must be signed by the curator of the invitation and be about it. */
CELLAR_API cellar_status cellar_decision_read(const char *path, const cellar_invitation *invitation,
                                              cellar_decision **out, cellar_error *err);
CELLAR_API cellar_status cellar_decision_parse(const char *name, const char *bytes, size_t length,
                                               const cellar_invitation *invitation,
                                               cellar_decision **out, cellar_error *err);
/* Decides again from the tally of an open collection: CELLAR_ERR_RULE when the curator's decision
 * is another. */
CELLAR_API cellar_status cellar_decision_check(const cellar_decision *decision,
                                               const cellar_invitation *invitation,
                                               const cellar_collect_margins *margins,
                                               cellar_error *err);
CELLAR_API void cellar_decision_free(cellar_decision *decision); /* NULL is fine */

CELLAR_API const char *cellar_decision_text(const cellar_decision *decision, size_t *length);
/* A hash of all of it. */
CELLAR_API const unsigned char *cellar_decision_id(const cellar_decision *decision);
CELLAR_API uint64_t cellar_decision_n_people(const cellar_decision *decision);
/* 2 or 3; 1 when the exposure was counted and not bounded; 0: no column. */
CELLAR_API int cellar_decision_theorem(const cellar_decision *decision);
/* The bound on the exposure of the columns together, rounded up. */
CELLAR_API double cellar_decision_bound(const cellar_decision *decision);
/* The columns, as positions in the invitation, ascending; there may be none. */
CELLAR_API size_t cellar_decision_n_columns(const cellar_decision *decision);
CELLAR_API size_t cellar_decision_column(const cellar_decision *decision, size_t position);
/* Whoever has this value redacts it (1), and everybody else redacts the column by this chance. */
CELLAR_API int cellar_decision_redacts(const cellar_decision *decision, size_t position,
                                       size_t level);
CELLAR_API double cellar_decision_cover(const cellar_decision *decision, size_t position);

/* What a participant asks of a collection before it sends anything. It binds every message: those
 * of round one and answers to questions by what the invitation promises, rows of round two by what
 * the decision states. */
typedef struct cellar_collect_policy {
    uint64_t least_k;         /* required in round two, from 1; 0: no demand */
    double most_exposure;     /* required in round two; NAN: no demand */
    double most_epsilon;      /* of its answer to round one; INFINITY: no demand */
    uint64_t least_people;    /* 0: no demand */
    const char *const *never; /* columns whose values are sent in no form, not even randomised */
    size_t n_never;
    const char *budget; /* the file of the participant's budget, which outlives the participant;
                           NULL: none is kept */
} cellar_collect_policy;

CELLAR_API cellar_collect_policy cellar_collect_policy_default(void); /* no demands */
/* For round one and questions. CELLAR_ERR_RULE, and why, when the invitation promises too little or
 * asks for a column that is never sent: a column cannot be left out, so all of it is declined. */
CELLAR_API cellar_status cellar_collect_policy_check_invitation(const cellar_collect_policy *policy,
                                                                const cellar_invitation *invitation,
                                                                cellar_error *err);
/* CELLAR_ERR_RULE, and why, when the decision is not good enough. */
CELLAR_API cellar_status cellar_collect_policy_check(const cellar_collect_policy *policy,
                                                     const cellar_invitation *invitation,
                                                     const cellar_decision *decision,
                                                     cellar_error *err);

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
CELLAR_API cellar_status cellar_collect_budget_limit(const char *path, const char *limit,
                                                     cellar_error *err);
/* A file that does not exist says that nothing was sent. */
CELLAR_API cellar_status cellar_collect_budget_read(const char *path, cellar_collect_budget *out,
                                                    cellar_error *err);

/* ---- participants ---------------------------------------------------------- */

/* One participant, or a gateway with a file of many. */
typedef struct cellar_participant cellar_participant;

/* Takes part in round one (`decision` NULL) or two, after checking the policy (NULL in round one:
 * no demands). `key` is the participant's own, not that of a role (CELLAR_ERR_RULE): with the same
 * key the same row is counted once, however often it is sent. The invitation and the decision
 * outlive the participant. */
CELLAR_API cellar_status cellar_participant_create(const cellar_invitation *invitation,
                                                   const cellar_decision *decision,
                                                   const cellar_collect_policy *policy,
                                                   const cellar_key *key, cellar_participant **out,
                                                   cellar_error *err);
/* Answers a question, after checking the policy (NULL: no demands). */
CELLAR_API cellar_status cellar_participant_create_asked(const cellar_invitation *invitation,
                                                         const cellar_question *question,
                                                         const cellar_collect_policy *policy,
                                                         const cellar_key *key,
                                                         cellar_participant **out,
                                                         cellar_error *err);
CELLAR_API void cellar_participant_free(cellar_participant *participant); /* wipes; NULL is fine */
/* The length of what is sent: the same for everybody. */
CELLAR_API size_t cellar_participant_size_bytes(const cellar_participant *participant);
/* Functions below that send also charge the policy's budget, on disk, before anything is sent: the
 * same records sent again cost nothing more. CELLAR_ERR_BUDGET when the limit does not allow them.
 * cellar_participant_seal() alone charges nothing. */

/* Seals the record number `row` (0 for a single one): one value for each column of the invitation,
 * of which round two sends only those released. A value that is not of its column's list is
 * CELLAR_ERR_INPUT. `bytes` has room for cellar_participant_size_bytes(). */
CELLAR_API cellar_status cellar_participant_seal(const cellar_participant *participant,
                                                 uint64_t row, const char *const *values,
                                                 void *bytes, cellar_error *err);
/* Looks for the record among the messages of a tally: CELLAR_ERR_RULE when one of its values was
 * not counted as it was sent. The participant is one of round one. */
CELLAR_API cellar_status cellar_participant_find(const cellar_participant *participant,
                                                 uint64_t row, const char *const *values,
                                                 const cellar_collect_margins *tally,
                                                 cellar_error *err);
/* The same for every record of a CSV file that was sent with cellar_participant_send_file(). */
CELLAR_API cellar_status cellar_participant_find_file(const cellar_participant *participant,
                                                      const char *csv_path,
                                                      const cellar_collect_margins *tally,
                                                      uint64_t *n_found, cellar_error *err);
/* Seals every record of a CSV file with a header into one new file in the folder `inbox`, where a
 * shuffler finds it; columns that were not asked for are left alone. The name follows from the key
 * and the round: what waits there already is CELLAR_ERR_EXISTS. A fault in any row means that
 * nothing is sent. */
CELLAR_API cellar_status cellar_participant_send_file(const cellar_participant *participant,
                                                      const char *csv_path, const char *inbox,
                                                      uint64_t *n_sent, cellar_error *err);
/* The same over a connection to the shuffler at "HOST:PORT" or "unix:PATH". It answers when all is
 * acknowledged; after a failure send all of it again: what was taken already is counted once. */
CELLAR_API cellar_status cellar_participant_post_file(const cellar_participant *participant,
                                                      const char *csv_path, const char *address,
                                                      uint32_t timeout_ms, uint64_t *n_sent,
                                                      cellar_error *err);

/* A connection to the shuffler, with keys of its own that are forgotten with it. The shuffler is
 * the one the invitation names, or the connection fails. The participant outlives it. */
typedef struct cellar_collect_link cellar_collect_link;

CELLAR_API cellar_status cellar_collect_link_open(const cellar_participant *participant,
                                                  const char *address, uint32_t timeout_ms,
                                                  cellar_collect_link **out, cellar_error *err);
CELLAR_API void cellar_collect_link_close(cellar_collect_link *link); /* wipes; NULL is fine */
/* Sends n submissions that lie one after the other, and waits until the shuffler has each of them
 * on disk. CELLAR_ERR_RULE, and why, when it refuses one. */
CELLAR_API cellar_status cellar_collect_link_send(cellar_collect_link *link,
                                                  const void *submissions, size_t n,
                                                  cellar_error *err);
/* One record in one call: connects, seals, sends, and answers when it is on the shuffler's disk. */
CELLAR_API cellar_status cellar_participant_post(const cellar_participant *participant,
                                                 uint64_t row, const char *const *values,
                                                 const char *address, uint32_t timeout_ms,
                                                 cellar_error *err);
/* Remembers in the file `path` that this decision was accepted. When the file tells of another
 * decision in the same collection, the curator asks twice: CELLAR_ERR_RULE. */
CELLAR_API cellar_status cellar_participant_remember(const char *path,
                                                     const cellar_invitation *invitation,
                                                     const cellar_decision *decision,
                                                     cellar_error *err);

/* The same for a question. */
CELLAR_API cellar_status cellar_participant_remember_question(const char *path,
                                                              const cellar_invitation *invitation,
                                                              const cellar_question *question,
                                                              cellar_error *err);

/* ---- the shuffler ---------------------------------------------------------- */

typedef struct cellar_shuffler cellar_shuffler;

/* Takes up the work of round one (`decision` NULL) or two in a folder, where it was left: what is
 * there of it lies in FOLDER/round-N.spool, and the batch will be FOLDER/round-N.batch. When there
 * is a batch already the round is over: CELLAR_ERR_RULE. The keys outlive the shuffler. */
CELLAR_API cellar_status cellar_shuffler_open(const char *folder,
                                              const cellar_invitation *invitation,
                                              const cellar_decision *decision,
                                              const cellar_collect_keys *keys,
                                              cellar_shuffler **out, cellar_error *err);
/* The same for the answers to a question, in FOLDER/round-pairs or FOLDER/round-triples. */
CELLAR_API cellar_status cellar_shuffler_open_asked(const char *folder,
                                                    const cellar_invitation *invitation,
                                                    const cellar_question *question,
                                                    const cellar_collect_keys *keys,
                                                    cellar_shuffler **out, cellar_error *err);
CELLAR_API void cellar_shuffler_close(cellar_shuffler *shuffler); /* NULL is fine */
/* The length of one submission. */
CELLAR_API size_t cellar_shuffler_size_bytes(const cellar_shuffler *shuffler);
/* Submissions held, and how many must have come before anything is forwarded. */
CELLAR_API uint64_t cellar_shuffler_n_held(const cellar_shuffler *shuffler);
CELLAR_API uint64_t cellar_shuffler_n_announced(const cellar_shuffler *shuffler);
/* Submissions that a crash left unfinished at the end of the spool, and that were cut from it when
 * it was opened. None of them had been acknowledged: their senders send again. */
CELLAR_API uint64_t cellar_shuffler_n_cut(const cellar_shuffler *shuffler);
/* Takes a submission: all of its messages or none. *is_new is 0 when it was here already. It may be
 * acknowledged only after cellar_shuffler_sync(). A forged, cut or foreign one is refused with
 * CELLAR_ERR_INPUT or CELLAR_ERR_RULE, and the shuffler goes on. */
CELLAR_API cellar_status cellar_shuffler_take(cellar_shuffler *shuffler, const void *submission,
                                              size_t length, int *is_new, cellar_error *err);
/* Takes all submissions that wait in the folder `inbox`, syncs, and removes their files. What is
 * forged, cut or foreign is counted in the report and gone as well; files with other names than
 * submissions have are left alone and counted. */
CELLAR_API cellar_status cellar_shuffler_take_folder(cellar_shuffler *shuffler, const char *inbox,
                                                     cellar_collect_report *report,
                                                     cellar_error *err);
typedef struct cellar_collect_limits {
    uint32_t timeout_ms;    /* for a greeting, and for each frame; then the sender is cut off. A
                               connection lasts six times as long, and a tenth longer for each
                               frame [10000 when 0] */
    size_t max_connections; /* at once [256 when 0]; fewer when the process may open fewer files */
    size_t max_per_address; /* of them from one network, a /24 of IPv4 or a /56 of IPv6; does not
                               apply to Unix sockets [a quarter when 0] */
} cellar_collect_limits;

/* Listens at "HOST:PORT" or "unix:PATH" and takes submissions until the announced number is there.
 * A sender gets its answer when its submission is on disk. Memory is bounded for every connection.
 * When all places are taken, a new connection takes the place of one that has completed nothing for
 * a tenth of the timeout, or of one from the network with the most connections; otherwise it is
 * told that the server is busy. `limits` may be NULL. */
CELLAR_API cellar_status cellar_shuffler_serve(cellar_shuffler *shuffler, const char *address,
                                               const cellar_collect_limits *limits,
                                               cellar_error *err);
CELLAR_API cellar_status cellar_shuffler_sync(cellar_shuffler *shuffler, cellar_error *err);
/* Permutes all messages uniformly and writes the batch, once; then the spool, which could tell what
 * belongs together, is removed. CELLAR_ERR_RULE before the announced number has come, and for a
 * generator that is not secure. */
CELLAR_API cellar_status cellar_shuffler_forward(cellar_shuffler *shuffler, cellar_rng *rng,
                                                 cellar_error *err);

/* ---- desks: what goes between the roles over sockets ------------------------ */

/* Hands out the papers of a folder (invitation, decision, questions, tally) to everybody who asks,
 * as they appear there, and takes batches that the shuffler of the invitation delivers: a curator
 * those of round one and of answers, an analyst that of round two, for which it needs the decision.
 * Ends when the file `until` is in the folder; NULL: never. A batch that is there is never
 * replaced. */
CELLAR_API cellar_status cellar_collect_desk_serve(
    const char *folder, const cellar_invitation *invitation, const cellar_decision *decision,
    const cellar_collect_keys *keys, const char *address, const char *until,
    const cellar_collect_limits *limits, cellar_error *err);

/* Where a desk is, and whose it must be. */
typedef struct cellar_collect_desk {
    cellar_collect_identity identity;
    cellar_collect_role role;
    const char *address;
    uint32_t timeout_ms; /* [10000 when 0] */
} cellar_collect_desk;

/* Fetches a paper ("invitation", "decision", "question-pairs", "question-triples", "tally") into a
 * new file; *found is 0, and there is no file, when it has not been published. */
CELLAR_API cellar_status cellar_collect_fetch(const cellar_collect_desk *at, const char *paper,
                                              const char *path, int *found, cellar_error *err);
/* Delivers the batch in the file `path` ("round-1.batch", "round-2.batch", "round-pairs.batch",
 * "round-triples.batch" is its name there), and answers when it is on disk there. After a failure
 * deliver it again. */
CELLAR_API cellar_status cellar_collect_deliver(const cellar_collect_desk *at,
                                                const cellar_collect_keys *shuffler,
                                                const char *name, const char *path,
                                                cellar_error *err);

/* ---- the analyst ----------------------------------------------------------- */

/* Opens the batch of round two and counts the released columns. A column with redactions has one
 * category more, "(redacted)". */
CELLAR_API cellar_status
cellar_collect_table_read(const char *batch_path, const cellar_invitation *invitation,
                          const cellar_decision *decision, const cellar_collect_keys *analyst,
                          cellar_table **out, cellar_collect_report *report, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
