/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for tests: one fixed, with everything in it, and any number of random ones. */
#ifndef CELLAR_TESTS_TABLE_SAMPLES_H
#define CELLAR_TESTS_TABLE_SAMPLES_H

#include <stdio.h>
#include <string.h>

#include <cellar/codelist.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "splitmix.h"
#include "table/build.h"
#include "table/structural/structural.h"
#include "table/structural/structural_rules.h"

/* ---- numbers --------------------------------------------------------------- */

typedef struct sample_random {
    uint64_t state;
} sample_random;

static inline uint64_t sample_next(sample_random *random)
{
    return next_random(&random->state);
}

static inline size_t sample_below(sample_random *random, size_t n)
{
    return (size_t) (sample_next(random) % n);
}

/* ---- hostile words --------------------------------------------------------- */

static const char *const sample_words[] = {
    "plain",
    "two words",
    "comma, here",
    "semi;colon",
    "\"quoted\"",
    "it's",
    "line\nbreak",
    "carriage\r\nreturn",
    "tab\there",
    "bell\x07 and escape\x1b",
    "=HYPERLINK(\"http://x\";\"y\")",
    "+1",
    "-1",
    "@cmd",
    "emoji \xf0\x9f\x98\x80",
    "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\xae rtl",
    "\xef\xbb\xbfmark",
    " blanks ",
    "#hash ##",
    "100 %22 %",
    "back\\slash",
    "</script><b>",
    "{\"json\":[1,null]}",
    "..",
    "-",
    "NOTE=\"x\";",
    "\x7f",
    "caf\xc3\xa9",
    "a label so long that it has to be cut in pieces where lines may not be longer than two "
    "hundred "
    "and fifty-six characters, which is what the readers of some old formats ask for, so that it "
    "goes on and on "
    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
    "\xa9"
    "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9 and then it ends",
};

enum { SAMPLE_N_WORDS = sizeof sample_words / sizeof *sample_words };

/* A code or name that no other `number` has. */
static inline void sample_code(sample_random *random, size_t number, char *out, size_t size)
{
    if (sample_below(random, 3) == 0)
        snprintf(out, size, "%s%zu", sample_words[sample_below(random, SAMPLE_N_WORDS)], number);
    else
        snprintf(out, size, "%c%zu", (int) ('a' + number % 26), number);
}

/* ---- random code lists ----------------------------------------------------- */

/* Leaves, then inner nodes that sum some of them, perhaps a total; labels in up to three
 * languages. */
static inline cellar_codelist *sample_codelist(sample_random *random)
{
    size_t n_leaves = 1 + sample_below(random, 5), n_inner = sample_below(random, 3);
    size_t n_languages = sample_below(random, 3), n_codes = n_leaves + n_inner;
    int has_total = sample_below(random, 2) == 0;
    char codes[16][512];
    cellar_text text = {0};
    cellar_codelist *list = NULL;
    cellar_error err = {""};

    cellar_text_add_string(&text, "code,parent,role,label");
    for (size_t l = 0; l < n_languages; l++)
        cellar_text_printf(&text, ",label@%s", l == 0 ? "fr" : "sv");
    for (size_t i = 0; i < n_codes; i++)
        sample_code(random, i, codes[i], sizeof codes[i]);
    if (has_total)
        snprintf(codes[n_codes++], sizeof codes[0], "all of them");
    for (size_t i = 0; i < n_codes; i++) {
        int is_total = has_total && i == n_codes - 1;
        size_t parent = n_leaves + (n_inner > 0 ? i % n_inner : 0);
        cellar_text_add_char(&text, '\n');
        cellar_csv_add_field(&text, codes[i], ',');
        cellar_text_add_char(&text, ',');
        if (n_inner > 0 && i < n_leaves && (i < n_inner || sample_below(random, 2) == 0))
            cellar_csv_add_field(&text, codes[parent], ',');
        cellar_text_add_string(&text, is_total                 ? ",total"
                                      : i == 0 && n_leaves > 2 ? ",unknown"
                                                               : ",");
        for (size_t l = 0; l <= n_languages; l++) {
            cellar_text_add_char(&text, ',');
            if (sample_below(random, 4) != 0)
                cellar_csv_add_field(&text, sample_words[sample_below(random, SAMPLE_N_WORDS)],
                                     ',');
        }
    }
    cellar_text_add_char(&text, '\n');
    if (cellar_codelist_parse("sample", text.bytes, text.length, &list, &err) != CELLAR_OK)
        fail_msg("%s in\n%s", err.message, text.bytes);
    cellar_text_clear(&text);
    return list;
}

