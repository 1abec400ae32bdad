/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tokens, the audit log, and how often one may ask. */
#include <cellar/access.h>

#include "base/error.h"
#include "check.h"
#include "fail_every.h"
#include "scratch.h"
#include "serve/audit.h"
#include "serve/limits.h"
#include "serve/token_lines.h"

enum { DAY = 86400 };
static const int64_t NOW = INT64_C(1795000000); /* 2026-11-18 */

/* Each test works in a folder of its own, where names are short. */
static scratch *place;

static int enter(void **state)
{
    if (scratch_setup(state) != 0)
        return 1;
    place = *state;
    return chdir(place->folder);
}

static int leave(void **state)
{
    return chdir("/") + scratch_teardown(state);
}

/* A copy of a file that tests change; valid until the next call. */
static char *read_all(const char *name)
{
    static char text[1 << 16];
    snprintf(text, sizeof text, "%s", scratch_read(place, name));
    return text;
}

static void write_all(const char *name, const char *text)
{
    scratch_write(place, name, text);
}

/* ---- tokens -------------------------------------------------------------------- */

static void create(const char *name, const char *roles, const char *analyst, const char *expires,
                   char bearer[80])
{
    cellar_token_spec spec = cellar_token_spec_default();
    char secret[CELLAR_TOKEN_TEXT];
    cellar_error err = {""};
    spec.name = name;
    spec.roles = roles;
    spec.analyst = analyst;
    spec.expires = expires;
    if (cellar_token_create("tokens", &spec, secret, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(secret), CELLAR_TOKEN_TEXT - 1);
    snprintf(bearer, 80, "Bearer %s", secret);
}

static void test_tokens(void **state)
{
    char anna[80], bert[80], wrong[80];
    serve_tokens *tokens;
    serve_token found = {.name = "untouched"};
    char *file;
    (void) state;
    create("anna", "analyst", "team a", NULL, anna);
    create("bert", "reader,auditor", NULL, "2026-11-18", bert);
    file = read_all("tokens");
    assert_null(strstr(file, anna + 7)); /* the secret is not in the file */

    assert_int_equal(serve_tokens_open("tokens", &tokens, NULL), CELLAR_OK);
    assert_int_equal(serve_tokens_find(tokens, anna, NOW, &found), 1);
    assert_string_equal(found.name, "anna");
    assert_string_equal(found.analyst, "team a");
    assert_int_equal(found.roles, SERVE_MAY_DRAW);
    assert_int_equal(serve_tokens_find(tokens, bert, NOW, &found), 1); /* on its last day */
    assert_int_equal(found.roles, SERVE_MAY_READ | SERVE_MAY_AUDIT);
    assert_string_equal(found.analyst, "");
    found = (serve_token){.name = "untouched"};
    assert_int_equal(serve_tokens_find(tokens, bert, NOW + DAY, &found), 0);

    memcpy(wrong, anna, sizeof wrong);
    for (size_t i = 7; anna[i] != '\0'; i++) { /* every character counts */
        wrong[i] = wrong[i] == 'A' ? 'B' : 'A';
        assert_int_equal(serve_tokens_find(tokens, wrong, NOW, &found), 0);
        wrong[i] = anna[i];
    }
    assert_int_equal(serve_tokens_find(tokens, anna + 7, NOW, &found), 0);
    assert_int_equal(serve_tokens_find(tokens, "Bearer ", NOW, &found), 0);
    assert_int_equal(serve_tokens_find(tokens, NULL, NOW, &found), 0);
    strcat(wrong, "A");
    assert_int_equal(serve_tokens_find(tokens, wrong, NOW, &found), 0);
    assert_string_equal(found.name, "untouched");
    serve_tokens_close(tokens);
}

/* A site that runs sees what becomes of the file. */
static void test_tokens_change(void **state)
{
    char anna[80], bert[80];
    serve_tokens *tokens;
    serve_token found;
    (void) state;
    create("anna", "analyst", NULL, NULL, anna);
    assert_int_equal(serve_tokens_open("tokens", &tokens, NULL), CELLAR_OK);
    create("bert", "publisher", NULL, NULL, bert);
    assert_int_equal(serve_tokens_find(tokens, bert, NOW, &found), 1);
    assert_int_equal(cellar_token_revoke("tokens", "anna", NULL), CELLAR_OK);
    assert_int_equal(serve_tokens_find(tokens, anna, NOW, &found), 0);
    assert_int_equal(serve_tokens_find(tokens, bert, NOW, &found), 1);
    write_all("tokens", "damaged\n"); /* nobody has a token then */
    assert_int_equal(serve_tokens_find(tokens, bert, NOW, &found), 0);
    serve_tokens_close(tokens);
}

static void list_one(void *context, const cellar_token_info *token)
{
    cellar_text *out = context;
    cellar_text_printf(out, "%s %s %s %s\n", token->name, token->roles,
                       token->analyst != NULL ? token->analyst : "none",
                       token->expires != NULL ? token->expires : "never");
}

static void test_tokens_list(void **state)
{
    char bearer[80];
    cellar_text shown = {0};
    cellar_error err;
    (void) state;
    create("anna@example", "auditor,analyst", "a", "2027-02-28", bearer);
    create("b-2.x", "reader", NULL, NULL, bearer);
    assert_int_equal(cellar_token_list("tokens", list_one, &shown, NULL), CELLAR_OK);
    assert_string_equal(shown.bytes,
                        "anna@example analyst,auditor a 2027-02-28\nb-2.x reader none never\n");
    cellar_text_clear(&shown);
    assert_int_equal(cellar_token_revoke("tokens", "nobody", &err), CELLAR_ERR_ARGUMENT);
    assert_string_equal(err.message, "there is no token with the name 'nobody'");
}

static void test_tokens_refused(void **state)
{
    static const struct {
        cellar_token_spec spec;
        cellar_status status;
    } cases[] = {
        {{"anna", "reader", NULL, NULL}, CELLAR_ERR_EXISTS},
        {{NULL, "reader", NULL, NULL}, CELLAR_ERR_ARGUMENT},
        {{"", "reader", NULL, NULL}, CELLAR_ERR_ARGUMENT},
        {{"a b", "reader", NULL, NULL}, CELLAR_ERR_ARGUMENT},
        {{"bert", "king", NULL, NULL}, CELLAR_ERR_ARGUMENT},
        {{"bert", "reader,", NULL, NULL}, CELLAR_ERR_ARGUMENT},
        {{"bert", "reader", "share", NULL}, CELLAR_ERR_ARGUMENT},
        {{"bert", "analyst", "two\nlines", NULL}, CELLAR_ERR_ARGUMENT},
        {{"bert", "analyst", NULL, "tomorrow"}, CELLAR_ERR_ARGUMENT},
        {{"bert", "analyst", NULL, "2027-13-01"}, CELLAR_ERR_ARGUMENT},
    };
    char bearer[80];
    (void) state;
    create("anna", "reader", NULL, NULL, bearer);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char secret[CELLAR_TOKEN_TEXT];
        cellar_error err = {""};
        assert_int_equal(cellar_token_create("tokens", &cases[i].spec, secret, &err),
                         cases[i].status);
        assert_true(err.message[0] != '\0');
        assert_int_equal(secret[0], '\0');
    }
    assert_int_equal(chmod("tokens", 0666), 0);
    {
        serve_tokens *tokens;
        assert_int_equal(serve_tokens_open("tokens", &tokens, NULL), CELLAR_ERR_RULE);
    }
}

