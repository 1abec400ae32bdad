/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/codelist_xml.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist_build.h"
#include "data/xml.h"

/* What the two formats call the same things. */
typedef struct xml_words {
    const char *root, *list, *id, *code, *label;
    const char *what; /* a list, in messages */
} xml_words;

static const xml_words sdmx = {"Structure", "Codelist", "id", "Code", "Name", "code list"};
static const xml_words ddi = {"codeBook", "var", "name", "catgry", "labl", "variable"};

/* The generic codes of the SDMX guidelines for code lists. `_O` is a category like any other: it
 * does not say that values outside the list are counted there. */
static const struct {
    const char *code;
    cellar_code_role role;
} sdmx_roles[] = {
    {"_T", CELLAR_CODE_TOTAL}, {"_U", CELLAR_CODE_UNKNOWN}, {"_Z", CELLAR_CODE_NOT_APPLICABLE}};

enum { XML_NAME_BYTES = 128, XML_MAX_NAMED = 12 };

typedef struct xml_reader {
    const char *wanted; /* NULL: the only one */
    cellar_codelist *list;
    const xml_words *words;    /* NULL before the root */
    char name[XML_NAME_BYTES]; /* of the open list */
    size_t list_depth;         /* of the open list, 0: none */
    size_t code_depth;         /* of the open code of a list that is read, 0: none */
    size_t language;           /* of the open label */
    int is_read, has_codes;    /* of the open list: it is the wanted one, it has codes so far */
    int has_parents;           /* of the list that is read */
    size_t n_found, n_fitting; /* lists with codes, and those that are wanted */
    cellar_text names;         /* of the first that were found */
} xml_reader;

static codelist_entry *open_entry(const xml_reader *reader)
{
    return &reader->list->entries[reader->list->n_codes - 1];
}

static cellar_status copy_text(const xml_reader *reader, const char *text, const char **out,
                               cellar_error *err)
{
    *out = cellar_arena_copy(reader->list->arena, text, strlen(text));
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a code list");
}

/* ---- lists -------------------------------------------------------------------- */

/* "ID", or in full "AGENCY:ID(VERSION)". */
static int fits_sdmx(const char *wanted, const cellar_xml *xml, const char *id)
{
    const char *agency = cellar_xml_attribute(xml, "agencyID");
    const char *version = cellar_xml_attribute(xml, "version");
    char full[4 * XML_NAME_BYTES];
    snprintf(full, sizeof full, "%s:%s(%s)", agency != NULL ? agency : "", id,
             version != NULL ? version : "1.0");
    return strcmp(wanted, id) == 0 || strcmp(wanted, full) == 0;
}

/* The name of a variable, or its ID. */
static int fits_ddi(const char *wanted, const cellar_xml *xml, const char *name)
{
    const char *id = cellar_xml_attribute(xml, "ID");
    return strcmp(wanted, name) == 0 || (id != NULL && strcmp(wanted, id) == 0);
}

/* As much of it as there is room for, in whole characters. */
static void keep_name(xml_reader *reader, const char *name)
{
    size_t n = strnlen(name, sizeof reader->name - 1);
    while (n > 0 && ((unsigned char) name[n] & 0xc0) == 0x80)
        n--;
    memcpy(reader->name, name, n);
    reader->name[n] = '\0';
}

static cellar_status open_list(xml_reader *reader, const cellar_xml *xml, cellar_error *err)
{
    const char *name = cellar_xml_attribute(xml, reader->words->id);
    if (name == NULL)
        return cellar_xml_fail(xml, err, "expected <%s> with the attribute '%s'",
                               reader->words->list, reader->words->id);
    keep_name(reader, name);
    reader->list_depth = cellar_xml_depth(xml);
    reader->has_codes = 0;
    reader->is_read = reader->n_found == 0;
    if (reader->wanted == NULL)
        return CELLAR_OK;
    reader->is_read = reader->words == &sdmx ? fits_sdmx(reader->wanted, xml, name)
                                             : fits_ddi(reader->wanted, xml, name);
    if (reader->is_read && reader->n_fitting++ > 0)
        return cellar_xml_fail(xml, err, "a second %s '%s'; choose one by its %s",
                               reader->words->what, reader->wanted,
                               reader->words == &sdmx ? "full name, AGENCY:ID(VERSION)" : "ID");
    return CELLAR_OK;
}

static void note_codes(xml_reader *reader)
{
    if (reader->has_codes++)
        return;
    if (reader->n_found++ < XML_MAX_NAMED)
        cellar_text_printf(&reader->names, "%s%s", reader->n_found > 1 ? ", " : "", reader->name);
    else if (reader->n_found == XML_MAX_NAMED + 1)
        cellar_text_add_string(&reader->names, ", ...");
}

/* ---- codes -------------------------------------------------------------------- */

