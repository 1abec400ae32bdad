/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/parameter.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "math/rational.h"

/* One piece "key=value" of the text being read. */
typedef struct pair {
    const char *key, *value;
    size_t key_length, value_length;
} pair;

static int pair_has_key(const pair *p, const char *name)
{
    return strlen(name) == p->key_length && memcmp(name, p->key, p->key_length) == 0;
}

/* "has epsilon, m" or "has no parameters", for messages. */
static void rules_list(const cellar_parameter_rule *rules, char *out, size_t size)
{
    size_t used = (size_t) snprintf(out, size, "it has");
    if (rules[0].name == NULL)
        snprintf(out + used, size - used, " no parameters");
    for (size_t i = 0; rules[i].name != NULL && used < size; i++)
        used +=
            (size_t) snprintf(out + used, size - used, "%s %s", i > 0 ? "," : "", rules[i].name);
}

static cellar_status pair_fail_key(const pair *p, const cellar_parameter_rule *rules,
                                   const char *name, cellar_error *err)
{
    const char *names[CELLAR_PARAMETERS_MAX + 1] = {0}, *nearest;
    char key[64], list[256];

    for (size_t i = 0; rules[i].name != NULL; i++)
        names[i] = rules[i].name;
    snprintf(key, sizeof key, "%.*s", (int) (p->key_length < 60 ? p->key_length : 60), p->key);
    nearest = cellar_nearest_word(key, names);
    rules_list(rules, list, sizeof list);
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "mechanism '%s' has no parameter '%s'%s%s%s; %s",
                       name, key, nearest != NULL ? ": did you mean '" : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "", list);
}

/* Is value (relation) bound? `relation` is one of ">", ">=", "<", "<=". */
static int bound_holds(const fmpq_t value, const char *relation, const char *bound)
{
    fmpq_t limit;
    int order;
    fmpq_init(limit);
    CELLAR_ASSERT(cellar_rational_parse(bound, strlen(bound), limit));
    order = fmpq_cmp(value, limit);
    fmpq_clear(limit);
    if (relation[0] == '<')
        order = -order;
    return order > 0 || (order == 0 && relation[1] == '=');
}

static cellar_status parameter_check(const cellar_parameter_rule *rule, const char *name,
                                     const cellar_parameter *p, cellar_error *err)
{
    const struct {
        const char *relation, *bound;
    } checks[] = {
        {">", rule->above}, {">=", rule->at_least}, {"<", rule->below}, {"<=", rule->at_most}};

    if (rule->kind == CELLAR_PARAMETER_INTEGER && !fmpz_is_one(fmpq_denref(p->value)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: %s must be a whole number, got %s", name,
                           rule->name, p->text);
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i].bound != NULL && !bound_holds(p->value, checks[i].relation, checks[i].bound))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: %s must be %s %s, got %s", name,
                               rule->name, checks[i].relation, checks[i].bound, p->text);
    return CELLAR_OK;
}

static cellar_status word_check(const cellar_parameter_rule *rule, const char *name,
                                const char *word, cellar_error *err)
{
    char list[256] = "";
    size_t used = 0;
    if (rule->words == NULL)
        return CELLAR_OK;
    for (size_t i = 0; rule->words[i] != NULL; i++) {
        if (strcmp(rule->words[i], word) == 0)
            return CELLAR_OK;
        if (used < sizeof list)
            used += (size_t) snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                                      rule->words[i]);
    }
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: %s must be one of %s, got '%.60s'", name,
                       rule->name, list, word);
}

static cellar_parameter *list_add(cellar_parameter_list *list, const char *name)
{
    cellar_parameter *p = &list->items[list->n];
    CELLAR_ASSERT(list->n < CELLAR_PARAMETERS_MAX);
    *p = (cellar_parameter){.name = name, .nearest = NAN};
    fmpq_init(p->value);
    list->n++;
    return p;
}

/* Gives the number its canonical text and its double. */
static cellar_status parameter_settle(cellar_parameter *p, cellar_error *err)
{
    cellar_text text = {0};
    cellar_rational_add(&text, p->value);
    if (text.failed) {
        cellar_text_clear(&text);
        return cellar_fail_memory(err, "a parameter");
    }
    p->text = text.bytes;
    p->nearest = cellar_rational_double(p->value);
    return CELLAR_OK;
}

static cellar_status parameter_read(const cellar_parameter_rule *rule, const char *name,
                                    const pair *given, cellar_parameter *p, cellar_error *err)
{
    cellar_status status;
    if (rule->kind == CELLAR_PARAMETER_WORD) {
        p->text = cellar_alloc(given->value_length + 1, 1);
        if (p->text == NULL)
            return cellar_fail_memory(err, "a parameter");
        memcpy(p->text, given->value, given->value_length);
        return word_check(rule, name, p->text, err);
    }
    if (!cellar_rational_parse(given->value, given->value_length, p->value))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: %s must be a number such as 0.5 or 1e-6, got '%.*s'", name,
                           rule->name, (int) (given->value_length < 60 ? given->value_length : 60),
                           given->value);
    status = parameter_settle(p, err);
    return status == CELLAR_OK ? parameter_check(rule, name, p, err) : status;
}

