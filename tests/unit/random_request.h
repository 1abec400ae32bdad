/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests that go wrong in every way that is easy to think of: good ones, cut, spliced, doubled,
 * grown, nested and filled with what parsers stumble over. */
#ifndef CELLAR_TESTS_RANDOM_REQUEST_H
#define CELLAR_TESTS_RANDOM_REQUEST_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "splitmix.h"

/* Texts of a request; a body may hold any byte, the others end at the first NUL. */
enum {
    REQUEST_METHOD,
    REQUEST_PATH,
    REQUEST_QUERY,
    REQUEST_BODY,
    REQUEST_ACCEPT,
    REQUEST_LANGUAGE,
    REQUEST_AUTHORIZATION,
    REQUEST_ETAG,
    REQUEST_CONTENT_TYPE,
    REQUEST_ADDRESS,
    REQUEST_N_TEXTS
};
enum { REQUEST_BYTES = 1 << 16 }; /* of a text: as many as the server takes of a body */

typedef struct random_text {
    char bytes[REQUEST_BYTES + 1];
    size_t length;
    int is_sent;
} random_text;

typedef struct random_request {
    random_text texts[REQUEST_N_TEXTS];
} random_request;

/* Requests that are answered; what is missing at the end is not sent. */
static const char *const good_requests[][REQUEST_N_TEXTS] = {
    {"GET", "/"},
    {"GET", "/api/v2/config"},
    {"GET", "/api/v2/tables", "query=people&pageSize=1&pageNumber=1&lang=sv"},
    {"GET", "/api/v2/tables/people"},
    {"GET", "/api/v2/tables/people/metadata", "lang=sv&codelist[region]=region%5E1"},
    {"GET", "/api/v2/tables/people/defaultselection"},
    {"GET", "/api/v2/codelists/people~region%5E1"},
    {"GET", "/api/v2/tables/people/data",
     "valuecodes[region]=[range(n1,s2)],top(1)&valuecodes[sex]=*&outputFormat=csv&"
     "outputFormatParams=UseTexts,SeparatorTab&stub=region&heading=sex"},
    {"GET", "/api/v2/tables/people/data",
     "valuecodes[region]=group(A,n1,n2),s*&codelist[region]=region&outputFormat=xlsx"},
    {"GET", "/api/v2/tables/people/data", "valuecodes[sex]=from(f)&outputFormat=px"},
    {"GET", "/api/v2/tables/people/data", "valuecodes[sex]=to(m)&outputFormat=html"},
    {"GET", "/api/v2/tables/people/data", "valuecodes[sex]=bottom(1,1)&outputFormat=sdmx-csv"},
    {"HEAD", "/api/v2/tables/census/data", "valuecodes[age]=*"},
    {"POST", "/api/v2/tables/people/data", "lang=en",
     "{\"selection\":[{\"variableCode\":\"region\",\"codelist\":\"region^1\",\"valueCodes\":[\"*\"]"
     "}],\"placement\":{\"heading\":[\"region\"],\"stub\":[]}}",
     "application/json"},
    {"POST", "/api/v2/savedqueries", NULL,
     "{\"tableId\":\"people\",\"outputFormat\":\"csv\",\"selection\":{\"selection\":[{"
     "\"variableCode\":\"sex\",\"valueCodes\":[\"f\"]}]}}"},
    {"GET", "/api/v2/savedqueries/0123456789abcdef/data"},
    {"GET", "/api/v1/en/", "config"},
    {"GET", "/api/v1/en/tables"},
    {"GET", "/api/v1/sv/tables/people"},
    {"POST", "/api/v1/en/tables/people", NULL,
     "{\"query\":[{\"code\":\"region\",\"selection\":{\"filter\":\"agg:region^1\",\"values\":["
     "\"north\"]}},{\"code\":\"sex\",\"selection\":{\"filter\":\"top\",\"values\":[\"1\"]}}],"
     "\"response\":{\"format\":\"json\"}}"},
    {"GET", "/sdmx/v2.1/dataflow/all/all/latest"},
    {"GET", "/sdmx/v2.1/datastructure/CELLAR/people/1.0", "references=children"},
    {"GET", "/sdmx/v2.1/data/people/n1+s2..count",
     "startPeriod=2026&dimensionAtObservation=AllDimensions", NULL,
     "application/vnd.sdmx.genericdata+xml;version=2.1"},
    {"GET", "/v1/datasets"},
    {"GET", "/v1/datasets/people/variables"},
    {"GET", "/v1/datasets/census/statement"},
    {"GET", "/v1/datasets/census/history", NULL, NULL, NULL, NULL, "@"},
    {"GET", "/v1/datasets/people/intervals",
     "valuecodes[region]=*&valuecodes[sex]=f&share=row&heading=sex&confidence=0.9"},
    {"GET", "/v1/tables/census/region%5E1*sex"},
    {"GET", "/v1/tables/people/region*sex/intervals", "simultaneous=true&share=total"},
    {"GET", "/v1/health"},
    {"GET", "/v1/metrics", NULL, NULL, NULL, NULL, "@"},
    {"GET", "/v1/audit", "from=1", NULL, NULL, NULL, "@"},
    {"GET", "/v1/certificates/0123456789abcdef"},
    {"POST", "/v1/draws", NULL,
     "{\"dataset\":\"census\",\"table\":\"sex*age\",\"max_cost\":\"0.5\"}", NULL, NULL, "@"},
    {"POST", "/v1/draws", NULL,
     "{\"dataset\":\"census\",\"table\":\"edu*region^1\",\"max_cost\":\"0.5\"}", NULL, NULL, "@"},
    {"POST", "/v1/draws", NULL, /* too dear each time */
     "{\"dataset\":\"census\",\"table\":\"age*job\",\"max_cost\":\"0.001\"}", NULL, NULL, "@"},
    {"POST", "/v1/draws", NULL, "{\"dataset\":\"keyed\",\"table\":\"sex\"}", NULL, NULL, "@"},
    {"POST", "/v1/draws", NULL, "{\"dataset\":\"keyed\",\"table\":\"region*edu\"}", NULL, NULL,
     "@"},
    {"POST", "/v1/compare", NULL,
     "{\"dataset\":\"people\",\"first\":{\"region^1\":\"north\"},\"second\":{\"sex\":[\"f\"]},"
     "\"confidence\":0.9}"},
    {"POST", "/v1/independence", NULL, "{\"dataset\":\"people\",\"table\":\"region*sex\"}"},
    {"GET", "/t/people", "valuecodes[region]=*&heading=region", NULL, "text/html",
     "sv-FI;q=0.8, en"},
    {"GET", "/v1/datasets", NULL, NULL, "*/*", "en;q=0.1,sv;q=nan", "Bearer cellar_",
     "\"0123\", W/\"4\", *", "text/plain", "2001:db8::1"},
    {"OPTIONS", "/v1/draws"},
};

