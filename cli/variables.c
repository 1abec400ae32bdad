/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "variables.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cellar/table.h>
#include <cellar/text.h>

void cli_variables_clear(cli_variables *variables)
{
    for (size_t i = 0; variables->sources != NULL && i < variables->names.n; i++) {
        cellar_codelist_free(variables->sources[i].codelist);
        cellar_recode_map_free(variables->sources[i].map);
    }
    free(variables->sources);
    free(variables->specs);
    cli_words_clear(&variables->names);
    *variables = (cli_variables){0};
}

size_t cli_variables_find(const cli_variables *variables, const char *option, const char *name)
{
    size_t found = cli_words_find(&variables->names, name);
    const char *nearest;
    if (found != SIZE_MAX)
        return found;
    nearest = cellar_nearest_word(name, cli_words_items(&variables->names));
    if (nearest != NULL)
        cli_message("--%s: '%s' is not a variable of --%s; did you mean '%s'?", option, name,
                    variables->by_option, nearest);
    else
        cli_message("--%s: '%s' is not a variable of --%s", option, name, variables->by_option);
    return SIZE_MAX;
}

/* ---- VARIABLE=VALUE ------------------------------------------------------- */

/* The variable whose name and an equals sign begin `text`; *value is what follows. Names may hold
 * equals signs themselves, so the variables decide where the name ends. */
static size_t variables_match(const cli_variables *variables, const char *text, const char **value)
{
    size_t best = SIZE_MAX, best_length = 0;
    for (size_t i = 0; i < variables->names.n; i++) {
        const char *name = variables->names.items[i];
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && text[length] == '=' && length >= best_length) {
            best = i;
            best_length = length;
        }
    }
    if (best != SIZE_MAX)
        *value = text + best_length + 1;
    return best;
}

/* VARIABLE=VALUE, and nothing else will do. */
static size_t variables_assignment(const cli_variables *variables, const char *option,
                                   const char *text, const char **value)
{
    size_t variable = variables_match(variables, text, value);
    const char *equals = strchr(text, '=');
    cli_words name = {0};
    if (variable != SIZE_MAX)
        return variable;
    if (equals == NULL) {
        cli_message("--%s must be VARIABLE=VALUE, not '%s'", option, text);
        return SIZE_MAX;
    }
    cli_words_add(&name, text, (size_t) (equals - text));
    cli_variables_find(variables, option, name.items[0]); /* for what it says */
    cli_words_clear(&name);
    return SIZE_MAX;
}

/* "region" of "lists/region.csv". */
static int variables_is_file_of(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    size_t length = strlen(name);
    return strncmp(base, name, length) == 0 &&
           (strcmp(base + length, ".csv") == 0 || strcmp(base + length, ".hrc") == 0);
}

/* VARIABLE=FILE; or FILE alone when there is one variable or the file is named after one. */
static size_t variables_file(const cli_variables *variables, const char *option, const char *text,
                             const char **path)
{
    size_t variable = variables_match(variables, text, path);
    if (variable != SIZE_MAX)
        return variable;
    *path = text;
    for (size_t i = 0; i < variables->names.n; i++)
        if (variables_is_file_of(text, variables->names.items[i]))
            return i;
    if (variables->names.n == 1 && strchr(text, '=') == NULL)
        return 0;
    if (strchr(text, '=') != NULL)
        return variables_assignment(variables, option, text, path);
    cli_message("--%s: which variable is %s for? Say VARIABLE=%s", option, text, text);
    return SIZE_MAX;
}

/* ---- domains -------------------------------------------------------------- */

static cellar_status variables_read_codelist(cli_variables *variables, size_t variable,
                                             const char *path, cellar_error *err)
{
    size_t length = strlen(path);
    cellar_codelist **list = &variables->sources[variable].codelist;
    if (length > 4 && strcmp(path + length - 4, ".hrc") == 0)
        return cellar_codelist_read_hrc(path, "@", list, err);
    return cellar_codelist_read(path, list, err);
}

