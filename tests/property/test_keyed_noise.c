/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keyed noise over all pairs of releases: two that are described otherwise, or alike on other data,
 * have uncorrelated noise in every cell that both have; the same table has the same. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include <cellar/release.h>

#include "fixed_key.h"
#include "make_mechanism.h"
#include "requests.h"
#include "scratch.h"

enum { N_KEYS = 64, N_MORE = 3, N_RELEASES = N_DIFFERENT + N_MORE, MAX_CELLS = 4096 };

/* One table to be released under every key. */
typedef struct keyed_case {
    const char *label, *edition, *dataset;
    cellar_table *table;
    uint64_t max_weight;
    size_t n_cells;
    uint64_t *index;   /* of the cells in the table */
    size_t *names;     /* what they are called, as a number */
    signed char *sign; /* of the noise, key by key */
} keyed_case;

/* ---- the names of cells ---------------------------------------------------------- */

static char *cell_names[MAX_CELLS];
static size_t n_cell_names;

static size_t cell_name_number(const char *name)
{
    size_t i = 0;
    while (i < n_cell_names && strcmp(cell_names[i], name) != 0)
        i++;
    if (i == n_cell_names) {
        assert_true(i < MAX_CELLS);
        cell_names[n_cell_names++] = strdup(name);
    }
    return i;
}

/* "variable=code;" for each variable that is not at its total, in the order of their names. */
static size_t cell_name(const cellar_schema *schema, uint64_t index)
{
    static const char *const order[] = {"age", "region", "sex"};
    uint32_t categories[CELLAR_MAX_VARIABLES];
    char name[200] = "";
    cellar_schema_categories(schema, index, categories);
    for (size_t k = 0; k < 3; k++) {
        size_t v = cellar_schema_find_variable(schema, order[k]);
        if (v != CELLAR_NO_CODE &&
            cellar_schema_role(schema, v, categories[v]) != CELLAR_CODE_TOTAL)
            snprintf(name + strlen(name), sizeof name - strlen(name), "%s=%s;", order[k],
                     cellar_schema_code(schema, v, categories[v]));
    }
    return cell_name_number(name);
}

static void case_init(keyed_case *c, scratch *place, const request *r, const char *label)
{
    const cellar_schema *schema;
    *c = (keyed_case){.label = label, .edition = "2026", .max_weight = r->max_weight};
    c->table = request_table(place, r);
    schema = cellar_table_schema(c->table);
    c->index = calloc(cellar_schema_n_indices(schema), sizeof *c->index);
    c->names = calloc(cellar_schema_n_indices(schema), sizeof *c->names);
    for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++)
        if (cellar_schema_has_cell(schema, index) &&
            !cellar_schema_is_structural_zero(schema, index)) {
            c->index[c->n_cells] = index;
            c->names[c->n_cells++] = cell_name(schema, index);
        }
    c->sign = calloc(c->n_cells + 1, N_KEYS);
}

/* ---- releases -------------------------------------------------------------------- */

