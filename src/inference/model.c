/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/model.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { GENERATORS_MAX = 4096 };

void cellar_model_clear(cellar_model *model)
{
    cellar_free(model->generators);
    *model = (cellar_model){NULL, 0};
}

/* ---- reading ------------------------------------------------------------------ */

typedef struct reader {
    const char *text, *at;
    const char *const *names;
    size_t n_names;
} reader;

static void skip_space(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

static int is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || (unsigned char) c >= 0x80;
}

static cellar_status read_fail(const reader *r, const char *expected, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "model '%.200s': expected %s at '%.60s'", r->text,
                       expected, r->at);
}

static cellar_status read_name(reader *r, uint64_t *bit, cellar_error *err)
{
    const char *start;
    size_t length, quoted;
    skip_space(r);
    quoted = *r->at == '"';
    start = r->at + quoted;
    length = 0;
    while (quoted ? start[length] != '\0' && start[length] != '"' : is_bare(start[length]))
        length++;
    if (length == 0 || (quoted && start[length] != '"'))
        return read_fail(r, "the name of a variable", err);
    for (size_t v = 0; v < r->n_names; v++)
        if (strlen(r->names[v]) == length && memcmp(r->names[v], start, length) == 0) {
            *bit = UINT64_C(1) << v;
            r->at = start + length + quoted;
            return CELLAR_OK;
        }
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "model '%.200s': the table has no variable '%.*s'",
                       r->text, (int) (length < 100 ? length : 100), start);
}

static cellar_status read_generator(reader *r, uint64_t *mask, cellar_error *err)
{
    cellar_status status;
    uint64_t bit = 0;
    *mask = 0;
    do {
        status = read_name(r, &bit, err);
        if (status != CELLAR_OK)
            return status;
        *mask |= bit;
        skip_space(r);
    } while (*r->at == '*' && r->at++);
    return CELLAR_OK;
}

/* Adds a generator unless another holds it; drops those that it holds. */
static cellar_status model_add(cellar_model *model, size_t *capacity, uint64_t mask,
                               cellar_error *err)
{
    size_t n = 0;
    for (size_t g = 0; g < model->n_generators; g++)
        if ((mask & ~model->generators[g]) == 0)
            return CELLAR_OK;
    for (size_t g = 0; g < model->n_generators; g++)
        if ((model->generators[g] & ~mask) != 0)
            model->generators[n++] = model->generators[g];
    model->n_generators = n;
    if (n == GENERATORS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the model has too many terms");
    if (!cellar_grow(&model->generators, capacity, n + 1, sizeof *model->generators))
        return cellar_fail_memory(err, "the model");
    model->generators[model->n_generators++] = mask;
    return CELLAR_OK;
}

cellar_status cellar_model_parse(const char *text, const char *const *names, size_t n_names,
                                 cellar_model *out, cellar_error *err)
{
    reader r = {text, text, names, n_names};
    size_t capacity = 0;
    cellar_status status;
    uint64_t mask;

    *out = (cellar_model){NULL, 0};
    skip_space(&r);
    if (*r.at == '\0')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the model is empty: name its terms, such as 'a*b + c'; 1 is the model "
                           "without variables");
    if (*r.at == '1' && r.at[1 + strspn(r.at + 1, " \t")] == '\0')
        return CELLAR_OK;
    for (;;) {
        status = read_generator(&r, &mask, err);
        if (status == CELLAR_OK)
            status = model_add(out, &capacity, mask, err);
        if (status != CELLAR_OK)
            break;
        if (*r.at == '\0')
            return CELLAR_OK;
        if (*r.at != '+') {
            status = read_fail(&r, "'+', '*' or the end", err);
            break;
        }
        r.at++;
    }
    cellar_model_clear(out);
    return status;
}

/* ---- what it holds -------------------------------------------------------------- */

static int model_holds(const cellar_model *model, uint64_t mask)
{
    for (size_t g = 0; g < model->n_generators; g++)
        if ((mask & ~model->generators[g]) == 0)
            return 1;
    return mask == 0;
}

int cellar_model_is_within(const cellar_model *inner, const cellar_model *outer)
{
    for (size_t g = 0; g < inner->n_generators; g++)
        if (!model_holds(outer, inner->generators[g]))
            return 0;
    return 1;
}

double cellar_model_n_parameters(const cellar_model *model, const size_t *n_levels,
                                 size_t n_variables)
{
    double total = 1; /* the constant */
    for (size_t g = 0; g < model->n_generators; g++) {
        uint64_t whole = model->generators[g];
        /* The sets within this generator that no earlier one holds. */
        for (uint64_t set = whole; set != 0; set = (set - 1) & whole) {
            double product = 1;
            cellar_model earlier = {model->generators, g};
            if (model_holds(&earlier, set))
                continue;
            for (size_t v = 0; v < n_variables; v++)
                if (set >> v & 1)
                    product *= (double) n_levels[v] - 1;
            total += product;
        }
    }
    return total;
}
