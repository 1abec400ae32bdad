/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One question to one or several databases, and one table. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "engine/executor.h"
#include "engine/question.h"

enum { PLACES_MAX = 256 };

static const struct place_kind {
    const char *prefix;
    cellar_sql_dialect dialect;
    /* of a place whose prefix does not say it; NULL: `dialect` */
    cellar_status (*find_dialect)(const char *place, cellar_sql_dialect *dialect,
                                  cellar_error *err);
    cellar_status (*run)(const sql_request *request, cellar_error *err);
} place_kinds[] = {
    {"sqlite:", CELLAR_SQL_SQLITE, NULL, sql_run_sqlite},
    {"postgresql:", CELLAR_SQL_POSTGRESQL, NULL, sql_run_postgresql},
    {"answer:", CELLAR_SQL_POSTGRESQL, sql_find_answer, sql_run_answer},
#ifdef CELLAR_HAS_ODBC
    {"odbc:", CELLAR_SQL_POSTGRESQL, sql_find_odbc, sql_run_odbc},
#endif
#ifdef CELLAR_HAS_CURL
    {"clickhouse:", CELLAR_SQL_CLICKHOUSE, NULL, sql_run_clickhouse},
#endif
};

typedef struct asking {
    const cellar_tabulate_spec *spec;
    const char *const *places;
    size_t n_places;
    const struct place_kind *kind;
    cellar_sql_dialect dialect;
    char *sql;
    cellar_sql_answer *answer;
    pthread_mutex_t lock; /* of the answer, of `stopped` and of progress */
    int stopped;          /* a shard failed: the others give up */
} asking;

/* One of several databases. */
typedef struct shard {
    asking *all;
    char shown[64];
} shard;

cellar_status sql_check_progress(const sql_request *r, cellar_error *err)
{
    asking *a = ((const shard *) r->context)->all;
    int is_over;
    pthread_mutex_lock(&a->lock);
    is_over = a->stopped || (r->progress->report != NULL &&
                             r->progress->report(r->progress->context, "asking the database", -1));
    pthread_mutex_unlock(&a->lock);
    return is_over
               ? cellar_fail(err, CELLAR_ERR_CANCELLED, "%s: the question was cancelled", r->shown)
               : CELLAR_OK;
}

static cellar_status take_row(void *context, const char *const *fields, cellar_error *err)
{
    shard *s = context;
    cellar_status status;
    pthread_mutex_lock(&s->all->lock);
    status = cellar_sql_answer_add(s->all->answer, s->shown, fields, err);
    pthread_mutex_unlock(&s->all->lock);
    return status;
}

/* A place may hold a name of a user or a host; messages name its kind and, of several, its number.
 */
static cellar_status ask_one(void *context, int lane, cellar_error *err)
{
    asking *a = context;
    shard s = {.all = a};
    sql_request request = {.place = a->places[lane] + strlen(a->kind->prefix),
                           .shown = s.shown,
                           .settings = sql_dialect_of(a->dialect)->settings,
                           .sql = a->sql,
                           .n_columns = cellar_sql_answer_n_columns(a->answer),
                           .has_weights = a->spec->weight_column != NULL,
                           .has_keys = a->spec->record_key_column != NULL,
                           .progress = &a->spec->progress,
                           .sink = take_row,
                           .context = &s};
    cellar_status status;
    int is_first = 1;
    if (a->n_places > 1)
        snprintf(s.shown, sizeof s.shown, "%s database %d of %zu",
                 cellar_sql_dialect_name(a->dialect), lane + 1, a->n_places);
    else
        snprintf(s.shown, sizeof s.shown, "%s", cellar_sql_dialect_name(a->dialect));
    status = a->kind->run(&request, err);
    if (status != CELLAR_OK) {
        pthread_mutex_lock(&a->lock);
        is_first = !a->stopped;
        a->stopped = 1;
        pthread_mutex_unlock(&a->lock);
    }
    return is_first ? status : CELLAR_OK; /* who only gave up for another has nothing to say */
}

