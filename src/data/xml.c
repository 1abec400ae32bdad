/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/xml.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { XML_PIECE = 1 << 20 }; /* bytes that are handed over at once */

struct cellar_xml {
    const char *name;
    XML_Parser parser;
    const cellar_xml_handler *handler;
    size_t depth;
    const XML_Char **attributes; /* of the element that is opened */
    int is_gathering;
    cellar_text text;
    cellar_status status;
    cellar_error *err;
};

/* From version 2.9 on Expat counts in 64 bits by other names, and calls these deprecated. */
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
#define XML_GetCurrentLineNumber64 XML_GetCurrentLineNumber
#define XML_GetCurrentColumnNumber64 XML_GetCurrentColumnNumber
#endif

size_t cellar_xml_depth(const cellar_xml *xml)
{
    return xml->depth;
}

uint64_t cellar_xml_line(const cellar_xml *xml)
{
    return (uint64_t) XML_GetCurrentLineNumber64(xml->parser);
}

cellar_status cellar_xml_fail(const cellar_xml *xml, cellar_error *err, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%llu:%llu: %s", xml->name,
                       (unsigned long long) cellar_xml_line(xml),
                       (unsigned long long) XML_GetCurrentColumnNumber64(xml->parser) + 1, what);
}

/* What stands after the namespace. */
static const char *local_name(const char *name)
{
    const char *bar = strrchr(name, '|');
    return bar != NULL ? bar + 1 : name;
}

const char *cellar_xml_attribute(const cellar_xml *xml, const char *name)
{
    for (const XML_Char **at = xml->attributes; at != NULL && *at != NULL; at += 2)
        if (strcmp(local_name(at[0]), name) == 0)
            return at[1];
    return NULL;
}

/* ---- text --------------------------------------------------------------------- */

void cellar_xml_gather(cellar_xml *xml)
{
    cellar_text_reset(&xml->text);
    xml->is_gathering = 1;
}

const char *cellar_xml_text(const cellar_xml *xml)
{
    return xml->text.length > 0 ? xml->text.bytes : "";
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Blanks at the end are taken away when the element is closed. */
static void add_words(cellar_text *text, const char *words, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const int blank = is_blank(words[i]);
        if (blank && (text->length == 0 || text->bytes[text->length - 1] == ' '))
            continue;
        cellar_text_add_char(text, blank ? ' ' : words[i]);
    }
}

static void end_text(cellar_xml *xml)
{
    cellar_text *text = &xml->text;
    if (text->length > 0 && text->bytes[text->length - 1] == ' ')
        text->bytes[--text->length] = '\0';
}

/* ---- events ------------------------------------------------------------------- */

/* Keeps the first failure: expat reports one more event of an empty element after it was stopped.
 */
static void stop(cellar_xml *xml, cellar_status status)
{
    if (xml->status == CELLAR_OK)
        xml->status = status;
    XML_StopParser(xml->parser, XML_FALSE);
}

static void hear_open(void *context, const XML_Char *name, const XML_Char **attributes)
{
    cellar_xml *xml = context;
    cellar_status status;
    if (xml->status != CELLAR_OK)
        return;
    if (++xml->depth > CELLAR_XML_MAX_DEPTH) {
        stop(xml, cellar_xml_fail(xml, xml->err, "elements lie more than %d deep in each other",
                                  CELLAR_XML_MAX_DEPTH));
        return;
    }
    xml->attributes = attributes;
    status = xml->handler->open(xml->handler->context, xml, local_name(name), xml->err);
    xml->attributes = NULL;
    if (status != CELLAR_OK)
        stop(xml, status);
}

static void hear_close(void *context, const XML_Char *name)
{
    cellar_xml *xml = context;
    cellar_status status;
    if (xml->status != CELLAR_OK)
        return;
    end_text(xml);
    status = xml->handler->close(xml->handler->context, xml, local_name(name), xml->err);
    if (status != CELLAR_OK)
        stop(xml, status);
    xml->depth--;
}

static void hear_text(void *context, const XML_Char *words, int length)
{
    cellar_xml *xml = context;
    if (xml->status != CELLAR_OK || !xml->is_gathering)
        return;
    add_words(&xml->text, words, (size_t) length);
    if (xml->text.failed)
        stop(xml, cellar_fail_memory(xml->err, "an XML file"));
    else if (xml->text.length > CELLAR_XML_MAX_TEXT)
        stop(xml,
             cellar_xml_fail(xml, xml->err, "a text is longer than %d bytes", CELLAR_XML_MAX_TEXT));
}

static void hear_doctype(void *context, const XML_Char *name, const XML_Char *system_id,
                         const XML_Char *public_id, int has_internal)
{
    cellar_xml *xml = context;
    (void) name;
    (void) system_id;
    (void) public_id;
    (void) has_internal;
    stop(xml, cellar_xml_fail(xml, xml->err,
                              "a document type declaration (<!DOCTYPE) is not read, because it may "
                              "bring in other files; take it out"));
}

/* ---- reading ------------------------------------------------------------------ */

static void *xml_alloc(size_t size)
{
    return cellar_alloc(size, 1);
}

static void *xml_realloc(void *old, size_t size)
{
    return cellar_realloc(old, size, 1);
}

static cellar_status fail_damaged(const cellar_xml *xml, cellar_error *err)
{
    const enum XML_Error error = XML_GetErrorCode(xml->parser);
    if (xml->status != CELLAR_OK)
        return xml->status;
    if (error == XML_ERROR_NO_MEMORY)
        return cellar_fail_memory(err, "an XML file");
    return cellar_xml_fail(xml, err, "expected well-formed XML, and found: %s",
                           XML_ErrorString(error));
}

cellar_status cellar_xml_parse(const char *name, const char *bytes, size_t length,
                               const cellar_xml_handler *handler, cellar_error *err)
{
    static const XML_Memory_Handling_Suite memory = {xml_alloc, xml_realloc, cellar_free};
    cellar_xml xml = {.name = name, .handler = handler, .err = err};
    cellar_status status = CELLAR_OK;
    size_t n;

    xml.parser = XML_ParserCreate_MM(NULL, &memory, "|");
    if (xml.parser == NULL)
        return cellar_fail_memory(err, "an XML file");
    XML_SetUserData(xml.parser, &xml);
    XML_SetElementHandler(xml.parser, hear_open, hear_close);
    XML_SetCharacterDataHandler(xml.parser, hear_text);
    XML_SetStartDoctypeDeclHandler(xml.parser, hear_doctype);
    do {
        n = length < XML_PIECE ? length : XML_PIECE;
        if (XML_Parse(xml.parser, bytes, (int) n, n == length) != XML_STATUS_OK)
            status = fail_damaged(&xml, err);
        bytes += n;
        length -= n;
    } while (status == CELLAR_OK && length > 0);
    XML_ParserFree(xml.parser);
    cellar_text_clear(&xml.text);
    return status;
}
