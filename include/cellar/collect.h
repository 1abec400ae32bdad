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

enum { CELLAR_COLLECT_KEY_BYTES = 32, CELLAR_COLLECT_ID_BYTES = 32 };

/* The public half of a role: what is encrypted for it, and what its signatures are checked with. */
typedef struct cellar_collect_identity {
    unsigned char box[CELLAR_COLLECT_KEY_BYTES];  /* X25519 */
    unsigned char sign[CELLAR_COLLECT_KEY_BYTES]; /* Ed25519 */
} cellar_collect_identity;

/* The secret half, in locked memory. One key file gives different keys to different roles. */
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
CELLAR_API size_t cellar_invitation_n_columns(const cellar_invitation *invitation);
CELLAR_API const char *cellar_invitation_column(const cellar_invitation *invitation, size_t column);
CELLAR_API const cellar_codelist *cellar_invitation_codes(const cellar_invitation *invitation,
                                                          size_t column);
CELLAR_API const cellar_collect_identity *
cellar_invitation_identity(const cellar_invitation *invitation, cellar_collect_role role);

#ifdef __cplusplus
}
#endif

#endif
