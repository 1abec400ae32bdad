/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front: opens the site, gives up everything else, and serves. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cellar/process.h>

#include "http.h"
#include "sandbox.h"
#include "vault_link.h"

/* Threads that wait for the vault must not keep others from answering. */
static int n_threads(const server_options *options)
{
    return options->n_threads > 0 ? options->n_threads
                                  : cellar_process_n_processors() + SERVER_LINKS;
}

static int open_site(const server_front *front, vault_links *links, cellar_site **out)
{
    cellar_site_options options = cellar_site_options_default();
    cellar_error err = {""};
    vault_links_init(links, front->links);
    options.ask_vault = vault_links_ask;
    options.vault_context = links;
    if (cellar_site_open(front->options->config, &options, out, &err) == CELLAR_OK &&
        cellar_site_check_apart(*out, &err) == CELLAR_OK)
        return 1;
    server_say("%s", err.message);
    return 0;
}

static int is_local(const server_front *front)
{
    return front->socket.is_unix || strncmp(front->socket.url, "http://127.", 11) == 0 ||
           strncmp(front->socket.url, "http://[::1]", 12) == 0;
}

/* Waits for one of the signals that end the front; answers it. */
static int wait_for_end(const sigset_t *ends)
{
    int signal;
    while (sigwait(ends, &signal) != 0)
        continue;
    return signal;
}

int server_front_run(const server_front *front)
{
    vault_links links;
    cellar_site *site = NULL;
    http_options options = {.fd = front->socket.fd,
                            .is_unix = front->socket.is_unix,
                            .is_local = is_local(front),
                            .n_threads = n_threads(front->options),
                            .deadline = front->options->deadline};
    http *server;
    sigset_t ends;
    char ready;
    sigemptyset(&ends); /* before there are threads: they inherit it */
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGUSR1);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    cellar_process_keep_memory();
    if (!open_site(front, &links, &site) || !sandbox_enter(site, front->options->needs_sandbox)) {
        cellar_site_close(site);
        return 1;
    }
    options.site = site;
    server = http_start(&options);
    ready = cellar_site_needs_vault(site) ? 'v' : 'r';
    if (server != NULL && write(front->ready, &ready, 1) == 1) {
        close(front->ready);
        http_stop(server, wait_for_end(&ends) == SIGUSR1);
    }
    cellar_site_close(site);
    return server == NULL;
}
