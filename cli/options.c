/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/text.h>

/* ---- help ----------------------------------------------------------------- */

enum { HELP_INDENT = 28, HELP_WIDTH = 90 };

static const cli_option help_option = {CLI_FLAG, "help", NULL, "print this and exit", 0, 'h', 0, 0};

/* Prints words from column `at` on, broken at HELP_WIDTH and indented. */
static void help_wrap(const char *text, int at, int indent)
{
    while (*text != '\0') {
        int length = (int) strcspn(text, " ");
        if (at + 1 + length > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            putchar(' ');
            at++;
        }
        printf("%.*s", length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static void help_print_option(const cli_option *option)
{
    int at;
    if (option->kind == CLI_SECTION) {
        printf("\n%s\n", option->name);
        return;
    }
    at = option->letter != 0 ? printf("  -%c, ", option->letter) : printf("      ");
    at += printf("--%s", option->name);
    if (option->argument != NULL)
        at += printf(" %s", option->argument);
    if (at >= HELP_INDENT - 1) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", HELP_INDENT - at, "");
    help_wrap(option->help, HELP_INDENT, HELP_INDENT);
}

static cli_options_visitor *help_visitor;
static void *help_context;

void cli_options_visit_help(cli_options_visitor *visit, void *context)
{
    help_visitor = visit;
    help_context = context;
}

void cli_options_help(const cli_command *command)
{
    if (help_visitor != NULL) {
        help_visitor(command, help_context);
        return;
    }
    printf("Usage: cellar %s %s\n\n", command->name, command->arguments);
    help_wrap(command->about, 0, 0);
    for (size_t i = 0; i < command->n_options; i++)
        help_print_option(&command->options[i]);
    help_print_option(&help_option);
    if (command->examples != NULL && command->examples[0] != NULL)
        puts("\nExamples");
    for (const char *const *e = command->examples; e != NULL && *e != NULL; e++)
        printf("  %s\n", *e);
}

/* ---- parsing -------------------------------------------------------------- */

/* A command line being parsed. */
typedef struct options_state {
    const cli_command *command;
    char *values;
    char *given; /* per option: 1 once seen */
    char **next, **end;
} options_state;

static const cli_option *options_find(const cli_command *command, const char *name, size_t length)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (option->kind != CLI_SECTION && strlen(option->name) == length &&
            memcmp(option->name, name, length) == 0)
            return option;
    }
    if (length == strlen(help_option.name) && memcmp(help_option.name, name, length) == 0)
        return &help_option;
    return NULL;
}

static const cli_option *options_find_letter(const cli_command *command, char letter)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].kind != CLI_SECTION && command->options[i].letter == letter)
            return &command->options[i];
    return letter == help_option.letter ? &help_option : NULL;
}

static int options_unknown(const cli_command *command, const char *name, size_t length)
{
    cli_words known = {0}, word = {0};
    const char *nearest;
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].kind != CLI_SECTION)
            cli_words_add(&known, command->options[i].name, strlen(command->options[i].name));
    cli_words_add(&known, help_option.name, strlen(help_option.name));
    cli_words_add(&word, name, length);
    nearest = cellar_nearest_word(word.items[0], cli_words_items(&known));
    if (nearest != NULL)
        cli_message("%s: unknown option --%s; did you mean --%s?", command->name, word.items[0],
                    nearest);
    else
        cli_message("%s: unknown option --%s; cellar %s --help lists all", command->name,
                    word.items[0], command->name);
    cli_words_clear(&word);
    cli_words_clear(&known);
    return CLI_USAGE;
}

