/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar completion: what a shell needs to complete verbs and options, from the tables of options.
 */
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "verbs.h"

enum { SHELL_BASH, SHELL_ZSH, SHELL_FISH };
static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static const char *const completion_examples[] = {"cellar completion bash > cellar.bash", NULL};

static const cli_command completion_command = {
    "completion",
    "bash|zsh|fish",
    "Writes the file with which a shell completes verbs, options and the words they take. make "
    "install puts it where the shells look for it.",
    NULL,
    0,
    completion_examples};

/* ---- words ------------------------------------------------------------------------ */

/* The parts of a verb, "cell|table" at the start of its arguments; empty when it has none. */
static void parts_of(const cli_command *command, cli_words *parts)
{
    size_t length = strcspn(command->arguments, " ");
    cli_words first = {0};
    cli_words_add(&first, command->arguments, length);
    if (length > 0 && command->arguments[0] >= 'a' && command->arguments[0] <= 'z')
        cli_words_split(parts, first.items[0], '|', 0);
    cli_words_clear(&first);
}

static void print_words(const cli_words *words)
{
    for (size_t i = 0; i < words->n; i++)
        printf("%s%s", i > 0 ? " " : "", words->items[i]);
}

/* The words that an option takes, "a b c" for "a|b|c". */
static void print_choices(const cli_option *option)
{
    for (const char *c = option->argument; *c != '\0'; c++)
        putchar(*c == '|' ? ' ' : *c);
}

/* A text within single quotes, with the characters of `special` escaped. */
static void print_quoted(const char *text, const char *special, const char *quote)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs(quote, stdout);
            continue;
        }
        if (strchr(special, *text) != NULL)
            putchar('\\');
        putchar(*text);
    }
}

/* ---- bash --------------------------------------------------------------------------- */

static void bash_choices(const cli_command *command, void *context)
{
    (void) context;
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].kind == CLI_CHOICE) {
            printf("    '%s --%s') words='", command->name, command->options[i].name);
            print_choices(&command->options[i]);
            puts("' ;;");
        }
}

static void bash_options(const cli_command *command, void *context)
{
    (void) context;
    printf("    '%s -') words='", command->name);
    for (size_t i = 0; i < command->n_options; i++)
        if (command->options[i].kind != CLI_SECTION)
            printf("--%s ", command->options[i].name);
    puts("--help' ;;");
}

static void bash_parts(const cli_command *command, void *context)
{
    cli_words parts = {0};
    (void) context;
    parts_of(command, &parts);
    if (parts.n > 0) {
        printf("    '%s 2') words='", command->name);
        print_words(&parts);
        puts("' ;;");
    }
    cli_words_clear(&parts);
}

static void bash_verb(const char *name, const char *summary)
{
    (void) summary;
    printf("%s ", name);
}

static void write_bash(void)
{
    puts("# bash completion for cellar, written by `cellar completion bash`\n"
         "_cellar() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\n"
         "    local verb=${COMP_WORDS[1]}\n"
         "    case \"$verb $prev\" in");
    cli_verbs_visit(bash_choices, NULL);
    fputs("    *) case \"$COMP_CWORD $cur $prev\" in\n"
          "       '1 '* | '2 '*' help') words='",
          stdout);
    cli_verbs_list(bash_verb);
    puts("help' ;;\n"
         "       *' -'*' '*) verb=\"$verb -\" ;;\n"
         "       '2 '*) verb=\"$verb 2\" ;;\n"
         "       esac ;;\n"
         "    esac\n"
         "    [ -n \"$words\" ] || case \"$verb\" in");
    cli_verbs_visit(bash_options, NULL);
    cli_verbs_visit(bash_parts, NULL);
    puts("    esac\n"
         "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
         "}\n"
         "complete -o bashdefault -o default -F _cellar cellar");
}

/* ---- zsh ---------------------------------------------------------------------------- */

