/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/predicate.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

struct cellar_predicate {
    const cellar_table *table;
    size_t order[CELLAR_MAX_VARIABLES]; /* variables by name */
    cellar_text text;
};

/* A number in 8 bytes, lowest first, on every machine. */
static void predicate_add_number(cellar_text *text, uint64_t number)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char) (unsigned char) (number >> (8 * i));
    cellar_text_add(text, bytes, sizeof bytes);
}

/* With its length first, so that no two lists of words look alike. */
static void predicate_add_word(cellar_text *text, const char *word)
{
    predicate_add_number(text, strlen(word));
    cellar_text_add_string(text, word);
}

cellar_status cellar_predicate_create(const cellar_table *table, cellar_predicate **out,
                                      cellar_error *err)
{
    const cellar_schema *schema = table->schema;
    cellar_predicate *predicate = cellar_alloc(1, sizeof *predicate);

    *out = predicate;
    if (predicate == NULL)
        return cellar_fail_memory(err, "a release");
    predicate->table = table;
    for (size_t v = 0; v < schema->n_variables; v++) { /* insertion sort by name */
        size_t k = v;
        for (;
             k > 0 && strcmp(schema->axes[predicate->order[k - 1]].name, schema->axes[v].name) > 0;
             k--)
            predicate->order[k] = predicate->order[k - 1];
        predicate->order[k] = v;
    }
    return CELLAR_OK;
}

void cellar_predicate_free(cellar_predicate *predicate)
{
    if (predicate == NULL)
        return;
    cellar_text_clear(&predicate->text);
    cellar_free(predicate);
}

/* The bytes of the cell's predicate; valid until the next call. NULL when memory ends. */
static const char *predicate_bytes(cellar_predicate *predicate, uint64_t index, size_t *length)
{
    const cellar_schema *schema = predicate->table->schema;
    uint32_t categories[CELLAR_MAX_VARIABLES];

    cellar_schema_categories(schema, index, categories);
    cellar_text_reset(&predicate->text);
    predicate_add_number(&predicate->text, predicate->table->n_records);
    for (size_t k = 0; k < schema->n_variables; k++) {
        size_t v = predicate->order[k];
        const schema_axis *axis = &schema->axes[v];
        if (categories[v] >= axis->n_leaves + axis->n_inner)
            continue; /* the total says nothing about the variable */
        predicate_add_word(&predicate->text, axis->name);
        predicate_add_word(&predicate->text, cellar_schema_code(schema, v, categories[v]));
    }
    *length = predicate->text.length;
    return predicate->text.failed ? NULL : predicate->text.bytes;
}

cellar_status cellar_predicate_select(cellar_predicate *predicate, uint64_t index, cellar_rng *rng,
                                      cellar_error *err)
{
    size_t length;
    const char *bytes = predicate_bytes(predicate, index, &length);
    if (bytes == NULL)
        return cellar_fail_memory(err, "a release");
    return cellar_rng_select(rng, bytes, length, err);
}
