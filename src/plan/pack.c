/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/pack.h"

#include <string.h>

#include <cellar/manifest.h>
#include <cellar/release_file.h>

#include "base/error.h"

typedef struct packing {
    const plan_figures *figures;
    const cellar_plan *plan;
    const cellar_plan_run_options *options;
    const cellar_key *key;
    const char *folder, *stamp;
    cellar_release *const *releases;
    const char **names, **titles;
    size_t n;
} packing;

/* ---- writing -------------------------------------------------------------------------------- */

static cellar_status path_in(const packing *p, const char *name, const char *ending,
                             cellar_text *out, cellar_error *err)
{
    cellar_text_reset(out);
    cellar_text_printf(out, "%s/%s%s", p->folder, name, ending);
    return out->failed ? cellar_fail_memory(err, "the name of a file") : CELLAR_OK;
}

static size_t table_roles(const cellar_plan *plan, const plan_table *table,
                          cellar_variable_role *roles)
{
    size_t n = 0;
    for (size_t k = 0; k < table->n_variables; k++) {
        const plan_variable *variable = plan_variable_at(plan, table->variables[k]);
        if (variable->role > 0)
            roles[n++] = (cellar_variable_role){
                variable->name, variable->role == 1 ? CELLAR_ROLE_TIME : CELLAR_ROLE_GEO};
    }
    return n;
}

typedef struct pack_format {
    const char *name, *ending;
    cellar_table_format format;
} pack_format;

/* The reading of the plan let no other name through. */
static const pack_format *find_format(const char *name)
{
    static const pack_format known[] = {
        {"csv", ".csv", CELLAR_TABLE_CSV},   {"json", ".json", CELLAR_TABLE_JSONSTAT},
        {"px", ".px", CELLAR_TABLE_PX},      {"sdmx", ".csv", CELLAR_TABLE_SDMX},
        {"csvw", ".csv", CELLAR_TABLE_CSVW}, {"ods", ".ods", CELLAR_TABLE_ODS},
        {"xlsx", ".xlsx", CELLAR_TABLE_XLSX}};
    const pack_format *format = known;
    while (strcmp(format->name, name) != 0)
        format++;
    return format;
}

static cellar_table_write_options write_options(const cellar_plan *plan, const plan_table *table,
                                                const pack_format *format,
                                                cellar_variable_role roles[CELLAR_MAX_VARIABLES])
{
    return (cellar_table_write_options){.format = format->format,
                                        .zeros = plan->outputs.zeros == PLAN_YES,
                                        .sparse = plan->outputs.sparse == PLAN_YES,
                                        .title = table->title,
                                        .roles = roles,
                                        .n_roles = table_roles(plan, table, roles)};
}

cellar_status cellar_plan_pack_check(const plan_work *work, cellar_error *err)
{
    const plan_list *formats = &work->plan->outputs.formats;
    for (size_t t = 0; t < work->n; t++)
        for (size_t i = 0; i < formats->n; i++) {
            cellar_variable_role roles[CELLAR_MAX_VARIABLES];
            cellar_table_write_options how = write_options(
                work->plan, work->pieces[t].table, find_format(plan_text_at(formats, i)), roles);
            cellar_error why = {""};
            cellar_status status = cellar_release_file_check(
                work->pieces[t].counts,
                work->plan->below == 2 ? CELLAR_BELOW_SUPPRESS : CELLAR_BELOW_ZERO, &how, &why);
            if (status != CELLAR_OK)
                return cellar_fail(err, status, "table %s: %s", work->pieces[t].table->name,
                                   why.message);
        }
    return CELLAR_OK;
}

static cellar_status write_format(const packing *p, size_t t, const char *format, cellar_text *path,
                                  cellar_error *err)
{
    const plan_table *table = plan_table_at(p->plan, t);
    cellar_variable_role roles[CELLAR_MAX_VARIABLES];
    const pack_format *known = find_format(format);
    cellar_table_write_options how = write_options(p->plan, table, known, roles);
    cellar_release_file *file = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(path_in(p, table->name, known->ending, path, err));
    CELLAR_TRY(cellar_release_file_open(path->bytes, &how, 0, &file, err));
    CELLAR_TRY(cellar_release_file_write(file, p->releases[t], err));
out:
    cellar_release_file_discard(file);
    return status;
}

