/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adopting a ledger: it goes on although its witness has seen more, or with another witness.
 *
 * The history says so, in a generation of its own: one more than any that the ledger or a witness
 * knows. So the copies from before, and a second adoption of such a copy, stay older than what the
 * witness has seen. */
#include "ledger/ledger.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

typedef struct adoption {
    cellar_ledger *ledger;
    const char *before;   /* the witness until now, or NULL */
    const char *after;    /* and from now on */
    int is_readable;      /* the one until now */
    int is_moved;         /* they are two */
    cellar_sighting seen; /* by it */
    uint64_t generation;
} adoption;

/* What is known of the history before, in words; 1 when entries are missing or may be. */
static int adoption_tell(const adoption *a, cellar_text *what)
{
    if (a->before == NULL)
        cellar_text_add_string(what, "has a witness from here on");
    else if (!a->is_readable)
        cellar_text_add_string(what, "the witness could not be asked: whether earlier entries are "
                                     "missing is not known");
    else if (a->seen.n_entries == 0)
        cellar_text_add_string(what, "the witness knew nothing of the ledger: whether earlier "
                                     "entries are missing is not known");
    else if (cellar_sighting_fits(&a->seen, a->ledger))
        cellar_text_add_string(what, "has another witness from here on");
    else {
        cellar_text_printf(what,
                           "an older copy: the witness saw %" PRIu64
                           " entries, up to the head %s, and the copy had %zu",
                           a->seen.n_entries, a->seen.head, a->ledger->n_entries);
        return 1;
    }
    return a->before != NULL && (!a->is_readable || a->seen.n_entries == 0);
}

/* Reads what both witnesses know. */
static cellar_status adoption_look(adoption *a, int is_named, cellar_error *err)
{
    cellar_sighting other = {0};
    cellar_error why = {""};
    cellar_status status = CELLAR_OK;
    if (a->before != NULL)
        status = cellar_witness_read(a->ledger, a->before, &a->seen, &why);
    a->is_readable = status == CELLAR_OK && a->before != NULL;
    if (status == CELLAR_ERR_MEMORY || (status != CELLAR_OK && !is_named))
        return cellar_fail(err, status, "%s; bring the witness back, or name another (--witness)",
                           why.message);
    if (cellar_witness_read(a->ledger, a->after, &other, NULL) == CELLAR_ERR_MEMORY)
        return cellar_fail_memory(err, "a witness");
    a->generation = cellar_ledger_generation(a->ledger);
    if (a->seen.generation > a->generation)
        a->generation = a->seen.generation;
    if (other.generation > a->generation)
        a->generation = other.generation;
    a->generation++;
    return CELLAR_OK;
}

static cellar_status adoption_write(adoption *a, cellar_error *err)
{
    cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_ADOPT, .witness = a->after};
    cellar_text what = {0};
    cellar_status status;
    entry.generation = a->generation;
    entry.has_gap = adoption_tell(a, &what);
    entry.what = what.bytes;
    status = what.failed ? cellar_fail_memory(err, "an adoption")
                         : cellar_ledger_append(a->ledger, &entry, err);
    cellar_text_clear(&what);
    return status;
}

/* The witness until now hears of it too: else it would take a copy from before for the newest. */
static cellar_status adoption_leave(const adoption *a, cellar_error *err)
{
    cellar_error why = {""};
    cellar_status status = CELLAR_OK;
    if (a->is_readable && a->is_moved)
        status = cellar_witness_tell(a->ledger, a->before, &why);
    if (status == CELLAR_OK)
        return CELLAR_OK;
    return cellar_fail(err, status,
                       "%s; the ledger has its new witness, but the old one would still vouch for "
                       "copies from before: remove it",
                       why.message);
}

static cellar_status adoption_run(adoption *a, int is_named, cellar_error *err)
{
    cellar_ledger *ledger = a->ledger;
    cellar_status status = cellar_ledger_begin(ledger, err);
    if (status != CELLAR_OK)
        return status;
    a->before = cellar_ledger_witness(ledger);
    if (!is_named)
        a->after = a->before;
    if (a->after == NULL)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: has no witness to be adopted in spite of; name one (--witness)",
                               ledger->path));
    a->is_moved = a->before == NULL || strcmp(a->before, a->after) != 0;
    CELLAR_TRY(adoption_look(a, is_named, err));
    if (!a->is_moved && a->is_readable && a->seen.n_entries > 0 &&
        cellar_sighting_fits(&a->seen, ledger))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: fits its witness, and there is nothing to adopt",
                               ledger->path));
    if (a->is_moved) /* it must know the ledger, should this program end after the COMMIT */
        CELLAR_TRY(cellar_witness_tell(ledger, a->after, err));
    CELLAR_TRY(adoption_write(a, err));
out:
    status = cellar_ledger_end(ledger, status, err);
    return status == CELLAR_OK ? adoption_leave(a, err) : status;
}

cellar_status cellar_ledger_adopt(const char *path, const cellar_key *key, const char *witness,
                                  cellar_error *err)
{
    adoption a = {0};
    cellar_text name = {0};
    cellar_status status = CELLAR_OK;
    if (witness != NULL)
        CELLAR_TRY(cellar_ledger_true_path(witness, &name, err));
    CELLAR_TRY(cellar_ledger_open_alone(path, key, &a.ledger, err));
    if (witness != NULL)
        CELLAR_TRY(cellar_witness_make(name.bytes, err));
    a.ledger->is_adopting = 1;
    a.after = name.bytes;
    CELLAR_TRY(adoption_run(&a, witness != NULL, err));
out:
    cellar_ledger_close(a.ledger);
    cellar_text_clear(&name);
    return status;
}
