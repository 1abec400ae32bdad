/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/pages.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/markup.h"
#include "serve/answering.h"

enum { PAGES_BYTES_MAX = 64 << 20, PAGES_MAX = 4096, PAGES_DEPTH_MAX = 6 };

typedef struct page {
    char *path; /* "assets/app.js" */
    char *bytes;
    size_t length;
} page;

struct serve_pages {
    page *items; /* by path */
    size_t n, room, n_bytes;
    size_t n_first; /* the agency's, which are read first */
};

/* ---- reading -----------------------------------------------------------------------------------
 */

void serve_pages_close(serve_pages *pages)
{
    if (pages == NULL)
        return;
    for (size_t i = 0; i < pages->n; i++) {
        cellar_free(pages->items[i].path);
        cellar_free(pages->items[i].bytes);
    }
    cellar_free(pages->items);
    cellar_free(pages);
}

static cellar_status add_page(serve_pages *pages, const char *file, const char *path,
                              cellar_error *err)
{
    page *one;
    cellar_status status;
    for (size_t i = 0; i < pages->n_first; i++)
        if (strcmp(pages->items[i].path, path) == 0)
            return CELLAR_OK; /* the agency's stands instead */
    if (pages->n == PAGES_MAX)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: more than %d files", file, PAGES_MAX);
    if (!cellar_grow(&pages->items, &pages->room, pages->n + 1, sizeof *pages->items))
        return cellar_fail_memory(err, "a page");
    one = &pages->items[pages->n++];
    *one = (page){.path = cellar_alloc(strlen(path) + 1, 1)};
    if (one->path == NULL)
        return cellar_fail_memory(err, "a page");
    memcpy(one->path, path, strlen(path));
    status = cellar_file_read_plain(file, PAGES_BYTES_MAX - pages->n_bytes, &one->bytes,
                                    &one->length, err);
    if (status == CELLAR_OK)
        pages->n_bytes += one->length;
    return status;
}

static cellar_status read_folder(serve_pages *pages, const char *folder, const char *path,
                                 size_t depth, cellar_error *err);

/* A file or a folder in `folder`, whose address is `path`. */
static cellar_status read_entry(serve_pages *pages, const char *folder, const char *path,
                                const char *name, size_t depth, cellar_error *err)
{
    cellar_text file = {0}, at = {0};
    struct stat about;
    cellar_status status = CELLAR_OK;
    cellar_text_printf(&file, "%s/%s", folder, name);
    cellar_text_printf(&at, "%s%s%s", path, path[0] != '\0' ? "/" : "", name);
    if (file.failed || at.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a page"));
    if (lstat(file.bytes, &about) != 0)
        CELLAR_TRY(cellar_fail_errno(err, file.bytes, "look at it"));
    if (S_ISDIR(about.st_mode) && depth < PAGES_DEPTH_MAX)
        status = read_folder(pages, file.bytes, at.bytes, depth + 1, err);
    else if (S_ISREG(about.st_mode))
        status = add_page(pages, file.bytes, at.bytes, err);
out:
    cellar_text_clear(&file);
    cellar_text_clear(&at);
    return status;
}

static cellar_status read_folder(serve_pages *pages, const char *folder, const char *path,
                                 size_t depth, cellar_error *err)
{
    DIR *open = opendir(folder);
    cellar_status status = CELLAR_OK;
    if (open == NULL)
        return cellar_fail_errno(err, folder, "open the folder");
    for (struct dirent *entry; status == CELLAR_OK && (entry = readdir(open)) != NULL;)
        if (entry->d_name[0] != '.')
            status = read_entry(pages, folder, path, entry->d_name, depth, err);
    closedir(open);
    return status;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const page *) a)->path, ((const page *) b)->path);
}

cellar_status serve_pages_open(const char *folder, const char *agency, serve_pages **out,
                               cellar_error *err)
{
    serve_pages *pages = cellar_alloc(1, sizeof *pages);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (pages == NULL)
        return cellar_fail_memory(err, "a page");
    if (agency != NULL)
        status = read_folder(pages, agency, "", 0, err);
    pages->n_first = pages->n;
    if (status == CELLAR_OK)
        status = read_folder(pages, folder, "", 0, err);
    if (status != CELLAR_OK) {
        serve_pages_close(pages);
        return status;
    }
    if (pages->n > 0)
        qsort(pages->items, pages->n, sizeof *pages->items, by_path);
    *out = pages;
    return CELLAR_OK;
}

/* ---- serving -----------------------------------------------------------------------------------
 */