static void zsh_options(const cli_command *command, void *context)
{
    cli_words parts = {0};
    (void) context;
    printf("    %s) _arguments", command->name);
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (option->kind == CLI_SECTION)
            continue;
        printf(" \\\n        '%s--%s[", option->kind == CLI_MANY ? "*" : "", option->name);
        print_quoted(option->help, "[]\\", "'\\''");
        putchar(']');
        if (option->kind == CLI_CHOICE) {
            fputs(": :(", stdout);
            print_choices(option);
            putchar(')');
        } else if (option->argument != NULL)
            fputs(": :_files", stdout);
        putchar('\'');
    }
    parts_of(command, &parts);
    if (parts.n > 0) {
        fputs(" \\\n        '1: :(", stdout);
        print_words(&parts);
        fputs(")'", stdout);
    }
    puts(" \\\n        '--help[print the options and exit]' '*: :_files' ;;");
    cli_words_clear(&parts);
}

static void zsh_verb(const char *name, const char *summary)
{
    printf("        '%s:", name);
    print_quoted(summary, "\\:", "'\\''");
    puts("'");
}

static void write_zsh(void)
{
    puts("#compdef cellar\n"
         "# zsh completion for cellar, written by `cellar completion zsh`\n"
         "_cellar() {\n"
         "    local -a verbs=(");
    cli_verbs_list(zsh_verb);
    puts("        'help:the options of a verb'\n"
         "    )\n"
         "    if (( CURRENT == 2 )); then\n"
         "        _describe verb verbs\n"
         "        return\n"
         "    fi\n"
         "    shift words\n"
         "    (( CURRENT-- ))\n"
         "    case $words[1] in\n"
         "    help) _describe verb verbs ;;");
    cli_verbs_visit(zsh_options, NULL);
    puts("    esac\n"
         "}\n"
         "_cellar \"$@\"");
}

/* ---- fish --------------------------------------------------------------------------- */

static void fish_options(const cli_command *command, void *context)
{
    cli_words parts = {0};
    (void) context;
    for (size_t i = 0; i < command->n_options; i++) {
        const cli_option *option = &command->options[i];
        if (option->kind == CLI_SECTION)
            continue;
        printf("complete -c cellar -n '__fish_seen_subcommand_from %s' -l %s", command->name,
               option->name);
        if (option->letter != 0)
            printf(" -s %c", option->letter);
        if (option->kind == CLI_CHOICE) {
            fputs(" -x -a '", stdout);
            print_choices(option);
            putchar('\'');
        } else if (option->argument != NULL)
            fputs(" -r", stdout);
        fputs(" -d '", stdout);
        print_quoted(option->help, "\\", "\\'");
        puts("'");
    }
    parts_of(command, &parts);
    if (parts.n > 0) {
        printf("complete -c cellar -n '__fish_seen_subcommand_from %s' -a '", command->name);
        print_words(&parts);
        puts("'");
    }
    printf("complete -c cellar -n '__fish_seen_subcommand_from %s' -l help -s h -d 'print the "
           "options and exit'\n",
           command->name);
    cli_words_clear(&parts);
}

/* A word in the verb's place, and after help. */
static void fish_verb(const char *name, const char *summary)
{
    static const char *const places[] = {"__fish_use_subcommand",
                                         "'__fish_seen_subcommand_from help'"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        printf("complete -c cellar -n %s -f -a %s -d '", places[i], name);
        print_quoted(summary, "\\", "\\'");
        puts("'");
    }
}

static void write_fish(void)
{
    puts("# fish completion for cellar, written by `cellar completion fish`");
    cli_verbs_list(fish_verb);
    fish_verb("help", "the options of a verb");
    cli_verbs_visit(fish_options, NULL);
}

/* ---- the verb ----------------------------------------------------------------------- */

int cli_completion(int argc, char **argv)
{
    static void (*const writers[])(void) = {
        [SHELL_BASH] = write_bash, [SHELL_ZSH] = write_zsh, [SHELL_FISH] = write_fish};
    cli_words words = {0};
    int values = 0; /* the verb has no options */
    int result = cli_options_parse(&completion_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON) {
        size_t shell = 0;
        while (shells[shell] != NULL &&
               (words.n != 1 || strcmp(shells[shell], words.items[0]) != 0))
            shell++;
        if (shells[shell] == NULL)
            result = cli_usage("completion: name a shell: bash, zsh or fish");
        else {
            writers[shell]();
            result = CLI_DONE;
        }
    }
    cli_words_clear(&words);
    return result;
}
