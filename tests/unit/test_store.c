/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a store are the tables of its records; a store that was changed is refused. */
#include "store_sample.h"

#include <pthread.h>

#include "fail_every.h"

#include "base/file.h"
#include "data/stored/file.h"
#include "store/store.h"

enum { N_STORED = 6, N_SPECS = 600 / CHECK_SHARE, N_PEOPLE = 3000 };

static const char age_map[] = "from,to\n0,baby\n1,baby\n2,toddler\n3,toddler\n*,older\n";

/* The variables of the stores: a declared one, observed ones, and ages in four ways. */
typedef struct sample {
    cellar_codelist *regions;
    cellar_recode_map *map;
    cellar_variable_spec variables[N_STORED];
    const char *missing[1];
} sample;

static void sample_init(sample *s)
{
    cellar_error err;
    *s = (sample){.missing = {"?"}};
    assert_int_equal(
        cellar_codelist_parse("regions", store_regions, strlen(store_regions), &s->regions, &err),
        CELLAR_OK);
    assert_int_equal(cellar_recode_map_parse("map", age_map, strlen(age_map), &s->map, &err),
                     CELLAR_OK);
    s->variables[0] = (cellar_variable_spec){.column = "region", .codelist = s->regions};
    s->variables[1] = (cellar_variable_spec){.column = "sex", .domain_public = 1};
    s->variables[2] = (cellar_variable_spec){.column = "age"};
    s->variables[3] = (cellar_variable_spec){.column = "job"};
    s->variables[4] = (cellar_variable_spec){
        .name = "decade",
        .column = "age",
        .recode = {.bottom = "9", .top = "80", .band_width = "10", .band_closed_right = 1}};
    s->variables[5] =
        (cellar_variable_spec){.name = "stage", .column = "age", .recode = {.map = s->map}};
}

static void sample_clear(sample *s)
{
    cellar_codelist_free(s->regions);
    cellar_recode_map_free(s->map);
}

static cellar_tabulate_spec sample_data(const sample *s, const char *path)
{
    cellar_tabulate_spec data = cellar_tabulate_spec_default();
    data.path = path;
    data.variables = s->variables;
    data.n_variables = N_STORED;
    data.missing = s->missing;
    data.n_missing = 1;
    data.weight_column = "w";
    data.unit_column = "u";
    return data;
}

/* ---- the same tables ------------------------------------------------------------- */

/* A question to the records, and the same to their store. */
typedef struct question {
    cellar_tabulate_spec records, stored;
    cellar_variable_spec variables[2][3];
    const char *where[1];
} question;

static cellar_missing_policy random_policy(uint64_t r)
{
    return r % 2 ? CELLAR_MISSING_DROP : CELLAR_MISSING_LEVEL;
}

/* Any of the variables, by its name in the store; one that is not recoded may be recoded now, and
 * its policy may be its own. */
static void ask_variables(question *q, const sample *s, uint64_t *seed)
{
    const size_t first = next_random(seed) % N_STORED;
    const size_t n = 1 + next_random(seed) % 3;
    for (size_t k = 0; k < n; k++) {
        const cellar_variable_spec *variable = &s->variables[(first + k) % N_STORED];
        cellar_variable_spec *raw = &q->variables[0][k], *kept = &q->variables[1][k];
        const uint64_t r = next_random(seed);
        *raw = *variable;
        *kept = (cellar_variable_spec){.column = variable->name != NULL ? variable->name
                                                                        : variable->column,
                                       .domain_public = variable->domain_public};
        if (r % 4 == 0)
            *kept = *variable; /* as a plan for the records has it */
        if (r % 5 == 0)
            raw->missing_policy = kept->missing_policy = random_policy(r >> 8);
        if (strcmp(variable->column, "age") == 0 && variable->name == NULL && r % 3 == 0)
            raw->recode = kept->recode = (cellar_recode){.band_width = "25"};
        if (variable->codelist != NULL)
            raw->level = kept->level = (r >> 16) % 3;
    }
    q->records.variables = q->variables[0];
    q->stored.variables = q->variables[1];
    q->records.n_variables = q->stored.n_variables = n;
}