static int variables_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A folder declares every variable it holds a VARIABLE.csv or VARIABLE.hrc for. */
static int variables_domain_folder(cli_variables *variables, const char *folder)
{
    static const char *const endings[] = {"csv", "hrc"};
    size_t n_found = 0;
    cellar_error err;
    for (size_t i = 0; i < variables->names.n; i++)
        for (size_t e = 0; e < 2 && variables->sources[i].codelist == NULL; e++) {
            const char *name = variables->names.items[i];
            size_t size = strlen(folder) + strlen(name) + 8;
            char *path = cli_alloc(size, 1);
            struct stat ignored;
            cellar_status status = CELLAR_OK;
            snprintf(path, size, "%s/%s.%s", folder, name, endings[e]);
            if (strchr(name, '/') == NULL && stat(path, &ignored) == 0) {
                n_found++;
                status = variables_read_codelist(variables, i, path, &err);
            }
            free(path);
            if (status != CELLAR_OK)
                return cli_exit(status, &err);
        }
    if (n_found == 0)
        return cli_usage("--domain: %s: the folder has no VARIABLE.csv or VARIABLE.hrc for any "
                         "variable without a code list",
                         folder);
    return CLI_GO_ON;
}

static int variables_domain(cli_variables *variables, const char *text)
{
    const char *path;
    size_t variable;
    cellar_error err;
    cellar_status status;

    if (variables_match(variables, text, &path) == SIZE_MAX && variables_is_folder(text))
        return variables_domain_folder(variables, text);
    variable = variables_file(variables, "domain", text, &path);
    if (variable == SIZE_MAX)
        return CLI_USAGE;
    if (variables->sources[variable].codelist != NULL)
        return cli_usage("--domain: variable '%s' has two code lists",
                         variables->names.items[variable]);
    status = variables_read_codelist(variables, variable, path, &err);
    return status != CELLAR_OK ? cli_exit(status, &err) : CLI_GO_ON;
}

/* Value labels of the data file, for variables without a code list that have some; with a code for
 * missing values where these are a level. */
static int variables_domain_labels(cli_variables *variables, const char *path,
                                   const cellar_reader_options *reader)
{
    for (size_t i = 0; i < variables->names.n; i++) {
        cellar_codelist **list = &variables->sources[i].codelist, *labels = NULL;
        const cellar_missing_policy own = variables->specs[i].missing_policy;
        const cellar_missing_policy policy = own != 0 ? own : variables->missing_policy;
        cellar_status status;
        cellar_error err;
        if (*list != NULL || cellar_codelist_from_labels(path, reader, variables->names.items[i],
                                                         &labels, NULL) != CELLAR_OK)
            continue;
        if (policy != CELLAR_MISSING_LEVEL) {
            *list = labels;
            continue;
        }
        status = cellar_codelist_with_unknown(labels, list, &err);
        cellar_codelist_free(labels);
        if (status != CELLAR_OK)
            return cli_exit(status, &err);
    }
    return CLI_GO_ON;
}

/* ---- recoding ------------------------------------------------------------- */

static int variables_recode(cli_variables *variables, const char *text)
{
    const char *path;
    size_t variable = variables_file(variables, "recode", text, &path);
    cellar_error err;
    cellar_status status;
    if (variable == SIZE_MAX)
        return CLI_USAGE;
    if (variables->sources[variable].map != NULL)
        return cli_usage("--recode: variable '%s' has two maps", variables->names.items[variable]);
    status = cellar_recode_map_read(path, &variables->sources[variable].map, &err);
    return status != CELLAR_OK ? cli_exit(status, &err) : CLI_GO_ON;
}

