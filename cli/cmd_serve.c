/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar serve: the table builder. The program cellar-server does the work. */
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"
#include "serve.h"

enum { ARGUMENTS_MAX = 12 };

#define AT(member) offsetof(serve_values, member)
static const cli_option serve_options[] = {
    TEXT("listen", "ADDRESS", listen,
         "where: ADDRESS:PORT (port 0: any that is free) or unix:PATH [127.0.0.1:8080]"),
    FLAG("anywhere", anywhere, "listen at addresses that other machines reach, too: without TLS"),
    NUMBER("threads", "N", threads, 1, 256, "answer so many requests at once [processors and 4]"),
    NUMBER("deadline", "SECONDS", deadline, 1, 3600,
           "a client may take so long to send a request, and to read its response [20]"),
    FLAG("require-sandbox", require_sandbox,
         "do not serve where the kernel cannot confine the process that speaks HTTP"),
    TEXT("signer", "FILE", signer, "draw nothing unless this public key signed the configuration"),
    TEXT("front-user", "NAME", front_user,
         "started by root: the process that speaks HTTP becomes this user"),
    TEXT("vault-user", "NAME", vault_user,
         "started by root: the process that holds data, keys and ledger becomes this user"),
    SECTION("To begin with"),
    FLAG("demo", demo, "make the small country in FOLDER [cellar-demo], build its cube, serve it"),
    NUMBER("people", "N", people, 1, 100000000, "of the small country [100000]"),
    SECTION("token: who may do what"),
    TEXT("name", "NAME", name, "create, revoke: whose token it is"),
    MANY("role", "ROLE", roles,
         "create: reader, analyst (may draw), publisher or auditor; may be repeated [reader]"),
    TEXT("analyst", "NAME", analyst, "create: the analyst of the ledger whose share it spends"),
    TEXT("expires", "DAY", expires, "create: the last day it is good for, such as 2027-12-31"),
    SECTION("audit: what was asked and decided"),
    TEXT("known", "N:HASH", known, "the log must go on from this head, which was kept elsewhere"),
    SECTION("sign, verify: who answers for a configuration"),
    TEXT("key", "FILE", key, "sign: your key file; verify: the public key of who signed"),
    SECTION("Other"),
    FLAG("json", json, "token, audit: print JSON"),
};

static const char *const serve_examples[] = {
    "cellar serve --demo",
    "cellar serve site.yaml",
    "cellar serve site.yaml --listen unix:/run/cellar/http",
    "cellar serve token create tokens --name anna --role analyst --analyst anna",
    "cellar serve audit audit.log",
    "cellar serve sign site.yaml --key office.key",
    NULL};

static const cli_command serve_command = {
    "serve",
    "CONFIG.yaml | --demo [FOLDER] | token create|list|revoke FILE | audit FILE | sign|verify "
    "CONFIG.yaml [options]",
    "Serves tables over HTTP: people build their own from a cube or from releases, with an "
    "interval at every value and a certificate in every file. docs/table-builder.md describes the "
    "configuration. Prints the address once requests are answered, and runs until it is "
    "interrupted; SIGHUP reads the configuration again without dropping a request. token makes, "
    "lists and revokes tokens, whose secrets are shown once; audit shows the log of draws and "
    "refusals and verifies its chain; sign signs a configuration with the code lists and matrices "
    "that it names, as CONFIG.yaml.sig, for --signer.",
    serve_options,
    sizeof serve_options / sizeof serve_options[0],
    serve_examples};

/* ---- the program -------------------------------------------------------------------------------
 */

/* The arguments of the program; texts are copied. */
typedef struct arguments {
    char *items[ARGUMENTS_MAX + 1];
    size_t n;
} arguments;

static void add(arguments *a, const char *format, ...) CELLAR_PRINTF(2, 3);
static void add(arguments *a, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (a->n == ARGUMENTS_MAX || vasprintf(&a->items[a->n], format, values) < 0)
        a->items[a->n] = NULL;
    else
        a->n++;
    va_end(values);
}

static int start_program(const char *config, const serve_values *values)
{
    arguments a = {0};
    add(&a, "cellar-server");
    if (values->listen != NULL)
        add(&a, "--listen=%s", values->listen);
    if (values->threads.given)
        add(&a, "--threads=%" PRIu64, values->threads.value);
    if (values->deadline.given)
        add(&a, "--deadline=%" PRIu64, values->deadline.value);
    if (values->signer != NULL)
        add(&a, "--signer=%s", values->signer);
    if (values->front_user != NULL)
        add(&a, "--front-user=%s", values->front_user);
    if (values->vault_user != NULL)
        add(&a, "--vault-user=%s", values->vault_user);
    if (values->anywhere)
        add(&a, "--anywhere");
    if (values->require_sandbox)
        add(&a, "--require-sandbox");
    add(&a, "--");
    add(&a, "%s", config);
    cli_program_start("CELLAR_SERVER", a.items);
    while (a.n > 0)
        free(a.items[--a.n]);
    return CLI_FAILED;
}

/* ---- the verb ----------------------------------------------------------------------------------
 */

static int serve_run(const cli_words *words, const serve_values *values)
{
    char config[PATH_MAX];
    const char *folder = words->n > 0 ? words->items[0] : "cellar-demo";
    int result;
    if (!values->demo && words->n != 1)
        return cli_usage("serve needs a configuration, or --demo");
    if (!values->demo && values->people.given)
        return cli_usage("--people is for --demo");
    if (!values->demo)
        return start_program(words->items[0], values);
    if (words->n > 1)
        return cli_usage("serve --demo takes one folder, and '%s' is a second", words->items[1]);
    result = cli_serve_demo(folder, values, config);
    return result == CLI_GO_ON ? start_program(config, values) : result;
}

enum { OF_SERVER = 1, OF_TOKEN = 2, OF_AUDIT = 4, OF_SIGN = 8 };
static const char *const part_names[] = {"a configuration", "token", "audit", "sign"};
static const cli_place option_places[] = {
    {"listen", OF_SERVER},   {"anywhere", OF_SERVER},        {"threads", OF_SERVER},
    {"deadline", OF_SERVER}, {"require-sandbox", OF_SERVER}, {"signer", OF_SERVER},
    {"demo", OF_SERVER},     {"people", OF_SERVER},          {"name", OF_TOKEN},
    {"role", OF_TOKEN},      {"analyst", OF_TOKEN},          {"expires", OF_TOKEN},
    {"known", OF_AUDIT},     {"json", OF_TOKEN | OF_AUDIT},  {"key", OF_SIGN}};

static int serve_part(const cli_words *words, const serve_values *values)
{
    const char *first = words->n > 0 && !values->demo ? words->items[0] : "";
    const int is_sign = strcmp(first, "sign") == 0 || strcmp(first, "verify") == 0;
    const size_t part = strcmp(first, "token") == 0   ? 1
                        : strcmp(first, "audit") == 0 ? 2
                        : is_sign                     ? 3
                                                      : 0;
    int result =
        cli_options_check_places(&serve_command, values, option_places,
                                 sizeof option_places / sizeof *option_places, part_names, part);
    if (result != CLI_GO_ON)
        return result;
    return part == 1   ? cli_serve_token(words, values)
           : part == 2 ? cli_serve_audit(words, values)
           : part == 3 ? cli_serve_sign(words, values)
                       : serve_run(words, values);
}

int cli_serve(int argc, char **argv)
{
    serve_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&serve_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON)
        result = serve_part(&words, &values);
    cli_words_clear(&words);
    cli_options_clear(&serve_command, &values);
    return result;
}
