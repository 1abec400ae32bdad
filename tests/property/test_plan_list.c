/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random lists of tables: d is what adding one record changes, found by trying every record; and
 * basic composition is the sum. */
#include "check.h"

#include <math.h>

#include <cellar/output.h>

#include "plan/work.h"
#include "plan_place.h"
#include "random_table.h"

enum { N_LISTS = 25, N_NAMES = 3 };
static const char *const names[N_NAMES] = {"a", "b", "c"};
static cellar_error err;

static void write_codelist(scratch *place, const char *name, const cellar_codelist *list)
{
    cellar_output_options replace = {.replace = 1};
    char file[16];
    cellar_output *output;
    snprintf(file, sizeof file, "%s.csv", name);
    assert_int_equal(cellar_output_open(scratch_path(place, file), &replace, &output, &err),
                     CELLAR_OK);
    cellar_codelist_write(list, output);
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
}

/* A plan of one to three tables over random choices of the variables, margins and hierarchies. */
static void random_plan(uint64_t *state, cellar_codelist *const *lists, cellar_text *text)
{
    size_t n_tables = 1 + random_below(state, 3);
    cellar_text_add_string(text, "plan: 1\ndata: {file: data.csv}\nnegatives: keep\n"
                                 "parameter_choice: advance\nvariables:\n");
    for (size_t v = 0; v < N_NAMES; v++)
        cellar_text_printf(text, "  - {name: %s, codelist: %s.csv}\n", names[v], names[v]);
    cellar_text_add_string(text, "tables:\n");
    for (size_t t = 0; t < n_tables; t++) {
        unsigned by = 1 + (unsigned) random_below(state, 7);
        const char *separator = "";
        cellar_text_printf(text, "  - name: t%zu\n    mechanism: 'discrete-laplace:epsilon=0.%u'\n",
                           t, (unsigned) (1 + random_below(state, 4)));
        cellar_text_add_string(text, "    by: [");
        for (size_t v = 0; v < N_NAMES; v++)
            if (by >> v & 1) {
                cellar_text_printf(text, "%s%s", separator, names[v]);
                separator = ", ";
            }
        cellar_text_add_string(text, "]\n    hierarchy: [");
        separator = "";
        for (size_t v = 0; v < N_NAMES; v++)
            if (by >> v & 1 && cellar_codelist_n_hierarchies(lists[v]) > 0 &&
                random_below(state, 2) == 0) {
                cellar_text_printf(text, "%s%s", separator, names[v]);
                separator = ", ";
            }
        cellar_text_add_string(text, separator[0] == '\0' ? "none]\n" : "]\n");
        cellar_text_printf(text, "    margins: %s\n",
                           random_below(state, 2) == 0 ? "all"
                           : random_below(state, 2)    ? "none"
                                                       : "total");
    }
}

/* Cells of the whole list that the record with these leaves touches. */
static uint64_t touched(const plan_work *work, const uint32_t *leaves)
{
    uint64_t n = 0;
    for (size_t t = 0; t < work->n; t++) {
        const cellar_schema *schema = cellar_table_schema(work->pieces[t].counts);
        uint32_t own[CELLAR_MAX_VARIABLES];
        for (size_t k = 0; k < work->pieces[t].table->n_variables; k++)
            own[k] = leaves[work->pieces[t].table->variables[k]];
        for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++)
            n += cellar_schema_has_cell(schema, index) && cell_sums(schema, index, own);
    }
    return n;
}

static void write_record(scratch *place, cellar_codelist *const *lists, const uint32_t *first,
                         const uint32_t *second)
{
    FILE *file = fopen(scratch_path(place, "data.csv"), "w");
    assert_non_null(file);
    fprintf(file, "a,b,c\n");
    for (const uint32_t *row = first; row != NULL; row = row == first ? second : NULL)
        for (size_t v = 0; v < N_NAMES; v++)
            fprintf(file, "%s%c",
                    cellar_codelist_code(lists[v], cellar_codelist_leaf(lists[v], row[v])),
                    v + 1 < N_NAMES ? ',' : '\n');
    fclose(file);
}

static void open_work(scratch *place, const char *text, cellar_plan **plan, plan_work *work)
{
    cellar_plan_options options = {.n_threads = 1};
    if (plan_place_parse(place, text, plan, &err) != CELLAR_OK ||
        cellar_plan_work_open(work, *plan, &options, &err) != CELLAR_OK)
        fail_msg("%s\n%s", err.message, text);
}

/* Cells that differ between two counts of the same list. */
static uint64_t differing(const plan_work *one, const plan_work *two)
{
    uint64_t n = 0;
    for (size_t t = 0; t < one->n; t++) {
        const cellar_schema *schema = cellar_table_schema(one->pieces[t].counts);
        for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++)
            n += cellar_schema_has_cell(schema, index) &&
                 cellar_table_at(one->pieces[t].counts, index).count !=
                     cellar_table_at(two->pieces[t].counts, index).count;
    }
    return n;
}

static double sum_of_costs(const plan_work *work)
{
    double sum = 0;
    for (size_t t = 0; t < work->n; t++)
        sum += (double) work->pieces[t].d *
               strtod(strchr(cellar_mechanism_spec(work->pieces[t].mechanism), '=') + 1, NULL);
    return sum;
}

static void try_list(scratch *place, uint64_t *state)
{
    cellar_codelist *lists[N_NAMES];
    uint32_t none[N_NAMES] = {0}, leaves[N_NAMES], worst[N_NAMES] = {0};
    uint64_t most = 0, n_records = 1;
    cellar_text text = {0};
    cellar_plan *plan, *again;
    plan_work work, more;
    double pure;

    for (size_t v = 0; v < N_NAMES; v++) {
        lists[v] = random_codelist(state);
        write_codelist(place, names[v], lists[v]);
        n_records *= cellar_codelist_n_leaves(lists[v]);
    }
    random_plan(state, lists, &text);
    assert_false(text.failed);
    write_record(place, lists, none, NULL);
    open_work(place, text.bytes, &plan, &work);
    for (uint64_t record = 0; record < n_records; record++) {
        uint64_t rest = record, n;
        for (size_t v = 0; v < N_NAMES; v++) {
            leaves[v] = (uint32_t) (rest % cellar_codelist_n_leaves(lists[v]));
            rest /= cellar_codelist_n_leaves(lists[v]);
        }
        n = touched(&work, leaves);
        if (n > most) {
            most = n;
            memcpy(worst, leaves, sizeof worst);
        }
    }
    assert_int_equal(work.d, most);
    write_record(place, lists, none, worst);
    open_work(place, text.bytes, &again, &more);
    assert_int_equal(differing(&work, &more), most);
    /* Laplace noise of every table is pure, and epsilons add. */
    pure = cellar_certificate_pure_epsilon(work.certificate);
    assert_true(fabs(pure / sum_of_costs(&work) - 1) < 1e-12);
    assert_true(cellar_certificate_composition(work.certificate).tight.epsilon <=
                pure * (1 + 1e-9));
    cellar_plan_work_close(&more);
    cellar_plan_work_close(&work);
    cellar_plan_free(again);
    cellar_plan_free(plan);
    cellar_text_clear(&text);
    for (size_t v = 0; v < N_NAMES; v++)
        cellar_codelist_free(lists[v]);
}

static void d_is_what_one_record_changes(void **state)
{
    uint64_t seed = 8;
    for (int i = 0; i < N_LISTS; i++)
        try_list(*state, &seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(d_is_what_one_record_changes, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
