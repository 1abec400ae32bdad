/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/collect.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/batch.h"
#include "protocol/decision.h"
#include "protocol/invitation.h"
#include "protocol/payload.h"
#include "table/build.h"

typedef struct rows_taken {
    const cellar_invitation *invitation;
    const cellar_decision *decision;
    const cellar_schema *schema;
    cellar_cells cells; /* one of count 1 for each row */
} rows_taken;

int row_read(const cellar_invitation *invitation, const cellar_decision *decision,
             const unsigned char *body, uint32_t levels[CELLAR_MAX_VARIABLES])
{
    const unsigned char *payload = body + 4 * decision->n_columns;
    for (size_t i = 0; i < decision->n_columns; i++) {
        const cellar_codelist *codes = invitation->codes[decision->columns[i]];
        size_t n_codes = cellar_codelist_n_codes(codes);
        levels[i] = (uint32_t) bytes_get(body + 4 * i, 4);
        if (levels[i] >= n_codes + (decision->redactions[i].levels != NULL))
            return 0;
        if (levels[i] < n_codes && cellar_decision_redacts(decision, i, levels[i]))
            return 0; /* nobody who follows the decision says so */
    }
    return invitation->terms.payload == 0 || payload_is_valid(payload, invitation->terms.payload);
}

static int take_row(void *context, const unsigned char *id, const unsigned char *body)
{
    rows_taken *rows = context;
    uint32_t levels[CELLAR_MAX_VARIABLES];
    (void) id;
    if (!row_read(rows->invitation, rows->decision, body, levels))
        return 0;
    rows->cells.index[rows->cells.n] = cellar_schema_index(rows->schema, levels);
    rows->cells.count[rows->cells.n++] = 1;
    return 1;
}

/* The codes of a column and one for what was redacted. */
static cellar_status codes_redacted(const cellar_codelist *codes, cellar_codelist **out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_codelist_create(out, err));
    for (size_t v = 0; v < cellar_codelist_n_codes(codes); v++)
        CELLAR_TRY(cellar_codelist_add(*out, cellar_codelist_code(codes, v), NULL, NULL,
                                       CELLAR_CODE_PLAIN, err));
    CELLAR_TRY(cellar_codelist_add(*out, REDACTED_CODE, NULL, NULL, CELLAR_CODE_PLAIN, err));
    CELLAR_TRY(cellar_codelist_finish(*out, err));
out:
    return status;
}

static cellar_status schema_make(const cellar_invitation *invitation,
                                 const cellar_decision *decision, cellar_schema **out,
                                 cellar_error *err)
{
    cellar_schema_variable_def variables[CELLAR_MAX_VARIABLES];
    cellar_codelist *made[CELLAR_MAX_VARIABLES] = {NULL};
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < decision->n_columns; i++) {
        size_t column = decision->columns[i];
        const cellar_codelist *codes = invitation->codes[column];
        if (decision->redactions[i].levels != NULL)
            CELLAR_TRY(codes_redacted(codes, &made[i], err));
        variables[i] = (cellar_schema_variable_def){
            invitation->names[column], CELLAR_DOMAIN_DECLARED, made[i] != NULL ? made[i] : codes};
    }
    CELLAR_TRY(cellar_schema_create(variables, decision->n_columns, NULL, out, err));
out:
    for (size_t i = 0; i < CELLAR_MAX_VARIABLES; i++)
        cellar_codelist_free(made[i]);
    return status;
}

cellar_status cellar_collect_table_read(const char *batch_path, const cellar_invitation *invitation,
                                        const cellar_decision *decision,
                                        const cellar_collect_keys *analyst, cellar_table **out,
                                        cellar_collect_report *report, cellar_error *err)
{
    collect_round round;
    collect_batch batch = {0};
    cellar_schema *schema = NULL;
    rows_taken rows = {invitation, decision, NULL, {0}};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(keys_check(analyst, invitation, CELLAR_COLLECT_ANALYST, err));
    CELLAR_TRY(round_of(invitation, decision, &round, err));
    CELLAR_TRY(schema_make(invitation, decision, &schema, err));
    rows.schema = schema;
    CELLAR_TRY(collect_batch_read(batch_path, &round, &batch, err));
    rows.cells.index = cellar_alloc(batch.n, sizeof *rows.cells.index);
    rows.cells.count = cellar_alloc(batch.n, sizeof *rows.cells.count);
    if (rows.cells.index == NULL || rows.cells.count == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a table"));
    CELLAR_TRY(collect_batch_open_all(&batch, &round, analyst, take_row, &rows, report, err));
    CELLAR_TRY(cellar_table_from_cells(schema, &rows.cells, 0, out, err));
out:
    collect_batch_clear(&batch);
    cellar_cells_clear(&rows.cells);
    cellar_schema_free(schema);
    return status;
}