static void ask(question *q, const sample *s, const cellar_tabulate_spec *data, const char *store,
                int keyed, uint64_t *seed)
{
    static const char *const conditions[] = {"sex=m", "age>=40", "region!=n1|?", "job=10|nurse"};
    const uint64_t r = next_random(seed);
    *q = (question){.records = *data};
    q->records.missing_policy = random_policy(r);
    q->records.weight_column = (r >> 8) % 3 == 0 ? "w" : NULL;
    q->records.max_weight = q->records.weight_column != NULL && (r >> 12) % 2 ? 20 : 0;
    q->records.unit_column = (r >> 16) % 3 == 0 ? "u" : NULL;
    q->records.max_per_unit = q->records.unit_column != NULL ? 1 + (r >> 20) % 3 : 0;
    if (keyed == 0 || (r >> 24) % 2)
        q->records.record_key_column = NULL;
    q->records.margins.all = (r >> 28) % 4 == 0;
    q->records.n_threads = 1 + (int) ((r >> 36) % 3);
    if ((r >> 32) % 3 == 0) {
        q->where[0] = conditions[(r >> 40) % 4];
        q->records.where = q->where;
        q->records.n_where = 1;
    }
    q->stored = q->records;
    q->stored.path = store;
    q->stored.n_missing = 0; /* the store knows them */
    if (q->records.record_key_column == NULL)
        q->records.key_range = 0;
    q->stored.key_range = 0; /* and the range */
    ask_variables(q, s, seed);
}

/* The same question on one's own and among others. */
static void check_answers(const question *questions, const cellar_store_answer *answers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cellar_table *table = NULL;
        cellar_row_report rows = {0};
        cellar_error err = {""};
        assert_int_equal(cellar_tabulate(&questions[i].records, &table, &rows, &err), CELLAR_OK);
        if (answers[i].status != CELLAR_OK)
            fail_msg("%s", answers[i].error.message);
        check_same_table(table, answers[i].table);
        assert_memory_equal(&rows, &answers[i].rows, sizeof rows);
        cellar_table_free(table);
        cellar_table_free(answers[i].table);
    }
}

