/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/answering.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/json.h"
#include "serve/picks.h"

/* ---- formats ------------------------------------------------------------------- */

const serve_format *serve_format_accepted(const char *accept)
{
    while (accept != NULL && *accept != '\0') {
        char type[128];
        const size_t n = strcspn(accept, ",;");
        const serve_format *format = NULL;
        if (n > 0 && n < sizeof type) {
            memcpy(type, accept, n);
            type[n] = '\0';
            format = serve_format_find(type + strspn(type, " "));
        }
        if (format != NULL)
            return format;
        accept += strcspn(accept, ",");
        accept += *accept == ',';
    }
    return NULL;
}

/* What a word sets; a word of the same kind must not follow. */
static const struct format_word {
    const char *word;
    enum { FORMAT_TEXTS, FORMAT_TITLE, FORMAT_SEPARATOR, FORMAT_N_KINDS } kind;
    int use_codes, use_texts;
    char separator;
} format_words[] = {
    {"UseCodes", FORMAT_TEXTS, 1, 0, '\0'},
    {"UseTexts", FORMAT_TEXTS, 0, 1, '\0'},
    {"UseCodesAndTexts", FORMAT_TEXTS, 1, 1, '\0'},
    {"IncludeTitle", FORMAT_TITLE, 0, 0, '\0'},
    {"SeparatorTab", FORMAT_SEPARATOR, 0, 0, '\t'},
    {"SeparatorSpace", FORMAT_SEPARATOR, 0, 0, ' '},
    {"SeparatorSemicolon", FORMAT_SEPARATOR, 0, 0, ';'},
};

static const struct format_word *format_find_word(const char *word)
{
    for (size_t i = 0; i < sizeof format_words / sizeof *format_words; i++)
        if (strcasecmp(word, format_words[i].word) == 0)
            return &format_words[i];
    return NULL;
}

cellar_status serve_format_parameters(const char *list, cellar_arena *arena,
                                      serve_format_options *out, cellar_error *err)
{
    const char *const *words;
    const size_t n = serve_split_list(list, arena, &words);
    int given[FORMAT_N_KINDS] = {0};
    if (n == SIZE_MAX)
        return cellar_fail_memory(err, "a request");
    for (size_t i = 0; i < n; i++) {
        const struct format_word *word = format_find_word(words[i]);
        if (word == NULL)
            return cellar_fail(err, CELLAR_ERR_INPUT, "outputFormatParams has no word '%.60s'.",
                               words[i]);
        if (given[word->kind]++ > 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "outputFormatParams: '%s' contradicts an earlier word.", word->word);
        if (word->kind == FORMAT_TEXTS) {
            out->use_codes = word->use_codes;
            out->use_texts = word->use_texts;
        } else if (word->kind == FORMAT_SEPARATOR)
            out->separator = word->separator;
        else
            out->with_title = 1;
    }
    return CELLAR_OK;
}

/* ---- replies -------------------------------------------------------------------- */

uint64_t serve_site_max_cells(const cellar_site *site)
{
    uint64_t least = INT32_MAX; /* clients read it as an int */
    for (size_t i = 0; i < site->n_datasets; i++)
        if (site->datasets[i].max_cells < least)
            least = site->datasets[i].max_cells;
    return least;
}

int serve_call_is_read(const serve_call *call)
{
    return strcmp(call->request->method, "POST") != 0;
}

cellar_status serve_reply_method(serve_reply *reply)
{
    return serve_reply_problem(reply, 405, "This address is only read.");
}

cellar_status serve_reply_nothing(serve_reply *reply)
{
    return serve_reply_problem(reply, 404, "There is nothing at this address.");
}

void serve_reply_json(serve_reply *reply)
{
    reply->content_type = "application/json; charset=UTF-8";
}

void serve_json_link(cellar_text *out, const cellar_site *site, const char *rel, const char *path,
                     size_t language)
{
    cellar_text href = {0};
    cellar_text_printf(&href, "%s%s?lang=%s", site->base_url, path, site->languages[language]);
    serve_json_open(out, '{');
    serve_json_pair(out, "rel", rel);
    serve_json_pair(out, "hreflang", site->languages[language]);
    serve_json_name(out, "href");
    if (href.failed)
        out->failed = 1;
    else
        serve_json_string(out, href.bytes);
    serve_json_close(out, '}');
    cellar_text_clear(&href);
}

cellar_status serve_request_default(serve_request *request, cellar_error *err)
{
    serve_table table;
    const cellar_status status = serve_default_table(request->dataset, &table, err);
    if (status == CELLAR_OK)
        serve_choices_of_table(request->dataset, &table, &request->choices);
    request->is_default = 1;
    return status;
}

/* Files that programs open by themselves get a name; what a browser shows has none. */
static const char *answering_file_name(const serve_request *request, cellar_arena *arena)
{
    static const char *const shown[] = {"json", "html", "xml"};
    cellar_text name = {0};
    const char *copy;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (strcmp(request->format->ending, shown[i]) == 0)
            return NULL;
    cellar_text_printf(&name, "%s.%s", request->dataset->id, request->format->ending);
    copy = name.failed ? NULL : cellar_arena_copy(arena, name.bytes, name.length);
    cellar_text_clear(&name);
    return copy;
}

cellar_status serve_reply_answer(const cellar_site *site, const serve_call *call,
                                 const serve_request *request, serve_reply *reply,
                                 cellar_error *err)
{
    serve_question *question = cellar_arena_alloc(call->arena, 1, sizeof *question);
    serve_format_options options = request->options;
    serve_answer answer = {0};
    cellar_status status = CELLAR_OK;

    if (question == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    CELLAR_TRY(serve_choices_question(request->dataset, &request->choices, request->language,
                                      call->arena, question, err));
    CELLAR_TRY(serve_answer_question(question, SERVE_TAIL, &answer, err));
    if (answer.is_refused) {
        status = serve_reply_refusal(reply, request->dataset, &answer.refusal);
        goto out;
    }
    options.base_url = site->base_url;
    CELLAR_TRY(request->format->write(&answer, &options, &reply->body, err));
    reply->content_type = request->format->content_type;
    reply->is_immutable = answer.is_immutable && !request->is_default;
    reply->file_name = answering_file_name(request, call->arena);
out:
    serve_answer_clear(&answer);
    return status;
}
