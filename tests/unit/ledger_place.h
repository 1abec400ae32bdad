/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ledger to try things on, in a folder that is gone afterwards. */
#ifndef CELLAR_TESTS_LEDGER_PLACE_H
#define CELLAR_TESTS_LEDGER_PLACE_H

#include <signal.h>
#include <sys/resource.h>

#include <cellar/ledger.h>
#include <cellar/output.h>

#include "base/error.h"
#include "check.h"
#include "ledger/ledger.h"
#include "scratch.h"

static cellar_error err;

#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        if ((call) != CELLAR_OK)                                                                   \
            fail_msg("%s", err.message);                                                           \
    } while (0)

static inline cellar_key *the_key(scratch *place)
{
    cellar_key *key;
    if (access(scratch_path(place, "key"), F_OK) != 0)
        CHECK_OK(cellar_key_create(scratch_path(place, "key"), NULL, &err));
    CHECK_OK(cellar_key_read(scratch_path(place, "key"), &key, &err));
    return key;
}

static inline cellar_ledger *reopen(scratch *place)
{
    cellar_key *key = the_key(place);
    cellar_ledger *ledger;
    CHECK_OK(cellar_ledger_open(scratch_path(place, "ledger"), key, &ledger, &err));
    cellar_key_free(key);
    return ledger;
}

static inline cellar_amounts amounts_of(const char *epsilon, const char *delta, const char *rho)
{
    cellar_amounts amounts;
    CHECK_OK(cellar_amounts_parse(epsilon, delta, rho, &amounts, &err));
    return amounts;
}

static inline cellar_ledger_dataset dataset_named(const char *name)
{
    return (cellar_ledger_dataset){.name = name,
                                   .edition = "1",
                                   .unit = "person",
                                   .neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE,
                                   .population = 1000,
                                   .cap = amounts_of("1", "1e-6", NULL)};
}

static inline cellar_ledger *fresh(scratch *place)
{
    cellar_key *key = the_key(place);
    cellar_ledger_dataset dataset = dataset_named("census");
    cellar_ledger *ledger;
    CHECK_OK(cellar_ledger_create(scratch_path(place, "ledger"), key, &err));
    cellar_key_free(key);
    ledger = reopen(place);
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    return ledger;
}

/* The same with a witness, "witness". */
static inline cellar_ledger *fresh_seen(scratch *place)
{
    cellar_key *key = the_key(place);
    cellar_ledger_dataset dataset = dataset_named("census");
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path(place, "ledger"));
    CHECK_OK(cellar_ledger_create_with(path, key, &dataset, scratch_path(place, "witness"), &err));
    cellar_key_free(key);
    return reopen(place);
}

static inline void copy_file(scratch *place, const char *from, const char *to)
{
    static char bytes[1 << 20];
    FILE *file = fopen(scratch_path(place, from), "rb");
    size_t n;
    assert_non_null(file);
    n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    file = fopen(scratch_path(place, to), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* No file may grow beyond so many bytes, as on a full disk; RLIM_INFINITY: as before. */
static inline void limit_files(rlim_t size_bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size_bytes < limit.rlim_max ? size_bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline cellar_charge charge_for(const char *request, const char *epsilon, const char *delta)
{
    return (cellar_charge){.request = request,
                           .dataset = "census",
                           .edition = "1",
                           .unit = "person",
                           .neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE,
                           .mechanism = "discrete-laplace:epsilon=0.5",
                           .n_cells = 1,
                           .what = "age by sex",
                           .amounts = amounts_of(epsilon, delta, NULL)};
}

/* Writes the stamp and a number that differs at each draw. */
typedef struct draw {
    int n_draws, fail;
    int fill_disk; /* once it is written */
} draw;

static inline cellar_status draw_output(void *context, const char *staged, const char *stamp,
                                        cellar_error *error)
{
    draw *d = context;
    cellar_output *output;
    cellar_status status = cellar_output_open(staged, NULL, &output, error);
    d->n_draws++;
    if (status != CELLAR_OK)
        return status;
    cellar_output_printf(output, "{\"ledger\": \"%s\", \"released\": %d}\n", stamp, d->n_draws);
    if (d->fail) {
        cellar_output_discard(output);
        return cellar_fail(error, CELLAR_ERR_IO, "no luck");
    }
    status = cellar_output_commit(output, error);
    if (d->fill_disk)
        limit_files(1);
    return status;
}

static inline cellar_status spend(cellar_ledger *ledger, const cellar_charge *charge,
                                  const char *path, draw *d, cellar_spend_result *result)
{
    cellar_spend_options options = {.path = path};
    return cellar_ledger_spend(ledger, charge, &options, draw_output, d, result, &err);
}

#endif
