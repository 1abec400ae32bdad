/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar sign, cellar verify-release: a folder of releases, and who says that it is theirs. */
#include "verbs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/cube.h>
#include <cellar/manifest.h>

#include "json_out.h"
#include "options.h"

typedef struct sign_values {
    const char *key;
    cli_words accept, files;
    int json;
} sign_values;

#define AT(member) offsetof(sign_values, member)
static const cli_option sign_options[] = {
    TEXT("key", "FILE", key, "your key file (cellar key create)"),
    MANY("accept", "WHAT", accept,
         "sign all the same, and have the signature say so: no-protection, large-epsilon or "
         "unaccounted; may be repeated"),
    MANY("accept-file", "PATH", files,
         "sign this file of the folder although Cellar does not recognise it, and have the "
         "signature name it; may be repeated"),
    FLAG("json", json, "print JSON"),
};
static const cli_option verify_options[] = {
    TEXT("key", "FILE", key, "the publisher's public key (cellar key public)"),
    FLAG("json", json, "print JSON"),
};

static const char *const sign_examples[] = {"cellar sign pack --key agency.key", NULL};
static const char *const verify_examples[] = {"cellar verify-release pack --key agency.pub", NULL};

static const cli_command sign_command = {
    "sign",
    "FOLDER --key FILE [options]",
    "Signs a folder of releases (Ed25519). " CELLAR_MANIFEST_FILE
    " lists the digest of every file in it; it is written when there is none, and compared with "
    "the files when there is. " CELLAR_MANIFEST_SIGNATURE
    " is its signature. What is signed is read first. Files that only you may read, that say they "
    "are confidential or that hold true counts are refused, and so are releases whose certificate "
    "claims more than can be computed from their mechanism. Files that are neither releases, "
    "cubes, "
    "fitted tables, certificates, pages and SVG charts for the public nor notes need "
    "--accept-file. "
    "Numbers without protection, with an "
    "epsilon above 10, or that no ledger was charged for need --accept, and the signature names "
    "it.",
    sign_options,
    sizeof sign_options / sizeof sign_options[0],
    sign_examples};
static const cli_command verify_command = {
    "verify-release",
    "FOLDER --key FILE [options]",
    "Checks, without a network, that every file of a signed folder is as it was signed, that "
    "none is missing or was added, and that the owner of the key signed it and answers for what "
    "the files say; that none is confidential; and that no release's certificate claims more than "
    "can be computed from the mechanism it names; of a cube (FILE.cube) that every table is the "
    "estimate from its measurements. sha256sum -c " CELLAR_MANIFEST_FILE " checks the files alone.",
    verify_options,
    sizeof verify_options / sizeof verify_options[0],
    verify_examples};

static cellar_status sign_folder(const char *folder, const sign_values *values,
                                 cellar_public_key *who, cellar_manifest_findings *found,
                                 cellar_error *err)
{
    cellar_key *key = NULL;
    cellar_manifest_accepted accept = {.files = cli_words_items(&values->files),
                                       .n_files = values->files.n};
    cellar_status status = cellar_key_read(values->key, &key, err);
    for (size_t i = 0; i < values->accept.n; i++)
        accept.what |= cellar_acceptance_find(values->accept.items[i]);
    if (status == CELLAR_OK)
        status = cellar_manifest_sign(folder, key, &accept, found, err);
    if (status == CELLAR_OK)
        *who = cellar_key_public(key);
    cellar_key_free(key);
    return status;
}

static char *path_in(const char *folder, const char *name)
{
    const size_t room = strlen(folder) + strlen(name) + 2;
    char *path = cli_alloc(room, 1);
    snprintf(path, room, "%s/%s", folder, name);
    return path;
}

static cellar_status verify_cube(const char *path, cellar_error *err)
{
    cellar_cube *cube = NULL;
    cellar_status status = cellar_cube_open(path, &cube, err);
    if (status == CELLAR_OK)
        status = cellar_cube_verify(cube, path, err);
    cellar_cube_close(cube);
    return status;
}

/* What the cubes of a folder hold is what their measurements give. */
static cellar_status verify_cubes(const char *folder, cellar_error *err)
{
    static const char ending[] = ".cube";
    char *path = path_in(folder, CELLAR_MANIFEST_FILE), *line = NULL;
    size_t room = 0;
    FILE *manifest = fopen(path, "r");
    cellar_status status = manifest != NULL ? CELLAR_OK : CELLAR_ERR_IO;
    if (manifest == NULL)
        snprintf(err->message, sizeof err->message, "%.200s: cannot be read again", path);
    free(path);
    while (status == CELLAR_OK &&
           getline(&line, &room, manifest) > 0) { /* DIGEST, two blanks, PATH */
        const char *name = strstr(line, "  ");
        size_t length;
        line[strcspn(line, "\n")] = '\0';
        length = strlen(line);
        if (name == NULL || length < sizeof ending - 1 ||
            strcmp(line + length - (sizeof ending - 1), ending) != 0)
            continue;
        path = path_in(folder, name + 2);
        status = verify_cube(path, err);
        free(path);
    }
    free(line);
    if (manifest != NULL)
        fclose(manifest);
    return status;
}