/* What parsers stumble over, and words that mean something here. */
static const char *const stumbling[] = {
    "%00",
    "%",
    "%zz",
    "%ff%fe",
    "%c3%a5",
    "\xff\xfe",
    "\xc3",
    "\xed\xa0\x80",
    "\xf4\x90\x80\x80",
    "/../",
    "//",
    "/./",
    "?",
    "&",
    "&&=",
    "=",
    "[",
    "]",
    "[]",
    "[[",
    "]]",
    ",",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "'",
    "(",
    ")",
    "*",
    "**",
    "?*?*?*?*",
    "^",
    "^9",
    "^0",
    "~",
    "+",
    "-",
    "..",
    "...",
    ";",
    ":",
    "@",
    "#",
    "\r\n",
    "\t",
    " ",
    "NaN",
    "1e999",
    "-1",
    "0",
    "18446744073709551616",
    "0x10",
    "1.5",
    "true",
    "null",
    "{",
    "}",
    "{}",
    "[[]]",
    "{\"a\":1,\"a\":2}",
    "top(",
    "top(999999999999)",
    "top(1,-1)",
    "bottom(0)",
    "range(s2,n1)",
    "from()",
    "group(,)",
    "group(a,n1,n1)",
    "[range(n1,n2)]",
    "region",
    "region^1",
    "sex",
    "age",
    "ContentsCode",
    "count",
    "noise_low95",
    "time",
    "people",
    "census",
    "keyed",
    "json-stat2",
    "xlsx",
    "ods",
    "px",
    "csv",
    "sdmx-csv",
    "html",
    "UseCodes",
    "valuecodes[region]=",
    "codelist[region]=",
    "outputFormat=",
    "lang=",
    "lang=xx",
    "total",
    "share=row",
    "confidence=0.999",
    "simultaneous=true",
    "%5B%5D",
    "application/json",
    "Bearer ",
    "en",
    "sv",
    "cellar_",
    "<script>",
    "%3Cscript%3E",
    "\xe2\x80\xae",
};