static cellar_status open_code(xml_reader *reader, const cellar_xml *xml, cellar_error *err)
{
    const char *code = reader->words == &sdmx ? cellar_xml_attribute(xml, "id") : "";
    const char *missing = cellar_xml_attribute(xml, "missing");
    note_codes(reader);
    if (!reader->is_read)
        return CELLAR_OK;
    if (code == NULL)
        return cellar_xml_fail(xml, err, "expected <Code> with the attribute 'id'");
    if (cellar_codelist_new_entry(reader->list, code, strlen(code), cellar_xml_line(xml), err) ==
        NULL)
        return CELLAR_ERR_MEMORY;
    reader->code_depth = cellar_xml_depth(xml);
    if (reader->words == &ddi && missing != NULL && strcmp(missing, "Y") == 0)
        open_entry(reader)->role = CELLAR_CODE_UNKNOWN;
    return CELLAR_OK;
}

/* A total that has a parent is an aggregate like any other. */
static cellar_status close_code(xml_reader *reader, const cellar_xml *xml, cellar_error *err)
{
    codelist_entry *entry = open_entry(reader);
    reader->code_depth = 0;
    if (entry->length == 0)
        return cellar_xml_fail(xml, err, "expected a code in this <%s>", reader->words->code);
    for (size_t i = 0; reader->words == &sdmx && i < sizeof sdmx_roles / sizeof *sdmx_roles; i++)
        if (strcmp(entry->code, sdmx_roles[i].code) == 0 &&
            (sdmx_roles[i].role != CELLAR_CODE_TOTAL || entry->parents[0] == NULL))
            entry->role = (uint8_t) sdmx_roles[i].role;
    return CELLAR_OK;
}

static cellar_status close_code_text(xml_reader *reader, const cellar_xml *xml, cellar_error *err)
{
    codelist_entry *entry = open_entry(reader);
    const char *text = cellar_xml_text(xml);
    entry->length = (uint32_t) strlen(text);
    return copy_text(reader, text, &entry->code, err);
}

static cellar_status set_parent(xml_reader *reader, const char *parent, cellar_error *err)
{
    reader->has_parents = 1;
    return copy_text(reader, parent, &open_entry(reader)->parents[0], err);
}

/* SDMX 3.0 has the code in the element, 2.1 a reference or a URN that ends with ").CODE". */
static cellar_status close_parent(xml_reader *reader, const cellar_xml *xml, cellar_error *err)
{
    const char *text = cellar_xml_text(xml), *end = strstr(text, ").");
    if (strncmp(text, "urn:", 4) == 0 && end != NULL)
        text = end + 2;
    return text[0] != '\0' ? set_parent(reader, text, err) : CELLAR_OK;
}

/* ---- labels ------------------------------------------------------------------- */

/* Every code gets room for one more label; a list has few languages, and its first code most. */
static cellar_status add_language(xml_reader *reader, const cellar_xml *xml, const char *language,
                                  cellar_error *err)
{
    cellar_codelist *list = reader->list;
    if (list->n_languages == CODELIST_MAX_NAMES)
        return cellar_xml_fail(xml, err, "labels in more than %d languages", CODELIST_MAX_NAMES);
    for (size_t i = 0; i < list->n_codes; i++) {
        const char **labels =
            cellar_arena_alloc(list->arena, list->n_languages + 1, sizeof *labels);
        if (labels == NULL)
            return cellar_fail_memory(err, "a code list");
        for (size_t l = 0; l < list->n_languages; l++)
            labels[l] = list->entries[i].labels[l];
        list->entries[i].labels = labels;
    }
    return copy_text(reader, language, &list->languages[list->n_languages++], err);
}

static cellar_status open_label(xml_reader *reader, cellar_xml *xml, cellar_error *err)
{
    const char *language = cellar_xml_attribute(xml, "lang");
    size_t l = 0;
    cellar_xml_gather(xml);
    if (language == NULL)
        language = "";
    while (l < reader->list->n_languages && strcmp(reader->list->languages[l], language) != 0)
        l++;
    reader->language = l;
    return l < reader->list->n_languages ? CELLAR_OK : add_language(reader, xml, language, err);
}

/* The first of a language counts. */
static cellar_status close_label(xml_reader *reader, const cellar_xml *xml, cellar_error *err)
{
    const char **label = &open_entry(reader)->labels[reader->language];
    const char *text = cellar_xml_text(xml);
    return *label == NULL && text[0] != '\0' ? copy_text(reader, text, label, err) : CELLAR_OK;
}

/* ---- elements ----------------------------------------------------------------- */

static cellar_status open_root(xml_reader *reader, const cellar_xml *xml, const char *name,
                               cellar_error *err)
{
    reader->words = strcmp(name, sdmx.root) == 0  ? &sdmx
                    : strcmp(name, ddi.root) == 0 ? &ddi
                                                  : NULL;
    return reader->words != NULL
               ? CELLAR_OK
               : cellar_xml_fail(xml, err,
                                 "expected a structure message of SDMX-ML (<Structure>) or a code "
                                 "book of DDI Codebook (<codeBook>), not <%.60s>",
                                 name);
}

