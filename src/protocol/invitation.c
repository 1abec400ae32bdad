/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/invitation.h"

#include <math.h>
#include <string.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/lines.h"
#include "protocol/model.h"
#include "protocol/redaction.h"

static const char HEADER[] = "cellar collect invitation 2";

enum { NONCE_BYTES = 32 };

/* The lines that hold the keys of each role. */
static const char *const key_lines[][3] = {{NULL, NULL, NULL},
                                           {"curator-key", "curator-box", "curator-sign"},
                                           {"shuffler-key", "shuffler-box", "shuffler-sign"},
                                           {"analyst-key", "analyst-box", "analyst-sign"}};

/* ---- writing --------------------------------------------------------------- */

static cellar_status column_add(const cellar_collect_column *column, cellar_text *text,
                                cellar_error *err)
{
    lines_add(text, "column", column->name);
    lines_add_number(text, "codes", cellar_codelist_n_leaves(column->codes));
    for (size_t i = 0; i < cellar_codelist_n_codes(column->codes); i++) {
        const char *code = cellar_codelist_code(column->codes, i);
        if (!cellar_codelist_is_leaf(column->codes, i))
            continue;
        if (!lines_value_valid(code, strlen(code)))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "column '%.200s': code number %zu is no line of 1 to %d bytes",
                               column->name, i + 1, LINES_VALUE_MAX);
        lines_add(text, "code", code);
    }
    return CELLAR_OK;
}

static cellar_status invitation_write(const cellar_invitation_spec *spec,
                                      const cellar_collect_keys *curator, cellar_text *text,
                                      cellar_error *err)
{
    const cellar_collect_identity *identities[] = {NULL, &curator->identity, &spec->shuffler,
                                                   &spec->analyst};
    unsigned char nonce[NONCE_BYTES];
    cellar_status status = CELLAR_OK;

    randombytes_buf(nonce, sizeof nonce);
    cellar_text_printf(text, "%s\n", HEADER);
    lines_add(text, "title", spec->title != NULL ? spec->title : "");
    lines_add_hex(text, "nonce", nonce, sizeof nonce);
    CELLAR_TRY(terms_add(spec, text, err));
    for (int role = CELLAR_COLLECT_CURATOR; role <= CELLAR_COLLECT_ANALYST; role++) {
        const cellar_collect_identity *identity = identities[role];
        lines_add_hex(text, key_lines[role][0], identity->key, sizeof identity->key);
        lines_add_hex(text, key_lines[role][1], identity->box, sizeof identity->box);
        lines_add_hex(text, key_lines[role][2], identity->sign, sizeof identity->sign);
    }
    lines_add_number(text, "columns", spec->n_columns);
    for (size_t c = 0; c < spec->n_columns; c++)
        CELLAR_TRY(column_add(&spec->columns[c], text, err));
    lines_sign(text, curator);
    if (text->failed)
        status = cellar_fail_memory(err, "an invitation");
out:
    return status;
}

/* What is written is read again: there is one place that says what an invitation must be. */
cellar_invitation_spec cellar_invitation_spec_default(void)
{
    return (cellar_invitation_spec){0};
}

cellar_status cellar_invitation_create(const cellar_invitation_spec *spec,
                                       const cellar_collect_keys *curator, cellar_invitation **out,
                                       cellar_error *err)
{
    cellar_text text = {0};
    cellar_invitation *invitation = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(invitation_write(spec, curator, &text, err));
    CELLAR_TRY(
        cellar_invitation_parse("the invitation", text.bytes, text.length, &invitation, err));
    if (spec->model != NULL)
        CELLAR_TRY(model_check_delta(spec->model, cellar_invitation_delta(invitation), err));
    *out = invitation;
    invitation = NULL;
out:
    cellar_invitation_free(invitation);
    cellar_text_clear(&text);
    return status;
}

/* ---- reading --------------------------------------------------------------- */

static char *text_copy(const char *value, size_t length)
{
    char *copy = cellar_alloc(length + 1, 1);
    if (copy != NULL)
        memcpy(copy, value, length);
    return copy;
}

static cellar_status take_copy(cellar_lines *lines, const char *name, char **out, cellar_error *err)
{
    const char *value;
    size_t length;
    cellar_status status = lines_take(lines, name, &value, &length, err);
    if (status != CELLAR_OK)
        return status;
    *out = text_copy(value, length);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "an invitation");
}