static cellar_status find_kind(asking *a, cellar_error *err)
{
    for (size_t k = 0; k < sizeof place_kinds / sizeof *place_kinds && a->kind == NULL; k++)
        if (strncmp(a->places[0], place_kinds[k].prefix, strlen(place_kinds[k].prefix)) == 0)
            a->kind = &place_kinds[k];
    if (a->kind == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "expected a database such as sqlite:FILE, postgresql:dbname=NAME, "
                           "odbc:DATASOURCE or clickhouse:https://HOST:8443/");
    a->dialect = a->kind->dialect;
    for (size_t i = 0; i < a->n_places; i++) {
        const size_t n = strlen(a->kind->prefix);
        cellar_sql_dialect dialect = a->kind->dialect;
        int is_same = strncmp(a->places[i], a->kind->prefix, n) == 0;
        cellar_status status = CELLAR_OK;
        if (is_same && a->kind->find_dialect != NULL)
            status = a->kind->find_dialect(a->places[i] + n, &dialect, err);
        if (status != CELLAR_OK)
            return status;
        if (i == 0)
            a->dialect = dialect;
        if (!is_same || dialect != a->dialect)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "all databases of one table are of the same kind");
    }
    return CELLAR_OK;
}

/* A shard that is asked twice would count its people twice. */
static cellar_status check_twice(const asking *a, cellar_error *err)
{
    for (size_t i = 0; i < a->n_places; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(a->places[i], a->places[j]) == 0)
                return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                   "databases %zu and %zu are the same: its records would count "
                                   "twice",
                                   j + 1, i + 1);
    return CELLAR_OK;
}

cellar_status cellar_sql_ask(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                             const char *const *places, size_t n_places, cellar_sql_answer **out,
                             cellar_error *err)
{
    asking a = {.spec = spec, .places = places, .n_places = n_places};
    cellar_pool *pool = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    pthread_mutex_init(&a.lock, NULL);
    if (n_places == 0 || n_places > PLACES_MAX)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "a table comes from 1 to %d databases",
                               PLACES_MAX));
    CELLAR_TRY(check_twice(&a, err));
    CELLAR_TRY(find_kind(&a, err));
    CELLAR_TRY(cellar_sql_write(spec, source, a.dialect, &a.sql, err));
    CELLAR_TRY(cellar_sql_answer_create(spec, source, a.dialect, &a.answer, err));
    CELLAR_TRY(cellar_pool_create((int) n_places, &pool, err));
    CELLAR_TRY(cellar_pool_run(pool, ask_one, &a, err));
    *out = a.answer;
    a.answer = NULL;
out:
    cellar_pool_free(pool);
    cellar_sql_answer_free(a.answer);
    cellar_sql_free(a.sql);
    pthread_mutex_destroy(&a.lock);
    return status;
}

cellar_status cellar_tabulate_at(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                                 const char *const *places, size_t n_places, cellar_table **out,
                                 cellar_row_report *report, cellar_error *err)
{
    cellar_sql_answer *answer = NULL;
    cellar_status status = cellar_sql_ask(spec, source, places, n_places, &answer, err);
    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_sql_answer_table(answer, out, report, err);
    cellar_sql_answer_free(answer);
    return status;
}

cellar_status cellar_tabulate_many_at(const cellar_tabulate_spec *spec,
                                      const cellar_sql_source *source, const char *const *places,
                                      size_t n_places, const cellar_tabulate_set *sets,
                                      size_t n_sets, cellar_table **out, cellar_error *err)
{
    cellar_sql_source one = *source;
    cellar_row_report first = {0}, rows;
    cellar_status status = CELLAR_OK;
    for (size_t s = 0; s < n_sets; s++)
        out[s] = NULL;
    if (spec->margins.all || spec->margins.n_masks > 0 || spec->margins.hierarchies != 0 ||
        spec->structural_zeros_path != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "many tables are counted without margins and structural zeros");
    for (size_t s = 0; s < n_sets; s++) {
        one.set = &sets[s];
        CELLAR_TRY(cellar_tabulate_at(spec, &one, places, n_places, &out[s],
                                      s == 0 ? &first : &rows, err));
        if (s > 0)
            CELLAR_TRY(cellar_sql_check_rows(&first, &rows, err));
    }
out:
    for (size_t s = 0; status != CELLAR_OK && s < n_sets; s++) {
        cellar_table_free(out[s]);
        out[s] = NULL;
    }
    return status;
}

cellar_status cellar_sql_check_rows(const cellar_row_report *a, const cellar_row_report *b,
                                    cellar_error *err)
{
    return a->n_read == b->n_read && a->n_filtered == b->n_filtered
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_INPUT,
                             "the table of the database changed between two questions: nothing "
                             "was drawn; ask a snapshot or stop the changes");
}
