/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the curator of a collection counts, asks and decides, and the policy that a participant
 * checks decisions against. */
#ifndef CELLAR_COLLECT_DECISION_H
#define CELLAR_COLLECT_DECISION_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/collect_papers.h>
#include <cellar/export.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

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
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_margins_read(
    const char *batch_path, const cellar_invitation *invitation, const cellar_collect_keys *curator,
    cellar_collect_margins **out, cellar_collect_report *report, cellar_error *err);
CELLAR_API void cellar_collect_margins_free(cellar_collect_margins *margins); /* NULL is fine */
CELLAR_API uint64_t cellar_collect_margins_n_people(const cellar_collect_margins *margins)
    CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_collect_margins_count(const cellar_collect_margins *margins,
                                                 size_t column, size_t level) CELLAR_NONNULL(1);
/* The share of a value. When values were randomised, the counts are of reports, and this is an
 * unbiased estimate that may lie outside of [0,1]. */
CELLAR_API double cellar_collect_margins_share(const cellar_collect_margins *margins,
                                               const cellar_invitation *invitation, size_t column,
                                               size_t level) CELLAR_NONNULL(1, 2);

/* The tally of an open collection: every message as it was counted, signed, for everybody. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_tally_write(
    const cellar_collect_margins *margins, const cellar_invitation *invitation,
    const cellar_collect_keys *curator, const char *path, cellar_error *err) CELLAR_NONNULL(1);
/* Counts it again. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_collect_tally_read(const char *path, const cellar_invitation *invitation,
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
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_question_create(const cellar_collect_margins *margins, const cellar_collect_joints *pairs,
                       const cellar_invitation *invitation, const cellar_collect_keys *curator,
                       cellar_question **out, cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_question_read(const char *path,
                                                               const cellar_invitation *invitation,
                                                               cellar_question **out,
                                                               cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_question_parse(const char *name, const char *bytes,
                                                                size_t length,
                                                                const cellar_invitation *invitation,
                                                                cellar_question **out,
                                                                cellar_error *err);
CELLAR_API void cellar_question_free(cellar_question *question); /* NULL is fine */
CELLAR_API const char *cellar_question_text(const cellar_question *question, size_t *length);
CELLAR_API size_t cellar_question_order(const cellar_question *question)
    CELLAR_NONNULL(1); /* 2: pairs, 3: triples */
CELLAR_API size_t cellar_question_n_asked(const cellar_question *question)
    CELLAR_NONNULL(1); /* sets of columns */

/* Opens the batch of answers and counts. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_joints_read(
    const char *batch_path, const cellar_invitation *invitation, const cellar_question *question,
    const cellar_collect_keys *curator, cellar_collect_joints **out, cellar_collect_report *report,
    cellar_error *err);
CELLAR_API void cellar_collect_joints_free(cellar_collect_joints *joints); /* NULL is fine */

/* Chooses the most columns whose exposure is bounded by what the invitation allows, by Theorems 2
 * and 3 from the margins alone, and signs the choice. With a population it is the statistical
 * exposure of so many other people that is bounded, but for the probability delta. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_decision_create(
    const cellar_collect_margins *margins, const cellar_invitation *invitation,
    const cellar_collect_keys *curator, cellar_decision **out, cellar_error *err);
/* The same with what was answered to questions: `n` of them. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_decision_create_known(
    const cellar_collect_margins *margins, const cellar_collect_joints *const *joints, size_t n,
    const cellar_invitation *invitation, const cellar_collect_keys *curator, cellar_decision **out,
    cellar_error *err);
/* By the sample or the cube that the invitation names, which must be this one (CELLAR_ERR_RULE).
 * CELLAR_ERR_RULE as well when the margins contradict it: too many people have values that nobody
 * of the model has. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_decision_create_modelled(
    const cellar_collect_margins *margins, const cellar_collect_model *model,
    const cellar_invitation *invitation, const cellar_collect_keys *curator, cellar_decision **out,
    cellar_error *err) CELLAR_NONNULL(1, 2, 3, 4);
/* Reads one: it must be signed by the curator of the invitation and be about it. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_decision_read(const char *path,
                                                               const cellar_invitation *invitation,
                                                               cellar_decision **out,
                                                               cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_decision_parse(const char *name, const char *bytes,
                                                                size_t length,
                                                                const cellar_invitation *invitation,
                                                                cellar_decision **out,
                                                                cellar_error *err);
/* Decides again from the tally of an open collection: CELLAR_ERR_RULE when the curator's decision
 * is another. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_decision_check(const cellar_decision *decision, const cellar_invitation *invitation,
                      const cellar_collect_margins *margins, cellar_error *err);
CELLAR_API void cellar_decision_free(cellar_decision *decision); /* NULL is fine */