static cellar_status take_code(cellar_lines *lines, cellar_codelist *codes, cellar_error *err)
{
    char code[LINES_VALUE_MAX + 1];
    const char *value;
    size_t length;
    cellar_status status = lines_take(lines, "code", &value, &length, err);
    if (status != CELLAR_OK)
        return status;
    memcpy(code, value, length);
    code[length] = '\0';
    return cellar_codelist_add(codes, code, NULL, NULL, CELLAR_CODE_PLAIN, err);
}

static cellar_status take_column(cellar_lines *lines, cellar_invitation *invitation, size_t column,
                                 cellar_error *err)
{
    uint64_t n_codes;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(take_copy(lines, "column", &invitation->names[column], err));
    for (size_t c = 0; c < column; c++)
        if (strcmp(invitation->names[c], invitation->names[column]) == 0)
            CELLAR_TRY(lines_fail(lines, "columns of different names", err));
    CELLAR_TRY(lines_take_number(lines, "codes", &n_codes, err));
    if (n_codes == 0 || n_codes > UINT32_MAX)
        CELLAR_TRY(lines_fail(lines, "a column with at least one code", err));
    CELLAR_TRY(cellar_codelist_create(&invitation->codes[column], err));
    for (uint64_t i = 0; i < n_codes; i++)
        CELLAR_TRY(take_code(lines, invitation->codes[column], err));
    CELLAR_TRY(cellar_codelist_finish(invitation->codes[column], err));
    if (invitation->terms.hide > 0 && cellar_codelist_find(invitation->codes[column], REDACTED_CODE,
                                                           strlen(REDACTED_CODE)) != CELLAR_NO_CODE)
        CELLAR_TRY(lines_fail(lines, "no code '" REDACTED_CODE "' where values are redacted", err));
out:
    return status;
}

static cellar_status take_columns(cellar_lines *lines, cellar_invitation *invitation,
                                  cellar_error *err)
{
    uint64_t n;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_take_number(lines, "columns", &n, err));
    if (n == 0 || n > CELLAR_MAX_VARIABLES)
        CELLAR_TRY(lines_fail(lines, "1 to 64 columns", err));
    invitation->names = cellar_alloc((size_t) n, sizeof *invitation->names);
    invitation->codes = cellar_alloc((size_t) n, sizeof *invitation->codes);
    if (invitation->names == NULL || invitation->codes == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an invitation"));
    invitation->n_columns = (size_t) n;
    for (size_t c = 0; c < n; c++)
        CELLAR_TRY(take_column(lines, invitation, c, err));
out:
    return status;
}

/* Whoever has two roles can put together what the protocol keeps apart. Nobody is kept from holding
 * two key files; one file for two roles is at least not an oversight that stays unseen. */
static cellar_status identities_check(const char *name, const cellar_collect_identity *identities,
                                      cellar_error *err)
{
    for (int a = CELLAR_COLLECT_CURATOR; a <= CELLAR_COLLECT_ANALYST; a++)
        for (int b = CELLAR_COLLECT_CURATOR; b < a; b++)
            if (memcmp(identities[a].key, identities[b].key, sizeof identities[a].key) == 0)
                return cellar_fail(err, CELLAR_ERR_RULE,
                                   "%s: the %s and the %s use one key file; every role needs its "
                                   "own, held by somebody else",
                                   name, keys_role_word((cellar_collect_role) b),
                                   keys_role_word((cellar_collect_role) a));
    return CELLAR_OK;
}

static cellar_status take_all(cellar_lines *lines, cellar_invitation *invitation, cellar_error *err)
{
    unsigned char nonce[NONCE_BYTES];
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(take_copy(lines, "title", &invitation->title, err));
    CELLAR_TRY(lines_take_hex(lines, "nonce", nonce, sizeof nonce, err));
    CELLAR_TRY(terms_take(lines, &invitation->terms, err));
    for (int role = CELLAR_COLLECT_CURATOR; role <= CELLAR_COLLECT_ANALYST; role++) {
        cellar_collect_identity *identity = &invitation->identities[role];
        CELLAR_TRY(lines_take_hex(lines, key_lines[role][0], identity->key, 8, err));
        CELLAR_TRY(lines_take_hex(lines, key_lines[role][1], identity->box, 32, err));
        CELLAR_TRY(lines_take_hex(lines, key_lines[role][2], identity->sign, 32, err));
    }
    CELLAR_TRY(identities_check(lines->name, invitation->identities, err));
    CELLAR_TRY(take_columns(lines, invitation, err));
    CELLAR_TRY(lines_end(lines, err));
out:
    return status;
}

