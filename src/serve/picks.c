/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/picks.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"

enum {
    PICKS_MAX_NAME = 200,       /* bytes of the name of a group */
    PICKS_MAX_LOOKED = 10000000 /* categories that the expressions of a variable look at */
};

static cellar_status picks_memory(cellar_error *err)
{
    return cellar_fail_memory(err, "a selection");
}

/* ---- adding ------------------------------------------------------------------ */

/* Makes room for one more; arrays of an arena grow by copies. */
static int picks_grow(serve_picks *picks)
{
    const size_t capacity = picks->capacity > 0 ? 2 * picks->capacity : 16;
    serve_pick *items;
    if (picks->n < picks->capacity)
        return 1;
    items = cellar_arena_alloc(picks->arena, capacity, sizeof *items);
    if (items == NULL)
        return 0;
    if (picks->n > 0)
        memcpy(items, picks->items, picks->n * sizeof *items);
    picks->items = items;
    picks->capacity = capacity;
    return 1;
}

/* The marks of a level: which categories were picked. NULL when memory ends. */
static unsigned char *picks_seen(serve_picks *picks, size_t level)
{
    if (picks->seen == NULL)
        picks->seen = cellar_arena_alloc(picks->arena, picks->n_levels, sizeof *picks->seen);
    if (picks->seen != NULL && picks->seen[level - 1] == NULL)
        picks->seen[level - 1] =
            cellar_arena_alloc(picks->arena, picks->levels[level - 1].n_categories, 1);
    return picks->seen != NULL ? picks->seen[level - 1] : NULL;
}

/* Picks a category, unless it was already. */
static cellar_status picks_take(serve_picks *picks, size_t level, size_t position,
                                cellar_error *err)
{
    const serve_category *category = &picks->levels[level - 1].categories[position];
    unsigned char *seen = picks_seen(picks, level);
    uint32_t *member;
    if (seen == NULL)
        return picks_memory(err);
    if (seen[position])
        return CELLAR_OK;
    member = cellar_arena_alloc(picks->arena, 1, sizeof *member);
    if (member == NULL || !picks_grow(picks))
        return picks_memory(err);
    seen[position] = 1;
    *member = (uint32_t) position;
    picks->items[picks->n++] = (serve_pick){.code = category->code,
                                            .label = category->label.in[picks->language],
                                            .level = level,
                                            .members = member,
                                            .n_members = 1};
    return CELLAR_OK;
}

/* Counts the work of an expression, so that many of them over a long code list are refused. */
static cellar_status picks_look(serve_picks *picks, size_t n, cellar_error *err)
{
    picks->n_looked += n;
    return picks->n_looked <= PICKS_MAX_LOOKED
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_INPUT,
                             "There are too many expressions for variable '%.200s'.",
                             picks->variable);
}

static cellar_status picks_take_span(serve_picks *picks, size_t first, size_t end,
                                     cellar_error *err)
{
    cellar_status status = picks_look(picks, end - first, err);
    for (size_t i = first; status == CELLAR_OK && i < end; i++)
        status = picks_take(picks, picks->level, i, err);
    return status;
}

/* Where a code is: at the level that was named, else at a coarser one where that is allowed. 0
 * when there is none. */
static int picks_find(const serve_picks *picks, const char *code, size_t *level, size_t *position)
{
    for (*level = picks->level; *level > 0; --*level) {
        *position = serve_find_category(&picks->levels[*level - 1], code);
        if (*position != SIZE_MAX)
            return 1;
        if (!picks->may_coarsen)
            return 0;
    }
    return 0;
}

static cellar_status picks_fail_code(const serve_picks *picks, const char *code, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "Variable '%.200s' has no category '%.200s'.",
                       picks->variable, code);
}

/* ---- patterns ---------------------------------------------------------------- */

