/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run: refused, or charged, drawn and named in one step.
 *
 * The pack is made in a hidden folder that only its owner may enter, beside the place where it will
 * appear, under a name that nobody else can know before; with a ledger it waits there until its
 * digest is on record (ledger/spend.c tells what happens to a run that ends at any point).
 * Then one rename makes all of it appear. */
#include "plan/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folder.h"
#include "base/place.h"
#include "release/charge/charged.h"

typedef struct run {
    const cellar_plan *plan;
    const cellar_plan_run_options *options;
    plan_figures *figures;
    cellar_ledger *ledger;
    cellar_key *key;            /* that signs; or NULL */
    cellar_prepared **prepared; /* each table, all but drawn */
} run;

/* ---- before anything is paid --------------------------------------------- */

static cellar_status fail_taken(const cellar_plan *plan, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_EXISTS,
                       "%s: exists already, and a run replaces nothing; choose another folder",
                       plan->outputs.folder);
}

static cellar_status check_new(const cellar_plan *plan, cellar_error *err)
{
    struct stat unused;
    return lstat(plan->outputs.folder, &unused) == 0 ? fail_taken(plan, err) : CELLAR_OK;
}

static cellar_status check_outputs(const cellar_plan *plan, cellar_error *err)
{
    cellar_place place;
    cellar_status status = cellar_plan_check_lists_tables(plan, err);
    if (status != CELLAR_OK)
        return status;
    if (plan->outputs.folder == NULL || plan->outputs.formats.n == 0)
        return cellar_plan_fail_at(plan, "outputs", err,
                                   "a run needs a folder and at least one format");
    status = cellar_place_open(plan->outputs.folder, CELLAR_PLACE_KEPT, &place, err);
    cellar_place_close(&place);
    return status == CELLAR_OK && plan->ledger.file == NULL ? check_new(plan, err) : status;
}

/* All that drawing could refuse, found out before, and the certificate of each table. */
static cellar_status prepare_tables(run *r, cellar_error *err)
{
    const plan_work *work = &r->figures->work;
    cellar_protect_options protect = cellar_plan_protect_options(work, r->options);
    r->prepared = cellar_alloc(work->n, sizeof *r->prepared);
    if (r->prepared == NULL)
        return cellar_fail_memory(err, "a release");
    for (size_t t = 0; t < work->n; t++) {
        const plan_piece *piece = &work->pieces[t];
        cellar_error why = {""};
        cellar_status status = cellar_protect_prepare(piece->counts, piece->mechanism, &protect,
                                                      &r->prepared[t], &why);
        if (status != CELLAR_OK)
            return cellar_fail(err, status, "table %s: %s", piece->table->name, why.message);
        /* somebody answers for the epsilon of all tables, and each of them says so */
        if (r->figures->level == CELLAR_LEVEL_LARGE_EPSILON)
            status = cellar_prepared_lower(r->prepared[t], CELLAR_LEVEL_LARGE_EPSILON, err);
        if (status != CELLAR_OK)
            return status;
    }
    return cellar_plan_pack_check(work, err);
}

static void forget_tables(run *r)
{
    for (size_t t = 0; r->prepared != NULL && t < r->figures->work.n; t++)
        cellar_prepared_free(r->prepared[t]);
    cellar_free(r->prepared);
}

static cellar_status run_prepare(run *r, cellar_error *err)
{
    cellar_plan_options options = cellar_plan_options_default();
    cellar_status status = CELLAR_OK;
    if (r->options != NULL) {
        options.n_threads = r->options->n_threads;
        options.progress = r->options->progress;
    }
    CELLAR_TRY(check_outputs(r->plan, err));
    if (r->plan->outputs.sign != NULL && r->plan->ledger.file == NULL &&
        (cellar_plan_accepts(r->plan) & CELLAR_ACCEPT_UNACCOUNTED) == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "no ledger is charged for what the plan would sign; name one, or "
                               "accept: [unaccounted]"));
    if (r->plan->outputs.sign != NULL)
        CELLAR_TRY(cellar_key_read(r->plan->outputs.sign, &r->key, err));
    CELLAR_TRY(cellar_plan_figures_create(r->plan, &options, &r->figures, err));
    if (r->figures->told.n_refusals > 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE, "%s", r->figures->told.refusals[0]));
    CELLAR_TRY(prepare_tables(r, err));