/* Reads each value of "0.5:0.7:..." by the rule and joins their canonical texts. */
static cellar_status parameter_read_series(const cellar_parameter_rule *rule, const char *name,
                                           const pair *given, cellar_parameter *p,
                                           cellar_error *err)
{
    const char *value = given->value, *end = given->value + given->value_length;
    cellar_status status = CELLAR_OK;
    cellar_text text = {0};

    while (status == CELLAR_OK && value <= end) {
        const char *colon = memchr(value, ':', (size_t) (end - value));
        pair one = {.value = value, .value_length = (size_t) ((colon ? colon : end) - value)};
        cellar_parameter item = {.nearest = NAN};
        fmpq_init(item.value);
        status = parameter_read(rule, name, &one, &item, err);
        if (status == CELLAR_OK)
            cellar_text_printf(&text, "%s%s", value > given->value ? ":" : "", item.text);
        cellar_free(item.text);
        fmpq_clear(item.value);
        value += one.value_length + 1;
    }
    if (status == CELLAR_OK && text.failed)
        status = cellar_fail_memory(err, "a parameter");
    if (status == CELLAR_OK)
        p->text = text.bytes;
    else
        cellar_text_clear(&text);
    return status;
}

static int pair_is_series(const pair *p)
{
    return memchr(p->value, ':', p->value_length) != NULL;
}

/* Cuts the text at its commas; answers how many pairs there are, or fails. */
static cellar_status pairs_cut(const cellar_parameter_rule *rules, const char *name,
                               const char *text, pair *pairs, size_t *n_pairs, cellar_error *err)
{
    *n_pairs = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, ","), key = strcspn(text, "=,"), n = *n_pairs;
        pair p = {text, text + key + 1, key, length - key - 1};
        size_t known = 0;
        if (key >= length || p.value_length == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: expected key=value, got '%.*s'", name,
                               (int) (length < 60 ? length : 60), text);
        while (rules[known].name != NULL && !pair_has_key(&p, rules[known].name))
            known++;
        if (rules[known].name == NULL)
            return pair_fail_key(&p, rules, name, err);
        for (size_t i = 0; i < n; i++)
            if (pair_has_key(&pairs[i], rules[known].name))
                return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: %s is given twice", name,
                                   rules[known].name);
        pairs[(*n_pairs)++] = p; /* no key twice, so there are never more than rules */
        text += length;
        if (*text == ',' && *++text == '\0')
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: nothing follows the last comma",
                               name);
    }
    return CELLAR_OK;
}

cellar_status cellar_parameter_list_parse(const cellar_parameter_rule *rules, const char *name,
                                          const char *text, cellar_parameter_list *list,
                                          cellar_error *err)
{
    pair pairs[CELLAR_PARAMETERS_MAX];
    size_t n_pairs = 0;
    cellar_status status = CELLAR_OK;

    list->n = 0;
    CELLAR_TRY(pairs_cut(rules, name, text != NULL ? text : "", pairs, &n_pairs, err));
    for (size_t i = 0; rules[i].name != NULL; i++) {
        const pair *given = NULL;
        for (size_t k = 0; k < n_pairs; k++)
            if (pair_has_key(&pairs[k], rules[i].name))
                given = &pairs[k];
        if (given != NULL && rules[i].by_count && pair_is_series(given))
            CELLAR_TRY(
                parameter_read_series(&rules[i], name, given, list_add(list, rules[i].name), err));
        else if (given != NULL)
            CELLAR_TRY(parameter_read(&rules[i], name, given, list_add(list, rules[i].name), err));
        else if (rules[i].required)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                   "%s needs the parameter %s (as in '%s:%s=...')", name,
                                   rules[i].name, name, rules[i].name));
    }
out:
    if (status != CELLAR_OK)
        cellar_parameter_list_clear(list);
    return status;
}

void cellar_parameter_list_clear(cellar_parameter_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        cellar_free(list->items[i].text);
        fmpq_clear(list->items[i].value);
    }
    list->n = 0;
}

size_t cellar_parameter_n_values(const cellar_parameter *p)
{
    size_t n = 1;
    for (const char *c = p->text; *c != '\0'; c++)
        n += *c == ':';
    return n;
}

/* The i-th value of a series as text; the only one for all i when there is one. */
static const char *parameter_value(const cellar_parameter *p, size_t i, size_t *length)
{
    const char *value = p->text;
    if (strchr(value, ':') != NULL)
        for (; i > 0; i--)
            value += strcspn(value, ":") + 1;
    *length = strcspn(value, ":");
    return value;
}

double cellar_parameter_number(const cellar_parameter *p, size_t i)
{
    size_t length;
    const char *value = parameter_value(p, i, &length);
    fmpq_t exact;
    double nearest;
    fmpq_init(exact);
    CELLAR_ASSERT(cellar_rational_parse(value, length, exact));
    nearest = cellar_rational_double(exact);
    fmpq_clear(exact);
    return nearest;
}

int cellar_parameter_is(const cellar_parameter *p, size_t i, const char *word)
{
    size_t length;
    const char *value = parameter_value(p, i, &length);
    return strlen(word) == length && memcmp(value, word, length) == 0;
}

const cellar_parameter *cellar_parameter_find(const cellar_parameter_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return &list->items[i];
    return NULL;
}

cellar_status cellar_parameter_derive(cellar_parameter_list *list, const char *name,
                                      const fmpq_t value, cellar_error *err)
{
    cellar_parameter *p = list_add(list, name);
    p->is_derived = 1;
    fmpq_set(p->value, value);
    return parameter_settle(p, err);
}
