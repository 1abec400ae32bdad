/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every text that the generator is given begins with its purpose, so that no digest is ever the
 * bits of a cell. */
#include "release/draw/predicate.h"

#include <endian.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "table/counting/tabulation.h"

enum { FINGERPRINT_BYTES = sizeof(cellar_fingerprint) };

struct cellar_predicate {
    const cellar_table *table;
    const cellar_fingerprint *fingerprint;
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

/* Starts a text of one purpose. */
static void predicate_begin(cellar_text *text, const char *purpose)
{
    cellar_text_reset(text);
    predicate_add_word(text, purpose);
    predicate_add_number(text, CELLAR_KEYED_SCHEME);
}

static cellar_status predicate_finish(const cellar_text *text, cellar_rng *rng, cellar_error *err)
{
    return text->failed ? cellar_fail_memory(err, "a release")
                        : cellar_rng_select(rng, text->bytes, text->length, err);
}

cellar_status cellar_predicate_create(const cellar_table *table,
                                      const cellar_fingerprint *fingerprint, cellar_predicate **out,
                                      cellar_error *err)
{
    const cellar_schema *schema = table->schema;
    cellar_predicate *predicate = cellar_alloc(1, sizeof *predicate);

    *out = predicate;
    if (predicate == NULL)
        return cellar_fail_memory(err, "a release");
    predicate->table = table;
    predicate->fingerprint = fingerprint;
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
    if (predicate->text.bytes != NULL) /* it may hold counts */
        cellar_wipe(predicate->text.bytes, predicate->text.capacity);
    cellar_text_clear(&predicate->text);
    cellar_free(predicate);
}

/* Adds the categories of a cell. */
static void predicate_add_cell(cellar_predicate *predicate, uint64_t index)
{
    const cellar_schema *schema = predicate->table->schema;
    uint32_t categories[CELLAR_MAX_VARIABLES];

    cellar_schema_categories(schema, index, categories);
    for (size_t k = 0; k < schema->n_variables; k++) {
        size_t v = predicate->order[k];
        const schema_axis *axis = &schema->axes[v];
        if (categories[v] >= axis->n_leaves + axis->n_inner)
            continue; /* the total says nothing about the variable */
        predicate_add_word(&predicate->text, axis->name);
        predicate_add_word(&predicate->text, cellar_schema_code(schema, v, categories[v]));
    }
}

cellar_status cellar_predicate_select(cellar_predicate *predicate, uint64_t index, cellar_rng *rng,
                                      cellar_error *err)
{
    predicate_begin(&predicate->text, "cell");
    cellar_text_add(&predicate->text, (const char *) predicate->fingerprint->bytes,
                    FINGERPRINT_BYTES);
    predicate_add_cell(predicate, index);
    return predicate_finish(&predicate->text, rng, err);
}

/* ---- the fingerprint ------------------------------------------------------- */

/* Adds the pseudo-random numbers of all stored cells, modulo 2^64 in each of four places. Cells
 * are told apart by their categories, so the order in which they are stored makes no difference;
 * two tables whose cells differ get the same sums with a chance of 2^-256, for the numbers of the
 * cells in which they differ are uniform and independent. */
static cellar_status fingerprint_content(cellar_predicate *predicate, cellar_rng *rng,
                                         uint64_t sums[4], cellar_error *err)
{
    const cellar_cells *cells = &predicate->table->cells;
    cellar_status status = CELLAR_OK;
    uint64_t numbers[4];

    for (size_t i = 0; i < cells->n && status == CELLAR_OK; i++) {
        predicate_begin(&predicate->text, "content");
        predicate_add_number(&predicate->text, cells->count[i]);
        predicate_add_number(&predicate->text, cells->status != NULL ? cells->status[i] : 0);
        predicate_add_cell(predicate, table_index(predicate->table, i));
        status = predicate_finish(&predicate->text, rng, err);
        if (status == CELLAR_OK)
            status = cellar_rng_bytes(rng, numbers, sizeof numbers, err);
        for (size_t k = 0; k < 4 && status == CELLAR_OK; k++)
            sums[k] += le64toh(numbers[k]);
    }
    cellar_wipe(numbers, sizeof numbers);
    return status;
}

static cellar_status fingerprint_finish(cellar_predicate *predicate, const char *dataset,
                                        const uint64_t sums[4], cellar_rng *rng,
                                        cellar_fingerprint *out, cellar_error *err)
{
    char *description = NULL;
    cellar_status status = cellar_table_describe(predicate->table, &description, err);

    if (status != CELLAR_OK)
        return status;
    predicate_begin(&predicate->text, "table");
    predicate_add_word(&predicate->text, dataset != NULL ? dataset : "");
    predicate_add_word(&predicate->text, description);
    for (size_t k = 0; k < 4; k++)
        predicate_add_number(&predicate->text, sums[k]);
    cellar_free(description);
    status = predicate_finish(&predicate->text, rng, err);
    if (status == CELLAR_OK)
        status = cellar_rng_bytes(rng, out->bytes, sizeof out->bytes, err);
    return status;
}

cellar_status cellar_fingerprint_make(const cellar_table *table, const char *dataset,
                                      cellar_rng *rng, cellar_fingerprint *out, cellar_error *err)
{
    cellar_predicate *predicate = NULL;
    uint64_t sums[4] = {0};
    cellar_status status = cellar_predicate_create(table, NULL, &predicate, err);

    if (status == CELLAR_OK)
        status = fingerprint_content(predicate, rng, sums, err);
    if (status == CELLAR_OK)
        status = fingerprint_finish(predicate, dataset, sums, rng, out, err);
    cellar_wipe(sums, sizeof sums);
    cellar_predicate_free(predicate);
    return status;
}
