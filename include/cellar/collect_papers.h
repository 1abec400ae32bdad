/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The papers that begin a collection: identities and invitations. <cellar/collect_decision.h> has
 * those that follow, <cellar/collect.h> the roles that use them. */
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
    CELLAR_COLLECT_ID_BYTES = 32,
    CELLAR_COLLECT_PAYLOAD_MAX = 1 << 20
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
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_keys_create(const cellar_key *key,
                                                                     cellar_collect_role role,
                                                                     cellar_collect_keys **out,
                                                                     cellar_error *err);
CELLAR_API void cellar_collect_keys_free(cellar_collect_keys *keys); /* wipes; NULL is fine */
CELLAR_API const cellar_collect_identity *
cellar_collect_keys_identity(const cellar_collect_keys *keys) CELLAR_NONNULL(1);

/* An identity as a small text file that may be published; the role is part of it, and a file of
 * another role is refused. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_collect_identity_write(const cellar_collect_identity *identity, cellar_collect_role role,
                              const char *path, cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_identity_read(const char *path,
                                                                       cellar_collect_role role,
                                                                       cellar_collect_identity *out,
                                                                       cellar_error *err);

/* ---- what a decision may rest on ------------------------------------------- */

typedef enum cellar_collect_model_kind {
    CELLAR_COLLECT_NO_MODEL,     /* on bounds that hold in the worst case */
    CELLAR_COLLECT_INDEPENDENCE, /* columns are independent */
    CELLAR_COLLECT_SAMPLE,       /* they hang together as in a file of records */
    CELLAR_COLLECT_CUBE          /* as in a cube */
} cellar_collect_model_kind;

/* "none", "independence", "sample", "cube". */
CELLAR_API const char *cellar_collect_model_kind_name(cellar_collect_model_kind kind);

/* A sample or a cube: how often combinations of values occur among other people. */
typedef struct cellar_collect_model cellar_collect_model;

struct cellar_collect_column;
/* Opens one for these columns. CELLAR_ERR_IO when `path` is no plain file, CELLAR_ERR_INPUT when it
 * lacks a column, has other values than the code lists or missing ones, or holds nobody. On failure
 * *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_collect_model_open(
    cellar_collect_model_kind kind, const char *path, const struct cellar_collect_column *columns,
    size_t n_columns, cellar_collect_model **out, cellar_error *err);
CELLAR_API void cellar_collect_model_free(cellar_collect_model *model); /* NULL is fine */
CELLAR_API cellar_collect_model_kind cellar_collect_model_kind_of(const cellar_collect_model *model)
    CELLAR_NONNULL(1);
/* A hash of the file: BLAKE2b, 256 bits. */
CELLAR_API const unsigned char *cellar_collect_model_id(const cellar_collect_model *model)
    CELLAR_NONNULL(1);
/* Records of a sample; of a cube its estimate of the total. */
CELLAR_API uint64_t cellar_collect_model_n_people(const cellar_collect_model *model)
    CELLAR_NONNULL(1);

/* ---- the invitation: what is asked of whom, signed by the curator ---------- */

typedef struct cellar_invitation cellar_invitation;

/* A column and its values: the leaves of a code list, declared before anything is collected. */
typedef struct cellar_collect_column {
    const char *name;
    const cellar_codelist *codes;
} cellar_collect_column;

/* Start from cellar_invitation_spec_default(). */
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
    const char *tolerance; /* a decimal from 0 to below 1: the decision rests on a model but for
                              this share of people, about whom nothing is assumed; in the fixed
                              setting without epsilon, hide or order. NULL: on no model, but on
                              bounds that hold in the worst case */
    const cellar_collect_model *model; /* with a tolerance: a sample or a cube; NULL: that columns
                                          are independent */
    uint64_t payload;  /* an attachment of at most so many bytes, to CELLAR_COLLECT_PAYLOAD_MAX,
                          goes with each row of round two, sealed for the analyst; every message is
                          padded to this length. 0: none */
    const char *delta; /* with a population, an epsilon, hide or a model of a file: the decision may
                          be wrong with this probability, above 0 and below 1 */
    const cellar_collect_column *columns;
    size_t n_columns; /* at most 64 */
    cellar_collect_identity shuffler, analyst;
} cellar_invitation_spec;

