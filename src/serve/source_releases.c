/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values from a folder of releases, to which files may be added while it is read. A file that was
 * read stays until the source is closed, so that only the list of them needs a lock. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cellar/manifest.h>

#include "base/error.h"
#include "base/folder.h"
#include "base/memory.h"
#include "serve/piece.h"
#include "serve/releases.h"

/* Apart, for reading changes them too. */
typedef struct releases_locks {
    pthread_mutex_t list;   /* of files */
    pthread_mutex_t adding; /* one thread at a time */
} releases_locks;

typedef struct releases_source {
    serve_source base;
    char *folder;
    releases_locks *locks;
    struct timespec seen; /* when the folder changed last, as of its last reading; 0: not known */
    piece_file **files;
    size_t n, room;
} releases_source;

static const releases_source *of(const serve_source *source)
{
    return (const releases_source *) (const void *) source;
}

/* ---- which file answers ------------------------------------------------------------------------
 */

/* A table of a file that lies above the one that is wanted. */
typedef struct found {
    piece_file *file;
    const serve_table *table;
    double n_summed; /* released values in one that is answered, at most about */
    int is_exact;
} found;

/* Values that were cut off, or whose distribution depends on the count, are not added up to others
 * on their own account: the sum would be biased. */
static int can_answer(const found *f)
{
    return f->is_exact || f->file->noise.kind == SERVE_NOISE_ADDED;
}

/* The table itself before any sum; among equals the one with the least noise. */
static int is_better(const found *a, const found *b)
{
    double noise_a, noise_b;
    if (b->file == NULL || a->is_exact != b->is_exact)
        return b->file == NULL || a->is_exact;
    noise_a = a->n_summed * a->file->noise.variance;
    noise_b = b->n_summed * b->file->noise.variance;
    return isnan(noise_a) == isnan(noise_b) ? noise_a < noise_b : isnan(noise_b);
}

static double ratio(const serve_dataset *dataset, const serve_table *coarse,
                    const serve_table *fine)
{
    double n = 1;
    for (size_t v = 0; v < dataset->n_variables; v++) {
        const serve_level *levels = dataset->variables[v].levels;
        if (fine->levels[v] > 0)
            n *= (double) levels[fine->levels[v] - 1].n_categories;
        if (coarse->levels[v] > 0)
            n /= (double) levels[coarse->levels[v] - 1].n_categories;
    }
    return n;
}

static void consider(piece_file *file, const serve_dataset *dataset, const serve_table *wanted,
                     found *best)
{
    for (size_t t = 0; t < file->n_tables; t++) {
        found one = {.file = file, .table = &file->tables[t]};
        if (!serve_table_is_below(dataset, wanted, one.table))
            continue;
        one.is_exact = memcmp(wanted, one.table, sizeof *wanted) == 0;
        one.n_summed = ratio(dataset, wanted, one.table);
        if (can_answer(&one) && is_better(&one, best))
            *best = one;
    }
}

/* .file is NULL when there is none. */
static found find(const releases_source *s, const serve_dataset *dataset, const serve_table *wanted)
{
    found best = {0};
    pthread_mutex_lock(&s->locks->list);
    for (size_t i = 0; i < s->n; i++)
        consider(s->files[i], dataset, wanted, &best);
    pthread_mutex_unlock(&s->locks->list);
    return best;
}

piece_file *serve_releases_find(const serve_source *source, const serve_dataset *dataset,
                                const serve_table *wanted, serve_table *from, int *is_exact)
{
    const found f = find(of(source), dataset, wanted);
    *from = f.file != NULL ? *f.table : *wanted;
    *is_exact = f.is_exact;
    return f.file;
}

/* ---- operations --------------------------------------------------------------------------------
 */

static cellar_status releases_status(const serve_source *source, const serve_dataset *dataset,
                                     const serve_table *table, serve_status *out, cellar_error *err)
{
    const found f = find(of(source), dataset, table);
    (void) err;
    *out = (serve_status){.from = *table, .sd = NAN};
    if (f.file == NULL)
        return CELLAR_OK;
    *out = (serve_status){.exists = 1,
                          .is_exact = f.is_exact,
                          .from = *f.table,
                          .sd = serve_noise_sd(&f.file->noise, f.n_summed),
                          .mechanism = cellar_release_mechanism(f.file->release)};
    return CELLAR_OK;
}

static cellar_status releases_ask(const serve_source *source, const serve_cut *cut, double tail,
                                  serve_value *out, cellar_error *err)
{
    const found f = find(of(source), cut->dataset, &cut->table);
    if (f.file == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE, "no release has this table");
    return piece_ask(f.file, f.table, cut, tail, out, err);
}

static int has_table(const serve_table *tables, size_t n, const serve_table *one)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&tables[i], one, sizeof *one) == 0)
            return 1;
    return 0;
}