/* The decision as it is written and signed. */
CELLAR_API const char *cellar_decision_text(const cellar_decision *decision, size_t *length);
/* A hash of all of it. */
CELLAR_API const unsigned char *cellar_decision_id(const cellar_decision *decision)
    CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_decision_n_people(const cellar_decision *decision) CELLAR_NONNULL(1);
/* 2 or 3; 1 when the exposure was counted and not bounded; 0: no column, or the bound rests on a
 * model and on no theorem. */
CELLAR_API int cellar_decision_theorem(const cellar_decision *decision) CELLAR_NONNULL(1);
/* The bound on the exposure of the columns together, rounded up. */
CELLAR_API double cellar_decision_bound(const cellar_decision *decision) CELLAR_NONNULL(1);
/* Of a decision that rests on a model: what the theorems bound whatever the model is worth. */
CELLAR_API double cellar_decision_worst(const cellar_decision *decision) CELLAR_NONNULL(1);
/* The check after round two, of a decision that rests on a model: CELLAR_ERR_RULE when more people
 * of the table are in small groups than the invitation allows. Other decisions need none. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_decision_check_table(const cellar_decision *decision, const cellar_invitation *invitation,
                            const cellar_table *table, cellar_error *err) CELLAR_NONNULL(1, 2);
/* The columns, as positions in the invitation, ascending; there may be none. */
CELLAR_API size_t cellar_decision_n_columns(const cellar_decision *decision) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_decision_column(const cellar_decision *decision, size_t position)
    CELLAR_NONNULL(1);
/* Whoever has this value redacts it (1), and everybody else redacts the column by this chance. */
CELLAR_API int cellar_decision_redacts(const cellar_decision *decision, size_t position,
                                       size_t level) CELLAR_NONNULL(1);
CELLAR_API double cellar_decision_cover(const cellar_decision *decision, size_t position)
    CELLAR_NONNULL(1);

/* What a participant asks of a collection before it sends anything. It binds every message: those
 * of round one and answers to questions by what the invitation promises, rows of round two by what
 * the decision states. */
typedef struct cellar_collect_policy {
    uint64_t least_k;      /* required in round two, from 1; 0: no demand */
    double most_exposure;  /* required in round two; NAN: no demand */
    double most_epsilon;   /* of its answer to round one; INFINITY: no demand */
    uint64_t least_people; /* 0: no demand */
    double most_tolerance; /* of the model that a decision rests on, required in round two if there
                              is one; NAN: no demand in round one */
    unsigned models;       /* of which kinds it may be, with most_tolerance: 1 << kind, added up; 0:
                              independence, which anybody can judge who knows the columns */
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
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_policy_check_invitation(
    const cellar_collect_policy *policy, const cellar_invitation *invitation, cellar_error *err)
    CELLAR_NONNULL(2);
/* CELLAR_ERR_RULE, and why, when the decision is not good enough. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_policy_check(
    const cellar_collect_policy *policy, const cellar_invitation *invitation,
    const cellar_decision *decision, cellar_error *err) CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