out:
    return status;
}

/* ---- with a ledger ------------------------------------------------------- */

/* What is released: a request asked again must ask for the same plan. */
static void describe_list(const cellar_plan *plan, cellar_text *out)
{
    cellar_text_printf(out, "plan %s, tables", plan->digest);
    for (size_t t = 0; t < plan->tables.n; t++)
        cellar_text_printf(out, " %s", plan_table_at(plan, t)->name);
}

/* Writes the pack where it waits for its name. */
static cellar_status write_pack(void *context, const char *staged, const char *stamp,
                                cellar_release **releases, cellar_error *err)
{
    const run *r = context;
    cellar_status status = stamp != NULL ? cellar_folder_create(staged, err) : CELLAR_OK;
    if (status != CELLAR_OK)
        return status;
    return cellar_plan_pack_write(r->figures, releases, r->options, r->key, staged, stamp, err);
}

/* All tables of the plan; their joint certificate is the price, and the pack prints it. */
static cellar_charged_set charged_set(run *r)
{
    return (cellar_charged_set){.prepared = r->prepared,
                                .n = r->figures->work.n,
                                .certificate = r->figures->work.certificate,
                                .delta = plan_delta(r->plan),
                                .form = "",
                                .place = {.path = r->plan->outputs.folder},
                                .write = write_pack,
                                .context = r};
}

