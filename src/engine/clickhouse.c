/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ClickHouse over HTTP, through libcurl, which is loaded when it is needed. The user and the
 * password come from CLICKHOUSE_USER and CLICKHOUSE_PASSWORD, or from ~/.netrc. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/executor.h"

enum { LINE_MAX_BYTES = 1 << 16, COMPLAINT_BYTES = 512 };

#define CURL_FUNCTIONS(X)                                                                          \
    X(curl_easy_init)                                                                              \
    X(curl_easy_setopt)                                                                            \
    X(curl_easy_perform)                                                                           \
    X(curl_easy_getinfo)                                                                           \
    X(curl_easy_strerror)                                                                          \
    X(curl_easy_cleanup)                                                                           \
    X(curl_slist_append)                                                                           \
    X(curl_slist_free_all)

#undef curl_easy_setopt
#undef curl_easy_getinfo
#define CURL_POINTER(name) __typeof__(name) *(name);
typedef struct http {
    CURL_FUNCTIONS(CURL_POINTER)
    const sql_request *request;
    CURL *handle;
    struct curl_slist *headers;
    cellar_text line; /* of the answer, as far as it has come */
    cellar_text url, body;
    char query_id[96];
    const char **fields;
    cellar_status status;
    cellar_error *err;
} http;

static cellar_status load(http *h, cellar_error *err)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *handle = NULL; /* stays until the process ends */
    int is_whole;
    for (size_t i = 0; i < sizeof names / sizeof *names && handle == NULL; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    is_whole = handle != NULL;
#define CURL_FIND(name)                                                                            \
    if (is_whole) {                                                                                \
        *(void **) &h->name = dlsym(handle, #name);                                                \
        is_whole = h->name != NULL;                                                                \
    }
    CURL_FUNCTIONS(CURL_FIND)
    return is_whole ? CELLAR_OK
                    : cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                                  "ClickHouse is asked through libcurl, which cannot be loaded; "
                                  "install libcurl4");
}

static cellar_status check_place(const char *place, cellar_error *err)
{
    if (strncmp(place, "http://", 7) != 0 && strncmp(place, "https://", 8) != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "expected an address such as clickhouse:https://HOST:8443/?database=DB");
    if (strchr(place, '#') != NULL) /* what is added would stand behind it, and not be sent */
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the address of a database has no #");
    if (strchr(place, '@') != NULL || strcasestr(place, "password") != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a password does not belong into a command line: keep it in ~/.netrc or "
                           "CLICKHOUSE_PASSWORD");
    return CELLAR_OK;
}

/* ---- the answer ------------------------------------------------------------------------ */

static cellar_status fail_columns(http *h)
{
    return cellar_fail(h->err, CELLAR_ERR_INPUT, "%s: the answer has other columns",
                       h->request->shown);
}

static cellar_status take_line(http *h)
{
    const sql_request *r = h->request;
    size_t n = 1;
    h->fields[0] = h->line.bytes;
    for (char *at = h->line.bytes; (at = strchr(at, '\t')) != NULL; n++) {
        *at++ = '\0';
        if (n < r->n_columns)
            h->fields[n] = at;
    }
    if (n != r->n_columns)
        return fail_columns(h);
    for (size_t i = 0; i < n; i++)
        if (strcmp(h->fields[i], "\\N") == 0)
            h->fields[i] = NULL;
    return r->sink(r->context, h->fields, h->err);
}