/* Stores the values of a VARIABLE=VALUE option at an offset in each variable's recode. */
static int variables_assign(cli_variables *variables, const char *option, const cli_words *texts,
                            size_t offset)
{
    for (size_t i = 0; i < texts->n; i++) {
        const char *value;
        const char **place;
        size_t variable = variables_assignment(variables, option, texts->items[i], &value);
        if (variable == SIZE_MAX)
            return CLI_USAGE;
        place = (const char **) ((char *) &variables->specs[variable].recode + offset);
        if (*place != NULL)
            return cli_usage("--%s is given twice for '%s'", option,
                             variables->names.items[variable]);
        *place = value;
    }
    return CLI_GO_ON;
}

/* left or right for all variables, or VARIABLE=left|right. */
static int variables_band_closed(cli_variables *variables, const char *text)
{
    const char *side = text;
    size_t first = 0, end = variables->names.n;
    if (strchr(text, '=') != NULL) {
        first = variables_assignment(variables, "band-closed", text, &side);
        if (first == SIZE_MAX)
            return CLI_USAGE;
        end = first + 1;
    }
    if (strcmp(side, "left") != 0 && strcmp(side, "right") != 0)
        return cli_usage("--band-closed must be left or right, not '%s'", side);
    for (size_t i = first; i < end; i++)
        variables->specs[i].recode.band_closed_right = strcmp(side, "right") == 0;
    return CLI_GO_ON;
}

/* VARIABLE=N. */
static int variables_level(cli_variables *variables, const char *text)
{
    const char *value = NULL;
    const size_t variable = variables_assignment(variables, "level", text, &value);
    uint64_t level;
    if (variable == SIZE_MAX)
        return CLI_USAGE;
    if (!cellar_parse_u64(value, strlen(value), &level) || level == 0 || level > UINT32_MAX)
        return cli_usage("--level: '%s' is no number of at least 1", value);
    variables->specs[variable].level = (size_t) level;
    return CLI_GO_ON;
}

/* drop or level for all variables, or VARIABLE=drop|level; a wildcard is a level. */
static int variables_missing_as(cli_variables *variables, const char *text, int with_wildcard)
{
    const char *const words[] = {"drop", "level", with_wildcard ? "wildcard" : NULL, NULL};
    static const cellar_missing_policy policies[] = {CELLAR_MISSING_DROP, CELLAR_MISSING_LEVEL,
                                                     CELLAR_MISSING_LEVEL};
    const char *word = text, *nearest;
    cellar_missing_policy *place = &variables->missing_policy;
    if (strchr(text, '=') != NULL) {
        size_t variable = variables_assignment(variables, "missing-as", text, &word);
        if (variable == SIZE_MAX)
            return CLI_USAGE;
        place = &variables->specs[variable].missing_policy;
    }
    if (*place != CELLAR_MISSING_UNDECIDED)
        return cli_usage("--missing-as is given twice for %s",
                         word != text ? "one variable" : "all variables");
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0) {
            *place = policies[i];
            return CLI_GO_ON;
        }
    nearest = cellar_nearest_word(word, words);
    return cli_usage("--missing-as must be one of drop|level%s, not '%s'%s%s%s",
                     with_wildcard ? "|wildcard" : "", word,
                     nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
                     nearest != NULL ? "'?" : "");
}

static int variables_recodes(const cli_variable_options *options, cli_variables *variables)
{
    const struct {
        const char *option;
        const cli_words *texts;
        size_t offset;
    } assignments[] = {
        {"band", &options->band, offsetof(cellar_recode, band_width)},
        {"band-origin", &options->band_origin, offsetof(cellar_recode, band_origin)},
        {"top", &options->top, offsetof(cellar_recode, top)},
        {"bottom", &options->bottom, offsetof(cellar_recode, bottom)},
    };
    int result = CLI_GO_ON;
    for (size_t i = 0; result == CLI_GO_ON && i < sizeof assignments / sizeof assignments[0]; i++)
        result = variables_assign(variables, assignments[i].option, assignments[i].texts,
                                  assignments[i].offset);
    for (size_t i = 0; result == CLI_GO_ON && i < options->band_closed.n; i++)
        result = variables_band_closed(variables, options->band_closed.items[i]);
    for (size_t i = 0; result == CLI_GO_ON && i < options->missing_as.n; i++)
        result = variables_missing_as(variables, options->missing_as.items[i],
                                      options->missing_wildcard);
    for (size_t i = 0; result == CLI_GO_ON && i < options->level.n; i++)
        result = variables_level(variables, options->level.items[i]);
    for (size_t i = 0; result == CLI_GO_ON && i < options->recode.n; i++)
        result = variables_recode(variables, options->recode.items[i]);
    return result;
}

