/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/coder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/codelist.h"
#include "data/codelist_build.h"
#include "data/dictionary.h"
#include "data/encoding.h"

static const char missing_code[] = "missing";

struct cellar_coder {
    cellar_coder_spec spec;
    pthread_mutex_t lock;
    cellar_recoder *recoder;
    cellar_codelist *domain; /* declared, or implied by the recode; NULL when observed */
    cellar_codelist *coarse; /* a level of it, which then are the categories; else NULL */
    uint32_t *coarse_leaf;   /* of each leaf of `domain` */
    cellar_dictionary known; /* observed: category to code */
    char **categories;       /* observed: code to category */
    cellar_arena *texts;
    size_t capacity;
    _Atomic size_t n_codes;
    int32_t missing_level; /* the code missing values get, or an outcome */
    int32_t other_leaf;    /* where values outside the list go, or an outcome */
    cellar_text utf8, category;
};

const char *cellar_outcome_text(int32_t outcome)
{
    switch (outcome) {
    case CELLAR_OUTCOME_UNDECIDED:
        return "the value is missing: say whether missing values are dropped or a category of "
               "their own (--missing-as drop or level, or VARIABLE=level for one; in a plan "
               "missing_as)";
    case CELLAR_OUTCOME_ENCODING:
        return "the field is not text in the encoding of the file; --encoding latin1 or "
               "windows-1252 names another";
    case CELLAR_OUTCOME_NOT_NUMBER:
        return "expected a number; --missing names text that means missing";
    case CELLAR_OUTCOME_UNMAPPED:
        return "the recode map has no entry for the value; add one, or one from * for all others";
    case CELLAR_OUTCOME_OUTSIDE:
        return "the value is outside the code list; add its code, or a code with the role other "
               "for all such values, or name text that means missing (--missing)";
    case CELLAR_OUTCOME_NO_LEVEL:
        return "the code has no level";
    default:
        return "the row cannot be used";
    }
}

/* ---- life cycle ----------------------------------------------------------- */

static int32_t coder_find_role(const cellar_codelist *list, cellar_code_role role, int32_t none)
{
    for (size_t i = 0; i < cellar_codelist_n_codes(list); i++)
        if (cellar_codelist_role(list, i) == role && cellar_codelist_is_leaf(list, i))
            return (int32_t) cellar_codelist_leaf_of(list, i);
    return none;
}

/* What becomes of a leaf of the domain. */
static int32_t coder_leaf(const cellar_coder *coder, int32_t leaf)
{
    return leaf >= 0 && coder->coarse != NULL ? (int32_t) coder->coarse_leaf[leaf] : leaf;
}

static int32_t coder_missing_outcome(cellar_missing_policy policy)
{
    return policy == CELLAR_MISSING_DROP ? CELLAR_OUTCOME_MISSING : CELLAR_OUTCOME_UNDECIDED;
}

static cellar_status coder_use_domain(cellar_coder *coder, cellar_error *err)
{
    coder->n_codes =
        cellar_codelist_n_leaves(coder->coarse != NULL ? coder->coarse : coder->domain);
    coder->other_leaf = coder_leaf(
        coder, coder_find_role(coder->domain, CELLAR_CODE_OTHER, CELLAR_OUTCOME_OUTSIDE));
    if (coder->spec.missing_policy != CELLAR_MISSING_LEVEL)
        return CELLAR_OK;
    coder->missing_level = coder_leaf(
        coder, coder_find_role(coder->domain, CELLAR_CODE_UNKNOWN, CELLAR_OUTCOME_UNDECIDED));
    if (coder->missing_level < 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%s': missing values are to be a level, but its domain has "
                           "no code with the role unknown; add one to the code list (role "
                           "unknown), or drop them (--missing-as %s=drop)",
                           coder->spec.variable, coder->spec.variable);
    return CELLAR_OK;
}

/* A category seen for the first time. Called with the lock held. */
static int32_t coder_observe(cellar_coder *coder, const char *category, size_t length)
{
    size_t n = coder->n_codes;
    char *copy;
    if (coder->spec.max_levels > 0 &&
        n - (size_t) (coder->missing_level >= 0) >= coder->spec.max_levels)
        return (int32_t) coder->spec.max_levels + 1;
    if (n >= INT32_MAX ||
        !cellar_grow(&coder->categories, &coder->capacity, n + 1, sizeof *coder->categories))
        return CELLAR_OUTCOME_NO_MEMORY;
    copy = cellar_arena_copy(coder->texts, category, length);
    if (copy == NULL || !cellar_dictionary_add(&coder->known, category, length, (int32_t) n))
        return CELLAR_OUTCOME_NO_MEMORY;
    coder->categories[n] = copy;
    coder->n_codes = n + 1;
    return (int32_t) n;
}

