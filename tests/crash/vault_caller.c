/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A vault with several callers at once, without a front.
 *
 *     vault_caller token TOKENS              makes a token that may draw, and prints it
 *     vault_caller draw CONFIG TOKEN TABLE...  asks for each table, from four threads
 *     vault_caller one CONFIG TOKEN TABLE...  the same, from one
 *     vault_caller ask CONFIG MESSAGE        prints the reply to one message
 *
 * Says "drawn TABLE", "exists TABLE" or "RULE TABLE" as soon as a reply is there, in one write. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <cellar/cellar.h>

enum { N_THREADS = 4 };

typedef struct caller {
    cellar_vault *vault;
    const char *token;
    char **tables;
    int n_tables, first;
} caller;

static void say(const char *what, const char *table)
{
    char line[512];
    int length = snprintf(line, sizeof line, "%s %s\n", what, table);
    ssize_t unused = write(STDOUT_FILENO, line, (size_t) length);
    (void) unused;
}

static void ask(const caller *c, const char *table)
{
    char message[1024], *reply = NULL;
    size_t length = 0;
    cellar_error err = {""};
    json_t *root = NULL;
    const char *state = NULL;
    snprintf(message, sizeof message,
             "{\"do\":\"draw\",\"dataset\":\"census\",\"table\":\"%s\",\"max_cost\":\"1\","
             "\"authorization\":\"Bearer %s\"}",
             table, c->token);
    if (cellar_vault_answer(c->vault, message, strlen(message), &reply, &length, &err) ==
        CELLAR_OK) {
        root = json_loadb(reply, length, 0, NULL);
        state = json_string_value(json_object_get(root, "state"));
        if (state != NULL && strcmp(state, "refused") == 0)
            state = json_string_value(json_object_get(root, "rule"));
    }
    if (err.message[0] != '\0')
        fprintf(stderr, "%s: %s\n", table, err.message);
    say(state != NULL ? state : "silent", table);
    json_decref(root);
    free(reply);
}

static void *call(void *context)
{
    const caller *c = context;
    for (int i = 0; i < c->n_tables; i++)
        ask(c, c->tables[(c->first + i) % c->n_tables]);
    return NULL;
}

static int draw(cellar_vault *vault, int n_threads, const char *token, char **tables, int n_tables)
{
    pthread_t threads[N_THREADS];
    caller callers[N_THREADS];
    for (int t = 0; t < n_threads; t++) {
        callers[t] = (caller){vault, token, tables, n_tables, t};
        if (pthread_create(&threads[t], NULL, call, &callers[t]) != 0)
            abort();
    }
    for (int t = 0; t < n_threads; t++)
        pthread_join(threads[t], NULL);
    return 0;
}

static int make_token(const char *path)
{
    cellar_token_spec spec = cellar_token_spec_default();
    char secret[CELLAR_TOKEN_TEXT];
    cellar_error err;
    spec.name = "caller";
    spec.roles = "analyst";
    if (cellar_token_create(path, &spec, secret, &err) != CELLAR_OK) {
        fprintf(stderr, "vault_caller: %s\n", err.message);
        return 1;
    }
    puts(secret);
    return 0;
}

static int print_reply(cellar_vault *vault, const char *message)
{
    char *reply;
    size_t length;
    cellar_error err;
    if (cellar_vault_answer(vault, message, strlen(message), &reply, &length, &err) != CELLAR_OK)
        return 1;
    puts(reply);
    free(reply);
    return 0;
}

int main(int argc, char **argv)
{
    cellar_vault *vault;
    cellar_error err = {""};
    int failed;
    if (argc == 3 && strcmp(argv[1], "token") == 0)
        return make_token(argv[2]);
    if (argc < 4)
        return 2;
    if (cellar_vault_open(argv[2], NULL, &vault, &err) != CELLAR_OK) {
        fprintf(stderr, "vault_caller: %s\n", err.message);
        return 1;
    }
    failed = strcmp(argv[1], "ask") == 0 ? print_reply(vault, argv[3])
                                         : draw(vault, strcmp(argv[1], "one") == 0 ? 1 : N_THREADS,
                                                argv[3], argv + 4, argc - 4);
    cellar_vault_close(vault);
    return failed;
}