static cellar_status invitation_fill(cellar_invitation *invitation, const char *name,
                                     const char *bytes, size_t length, cellar_error *err)
{
    cellar_lines lines;
    const unsigned char *signer = invitation->identities[CELLAR_COLLECT_CURATOR].sign;
    size_t signed_length = length > LINES_SIGNATURE_LENGTH ? length - LINES_SIGNATURE_LENGTH : 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(lines_begin(&lines, name, bytes, signed_length, HEADER, err));
    CELLAR_TRY(take_all(&lines, invitation, err));
    CELLAR_TRY(lines_verify(name, bytes, length, signer, &signed_length, err));
    CELLAR_TRY(lines_keep(bytes, length, &invitation->text, invitation->session, err));
out:
    return status;
}

cellar_status cellar_invitation_parse(const char *name, const char *bytes, size_t length,
                                      cellar_invitation **out, cellar_error *err)
{
    cellar_invitation *invitation = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium cannot start");
    invitation = cellar_alloc(1, sizeof *invitation);
    if (invitation == NULL)
        return cellar_fail_memory(err, "an invitation");
    CELLAR_TRY(invitation_fill(invitation, name, bytes, length, err));
    *out = invitation;
    invitation = NULL;
out:
    cellar_invitation_free(invitation);
    return status;
}

cellar_status cellar_invitation_read(const char *path, cellar_invitation **out, cellar_error *err)
{
    char *bytes = NULL;
    size_t length;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(cellar_file_read_plain(path, LINES_FILE_MAX, &bytes, &length, err));
    CELLAR_TRY(cellar_invitation_parse(path, bytes, length, out, err));
out:
    cellar_free(bytes);
    return status;
}

void cellar_invitation_free(cellar_invitation *invitation)
{
    if (invitation == NULL)
        return;
    for (size_t c = 0; c < invitation->n_columns; c++) {
        cellar_free(invitation->names[c]);
        cellar_codelist_free(invitation->codes[c]);
    }
    cellar_free(invitation->names);
    cellar_free(invitation->codes);
    cellar_free(invitation->title);
    cellar_text_clear(&invitation->text);
    cellar_free(invitation);
}

/* ---- queries --------------------------------------------------------------- */

const char *cellar_invitation_text(const cellar_invitation *invitation, size_t *length)
{
    if (length != NULL)
        *length = invitation->text.length;
    return invitation->text.bytes;
}

const unsigned char *cellar_invitation_session(const cellar_invitation *invitation)
{
    return invitation->session;
}

const char *cellar_invitation_title(const cellar_invitation *invitation)
{
    return invitation->title;
}

uint64_t cellar_invitation_n_people(const cellar_invitation *invitation)
{
    return invitation->terms.n_people;
}

uint64_t cellar_invitation_k(const cellar_invitation *invitation)
{
    return invitation->terms.k;
}

double cellar_invitation_exposure(const cellar_invitation *invitation)
{
    return (double) invitation->terms.exposure / 1e18;
}

uint64_t cellar_invitation_population(const cellar_invitation *invitation)
{
    return invitation->terms.population;
}

unsigned cellar_invitation_order(const cellar_invitation *invitation)
{
    return (unsigned) invitation->terms.order;
}

double cellar_invitation_delta(const cellar_invitation *invitation)
{
    return (double) invitation->terms.delta / 1e18;
}

double cellar_invitation_tolerance(const cellar_invitation *invitation)
{
    const model_terms *model = &invitation->terms.model;
    return model->kind != CELLAR_COLLECT_NO_MODEL ? (double) model->tolerance / 1e18 : (double) NAN;
}

cellar_collect_model_kind cellar_invitation_model(const cellar_invitation *invitation)
{
    return invitation->terms.model.kind;
}

const unsigned char *cellar_invitation_model_id(const cellar_invitation *invitation)
{
    return invitation->terms.model.file;
}

uint64_t cellar_invitation_model_people(const cellar_invitation *invitation)
{
    return invitation->terms.model.n_people;
}

uint64_t cellar_invitation_payload_bytes(const cellar_invitation *invitation)
{
    return invitation->terms.payload;
}

int cellar_invitation_is_open(const cellar_invitation *invitation)
{
    return invitation->terms.is_open;
}

size_t cellar_invitation_n_columns(const cellar_invitation *invitation)
{
    return invitation->n_columns;
}

const char *cellar_invitation_column(const cellar_invitation *invitation, size_t column)
{
    return invitation->names[column];
}

const cellar_codelist *cellar_invitation_codes(const cellar_invitation *invitation, size_t column)
{
    return invitation->codes[column];
}

const cellar_collect_identity *cellar_invitation_identity(const cellar_invitation *invitation,
                                                          cellar_collect_role role)
{
    return &invitation->identities[role];
}
