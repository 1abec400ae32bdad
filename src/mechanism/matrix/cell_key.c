/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fraser and Wooton, "A proposed method for confidentialising tabular output to protect against
 * differencing", 2006; Thompson, Broadfoot and Elazar, 2013. */
#include <cellar/cell_key.h>

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/matrix/matrix_file.h"
#include "mechanism/registry.h"

enum { CELL_KEY_REVISION = 1 };
static const uint64_t DECIMAL_RANGE = UINT64_C(1000000000000000000);

/* A row as integers: keys below ends[i] (and not below ends[i-1]) change by changes[i]. */
typedef struct key_row {
    size_t n;
    const uint64_t *ends;
    const int64_t *changes;
} key_row;

struct cellar_cell_key {
    cellar_matrix *matrix;
    cellar_parameter_list parameters;
    char *spec;
    uint64_t key_range;
    key_row *rows;
    uint64_t *ends; /* of all rows */
    int64_t *changes;
};

static const char *const boundaries[] = {"below", "at-most", NULL};

static const cellar_parameter_rule cell_key_parameters[] = {
    CELLAR_MATRIX_FILE_RULES,
    {.name = "boundary", .kind = CELLAR_PARAMETER_WORD, .words = boundaries},
    {0},
};

/* ---- life cycle ------------------------------------------------------------ */

void cellar_cell_key_free(cellar_cell_key *ck)
{
    if (ck == NULL)
        return;
    cellar_matrix_free(ck->matrix);
    cellar_parameter_list_clear(&ck->parameters);
    cellar_free(ck->spec);
    cellar_free(ck->rows);
    cellar_free(ck->ends);
    cellar_free(ck->changes);
    cellar_free(ck);
}

/* The first key that a bound U leaves to the changes after it: key / range < U holds for keys below
 * ceil(U range), key / range <= U for keys below floor(U range) + 1. */
static uint64_t bound_key(const fmpq_t bound, uint64_t key_range, int at_most)
{
    fmpz_t n;
    uint64_t key;
    fmpz_init_set_ui(n, key_range);
    fmpz_mul(n, n, fmpq_numref(bound));
    if (at_most)
        fmpz_fdiv_q(n, n, fmpq_denref(bound));
    else
        fmpz_cdiv_q(n, n, fmpq_denref(bound));
    key = fmpz_get_ui(n) + (at_most ? 1 : 0);
    fmpz_clear(n);
    return key;
}

static cellar_status cell_key_rows(cellar_cell_key *ck, int at_most, cellar_error *err)
{
    size_t n = 0;
    for (size_t r = 0; r < ck->matrix->n_rows; r++)
        n += ck->matrix->rows[r].n_segments;
    ck->rows = cellar_alloc(ck->matrix->n_rows, sizeof *ck->rows);
    ck->ends = cellar_alloc(n, sizeof *ck->ends);
    ck->changes = cellar_alloc(n, sizeof *ck->changes);
    if (ck->rows == NULL || ck->ends == NULL || ck->changes == NULL)
        return cellar_fail_memory(err, "a matrix");
    n = 0;
    for (size_t r = 0; r < ck->matrix->n_rows; r++) {
        const cellar_matrix_part *part = &ck->matrix->rows[r];
        ck->rows[r] = (key_row){part->n_segments, ck->ends + n, ck->changes + n};
        for (size_t i = 0; i < part->n_segments; i++, n++) {
            ck->ends[n] = bound_key(part->segments[i].end, ck->key_range, at_most);
            ck->changes[n] = part->segments[i].change;
        }
    }
    return CELLAR_OK;
}

static cellar_status cell_key_check_range(const cellar_cell_key *ck, cellar_error *err)
{
    uint64_t n_keys = ck->matrix->n_keys;
    if (ck->key_range == 0 || ck->key_range > INT64_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "cell-key: the table has no record keys");
    if (n_keys != 0 && n_keys != ck->key_range && ck->key_range != DECIMAL_RANGE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "cell-key: the matrix is for %" PRIu64 " keys, the record keys of the "
                           "table are below %" PRIu64,
                           n_keys, ck->key_range);
    return CELLAR_OK;
}

cellar_status cellar_cell_key_create(const char *spec, uint64_t key_range, cellar_cell_key **out,
                                     cellar_error *err)
{
    static const char name[] = "cell-key";
    cellar_cell_key *ck = NULL;
    const cellar_parameter *boundary;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (strncmp(spec, name, strlen(name)) != 0 || spec[strlen(name)] != ':')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "expected a spec such as 'cell-key:file=F', got '%.60s'", spec);
    ck = cellar_alloc(1, sizeof *ck);
    if (ck == NULL)
        return cellar_fail_memory(err, "a mechanism");
    ck->key_range = key_range;
    CELLAR_TRY(cellar_parameter_list_parse(cell_key_parameters, name, spec + strlen(name) + 1,
                                           &ck->parameters, err));
    CELLAR_TRY(cellar_matrix_from_parameters(&ck->parameters, name, &ck->matrix, err));
    CELLAR_TRY(cellar_matrix_spec(&ck->parameters, name, ck->matrix, &ck->spec, err));
    CELLAR_TRY(cell_key_check_range(ck, err));
    boundary = cellar_parameter_find(&ck->parameters, "boundary");
    CELLAR_TRY(cell_key_rows(ck, boundary != NULL && strcmp(boundary->text, "at-most") == 0, err));
    *out = ck;
    ck = NULL;
out:
    cellar_cell_key_free(ck);
    return status;
}

/* ---- queries --------------------------------------------------------------- */

const char *cellar_cell_key_spec(const cellar_cell_key *ck)
{
    return ck->spec;
}

uint32_t cellar_cell_key_revision(const cellar_cell_key *ck)
{
    (void) ck;
    return CELL_KEY_REVISION;
}

const cellar_matrix *cellar_cell_key_matrix(const cellar_cell_key *ck)
{
    return ck->matrix;
}

/* ---- cells --------------------------------------------------------------------- */

void cellar_cell_key_apply(const cellar_cell_key *ck, const int64_t *counts, const uint64_t *keys,
                           size_t n, int64_t *released)
{
    for (size_t i = 0; i < n; i++) {
        int64_t count = counts[i];
        const key_row *row;
        size_t at = 0;
        if (count == 0) {
            released[i] = 0;
            continue;
        }
        CELLAR_ASSERT(count > 0 && keys[i] < ck->key_range);
        row = &ck->rows[cellar_matrix_row_of(ck->matrix, count)];
        while (keys[i] >= row->ends[at]) /* the last end is above every key */
            at++;
        released[i] = count + row->changes[at];
    }
}

/* ---- one cell ------------------------------------------------------------------ */

/* With uniform keys a cell that holds records has the distribution of its row; one without stays
 * empty. */
const cellar_mechanism_ops cellar_cell_key_ops = {
    .name = "cell-key",
    .revision = CELL_KEY_REVISION,
    .summary = "a matrix and the keys of records",
    .is_joint = 1,
    .parameters = cell_key_parameters,
    .init = cellar_matrix_file_init,
    CELLAR_MATRIX_SLOTS,
};
