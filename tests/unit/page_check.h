/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a page as a browser must not have to: every tag closed in order, every value quoted, every
 * sign escaped, and nothing in it that loads or runs. */
#ifndef CELLAR_TESTS_PAGE_CHECK_H
#define CELLAR_TESTS_PAGE_CHECK_H

#include <ctype.h>
#include <stddef.h>
#include <string.h>

typedef struct page_checker {
    const char *at;
    char open[32][16];
    size_t depth;
} page_checker;

static inline size_t page_name(const char *at)
{
    size_t n = 0;
    while (isalnum((unsigned char) at[n]) || at[n] == '-')
        n++;
    return n;
}

static inline int page_entity(const char *at)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(at, known[i], strlen(known[i])) == 0)
            return 1;
    return 0;
}

/* Text up to `end`: no bare '<' or '&'; in the style sheet nothing that loads. */
static inline const char *page_text(page_checker *c, char end)
{
    const int is_style = c->depth > 0 && strcmp(c->open[c->depth - 1], "style") == 0;
    for (; *c->at != '\0' && *c->at != end; c->at++) {
        if (*c->at == '&' && !page_entity(c->at))
            return "a bare &";
        if (*c->at == '<')
            return "a bare <";
        if (is_style && (strncmp(c->at, "@import", 7) == 0 || strncmp(c->at, "url(", 4) == 0))
            return "a style sheet that loads";
        if ((unsigned char) *c->at < ' ' && *c->at != '\n' && *c->at != '\t')
            return "a control character";
    }
    return *c->at == end ? NULL : "an end within text";
}

/* name="value" */
static inline const char *page_attribute(page_checker *c)
{
    const char *name = c->at, *problem;
    size_t n = page_name(c->at);
    if (n == 0 || c->at[n] != '=' || c->at[n + 1] != '"')
        return "an attribute that is not quoted";
    if (strncmp(name, "on", 2) == 0 || strncmp(name, "src", 3) == 0 ||
        strncmp(name, "style=", 6) == 0)
        return "an attribute that loads, runs or styles";
    c->at += n + 2;
    if (strncmp(name, "href", 4) == 0 && *c->at != '#')
        return "a link that leaves the page";
    if (strncmp(c->at, "url(", 4) == 0 && c->at[4] != '#')
        return "a reference that leaves the page";
    if (strncmp(c->at, "http:", 5) == 0 || strncmp(c->at, "https:", 6) == 0)
        return "an address";
    problem = page_text(c, '"');
    c->at += problem == NULL;
    return problem;
}

static inline const char *page_open_tag(page_checker *c)
{
    size_t n = page_name(++c->at);
    const char *problem = NULL;
    if (n == 0 || n >= 16 || c->depth == 32)
        return "a tag without a name, or too deep";
    memcpy(c->open[c->depth], c->at, n);
    c->open[c->depth][n] = '\0';
    if (strcmp(c->open[c->depth], "script") == 0 || strcmp(c->open[c->depth], "link") == 0)
        return "a script or link";
    c->depth++;
    for (c->at += n; *c->at == ' ' && problem == NULL;) {
        c->at++;
        problem = page_attribute(c);
    }
    if (problem != NULL)
        return problem;
    if (strncmp(c->at, "/>", 2) == 0) {
        c->at += 2;
        c->depth--;
        return NULL;
    }
    return *c->at++ == '>' ? NULL : "a tag that does not end";
}

static inline const char *page_close_tag(page_checker *c)
{
    size_t n = page_name(c->at += 2);
    if (c->depth == 0 || strlen(c->open[c->depth - 1]) != n ||
        strncmp(c->open[c->depth - 1], c->at, n) != 0 || c->at[n] != '>')
        return "tags that do not match";
    c->at += n + 1;
    c->depth--;
    return NULL;
}

/* What is wrong with the page; NULL: nothing. */
static inline const char *page_problem(const char *page)
{
    static const char start[] = "<!DOCTYPE html>\n<html lang=\"en\">";
    page_checker c = {.at = page + strlen("<!DOCTYPE html>\n")};
    const char *problem = NULL;
    if (strncmp(page, start, strlen(start)) != 0)
        return "no document type";
    if (strstr(page, "Content-Security-Policy") == NULL || strstr(page, "<title>") == NULL)
        return "no policy or title";
    while (problem == NULL && *c.at != '\0') {
        if (*c.at != '<' && c.depth == 0)
            return strcmp(c.at, "\n") == 0 ? NULL : "text after the end";
        if (*c.at != '<')
            problem = page_text(&c, '<');
        else
            problem = c.at[1] == '/' ? page_close_tag(&c) : page_open_tag(&c);
    }
    return problem != NULL ? problem : "no end";
}

#endif
