/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What there is: the interface itself, its tables and code lists. */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <cellar/version.h>

#include "base/error.h"
#include "serve/address.h"
#include "serve/json.h"
#include "serve/pxweb2.h"

enum { PXWEB2_PAGE = 100, PXWEB2_PAGE_MAX = 10000 };

/* ---- the interface ---------------------------------------------------------------- */

/* The name of a language in itself; its tag where it is none of these. */
static const char *pxweb2_language_name(const char *tag)
{
    static const char *const names[][2] = {
        {"cs", "čeština"},    {"da", "dansk"},       {"de", "Deutsch"},    {"el", "ελληνικά"},
        {"en", "English"},    {"es", "español"},     {"et", "eesti"},      {"fi", "suomi"},
        {"fr", "français"},   {"ga", "Gaeilge"},     {"hr", "hrvatski"},   {"hu", "magyar"},
        {"is", "íslenska"},   {"it", "italiano"},    {"ja", "日本語"},     {"lt", "lietuvių"},
        {"lv", "latviešu"},   {"nb", "bokmål"},      {"nl", "Nederlands"}, {"nn", "nynorsk"},
        {"no", "norsk"},      {"pl", "polski"},      {"pt", "português"},  {"ro", "română"},
        {"sk", "slovenčina"}, {"sl", "slovenščina"}, {"sv", "svenska"},    {"uk", "українська"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncasecmp(tag, names[i][0], 2) == 0 && (tag[2] == '\0' || tag[2] == '-'))
            return names[i][1];
    return tag;
}

static void pxweb2_add_languages(const cellar_site *site, cellar_text *out)
{
    serve_json_name(out, "languages");
    serve_json_open(out, '[');
    for (size_t l = 0; l < site->n_languages; l++) {
        serve_json_open(out, '{');
        serve_json_pair(out, "id", site->languages[l]);
        serve_json_pair(out, "label", pxweb2_language_name(site->languages[l]));
        serve_json_close(out, '}');
    }
    serve_json_close(out, ']');
    serve_json_pair(out, "defaultLanguage", site->languages[0]);
}

cellar_status serve_pxweb2_config(cellar_site *site, const serve_call *call, serve_reply *reply,
                                  cellar_error *err)
{
    cellar_text *out = &reply->body;
    (void) call;
    (void) err;
    serve_reply_json(reply);
    serve_json_open(out, '{');
    serve_json_pair(out, "apiVersion", "2.0.0");
    serve_json_pair(out, "appVersion", cellar_version());
    pxweb2_add_languages(site, out);
    serve_json_name(out, "maxDataCells");
    serve_json_integer(out, (int64_t) serve_site_max_cells(site));
    serve_json_name(out, "maxCallsPerTimeWindow");
    serve_json_integer(out, site->calls_per_window);
    serve_json_name(out, "timeWindow");
    serve_json_integer(out, site->window_seconds);
    serve_json_pair(out, "license", site->license);
    serve_json_pair(out, "defaultDataFormat", serve_formats()->name);
    serve_json_name(out, "dataFormats");
    serve_json_open(out, '[');
    for (const serve_format *format = serve_formats(); format->name != NULL; format++)
        serve_json_string(out, format->name);
    serve_json_close(out, ']');
    serve_json_name(out, "features");
    serve_json_raw(out,
                   "[{\"id\":\"CORS\",\"params\":[{\"key\":\"enabled\",\"value\":\"True\"}]}]");
    serve_json_close(out, '}');
    return CELLAR_OK;
}

/* ---- tables ------------------------------------------------------------------------ */

/* Adds the links of a table: itself in all languages, and its parts. */
static void pxweb2_add_links(const cellar_site *site, const serve_dataset *dataset, size_t language,
                             cellar_text *out)
{
    static const char *const parts[] = {"metadata", "data"};
    char path[256];
    serve_json_name(out, "links");
    serve_json_open(out, '[');
    snprintf(path, sizeof path, SERVE_PXWEB2_PREFIX "/tables/%s", dataset->id);
    serve_json_link(out, site, "self", path, language);
    for (size_t l = 0; l < site->n_languages; l++)
        if (l != language)
            serve_json_link(out, site, "alternate", path, l);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        snprintf(path, sizeof path, SERVE_PXWEB2_PREFIX "/tables/%s/%s", dataset->id, parts[i]);
        serve_json_link(out, site, parts[i], path, language);
    }
    serve_json_close(out, ']');
}

static const serve_variable *pxweb2_time(const serve_dataset *dataset)
{
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (dataset->variables[v].role == SERVE_ROLE_TIME)
            return &dataset->variables[v];
    return NULL;
}

/* The first and the last period; null where the data have no time. */
static void pxweb2_add_periods(const serve_dataset *dataset, cellar_text *out)
{
    const serve_variable *time = pxweb2_time(dataset);
    const serve_level *level = time != NULL ? &time->levels[time->n_levels - 1] : NULL;
    serve_json_pair(out, "firstPeriod", level != NULL ? level->categories[0].code : NULL);
    serve_json_pair(out, "lastPeriod",
                    level != NULL ? level->categories[level->n_categories - 1].code : NULL);
}

