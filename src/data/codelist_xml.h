/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists out of the XML of others: structure messages of SDMX-ML 2.1 and 3.0, code books of DDI
 * Codebook 2.5. A file may hold many; one is chosen by its name. */
#ifndef CELLAR_DATA_CODELIST_XML_H
#define CELLAR_DATA_CODELIST_XML_H

#include <cellar/codelist.h>

/* 1 when the bytes begin like XML. */
int cellar_codelist_is_xml(const char *bytes, size_t length);

/* `wanted` is the id of a Codelist ("CL_AREA", or "SDMX:CL_AREA(2.1)"), the name or id of a
 * variable, or NULL for the only one there is. */
cellar_status cellar_codelist_parse_xml(const char *name, const char *bytes, size_t length,
                                        const char *wanted, cellar_codelist **out,
                                        cellar_error *err);

#endif
