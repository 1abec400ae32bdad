/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are served as they are: the page of the table builder. All are read when the site is
 * opened, so that no request opens a file, and none leads out of the folder. */
#ifndef CELLAR_SERVE_PAGES_H
#define CELLAR_SERVE_PAGES_H

#include "base/memory.h"
#include "serve/routes.h"

typedef struct serve_pages serve_pages;

/* Reads the files of a folder and of the folders in it; links and hidden names are left out. Files
 * of the folder `agency`, NULL for none, come on top, and in place of those of the same name.
 * Refuses more than 64 MiB. On failure *out is NULL. */
cellar_status serve_pages_open(const char *folder, const char *agency, serve_pages **out,
                               cellar_error *err);
void serve_pages_close(serve_pages *pages); /* NULL is fine */

/* The file at the address of a call ("/" and "/operator" are index.html), or a plain page that
 * lists the data sets where there is no index.html. 404 when there is none: for a browser that is
 * index.html, too, which says so. */
serve_route serve_route_pages;

/* 404: for a browser index.html that says so, for others problem+json. */
cellar_status serve_page_nothing(const cellar_site *site, const serve_call *call,
                                 serve_reply *reply);

/* The page itself, index.html; NULL when there is none. */
const char *serve_pages_index(const serve_pages *pages, size_t *length);

/* ---- index.html as it is sent (page_index.c); it must be there ---- */

/* Adds it in a language, with a title, and with what a browser without scripts shows. */
void serve_page_add(const cellar_site *site, size_t language, const char *title,
                    const cellar_text *shown, cellar_text *out);
/* The same with the list of data sets, or with what is wrong with the address. */
void serve_page_add_home(const cellar_site *site, size_t language, const char *problem,
                         cellar_text *out);
/* Parts of what is shown: how it begins, and a sentence with a link to somewhere else. */
void serve_page_open_main(const char *title, cellar_text *out);
void serve_page_add_problem(const char *sentence, const char *href, const char *link,
                            cellar_text *out);

#endif
