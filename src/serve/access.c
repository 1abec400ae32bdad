/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/access.h"

#include <string.h>
#include <time.h>

#include "base/error.h"

cellar_status serve_access_open(cellar_site *site, cellar_error *err)
{
    const serve_config_site *words = &site->config->site;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(
        serve_limits_create(site->calls_per_window, site->window_seconds, &site->limits, err));
    if (words->tokens != NULL)
        CELLAR_TRY(serve_tokens_open(words->tokens, &site->tokens, err));
    if (words->audit != NULL)
        CELLAR_TRY(serve_audit_open(words->audit, &site->audit, err));
out:
    return status;
}

void serve_access_close(cellar_site *site)
{
    serve_audit_close(site->audit);
    serve_tokens_close(site->tokens);
    serve_limits_free(site->limits);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whoever watches the server hears that it is well, however much others ask. */
static int is_health(const cellar_request *request)
{
    return request->path != NULL && strcmp(request->path, "/v1/health") == 0;
}

cellar_status serve_access_admit(const cellar_site *site, serve_call *call, serve_reply *reply,
                                 int *is_admitted)
{
    const cellar_request *request = call->request;
    const int has_token =
        serve_tokens_find(site->tokens, request->authorization, (int64_t) time(NULL), &call->token);
    const unsigned wait = site->limits != NULL && !is_health(request)
                              ? serve_limits_take(site->limits, has_token ? call->token.name : NULL,
                                                  request->address, now_ms())
                              : 0;
    *is_admitted = 0;
    if (wait > 0) {
        reply->retry_after = wait;
        return serve_reply_problem(reply, 429, "At most %u calls in %u seconds; ask again in %u.",
                                   site->calls_per_window, site->window_seconds, wait);
    }
    if (request->authorization != NULL && !has_token)
        return serve_reply_problem(reply, 401, "This token is nobody's, or it has expired.");
    *is_admitted = 1;
    return CELLAR_OK;
}
