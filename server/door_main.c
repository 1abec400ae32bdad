/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `cellar collect door` starts this program; docs/protocol.md explains what it is for. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <cellar/process.h>

#include "door.h"
#include "server.h"

enum { DONE = 0, FAILED = 1, USAGE = 2, PATH_BYTES = 4096 };

typedef struct arguments {
    const char *curator;
    door_options door;
    server_options server; /* of which listen and is_anywhere are used */
} arguments;

static int usage(void)
{
    fputs("Usage: cellar-door --spool FOLDER --curator FILE [--listen ADDRESS:PORT|unix:PATH]\n"
          "                   [--origin URL]... [--anywhere]\n",
          stderr);
    return USAGE;
}

/* "https://host" or "http://host:port", as browsers write it: small letters, no path, no slash at
 * the end, no port that goes without saying. Another spelling would be that of no page. */
static int is_origin(const char *text)
{
    static const char host_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]";
    const int is_https = strncmp(text, "https://", 8) == 0;
    const char *host = text + (is_https ? 8 : 7), *usual = is_https ? ":443" : ":80";
    size_t length;
    if (!is_https && strncmp(text, "http://", 7) != 0)
        return 0;
    length = strlen(host);
    return length > 0 && strspn(host, host_letters) == length &&
           (length < strlen(usual) || strcmp(host + length - strlen(usual), usual) != 0);
}

static int origin_take(const char *text, door_options *out)
{
    if (is_origin(text) && out->n_origins < DOOR_ORIGINS_MAX) {
        out->origins[out->n_origins++] = text;
        return 1;
    }
    server_say("--origin %s: name at most %d origins as browsers do, in small letters, without a "
               "path or the usual port, such as https://survey.example",
               text, DOOR_ORIGINS_MAX);
    return 0;
}

static int read_arguments(int argc, char **argv, arguments *out)
{
    static const struct option known[] = {
        {"spool", required_argument, NULL, 's'},  {"curator", required_argument, NULL, 'c'},
        {"listen", required_argument, NULL, 'l'}, {"origin", required_argument, NULL, 'o'},
        {"anywhere", no_argument, NULL, 'a'},     {NULL, 0, NULL, 0}};
    int option;
    *out = (arguments){.server = {.listen = "127.0.0.1:8081"}};
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        if (option == 's')
            out->door.folder = optarg;
        else if (option == 'c')
            out->curator = optarg;
        else if (option == 'l')
            out->server.listen = optarg;
        else if (option == 'a')
            out->server.is_anywhere = 1;
        else if (option != 'o' || !origin_take(optarg, &out->door))
            return 0;
    return optind == argc && out->door.folder != NULL && out->curator != NULL;
}

/* The invitation of the curator that is known from elsewhere; NULL after a message. */
static cellar_invitation *invitation_read(const arguments *from)
{
    char path[PATH_BYTES];
    cellar_collect_identity curator;
    cellar_invitation *invitation = NULL;
    cellar_error err;
    if (snprintf(path, sizeof path, "%s/invitation", from->door.folder) >= PATH_BYTES) {
        server_say("--spool: the path is too long");
        return NULL;
    }
    if (cellar_collect_identity_read(from->curator, CELLAR_COLLECT_CURATOR, &curator, &err) !=
            CELLAR_OK ||
        cellar_invitation_read(path, &invitation, &err) != CELLAR_OK) {
        server_say("%s", err.message);
        return NULL;
    }
    if (memcmp(&curator, cellar_invitation_identity(invitation, CELLAR_COLLECT_CURATOR),
               sizeof curator) == 0)
        return invitation;
    server_say("%s: the invitation is of another curator", path);
    cellar_invitation_free(invitation);
    return NULL;
}

static int serve(arguments *a, const cellar_invitation *invitation)
{
    server_socket listening;
    sigset_t ends;
    door *d;
    int which;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL); /* before there is a thread */
    if (server_listen(&a->server, &listening) != 0)
        return FAILED;
    a->door.fd = listening.fd;
    a->door.is_local = !a->server.is_anywhere;
    d = door_start(&a->door, invitation);
    if (d != NULL) {
        server_say("answers at %s", listening.url);
        sigwait(&ends, &which);
        door_stop(d); /* closes the socket */
    }
    if (listening.is_unix)
        server_listen_close(&a->server, &listening);
    return d != NULL ? DONE : FAILED;
}

int main(int argc, char **argv)
{
    arguments a;
    cellar_invitation *invitation;
    cellar_error err;
    int result = FAILED;
    if (!read_arguments(argc, argv, &a))
        return usage();
    if (cellar_process_harden(&err) != CELLAR_OK) {
        server_say("%s", err.message);
        return FAILED;
    }
    signal(SIGPIPE, SIG_IGN); /* clients go away */
    invitation = invitation_read(&a);
    if (invitation != NULL)
        result = serve(&a, invitation);
    cellar_invitation_free(invitation);
    return result;
}