/* Nothing is decided: k, exposure and columns are required. */
CELLAR_API cellar_invitation_spec cellar_invitation_spec_default(void);

/* Makes the invitation and signs it with the curator's keys. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_invitation_create(const cellar_invitation_spec *spec, const cellar_collect_keys *curator,
                         cellar_invitation **out, cellar_error *err);
/* Reads one; the signature must be that of the curator the invitation names. Whom that is has to be
 * checked against what is known: cellar_invitation_curator(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_invitation_read(const char *path,
                                                                 cellar_invitation **out,
                                                                 cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_invitation_parse(const char *name,
                                                                  const char *bytes, size_t length,
                                                                  cellar_invitation **out,
                                                                  cellar_error *err);
CELLAR_API void cellar_invitation_free(cellar_invitation *invitation); /* NULL is fine */

/* The invitation as it is written and signed. */
CELLAR_API const char *cellar_invitation_text(const cellar_invitation *invitation, size_t *length);
/* A hash of all of it: the name of the collection in every message. */
CELLAR_API const unsigned char *cellar_invitation_session(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_invitation_title(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_invitation_n_people(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_invitation_k(const cellar_invitation *invitation) CELLAR_NONNULL(1);
CELLAR_API double cellar_invitation_exposure(const cellar_invitation *invitation) CELLAR_NONNULL(1);
/* 0 when the same people answer twice. */
CELLAR_API uint64_t cellar_invitation_population(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
CELLAR_API unsigned cellar_invitation_order(const cellar_invitation *invitation) CELLAR_NONNULL(1);
/* The probability with which the bound of the decision may be wrong; 0: it is certain. */
CELLAR_API double cellar_invitation_delta(const cellar_invitation *invitation) CELLAR_NONNULL(1);
/* The tolerance of the model that the decision rests on; NAN: it rests on no model. */
CELLAR_API double cellar_invitation_tolerance(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
CELLAR_API cellar_collect_model_kind cellar_invitation_model(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
/* Of a sample or a cube: the hash of its file, and how many people it is about. */
CELLAR_API const unsigned char *cellar_invitation_model_id(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_invitation_model_people(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
/* The most bytes of an attachment; 0: rows have none. */
CELLAR_API uint64_t cellar_invitation_payload_bytes(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
/* 1 when the curator will publish the tally. */
CELLAR_API int cellar_invitation_is_open(const cellar_invitation *invitation) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_invitation_n_columns(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_invitation_column(const cellar_invitation *invitation, size_t column)
    CELLAR_NONNULL(1);
CELLAR_API const cellar_codelist *cellar_invitation_codes(const cellar_invitation *invitation,
                                                          size_t column) CELLAR_NONNULL(1);
CELLAR_API const cellar_collect_identity *
cellar_invitation_identity(const cellar_invitation *invitation, cellar_collect_role role)
    CELLAR_NONNULL(1);

/* What round one gives away of somebody, whatever else is known: local differential privacy under
 * substitution, from randomised response alone. Infinite when values are sent as they are. */
typedef struct cellar_collect_certificate {
    double epsilon_value;  /* of one value */
    double epsilon_record; /* of all columns of a participant together */
} cellar_collect_certificate;

/* The certificate of round one. */
CELLAR_API cellar_collect_certificate cellar_collect_certify(const cellar_invitation *invitation)
    CELLAR_NONNULL(1);
/* The epsilon of a record at `delta` against anybody who sees the reports without their senders,
 * when the announced number of people follow the protocol and the shuffler keeps what it knows to
 * itself: a proven bound, never above that of the certificate. May take seconds. */
CELLAR_API double cellar_collect_certify_shuffled(const cellar_invitation *invitation, double delta)
    CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