static void case_release(keyed_case *c, scratch *place, const cellar_mechanism *m,
                         size_t key_number)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_key *key = fixed_key(place, key_number, c->edition);
    cellar_release *release = NULL;
    cellar_error err;

    options.negatives = CELLAR_NEGATIVES_KEEP;
    options.per_cell = 1;
    options.key = key;
    options.edition = c->edition;
    options.dataset = c->dataset;
    options.max_weight = c->max_weight;
    options.date = "2026-07-01";
    options.n_threads = 1;
    if (cellar_release_protect(c->table, m, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s: %s", c->label, err.message);
    for (size_t i = 0; i < c->n_cells; i++) {
        cellar_cell cell = cellar_table_at(c->table, c->index[i]);
        double truth = c->max_weight > 0 ? floor(cell.weighted + 0.5) : (double) cell.count;
        double noise = (double) cellar_release_at(release, c->index[i]).released - truth;
        c->sign[i * N_KEYS + key_number] = (signed char) ((noise > 0) - (noise < 0));
    }
    cellar_release_free(release);
    cellar_key_free(key);
}

static void case_clear(keyed_case *c)
{
    cellar_table_free(c->table);
    free(c->index);
    free(c->names);
    free(c->sign);
}

/* The sum of the products of signs over the cells that both have, and how many there are. */
static size_t pair_sum(const keyed_case *a, const keyed_case *b, long *sum)
{
    static size_t place[MAX_CELLS]; /* 1 + the cell of `b` with that name */
    size_t n = 0;
    memset(place, 0, sizeof place);
    *sum = 0;
    for (size_t i = 0; i < b->n_cells; i++)
        place[b->names[i]] = i + 1;
    for (size_t i = 0; i < a->n_cells; i++)
        if (place[a->names[i]] > 0)
            for (size_t k = 0; k < N_KEYS; k++, n++)
                *sum +=
                    (long) a->sign[i * N_KEYS + k] * b->sign[(place[a->names[i]] - 1) * N_KEYS + k];
    return n;
}

/* ---- the tests ------------------------------------------------------------------- */

/* Everything that `different_requests` lists; the first of it for another edition, for another
 * data set, and on data in which one person has moved. */
static void make_cases(scratch *place, keyed_case cases[N_RELEASES])
{
    keyed_case *more = cases + N_DIFFERENT;
    cellar_mechanism *m = make("discrete-laplace:epsilon=0.1");

    for (size_t i = 0; i < N_DIFFERENT; i++)
        case_init(&cases[i], place, &different_requests[i], different_requests[i].label);
    case_init(&more[0], place, &different_requests[0], "another edition");
    more[0].edition = "2027";
    case_init(&more[1], place, &different_requests[0], "another data set");
    more[1].dataset = "survey";
    write_people(place, 1);
    case_init(&more[2], place, &different_requests[0], "changed data");
    for (size_t key = 0; key < N_KEYS; key++)
        for (size_t i = 0; i < N_RELEASES; i++)
            case_release(&cases[i], place, m, key);
    cellar_mechanism_free(m);
}

/* Under independent noise, which is symmetric, the products are independent with mean 0 and lie
 * between -1 and 1: by Hoeffding's inequality a mean is off by more than the bound with a chance of
 * 1e-9, that of a false alarm is 1e-6 over fewer than 1000 pairs, and keys are fixed. Shared noise
 * has a mean of 0.95 (it is 0 with a chance of 0.05), which every bound is below. */
static void pairs_are_uncorrelated(void **state)
{
    static keyed_case cases[N_RELEASES];
    size_t n_pairs = 0;
    make_cases(*state, cases);
    for (size_t i = 0; i < N_RELEASES; i++)
        for (size_t k = 0; k < i; k++) {
            long sum;
            size_t n = pair_sum(&cases[i], &cases[k], &sum);
            double bound = sqrt(2 * log(2e9) / (double) n);
            if (n == 0)
                continue;
            assert_true(bound < 0.9);
            if (fabs((double) sum / (double) n) > bound)
                fail_msg("'%s' and '%s': correlation %.3f over %zu cells, the bound is %.3f",
                         cases[k].label, cases[i].label, (double) sum / (double) n, n, bound);
            n_pairs++;
        }
    assert_true(n_pairs > 700 && n_pairs < 1000);
    for (size_t i = 0; i < N_RELEASES; i++)
        case_clear(&cases[i]);
}

/* Said in another order, the same table has the same numbers. */
static void the_same_table_has_the_same_numbers(void **state)
{
    static const request same[] = {
        {"one order", .by = {"sex", "region", "age"}, .where = {"id>1", "region!=r4"},
         .all_margins = 1},
        {"another", .by = {"age", "sex", "region"}, .where = {"region != \"r4\"", "id > 1.0"},
         .all_margins = 1,
         .regions = "code,parent,label\nr4,,D\nr3,,C\nr2,north,B\nr1,north,A\nnorth,,N\n"}};
    cellar_mechanism *m = make("discrete-laplace:epsilon=0.1");
    keyed_case cases[2];
    long sum, own;
    for (size_t i = 0; i < 2; i++) {
        case_init(&cases[i], *state, &same[i], same[i].label);
        for (size_t key = 0; key < N_KEYS; key++)
            case_release(&cases[i], *state, m, key);
    }
    assert_int_equal(pair_sum(&cases[0], &cases[1], &sum), cases[0].n_cells * N_KEYS);
    pair_sum(&cases[0], &cases[0], &own);
    assert_int_equal(sum, own);
    for (size_t i = 0; i < 2; i++)
        case_clear(&cases[i]);
    cellar_mechanism_free(m);
}

static int setup(void **state)
{
    int failed = scratch_setup(state);
    if (!failed)
        write_people(*state, 0);
    return failed;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pairs_are_uncorrelated, setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_same_table_has_the_same_numbers, setup,
                                        scratch_teardown),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    while (n_cell_names > 0)
        free(cell_names[--n_cell_names]);
    return failed;
}