static cellar_status run_charged(run *r, cellar_plan_run_result *out, cellar_error *err)
{
    const cellar_plan *plan = r->plan;
    cellar_payment payment = cellar_payment_default();
    cellar_charged_set set = charged_set(r);
    cellar_text what = {0};
    cellar_spend_result spent;
    cellar_status status = CELLAR_OK;

    payment.request = plan->ledger.request;
    payment.dataset = plan->ledger.dataset;
    payment.edition = plan->data.edition;
    payment.analyst = plan->ledger.analyst;
    payment.accept_delta = cellar_plan_has_text(&plan->accept, "delta");
    CELLAR_TRY(cellar_ledger_open_file(plan->ledger.file, plan->ledger.key, &r->ledger, err));
    describe_list(plan, &what);
    if (what.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a charge"));
    set.what = what.bytes;
    status = cellar_charged_spend(&set, r->ledger, &payment, &spent, err);
    if (status == CELLAR_ERR_EXISTS && spent.state == CELLAR_CHARGE_NONE)
        status = fail_taken(plan, err);
    out->is_new = spent.is_new;
    out->is_charged = spent.state != CELLAR_CHARGE_NONE;
    memcpy(out->stamp, spent.stamp, sizeof out->stamp);
out:
    cellar_text_clear(&what);
    return status;
}

/* ---- without one --------------------------------------------------------- */

static const char DRAFT[] = ".draft";

/* Nobody has seen what interrupted runs left here: it is thrown away. A run holds the lock of its
 * draft as long as it lives. */
static cellar_status drafts_clear(const cellar_place *place, const char *parent, cellar_error *err)
{
    cellar_names names = {0};
    cellar_text path = {0};
    cellar_status status = cellar_folder_list(parent, &names, err);
    if (status == CELLAR_ERR_IO) { /* a folder that may be written to and not be read */
        cellar_names_clear(&names);
        return CELLAR_OK;
    }
    for (size_t i = 0; i < names.n && status == CELLAR_OK; i++) {
        const char *name = names.items[i], *dot = strrchr(name, '.');
        int fd = -1;
        if (strncmp(name, ".cellar-", 8) == 0 && strcmp(dot, DRAFT) == 0)
            fd = openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            continue;
        cellar_text_reset(&path);
        cellar_text_printf(&path, "%s/%s", parent, name);
        if (path.failed)
            status = cellar_fail_memory(err, "the name of a folder");
        else if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            status = cellar_folder_remove(path.bytes, err);
        if (status == CELLAR_ERR_IO)
            status = CELLAR_OK; /* another user's stays */
        close(fd);
    }
    cellar_names_clear(&names);
    cellar_text_clear(&path);
    return status;
}

/* A folder of our own, locked. One that lost its name before it was locked was cleared away. */
static cellar_status draft_make(const cellar_place *place, const char *parent, cellar_text *path,
                                int *out, cellar_error *err)
{
    char name[CELLAR_PLACE_HIDDEN_BYTES];
    struct stat facts;
    cellar_status status = CELLAR_OK;
    for (;;) {
        CELLAR_TRY(cellar_place_hide(DRAFT, name, err));
        cellar_text_reset(path);
        cellar_text_printf(path, "%s/%s", parent, name);
        if (path->failed)
            CELLAR_TRY(cellar_fail_memory(err, "the name of a folder"));
        CELLAR_TRY(cellar_folder_create(path->bytes, err));
        *out = openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (*out >= 0 && flock(*out, LOCK_EX) == 0 && fstat(*out, &facts) == 0 &&
            cellar_place_is(place, name, &facts))
            return CELLAR_OK;
        if (*out < 0 && errno != ENOENT)
            CELLAR_TRY(cellar_fail_errno(err, path->bytes, "open the folder"));
        if (*out >= 0)
            close(*out);
    }
out:
    return status;
}

static cellar_status run_uncharged(run *r, cellar_plan_run_result *out, cellar_error *err)
{
    const char *folder = r->plan->outputs.folder;
    const cellar_charged_set set = charged_set(r);
    cellar_place place = {.fd = -1};
    cellar_text parent = {0}, draft = {0};
    cellar_error unheard;
    cellar_status status = CELLAR_OK;
    int fd = -1;
    CELLAR_TRY(cellar_place_open(folder, CELLAR_PLACE_KEPT, &place, err));
    cellar_text_printf(&parent, "%.*s.", (int) (place.name - folder), folder);
    if (parent.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a folder"));
    CELLAR_TRY(drafts_clear(&place, parent.bytes, err));
    CELLAR_TRY(draft_make(&place, parent.bytes, &draft, &fd, err));
    status = cellar_charged_draw(&set, draft.bytes, NULL, err);
    if (status == CELLAR_OK)
        status = cellar_folder_publish(draft.bytes, folder, err);
    if (status != CELLAR_OK)
        (void) cellar_folder_remove(draft.bytes, &unheard); /* else the next run does */
    out->is_new = status == CELLAR_OK;
out:
    if (fd >= 0)
        close(fd);
    cellar_place_close(&place);
    cellar_text_clear(&parent);
    cellar_text_clear(&draft);
    return status;
}

cellar_plan_run_options cellar_plan_run_options_default(void)
{
    return (cellar_plan_run_options){0};
}

cellar_status cellar_plan_run(const cellar_plan *plan, const cellar_plan_run_options *options,
                              cellar_plan_run_result *out, cellar_error *err)
{
    run r = {.plan = plan, .options = options};
    cellar_status status = CELLAR_OK;
    *out = (cellar_plan_run_result){0};
    CELLAR_TRY(run_prepare(&r, err));
    CELLAR_TRY(plan->ledger.file != NULL ? run_charged(&r, out, err) : run_uncharged(&r, out, err));
out:
    cellar_ledger_close(r.ledger);
    cellar_key_free(r.key);
    forget_tables(&r);
    cellar_plan_figures_free(r.figures != NULL ? &r.figures->told : NULL);
    return status;
}
