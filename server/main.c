/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `cellar serve` starts this program; docs/table-builder.md explains how it is run. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <cellar/process.h>

#include "server.h"

enum { FAILED = 1, USAGE = 2, THREADS_MAX = 256, DEADLINE_MAX = 3600 };

static int usage(void)
{
    fputs("Usage: cellar-server CONFIG.yaml [--listen ADDRESS:PORT|unix:PATH] [--anywhere]\n"
          "                     [--threads N] [--deadline SECONDS]\n"
          "                     [--signer FILE] [--front-user NAME] [--vault-user NAME]\n"
          "                     [--require-sandbox]\n",
          stderr);
    return USAGE;
}

/* 0: there is a mistake. */
static int read_options(int argc, char **argv, server_options *out)
{
    static const struct option known[] = {{"listen", required_argument, NULL, 'l'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"deadline", required_argument, NULL, 'd'},
                                          {"signer", required_argument, NULL, 'k'},
                                          {"front-user", required_argument, NULL, 'f'},
                                          {"vault-user", required_argument, NULL, 'v'},
                                          {"anywhere", no_argument, NULL, 'a'},
                                          {"require-sandbox", no_argument, NULL, 's'},
                                          {NULL, 0, NULL, 0}};
    int option;
    *out = (server_options){.listen = "127.0.0.1:8080", .deadline = 20};
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        if (option == 'l')
            out->listen = optarg;
        else if (option == 't')
            out->n_threads = atoi(optarg);
        else if (option == 'd')
            out->deadline = atoi(optarg);
        else if (option == 'k')
            out->signer = optarg;
        else if (option == 'f')
            out->front_user = optarg;
        else if (option == 'v')
            out->vault_user = optarg;
        else if (option == 'a')
            out->is_anywhere = 1;
        else if (option == 's')
            out->needs_sandbox = 1;
        else
            return 0;
    if (optind + 1 != argc || out->n_threads < 0 || out->n_threads > THREADS_MAX ||
        out->deadline < 1 || out->deadline > DEADLINE_MAX)
        return 0;
    out->config = argv[optind];
    return 1;
}

int main(int argc, char **argv)
{
    server_options options;
    server_socket listening;
    cellar_error err;
    int result;
    if (!read_options(argc, argv, &options))
        return usage();
    if (cellar_process_harden(&err) != CELLAR_OK) {
        server_say("%s", err.message);
        return FAILED;
    }
    signal(SIGPIPE, SIG_IGN); /* clients go away */
    if (server_listen(&options, &listening) != 0)
        return FAILED;
    result = server_supervise(&options, &listening);
    server_listen_close(&options, &listening);
    return result;
}
