/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roles of cellar collect. */
#ifndef CELLAR_CLI_COLLECT_H
#define CELLAR_CLI_COLLECT_H

#include <cellar/collect.h>

#include "options.h"

typedef struct collect_values {
    const char *spool, *key, *curator;
    const char *shuffler, *analyst, *title, *exposure;
    cli_number people, k, population;
    const char *model, *tolerance, *most_tolerance, *models;
    const char *delta, *epsilon, *hide, *redacted;
    int open;
    cli_number order, common, payload;
    cli_words domain;
    cli_number least_k, least_people;
    const char *most_exposure, *most_epsilon, *never, *budget;
    const char *listen, *to, *from, *forward; /* addresses */
    cli_number timeout;                       /* seconds */
    const char *payload_column, *payloads;
    cli_words origin;
    int anywhere;
    const char *path; /* -o */
} collect_values;

/* --timeout in milliseconds; 0: the library's own. */
static inline uint32_t collect_timeout_ms(const collect_values *values)
{
    return values->timeout.given ? (uint32_t) values->timeout.value * 1000 : 0;
}

/* A role at work in a folder: {0} is an empty one. */
typedef struct collect_place {
    cellar_key *key;
    cellar_collect_keys *keys;
    cellar_invitation *invitation;
    cellar_question *questions[2]; /* for pairs and for triples, if they were asked */
    cellar_decision *decision;     /* NULL before it was made */
} collect_place;

/* The question that is open: the last one, until there is a decision. NULL when there is none. */
const cellar_question *collect_place_asked(const collect_place *place);
/* Where it stands: "1", "pairs", "triples" or "2". */
const char *collect_place_stage(const collect_place *place);

/* Reads the key and, for a role, derives its keys (0: a participant's is used as it is). Answers
 * CLI_GO_ON, or an exit code after a message; so below. Clear it in every case. */
int collect_place_open(const collect_values *values, int role, collect_place *place);
void collect_place_clear(collect_place *place);
/* Reads the invitation, which must be of the curator that --curator names (or, for the curator, of
 * its own key), and the decision if there is one. */
int collect_place_invited(const collect_values *values, collect_place *place);
/* Reads the tally of an open collection and decides again from it; *out may be NULL. */
int collect_place_tally(const collect_values *values, const collect_place *place,
                        cellar_collect_margins **out);
/* "SPOOL/before-STAGE-behind" in `path`, for the place where it stands. */
int collect_stage_path(const collect_values *values, const collect_place *place, const char *before,
                       const char *behind, char path[]);
/* "SPOOL/name" in `path`. */
enum { COLLECT_PATH_BYTES = 4096 };
int collect_path(const collect_values *values, const char *name, char path[COLLECT_PATH_BYTES]);
/* What a participant asks for; in round two it must have said so. `never` keeps the words. */
int collect_policy_read(const collect_values *values, const collect_place *place, cli_words *never,
                        cellar_collect_policy *out);
/* "KEY.budget", and in words what is spent and left; "" when nothing was randomised and no limit
 * was chosen. */
enum { COLLECT_SAID_BYTES = 256 };
int collect_budget_path(const collect_values *values, char path[COLLECT_PATH_BYTES]);
cellar_status collect_budget_say(const char *path, char *said, size_t size, cellar_error *err);
/* What was refused and why; `what` are submissions or messages. Numbers of senders are no secret.
 */
void collect_tell_refused(const cellar_collect_report *report, const char *what);
/* "independence" (*model is NULL), "sample:FILE" or "cube:FILE". */
int collect_model_open(const collect_values *values, const cellar_collect_column *columns, size_t n,
                       cellar_collect_model **model);
/* "independence,cube" as a mask of kinds. */
int collect_models_read(const char *text, unsigned *mask);
/* Writes a text that everybody may read to a new file. */
int collect_publish(const char *path, const char *text, size_t length);

/* The roles: `action` is the word after the role, `file` what follows it or NULL. */
int collect_run_curator(const collect_values *values, const char *action, const char *file);
int collect_run_shuffler(const collect_values *values, const char *action, const char *file);
int collect_run_analyst(const collect_values *values, const char *action, const char *file);
int collect_run_door(const collect_values *values, const char *action, const char *file);
int collect_run_ask(const collect_values *values);
int collect_run_decide(const collect_values *values);
int collect_run_check(const collect_values *values, const char *file);
int collect_run_participant(const collect_values *values, const char *action, const char *file);
/* `serve`: the desk of a curator or an analyst. `identity`, the same for all roles but
 * participants: writes the public half. */
int collect_run_serve(const collect_values *values, int role);
int collect_run_identity(const collect_values *values, int role);

#endif
