/* SPDX-License-Identifier: GPL-3.0-or-later */
/* XML from people one does not know, element by element. A document type declaration is refused, so
 * that no entity is ever expanded and no other file is ever read. */
#ifndef CELLAR_DATA_XML_H
#define CELLAR_DATA_XML_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

#include "base/text.h"

/* What a file can make us hold at once. */
enum { CELLAR_XML_MAX_DEPTH = 64, CELLAR_XML_MAX_TEXT = 1 << 16 };

typedef struct cellar_xml cellar_xml;

/* Both hear names without their namespace. What they answer ends the reading unless it is
 * CELLAR_OK. */
typedef struct cellar_xml_handler {
    cellar_status (*open)(void *context, cellar_xml *xml, const char *name, cellar_error *err);
    cellar_status (*close)(void *context, cellar_xml *xml, const char *name, cellar_error *err);
    void *context;
} cellar_xml_handler;

/* `name` stands for the file in messages. */
cellar_status cellar_xml_parse(const char *name, const char *bytes, size_t length,
                               const cellar_xml_handler *handler, cellar_error *err);

/* How many elements are open, the one that is opened or closed included. */
size_t cellar_xml_depth(const cellar_xml *xml);
uint64_t cellar_xml_line(const cellar_xml *xml);
/* While an element is opened: the value of an attribute, NULL where there is none. "lang" is also
 * xml:lang. */
const char *cellar_xml_attribute(const cellar_xml *xml, const char *name);
/* Asked for when an element is opened, the text in it and in what it holds is there when it is
 * closed: without blanks at either end, and with one where there are several. */
void cellar_xml_gather(cellar_xml *xml);
/* Never NULL. */
const char *cellar_xml_text(const cellar_xml *xml);
/* "FILE:LINE:COLUMN: WHAT". */
cellar_status cellar_xml_fail(const cellar_xml *xml, cellar_error *err, const char *format, ...)
    CELLAR_PRINTF(3, 4);

#endif