static long http_code(const http *h)
{
    long code = 0;
    h->curl_easy_getinfo(h->handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
}

/* Of a complaint the beginning is kept. */
static size_t receive(char *bytes, size_t size, size_t n, void *context)
{
    http *h = context;
    const int is_answer = http_code(h) == 200;
    n *= size;
    for (size_t i = 0; i < n && h->status == CELLAR_OK; i++) {
        if (!is_answer && h->line.length >= COMPLAINT_BYTES)
            break;
        if (bytes[i] != '\n' || !is_answer) {
            cellar_text_add_char(&h->line, bytes[i]);
        } else if (!h->line.failed) {
            cellar_text_add_char(&h->line, '\0');
            h->status = take_line(h);
            cellar_text_reset(&h->line);
        }
        if (h->line.failed)
            h->status = cellar_fail_memory(h->err, "an answer");
        else if (h->line.length > LINE_MAX_BYTES)
            h->status = fail_columns(h);
    }
    return h->status == CELLAR_OK ? n : 0;
}

static int look_up(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    http *h = context;
    (void) a, (void) b, (void) c, (void) d;
    if (h->status == CELLAR_OK)
        h->status = sql_check_progress(h->request, h->err);
    return h->status != CELLAR_OK;
}

/* "Code: 60, e.displayText() = DB::Exception: Table default.x doesn't exist., ..." is shown where
 * the code is about names and rights; others may quote a value. */
static cellar_status fail_complaint(http *h)
{
    static const int shown[] = {47,  60,  81,  62,  36,  46,  164, 192, 193,
                                194, 497, 516, 159, 160, 158, 209, 210, 241};
    const sql_request *r = h->request;
    const char *said = NULL;
    long code = 0;
    cellar_text_add_char(&h->line, '\0');
    if (!h->line.failed)
        said = strstr(h->line.bytes, "Code: ");
    if (said != NULL)
        code = strtol(said + strlen("Code: "), NULL, 10);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (code == shown[i])
            return cellar_fail(h->err, CELLAR_ERR_IO, "%s: %.*s", r->shown,
                               (int) strcspn(said, "\n"), said);
    return cellar_fail(h->err, CELLAR_ERR_IO, "%s: the question failed (HTTP %ld, code %ld)",
                       r->shown, http_code(h), code);
}

/* ---- the question ---------------------------------------------------------------------- */

static int add_header(http *h, const char *name, const char *value)
{
    cellar_text text = {0};
    struct curl_slist *longer = NULL;
    if (value == NULL)
        return 1;
    cellar_text_printf(&text, "%s: %s", name, value);
    if (!text.failed)
        longer = h->curl_slist_append(h->headers, text.bytes);
    if (longer != NULL)
        h->headers = longer;
    if (text.bytes != NULL)
        explicit_bzero(text.bytes, text.length);
    cellar_text_clear(&text);
    return longer != NULL;
}

/* The answer is kept at the server until it is whole, so that an error has a status of its own. */
static cellar_status prepare(http *h, const char *sql, const char *more, cellar_error *err)
{
    const char *place = h->request->place;
    h->handle = h->curl_easy_init();
    cellar_text_reset(&h->url);
    cellar_text_reset(&h->body);
    cellar_text_printf(&h->url, "%s%cwait_end_of_query=1%s", place,
                       strchr(place, '?') == NULL ? '?' : '&', more);
    cellar_text_add_string(&h->body, sql);
    if (h->handle == NULL || h->url.failed || h->body.failed)
        return cellar_fail_memory(err, "a question");
    h->curl_easy_setopt(h->handle, CURLOPT_URL, h->url.bytes);
    h->curl_easy_setopt(h->handle, CURLOPT_PROTOCOLS_STR, "http,https");
    h->curl_easy_setopt(h->handle, CURLOPT_NOSIGNAL, 1L);
    h->curl_easy_setopt(h->handle, CURLOPT_NETRC, (long) CURL_NETRC_OPTIONAL);
    h->curl_easy_setopt(h->handle, CURLOPT_HTTPHEADER, h->headers);
    h->curl_easy_setopt(h->handle, CURLOPT_POSTFIELDS, h->body.bytes);
    h->curl_easy_setopt(h->handle, CURLOPT_POSTFIELDSIZE, (long) h->body.length);
    h->curl_easy_setopt(h->handle, CURLOPT_WRITEFUNCTION, receive);
    h->curl_easy_setopt(h->handle, CURLOPT_WRITEDATA, h);
    return CELLAR_OK;
}

/* A query goes on at the server when its client has left. */
static void cancel(http *h)
{
    char sql[160];
    snprintf(sql, sizeof sql, "KILL QUERY WHERE query_id = '%s' ASYNC", h->query_id);
    h->curl_easy_cleanup(h->handle);
    if (prepare(h, sql, "", NULL) == CELLAR_OK) {
        h->curl_easy_setopt(h->handle, CURLOPT_TIMEOUT, 5L);
        (void) h->curl_easy_perform(h->handle);
    }
}

static cellar_status ask(http *h, cellar_error *err)
{
    CURLcode code;
    h->curl_easy_setopt(h->handle, CURLOPT_NOPROGRESS, 0L);
    h->curl_easy_setopt(h->handle, CURLOPT_XFERINFOFUNCTION, look_up);
    h->curl_easy_setopt(h->handle, CURLOPT_XFERINFODATA, h);
    code = h->curl_easy_perform(h->handle);
    if (h->status != CELLAR_OK) {
        cancel(h);
        return h->status;
    }
    if (code != CURLE_OK)
        return cellar_fail(err, CELLAR_ERR_IO, "%s: %s", h->request->shown,
                           h->curl_easy_strerror(code));
    if (http_code(h) != 200)
        return fail_complaint(h);
    return h->line.length == 0 ? CELLAR_OK
                               : cellar_fail(err, CELLAR_ERR_INPUT, "%s: the answer was cut off",
                                             h->request->shown);
}

cellar_status sql_run_clickhouse(const sql_request *r, cellar_error *err)
{
    http h = {.request = r, .err = err};
    struct timespec now;
    cellar_text sql = {0};
    char more[128];
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(check_place(r->place, err));
    CELLAR_TRY(load(&h, err));
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(h.query_id, sizeof h.query_id, "cellar-%ld-%lld-%ld-%zx", (long) getpid(),
             (long long) now.tv_sec, now.tv_nsec, (size_t) (uintptr_t) &h);
    snprintf(more, sizeof more, "&query_id=%s", h.query_id);
    h.fields = cellar_alloc(r->n_columns, sizeof *h.fields);
    cellar_text_printf(&sql, "%s\nFORMAT TabSeparated", r->sql);
    if (h.fields == NULL || sql.failed || !add_header(&h, "Expect", "") ||
        !add_header(&h, "X-ClickHouse-User", getenv("CLICKHOUSE_USER")) ||
        !add_header(&h, "X-ClickHouse-Key", getenv("CLICKHOUSE_PASSWORD")))
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    CELLAR_TRY(prepare(&h, sql.bytes, more, err));
    CELLAR_TRY(ask(&h, err));
out:
    if (h.handle != NULL)
        h.curl_easy_cleanup(h.handle);
    if (h.headers != NULL)
        h.curl_slist_free_all(h.headers);
    cellar_free(h.fields);
    cellar_text_clear(&h.line);
    cellar_text_clear(&h.url);
    cellar_text_clear(&h.body);
    cellar_text_clear(&sql);
    return status;
}
