/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages to a vault from a hostile front: each has a reply that is JSON with a state, none breaks
 * it, and a table whose reply says that it is there stays. An '@' in a message stands for a token
 * that may draw; the budget is that of three tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <cellar/access.h>
#include <cellar/ledger.h>

#include "base/error.h"
#include "serve/vault.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/cellar-fuzz-vault-XXXXXX";
static char token[CELLAR_TOKEN_TEXT];

static const char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "w");
    CELLAR_ASSERT(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_ledger(void)
{
    cellar_ledger_dataset dataset = cellar_ledger_dataset_default();
    cellar_key *key;
    char path[200];
    CELLAR_ASSERT(cellar_key_create(path_of("ledger.key"), NULL, NULL) == CELLAR_OK);
    CELLAR_ASSERT(cellar_key_read(path_of("ledger.key"), &key, NULL) == CELLAR_OK);
    dataset.name = "census";
    dataset.edition = "1";
    dataset.unit = "person";
    dataset.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE;
    CELLAR_ASSERT(cellar_amounts_parse_cap(NULL, NULL, "0.375", &dataset.cap, NULL) == CELLAR_OK);
    snprintf(path, sizeof path, "%s", path_of("ledger"));
    CELLAR_ASSERT(cellar_ledger_create_with(path, key, &dataset, NULL, NULL) == CELLAR_OK);
    cellar_key_free(key);
}

static void clean_up(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    (void) !system(command);
}

static uint64_t no_time(void *context)
{
    (void) context;
    return 0;
}

static void no_sleep(void *context, uint64_t ms)
{
    (void) context;
    (void) ms;
}

static cellar_vault *make_vault(void)
{
    cellar_token_spec spec = cellar_token_spec_default();
    cellar_error err = {""};
    cellar_vault *vault;
    CELLAR_ASSERT(mkdtemp(folder) != NULL && mkdir(path_of("public"), 0755) == 0);
    atexit(clean_up);
    write_file("people.csv", "sex,age\nF,0\nM,1\nF,1\n");
    write_file("sex.csv", "code\nF\nM\n");
    write_file("age.csv", "code,parent\nall,\n0,all\n1,all\n");
    write_file("site.yaml",
               "serve: 1\nsite: {title: T, tokens: tokens}\ndatasets:\n"
               "  - id: census\n    kind: budget\n    title: T\n    population: p\n"
               "    folder: public\n    ledger: {file: ledger, dataset: census}\n"
               "    records:\n      data: {file: people.csv, edition: '1'}\n"
               "      unit: {name: person}\n      variables:\n"
               "        - {name: sex, codelist: sex.csv}\n"
               "        - {name: age, codelist: age.csv, hierarchy: true}\n"
               "    budget:\n      cap: {rho: 0.375}\n      neighbours: add-remove\n      "
               "negatives: keep\n"
               "      parameter_choice: advance\n"
               "      classes: [{variables: 2, mechanism: 'discrete-gaussian:sigma=2'}]\n");
    make_ledger();
    spec.name = "fuzz";
    spec.roles = "analyst";
    CELLAR_ASSERT(cellar_token_create(path_of("tokens"), &spec, token, &err) == CELLAR_OK);
    if (cellar_vault_open(path_of("site.yaml"), NULL, &vault, &err) != CELLAR_OK) {
        fprintf(stderr, "%s\n", err.message);
        abort();
    }
    vault->clock = (vault_clock){.now_ms = no_time, .sleep_ms = no_sleep};
    return vault;
}

/* The message with every '@' exchanged for the token. */
static char *with_token(const uint8_t *data, size_t size, size_t *length)
{
    char *message = malloc(size * CELLAR_TOKEN_TEXT + 1);
    *length = 0;
    CELLAR_ASSERT(message != NULL);
    for (size_t i = 0; i < size; i++)
        if (data[i] == '@') {
            memcpy(message + *length, token, sizeof token - 1);
            *length += sizeof token - 1;
        } else
            message[(*length)++] = (char) data[i];
    return message;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cellar_vault *vault;
    size_t length, reply_length;
    char *message, *reply;
    cellar_error err;
    json_t *root;
    if (vault == NULL)
        vault = make_vault();
    message = with_token(data, size, &length);
    CELLAR_ASSERT(cellar_vault_answer(vault, message, length, &reply, &reply_length, &err) ==
                  CELLAR_OK);
    CELLAR_ASSERT(reply_length <= CELLAR_VAULT_MESSAGE_BYTES);
    root = json_loadb(reply, reply_length, 0, NULL);
    CELLAR_ASSERT(json_is_string(json_object_get(root, "state")));
    CELLAR_ASSERT(strcmp(json_string_value(json_object_get(root, "state")), "failed") != 0);
    json_decref(root);
    free(reply);
    free(message);
    return 0;
}