static inline size_t random_below(uint64_t *state, size_t n)
{
    return (size_t) (next_random(state) % n);
}

/* Puts bytes in the place of a part of a text; what does not fit is left out. */
static inline void text_splice(random_text *text, size_t at, size_t removed, const char *bytes,
                               size_t length)
{
    const size_t rest = text->length - at - removed;
    static char tail[REQUEST_BYTES];
    size_t kept;
    memcpy(tail, text->bytes + at + removed, rest);
    if (length > REQUEST_BYTES - at)
        length = REQUEST_BYTES - at;
    if (length > 0)
        memmove(text->bytes + at, bytes, length);
    kept = rest < REQUEST_BYTES - at - length ? rest : REQUEST_BYTES - at - length;
    memcpy(text->bytes + at + length, tail, kept);
    text->length = at + length + kept;
    text->bytes[text->length] = '\0';
    text->is_sent = 1;
}

static inline void text_set(random_text *text, const char *words)
{
    text->length = 0;
    text->bytes[0] = '\0';
    text->is_sent = words != NULL;
    if (words != NULL)
        text_splice(text, 0, 0, words, strlen(words));
}

/* One change. `other` is the same text of another request. */
static inline void text_mutate(random_text *text, const char *other, uint64_t *state)
{
    static char part[REQUEST_BYTES];
    const size_t at = random_below(state, text->length + 1);
    const size_t span = random_below(state, text->length - at + 1);
    const char *word = stumbling[random_below(state, sizeof stumbling / sizeof *stumbling)];
    char byte;
    size_t n;
    switch (random_below(state, 9)) {
    case 0: /* a byte */
        byte = (char) next_random(state);
        text_splice(text, at, at < text->length, &byte, 1);
        return;
    case 1: /* gone */
        text_splice(text, at, span, "", 0);
        return;
    case 2:
    case 3:
        text_splice(text, at, 0, word, strlen(word));
        return;
    case 4:
        text_splice(text, at, span, word, strlen(word));
        return;
    case 5: /* twice */
        memcpy(part, text->bytes + at, span);
        text_splice(text, at, 0, part, span);
        return;
    case 6: /* the end of another one */
        n = other != NULL ? random_below(state, strlen(other) + 1) : 0;
        text_splice(text, at, text->length - at, other != NULL ? other + n : "",
                    other != NULL ? strlen(other) - n : 0);
        return;
    case 7: /* deep, or long */
        n = (size_t) 1 << random_below(state, random_below(state, 4) == 0 ? 17 : 8);
        for (size_t i = 0; i < n && i < REQUEST_BYTES; i++)
            part[i] = word[i % strlen(word)];
        text_splice(text, at, 0, part, n < REQUEST_BYTES ? n : REQUEST_BYTES);
        return;
    default: /* without it */
        text->is_sent = 0;
        text->length = 0;
        text->bytes[0] = '\0';
    }
}

/* Makes the next request; "@" in an authorization is the token. */
static inline void random_request_make(random_request *out, uint64_t *state, const char *token)
{
    enum { N_GOOD = sizeof good_requests / sizeof *good_requests };
    const char *const *good = good_requests[random_below(state, N_GOOD)];
    size_t n = random_below(state, 5);
    for (size_t t = 0; t < REQUEST_N_TEXTS; t++)
        text_set(&out->texts[t], good[t]);
    if (random_below(state, 8) == 0)
        text_set(&out->texts[REQUEST_AUTHORIZATION], "@");
    if (out->texts[REQUEST_AUTHORIZATION].is_sent &&
        strcmp(out->texts[REQUEST_AUTHORIZATION].bytes, "@") == 0) {
        char bearer[200];
        snprintf(bearer, sizeof bearer, "Bearer %s", token);
        text_set(&out->texts[REQUEST_AUTHORIZATION], bearer);
    }
    while (n-- > 0) {
        static const unsigned char likely[] = {REQUEST_PATH, REQUEST_QUERY, REQUEST_QUERY,
                                               REQUEST_BODY, REQUEST_BODY};
        const size_t r = random_below(state, 2 * sizeof likely);
        const size_t t = r < sizeof likely ? likely[r] : random_below(state, REQUEST_N_TEXTS);
        text_mutate(&out->texts[t], good_requests[random_below(state, N_GOOD)][t], state);
    }
}

#endif