/* ---- all of it ------------------------------------------------------------ */

int cli_variables_split(const char *option, const char *by, cli_words *names)
{
    if (!cli_words_split(names, by, ',', 1))
        return cli_usage("--%s: a quote is not closed", option);
    for (size_t i = 0; i < names->n; i++) {
        if (names->items[i][0] == '\0')
            return cli_usage("--%s: a name is empty", option);
        if (cli_words_find(names, names->items[i]) < i)
            return cli_usage("--%s: '%s' is named twice", option, names->items[i]);
    }
    return CLI_GO_ON;
}

int cli_variables_names(const char *option, const char *by, cli_words *names)
{
    const int result = cli_variables_split(option, by, names);
    if (result == CLI_GO_ON && names->n > CELLAR_MAX_VARIABLES)
        return cli_usage("--%s takes at most %d variables", option, (int) CELLAR_MAX_VARIABLES);
    return result;
}

int cli_variables_positions(const cellar_schema *schema, const char *option, const char *text,
                            size_t *positions, size_t *n)
{
    cli_words names = {0};
    int result = cli_variables_names(option, text, &names);
    for (size_t i = 0; i < names.n && result == CLI_GO_ON; i++) {
        const size_t position = cellar_schema_find_variable(schema, names.items[i]);
        if (position == CELLAR_NO_CODE)
            result = cli_usage("--%s: the table has no variable '%s'", option, names.items[i]);
        for (size_t k = 0; k < *n && result == CLI_GO_ON; k++)
            if (positions[k] == position)
                result = cli_usage("--%s: '%s' is named twice", option, names.items[i]);
        if (result == CLI_GO_ON)
            positions[(*n)++] = position;
    }
    cli_words_clear(&names);
    return result;
}

int cli_variables_read_names(const cli_variable_options *options, const char *by_option,
                             const cli_words *names, const char *path,
                             const cellar_reader_options *reader, cli_variables *out)
{
    const size_t n = names->n;
    int result;

    for (size_t i = 0; i < n; i++)
        cli_words_add(&out->names, names->items[i], strlen(names->items[i]));
    out->by_option = by_option;
    out->specs = cli_alloc(n, sizeof *out->specs);
    out->sources = cli_alloc(n, sizeof *out->sources);
    result = variables_recodes(options, out);
    for (size_t i = 0; result == CLI_GO_ON && i < options->domain.n; i++)
        result = variables_domain(out, options->domain.items[i]);
    if (result == CLI_GO_ON && options->domain_labels)
        result = variables_domain_labels(out, path, reader);
    for (size_t i = 0; i < n; i++) {
        out->specs[i].column = out->names.items[i];
        out->specs[i].codelist = out->sources[i].codelist;
        out->specs[i].domain_public = options->domain_public;
        out->specs[i].recode.map = out->sources[i].map;
    }
    return result;
}

int cli_variables_read(const cli_variable_options *options, const char *path,
                       const cellar_reader_options *reader, cli_variables *out)
{
    const char *by = options->by_option != NULL ? options->by_option : "by";
    cli_words names = {0};
    int result = cli_variables_names(by, options->by, &names);
    if (result == CLI_GO_ON)
        result = cli_variables_read_names(options, by, &names, path, reader, out);
    cli_words_clear(&names);
    return result;
}