/* Adds the members of a table; the braces are the caller's. */
static void pxweb2_add_table(const cellar_site *site, const serve_dataset *dataset, size_t language,
                             cellar_text *out)
{
    serve_json_pair(out, "id", dataset->id);
    serve_json_pair(out, "label", dataset->title.in[language]);
    serve_json_pair(out, "description", dataset->note.in != NULL ? dataset->note.in[language] : "");
    serve_json_pair(out, "updated", dataset->updated);
    pxweb2_add_periods(dataset, out);
    serve_json_pair(out, "category", "public");
    serve_json_name(out, "variableNames");
    serve_json_open(out, '[');
    for (size_t v = 0; v < dataset->n_variables; v++)
        serve_json_string(out, dataset->variables[v].label.in[language]);
    serve_json_string(out, serve_contents_label(dataset, language));
    serve_json_close(out, ']');
    if (dataset->source_name.in != NULL)
        serve_json_pair(out, "source", dataset->source_name.in[language]);
    pxweb2_add_links(site, dataset, language, out);
}

cellar_status serve_pxweb2_table(const cellar_site *site, const serve_call *call,
                                 const serve_dataset *dataset, serve_reply *reply,
                                 cellar_error *err)
{
    (void) err;
    serve_reply_json(reply);
    serve_json_open(&reply->body, '{');
    serve_json_pair(&reply->body, "language", site->languages[call->language]);
    pxweb2_add_table(site, dataset, call->language, &reply->body);
    serve_json_close(&reply->body, '}');
    return CELLAR_OK;
}

/* ---- searching ----------------------------------------------------------------------- */

typedef struct pxweb2_search {
    const char *query;  /* NULL: everything */
    uint64_t past_days; /* 0: always */
    uint64_t page, page_size;
} pxweb2_search;

static cellar_status pxweb2_read_count(const serve_call *call, const char *name, uint64_t most,
                                       uint64_t *out, cellar_error *err)
{
    const char *text = serve_parameter_find(call, name);
    if (text == NULL || text[0] == '\0')
        return CELLAR_OK;
    if (!cellar_parse_u64(text, strlen(text), out) || *out < 1 || *out > most)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s must be a whole number from 1 to %llu.", name,
                           (unsigned long long) most);
    return CELLAR_OK;
}

static int pxweb2_has(const char *text, const char *words)
{
    return text != NULL && strcasestr(text, words) != NULL;
}

/* 1 when the words stand in the texts of a table, or name one of its variables. */
static int pxweb2_fits(const serve_dataset *dataset, size_t language, const char *words)
{
    if (pxweb2_has(dataset->id, words) || pxweb2_has(dataset->title.in[language], words) ||
        (dataset->note.in != NULL && pxweb2_has(dataset->note.in[language], words)))
        return 1;
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (pxweb2_has(dataset->variables[v].code, words) ||
            pxweb2_has(dataset->variables[v].label.in[language], words))
            return 1;
    return 0;
}

/* Days since 1970 of a date; 0 when it is none. */
static int64_t pxweb2_day(const char *date)
{
    struct tm day = {0};
    if (date == NULL || strptime(date, "%Y-%m-%d", &day) == NULL)
        return 0;
    return (int64_t) timegm(&day) / 86400;
}

static int pxweb2_is_wanted(const serve_dataset *dataset, size_t language,
                            const pxweb2_search *search)
{
    if (search->past_days > 0 &&
        pxweb2_day(dataset->updated) + (int64_t) search->past_days < (int64_t) time(NULL) / 86400)
        return 0;
    return search->query == NULL || pxweb2_fits(dataset, language, search->query);
}

static void pxweb2_add_page(const pxweb2_search *search, uint64_t n, cellar_text *out)
{
    const uint64_t pages = n > 0 ? (n + search->page_size - 1) / search->page_size : 1;
    serve_json_name(out, "page");
    serve_json_open(out, '{');
    serve_json_name(out, "pageNumber");
    serve_json_integer(out, (int64_t) search->page);
    serve_json_name(out, "pageSize");
    serve_json_integer(out, (int64_t) search->page_size);
    serve_json_name(out, "totalElements");
    serve_json_integer(out, (int64_t) n);
    serve_json_name(out, "totalPages");
    serve_json_integer(out, (int64_t) pages);
    serve_json_close(out, '}');
}

cellar_status serve_pxweb2_tables(cellar_site *site, const serve_call *call, serve_reply *reply,
                                  cellar_error *err)
{
    pxweb2_search search = {
        .query = serve_parameter_find(call, "query"), .page = 1, .page_size = PXWEB2_PAGE};
    cellar_text *out = &reply->body;
    cellar_status status = CELLAR_OK;
    uint64_t n = 0;

    CELLAR_TRY(pxweb2_read_count(call, "pastDays", INT32_MAX, &search.past_days, err));
    CELLAR_TRY(pxweb2_read_count(call, "pageNumber", INT32_MAX, &search.page, err));
    CELLAR_TRY(pxweb2_read_count(call, "pageSize", PXWEB2_PAGE_MAX, &search.page_size, err));
    serve_reply_json(reply);
    serve_json_open(out, '{');
    serve_json_pair(out, "language", site->languages[call->language]);
    serve_json_name(out, "tables");
    serve_json_open(out, '[');
    for (size_t i = 0; i < site->n_datasets; i++) {
        if (!pxweb2_is_wanted(&site->datasets[i], call->language, &search))
            continue;
        if (n / search.page_size == search.page - 1) {
            serve_json_open(out, '{');
            pxweb2_add_table(site, &site->datasets[i], call->language, out);
            serve_json_close(out, '}');
        }
        n++;
    }
    serve_json_close(out, ']');
    pxweb2_add_page(&search, n, out);
    serve_json_name(out, "links");
    serve_json_open(out, '[');
    serve_json_link(out, site, "self", SERVE_PXWEB2_PREFIX "/tables", call->language);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
out:
    return status;
}