static cellar_status coder_seed_labels(cellar_coder *coder, cellar_error *err)
{
    const cellar_codelist *labels = coder->spec.labels;
    for (size_t i = 0; i < cellar_codelist_n_leaves(labels); i++) {
        const char *code = cellar_codelist_code(labels, cellar_codelist_leaf(labels, i));
        cellar_text padded = {0};
        int32_t seen;
        cellar_text_printf(&padded, "%s%32s", code, "");
        if (padded.failed)
            return cellar_fail_memory(err, "value labels");
        seen = coder_observe(coder, padded.bytes, strlen(code));
        cellar_text_clear(&padded);
        if (seen < 0)
            return cellar_fail_memory(err, "value labels");
    }
    return CELLAR_OK;
}

/* What band, top and bottom, or a recode map, imply; whether missing values are a level was said,
 * not read off the data. */
static cellar_status coder_imply_domain(cellar_coder *coder, cellar_error *err)
{
    cellar_codelist *implied = NULL;
    cellar_status status = cellar_recoder_domain(coder->recoder, &implied, err);
    if (status != CELLAR_OK || implied == NULL ||
        coder->spec.missing_policy != CELLAR_MISSING_LEVEL) {
        coder->domain = implied;
        return status;
    }
    status = cellar_codelist_with_unknown(implied, &coder->domain, err);
    cellar_codelist_free(implied);
    return status;
}

static cellar_status coder_use_level(cellar_coder *coder, cellar_error *err)
{
    cellar_error refusal = {""};
    cellar_status status = CELLAR_ERR_ARGUMENT;
    if (coder->domain == NULL)
        return cellar_fail(err, status, "variable '%.200s': a level needs a declared code list",
                           coder->spec.variable);
    status = cellar_codelist_level(coder->domain, coder->spec.level, &coder->coarse,
                                   &coder->coarse_leaf, &refusal);
    if (status != CELLAR_OK)
        cellar_fail(err, status, "variable '%.200s': %s", coder->spec.variable, refusal.message);
    return status;
}

static cellar_status coder_init(cellar_coder *coder, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_coder_spec *spec = &coder->spec;

    coder->missing_level = coder_missing_outcome(spec->missing_policy);
    coder->texts = cellar_arena_create(SIZE_MAX / 2);
    if (coder->texts == NULL || !cellar_dictionary_init(&coder->known))
        return cellar_fail_memory(err, "a dictionary");
    if (spec->condition != NULL) {
        coder->n_codes = 1;
        return CELLAR_OK;
    }
    if (spec->recode != NULL)
        CELLAR_TRY(cellar_recoder_create(spec->recode, spec->variable, &coder->recoder, err));
    if (spec->codelist != NULL)
        coder->domain = cellar_codelist_retain(spec->codelist);
    else if (coder->recoder != NULL)
        CELLAR_TRY(coder_imply_domain(coder, err));
    if (spec->level > 0)
        CELLAR_TRY(coder_use_level(coder, err));
    if (coder->domain != NULL)
        return coder_use_domain(coder, err);
    if (spec->labels != NULL)
        CELLAR_TRY(coder_seed_labels(coder, err));
out:
    return status;
}

cellar_status cellar_coder_create(const cellar_coder_spec *spec, cellar_coder **out,
                                  cellar_error *err)
{
    cellar_status status;
    cellar_coder *coder = cellar_alloc(1, sizeof *coder);
    *out = NULL;
    if (coder == NULL)
        return cellar_fail_memory(err, "a dictionary");
    coder->spec = *spec;
    pthread_mutex_init(&coder->lock, NULL);
    status = coder_init(coder, err);
    if (status != CELLAR_OK)
        cellar_coder_free(coder);
    else
        *out = coder;
    return status;
}