static int options_choice(const options_state *state, const cli_option *option, const char *text,
                          int *choice)
{
    cli_words words = {0};
    const char *nearest;
    size_t found;
    cli_words_split(&words, option->argument, '|', 0);
    found = cli_words_find(&words, text);
    nearest = cellar_nearest_word(text, cli_words_items(&words));
    if (found == (size_t) -1)
        cli_message("%s: --%s must be one of %s, not '%s'%s%s%s", state->command->name,
                    option->name, option->argument, text, nearest != NULL ? "; did you mean '" : "",
                    nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
    *choice = (int) found + 1;
    cli_words_clear(&words);
    return found == (size_t) -1 ? CLI_USAGE : CLI_GO_ON;
}

static int options_number(const options_state *state, const cli_option *option, const char *text,
                          cli_number *number)
{
    number->given = 1;
    if (cellar_parse_u64(text, strlen(text), &number->value) && number->value >= option->smallest &&
        (option->largest == 0 || number->value <= option->largest))
        return CLI_GO_ON;
    if (option->largest != 0)
        return cli_usage("%s: --%s must be a whole number from %llu to %llu, not '%s'",
                         state->command->name, option->name, (unsigned long long) option->smallest,
                         (unsigned long long) option->largest, text);
    return cli_usage("%s: --%s must be a whole number, %llu or more, not '%s'",
                     state->command->name, option->name, (unsigned long long) option->smallest,
                     text);
}

static int options_store(options_state *state, const cli_option *option, const char *text)
{
    void *value = state->values + option->offset;
    char *given = &state->given[option - state->command->options];

    if (*given && option->kind != CLI_MANY)
        return cli_usage("%s: --%s is given twice", state->command->name, option->name);
    *given = 1;
    switch (option->kind) {
    case CLI_TEXT:
        *(const char **) value = text;
        break;
    case CLI_MANY:
        cli_words_add(value, text, strlen(text));
        break;
    case CLI_NUMBER:
        return options_number(state, option, text, value);
    case CLI_CHOICE:
        return options_choice(state, option, text, value);
    case CLI_FLAG: /* has no argument to store */
    case CLI_SECTION:
        break;
    }
    return CLI_GO_ON;
}

/* The next word is the argument, unless it is plainly another option. */
static const char *options_take_argument(options_state *state)
{
    const char *word;
    if (state->next == state->end)
        return NULL;
    word = *state->next;
    if (strncmp(word, "--", 2) == 0 &&
        (word[2] == '\0' || options_find(state->command, word + 2, strcspn(word + 2, "=")) != NULL))
        return NULL;
    state->next++;
    return word;
}

static int options_apply(options_state *state, const cli_option *option, const char *argument)
{
    if (option == &help_option) {
        cli_options_help(state->command);
        return CLI_DONE;
    }
    if (option->argument == NULL) {
        if (argument != NULL)
            return cli_usage("%s: --%s takes no value", state->command->name, option->name);
        *(int *) (void *) (state->values + option->offset) = 1;
        return CLI_GO_ON;
    }
    if (argument == NULL)
        argument = options_take_argument(state);
    if (argument == NULL)
        return cli_usage("%s: --%s needs a value: --%s %s", state->command->name, option->name,
                         option->name, option->argument);
    return options_store(state, option, argument);
}

static int options_long(options_state *state, const char *word)
{
    size_t length = strcspn(word, "=");
    const cli_option *option = options_find(state->command, word, length);
    if (option == NULL)
        return options_unknown(state->command, word, length);
    return options_apply(state, option, word[length] == '=' ? word + length + 1 : NULL);
}

/* -o FILE or -oFILE, but not -output, which would write a file named "utput". */
static int options_short(options_state *state, const char *word)
{
    const cli_option *option = options_find_letter(state->command, word[0]);
    size_t length = strcspn(word, "=");
    if (options_find(state->command, word, length) != NULL && length > 1)
        return cli_usage("%s: unknown option -%s; did you mean --%s?", state->command->name, word,
                         word);
    if (option == NULL)
        return cli_usage("%s: unknown option -%c; cellar %s --help lists all", state->command->name,
                         word[0], state->command->name);
    return options_apply(state, option, word[1] != '\0' ? word + 1 : NULL);
}

int cli_options_parse(const cli_command *command, int argc, char **argv, void *values,
                      cli_words *positional)
{
    options_state state = {command, values, cli_alloc(command->n_options, 1), argv + 1,
                           argv + argc};
    int result = CLI_GO_ON, only_positional = 0;

    while (result == CLI_GO_ON && state.next < state.end) {
        const char *word = *state.next++;
        if (only_positional || word[0] != '-' || word[1] == '\0')
            cli_words_add(positional, word, strlen(word));
        else if (strcmp(word, "--") == 0)
            only_positional = 1;
        else if (word[1] == '-')
            result = options_long(&state, word + 2);
        else
            result = options_short(&state, word + 1);
    }
    free(state.given);
    return result;
}

int cli_option_is_given(const cli_option *option, const void *values)
{
    const void *value = (const char *) values + option->offset;
    switch (option->kind) {
    case CLI_TEXT:
        return *(const char *const *) value != NULL;
    case CLI_MANY:
        return ((const cli_words *) value)->n > 0;
    case CLI_NUMBER:
        return ((const cli_number *) value)->given;
    case CLI_CHOICE:
    case CLI_FLAG:
        return *(const int *) value != 0;
    case CLI_SECTION:
        break;
    }
    return 0;
}

/* Where the option belongs, all bits set when it has no place of its own. */
static unsigned option_parts(const cli_option *option, const cli_place *places, size_t n_places)
{
    for (size_t i = 0; i < n_places; i++)
        if (strcmp(places[i].name, option->name) == 0)
            return places[i].parts;
    return ~0U;
}

int cli_options_check_places(const cli_command *command, const void *values,
                             const cli_place *places, size_t n_places, const char *const *names,
                             size_t own)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        unsigned parts = option_parts(option, places, n_places);
        char list[96] = "";
        if ((parts >> own & 1) != 0 || !cli_option_is_given(option, values))
            continue;
        for (size_t p = 0; parts >> p != 0; p++)
            if ((parts >> p & 1) != 0)
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                         list[0] != '\0' ? ", " : "", names[p]);
        return cli_usage("%s %s: --%s is for %s", command->name, names[own], option->name, list);
    }
    return CLI_GO_ON;
}

void cli_options_clear(const cli_command *command, void *values)
{
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].kind == CLI_MANY)
            cli_words_clear((cli_words *) ((char *) values + command->options[i].offset));
}