/* ---- random tables --------------------------------------------------------- */

typedef struct sample_options {
    int with_rules, with_statuses, without_hierarchies;
} sample_options;

static inline cellar_schema *sample_schema(sample_random *random, const sample_options *options)
{
    static const cellar_domain domains[] = {CELLAR_DOMAIN_OBSERVED, CELLAR_DOMAIN_DECLARED,
                                            CELLAR_DOMAIN_ASSERTED};
    size_t n = 1 + sample_below(random, 3);
    cellar_schema_variable_def defs[4];
    char names[4][512];
    cellar_structural_rules *rules = NULL;
    cellar_schema *schema = NULL;
    cellar_error err = {""};

    for (size_t v = 0; v < n; v++) {
        sample_code(random, v, names[v], sizeof names[v]);
        defs[v] = (cellar_schema_variable_def){names[v], domains[sample_below(random, 3)],
                                               sample_codelist(random)};
    }
    if (options->with_rules && n > 1 && sample_below(random, 2) == 0) {
        cellar_text text = {0};
        for (size_t v = 0; v < 2; v++) {
            const cellar_codelist *list = defs[v].codelist;
            cellar_text_add_string(&text, v == 0 ? "" : " & ");
            cellar_structural_add_word(&text, names[v]);
            cellar_text_add_string(&text, " = ");
            cellar_structural_add_word(&text,
                                       cellar_codelist_code(list, cellar_codelist_leaf(list, 0)));
        }
        if (cellar_structural_rules_parse("rules", text.bytes, text.length, &rules, &err) !=
            CELLAR_OK)
            fail_msg("%s", err.message);
        cellar_text_clear(&text);
    }
    if (cellar_schema_create(defs, n, rules, &schema, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (size_t v = 0; v < n; v++)
        cellar_codelist_free((cellar_codelist *) defs[v].codelist);
    cellar_structural_rules_free(rules);
    return schema;
}

/* Counts in some of the cells, weights and keys perhaps; structural zeros stay empty. */
static inline cellar_cells sample_cells(sample_random *random, const cellar_schema *schema,
                                        uint64_t *key_range)
{
    uint64_t n_indices = cellar_schema_n_indices(schema);
    int weighted = sample_below(random, 2) == 0, keyed = sample_below(random, 2) == 0;
    cellar_cells cells = {.index = cellar_alloc(n_indices, sizeof(uint64_t)),
                          .count = cellar_alloc(n_indices, sizeof(uint64_t))};

    *key_range = keyed && sample_below(random, 3) != 0 ? 4096 : 0;
    if (weighted)
        cells.weight = cellar_alloc(n_indices, sizeof *cells.weight);
    if (keyed)
        cells.key = cellar_alloc(n_indices, sizeof *cells.key);
    for (uint64_t index = 0; index < n_indices; index++) {
        if (sample_below(random, 3) == 0 || cellar_schema_is_structural_zero(schema, index))
            continue;
        cells.index[cells.n] = index;
        cells.count[cells.n] = 1 + sample_below(random, sample_below(random, 5) == 0 ? 1000000 : 4);
        if (weighted)
            cells.weight[cells.n] = (cellar_int128) sample_below(random, 4000000000) *
                                    (sample_below(random, 2) == 0 ? 1 : 1000000000);
        if (keyed)
            cells.key[cells.n] = sample_next(random) % (*key_range != 0 ? *key_range : UINT64_MAX);
        cells.n++;
    }
    return cells;
}

/* The cells of a table with some statuses added. */
static inline cellar_table *sample_mark(sample_random *random, cellar_table *table)
{
    const cellar_schema *schema = cellar_table_schema(table);
    uint64_t n_indices = cellar_schema_n_indices(schema);
    int weighted = cellar_table_is_weighted(table);
    cellar_cells cells = {.index = cellar_alloc(n_indices, sizeof(uint64_t)),
                          .count = cellar_alloc(n_indices, sizeof(uint64_t)),
                          .status = cellar_alloc(n_indices, 1)};
    cellar_table *marked = NULL;
    cellar_error err = {""};
    size_t position = 0;

    if (weighted)
        cells.weight = cellar_alloc(n_indices, sizeof *cells.weight);
    for (uint64_t index = 0; index < n_indices; index++) {
        cellar_cell cell;
        if (!cellar_schema_has_cell(schema, index))
            continue;
        cell = cellar_table_at(table, index);
        cells.index[cells.n] = index;
        cells.count[cells.n] = cell.count;
        if (cell.count > 0 && weighted)
            cells.weight[cells.n] = cellar_table_weight(table, position);
        position += cell.count > 0;
        cells.status[cells.n] = (uint8_t) (sample_below(random, 2) == 0
                                               ? CELLAR_CELL_NORMAL
                                               : sample_below(random, CELLAR_CELL_UNRELIABLE + 1));
        if (cellar_schema_is_structural_zero(schema, index))
            cells.status[cells.n] = CELLAR_CELL_NORMAL; /* the rules say it already */
        else if (cell.count > 0 && cells.status[cells.n] == CELLAR_CELL_STRUCTURAL_ZERO)
            cells.status[cells.n] = CELLAR_CELL_SUPPRESSED;
        cells.n++;
    }
    if (cellar_table_from_cells(schema, &cells, 0, &marked, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_table_free(table);
    return marked;
}

static inline cellar_table *sample_table(sample_random *random, const sample_options *options)
{
    cellar_schema *schema = sample_schema(random, options);
    uint64_t key_range, masks[2] = {1, 0};
    cellar_cells cells = sample_cells(random, schema, &key_range);
    cellar_margins margins = {.all = sample_below(random, 2) == 0,
                              .masks = masks,
                              .n_masks = sample_below(random, 3),
                              .hierarchies =
                                  options->without_hierarchies ? 0 : sample_next(random)};
    cellar_table *table = NULL, *expanded = NULL;
    cellar_error err = {""};

    margins.hierarchies &= (UINT64_C(1) << cellar_schema_n_variables(schema)) - 1;
    if (cellar_table_from_cells(schema, &cells, key_range, &table, &err) != CELLAR_OK ||
        cellar_table_create_expanded(table, &margins, &expanded, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_table_free(table);
    cellar_schema_free(schema);
    return options->with_statuses && sample_below(random, 2) == 0 ? sample_mark(random, expanded)
                                                                  : expanded;
}

/* ---- equality -------------------------------------------------------------- */

static inline void check_texts_equal(cellar_text *a, cellar_text *b)
{
    assert_false(a->failed || b->failed);
    assert_string_equal(a->length > 0 ? a->bytes : "", b->length > 0 ? b->bytes : "");
    cellar_text_clear(a);
    cellar_text_clear(b);
}

static inline void check_variables_equal(const cellar_schema *a, const cellar_schema *b, size_t v)
{
    cellar_text list_a = {0}, list_b = {0};
    assert_string_equal(cellar_schema_variable(a, v), cellar_schema_variable(b, v));
    assert_int_equal(cellar_schema_domain(a, v), cellar_schema_domain(b, v));
    cellar_codelist_add_text(cellar_schema_codelist(a, v), &list_a);
    cellar_codelist_add_text(cellar_schema_codelist(b, v), &list_b);
    check_texts_equal(&list_a, &list_b);
    assert_int_equal(cellar_schema_n_categories(a, v), cellar_schema_n_categories(b, v));
    for (size_t c = 0; c < cellar_schema_n_categories(a, v); c++) {
        assert_string_equal(cellar_schema_code(a, v, c), cellar_schema_code(b, v, c));
        assert_int_equal(cellar_schema_role(a, v, c), cellar_schema_role(b, v, c));
        for (size_t l = 0; l < cellar_schema_n_languages(a); l++)
            assert_string_equal(cellar_schema_label(a, v, c, l), cellar_schema_label(b, v, c, l));
    }
}

static inline void check_schemas_equal(const cellar_schema *a, const cellar_schema *b)
{
    size_t n_a, n_b;
    const uint64_t *margins_a = cellar_schema_margins(a, &n_a);
    const uint64_t *margins_b = cellar_schema_margins(b, &n_b);
    cellar_text rules_a = {0}, rules_b = {0};

    assert_int_equal(cellar_schema_n_variables(a), cellar_schema_n_variables(b));
    assert_int_equal(cellar_schema_n_languages(a), cellar_schema_n_languages(b));
    for (size_t v = 0; v < cellar_schema_n_variables(a); v++)
        check_variables_equal(a, b, v);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(margins_a, margins_b, n_a * sizeof *margins_a);
    cellar_schema_add_rules(a, &rules_a);
    cellar_schema_add_rules(b, &rules_b);
    check_texts_equal(&rules_a, &rules_b);
}

static inline void check_cells_equal(const cellar_table *a, const cellar_table *b)
{
    assert_int_equal(cellar_table_n_records(a), cellar_table_n_records(b));
    assert_int_equal(cellar_table_is_weighted(a), cellar_table_is_weighted(b));
    assert_int_equal(cellar_table_key_range(a), cellar_table_key_range(b));
    assert_int_equal(cellar_table_n_cells(a), cellar_table_n_cells(b));
    for (size_t i = 0; i < cellar_table_n_cells(a); i++) {
        cellar_cell x = cellar_table_cell(a, i), y = cellar_table_cell(b, i);
        assert_int_equal(x.index, y.index);
        assert_int_equal(x.count, y.count);
        assert_int_equal(x.key, y.key);
        assert_int_equal(x.status, y.status);
        assert_true(cellar_table_weight(a, i) == cellar_table_weight(b, i));
    }
}

static inline void check_tables_equal(const cellar_table *a, const cellar_table *b)
{
    check_schemas_equal(cellar_table_schema(a), cellar_table_schema(b));
    check_cells_equal(a, b);
}

/* ---- the fixed table ------------------------------------------------------- */

/* Three variables, hostile labels, a hierarchy, all margins, weights, keys, each status once. */
static inline cellar_table *sample_fixed_table(void)
{
    static const char region[] = "code,parent,role,label,label@fr\n"
                                 "N1,N,,\"Upper \"\"Town\"\"\",Ville haute\n"
                                 "N2,N,,\"Lower, Town\",Ville basse\n"
                                 "S1,,,\"=HYPERLINK(\"\"x\"\")\",\"ligne\ncoup\xc3\xa9"
                                 "e\"\n"
                                 "N,,,North,Nord\n"
                                 "ALL,,total,All regions,Toutes\n";
    static const char sex[] = "code,label\nf,Women\nm,Men\n";
    static const char age[] = "code,role\n0-14,\n15-64,\n65+,\n?,unknown\n";
    static const char rule[] = "sex = f & age = 65+\n";
    static const uint64_t index[] = {0, 1, 3, 4, 5, 6, 8, 9, 12, 15, 20, 21, 22, 23};
    cellar_codelist *lists[3] = {NULL, NULL, NULL};
    cellar_structural_rules *rules = NULL;
    cellar_schema *schema = NULL;
    cellar_table *table = NULL, *expanded = NULL;
    cellar_cells cells = {.n = sizeof index / sizeof *index};
    cellar_margins margins = {.all = 1, .hierarchies = 1};
    cellar_error err = {""};

    assert_int_equal(cellar_codelist_parse("region", region, strlen(region), &lists[0], &err),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_parse("sex", sex, strlen(sex), &lists[1], &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_parse("age", age, strlen(age), &lists[2], &err), CELLAR_OK);
    cellar_structural_rules_parse("rules", rule, strlen(rule), &rules, &err);
    cellar_schema_variable_def defs[] = {{"region", CELLAR_DOMAIN_DECLARED, lists[0]},
                                         {"sex", CELLAR_DOMAIN_ASSERTED, lists[1]},
                                         {"age", CELLAR_DOMAIN_OBSERVED, lists[2]}};
    cellar_schema_create(defs, 3, rules, &schema, &err);
    cells.index = cellar_alloc(cells.n, sizeof *cells.index);
    cells.count = cellar_alloc(cells.n, sizeof *cells.count);
    cells.weight = cellar_alloc(cells.n, sizeof *cells.weight);
    cells.key = cellar_alloc(cells.n, sizeof *cells.key);
    cells.status = cellar_alloc(cells.n, sizeof *cells.status);
    for (size_t i = 0; i < cells.n; i++) {
        cells.index[i] = index[i];
        cells.count[i] = 3 * i + 1;
        cells.weight[i] = (cellar_int128) (3 * i + 1) * 1250000000;
        cells.key[i] = 1000 * i % 4096;
    }
    cells.status[1] = CELLAR_CELL_SUPPRESSED;
    cells.status[3] = CELLAR_CELL_UNRELIABLE;
    cells.count[5] = 0;
    cells.weight[5] = 0;
    cells.key[5] = 0;
    cells.status[5] = CELLAR_CELL_NOT_AVAILABLE;
    cells.count[8] = 0;
    cells.weight[8] = 0;
    cells.key[8] = 0;
    cells.status[8] = CELLAR_CELL_STRUCTURAL_ZERO;
    if (cellar_table_from_cells(schema, &cells, 4096, &table, &err) != CELLAR_OK ||
        cellar_table_create_expanded(table, &margins, &expanded, &err) != CELLAR_OK)
        CELLAR_ASSERT(0);
    for (size_t v = 0; v < 3; v++)
        cellar_codelist_free(lists[v]);
    cellar_structural_rules_free(rules);
    cellar_schema_free(schema);
    cellar_table_free(table);
    return expanded;
}

#endif
