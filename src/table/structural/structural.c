/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/structural/structural.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "table/structural/structural_rules.h"

enum { STRUCTURAL_MAX_BYTES = 1 << 26 };

/* ---- reading words ---- */

typedef struct rule_parser {
    cellar_structural_rules *rules;
    const char *at, *end, *line_start;
    size_t line;
    cellar_error *err;
} rule_parser;

static size_t parser_column(const rule_parser *parser, const char *where)
{
    return (size_t) (where - parser->line_start) + 1;
}

static cellar_status parser_fail(const rule_parser *parser, const char *what)
{
    return cellar_fail(parser->err, CELLAR_ERR_INPUT, "%s:%zu:%zu: %s", parser->rules->name,
                       parser->line, parser_column(parser, parser->at), what);
}

static cellar_status parser_fail_memory(const rule_parser *parser)
{
    return cellar_fail_memory(parser->err, "the structural zeros");
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* What ends a word that is not quoted. */
static int is_special(char c)
{
    return c != '\0' && strchr("=!&|#\"\n", c) != NULL;
}

static void parser_skip_blanks(rule_parser *parser)
{
    while (parser->at < parser->end && is_blank(*parser->at))
        parser->at++;
}

static int parser_sees(const rule_parser *parser, char c)
{
    return parser->at < parser->end && *parser->at == c;
}

/* At the end of a rule: the end of the line or of the file, or a comment. */
static int parser_at_stop(const rule_parser *parser)
{
    return parser->at == parser->end || *parser->at == '\n' || *parser->at == '#';
}

static void parser_next_line(rule_parser *parser)
{
    while (parser->at < parser->end && *parser->at != '\n')
        parser->at++;
    if (parser->at < parser->end)
        parser->at++;
    parser->line++;
    parser->line_start = parser->at;
}

/* "..." with "" for a quote; may hold anything, line ends too. */
static cellar_status parser_quoted(rule_parser *parser, structural_word *word)
{
    const char *at = parser->at + 1;
    char *text;
    size_t n = 0;

    while (at < parser->end && (*at != '"' || (at + 1 < parser->end && at[1] == '"')))
        at += *at == '"' ? 2 : 1;
    if (at >= parser->end)
        return parser_fail(parser, "the quotation has no end");
    text = cellar_arena_alloc(parser->rules->arena, (size_t) (at - parser->at), 1);
    if (text == NULL)
        return parser_fail_memory(parser);
    for (const char *from = parser->at + 1; from < at; from += *from == '"' ? 2 : 1) {
        text[n++] = *from;
        if (*from == '\n') {
            parser->line++;
            parser->line_start = from + 1;
        }
    }
    parser->at = at + 1;
    word->text = text;
    word->length = n;
    return CELLAR_OK;
}

static cellar_status parser_bare(rule_parser *parser, const char *what, structural_word *word)
{
    const char *start = parser->at, *end;
    while (parser->at < parser->end && !is_special(*parser->at))
        parser->at++;
    for (end = parser->at; end > start && is_blank(end[-1]);)
        end--;
    if (end == start)
        return parser_fail(parser, what);
    word->text = cellar_arena_copy(parser->rules->arena, start, (size_t) (end - start));
    word->length = (size_t) (end - start);
    return word->text == NULL ? parser_fail_memory(parser) : CELLAR_OK;
}

static cellar_status parser_word(rule_parser *parser, const char *what, structural_word *word)
{
    cellar_status status;
    parser_skip_blanks(parser);
    *word = (structural_word){.line = parser->line, .column = parser_column(parser, parser->at)};
    status =
        parser_sees(parser, '"') ? parser_quoted(parser, word) : parser_bare(parser, what, word);
    parser_skip_blanks(parser);
    return status;
}

/* ---- rules ---- */

static cellar_status parser_codes(rule_parser *parser, structural_condition *condition)
{
    structural_word **last = &condition->codes;
    for (;;) {
        structural_word *word = cellar_arena_alloc(parser->rules->arena, 1, sizeof *word);
        cellar_status status;
        if (word == NULL)
            return parser_fail_memory(parser);
        status = parser_word(parser, "expected a code", word);
        if (status != CELLAR_OK)
            return status;
        *last = word;
        last = &word->next;
        if (!parser_sees(parser, '|'))
            return CELLAR_OK;
        parser->at++;
    }
}

static cellar_status parser_condition(rule_parser *parser, structural_condition *condition)
{
    cellar_status status =
        parser_word(parser, "expected the name of a variable", &condition->variable);
    if (status != CELLAR_OK)
        return status;
    if (parser_sees(parser, '!')) {
        condition->negated = 1;
        parser->at++;
    }
    if (!parser_sees(parser, '='))
        return parser_fail(parser, "expected = or != after the name of a variable");
    parser->at++;
    return parser_codes(parser, condition);
}

static cellar_status parser_rule(rule_parser *parser, structural_rule *rule)
{
    structural_condition **last = &rule->conditions;
    for (;;) {
        structural_condition *condition =
            cellar_arena_alloc(parser->rules->arena, 1, sizeof *condition);
        cellar_status status;
        if (condition == NULL)
            return parser_fail_memory(parser);
        status = parser_condition(parser, condition);
        if (status != CELLAR_OK)
            return status;
        *last = condition;
        last = &condition->next;
        if (parser_at_stop(parser))
            return CELLAR_OK;
        if (!parser_sees(parser, '&'))
            return parser_fail(parser, "expected & before the next condition");
        parser->at++;
    }
}

static cellar_status parser_file(rule_parser *parser)
{
    structural_rule **last = &parser->rules->rules;
    for (; parser->at < parser->end; parser_next_line(parser)) {
        structural_rule *rule;
        cellar_status status;
        parser_skip_blanks(parser);
        if (parser_at_stop(parser))
            continue;
        if (parser->rules->n_rules == STRUCTURAL_MAX_RULES)
            return parser_fail(parser, "too many rules (at most 4096)");
        rule = cellar_arena_alloc(parser->rules->arena, 1, sizeof *rule);
        if (rule == NULL)
            return parser_fail_memory(parser);
        status = parser_rule(parser, rule);
        if (status != CELLAR_OK)
            return status;
        *last = rule;
        last = &rule->next;
        parser->rules->n_rules++;
    }
    return CELLAR_OK;
}

/* ---- life cycle ---- */

cellar_status cellar_structural_rules_parse(const char *name, const char *bytes, size_t length,
                                            cellar_structural_rules **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_structural_rules *rules = cellar_alloc(1, sizeof *rules);
    rule_parser parser = {.rules = rules, .line = 1, .err = err};

    *out = NULL;
    if (rules != NULL)
        rules->arena = cellar_arena_create(8 * (size_t) STRUCTURAL_MAX_BYTES);
    if (rules != NULL && rules->arena != NULL)
        rules->name = cellar_arena_copy(rules->arena, name, strlen(name));
    if (rules == NULL || rules->name == NULL) {
        status = cellar_fail_memory(err, "the structural zeros");
        goto out;
    }
    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    parser.at = parser.line_start = bytes;
    parser.end = bytes + length;
    if (length > 0 && (memchr(bytes, '\0', length) != NULL || !cellar_utf8_valid(bytes, length))) {
        status = cellar_fail(err, CELLAR_ERR_INPUT, "%s: the rules are not UTF-8 text", name);
        goto out;
    }
    CELLAR_TRY(parser_file(&parser));
    *out = rules;
out:
    if (status != CELLAR_OK)
        cellar_structural_rules_free(rules);
    return status;
}

cellar_status cellar_structural_rules_read(const char *path, cellar_structural_rules **out,
                                           cellar_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    cellar_status status;
    *out = NULL;
    status = cellar_file_read(path, STRUCTURAL_MAX_BYTES, &bytes, &length, err);
    if (status == CELLAR_OK)
        status = cellar_structural_rules_parse(path, bytes, length, out, err);
    cellar_free(bytes);
    return status;
}

void cellar_structural_rules_free(cellar_structural_rules *rules)
{
    if (rules == NULL)
        return;
    cellar_arena_free(rules->arena);
    cellar_free(rules);
}

void cellar_structural_add_word(cellar_text *text, const char *word)
{
    size_t length = strlen(word);
    int bare = length > 0 && !is_blank(word[0]) && !is_blank(word[length - 1]) &&
               strncmp(word, "\xef\xbb\xbf", 3) != 0; /* no byte order mark */
    for (size_t i = 0; i < length; i++)
        bare &= !is_special(word[i]);
    if (bare) {
        cellar_text_add(text, word, length);
        return;
    }
    cellar_text_add_quoted(text, word, length);
}