void cellar_coder_free(cellar_coder *coder)
{
    if (coder == NULL)
        return;
    pthread_mutex_destroy(&coder->lock);
    cellar_recoder_free(coder->recoder);
    cellar_codelist_free(coder->domain);
    cellar_codelist_free(coder->coarse);
    cellar_free(coder->coarse_leaf);
    cellar_dictionary_clear(&coder->known);
    cellar_arena_free(coder->texts);
    cellar_text_clear(&coder->utf8);
    cellar_text_clear(&coder->category);
    cellar_free(coder->categories);
    cellar_free(coder);
}

const char *cellar_coder_variable(const cellar_coder *coder)
{
    return coder->spec.variable;
}

size_t cellar_coder_n_codes(const cellar_coder *coder)
{
    return coder->spec.max_levels > 0 ? coder->spec.max_levels + 2 : atomic_load(&coder->n_codes);
}

int cellar_coder_is_declared(const cellar_coder *coder)
{
    return coder->domain != NULL || coder->spec.condition != NULL;
}

/* ---- resolving ------------------------------------------------------------ */

static int coder_is_missing(const cellar_coder *coder, const char *text, size_t length)
{
    if (length == 0)
        return 1;
    for (size_t i = 0; i < coder->spec.n_missing; i++)
        if (strlen(coder->spec.missing[i]) == length &&
            memcmp(coder->spec.missing[i], text, length) == 0)
            return 1;
    return 0;
}

static int32_t coder_missing(cellar_coder *coder)
{
    if (coder->spec.condition != NULL)
        return CELLAR_OUTCOME_FILTERED; /* nothing is known to hold of a missing value */
    if (coder->spec.missing_policy == CELLAR_MISSING_LEVEL && coder->missing_level < 0) {
        /* The code is settled when the domain is written: data may hold that very text. */
        size_t n = coder->n_codes;
        if (!cellar_grow(&coder->categories, &coder->capacity, n + 1, sizeof *coder->categories))
            return CELLAR_OUTCOME_NO_MEMORY;
        coder->categories[n] = NULL;
        coder->n_codes = n + 1;
        coder->missing_level = (int32_t) n;
    }
    return coder->missing_level;
}

static int32_t coder_of_recoded(cellar_recoded recoded)
{
    switch (recoded) {
    case CELLAR_RECODED_NOT_NUMBER:
        return CELLAR_OUTCOME_NOT_NUMBER;
    case CELLAR_RECODED_UNMAPPED:
        return CELLAR_OUTCOME_UNMAPPED;
    default:
        return CELLAR_OUTCOME_NO_MEMORY;
    }
}

/* The code of a category that is final text. The text has 32 readable bytes after its start. */
static int32_t coder_find(cellar_coder *coder, const char *category, size_t length)
{
    int32_t code;
    if (coder->domain != NULL) {
        size_t found = cellar_codelist_find(coder->domain, category, length);
        if (found == CELLAR_NO_CODE || !cellar_codelist_is_leaf(coder->domain, found))
            return coder->other_leaf;
        return coder_leaf(coder, (int32_t) cellar_codelist_leaf_of(coder->domain, found));
    }
    code = cellar_dictionary_find(&coder->known, category, length);
    return code != CELLAR_CODE_ABSENT ? code : coder_observe(coder, category, length);
}

static int32_t coder_resolve_locked(cellar_coder *coder, const char *text, size_t length)
{
    cellar_text *final = &coder->utf8;

    cellar_text_reset(&coder->utf8);
    if (!cellar_encoding_to_utf8(coder->spec.encoding, text, length, &coder->utf8))
        return CELLAR_OUTCOME_ENCODING;
    if (coder->utf8.failed)
        return CELLAR_OUTCOME_NO_MEMORY;
    if (coder_is_missing(coder, coder->utf8.bytes, coder->utf8.length))
        return coder_missing(coder);
    if (coder->spec.condition != NULL)
        return cellar_condition_holds(coder->spec.condition, coder->utf8.bytes, coder->utf8.length)
                   ? 0
                   : CELLAR_OUTCOME_FILTERED;
    if (coder->recoder != NULL) {
        cellar_recoded recoded = cellar_recoder_apply(coder->recoder, coder->utf8.bytes,
                                                      coder->utf8.length, &coder->category);
        if (recoded != CELLAR_RECODED)
            return coder_of_recoded(recoded);
        final = &coder->category;
    }
    length = final->length;
    cellar_text_printf(final, "%*s", DICTIONARY_INLINE, ""); /* readable bytes for the lookup */
    if (final->failed)
        return CELLAR_OUTCOME_NO_MEMORY;
    return coder_find(coder, final->bytes, length);
}