static const char *type_of(const char *path)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", "text/html; charset=UTF-8"},
                 {".js", "text/javascript; charset=UTF-8"},
                 {".css", "text/css; charset=UTF-8"},
                 {".json", "application/json; charset=UTF-8"},
                 {".geojson", "application/geo+json"},
                 {".svg", "image/svg+xml"},
                 {".png", "image/png"},
                 {".ico", "image/x-icon"},
                 {".woff2", "font/woff2"},
                 {".webmanifest", "application/manifest+json"},
                 {".txt", "text/plain; charset=UTF-8"}};
    const char *ending = strrchr(path, '.');
    for (size_t i = 0; ending != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(ending, types[i].ending) == 0)
            return types[i].type;
    return "application/octet-stream";
}

static int is_at(const void *path, const void *one)
{
    return strcmp(path, ((const page *) one)->path);
}

static const page *find(const serve_pages *pages, const char *path)
{
    return pages != NULL && pages->n > 0
               ? bsearch(path, pages->items, pages->n, sizeof *pages->items, is_at)
               : NULL;
}

const char *serve_pages_index(const serve_pages *pages, size_t *length)
{
    char name[] = "index.html";
    const page *found = find(pages, name);
    *length = found != NULL ? found->length : 0;
    return found != NULL ? found->bytes : NULL;
}

/* A list of the data sets, each with its default table. */
static void add_home(const cellar_site *site, size_t language, cellar_text *out)
{
    cellar_text_printf(out,
                       "<!doctype html>\n<html lang=\"%s\">\n<meta charset=\"utf-8\">\n<title>",
                       site->languages[language]);
    cellar_markup_add(out, site->title.in[language]);
    cellar_text_add_string(out, "</title>\n<h1>");
    cellar_markup_add(out, site->title.in[language]);
    cellar_text_add_string(out, "</h1>\n<ul>\n");
    for (size_t i = 0; i < site->n_datasets; i++) {
        const serve_dataset *d = &site->datasets[i];
        cellar_text_printf(
            out, "<li><a href=\"%s/api/v2/tables/%s/data?lang=%s&amp;outputFormat=html\">",
            site->base_url, d->id, site->languages[language]);
        cellar_markup_add(out, d->title.in[language]);
        cellar_text_printf(out,
                           "</a> (<a href=\"%s/api/v2/tables/%s/metadata?lang=%s\">metadata"
                           "</a>)</li>\n",
                           site->base_url, d->id, site->languages[language]);
    }
    cellar_text_add_string(out, "</ul>\n</html>\n");
}

/* 1 when it is a person who asks. */
static int is_browser(const serve_call *call)
{
    const char *accept = call->request->accept;
    return serve_call_is_read(call) && accept != NULL && strstr(accept, "text/html") != NULL;
}

/* index.html, or a page of the same use where there is none. */
static void send_home(const cellar_site *site, const serve_call *call, const char *problem,
                      serve_reply *reply)
{
    size_t length;
    reply->content_type = type_of("index.html");
    if (serve_pages_index(site->pages, &length) != NULL)
        serve_page_add_home(site, call->language, problem, &reply->body);
    else
        add_home(site, call->language, &reply->body);
}

cellar_status serve_page_nothing(const cellar_site *site, const serve_call *call,
                                 serve_reply *reply)
{
    size_t length;
    if (!is_browser(call) || serve_pages_index(site->pages, &length) == NULL)
        return serve_reply_nothing(reply);
    reply->status = 404;
    send_home(site, call, "There is nothing at this address.", reply);
    return CELLAR_OK;
}

cellar_status serve_route_pages(cellar_site *site, const serve_call *call, serve_reply *reply,
                                cellar_error *err)
{
    cellar_text path = {0};
    const page *found;
    const int is_view = call->n_segments == 0 ||
                        (call->n_segments == 1 && (strcmp(call->segments[0], "operator") == 0 ||
                                                   strcmp(call->segments[0], "index.html") == 0));
    (void) err;
    if (is_view && serve_call_is_read(call)) {
        reply->is_constant = 1;
        send_home(site, call, NULL, reply);
        return CELLAR_OK;
    }
    for (size_t i = 0; i < call->n_segments; i++)
        cellar_text_printf(&path, "%s%s", i > 0 ? "/" : "", call->segments[i]);
    if (path.failed)
        return CELLAR_ERR_MEMORY;
    found = serve_call_is_read(call) && !is_view ? find(site->pages, path.bytes) : NULL;
    if (found != NULL) {
        reply->is_constant = 1;
        reply->is_immutable = call->n_segments > 1 && strcmp(call->segments[0], "assets") == 0;
        reply->content_type = type_of(path.bytes);
        cellar_text_add(&reply->body, found->bytes, found->length);
    }
    cellar_text_clear(&path);
    return found != NULL ? CELLAR_OK : serve_page_nothing(site, call, reply);
}
