/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a decision says, and whether the table of round two keeps what it promised. */
#include <cellar/exposure.h>

#include "base/error.h"
#include "protocol/decision.h"
#include "protocol/invitation.h"

/* ---- queries --------------------------------------------------------------- */

const char *cellar_decision_text(const cellar_decision *decision, size_t *length)
{
    if (length != NULL)
        *length = decision->text.length;
    return decision->text.bytes;
}

const unsigned char *cellar_decision_id(const cellar_decision *decision)
{
    return decision->id;
}

uint64_t cellar_decision_n_people(const cellar_decision *decision)
{
    return decision->n_people;
}

int cellar_decision_theorem(const cellar_decision *decision)
{
    return decision->theorem;
}

double cellar_decision_bound(const cellar_decision *decision)
{
    return (double) decision->bound / 1e18;
}

size_t cellar_decision_n_columns(const cellar_decision *decision)
{
    return decision->n_columns;
}

size_t cellar_decision_column(const cellar_decision *decision, size_t position)
{
    return decision->columns[position];
}

int cellar_decision_redacts(const cellar_decision *decision, size_t position, size_t level)
{
    const redaction *r = &decision->redactions[position];
    return r->levels != NULL && r->levels[level];
}

double cellar_decision_worst(const cellar_decision *decision)
{
    return (double) decision->worst / 1e18;
}

cellar_status cellar_decision_check_table(const cellar_decision *decision,
                                          const cellar_invitation *invitation,
                                          const cellar_table *table, cellar_error *err)
{
    size_t variables[CELLAR_MAX_VARIABLES];
    cellar_exposure_curve *curve = NULL;
    uint64_t exposed;
    cellar_status status = CELLAR_OK;

    if (invitation->terms.model.kind == CELLAR_COLLECT_NO_MODEL)
        return CELLAR_OK;
    for (size_t i = 0; i < decision->n_columns; i++)
        variables[i] = i;
    CELLAR_TRY(cellar_exposure_curve_create(table, variables, decision->n_columns, &curve, err));
    exposed = cellar_exposure_below(curve, invitation->terms.k);
    if ((double) exposed >
        cellar_invitation_exposure(invitation) * (double) cellar_exposure_total(curve))
        status =
            cellar_fail(err, CELLAR_ERR_RULE,
                        "the check after round two fails: more people are in small groups than "
                        "the invitation allows, so the model was wrong, or chance was against "
                        "it; the table is not to be used");
out:
    cellar_exposure_curve_free(curve);
    return status;
}

double cellar_decision_cover(const cellar_decision *decision, size_t position)
{
    return (double) decision->redactions[position].cover / 1e18;
}