static void test_token_lines(void **state)
{
#define HASH64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    static const struct {
        const char *text, *message; /* NULL: fine */
    } cases[] = {
        {TOKEN_HEADING "\n", NULL},
        {TOKEN_HEADING "\n" HASH64 "\tanna\treader\t-\t2026-11-18\t-\n", NULL},
        {"", "f: the file is empty"},
        {"cellar tokens 2\n", "f:1: expected 'cellar tokens 1'"},
        {TOKEN_HEADING "\nx\n", "f:2: expected six fields between tabs"},
        {TOKEN_HEADING "\n" HASH64 "\ta\treader\t-\t2026-11-18\t-\t-\n",
         "f:2: expected six fields between tabs"},
        {TOKEN_HEADING "\n12\ta\treader\t-\t2026-11-18\t-\n",
         "f:2: expected a hash of 64 hexadecimal digits"},
        {TOKEN_HEADING "\n" HASH64 "\ta b\treader\t-\t2026-11-18\t-\n",
         "f:2: this is no name of a token"},
        {TOKEN_HEADING "\n" HASH64 "\ta\troot\t-\t2026-11-18\t-\n",
         "f:2: expected roles: reader, analyst, publisher, auditor"},
        {TOKEN_HEADING "\n" HASH64 "\ta\treader\t\t2026-11-18\t-\n",
         "f:2: this is no name of an analyst"},
        {TOKEN_HEADING "\n" HASH64 "\ta\treader\t-\t2026-11-31\t-\n",
         "f:2: expected a day such as 2027-12-31"},
        {TOKEN_HEADING "\n" HASH64 "\ta\treader\t-\t2026-11-18\t-\n" HASH64
                       "\ta\treader\t-\t2026-11-18\t-\n",
         "f:3: a token of this name stands above"},
        {TOKEN_HEADING "\n" HASH64 "\ta\treader\t-\t2026-11-18\t-",
         "f:2: this is no line of a file of tokens"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        token_lines lines;
        cellar_text again = {0};
        cellar_error err = {""};
        cellar_status status =
            token_lines_parse("f", cases[i].text, strlen(cases[i].text), &lines, &err);
        assert_int_equal(status, cases[i].message == NULL ? CELLAR_OK : CELLAR_ERR_INPUT);
        assert_string_equal(err.message, cases[i].message != NULL ? cases[i].message : "");
        for (size_t k = 0; status == CELLAR_OK && k < lines.n; k++) {
            token_line_write(&lines.items[k], &again);
            assert_string_equal(again.bytes, cases[i].text + sizeof TOKEN_HEADING);
        }
        cellar_text_clear(&again);
        token_lines_clear(&lines);
    }
}

