/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a request asks for, as one digest: two requests that differ in anything that decides the
 * draw or its meaning have different ones. Each part is written with its length or in fixed width,
 * so that no two lists of parts read alike. */
#include "release/charge/fingerprint.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/files/digest.h"
#include "release/release.h"
#include "table/table.h"

enum { FINGERPRINT_FLUSH = 1 << 16 };

typedef struct fingerprint {
    cellar_digest *digest;
    cellar_text bytes; /* not yet digested */
} fingerprint;

static void add_flush(fingerprint *f)
{
    if (f->bytes.length > 0)
        cellar_digest_add(f->digest, f->bytes.bytes, f->bytes.length);
    cellar_text_reset(&f->bytes);
}

static void add_number(fingerprint *f, uint64_t number)
{
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char) (number >> 8 * i & 0xff);
    if (f->bytes.length >= FINGERPRINT_FLUSH)
        add_flush(f);
    cellar_text_add(&f->bytes, bytes, sizeof bytes);
}

/* A text may be missing, which is not the empty one. */
static void add_text(fingerprint *f, const char *text)
{
    add_number(f, text != NULL ? strlen(text) + 1 : 0);
    if (text != NULL)
        cellar_text_add_string(&f->bytes, text);
}

static void add_category(fingerprint *f, const cellar_schema *schema, size_t v, size_t category)
{
    size_t n_members;
    const uint32_t *members = cellar_schema_members(schema, v, category, &n_members);
    add_text(f, cellar_schema_code(schema, v, category));
    add_number(f, (uint64_t) cellar_schema_role(schema, v, category));
    for (size_t l = 0; l < cellar_schema_n_languages(schema); l++)
        add_text(f, cellar_schema_label(schema, v, category, l));
    add_number(f, n_members);
    for (size_t i = 0; i < n_members; i++)
        add_number(f, members[i]);
}

static void add_schema(fingerprint *f, const cellar_schema *schema)
{
    size_t n_margins;
    const uint64_t *margins = cellar_schema_margins(schema, &n_margins);
    cellar_text rules = {0};
    add_number(f, cellar_schema_n_variables(schema));
    add_number(f, cellar_schema_n_languages(schema));
    for (size_t l = 0; l < cellar_schema_n_languages(schema); l++)
        add_text(f, cellar_schema_language(schema, l));
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        add_text(f, cellar_schema_variable(schema, v));
        add_number(f, (uint64_t) cellar_schema_domain(schema, v));
        add_number(f, cellar_schema_n_categories(schema, v));
        for (size_t c = 0; c < cellar_schema_n_categories(schema, v); c++)
            add_category(f, schema, v, c);
    }
    add_number(f, n_margins);
    for (size_t m = 0; m < n_margins; m++)
        add_number(f, margins[m]);
    cellar_schema_add_rules(schema, &rules);
    add_text(f, rules.bytes);
    f->bytes.failed |= rules.failed;
    cellar_text_clear(&rules);
}

static void add_cells(fingerprint *f, const cellar_table *table)
{
    const cellar_cells *cells = &table->cells;
    add_number(f, table->key_range);
    add_number(f, table->max_weight);
    add_number(f, cells->weight != NULL);
    add_number(f, cells->n);
    for (size_t i = 0; i < cells->n; i++) {
        cellar_uint128 weight = cells->weight != NULL ? (cellar_uint128) cells->weight[i] : 0;
        add_number(f, table_index(table, i));
        add_number(f, cells->count[i]);
        add_number(f, (uint64_t) weight);
        add_number(f, (uint64_t) (weight >> 64));
        add_number(f, cells->key != NULL ? cells->key[i] : 0);
        add_number(f, cells->status != NULL ? cells->status[i] : 0);
    }
}

/* Not the date, the threads or the limit on cells: they decide nothing about the numbers. */
static void add_options(fingerprint *f, const cellar_protect_options *options)
{
    /* Less 1: requests that ledgers recorded before "undecided" and "default" were 0 stay known. */
    add_number(f, (uint64_t) ((int) options->negatives - 1));
    add_number(f, (uint64_t) options->threshold);
    add_number(f, (uint64_t) (options->per_cell != 0));
    add_text(f, options->total_epsilon);
    add_number(f, (uint64_t) (options->domain_public != 0));
    add_text(f, options->unit != NULL ? options->unit : "record");
    add_number(f, (uint64_t) ((int) options->neighbours - 1));
    add_number(f, options->max_per_unit);
    add_number(f, options->max_weight);
    add_number(f, (uint64_t) options->choice);
    add_text(f, options->key != NULL ? cellar_key_id(options->key) : NULL);
    add_text(f, options->edition);
    add_text(f, options->dataset);
    add_number(f, options->accept);
    if (options->delta != NULL)
        add_text(f, options->delta);
    if (options->below == CELLAR_BELOW_SUPPRESS) /* without it the digests of old requests hold */
        add_text(f, "below suppressed");
}

cellar_status cellar_protect_fingerprint(const char *before, const cellar_table *table,
                                         const cellar_protect_options *options,
                                         char out[CELLAR_FINGERPRINT_TEXT], cellar_error *err)
{
    fingerprint f = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_digest_create(&f.digest, err));
    add_text(&f, "cellar request 1");
    add_text(&f, before);
    add_text(&f, table->tabulation);
    add_schema(&f, table->schema);
    add_cells(&f, table);
    add_options(&f, options);
    if (f.bytes.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the digest of a table"));
    add_flush(&f);
    CELLAR_TRY(cellar_digest_finish(f.digest, out, err));
out:
    if (f.bytes.bytes != NULL)
        cellar_wipe(f.bytes.bytes, f.bytes.capacity);
    cellar_text_clear(&f.bytes);
    cellar_digest_free(f.digest);
    return status;
}
