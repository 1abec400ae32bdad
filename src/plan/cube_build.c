/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cube: counted in one pass, charged once, drawn, estimated, named. The charge is the one way
 * that all releases have (release/charge/charged.c); only what is written differs. */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "plan/cube_design.h"
#include "privacy/certificate.h"
#include "release/charge/charged.h"
#include "release/files/description.h"
#include "release/files/digest.h"
#include "release/guarantee/level.h"

typedef struct building {
    const cellar_cube_design *design;
    const cellar_cube_build_options *options;
    size_t n, n_exact; /* tables measured with noise, and those published as they were counted */
    uint32_t *table;   /* first those, then these */
    cellar_table **counts;      /* of each measured table */
    cellar_prepared **prepared; /* likewise */
    cellar_set_guarantee guarantee;
    cellar_ledger *ledger;
} building;

cellar_cube_build_options cellar_cube_build_options_default(void)
{
    return (cellar_cube_build_options){0};
}

/* ---- before anything is paid -------------------------------------------------------------------
 */

static cellar_status judge_level(building *b, cellar_error *err)
{
    cellar_set_guarantee *guarantee = &b->guarantee;
    cellar_status status = CELLAR_OK;
    guarantee->certificate = cellar_certificate_json(
        b->design->together != NULL ? b->design->together : b->design->certificate);
    if (guarantee->certificate == NULL)
        return cellar_fail_memory(err, "a certificate");
    CELLAR_TRY(cellar_level_of(guarantee->certificate, NULL, 1, &guarantee->level, err));
    CELLAR_TRY(
        cellar_level_pass(guarantee->level, "the cube", cellar_plan_accepts(b->design->plan), err));
out:
    return status;
}

static cellar_status prepare(building *b, cellar_error *err)
{
    const cellar_cube_design *d = b->design;
    const cellar_plan_run_options running = {.n_threads = b->options->n_threads,
                                             .date = b->options->date};
    const cellar_protect_options protect = cellar_plan_protect_options(&d->work, &running);
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; t < d->cube->lattice.n; t++)
        if (d->mechanism_of[t] < CUBE_MECHANISMS_MAX)
            b->table[b->n++] = (uint32_t) t;
    for (size_t t = 0; d->published == NULL && t < d->cube->lattice.n; t++)
        if (d->mechanism_of[t] == CUBE_PUBLISHED)
            b->table[b->n + b->n_exact++] = (uint32_t) t;
    CELLAR_TRY(judge_level(b, err));
    CELLAR_TRY(cellar_cube_count(d, b->table, b->n + b->n_exact, b->options, b->counts, err));
    for (size_t i = 0; i < b->n; i++)
        CELLAR_TRY(cellar_protect_prepare_part(b->counts[i],
                                               d->mechanisms[d->mechanism_of[b->table[i]]],
                                               &protect, &b->guarantee, &b->prepared[i], err));
out:
    return status;
}

/* ---- drawn
 * ---------------------------------------------------------------------------------------- */

json_t *cellar_cube_describe_units(const cellar_cube_design *d)
{
    const cellar_plan *plan = d->plan;
    json_t *where = plan->data.where.n > 0 ? json_array() : NULL;
    json_t *out;
    for (size_t i = 0; where != NULL && i < plan->data.where.n; i++)
        if (json_array_append_new(where, json_string(plan_text_at(&plan->data.where, i))) != 0) {
            json_decref(where);
            return NULL;
        }
    if (where == NULL && plan->data.where.n > 0)
        return NULL;
    out = json_pack("{s:s, s:s, s:I, s:I, s:s*}", "unit",
                    plan->unit.name != NULL ? plan->unit.name : "record", "neighbours",
                    d->work.n_sides == 2 ? "substitute" : "add-remove", "max_per_unit",
                    (json_int_t) d->work.per_unit, "max_weight", (json_int_t) d->work.max_weight,
                    "weight", plan->data.weight);
    if (where != NULL && json_object_set_new(out, "where", where) != 0) {
        json_decref(out);
        return NULL;
    }
    return out;
}