static int has_display(const plan_display *display)
{
    return display->rounding > 0 || display->zero != NULL || display->structural_zero != NULL ||
           display->negative != NULL || display->suppressed != NULL;
}

static cellar_status open_shared(const char *path, cellar_output **out, cellar_error *err)
{
    cellar_output_options shared = cellar_output_options_default();
    shared.shared = 1;
    return cellar_output_open(path, &shared, out, err);
}

static cellar_status write_table(const packing *p, size_t t, cellar_text *path, cellar_error *err)
{
    const plan_list *formats = &p->plan->outputs.formats;
    cellar_output *output;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < formats->n; i++)
        CELLAR_TRY(write_format(p, t, plan_text_at(formats, i), path, err));
    if (!has_display(&p->plan->display))
        return CELLAR_OK;
    CELLAR_TRY(path_in(p, plan_table_at(p->plan, t)->name, ".display.csv", path, err));
    CELLAR_TRY(open_shared(path->bytes, &output, err));
    cellar_plan_pack_display(p->plan, p->releases[t], output);
    CELLAR_TRY(cellar_output_commit(output, err));
out:
    return status;
}

/* Writes a file that all may read by `fill`. */
static cellar_status write_file(const packing *p, const char *name, const char *ending,
                                cellar_status (*fill)(const plan_figures *figures,
                                                      const char *stamp, cellar_output *output,
                                                      cellar_error *err),
                                cellar_text *path, cellar_error *err)
{
    cellar_output *output;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(path_in(p, name, ending, path, err));
    CELLAR_TRY(open_shared(path->bytes, &output, err));
    status = fill(p->figures, p->stamp, output, err);
    if (status == CELLAR_OK)
        return cellar_output_commit(output, err);
    cellar_output_discard(output);
out:
    return status;
}

static cellar_status write_all(packing *p, cellar_error *err)
{
    const cellar_manifest_accepted accepted = {.what = cellar_plan_accepts(p->plan)};
    cellar_text path = {0};
    cellar_status status = CELLAR_OK;
    for (size_t t = 0; t < p->n; t++)
        CELLAR_TRY(write_table(p, t, &path, err));
    CELLAR_TRY(write_file(p, "certificate", ".json", cellar_plan_pack_certificate, &path, err));
    CELLAR_TRY(write_file(p, "method-note", ".md", cellar_plan_pack_note, &path, err));
    if (p->options != NULL && p->options->extra != NULL) {
        cellar_plan_pack pack = {
            .plan = p->plan,
            .names = p->names,
            .titles = p->titles,
            .ending = find_format(plan_text_at(&p->plan->outputs.formats, 0))->ending,
            .releases = (const cellar_release *const *) p->releases,
            .n = p->n,
            .certificate = p->figures->work.certificate,
            .level = p->figures->level};
        CELLAR_TRY(p->options->extra(p->options->extra_context, p->folder, &pack, err));
    }
    CELLAR_TRY(p->key != NULL ? cellar_manifest_sign(p->folder, p->key, &accepted, NULL, err)
                              : cellar_manifest_write(p->folder, NULL, err));
out:
    cellar_text_clear(&path);
    return status;
}

cellar_status cellar_plan_pack_write(const plan_figures *figures, cellar_release *const *releases,
                                     const cellar_plan_run_options *options, const cellar_key *key,
                                     const char *folder, const char *stamp, cellar_error *err)
{
    packing p = {.figures = figures,
                 .plan = figures->work.plan,
                 .options = options,
                 .releases = releases,
                 .key = key,
                 .folder = folder,
                 .stamp = stamp,
                 .n = figures->work.n};
    cellar_status status = CELLAR_OK;

    p.names = cellar_alloc(p.n, sizeof *p.names);
    p.titles = cellar_alloc(p.n, sizeof *p.titles);
    if (p.names == NULL || p.titles == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a release"));
    for (size_t t = 0; t < p.n; t++) {
        p.names[t] = plan_table_at(p.plan, t)->name;
        p.titles[t] = plan_table_at(p.plan, t)->title;
        CELLAR_TRY(cellar_plan_judge_release(p.plan, t, releases[t], err));
    }
    CELLAR_TRY(write_all(&p, err));
out:
    cellar_free(p.names);
    cellar_free(p.titles);
    return status;
}