static cellar_status verify_folder(const char *folder, const sign_values *values,
                                   cellar_public_key *who, cellar_manifest_findings *found,
                                   cellar_error *err)
{
    cellar_status status = cellar_public_key_read(values->key, who, err);
    if (status == CELLAR_OK)
        status = cellar_manifest_verify(folder, who, found, err);
    if (status == CELLAR_OK)
        status = verify_cubes(folder, err);
    return status;
}

typedef cellar_status sign_action(const char *folder, const sign_values *values,
                                  cellar_public_key *who, cellar_manifest_findings *found,
                                  cellar_error *err);

/* ---- what is said ---------------------------------------------------------------- */

/* One sentence for everything that somebody answers for. */
static void sign_warn(const cellar_manifest_findings *found)
{
    for (int level = CELLAR_LEVEL_GUARANTEE; level <= CELLAR_LEVEL_NO_PROTECTION; level++) {
        const char *stamp = cellar_protection_level_stamp((cellar_protection_level) level);
        size_t n = found->n_at_level[level];
        if (n > 0 && stamp != NULL)
            cli_message("%zu file%s: %s", n, n == 1 ? "" : "s", stamp);
    }
    if (found->n_unaccounted > 0)
        cli_message("%zu file%s: unaccounted, not for publication: no ledger was charged",
                    found->n_unaccounted, found->n_unaccounted == 1 ? "" : "s");
    if (found->n_unrecognised > 0)
        cli_message("%zu file%s of no kind that Cellar recognises: the signer answers for what "
                    "is in %s, and " CELLAR_MANIFEST_SIGNATURE " names %s",
                    found->n_unrecognised, found->n_unrecognised == 1 ? "" : "s",
                    found->n_unrecognised == 1 ? "it" : "them",
                    found->n_unrecognised == 1 ? "it" : "them");
    if (found->n_recomputed < found->n_releases)
        cli_message(
            "certificates that cannot be computed from the mechanism they name: %zu of %zu; "
            "the signer answers for them",
            found->n_releases - found->n_recomputed, found->n_releases);
}

static cellar_status sign_tell(const char *done, const cellar_public_key *who,
                               const cellar_manifest_findings *found, int as_json,
                               cellar_error *err)
{
    cellar_output *output;
    cellar_status status = cellar_output_open("-", NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    if (as_json) {
        cli_json json = {.output = output};
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "result", done);
        cli_json_count(&json, "files", found->n_files);
        cli_json_text(&json, "key", who->id);
        cli_json_count(&json, "releases", found->n_releases);
        cli_json_count(&json, "certificates_recomputed", found->n_recomputed);
        cli_json_count(&json, "certificates_not_recomputable",
                       found->n_releases - found->n_recomputed);
        cli_json_count(&json, "files_unrecognised", found->n_unrecognised);
        cli_json_count(&json, "estimates", found->n_estimates);
        cli_json_begin(&json, "accepted", '[');
        for (unsigned one = 1; one <= found->accepted; one *= 2)
            if ((found->accepted & one) != 0)
                cli_json_text(&json, NULL, cellar_acceptance_name((cellar_acceptance) one));
        cli_json_end(&json, ']');
        cli_json_end(&json, '}');
    } else {
        cellar_output_printf(output, "%s: %zu file%s, key %s\n", done, found->n_files,
                             found->n_files == 1 ? "" : "s", who->id);
    }
    return cellar_output_commit(output, err);
}

static int sign_check(const cli_command *command, const sign_values *values, const cli_words *words)
{
    if (words->n != 1 || values->key == NULL)
        return cli_usage("%s needs one folder, and --key FILE", command->name);
    for (size_t i = 0; i < values->accept.n; i++)
        if (cellar_acceptance_find(values->accept.items[i]) == 0)
            return cli_usage("--accept must be no-protection, large-epsilon or unaccounted, not "
                             "'%s'",
                             values->accept.items[i]);
    return CLI_GO_ON;
}

static int sign_run(const cli_command *command, sign_action *action, const char *done, int argc,
                    char **argv)
{
    sign_values values = {0};
    cli_words words = {0};
    cellar_public_key who;
    cellar_error err;
    cellar_manifest_findings found = {0};
    int result = cli_options_parse(command, argc, argv, &values, &words);
    if (result == CLI_GO_ON)
        result = sign_check(command, &values, &words);
    if (result == CLI_GO_ON) {
        cellar_status status = action(words.items[0], &values, &who, &found, &err);
        if (status == CELLAR_OK) {
            sign_warn(&found);
            status = sign_tell(done, &who, &found, values.json, &err);
        }
        result = cli_exit(status, &err);
    }
    cli_words_clear(&words);
    cli_options_clear(command, &values);
    return result;
}

int cli_sign(int argc, char **argv)
{
    return sign_run(&sign_command, sign_folder, "signed", argc, argv);
}

int cli_verify_release(int argc, char **argv)
{
    return sign_run(&verify_command, verify_folder, "verified", argc, argv);
}
