/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One table asked for a thousand times: in other orders, in parts, in groups, in every format and
 * protocol, and drawn again and again. The values are the same, and one charge was made. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "serve_whole.h"

enum { N_VIEWS = 1000, N_REGIONS = 5, N_SEXES = 2, N_MAX = N_REGIONS * N_SEXES };
static const char *const regions[] = {"N1", "N2", "N3", "S1", "S2"};
static const char *const sexes[] = {"F", "M"};

/* ---- asking ----------------------------------------------------------------------- */

/* The body, which the caller frees; the status must be `status`. */
static char *ask_for(whole *w, const char *method, const char *path, const char *query,
                     const char *body, int status, size_t *length)
{
    char authorization[100];
    const cellar_request request = {.method = method,
                                    .path = path,
                                    .query = query,
                                    .authorization = authorization,
                                    .body = body,
                                    .body_length = body != NULL ? strlen(body) : 0};
    cellar_response response;
    char *out;
    snprintf(authorization, sizeof authorization, "Bearer %s", vault_token);
    cellar_site_answer(w->site, &request, &response);
    if (response.status != status)
        fail_msg("%s %s?%s %s: %d: %.*s", method, path, query != NULL ? query : "",
                 body != NULL ? body : "", response.status, (int) response.body_length,
                 (const char *) response.body);
    out = malloc(response.body_length + 1);
    memcpy(out, response.body, response.body_length);
    out[response.body_length] = '\0';
    *length = response.body_length;
    cellar_response_clear(&response);
    return out;
}

static void draw_table(whole *w, const char *table, int status)
{
    char body[200];
    size_t length;
    snprintf(body, sizeof body, "{\"dataset\": \"census\", \"table\": \"%s\", \"max_cost\": \"1\"}",
             table);
    free(ask_for(w, "POST", "/v1/draws", NULL, body, status, &length));
}

/* ---- a view -------------------------------------------------------------------------- */

/* Some categories of each variable in some order; the first variable may be the regions or not. */
typedef struct view {
    size_t region[N_REGIONS], n_regions, sex[N_SEXES], n_sexes;
    int sex_first, is_grouped; /* all regions of the view as one */
    double want[N_MAX];
    size_t n;
} view;

static size_t some(uint64_t *state, size_t n, size_t *out)
{
    const size_t kept = 1 + next_random(state) % n;
    for (size_t i = 0; i < n; i++) {
        const size_t at = next_random(state) % (i + 1);
        out[i] = out[at];
        out[at] = i;
    }
    return kept;
}

static view view_make(uint64_t *state, double all[N_REGIONS][N_SEXES])
{
    view v = {.n_regions = 0};
    double sums[N_SEXES] = {0};
    v.n_regions = some(state, N_REGIONS, v.region);
    v.n_sexes = some(state, N_SEXES, v.sex);
    v.sex_first = (int) (next_random(state) & 1);
    v.is_grouped = next_random(state) % 4 == 0;
    for (size_t r = 0; r < v.n_regions; r++)
        for (size_t s = 0; s < v.n_sexes; s++) {
            const double one = all[v.region[r]][v.sex[s]];
            sums[s] += one;
            v.want[v.sex_first ? s * v.n_regions + r : r * v.n_sexes + s] = one;
        }
    v.n = v.n_regions * v.n_sexes;
    if (v.is_grouped) {
        v.n = v.n_sexes;
        memcpy(v.want, sums, sizeof sums);
    }
    return v;
}

/* The selection as a query, or with quotes between as members of JSON. */
static void view_codes(const view *v, int of_sex, const char *between, char out[200])
{
    const size_t n = of_sex ? v->n_sexes : v->n_regions;
    const int is_group = !of_sex && v->is_grouped;
    size_t length = (size_t) snprintf(out, 200, "%s", is_group ? "group(A," : "");
    for (size_t i = 0; i < n; i++)
        length += (size_t) snprintf(out + length, 200 - length, "%s%s", i > 0 ? between : "",
                                    of_sex ? sexes[v->sex[i]] : regions[v->region[i]]);
    snprintf(out + length, 200 - length, "%s", is_group ? ")" : "");
}

static void view_query(const view *v, const char *format, char out[600])
{
    char region[200], sex[200];
    view_codes(v, 0, ",", region);
    view_codes(v, 1, ",", sex);
    snprintf(out, 600,
             "valuecodes[%s]=%s&valuecodes[%s]=%s&stub=%s&valuecodes[ContentsCode]=count&"
             "outputFormat=%s&outputFormatParams=UseCodes",
             v->sex_first ? "sex" : "region", v->sex_first ? sex : region,
             v->sex_first ? "region" : "sex", v->sex_first ? region : sex,
             v->sex_first ? "sex,region" : "region,sex", format);
}

/* ---- values in formats ------------------------------------------------------------------ */

/* The numbers after each mark. */
static size_t numbers_after(const char *text, const char *mark, double out[N_MAX])
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, mark)) != NULL && n < N_MAX;) {
        at += strlen(mark);
        out[n++] = strtod(at, NULL);
    }
    return n;
}

static size_t numbers_of_px(const char *text, double out[N_MAX])
{
    const char *at = strstr(text, "DATA=");
    size_t n = 0;
    char *end;
    for (at = at != NULL ? at + 5 : ""; n < N_MAX; at = end) {
        out[n] = strtod(at, &end);
        if (end == at)
            break;
        n++;
    }
    return n;
}

