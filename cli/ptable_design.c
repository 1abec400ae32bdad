/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of a design, in Cellar's words or in those of the R package ptable, as the mechanism
 * that has it for its matrix. */
#include "ptable.h"

#include <stdio.h>
#include <string.h>

#include "options.h"

/* A parameter of max-entropy and the options that set it. */
typedef struct design_option {
    const char *parameter;
    const char *ours, *theirs; /* names of the options */
    const char *our_value, *their_value;
    int by_count; /* 1: a list, with a value for each count from 1 */
} design_option;

enum { OPTION_VARIANCE, OPTION_M, OPTION_MIN, OPTION_STAY, OPTION_MONO, OPTIONS };

static void design_options(const ptable_values *v, design_option options[OPTIONS])
{
    const design_option all[OPTIONS] = {
        {"variance", "--variance", "--V", v->variance, v->their_v, 0},
        {"m", "--m", "--D", v->m, v->their_d, 0},
        {"min", "--min", "--js", v->min, v->their_js, 0},
        {"stay", "--stay", "--pstay", v->stay, v->their_pstay, 1},
        {"mono", "--mono-rows", NULL, v->mono_rows, NULL, 1},
    };
    memcpy(options, all, sizeof all);
}

int ptable_design_theirs(const ptable_values *v)
{
    return v->their_d != NULL || v->their_v != NULL || v->their_js != NULL ||
           v->their_pstay != NULL;
}

/* yes and no, also in R's words. */
static const char *mono_word(const char *word, size_t length)
{
    static const char *const spellings[][2] = {{"TRUE", "yes"}, {"T", "yes"},   {"FALSE", "no"},
                                               {"F", "no"},     {"yes", "yes"}, {"no", "no"}};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strlen(spellings[i][0]) == length && memcmp(spellings[i][0], word, length) == 0)
            return spellings[i][1];
    return NULL;
}

/* Adds "key=" and the value, a list with colons for its commas, to the spec. */
static int spec_add(char *spec, size_t size, const design_option *option)
{
    const char *value = option->our_value != NULL ? option->our_value : option->their_value;
    const char *name = option->our_value != NULL ? option->ours : option->theirs;
    int is_mono = strcmp(option->parameter, "mono") == 0;
    const char *separator = strchr(spec, '=') != NULL ? "," : "";
    size_t used = strlen(spec);

    if (option->our_value != NULL && option->their_value != NULL)
        return cli_usage("ptable design: %s and %s are the same option", option->ours,
                         option->theirs);
    if (value == NULL)
        return CLI_GO_ON;
    if (!option->by_count && strchr(value, ',') != NULL)
        return cli_usage("ptable design: %s takes one number, with a decimal point, got '%.60s'",
                         name, value);
    used += (size_t) snprintf(spec + used, size - used, "%s%s=", separator, option->parameter);
    for (separator = ""; used < size && value != NULL; separator = ":") {
        size_t length = strcspn(value, ",");
        const char *word = is_mono ? mono_word(value, length) : value;
        if (length == 0 || word == NULL || memchr(value, ':', length) != NULL)
            return cli_usage("ptable design: %s: expected %s, or a list of them with commas, "
                             "got '%.60s'",
                             name, is_mono ? "yes or no" : "a number", value);
        used += (size_t) snprintf(spec + used, size - used, "%s%.*s", separator,
                                  (int) (is_mono ? strlen(word) : length), word);
        value = value[length] == ',' ? value + length + 1 : NULL;
    }
    return used < size ? CLI_GO_ON : cli_usage("ptable design: %s is too long", name);
}

int ptable_design_spec(const ptable_values *values, char *spec, size_t size)
{
    int theirs = ptable_design_theirs(values), result = CLI_GO_ON;
    design_option options[OPTIONS];

    design_options(values, options);
    if (values->mono && values->mono_rows != NULL)
        return cli_usage("ptable design: --mono and --mono-rows are the same option");
    if (values->form != 0 && values->optim != 0)
        return cli_usage("ptable design: --form and --optim are the same option");
    if (values->mono || (theirs && values->mono_rows == NULL))
        options[OPTION_MONO].our_value = "yes";
    snprintf(spec, size, "max-entropy:");
    for (size_t i = 0; result == CLI_GO_ON && i < OPTIONS; i++)
        result = spec_add(spec, size, &options[i]);
    if (result == CLI_GO_ON && ((values->variance == NULL && values->their_v == NULL) ||
                                (values->m == NULL && values->their_d == NULL)))
        result = cli_usage("ptable design needs --variance and --m (--V and --D)");
    if (result == CLI_GO_ON && (values->form == 2 || (values->optim >= 1 && values->optim <= 3) ||
                                (theirs && values->form == 0 && values->optim == 0)))
        result = spec_add(
            spec, size,
            &(design_option){.parameter = "form", .ours = "--form", .our_value = "at-most"});
    return result;
}

int ptable_design_fail(const ptable_values *values, const cellar_error *err)
{
    const char *prefix = "max-entropy: ", *message = err->message;
    design_option options[OPTIONS];

    design_options(values, options);
    if (strncmp(message, prefix, strlen(prefix)) != 0)
        return cli_usage("%s", message);
    message += strlen(prefix);
    for (size_t i = 0; i < OPTIONS; i++) {
        size_t length = strlen(options[i].parameter);
        if (strncmp(message, options[i].parameter, length) == 0 && message[length] == ' ')
            return cli_usage("ptable design: %s%s",
                             options[i].their_value != NULL ? options[i].theirs : options[i].ours,
                             message + length);
    }
    return cli_usage("ptable design: %s", message);
}
