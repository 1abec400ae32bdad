/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The papers of a collection: identities, invitations, questions, tallies, decisions, and the
 * policy that a participant checks them against. <cellar/collect.h> has the roles that use them. */
#ifndef CELLAR_COLLECT_PAPERS_H
#define CELLAR_COLLECT_PAPERS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/codelist.h>
#include <cellar/export.h>
#include <cellar/key.h>
#include <cellar/status.h>

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
    uint64_t n_people;    /* nothing is forwarded before this many have sent */
    uint64_t k;           /* required, from 1: groups of fewer than k people are small */
    const char *exposure; /* required: the share of people allowed in small groups, a decimal as
                             typed */
    uint64_t population;  /* 0: the same people answer in both rounds; otherwise the number of other
                             people, of the same population, who answer round two (section 7) */
    const char *epsilon;  /* of randomised response, for each value of round one: a decimal as
                             typed, above 0 to 16; NULL: values are sent as they are */
    int is_open;          /* the tally is published, so that everybody can check the decision: the
                             mode without a central curator, which needs an epsilon */
    const char *hide;     /* a decimal above 0 to 1: rare values may be redacted in round two, and
                             other values at random, so that at most this share of a column's
                             redactions are rare values (1: only rare ones). NULL: no redactions */
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
 * substitution, from randomised response alone. Infinite when values are sent as they are. */
typedef struct cellar_collect_certificate {
    double epsilon_value;  /* of one value */
    double epsilon_record; /* of all columns of a participant together */
} cellar_collect_certificate;

CELLAR_API cellar_collect_certificate cellar_collect_certify(const cellar_invitation *invitation);
/* The epsilon of a record at `delta` against anybody who sees the reports without their senders,
 * when the announced number of people follow the protocol and the shuffler keeps what it knows to
 * itself: a proven bound, never above that of the certificate. May take seconds. */
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
/* 1 when a word of `never` means the column: blanks around a name and its case make no
 * difference. */
CELLAR_API int cellar_collect_is_same_column(const char *never, const char *column);
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

#ifdef __cplusplus
}
#endif

#endif