/* What of the wanted table each release has: a table that can be answered. */
static size_t releases_nearest(const serve_source *source, const serve_dataset *dataset,
                               const serve_table *wanted, serve_table *out, size_t room)
{
    const releases_source *s = of(source);
    size_t n = 0;
    pthread_mutex_lock(&s->locks->list);
    for (size_t i = 0; i < s->n; i++)
        for (size_t t = 0; t < s->files[i]->n_tables; t++) {
            const int is_added = s->files[i]->noise.kind == SERVE_NOISE_ADDED;
            serve_table common = s->files[i]->tables[t];
            for (size_t v = 0; is_added && v < dataset->n_variables; v++)
                if (wanted->levels[v] < common.levels[v])
                    common.levels[v] = wanted->levels[v];
            if (serve_table_is_below(dataset, &common, wanted) && !has_table(out, n, &common))
                serve_nearest_add(dataset, &common, out, room, &n);
        }
    pthread_mutex_unlock(&s->locks->list);
    return n;
}

static cellar_status releases_describe(const serve_source *source, const serve_dataset *dataset,
                                       const serve_table *table, cellar_arena *arena,
                                       serve_cover *out, cellar_error *err)
{
    const releases_source *s = of(source);
    const found f = find(s, dataset, table);
    cellar_text text = {0};
    if (f.file == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE, "no release has this table");
    *out = (serve_cover){.certificate = cellar_release_certificate(f.file->release),
                         .id = f.file->id,
                         .guarantee = f.file->guarantee,
                         .origin = f.file->origin,
                         .is_immutable = f.is_exact || !serve_kind_grows(dataset->kind)};
    if (dataset->joint != NULL) {
        cellar_text_printf(&text, "%s %s", dataset->joint, f.file->guarantee);
        out->guarantee = text.failed ? NULL : cellar_arena_copy(arena, text.bytes, text.length);
        cellar_text_reset(&text);
    }
    if (!f.is_exact) {
        char name[SERVE_TABLE_TEXT];
        serve_table_text(dataset, f.table, name);
        cellar_text_printf(&text, "Added up from the released table %s. %s", name, f.file->origin);
        out->origin = text.failed ? NULL : cellar_arena_copy(arena, text.bytes, text.length);
    }
    cellar_text_clear(&text);
    return out->guarantee != NULL && out->origin != NULL ? CELLAR_OK
                                                         : cellar_fail_memory(err, "an answer");
}

static cellar_status releases_certificate(const serve_source *source, const serve_dataset *dataset,
                                          const char *id, cellar_arena *arena, const char **out,
                                          cellar_error *err)
{
    const releases_source *s = of(source);
    (void) dataset, (void) arena, (void) err;
    *out = NULL;
    pthread_mutex_lock(&s->locks->list);
    for (size_t i = 0; i < s->n && *out == NULL; i++)
        if (strcmp(s->files[i]->id, id) == 0)
            *out = cellar_release_certificate(s->files[i]->release);
    pthread_mutex_unlock(&s->locks->list);
    return CELLAR_OK;
}

/* ---- the folder --------------------------------------------------------------------------------
 */

/* The formats of a release by how well they are read, the best first. */
static const char *const endings[] = {".json", ".px", ".csv"};
enum { N_ENDINGS = sizeof endings / sizeof *endings };

static int has_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), n = strlen(ending);
    return length > n && strcmp(name + length - n, ending) == 0;
}

/* Which format a release of that name has; N_ENDINGS: it is no release. */
static size_t format_of(const char *name)
{
    size_t k = 0;
    if (has_ending(name, ".cellar.json") || has_ending(name, "-metadata.json") ||
        strcmp(name, SERVE_JOINT_FILE) == 0 || name[0] == '.')
        return N_ENDINGS;
    while (k < N_ENDINGS && !has_ending(name, endings[k]))
        k++;
    return k;
}

/* 1 when the same table lies there in a format that is read before this one. */
static int is_copy(const cellar_names *names, size_t i)
{
    const size_t format = format_of(names->items[i]);
    size_t stem;
    if (format == N_ENDINGS)
        return 0;
    stem = strlen(names->items[i]) - strlen(endings[format]);
    for (size_t j = 0; j < names->n; j++) {
        const size_t other = format_of(names->items[j]);
        if (other < format && strlen(names->items[j]) == stem + strlen(endings[other]) &&
            strncmp(names->items[i], names->items[j], stem) == 0)
            return 1;
    }
    return 0;
}

static int is_known(const releases_source *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->files[i]->name, name) == 0)
            return 1;
    return 0;
}

/* Reads one more file, and fits it to the data set if there is one. Only one thread adds. */
static cellar_status add_file(releases_source *s, const char *name, const serve_dataset *dataset,
                              cellar_error *err)
{
    piece_file *file = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(piece_file_read(s->folder, name, &file, err));
    if (dataset != NULL)
        CELLAR_TRY(piece_file_fit(file, dataset, err));
    pthread_mutex_lock(&s->locks->list);
    if (cellar_grow(&s->files, &s->room, s->n + 1, sizeof *s->files)) {
        s->files[s->n++] = file;
        file = NULL;
    }
    pthread_mutex_unlock(&s->locks->list);
    if (file != NULL)
        status = cellar_fail_memory(err, "a release");
out:
    piece_file_free(file);
    return status;
}