static void check_question(const question *q)
{
    cellar_table *tables[2] = {NULL, NULL};
    cellar_row_report rows[2] = {{0}};
    cellar_error err = {""};
    if (cellar_tabulate(&q->records, &tables[0], &rows[0], &err) != CELLAR_OK ||
        cellar_tabulate(&q->stored, &tables[1], &rows[1], &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    check_same_table(tables[0], tables[1]);
    assert_memory_equal(&rows[0], &rows[1], sizeof rows[0]);
    cellar_table_free(tables[0]);
    cellar_table_free(tables[1]);
}

/* Stores with either kind of keys, sorted and not. */
static void test_same(void **state)
{
    scratch *place = *state;
    sample s;
    uint64_t seed = 2026;
    sample_init(&s);
    store_write_people(place, "people.csv", N_PEOPLE, 7);
    for (int way = 0; way < 4; way++) {
        char data[sizeof place->path], store[sizeof place->path];
        cellar_tabulate_spec spec = sample_data(&s, NULL);
        snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
        spec.path = data;
        spec.record_key_column = way % 2 ? "k" : "k2";
        spec.key_range = way % 2 ? 0 : 256;
        store_build(place, "p.store", &spec, way < 2 ? NULL : way == 2 ? "region" : "decade");
        snprintf(store, sizeof store, "%s", scratch_path(place, "p.store"));
        for (int i = 0; i < N_SPECS / 4; i++) {
            question q;
            ask(&q, &s, &spec, store, 1, &seed);
            check_question(&q);
        }
    }
    sample_clear(&s);
}

/* ---- many at once ------------------------------------------------------------------ */

enum { N_ASKED = CHECK_SHARE > 1 ? 4 : 8, N_ASKERS = 4 };

typedef struct asker {
    const cellar_store *store;
    question questions[N_ASKED];
    cellar_store_answer answers[N_ASKED];
    pthread_t thread;
} asker;

static void *ask_many(void *context)
{
    asker *a = context;
    cellar_tabulate_spec specs[N_ASKED];
    for (size_t i = 0; i < N_ASKED; i++)
        specs[i] = a->questions[i].stored;
    cellar_store_tabulate(a->store, specs, N_ASKED, 2, a->answers);
    return NULL;
}

static void ask_at_once(asker *askers)
{
    for (size_t k = 0; k < N_ASKERS; k++)
        assert_int_equal(pthread_create(&askers[k].thread, NULL, ask_many, &askers[k]), 0);
    for (size_t k = 0; k < N_ASKERS; k++)
        assert_int_equal(pthread_join(askers[k].thread, NULL), 0);
}

/* Threads share a store that was just opened, each with several questions. */
static void test_many(void **state)
{
    scratch *place = *state;
    static asker askers[N_ASKERS];
    char data[sizeof place->path];
    cellar_tabulate_spec spec;
    cellar_store *store = NULL;
    cellar_error err = {""};
    uint64_t seed = 11;
    sample s;
    sample_init(&s);
    store_write_people(place, "people.csv", STORED_GROUP_ROWS + 77, 5);
    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    spec = sample_data(&s, data);
    spec.record_key_column = "k";
    store_build(place, "p.store", &spec, "age");
    assert_int_equal(cellar_store_open(scratch_path(place, "p.store"), &store, &err), CELLAR_OK);
    for (size_t k = 0; k < N_ASKERS; k++) {
        askers[k].store = store;
        for (size_t i = 0; i < N_ASKED; i++) {
            ask(&askers[k].questions[i], &s, &spec, NULL, 1, &seed);
            if (i % 2) /* units take their time */
                askers[k].questions[i].records.unit_column =
                    askers[k].questions[i].stored.unit_column = NULL;
            if (i % 2)
                askers[k].questions[i].records.max_per_unit =
                    askers[k].questions[i].stored.max_per_unit = 0;
        }
    }
    ask_at_once(askers);
    for (size_t k = 0; k < N_ASKERS; k++)
        check_answers(askers[k].questions, askers[k].answers, N_ASKED);
    cellar_store_close(store);
    sample_clear(&s);
}

/* A question that cannot be answered does not hinder the others. */
static void test_one_fails(void **state)
{
    scratch *place = *state;
    cellar_variable_spec by[3] = {{.column = "sex"}, {.column = "sexx"}, {.column = "job"}};
    cellar_tabulate_spec questions[3], spec;
    cellar_store_answer answers[3];
    char data[sizeof place->path];
    cellar_store *store = NULL;
    cellar_error err = {""};
    sample s;
    sample_init(&s);
    store_write_people(place, "people.csv", 300, 5);
    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    spec = sample_data(&s, data);
    store_build(place, "p.store", &spec, NULL);
    assert_int_equal(cellar_store_open(scratch_path(place, "p.store"), &store, &err), CELLAR_OK);
    for (size_t i = 0; i < 3; i++) {
        questions[i] = cellar_tabulate_spec_default();
        questions[i].variables = &by[i];
        questions[i].n_variables = 1;
        questions[i].missing_policy = i == 2 ? CELLAR_MISSING_UNDECIDED : CELLAR_MISSING_DROP;
    }
    cellar_store_tabulate(store, questions, 3, 1, answers);
    assert_int_equal(answers[0].status, CELLAR_OK);
    assert_int_equal(cellar_table_n_cells(answers[0].table), 2);
    assert_int_equal(answers[1].status, CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(answers[1].error.message, "did you mean 'sex'?"));
    assert_int_equal(answers[2].status, CELLAR_ERR_INPUT);
    assert_non_null(strstr(answers[2].error.message, "row "));
    assert_null(answers[1].table);
    assert_null(answers[2].table);
    cellar_table_free(answers[0].table);
    cellar_store_tabulate(store, questions, 0, 1, answers);
    cellar_store_close(store);
    sample_clear(&s);
}

/* Conditions, policies and keys of identifiers that the store was built with, and several groups of
 * rows. */
static void test_built_with(void **state)
{
    scratch *place = *state;
    enum { N = STORED_GROUP_ROWS + 1234 };
    static const char *const where[] = {"age<90"};
    static const unsigned char secret[32] = "no secret at all";
    char data[sizeof place->path], store[sizeof place->path];
    sample s;
    question q = {0};
    sample_init(&s);
    store_write_people(place, "people.csv", N, 99);
    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    q.records = sample_data(&s, data);
    q.records.where = where;
    q.records.n_where = 1;
    q.records.missing_policy = CELLAR_MISSING_LEVEL;
    q.records.record_id_column = "u";
    q.records.record_secret = secret;
    s.variables[0].missing_policy = CELLAR_MISSING_DROP;
    store_build(place, "p.store", &q.records, "region");
    snprintf(store, sizeof store, "%s", scratch_path(place, "p.store"));
    q.stored = cellar_tabulate_spec_default();
    q.stored.path = store;
    q.stored.record_key_column = "u";
    q.stored.variables = q.variables[1];
    q.records.n_variables = q.stored.n_variables = 3;
    q.records.max_per_unit = q.stored.max_per_unit = 1;
    q.stored.unit_column = "u";
    q.records.weight_column = NULL;
    for (size_t v = 0; v < 3; v++)
        q.variables[1][v] = (cellar_variable_spec){.column = s.variables[v].column,
                                                   .domain_public = s.variables[v].domain_public};
    check_question(&q);
    sample_clear(&s);
}

/* ---- what is refused --------------------------------------------------------------- */

static void check_refused(cellar_tabulate_spec spec, const char *words)
{
    cellar_table *table = NULL;
    cellar_error err = {""};
    assert_int_not_equal(cellar_tabulate(&spec, &table, NULL, &err), CELLAR_OK);
    assert_null(table);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, words);
}

static void test_refusals(void **state)
{
    scratch *place = *state;
    static const char *const where[] = {"decade=x", "region!=n1", "jobb=nurse"};
    static const char *const other_missing[] = {"10"};
    char data[sizeof place->path], store[sizeof place->path];
    cellar_variable_spec variable = {.column = "sex"};
    cellar_tabulate_spec spec, asked = cellar_tabulate_spec_default(), changed;
    sample s;
    sample_init(&s);
    store_write_people(place, "people.csv", 200, 3);
    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    spec = sample_data(&s, data);
    store_build(place, "p.store", &spec, NULL);
    snprintf(store, sizeof store, "%s", scratch_path(place, "p.store"));
    asked.path = store;
    asked.variables = &variable;
    asked.n_variables = 1;
    check_refused(asked, "the value is missing");
    asked.missing_policy = CELLAR_MISSING_DROP;
    asked.n_where = 1;
    asked.where = &where[0];
    check_refused(asked, "recoded when the store was built");
    asked.where = &where[1];
    check_refused(asked, "the condition holds for '?'");
    asked.where = &where[2];
    check_refused(asked, "did you mean 'job'?");
    asked.n_where = 0;
    changed = asked;
    changed.weight_column = "weight";
    check_refused(changed, "no weights called 'weight'");
    changed = asked;
    changed.record_key_column = "k";
    check_refused(changed, "no record keys called 'k'");
    changed = asked;
    changed.reader.count_column = "w";
    check_refused(changed, "every row is one record");
    variable = (cellar_variable_spec){.column = "decade", .recode = {.band_width = "5"}};
    check_refused(asked, "was recoded when the store was built");
    variable = (cellar_variable_spec){.column = "decade"};
    asked.missing = other_missing;
    asked.n_missing = 1;
    check_refused(asked, "text that means missing");
    variable = (cellar_variable_spec){.column = "wage"};
    check_refused(asked, "did you mean 'age'?");
    sample_clear(&s);
}

static void check_not_built(cellar_tabulate_spec data, const char *sort_by, scratch *place,
                            const char *words)
{
    cellar_output *output = NULL;
    cellar_error err = {""};
    char path[400];
    snprintf(path, sizeof path, "%.63s/never.store", place->folder);
    assert_int_equal(cellar_output_open(path, NULL, &output, &err), CELLAR_OK);
    assert_int_not_equal(cellar_store_build(&data, sort_by, output, NULL, &err), CELLAR_OK);
    cellar_output_discard(output);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, words);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_not_built(void **state)
{
    scratch *place = *state;
    char path[sizeof place->path];
    cellar_tabulate_spec spec, changed;
    cellar_variable_spec twice[2];
    sample s;
    sample_init(&s);
    store_write_people(place, "people.csv", 200, 3);
    snprintf(path, sizeof path, "%s", scratch_path(place, "people.csv"));
    spec = sample_data(&s, path);
    check_not_built(spec, "nothing", place, "no variable of the store");
    changed = spec;
    changed.max_per_unit = 1;
    check_not_built(changed, NULL, place, "belong to tables");
    changed = spec;
    changed.reader.count_column = "w";
    check_not_built(changed, NULL, place, "a store holds records");
    changed = spec;
    changed.n_missing = 0;
    check_not_built(changed, NULL, place, "outside the code list");
    changed = spec;
    changed.variables = twice;
    changed.n_variables = 2;
    twice[0] = twice[1] = s.variables[1];
    check_not_built(changed, NULL, place, "named twice");
    changed.n_variables = 0;
    check_not_built(changed, NULL, place, "1 to 4096 variables");
    store_build(place, "p.store", &spec, NULL);
    snprintf(path, sizeof path, "%s", scratch_path(place, "p.store"));
    check_not_built(spec, NULL, place, "is a store already");
    sample_clear(&s);
}

/* ---- the file ------------------------------------------------------------------------ */

static void test_file(void **state)
{
    scratch *place = *state;
    char data[sizeof place->path];
    cellar_store *store = NULL;
    cellar_store_facts facts;
    cellar_tabulate_spec spec;
    cellar_error err = {""};
    size_t n_blocks = 0;
    sample s;
    sample_init(&s);
    store_write_people(place, "people.csv", 500, 3);
    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    spec = sample_data(&s, data);
    store_build(place, "p.store", &spec, "region");
    assert_int_equal(scratch_mode(place, "p.store"), 0600);
    assert_int_equal(cellar_store_open(scratch_path(place, "p.store"), &store, &err), CELLAR_OK);
    facts = cellar_store_about(store);
    assert_int_equal(facts.n_rows, 500);
    assert_int_equal(facts.n_variables, N_STORED);
    assert_string_equal(facts.weight, "w");
    assert_string_equal(facts.unit, "u");
    assert_string_equal(facts.sorted_by, "region");
    assert_null(facts.key);
    assert_int_equal(cellar_store_variable_at(store, 0).n_bytes, 1);
    assert_int_equal(cellar_store_variable_at(store, 0).domain, CELLAR_DOMAIN_DECLARED);
    assert_int_equal(cellar_store_variable_at(store, 1).domain, CELLAR_DOMAIN_ASSERTED);
    assert_int_equal(cellar_store_variable_at(store, 3).domain, CELLAR_DOMAIN_OBSERVED);
    assert_int_equal(cellar_store_variable_at(store, 4).is_recoded, 1);
    assert_int_equal(cellar_store_variable_at(store, 2).has_missing, 0);
    assert_int_equal(cellar_store_variable_at(store, 1).has_missing, 1);
    assert_int_equal(cellar_store_verify(store, 1, &n_blocks, &err), CELLAR_OK);
    assert_int_equal(n_blocks, N_STORED + 3); /* weights, units and the order of the data */
    cellar_store_close(store);
    sample_clear(&s);
}

/* What the file must not hold: identifiers of units. */
static void test_no_text(void **state)
{
    scratch *place = *state;
    char data[sizeof place->path], *bytes;
    cellar_tabulate_spec spec;
    cellar_error err;
    size_t length;
    sample s;
    sample_init(&s);
    scratch_write(place, "people.csv",
                  "region,sex,age,job,w,u\nn1,m,3,a,1,OTTO-4711\nn2,f,5,b,2.5,ANNA-4712\n");
    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    spec = sample_data(&s, data);
    store_build(place, "p.store", &spec, NULL);
    assert_int_equal(
        cellar_file_read(scratch_path(place, "p.store"), 1 << 20, &bytes, &length, &err),
        CELLAR_OK);
    assert_null(memmem(bytes, length, "4711", 4));
    assert_null(memmem(bytes, length, "ANNA", 4));
    assert_non_null(memmem(bytes, length, "Confidential", 12));
    cellar_free(bytes);
    sample_clear(&s);
}

/* Every bit of a small store matters, but for those that only people read. */
static void test_damage(void **state)
{
    scratch *place = *state;
    char data[sizeof place->path], *bytes = NULL;
    cellar_tabulate_spec spec;
    cellar_error err;
    size_t length;
    sample s;
    sample_init(&s);
    store_write_people(place, "people.csv", 40, 3);
    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    spec = sample_data(&s, data);
    store_build(place, "p.store", &spec, "region");
    assert_int_equal(
        cellar_file_read(scratch_path(place, "p.store"), 1 << 20, &bytes, &length, &err),
        CELLAR_OK);
    for (size_t at = 0; at < length; at += at < STORED_START ? 1 : 1 + at % 3) {
        cellar_store store = {NULL};
        cellar_status status;
        if (at >= sizeof(stored_start) && at < STORED_START)
            continue;
        bytes[at] ^= (char) (1 << at % 8);
        status = cellar_stored_open_memory("p", bytes, length, 0, &store.file, &err);
        if (status == CELLAR_OK)
            status = cellar_store_verify(&store, 1, NULL, &err);
        if (status != CELLAR_ERR_INPUT)
            fail_msg("byte %zu of %zu: %s", at, length, cellar_status_name(status));
        cellar_stored_close(store.file);
        bytes[at] ^= (char) (1 << at % 8);
    }
    for (size_t cut = 0; cut < length; cut += 1 + cut / 7) {
        cellar_stored_file *file = NULL;
        assert_int_equal(cellar_stored_open_memory("p", bytes, cut, 1, &file, &err),
                         CELLAR_ERR_INPUT);
    }
    cellar_free(bytes);
    sample_clear(&s);
}

/* ---- memory ---------------------------------------------------------------------------- */

static cellar_status build_and_count(void *context, cellar_error *err)
{
    scratch *place = context;
    char data[sizeof place->path], path[sizeof place->path];
    cellar_output_options how = {.replace = 1};
    cellar_variable_spec by[2] = {{.column = "region"}, {.column = "stage"}};
    cellar_tabulate_spec spec, asked = cellar_tabulate_spec_default();
    cellar_output *output = NULL;
    cellar_table *table = NULL;
    cellar_store *store = NULL;
    cellar_status status = CELLAR_OK;
    sample s = {.missing = {"?"}};

    snprintf(data, sizeof data, "%s", scratch_path(place, "people.csv"));
    snprintf(path, sizeof path, "%s", scratch_path(place, "p.store"));
    spec = sample_data(&s, data);
    spec.n_threads = asked.n_threads = 1;
    status = cellar_codelist_parse("r", store_regions, strlen(store_regions), &s.regions, err);
    if (status == CELLAR_OK)
        status = cellar_recode_map_parse("map", age_map, strlen(age_map), &s.map, err);
    s.variables[0] = (cellar_variable_spec){.column = "region", .codelist = s.regions};
    s.variables[1] =
        (cellar_variable_spec){.name = "stage", .column = "age", .recode = {.map = s.map}};
    spec.n_variables = 2;
    asked.path = path;
    asked.variables = by;
    asked.n_variables = 2;
    asked.missing_policy = CELLAR_MISSING_LEVEL;
    if (status == CELLAR_OK)
        status = cellar_output_open(path, &how, &output, err);
    if (status == CELLAR_OK)
        status = cellar_store_build(&spec, "region", output, NULL, err);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, err);
    else
        cellar_output_discard(output);
    if (status == CELLAR_OK)
        status = cellar_tabulate(&asked, &table, NULL, err);
    if (status == CELLAR_OK)
        status = cellar_store_open(path, &store, err);
    if (status == CELLAR_OK)
        status = cellar_store_verify(store, 1, NULL, err);
    if (status == CELLAR_OK) {
        cellar_store_answer answer;
        by[0].level = 1;
        asked.weight_column = "w";
        cellar_store_tabulate(store, &asked, 1, 1, &answer);
        status = answer.status;
        *err = answer.error;
        cellar_table_free(answer.table);
    }
    cellar_store_close(store);
    cellar_table_free(table);
    sample_clear(&s);
    return status;
}

static void test_memory(void **state)
{
    scratch *place = *state;
    store_write_people(place, "people.csv", 50, 3);
    check_fail_every(build_and_count, place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_many, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_one_fails, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_built_with, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_not_built, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_file, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_no_text, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_damage, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_memory, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
