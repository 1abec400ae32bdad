/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of releases, signed and verified. */
#include "routines.h"

#include <cellar/manifest.h>

/* What the files of a folder say about themselves, and the public name of the key. */
static SEXP findings_of(const cellar_manifest_findings *found, const char *key_id)
{
    static const char *const names[] = {"files",       "releases",     "recomputed", "estimates",
                                        "unaccounted", "unrecognised", "key",        NULL};
    const size_t counts[] = {found->n_files,     found->n_releases,    found->n_recomputed,
                             found->n_estimates, found->n_unaccounted, found->n_unrecognised};
    const R_xlen_t n = sizeof counts / sizeof *counts;
    SEXP list = PROTECT(glue_list(names));
    for (R_xlen_t i = 0; i < n; i++)
        SET_VECTOR_ELT(list, i, glue_number((double) counts[i]));
    SET_VECTOR_ELT(list, n, glue_string(key_id));
    UNPROTECT(1);
    return list;
}

/* `given`: accept, words that R has checked, and files, paths inside the folder. */
SEXP cellar_r_sign(SEXP folder, SEXP key_handle, SEXP given)
{
    const cellar_key *key = glue_get(key_handle, GLUE_KEY);
    const char *path = glue_utf8(folder);
    cellar_manifest_accepted accept = {0};
    cellar_manifest_findings found = {0};
    cellar_error err;
    cellar_status status;
    accept.what = glue_accepted(given);
    accept.files = glue_texts(given, "files", &accept.n_files);
    status = cellar_manifest_sign(path, key, &accept, &found, &err);
    return status == CELLAR_OK ? findings_of(&found, cellar_key_id(key)) : glue_fail(status, &err);
}

SEXP cellar_r_verify_folder(SEXP folder, SEXP public_path)
{
    const char *path = glue_utf8(folder), *key_path = glue_utf8(public_path);
    cellar_public_key key;
    cellar_manifest_findings found = {0};
    cellar_error err;
    cellar_status status = cellar_public_key_read(key_path, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_manifest_verify(path, &key, &found, &err);
    return status == CELLAR_OK ? findings_of(&found, key.id) : glue_fail(status, &err);
}

SEXP cellar_r_write_public_key(SEXP key_handle, SEXP path, SEXP replace)
{
    const cellar_public_key key = cellar_key_public(glue_get(key_handle, GLUE_KEY));
    const char *name = glue_utf8(path);
    cellar_output_options how = cellar_output_options_default();
    cellar_error err;
    cellar_status status;
    how.replace = Rf_asLogical(replace) == TRUE;
    status = cellar_public_key_write(&key, name, &how, &err);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}
