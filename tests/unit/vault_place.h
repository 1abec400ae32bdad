/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A vault with data sets of both kinds, in a folder that is gone afterwards: 400 people, a ledger,
 * tokens, a matrix, a configuration. */
#ifndef CELLAR_TESTS_VAULT_PLACE_H
#define CELLAR_TESTS_VAULT_PLACE_H

#include <pthread.h>

#include <jansson.h>

#include <cellar/access.h>
#include <cellar/matrix.h>
#include <cellar/vault.h>

#include "ledger_place.h"
#include "serve/vault.h"
#include "splitmix.h"

/* ---- files --------------------------------------------------------------------------------- */

static char vault_token[CELLAR_TOKEN_TEXT], vault_reader[CELLAR_TOKEN_TEXT];

#define VAULT_RECORDS                                                                              \
    "    records:\n"                                                                               \
    "      data: {file: people.csv, edition: '1'}\n"                                               \
    "      unit: {name: person}\n"                                                                 \
    "      variables:\n"                                                                           \
    "        - {name: region, codelist: region.csv, hierarchy: true}\n"                            \
    "        - {name: sex, codelist: sex.csv}\n"                                                   \
    "        - {name: age, codelist: age.csv}\n"                                                   \
    "        - {name: edu, codelist: edu.csv}\n"                                                   \
    "        - {name: job, codelist: job.csv}\n"
#define VAULT_LEDGER "    ledger: {file: ledger, key: key, dataset: census}\n"
#define VAULT_SITE "serve: 1\nsite: {title: Test, tokens: tokens}\ndatasets:\n"
#define VAULT_BUDGET                                                                               \
    "  - id: census\n"                                                                             \
    "    kind: budget\n"                                                                           \
    "    title: People\n"                                                                          \
    "    population: people\n"                                                                     \
    "    folder: public\n"                                                                         \
    "    step_ms: 100\n" VAULT_RECORDS VAULT_LEDGER "    budget:\n"                                \
    "      cap: {rho: 2}\n"                                                                        \
    "      neighbours: add-remove\n"                                                               \
    "      negatives: keep\n"                                                                      \
    "      parameter_choice: advance\n"                                                            \
    "      classes:\n"                                                                             \
    "        - {variables: 1, mechanism: 'discrete-gaussian:sigma=2'}\n"                           \
    "        - {variables: 3, mechanism: 'discrete-gaussian:sigma=4'}\n"                           \
    "        - {variables: 4, cells: 100, mechanism: 'discrete-laplace:epsilon=0.1'}\n"
#define VAULT_KEYED                                                                                \
    "  - id: keyed\n"                                                                              \
    "    kind: cell-key\n"                                                                         \
    "    title: People\n"                                                                          \
    "    population: others\n"                                                                     \
    "    folder: keyed\n"                                                                          \
    "    step_ms: 100\n" VAULT_RECORDS "    ledger: {file: ledger, key: key, dataset: others}\n"   \
    "    cell_key: {matrix: matrix.csv, record_key: rkey, smallest_sd: 0.9}\n"

static const char *const vault_config = VAULT_SITE VAULT_BUDGET VAULT_KEYED;

/* Person i of the sample that `seed` makes. */
static inline void vault_person(uint64_t seed, size_t i, char out[80])
{
    static const char *const regions[] = {"N1", "N2", "N3", "S1", "S2"};
    uint64_t state = seed * 1000003 + i;
    const uint64_t bits = next_random(&state), key = next_random(&state);
    snprintf(out, 80, "%s,%s,%d,%c,%s,0.%09llu\n", regions[bits % 5], bits >> 8 & 1 ? "F" : "M",
             (int) (bits >> 16) % 4 < 0 ? 0 : (int) ((bits >> 16) % 4), "abc"[(bits >> 32) % 3],
             bits >> 40 & 1 ? "yes" : "no", (unsigned long long) (key % 1000000000));
}

static inline void vault_write_people(scratch *place, uint64_t seed, size_t n)
{
    FILE *file = fopen(scratch_path(place, "people.csv"), "w");
    char line[80];
    assert_non_null(file);
    fputs("region,sex,age,edu,job,rkey\n", file);
    for (size_t i = 0; i < n; i++) {
        vault_person(seed, i, line);
        fputs(line, file);
    }
    assert_int_equal(fclose(file), 0);
}

static inline void vault_write_matrix(scratch *place, const char *spec)
{
    const cellar_output_options options = {.replace = 1};
    cellar_mechanism *mechanism;
    cellar_output *output;
    CHECK_OK(cellar_mechanism_create(spec, &mechanism, &err));
    CHECK_OK(cellar_output_open(scratch_path(place, "matrix.csv"), &options, &output, &err));
    CHECK_OK(cellar_matrix_write(cellar_mechanism_matrix(mechanism), CELLAR_MATRIX_PTABLE, 0,
                                 output, &err));
    CHECK_OK(cellar_output_commit(output, &err));
    cellar_mechanism_free(mechanism);
}