static cellar_status add_files(releases_source *s, const serve_dataset *dataset, cellar_error *err)
{
    cellar_names names = {0};
    cellar_status status = cellar_folder_list(s->folder, &names, err);
    for (size_t i = 0; status == CELLAR_OK && i < names.n; i++)
        if (format_of(names.items[i]) < N_ENDINGS && !is_copy(&names, i) &&
            !is_known(s, names.items[i]))
            status = add_file(s, names.items[i], dataset, err);
    cellar_names_clear(&names);
    return status;
}

/* When the folder changed last, or 0 if that was a moment ago: what follows within the same tick of
 * the clock would look the same. */
static struct timespec changed_at(const releases_source *s)
{
    enum { MOMENT_SECONDS = 2 };
    struct stat facts;
    return stat(s->folder, &facts) == 0 && time(NULL) - facts.st_mtim.tv_sec > MOMENT_SECONDS
               ? facts.st_mtim
               : (struct timespec){0};
}

static int is_as_seen(const releases_source *s, const struct timespec *changed)
{
    return changed->tv_sec != 0 && changed->tv_sec == s->seen.tv_sec &&
           changed->tv_nsec == s->seen.tv_nsec;
}

static cellar_status releases_refresh(serve_source *source, const serve_dataset *dataset,
                                      cellar_error *err)
{
    releases_source *s = (releases_source *) (void *) source;
    struct timespec changed;
    cellar_status status = CELLAR_OK;
    pthread_mutex_lock(&s->locks->adding);
    changed = changed_at(s);
    for (size_t i = 0; status == CELLAR_OK && i < s->n; i++)
        if (s->files[i]->sides == NULL)
            status = piece_file_fit(s->files[i], dataset, err);
    if (status == CELLAR_OK && !is_as_seen(s, &changed)) {
        status = add_files(s, dataset, err);
        s->seen = status == CELLAR_OK ? changed : (struct timespec){0};
    }
    pthread_mutex_unlock(&s->locks->adding);
    return status;
}

/* ---- what lies beside the releases -------------------------------------------------------------
 */

static int is_there(const cellar_names *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return 1;
    return 0;
}

static cellar_status look_beside(releases_source *s, cellar_error *err)
{
    cellar_names names = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_folder_list(s->folder, &names, err));
    if (is_there(&names, CELLAR_MANIFEST_FILE))
        CELLAR_TRY(cellar_manifest_check(s->folder, NULL, err));
out:
    cellar_names_clear(&names);
    return status;
}

/* ---- life cycle --------------------------------------------------------------------------------
 */

static void releases_close(serve_source *source)
{
    releases_source *s = (releases_source *) (void *) source;
    for (size_t i = 0; i < s->n; i++)
        piece_file_free(s->files[i]);
    cellar_free(s->files);
    cellar_free(s->folder);
    cellar_free(s->locks);
    cellar_free(s);
}

static const serve_source_ops releases_ops = {.status = releases_status,
                                              .ask = releases_ask,
                                              .nearest = releases_nearest,
                                              .describe = releases_describe,
                                              .certificate = releases_certificate,
                                              .compare = serve_releases_compare,
                                              .noisy = serve_releases_noisy,
                                              .refresh = releases_refresh,
                                              .close = releases_close};

size_t serve_releases_n(const serve_source *source)
{
    return of(source)->n;
}

const cellar_schema *serve_releases_schema(const serve_source *source, size_t release)
{
    return cellar_release_schema(of(source)->files[release]->release);
}

cellar_status serve_source_open_releases(const char *folder, int grows, serve_source **out,
                                         cellar_error *err)
{
    releases_source *s = cellar_alloc(1, sizeof *s);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (s == NULL)
        return cellar_fail_memory(err, "a folder of releases");
    s->base = (serve_source){.ops = &releases_ops,
                             .decimals = {[SERVE_SE] = SERVE_NOISE_DECIMALS},
                             .shown_decimals = {[SERVE_SE] = 1}};
    s->folder = cellar_alloc(strlen(folder) + 1, 1);
    s->locks = cellar_alloc(1, sizeof *s->locks);
    if (s->folder == NULL || s->locks == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a folder of releases"));
    memcpy(s->folder, folder, strlen(folder));
    pthread_mutex_init(&s->locks->list, NULL);
    pthread_mutex_init(&s->locks->adding, NULL);
    if (!grows)
        CELLAR_TRY(look_beside(s, err));
    CELLAR_TRY(add_files(s, NULL, err));
    *out = &s->base;
    s = NULL;
out:
    if (s != NULL)
        releases_close(&s->base);
    return status;
}