/* In a column of every line but the first; fields before it have no commas. */
static size_t numbers_of_csv(const char *text, size_t column, double out[N_MAX])
{
    size_t n = 0;
    for (const char *line = strchr(text, '\n'); line != NULL && line[1] != '\0' && n < N_MAX;
         line = strchr(line + 1, '\n')) {
        const char *at = line + 1;
        for (size_t c = 0; c < column; c++)
            at = strchr(at, ',') + 1;
        out[n++] = strtod(at, NULL);
    }
    return n;
}

static size_t numbers_of_json(const char *text, const char *member, double out[N_MAX])
{
    json_t *root = json_loads(text, 0, NULL);
    const json_t *list = json_object_get(root, member), *one;
    size_t n, i;
    json_array_foreach(list, i, one)
    {
        const json_t *number = one; /* of PxWebApi 1: {"key": [], "values": ["5"]} */
        if (json_is_object(one))
            number = json_array_get(json_object_get(one, "values"), 0);
        if (i < N_MAX)
            out[i] = json_is_string(number) ? strtod(json_string_value(number), NULL)
                                            : json_number_value(number);
    }
    n = json_array_size(list);
    json_decref(root);
    return n;
}

/* ---- the protocols --------------------------------------------------------------------------- */

enum { WAYS = 9 };

static size_t ask_view(whole *w, const view *v, size_t way, double out[N_MAX])
{
    static const char *const formats[] = {"json-stat2", "csv",     "px",  "html",
                                          "sdmx-csv",   "sdmx-ml", "xlsx"};
    const char *const path = "/api/v2/tables/census/data";
    char query[600], body[900], region[200], sex[200];
    char *text;
    size_t length, n = 0;
    view_query(v, way < 7 ? formats[way] : "json-stat2", query);
    if (way == 7) /* our own interface, whose intervals have the values */
        text = ask_for(w, "GET", "/v1/datasets/census/intervals", query, NULL, 200, &length);
    else if (way == 8 && !v->is_grouped) { /* PxWebApi 1 */
        view_codes(v, 0, "\",\"", region);
        view_codes(v, 1, "\",\"", sex);
        snprintf(body, sizeof body,
                 "{\"query\":[{\"code\":\"%s\",\"selection\":{\"filter\":\"item\",\"values\":[\"%s"
                 "\"]}},{\"code\":\"%s\",\"selection\":{\"filter\":\"item\",\"values\":[\"%s\"]}},"
                 "{\"code\":\"ContentsCode\",\"selection\":{\"filter\":\"item\",\"values\":["
                 "\"count\"]}}],\"response\":{\"format\":\"json\"}}",
                 v->sex_first ? "sex" : "region", v->sex_first ? sex : region,
                 v->sex_first ? "region" : "sex", v->sex_first ? region : sex);
        text = ask_for(w, "POST", "/api/v1/en/tables/census", NULL, body, 200, &length);
    } else
        text = ask_for(w, "GET", path, query, NULL, 200, &length);
    switch (way) {
    case 1:
        n = numbers_of_csv(text, 2, out);
        break;
    case 2:
        n = numbers_of_px(text, out);
        break;
    case 3:
        n = numbers_after(text, "<td>", out);
        break;
    case 4:
        n = numbers_of_csv(text, 3 + 7, out); /* after all variables, contents, time */
        break;
    case 5:
        n = numbers_after(text, "ObsValue value=\"", out);
        break;
    case 6: /* compressed: the same bytes each time */
    {
        char *again = ask_for(w, "GET", path, query, NULL, 200, &length);
        assert_memory_equal(text, again, length);
        free(again);
        n = SIZE_MAX;
        break;
    }
    case 8:
        n = numbers_of_json(text, v->is_grouped ? "value" : "data", out);
        break;
    default:
        n = numbers_of_json(text, "value", out);
    }
    free(text);
    return n;
}

static void all_views_have_the_same_values(void **state)
{
    double all[N_REGIONS][N_SEXES], found[N_MAX];
    const view whole_table = {
        .region = {0, 1, 2, 3, 4}, .n_regions = 5, .sex = {0, 1}, .n_sexes = 2};
    uint64_t random = 1000;
    json_t *balance;
    whole w;
    whole_open(&w, *state);
    draw_table(&w, "sex*region", 201);
    assert_int_equal(ask_view(&w, &whole_table, 0, found), N_MAX);
    memcpy(all, found, sizeof all);
    for (size_t i = 0; i < N_VIEWS; i++) {
        const view v = view_make(&random, all);
        const size_t way = i % WAYS, n = ask_view(&w, &v, way, found);
        if (n != SIZE_MAX && n != v.n)
            fail_msg("view %zu, way %zu: %zu values, not %zu", i, way, n, v.n);
        for (size_t k = 0; n != SIZE_MAX && k < n; k++)
            if (found[k] != v.want[k])
                fail_msg("view %zu, way %zu: value %zu is %g, not %g", i, way, k, found[k],
                         v.want[k]);
        if (i % 50 == 0)
            draw_table(&w, i % 100 == 0 ? "region*sex" : "sex*region", 200);
    }
    balance = vault_ask(w.vault, "{\"do\": \"balance\", \"dataset\": \"census\"}");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(balance, "budget"), "n_charges")), 1);
    assert_int_equal(w.n_draws, 1);
    json_decref(balance);
    whole_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(
        all_views_have_the_same_values, vault_place_setup, whole_teardown)};
    return cmocka_run_group_tests_name("serve_views", tests, NULL, NULL);
}
