/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/files/manifest.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <sodium.h>

#include <cellar/output.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

enum { DIGITS = 2 * CELLAR_SIGNATURE_BYTES };

static const char PURPOSE[] = "cellar manifest";
static const char HEADER[] = "cellar signature 2\nkey ";
static const char ACCEPTS[] = "\naccepts ";
static const char MIDDLE[] = "\ned25519 ";

/* A manifest that is there was made for these files, and is not overwritten. */
static cellar_status manifest_ensure(const char *folder, cellar_error *err)
{
    struct stat facts;
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_FILE);
    int is_there = path != NULL && lstat(path, &facts) == 0;
    cellar_status status = CELLAR_OK;
    if (path == NULL)
        status = cellar_fail_memory(err, "a manifest");
    else if (!is_there)
        status = cellar_manifest_write(folder, NULL, err);
    cellar_free(path);
    return status;
}

/* ---- what the signer accepts ------------------------------------------------------ */

enum { WORDS = 64 }; /* the length of all of them */

/* "no-protection unaccounted", or "nothing". */
static const char *accepted_words(unsigned accepted, char out[WORDS])
{
    int length = 0;
    snprintf(out, WORDS, "nothing");
    for (unsigned one = 1; one <= accepted; one *= 2)
        if ((accepted & one) != 0)
            length += snprintf(out + length, WORDS - (size_t) length, "%s%s", length > 0 ? " " : "",
                               cellar_acceptance_name((cellar_acceptance) one));
    return out;
}

/* The set whose words these are; 0 when there is none. */
static int accepted_find(const char *words, size_t length, unsigned *out)
{
    char text[WORDS];
    for (*out = 0; *out < 2 * CELLAR_ACCEPT_UNACCOUNTED; ++*out)
        if (strlen(accepted_words(*out, text)) == length && memcmp(text, words, length) == 0)
            return 1;
    return 0;
}

/* What is signed: the lines of the manifest, and what is accepted. */
static cellar_status message_make(const char *lines, unsigned accepted, const char *files,
                                  cellar_text *out, cellar_error *err)
{
    char words[WORDS];
    cellar_text_printf(out, "%saccepts %s\n%s", lines, accepted_words(accepted, words), files);
    return out->failed ? cellar_fail_memory(err, "a signature") : CELLAR_OK;
}

/* The lines of the files that are accepted by name; each of them has to be there. */
static cellar_status files_accept(const char *folder, const char *lines,
                                  const cellar_manifest_accepted *accept, cellar_text *out,
                                  cellar_error *err)
{
    cellar_text_add_string(out, "");
    for (size_t i = 0; accept != NULL && i < accept->n_files; i++) {
        if (!cellar_manifest_lists(lines, accept->files[i]))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: there is no file '%s' in it that could be accepted", folder,
                               accept->files[i]);
        cellar_manifest_name(out, accept->files[i]);
    }
    return out->failed ? cellar_fail_memory(err, "a signature") : CELLAR_OK;
}

/* One sentence for the first thing that is not accepted. */
static cellar_status accepted_check(const char *folder, const cellar_manifest_findings *findings,
                                    unsigned accepted, cellar_error *err)
{
    const unsigned missing = cellar_manifest_needs(findings) & ~accepted;
    if ((missing & CELLAR_ACCEPT_NO_PROTECTION) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: files in it say that their values have no protection; to sign "
                           "them, accept no-protection",
                           folder);
    if ((missing & CELLAR_ACCEPT_LARGE_EPSILON) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: files in it say that their epsilon is above %d; to sign them, "
                           "accept large-epsilon",
                           folder, CELLAR_LARGEST_EPSILON);
    if ((missing & CELLAR_ACCEPT_UNACCOUNTED) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: files in it say 'unaccounted, not for publication': no ledger was "
                           "charged for them; to sign them, accept unaccounted",
                           folder);
    return CELLAR_OK;
}

/* ---- signing ------------------------------------------------------------------------ */

cellar_status cellar_manifest_sign(const char *folder, const cellar_key *key,
                                   const cellar_manifest_accepted *accept,
                                   cellar_manifest_findings *out, cellar_error *err)
{
    const unsigned what = accept != NULL ? accept->what : 0;
    const cellar_output_options options = {.replace = 1, .shared = 1};
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_SIGNATURE), *lines = NULL;
    unsigned char signature[CELLAR_SIGNATURE_BYTES];
    char digits[DIGITS + 1];
    cellar_manifest_findings found = {0};
    cellar_text message = {0}, allowed = {0}, used = {0};
    char words[WORDS];
    size_t length;
    cellar_output *output;
    cellar_status status = CELLAR_OK;

    if (path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a signature"));
    CELLAR_TRY(manifest_ensure(folder, err));
    CELLAR_TRY(cellar_manifest_read(folder, 1, &lines, &length, &found.n_files, err));
    if (found.n_files == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE, "%s: there is no file to sign", folder));
    CELLAR_TRY(files_accept(folder, lines, accept, &allowed, err));
    cellar_text_add_string(&used, "");
    CELLAR_TRY(cellar_manifest_inspect(folder, lines, allowed.bytes, &used, &found, err));
    if (used.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a signature"));
    CELLAR_TRY(accepted_check(folder, &found, what, err));
    found.accepted = what & cellar_manifest_needs(&found); /* what is not there is not accepted */
    CELLAR_TRY(message_make(lines, found.accepted, used.bytes, &message, err));
    CELLAR_TRY(cellar_key_sign(key, PURPOSE, message.bytes, message.length, signature, err));
    CELLAR_TRY(cellar_output_open(path, &options, &output, err));
    sodium_bin2hex(digits, sizeof digits, signature, sizeof signature);
    cellar_output_printf(output, "%s%s%s%s\n%s%s%s\n", HEADER, cellar_key_id(key), ACCEPTS,
                         accepted_words(found.accepted, words), used.bytes, MIDDLE + 1, digits);
    status = cellar_output_commit(output, err);
    if (out != NULL)
        *out = found;
out:
    cellar_text_clear(&allowed);
    cellar_text_clear(&used);
    cellar_text_clear(&message);
    cellar_free(lines);
    cellar_free(path);
    return status;
}