/* Tables that were measured with noise, now or before. */
static json_int_t n_measured(const cellar_cube *cube)
{
    json_int_t n = 0;
    for (size_t t = 0; t < cube->lattice.n; t++)
        n += cube->w[t] > 0;
    return n;
}

/* How and when it was measured and paid. */
static json_t *describe_making(const building *b, const char *stamp, const char *date)
{
    const cellar_plan *plan = b->design->plan;
    return json_pack("{s:s*, s:s, s:s, s:s, s:s, s:s, s:I, s:O}", "title", plan->title, "noise",
                     cellar_noise_source_name(CELLAR_NOISE_SECURE), "parameter_choice",
                     cellar_parameter_choice_name((cellar_parameter_choice) plan->parameter_choice),
                     "date", date, "ledger", stamp, "protection",
                     cellar_protection_level_name(b->guarantee.level), "measured_tables",
                     n_measured(b->design->cube), "certificate", b->guarantee.certificate);
}

/* With more than one measurement each has its date and its charge. */
static json_t *describe(const building *b, const char *stamp, const char *date)
{
    const cellar_cube_design *d = b->design;
    json_t *out = cellar_cube_describe_units(d), *making = describe_making(b, stamp, date);
    int failed = out == NULL || making == NULL || json_object_update(out, making) != 0;
    if (!failed && d->published != NULL)
        failed = json_object_set_new(
            out, "measurements",
            cellar_cube_extend_describe(d, json_pack("{s:s, s:s, s:I}", "date", date, "ledger",
                                                     stamp, "measured_tables", (json_int_t) b->n)));
    json_decref(making);
    if (!failed)
        return out;
    json_decref(out);
    return NULL;
}