static inline void vault_make_ledger(scratch *place, const char *rho, const char *witness)
{
    cellar_key *key = the_key(place);
    cellar_ledger_dataset dataset = dataset_named("census");
    cellar_ledger *ledger;
    char path[400], seen[400];
    dataset.cap = amounts_of(NULL, NULL, rho);
    snprintf(path, sizeof path, "%s", scratch_path(place, "ledger"));
    if (witness != NULL)
        snprintf(seen, sizeof seen, "%s", scratch_path(place, witness));
    CHECK_OK(cellar_ledger_create_with(path, key, &dataset, witness != NULL ? seen : NULL, &err));
    cellar_key_free(key);
    ledger = reopen(place);
    dataset.name = "others";
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    cellar_ledger_close(ledger);
}

static inline void vault_make_tokens(scratch *place)
{
    cellar_token_spec spec = cellar_token_spec_default();
    spec.name = "ana";
    spec.roles = "analyst";
    CHECK_OK(cellar_token_create(scratch_path(place, "tokens"), &spec, vault_token, &err));
    spec.name = "rea";
    spec.roles = "reader";
    CHECK_OK(cellar_token_create(scratch_path(place, "tokens"), &spec, vault_reader, &err));
}

/* The configuration, with the cap of another ledger. */
static inline void vault_write_site(scratch *place, const char *rho)
{
    static const char cap[] = "rho: 2}";
    const char *at = strstr(vault_config, cap);
    char text[8192];
    snprintf(text, sizeof text, "%.*srho: %s}%s", (int) (at - vault_config), vault_config, rho,
             at + sizeof cap - 1);
    scratch_write(place, "site.yaml", text);
}

static inline int vault_place_setup(void **state)
{
    int failed = scratch_setup(state);
    scratch *place = *state;
    scratch_write(place, "region.csv", "code,parent\nN,\nS,\nN1,N\nN2,N\nN3,N\nS1,S\nS2,S\n");
    scratch_write(place, "sex.csv", "code\nF\nM\n");
    scratch_write(place, "age.csv", "code\n0\n1\n2\n3\n");
    scratch_write(place, "edu.csv", "code\na\nb\nc\n");
    scratch_write(place, "job.csv", "code\nyes\nno\n");
    vault_write_people(place, 1, 400);
    vault_write_matrix(place, "max-entropy:variance=2,m=3");
    vault_make_ledger(place, "2", NULL);
    vault_make_tokens(place);
    failed |= mkdir(scratch_path(place, "public"), 0755);
    failed |= mkdir(scratch_path(place, "keyed"), 0755);
    scratch_write(place, "site.yaml", vault_config);
    return failed;
}

static inline void vault_empty(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL)
        return;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(path);
}

static inline int vault_place_teardown(void **state)
{
    vault_empty(scratch_path(*state, "public"));
    vault_empty(scratch_path(*state, "keyed"));
    vault_empty(scratch_path(*state, "backup"));
    return scratch_teardown(state);
}

#define VAULT_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, vault_place_setup, vault_place_teardown)

/* ---- a vault whose time passes only in sleep ------------------------------------------------ */

static inline uint64_t still_now_ms(void *context)
{
    return __atomic_load_n((uint64_t *) context, __ATOMIC_RELAXED);
}

static inline void still_sleep_ms(void *context, uint64_t ms)
{
    __atomic_add_fetch((uint64_t *) context, ms, __ATOMIC_RELAXED);
}

static uint64_t still_time;

static inline cellar_vault *vault_open_here(scratch *place)
{
    cellar_vault *vault;
    CHECK_OK(cellar_vault_open(scratch_path(place, "site.yaml"), NULL, &vault, &err));
    vault->clock = (vault_clock){still_now_ms, still_sleep_ms, &still_time};
    return vault;
}

/* Asks, and answers the reply. */
static inline json_t *vault_ask(cellar_vault *vault, const char *message)
{
    char *reply;
    size_t length;
    json_t *root;
    cellar_error why;
    if (cellar_vault_answer(vault, message, strlen(message), &reply, &length, &why) != CELLAR_OK)
        fail_msg("%s", why.message);
    root = json_loadb(reply, length, 0, NULL);
    free(reply);
    assert_non_null(root);
    return root;
}

static inline json_t *vault_ask_draw(cellar_vault *vault, const char *dataset, const char *table,
                                     const char *max_cost)
{
    char message[1024];
    snprintf(message, sizeof message,
             "{\"do\": \"draw\", \"dataset\": \"%s\", \"table\": \"%s\", %s%s%s\"authorization\": "
             "\"Bearer %s\"}",
             dataset, table, max_cost != NULL ? "\"max_cost\": \"" : "",
             max_cost != NULL ? max_cost : "", max_cost != NULL ? "\", " : "", vault_token);
    return vault_ask(vault, message);
}

static inline const char *vault_text(const json_t *reply, const char *key)
{
    const char *text = json_string_value(json_object_get(reply, key));
    return text != NULL ? text : "";
}

/* The state of the reply, which is freed. */
static inline const char *vault_state(json_t *reply)
{
    static char state[64];
    snprintf(state, sizeof state, "%s", vault_text(reply, "state"));
    if (strcmp(state, "refused") == 0)
        snprintf(state, sizeof state, "refused: %s", vault_text(reply, "rule"));
    json_decref(reply);
    return state;
}

#endif