static cellar_status token_scenario(void *context, cellar_error *err)
{
    cellar_token_spec spec = {"zoe", "analyst", "z", NULL};
    char secret[CELLAR_TOKEN_TEXT];
    serve_tokens *tokens = NULL;
    cellar_text shown = {0};
    cellar_status status = CELLAR_OK;
    (void) context;
    (void) unlink("tokens");
    CELLAR_TRY(cellar_token_create("tokens", &spec, secret, err));
    CELLAR_TRY(serve_tokens_open("tokens", &tokens, err));
    CELLAR_TRY(cellar_token_list("tokens", list_one, &shown, err));
    if (shown.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a test"));
    CELLAR_TRY(cellar_token_revoke("tokens", "zoe", err));
out:
    cellar_text_clear(&shown);
    serve_tokens_close(tokens);
    return status;
}

static void test_token_memory(void **state)
{
    (void) state;
    check_fail_every(token_scenario, NULL);
}

/* ---- the audit log ---------------------------------------------------------------- */

static const serve_audit_entry drawn = {.who = "anna",
                                        .action = "draw",
                                        .dataset = "census",
                                        .table = "region^1*sex",
                                        .decision = "drawn",
                                        .cost = "rho 0.03125"};
static const serve_audit_entry refused = {.action = "draw",
                                          .dataset = "census",
                                          .table = "region*age",
                                          .decision = "refused",
                                          .rule = "no \"quotes\"\nhere"};

static void add(serve_audit *audit, const serve_audit_entry *entry)
{
    cellar_error err = {""};
    if (serve_audit_add(audit, entry, NOW, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
}

/* Makes a log of four lines. */
static void make_log(void)
{
    serve_audit *audit;
    assert_int_equal(serve_audit_open("audit", &audit, NULL), CELLAR_OK);
    add(audit, &drawn);
    add(audit, &refused);
    serve_audit_close(audit);
    assert_int_equal(serve_audit_open("audit", &audit, NULL), CELLAR_OK);
    add(audit, &drawn);
    add(audit, &drawn);
    serve_audit_close(audit);
}

static void take_first(void *context, const cellar_audit_entry *entry)
{
    cellar_text *out = context;
    if (entry->number == 1) {
        cellar_text_add(out, entry->line, entry->length);
        assert_string_equal(entry->who, "anna");
        assert_null(entry->rule);
    } else if (entry->number == 2)
        assert_string_equal(entry->rule, "no \"quotes\"\nhere");
}

static void test_audit(void **state)
{
    cellar_audit_head head, again;
    cellar_text first = {0};
    (void) state;
    make_log();
    assert_int_equal(cellar_audit_read("audit", NULL, take_first, &first, &head, NULL), CELLAR_OK);
    assert_int_equal(head.n_entries, 4);
    /* The chain by hand: python3 -c 'import hashlib; body = b"{...}";
     * print(hashlib.blake2b(b"cellar audit 1\0" + bytes(32) + body, digest_size=32).hexdigest())'
     */
    assert_string_equal(
        first.bytes,
        "{\"number\":1,\"time\":\"2026-11-18T11:06:40Z\",\"who\":\"anna\",\"action\":\"draw\","
        "\"dataset\":\"census\",\"table\":\"region^1*sex\",\"decision\":\"drawn\",\"cost\":\"rho "
        "0.03125\",\"chain\":"
        "\"8f5ce8b222f1061e6028b8127f107b4d348d58b3cd2b1a4a4700fad26c16e379\"}");
    cellar_text_clear(&first);
    assert_int_equal(scratch_mode(place, "audit"), 0600);
    assert_int_equal(cellar_audit_read("audit", &head, NULL, NULL, &again, NULL), CELLAR_OK);
    assert_string_equal(head.hash, again.hash);
}

static void test_audit_head(void **state)
{
    cellar_audit_head head;
    cellar_error err;
    (void) state;
    make_log();
    assert_int_equal(cellar_audit_read("audit", NULL, NULL, NULL, &head, NULL), CELLAR_OK);
    head.n_entries = 2;
    assert_int_equal(cellar_audit_read("audit", &head, NULL, NULL, NULL, &err), CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "audit: the log does not go on from the head that is known: "
                                     "it was written anew");
    head.n_entries = 5;
    assert_int_equal(cellar_audit_read("audit", &head, NULL, NULL, NULL, &err), CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "audit: the log has fewer lines than the head that is known");
}

/* Any byte that is changed shows, for readers and for whoever would add. */
static void test_audit_changes(void **state)
{
    char *log;
    size_t length;
    (void) state;
    make_log();
    log = read_all("audit");
    length = strlen(log);
    for (size_t i = 0; i < length; i += 7) {
        const char kept = log[i];
        serve_audit *audit;
        log[i] = (char) (kept == 'x' ? 'y' : 'x');
        write_all("copy", log);
        assert_int_equal(cellar_audit_read("copy", NULL, NULL, NULL, NULL, NULL), CELLAR_ERR_INPUT);
        if (i + 1 < length) { /* without its last end the log was only cut short */
            assert_int_equal(serve_audit_open("copy", &audit, NULL), CELLAR_ERR_INPUT);
            assert_null(audit);
        }
        log[i] = kept;
    }
}

static void test_audit_lines(void **state)
{
    char *log, *second, *third;
    cellar_error err;
    (void) state;
    make_log();
    log = read_all("audit");
    second = strchr(log, '\n') + 1;
    third = strchr(second, '\n') + 1;
    write_all("copy", second); /* the first is missing */
    assert_int_equal(cellar_audit_read("copy", NULL, NULL, NULL, NULL, &err), CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "copy:1: this line does not follow from those before it: the "
                                     "log was changed, or lines are missing");
    memmove(second, third, strlen(third) + 1); /* the second is */
    write_all("copy", log);
    assert_int_equal(cellar_audit_read("copy", NULL, NULL, NULL, NULL, &err), CELLAR_ERR_INPUT);
    assert_memory_equal(err.message, "copy:2:", 7);
}

/* A log that a crash cut at any byte is mended, and goes on. */
static void test_audit_crash(void **state)
{
    char *log;
    size_t length, whole;
    (void) state;
    make_log();
    log = read_all("audit");
    length = strlen(log);
    whole = (size_t) (strchr(strchr(log, '\n') + 1, '\n') - log) + 1; /* two lines */
    for (size_t cut = whole; cut < length; cut += 11) {
        serve_audit *audit;
        cellar_audit_head head;
        assert_int_equal(truncate("audit", (off_t) cut), 0);
        assert_int_equal(serve_audit_open("audit", &audit, NULL), CELLAR_OK);
        add(audit, &refused);
        serve_audit_close(audit);
        assert_int_equal(cellar_audit_read("audit", NULL, NULL, NULL, &head, NULL), CELLAR_OK);
        assert_true(head.n_entries >= 3);
        write_all("audit", log);
    }
}

/* Two programs add in turn. */
static void test_audit_shared(void **state)
{
    serve_audit *one, *two;
    cellar_audit_head head;
    (void) state;
    assert_int_equal(serve_audit_open("audit", &one, NULL), CELLAR_OK);
    assert_int_equal(serve_audit_open("audit", &two, NULL), CELLAR_OK);
    for (size_t i = 0; i < 5; i++) {
        add(one, &drawn);
        add(two, &refused);
    }
    assert_int_equal(truncate("audit", 10), 0); /* somebody cuts it off */
    assert_int_equal(serve_audit_add(two, &drawn, NOW, NULL), CELLAR_ERR_INPUT);
    serve_audit_close(one);
    serve_audit_close(two);
    assert_int_equal(unlink("audit"), 0);
    assert_int_equal(serve_audit_open("audit", &one, NULL), CELLAR_OK);
    assert_int_equal(serve_audit_open("audit", &two, NULL), CELLAR_OK);
    for (size_t i = 0; i < 5; i++) {
        add(one, &drawn);
        add(two, &refused);
    }
    serve_audit_close(one);
    serve_audit_close(two);
    assert_int_equal(cellar_audit_read("audit", NULL, NULL, NULL, &head, NULL), CELLAR_OK);
    assert_int_equal(head.n_entries, 10);
}

static cellar_status audit_scenario(void *context, cellar_error *err)
{
    serve_audit *audit = NULL;
    cellar_status status = CELLAR_OK;
    (void) context;
    (void) unlink("audit");
    CELLAR_TRY(serve_audit_open("audit", &audit, err));
    CELLAR_TRY(serve_audit_add(audit, &drawn, NOW, err));
    CELLAR_TRY(cellar_audit_read("audit", NULL, NULL, NULL, NULL, err));
out:
    serve_audit_close(audit);
    return status;
}

static void test_audit_memory(void **state)
{
    (void) state;
    check_fail_every(audit_scenario, NULL);
}

/* ---- limits ------------------------------------------------------------------------- */

static void test_limits(void **state)
{
    serve_limits *limits;
    (void) state;
    assert_int_equal(serve_limits_create(10, 20, &limits, NULL), CELLAR_OK);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(serve_limits_take(limits, NULL, "192.0.2.1", 1000), 0);
    assert_int_equal(serve_limits_take(limits, NULL, "192.0.2.1", 1000), 2); /* a call in 2 s */
    assert_int_equal(serve_limits_take(limits, NULL, "192.0.2.1", 2500), 1);
    assert_int_equal(serve_limits_take(limits, NULL, "192.0.2.1", 3000), 0);
    assert_int_equal(serve_limits_take(limits, NULL, "192.0.2.1", 3000), 2);
    assert_int_equal(serve_limits_take(limits, NULL, "192.0.2.2", 3000), 0); /* somebody else */
    for (size_t i = 0; i < 10; i++) /* after the window all of it is there again */
        assert_int_equal(serve_limits_take(limits, NULL, "192.0.2.1", 30000), 0);
    serve_limits_free(limits);
}

static void test_limits_names(void **state)
{
    static const struct {
        const char *token, *address;
        unsigned wait;
    } cases[] = {
        {NULL, "2001:db8:1:2::1", 0},
        {NULL, "2001:db8:1:2:ffff::9", 5}, /* the same 64 bits */
        {NULL, "2001:db8:1:3::1", 0},
        {NULL, "192.0.2.7", 0},
        {NULL, "::ffff:192.0.2.7", 5}, /* the same address */
        {"anna", "192.0.2.7", 0},      /* who has a token is counted by it */
        {"anna", "198.51.100.1", 5},
        {NULL, NULL, 0},
        {NULL, "", 5},
        {NULL, "tanna", 0}, /* an address that cannot be read is a name of its own */
    };
    serve_limits *limits;
    (void) state;
    assert_int_equal(serve_limits_create(1, 5, &limits, NULL), CELLAR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(serve_limits_take(limits, cases[i].token, cases[i].address, 1000),
                         cases[i].wait);
    serve_limits_free(limits);
    assert_int_equal(serve_limits_create(0, 5, &limits, NULL), CELLAR_ERR_ARGUMENT);
}

/* A flood of addresses: memory stays as it is, and who asks on and on stays limited. */
static void test_limits_flood(void **state)
{
    serve_limits *limits;
    char address[32];
    unsigned n_passed = 0;
    (void) state;
    assert_int_equal(serve_limits_create(20, 10, &limits, NULL), CELLAR_OK);
    for (unsigned i = 0; i < 200000 / CHECK_SHARE; i++) {
        snprintf(address, sizeof address, "10.%u.%u.%u", i >> 16 & 255, i >> 8 & 255, i & 255);
        assert_int_equal(serve_limits_take(limits, NULL, address, 1000), 0);
        if (i % 16 == 0)
            n_passed += serve_limits_take(limits, "greedy", NULL, 1000) == 0;
    }
    /* Its bucket is the fullest of its set, so it is never the one that is forgotten first. */
    assert_true(n_passed <= 20 + 2);
    serve_limits_free(limits);
}

int main(void)
{
#define IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_tokens),
        IN_FOLDER(test_tokens_change),
        IN_FOLDER(test_tokens_list),
        IN_FOLDER(test_tokens_refused),
        cmocka_unit_test(test_token_lines),
        IN_FOLDER(test_token_memory),
        IN_FOLDER(test_audit),
        IN_FOLDER(test_audit_head),
        IN_FOLDER(test_audit_changes),
        IN_FOLDER(test_audit_lines),
        IN_FOLDER(test_audit_crash),
        IN_FOLDER(test_audit_shared),
        IN_FOLDER(test_audit_memory),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limits_names),
        cmocka_unit_test(test_limits_flood),
    };
    return cmocka_run_group_tests_name("serve_access", tests, NULL, NULL);
}