/* What stands in a code. */
static cellar_status open_part(xml_reader *reader, cellar_xml *xml, const char *name,
                               cellar_error *err)
{
    const size_t depth = cellar_xml_depth(xml) - reader->code_depth;
    if (depth == 1 && strcmp(name, reader->words->label) == 0)
        return open_label(reader, xml, err);
    if (depth == 1 && (strcmp(name, "Parent") == 0 || strcmp(name, "catValu") == 0))
        cellar_xml_gather(xml);
    if (depth == 2 && strcmp(name, "Ref") == 0 && cellar_xml_attribute(xml, "id") != NULL)
        return set_parent(reader, cellar_xml_attribute(xml, "id"), err);
    return CELLAR_OK;
}

static cellar_status hear_open(void *context, cellar_xml *xml, const char *name, cellar_error *err)
{
    xml_reader *reader = context;
    const size_t depth = cellar_xml_depth(xml);
    if (depth == 1)
        return open_root(reader, xml, name, err);
    if (reader->code_depth > 0)
        return open_part(reader, xml, name, err);
    if (reader->list_depth == 0)
        return strcmp(name, reader->words->list) == 0 ? open_list(reader, xml, err) : CELLAR_OK;
    if (depth == reader->list_depth + 1 && strcmp(name, reader->words->code) == 0)
        return open_code(reader, xml, err);
    if (reader->is_read && strcmp(name, "CodelistExtension") == 0)
        return cellar_xml_fail(xml, err,
                               "expected all codes in the code list itself: it extends others, "
                               "which are not looked for");
    return CELLAR_OK;
}

static cellar_status hear_close(void *context, cellar_xml *xml, const char *name, cellar_error *err)
{
    xml_reader *reader = context;
    const size_t depth = cellar_xml_depth(xml);
    if (reader->code_depth > 0 && depth == reader->code_depth)
        return close_code(reader, xml, err);
    if (reader->code_depth > 0 && depth == reader->code_depth + 1) {
        if (strcmp(name, reader->words->label) == 0)
            return close_label(reader, xml, err);
        if (reader->words == &sdmx && strcmp(name, "Parent") == 0)
            return close_parent(reader, xml, err);
        if (reader->words == &ddi && strcmp(name, "catValu") == 0)
            return close_code_text(reader, xml, err);
    }
    if (depth == reader->list_depth)
        reader->list_depth = 0;
    return CELLAR_OK;
}

/* ---- the file ----------------------------------------------------------------- */

int cellar_codelist_is_xml(const char *bytes, size_t length)
{
    size_t at = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (length >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return 1; /* UTF-16, in which no other code list is written */
    while (at < length && strchr(" \t\r\n", bytes[at]) != NULL && bytes[at] != '\0')
        at++;
    return at < length && bytes[at] == '<';
}

/* One list was read, and there was no other to choose. */
static cellar_status check_choice(const xml_reader *reader, const char *file, cellar_error *err)
{
    const char *what = reader->words->what, *names = reader->names.bytes;
    if (reader->names.failed)
        return cellar_fail_memory(err, "a code list");
    if (reader->n_found == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: holds no %s with codes", file, what);
    if (reader->wanted == NULL && reader->n_found > 1)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: holds %zu %ss with codes: %s; choose one: %s#NAME", file,
                           reader->n_found, what, names, file);
    if (reader->wanted != NULL && reader->n_fitting == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: has no %s '%.100s'; expected one of %s",
                           file, what, reader->wanted, names);
    if (reader->list->n_codes == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the %s '%.100s' has no codes", file, what,
                           reader->wanted);
    return CELLAR_OK;
}

cellar_status cellar_codelist_parse_xml(const char *name, const char *bytes, size_t length,
                                        const char *wanted, cellar_codelist **out,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    xml_reader reader = {.wanted = wanted};
    const cellar_xml_handler handler = {hear_open, hear_close, &reader};

    *out = NULL;
    CELLAR_TRY(cellar_codelist_create_for_file(name, &reader.list, err));
    reader.list->names_codes = 1;
    reader.list->n_hierarchies = 1; /* so that codes have room for a parent */
    CELLAR_TRY(cellar_xml_parse(name, bytes, length, &handler, err));
    CELLAR_TRY(check_choice(&reader, name, err));
    reader.list->hierarchies[0] = "";
    reader.list->n_hierarchies = reader.has_parents ? 1 : 0;
    CELLAR_TRY(cellar_codelist_finish(reader.list, err));
    *out = reader.list;
    reader.list = NULL;
out:
    cellar_codelist_free(reader.list);
    cellar_text_clear(&reader.names);
    return status;
}
