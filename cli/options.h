/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Options of a verb: one table that parses the command line and prints --help. */
#ifndef CELLAR_CLI_OPTIONS_H
#define CELLAR_CLI_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "message.h"
#include "words.h"

/* What an option stores, at its offset in the verb's struct of values. */
typedef enum cli_option_kind {
    CLI_SECTION, /* no option: `name` heads the ones that follow in --help */
    CLI_FLAG,    /* int: 1 when given */
    CLI_TEXT,    /* const char *: the argument, NULL when not given */
    CLI_MANY,    /* cli_words: the arguments of an option that may be repeated */
    CLI_NUMBER,  /* cli_number */
    CLI_CHOICE   /* int: which word of `argument` ("a|b|c"), from 1; 0 when not given */
} cli_option_kind;

typedef struct cli_number {
    uint64_t value;
    int given;
} cli_number;

typedef struct cli_option {
    cli_option_kind kind;
    const char *name;     /* without the dashes */
    const char *argument; /* as --help shows it; NULL for a flag */
    const char *help;
    size_t offset;
    char letter;                /* also -o FILE; 0: none */
    uint64_t smallest, largest; /* of a number; largest 0: no bound */
} cli_option;

/* The rows of a table of options. Its file names the struct whose members keep the values:
 *     #define AT(member) offsetof(protect_values, member) */
#define OPTION(kind, name, argument, help, offset, letter, smallest, largest)                      \
    {                                                                                              \
        kind, name, argument, help, offset, letter, smallest, largest                              \
    }
#define SECTION(name) OPTION(CLI_SECTION, name, NULL, NULL, 0, 0, 0, 0)
#define FLAG(name, member, help) OPTION(CLI_FLAG, name, NULL, help, AT(member), 0, 0, 0)
#define TEXT(name, argument, member, help)                                                         \
    OPTION(CLI_TEXT, name, argument, help, AT(member), 0, 0, 0)
#define MANY(name, argument, member, help)                                                         \
    OPTION(CLI_MANY, name, argument, help, AT(member), 0, 0, 0)
#define CHOICE(name, words, member, help) OPTION(CLI_CHOICE, name, words, help, AT(member), 0, 0, 0)
#define NUMBER(name, argument, member, smallest, largest, help)                                    \
    OPTION(CLI_NUMBER, name, argument, help, AT(member), 0, smallest, largest)
#define OUTPUT(member, help) OPTION(CLI_TEXT, "output", "FILE", help, AT(member), 'o', 0, 0)

typedef struct cli_command {
    const char *name;      /* the verb */
    const char *arguments; /* what follows it in the usage line */
    const char *about;     /* a paragraph */
    const cli_option *options;
    size_t n_options;
    const char *const *examples; /* command lines, NULL-terminated */
} cli_command;

/* Parses argv[1..]: options in any place, `--opt value` and `--opt=value`, everything after `--` is
 * positional. Answers CLI_GO_ON, or an exit code when the program should end: after --help, or
 * with a message about what is wrong. `values` starts zeroed; free it with cli_options_clear()
 * in every case. */
int cli_options_parse(const cli_command *command, int argc, char **argv, void *values,
                      cli_words *positional);
void cli_options_clear(const cli_command *command, void *values);

/* An option that only some parts of a verb know: a bit for each part. */
typedef struct cli_place {
    const char *name;
    unsigned parts;
} cli_place;

/* Refuses options of other parts than `names[own]`: they are a mistake, not a wish to be ignored.
 * Options without a place belong to all parts. */
int cli_options_check_places(const cli_command *command, const void *values,
                             const cli_place *places, size_t n_places, const char *const *names,
                             size_t own);

/* 1 when the command line gave the option. */
int cli_option_is_given(const cli_option *option, const void *values);

void cli_options_help(const cli_command *command);

/* From here on --help calls `visit` with the table of the verb and prints nothing; NULL ends that.
 * So the tables, which their verbs keep to themselves, are read for completion. */
typedef void cli_options_visitor(const cli_command *command, void *context);
void cli_options_visit_help(cli_options_visitor *visit, void *context);

#endif