int32_t cellar_coder_resolve(cellar_coder *coder, const char *text, size_t length)
{
    int32_t code;
    pthread_mutex_lock(&coder->lock);
    code = coder_resolve_locked(coder, text, length);
    pthread_mutex_unlock(&coder->lock);
    return code;
}

/* ---- the domain ----------------------------------------------------------- */

typedef struct ranked_category {
    const char *category; /* NULL: the level of missing values */
    uint32_t code;
} ranked_category;

static int ranked_compare(const void *a, const void *b)
{
    const ranked_category *x = a, *y = b;
    if (x->category == NULL || y->category == NULL)
        return (x->category == NULL) - (y->category == NULL);
    return cellar_category_compare(x->category, y->category);
}

static const char *coder_label(const cellar_coder *coder, const char *category)
{
    size_t found;
    if (coder->spec.labels == NULL)
        return NULL;
    found = cellar_codelist_find(coder->spec.labels, category, strlen(category));
    return found == CELLAR_NO_CODE ? NULL : cellar_codelist_label(coder->spec.labels, found, 0);
}

/* "missing", or "missing_2" and so on where the data holds that text itself. */
static void coder_name_missing(const cellar_coder *coder, char name[64])
{
    snprintf(name, 64, "%s%32s", missing_code, "");
    for (int n = 2;; n++) {
        size_t length = strcspn(name, " ");
        if (cellar_dictionary_find(&coder->known, name, length) == CELLAR_CODE_ABSENT) {
            name[length] = '\0';
            return;
        }
        snprintf(name, 64, "%s_%d%32s", missing_code, n, "");
    }
}

static cellar_status coder_observed_domain(const cellar_coder *coder, ranked_category *ranked,
                                           uint32_t *leaf_of, cellar_codelist *list,
                                           cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = coder->n_codes;
    char name[64];

    for (size_t i = 0; i < n; i++)
        ranked[i] = (ranked_category){coder->categories[i], (uint32_t) i};
    qsort(ranked, n, sizeof *ranked, ranked_compare);
    for (size_t i = 0; i < n; i++) {
        const char *category = ranked[i].category;
        leaf_of[ranked[i].code] = (uint32_t) i;
        if (category == NULL) {
            coder_name_missing(coder, name);
            CELLAR_TRY(cellar_codelist_add(list, name, NULL, NULL, CELLAR_CODE_UNKNOWN, err));
        } else
            CELLAR_TRY(cellar_codelist_add(list, category, coder_label(coder, category), NULL,
                                           CELLAR_CODE_PLAIN, err));
    }
    CELLAR_TRY(cellar_codelist_finish(list, err));
out:
    return status;
}

cellar_status cellar_coder_domain(const cellar_coder *coder, cellar_codelist **list,
                                  uint32_t **leaf_of, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = coder->n_codes;
    ranked_category *ranked = cellar_alloc(n, sizeof *ranked);

    *list = NULL;
    *leaf_of = cellar_alloc(n, sizeof **leaf_of);
    if (*leaf_of == NULL || ranked == NULL) {
        status = cellar_fail_memory(err, "a domain");
        goto out;
    }
    if (coder->domain != NULL) {
        for (size_t i = 0; i < n; i++)
            (*leaf_of)[i] = (uint32_t) i;
        *list = cellar_codelist_retain(coder->coarse != NULL ? coder->coarse : coder->domain);
        goto out;
    }
    if (n > CODELIST_MAX_CODES) {
        status = cellar_fail(err, CELLAR_ERR_MEMORY,
                             "variable '%s': more than %d categories; count by bands or a recode "
                             "map",
                             coder->spec.variable, CODELIST_MAX_CODES);
        goto out;
    }
    CELLAR_TRY(cellar_codelist_create(list, err));
    CELLAR_TRY(coder_observed_domain(coder, ranked, *leaf_of, *list, err));
out:
    cellar_free(ranked);
    if (status != CELLAR_OK) {
        cellar_codelist_free(*list);
        cellar_free(*leaf_of);
        *list = NULL;
        *leaf_of = NULL;
    }
    return status;
}