/* ---- verifying ----------------------------------------------------------------------- */

typedef struct signed_by {
    char id[17];
    unsigned accepted;
    char *files; /* the lines of the files that are accepted by name */
    unsigned char signature[CELLAR_SIGNATURE_BYTES];
} signed_by;

/* 1 when the text is lines "file NAME" up to `end`. */
static int files_are_sound(const char *text, const char *end)
{
    while (text < end && strncmp(text, "file ", 5) == 0 && text[5] != '\n')
        text = strchr(text, '\n') + 1;
    return text == end;
}

/* 1 when the text is a signature file's, to the byte. Cuts it: out->files lies in it. */
static int signature_parse(char *text, size_t length, signed_by *out)
{
    const size_t id_at = sizeof HEADER - 1, accepts_at = id_at + 16;
    const size_t words_at = accepts_at + sizeof ACCEPTS - 1;
    char *middle = strstr(text, MIDDLE), *files;
    size_t n = 0;
    if (middle == NULL || strlen(middle) != sizeof MIDDLE - 1 + DIGITS + 1 ||
        text[length - 1] != '\n' || strlen(text) != length || strncmp(text, HEADER, id_at) != 0 ||
        strspn(text + id_at, "0123456789abcdef") != 16 ||
        strncmp(text + accepts_at, ACCEPTS, sizeof ACCEPTS - 1) != 0 || middle < text + words_at)
        return 0;
    files = strchr(text + words_at, '\n') + 1; /* the middle has one */
    if (!accepted_find(text + words_at, (size_t) (files - text) - words_at - 1, &out->accepted) ||
        !files_are_sound(files, middle + 1) ||
        sodium_hex2bin(out->signature, CELLAR_SIGNATURE_BYTES, middle + sizeof MIDDLE - 1, DIGITS,
                       NULL, &n, NULL) != 0)
        return 0;
    memcpy(out->id, text + id_at, 16);
    out->id[16] = '\0';
    middle[1] = '\0';
    out->files = files;
    return n == CELLAR_SIGNATURE_BYTES;
}

/* *text holds what `out` points to, and is freed by the caller. */
static cellar_status signature_read(const char *path, const cellar_public_key *key, char **text,
                                    signed_by *out, cellar_error *err)
{
    size_t length;
    cellar_status status = cellar_file_read_plain(path, CELLAR_MANIFEST_LIMIT, text, &length, err);
    if (status == CELLAR_OK && !signature_parse(*text, length, out))
        status =
            cellar_fail(err, CELLAR_ERR_INPUT,
                        "%s: is no signature, or a damaged one (cellar sign writes one)", path);
    if (status == CELLAR_OK && strcmp(out->id, key->id) != 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: was made with key %s, not with key %s that is asked for", path,
                             out->id, key->id);
    return status;
}

cellar_status cellar_manifest_verify(const char *folder, const cellar_public_key *key,
                                     cellar_manifest_findings *out, cellar_error *err)
{
    char *path = cellar_manifest_path(folder, CELLAR_MANIFEST_SIGNATURE), *lines = NULL;
    char *text = NULL;
    cellar_manifest_findings found = {0};
    cellar_text message = {0}, used = {0};
    signed_by who;
    size_t length;
    cellar_status status = CELLAR_OK;

    if (path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a signature"));
    CELLAR_TRY(signature_read(path, key, &text, &who, err));
    CELLAR_TRY(cellar_manifest_read(folder, 0, &lines, &length, &found.n_files, err));
    CELLAR_TRY(message_make(lines, who.accepted, who.files, &message, err));
    if (!cellar_public_key_verifies(key, PURPOSE, message.bytes, message.length, who.signature))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the signature is not that of the manifest by key %s", path,
                               key->id));
    found.accepted = who.accepted;
    CELLAR_TRY(cellar_manifest_inspect(folder, lines, who.files, &used, &found, err));
    CELLAR_TRY(accepted_check(folder, &found, who.accepted, err));
    if (out != NULL)
        *out = found;
out:
    cellar_text_clear(&used);
    cellar_free(text);
    cellar_text_clear(&message);
    cellar_free(lines);
    cellar_free(path);
    return status;
}
