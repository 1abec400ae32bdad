/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fingerprints of requests: equal for the same request, different for all others; and releases that
 * are prepared before they are paid for. */
#include "release_samples.h"

#include <string.h>

#include "fail_every.h"
#include "release/charge/fingerprint.h"

static void take(const small_table *small, const cellar_protect_options *options,
                 const char *before, char out[CELLAR_FINGERPRINT_TEXT])
{
    cellar_table *table = small_table_create(small);
    cellar_error err;
    if (cellar_protect_fingerprint(before, table, options, out, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(out), CELLAR_FINGERPRINT_TEXT - 1);
    cellar_table_free(table);
}

static void the_same_is_the_same(void **state)
{
    cellar_protect_options options = keep();
    char one[CELLAR_FINGERPRINT_TEXT], two[CELLAR_FINGERPRINT_TEXT];
    (void) state;
    take(&plain, &options, NULL, one);
    options.date = "2026-12-24";
    options.n_threads = 2;
    options.max_cells = 5;
    options.ledger = "a stamp";
    options.unit = "record"; /* as when nothing is said */
    take(&plain, &options, NULL, two);
    assert_string_equal(one, two);
}

/* Each differs from the plain one, and from the others. */
static void all_else_differs(void **state)
{
    enum { N = 22 };
    static char found[N][CELLAR_FINGERPRINT_TEXT];
    (void) state;
    for (int i = 0; i < N; i++) {
        cellar_protect_options options = keep();
        small_table small = plain;
        const char *before = NULL;
        switch (i) {
        case 1:
            small.count[1]++;
            break;
        case 2:
            small.index[1]++;
            break;
        case 3:
            small.n_cells--;
            break;
        case 4:
            small.sizes[1]++;
            break;
        case 5:
            small.domain = CELLAR_DOMAIN_OBSERVED;
            break;
        case 6:
            small.with_statuses = 1, small.status[1] = CELLAR_CELL_UNRELIABLE;
            break;
        case 7:
            small.with_weights = 1, small.max_weight = 2;
            break;
        case 8:
            options.negatives = CELLAR_NEGATIVES_ZERO;
            break;
        case 9:
            options.threshold = 3;
            break;
        case 10:
            options.per_cell = 1;
            break;
        case 11:
            options.total_epsilon = "1";
            break;
        case 12:
            options.domain_public = 1;
            break;
        case 13:
            options.unit = "person";
            break;
        case 14:
            options.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
            break;
        case 15:
            options.max_per_unit = 2;
            break;
        case 16:
            options.max_weight = 2;
            break;
        case 17:
            options.choice = CELLAR_CHOICE_CONFIDENTIAL_DATA;
            break;
        case 18:
            options.edition = "2";
            break;
        case 19:
            before = "";
            break;
        case 20:
            options.delta = "1e-7";
            break;
        case 21:
            options.threshold = 3, options.below = CELLAR_BELOW_SUPPRESS;
            break;
        default:
            break;
        }
        take(&small, &options, before, found[i]);
        for (int k = 0; k < i; k++)
            if (strcmp(found[i], found[k]) == 0)
                fail_msg("%d and %d are not told apart", k, i);
    }
}

static cellar_status one_fingerprint(void *context, cellar_error *err)
{
    cellar_protect_options options = keep();
    char out[CELLAR_FINGERPRINT_TEXT];
    return cellar_protect_fingerprint("before", context, &options, out, err);
}

static void memory_may_end(void **state)
{
    cellar_table *table = small_table_create(&plain);
    (void) state;
    check_fail_every(one_fingerprint, table);
    cellar_table_free(table);
}

/* The certificate is there before the stamp is known, and each draw has its own stamp. */
static void prepared_releases_take_their_stamp(void **state)
{
    cellar_table *table = small_table_create(&plain);
    cellar_mechanism *m = make("discrete-laplace:epsilon=1");
    cellar_protect_options options = keep();
    cellar_prepared *prepared;
    cellar_release *one, *two;
    (void) state;
    assert_int_equal(cellar_protect_prepare(table, m, &options, &prepared, NULL), CELLAR_OK);
    assert_int_equal(cellar_prepared_draw(prepared, "the stamp", &one, NULL), CELLAR_OK);
    assert_int_equal(cellar_prepared_draw(prepared, NULL, &two, NULL), CELLAR_OK);
    assert_string_equal(cellar_release_ledger(one), "the stamp");
    assert_string_equal(cellar_release_ledger(two), "unaccounted, not for publication");
    assert_int_equal(cellar_release_verdict(one), CELLAR_VERDICT_HOLDS);
    assert_string_equal(cellar_release_certificate(one), cellar_release_certificate(two));
    cellar_release_free(one);
    cellar_release_free(two);
    cellar_prepared_free(prepared);
    cellar_mechanism_free(m);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_the_same),
        cmocka_unit_test(all_else_differs),
        cmocka_unit_test(memory_may_end),
        cmocka_unit_test(prepared_releases_take_their_stamp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