/* Takes the drawn values into the cube, estimates all tables and writes the file. */
static cellar_status write_cube(void *context, const char *path, const char *stamp,
                                cellar_release **releases, cellar_error *err)
{
    building *b = context;
    cellar_cube *cube = b->design->cube;
    const cellar_output_options shared = {.shared = stamp == NULL};
    cellar_output *output = NULL;
    json_t *description = describe(b, stamp != NULL ? stamp : CELLAR_RELEASE_UNACCOUNTED,
                                   cellar_release_date(releases[0]));
    cellar_status status = CELLAR_OK;

    if (description == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
    CELLAR_TRY(cellar_cube_describe(cube, description, err));
    CELLAR_TRY(cellar_cube_measured_alloc(cube, err));
    if (b->design->published != NULL)
        cellar_cube_extend_fill(b->design);
    for (size_t i = 0; i < b->n; i++) {
        int64_t *room = cellar_cube_measured_room(cube, b->table[i]);
        for (size_t k = 0; k < cellar_release_n_cells(releases[i]); k++) {
            const cellar_released_cell cell = cellar_release_cell(releases[i], k);
            room[cell.index] = cell.released;
        }
    }
    for (size_t i = b->n; i < b->n + b->n_exact; i++) {
        int64_t *room = cellar_cube_measured_room(cube, b->table[i]);
        for (size_t k = 0; k < cellar_table_n_cells(b->counts[i]); k++) {
            const cellar_cell cell = cellar_table_cell(b->counts[i], k);
            room[cell.index] = (int64_t) cell.count;
        }
    }
    CELLAR_TRY(cellar_cube_estimate_all(cube, err));
    CELLAR_TRY(cellar_output_open(path, &shared, &output, err));
    CELLAR_TRY(cellar_cube_write(cube, output, err));
    status = cellar_output_commit(output, err);
    output = NULL;
out:
    cellar_output_discard(output);
    return status;
}

/* How the file is made, for the ledger: a cube that is extended is a part of the request. */
static cellar_status form_of(const building *b, cellar_text *out, cellar_error *err)
{
    const cellar_cube *published = b->design->published;
    char hex[CUBE_DIGEST_TEXT];
    cellar_digest *digest = NULL;
    cellar_status status = CELLAR_OK;
    cellar_text_add_string(out, "cube 1");
    if (published != NULL) {
        CELLAR_TRY(cellar_digest_create(&digest, err));
        cellar_digest_add(digest, published->map, published->map_length);
        CELLAR_TRY(cellar_digest_finish(digest, hex, err));
        cellar_text_printf(out, " extends %s", hex);
    }
    if (out->failed)
        status = cellar_fail_memory(err, "a charge");
out:
    cellar_digest_free(digest);
    return status;
}

static cellar_status spend(building *b, cellar_cube_build_result *out, cellar_error *err)
{
    const cellar_plan *plan = b->design->plan;
    const cellar_payment payment = {.request = plan->ledger.request,
                                    .dataset = plan->ledger.dataset,
                                    .edition = plan->data.edition,
                                    .analyst = plan->ledger.analyst,
                                    .accept_delta = cellar_plan_has_text(&plan->accept, "delta")};
    cellar_charged_set set = {.prepared = b->prepared,
                              .n = b->n,
                              .certificate = b->design->certificate,
                              .delta = b->design->delta,
                              .place = {.path = plan->universe.file},
                              .write = write_cube,
                              .context = b};
    cellar_text what = {0}, form = {0};
    cellar_spend_result spent = {.state = CELLAR_CHARGE_NONE};
    cellar_status status = CELLAR_OK;

    if (plan->ledger.file == NULL) {
        out->is_new = 1;
        return cellar_charged_draw(&set, plan->universe.file, NULL, err);
    }
    cellar_text_printf(&what, "cube of %zu measured tables, plan %s", b->n, plan->digest);
    CELLAR_TRY(form_of(b, &form, err));
    if (what.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a charge"));
    set.what = what.bytes;
    set.form = form.bytes;
    status = cellar_charged_spend(&set, b->ledger, &payment, &spent, err);
    out->is_new = spent.is_new;
    out->is_charged = spent.state != CELLAR_CHARGE_NONE;
    memcpy(out->stamp, spent.stamp, sizeof out->stamp);
out:
    cellar_text_clear(&what);
    cellar_text_clear(&form);
    return status;
}

/* The ledger, when there is one; a cube that is extended must be in it. */
static cellar_status open_ledger(building *b, cellar_error *err)
{
    const plan_ledger *ledger = &b->design->plan->ledger;
    cellar_status status = CELLAR_OK;
    if (ledger->file != NULL)
        CELLAR_TRY(cellar_ledger_open_file(ledger->file, ledger->key, &b->ledger, err));
    if (b->design->published != NULL)
        CELLAR_TRY(cellar_cube_extend_check_ledger(b->design, b->ledger, err));
out:
    return status;
}

static cellar_status check_place(const cellar_plan *plan, cellar_error *err)
{
    struct stat unused;
    return plan->ledger.file != NULL || lstat(plan->universe.file, &unused) != 0
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_EXISTS,
                             "%s: exists already, and a cube replaces nothing; choose another name",
                             plan->universe.file);
}

cellar_status cellar_cube_build(const cellar_cube_design *design,
                                const cellar_cube_build_options *options,
                                cellar_cube_build_result *out, cellar_error *err)
{
    const size_t n = design->cube->lattice.n;
    building b = {.design = design,
                  .options = options,
                  .table = cellar_alloc(n, sizeof *b.table),
                  .counts = cellar_alloc(n, sizeof *b.counts),
                  .prepared = cellar_alloc(n, sizeof *b.prepared)};
    cellar_status status = CELLAR_OK;

    *out = (cellar_cube_build_result){0};
    if (b.table == NULL || b.counts == NULL || b.prepared == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a cube"));
    CELLAR_TRY(check_place(design->plan, err));
    CELLAR_TRY(open_ledger(&b, err));
    CELLAR_TRY(prepare(&b, err));
    CELLAR_TRY(spend(&b, out, err));
out:
    for (size_t i = 0; i < b.n; i++)
        cellar_prepared_free(b.prepared[i]);
    for (size_t i = 0; i < b.n + b.n_exact; i++)
        cellar_table_free(b.counts[i]);
    json_decref(b.guarantee.certificate);
    cellar_ledger_close(b.ledger);
    cellar_free(b.table);
    cellar_free(b.counts);
    cellar_free(b.prepared);
    return status;
}