static size_t picks_character(const char *text)
{
    size_t n = 1;
    while (((unsigned char) text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

static int picks_same(char a, char b)
{
    return strncasecmp(&a, &b, 1) == 0;
}

/* 1 when the code fits. After a mismatch the last * takes one byte more; a * before it need never
 * change again, so that this takes at most length x length steps. */
static int picks_fit(const char *pattern, const char *code)
{
    const char *star = NULL, *retry = NULL;
    while (*code != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            retry = code;
        } else if (*pattern == '?') {
            pattern++;
            code += picks_character(code);
        } else if (*pattern != '\0' && picks_same(*pattern, *code)) {
            pattern++;
            code++;
        } else if (star != NULL) {
            pattern = star + 1;
            retry += picks_character(retry);
            code = retry;
        } else
            return 0;
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

static cellar_status picks_add_pattern(serve_picks *picks, const char *pattern, cellar_error *err)
{
    const serve_level *level = &picks->levels[picks->level - 1];
    cellar_status status = picks_look(picks, level->n_categories, err);
    for (size_t i = 0; status == CELLAR_OK && i < level->n_categories; i++)
        if (picks_fit(pattern, level->categories[i].code))
            status = picks_take(picks, picks->level, i, err);
    return status;
}

/* ---- quotes ------------------------------------------------------------------ */

/* The first character of `stops` outside double quotes, or the end. */
static const char *picks_until(const char *text, const char *stops)
{
    int is_quoted = 0;
    for (; *text != '\0'; text++)
        if (*text == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted && strchr(stops, *text) != NULL)
            break;
    return text;
}

static int picks_is_quoted(const char *text)
{
    const size_t length = strlen(text);
    return length >= 2 && text[0] == '"' && text[length - 1] == '"';
}

/* ---- functions --------------------------------------------------------------- */

/* The arguments of an expression, split at commas. */
typedef struct picks_arguments {
    const char **items;
    size_t n;
} picks_arguments;

static cellar_status picks_split(serve_picks *picks, char *text, picks_arguments *out,
                                 cellar_error *err)
{
    size_t n = 1;
    for (const char *at = text; *(at = picks_until(at, ",")) != '\0'; at++)
        n++;
    *out = (picks_arguments){.items = cellar_arena_alloc(picks->arena, n, sizeof *out->items)};
    if (out->items == NULL)
        return picks_memory(err);
    while (out->n < n) {
        char *end = text + (picks_until(text, ",") - text), *next = end + 1;
        *end = '\0';
        if (picks_is_quoted(text)) {
            *--end = '\0';
            text++;
        }
        out->items[out->n++] = text;
        text = next;
    }
    return CELLAR_OK;
}

typedef cellar_status picks_function(serve_picks *picks, const picks_arguments *arguments,
                                     cellar_error *err);

static cellar_status picks_fail_function(const serve_picks *picks, const char *form,
                                         cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "An expression for variable '%.200s' should have the form %s.",
                       picks->variable, form);
}

/* n and an offset as positions: those of `total` categories from one end. */
static cellar_status picks_add_end(serve_picks *picks, const picks_arguments *arguments,
                                   int from_first, const char *form, cellar_error *err)
{
    const uint64_t total = picks->levels[picks->level - 1].n_categories;
    uint64_t n, offset = 0;
    if (arguments->n > 2 ||
        !cellar_parse_u64(arguments->items[0], strlen(arguments->items[0]), &n) || n == 0 ||
        (arguments->n == 2 &&
         !cellar_parse_u64(arguments->items[1], strlen(arguments->items[1]), &offset)))
        return picks_fail_function(picks, form, err);
    if (offset > total)
        offset = total;
    if (n > total - offset)
        n = total - offset;
    return from_first ? picks_take_span(picks, offset, offset + n, err)
                      : picks_take_span(picks, total - offset - n, total - offset, err);
}

static cellar_status picks_top(serve_picks *picks, const picks_arguments *arguments,
                               cellar_error *err)
{
    return picks_add_end(picks, arguments, !picks->is_time, "top(n) or top(n,offset)", err);
}

static cellar_status picks_bottom(serve_picks *picks, const picks_arguments *arguments,
                                  cellar_error *err)
{
    return picks_add_end(picks, arguments, picks->is_time, "bottom(n) or bottom(n,offset)", err);
}

/* The position of an argument that is a code of the level. */
static cellar_status picks_locate(const serve_picks *picks, const char *code, size_t *out,
                                  cellar_error *err)
{
    *out = serve_find_category(&picks->levels[picks->level - 1], code);
    return *out != SIZE_MAX ? CELLAR_OK : picks_fail_code(picks, code, err);
}

static cellar_status picks_from(serve_picks *picks, const picks_arguments *arguments,
                                cellar_error *err)
{
    size_t at;
    cellar_status status = arguments->n == 1 ? picks_locate(picks, arguments->items[0], &at, err)
                                             : picks_fail_function(picks, "from(code)", err);
    return status == CELLAR_OK
               ? picks_take_span(picks, at, picks->levels[picks->level - 1].n_categories, err)
               : status;
}

static cellar_status picks_to(serve_picks *picks, const picks_arguments *arguments,
                              cellar_error *err)
{
    size_t at;
    cellar_status status = arguments->n == 1 ? picks_locate(picks, arguments->items[0], &at, err)
                                             : picks_fail_function(picks, "to(code)", err);
    return status == CELLAR_OK ? picks_take_span(picks, 0, at + 1, err) : status;
}

static cellar_status picks_range(serve_picks *picks, const picks_arguments *arguments,
                                 cellar_error *err)
{
    size_t first, last;
    cellar_status status = CELLAR_OK;
    if (arguments->n != 2)
        return picks_fail_function(picks, "range(code,code)", err);
    CELLAR_TRY(picks_locate(picks, arguments->items[0], &first, err));
    CELLAR_TRY(picks_locate(picks, arguments->items[1], &last, err));
    status = first <= last ? picks_take_span(picks, first, last + 1, err)
                           : picks_take_span(picks, last, first + 1, err);
out:
    return status;
}

/* The name of a group must not be taken for a category. */
static int picks_is_name(const serve_picks *picks, const char *name)
{
    if (name[0] == '\0' || strlen(name) > PICKS_MAX_NAME)
        return 0;
    for (size_t i = 0; name[i] != '\0'; i++)
        if ((unsigned char) name[i] < ' ' || name[i] == 0x7f)
            return 0;
    for (size_t l = 0; l < picks->n_levels; l++)
        if (serve_find_category(&picks->levels[l], name) != SIZE_MAX)
            return 0;
    for (size_t i = 0; i < picks->n; i++)
        if (strcasecmp(picks->items[i].code, name) == 0)
            return 0;
    return 1;
}

/* Members all lie in the level of the first. */
static cellar_status picks_group(serve_picks *picks, const picks_arguments *arguments,
                                 cellar_error *err)
{
    uint32_t *members = cellar_arena_alloc(picks->arena, arguments->n, sizeof *members);
    size_t level = 0, position;
    if (members == NULL || !picks_grow(picks))
        return picks_memory(err);
    if (arguments->n < 2)
        return picks_fail_function(picks, "group(name,code,code,...)", err);
    if (!picks_is_name(picks, arguments->items[0]))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "A group of variable '%.200s' needs a name of its own, of at most %d "
                           "bytes.",
                           picks->variable, (int) PICKS_MAX_NAME);
    for (size_t i = 1; i < arguments->n; i++) {
        if (i == 1 && !picks_find(picks, arguments->items[i], &level, &position))
            return picks_fail_code(picks, arguments->items[i], err);
        position = serve_find_category(&picks->levels[level - 1], arguments->items[i]);
        if (position == SIZE_MAX)
            return picks_fail_code(picks, arguments->items[i], err);
        members[i - 1] = (uint32_t) position;
    }
    picks->items[picks->n++] = (serve_pick){.code = arguments->items[0],
                                            .label = arguments->items[0],
                                            .level = level,
                                            .members = members,
                                            .n_members = arguments->n - 1};
    return CELLAR_OK;
}

static const struct picks_word {
    const char *word;
    picks_function *run;
    int has_list; /* its arguments may hold commas */
} picks_words[] = {
    {"top(", picks_top, 1}, {"bottom(", picks_bottom, 1}, {"from(", picks_from, 0},
    {"to(", picks_to, 0},   {"range(", picks_range, 1},   {"group(", picks_group, 1},
};

/* The function that the text begins with; NULL when it is none. */
static const struct picks_word *picks_find_word(const char *text)
{
    for (size_t i = 0; i < sizeof picks_words / sizeof *picks_words; i++)
        if (strncasecmp(text, picks_words[i].word, strlen(picks_words[i].word)) == 0)
            return &picks_words[i];
    return NULL;
}

static cellar_status picks_call(serve_picks *picks, const struct picks_word *word,
                                const char *expression, cellar_error *err)
{
    const size_t lead = strlen(word->word), length = strlen(expression);
    picks_arguments arguments;
    cellar_status status;
    char *inside;
    if (expression[length - 1] != ')')
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "An expression for variable '%.200s' lacks its closing parenthesis.",
                           picks->variable);
    inside = cellar_arena_copy(picks->arena, expression + lead, length - lead - 1);
    if (inside == NULL)
        return picks_memory(err);
    status = picks_split(picks, inside, &arguments, err);
    return status == CELLAR_OK ? word->run(picks, &arguments, err) : status;
}

/* A code is taken before anything else that it could mean, but for the one star. */
cellar_status serve_picks_add(serve_picks *picks, const char *expression, cellar_error *err)
{
    const size_t length = strlen(expression);
    const struct picks_word *word;
    size_t level, position;

    if (strcmp(expression, "*") == 0)
        return picks_take_span(picks, 0, picks->levels[picks->level - 1].n_categories, err);
    if (picks_find(picks, expression, &level, &position))
        return picks_take(picks, level, position, err);
    if (length > 2 && expression[0] == '[' && expression[length - 1] == ']' &&
        expression[1] != '[') { /* brackets once */
        const char *inside = cellar_arena_copy(picks->arena, expression + 1, length - 2);
        return inside != NULL ? serve_picks_add(picks, inside, err) : picks_memory(err);
    }
    if (picks_is_quoted(expression)) {
        const char *code = cellar_arena_copy(picks->arena, expression + 1, length - 2);
        if (code == NULL)
            return picks_memory(err);
        return picks_find(picks, code, &level, &position) ? picks_take(picks, level, position, err)
                                                          : picks_fail_code(picks, code, err);
    }
    word = picks_find_word(expression);
    if (word != NULL)
        return picks_call(picks, word, expression, err);
    if (strpbrk(expression, "*?") != NULL)
        return picks_add_pattern(picks, expression, err);
    return picks_fail_code(picks, expression, err);
}

/* ---- lists ------------------------------------------------------------------- */

/* Where the item that begins at `text` ends: a comma outside quotes, brackets and functions. */
static const char *picks_item_end(const char *text)
{
    const char *begin = text + strspn(text, " ");
    const struct picks_word *word = picks_find_word(begin);
    const char *close = *begin == '[' ? "]" : word != NULL && word->has_list ? ")" : NULL;
    const char *end = close != NULL ? picks_until(text, close) : text;
    return picks_until(*end != '\0' ? end : text, ",");
}

size_t serve_split_list(const char *list, cellar_arena *arena, const char *const **out)
{
    size_t most = 1, n = 0;
    const char **items;
    for (const char *at = list; *at != '\0'; at++)
        most += *at == ',';
    items = cellar_arena_alloc(arena, most, sizeof *items);
    *out = items;
    if (items == NULL)
        return SIZE_MAX;
    for (;;) {
        const char *end = picks_item_end(list), *last = end;
        list += strspn(list, " ");
        while (last > list && last[-1] == ' ')
            last--;
        if (last > list &&
            (items[n++] = cellar_arena_copy(arena, list, (size_t) (last - list))) == NULL)
            return SIZE_MAX;
        if (*end == '\0')
            return n;
        list = end + 1;
    }
}
