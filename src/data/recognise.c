/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/recognise.h"

#include <string.h>

#include "base/error.h"

#define MAGIC(bytes) (bytes), sizeof(bytes) - 1

static const struct file_kind {
    const char *magic;
    size_t length;
    const char *what, *remedy;
} kinds[] = {
    {MAGIC("PK\003\004"), "a workbook (xlsx, ods) or another zip archive",
     "save the sheet as CSV and name that file"},
    {MAGIC("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "a workbook (xls)",
     "save the sheet as CSV and name that file"},
    {MAGIC("PAR1\x15"), "a Parquet file",
     "name the file itself, without a format: it is not read from a pipe"},
    {MAGIC("ARROW1\0\0"), "an Arrow or Feather file", "write its rows as CSV"},
    {MAGIC("SQLite format 3\0"), "an SQLite database", "export the rows as CSV"},
    {MAGIC("%PDF-"), "a PDF document", "name a CSV file"},
    {MAGIC("BZh91AY&SY"), "a file compressed by bzip2", "unpack it first; gzip is read as it is"},
    {MAGIC("\xfd"
           "7zXZ"),
     "a file compressed by xz", "unpack it first; gzip is read as it is"},
    {MAGIC("\x28\xb5\x2f\xfd"), "a file compressed by zstd",
     "unpack it first; gzip is read as it is"},
    {MAGIC("\x1f\x8b"), "a file compressed by gzip", "unpack it first"},
    {MAGIC("$FL2@(#)"), "an SPSS file", "give its name the ending .sav"},
    {MAGIC("$FL3@(#)"), "an SPSS file", "give its name the ending .zsav"},
    {MAGIC("<stata_dta>"), "a Stata file", "give its name the ending .dta"},
    {MAGIC("HEADER RECORD*******LIB"), "a SAS transport file", "give its name the ending .xpt"},
    {MAGIC("CELLARSTOR\r\n"), "a store of Cellar",
     "name the file itself, without a format: a store is mapped, not read from a pipe"},
    {MAGIC("CELLARCUBE\r\n"), "a cube of Cellar", "cellar cube table reads it"},
    {MAGIC("RDX2\nX\n"), "a file of R (RData)", "write the data frame with write.csv()"},
    {MAGIC("RDX3\nX\n"), "a file of R (RData)", "write the data frame with write.csv()"},
    {MAGIC("X\n\0\0\0"), "a file of R (rds)", "write the data frame with write.csv()"},
    {MAGIC("<?xml"), "XML", "write its rows as CSV"},
    {MAGIC("<html"), "a page of HTML", "name a CSV file"},
    {MAGIC("<!DOCTYPE"), "a page of HTML", "name a CSV file"},
    {MAGIC("\xff\xfe"), "text in UTF-16", "save it as UTF-8"},
    {MAGIC("\xfe\xff"), "text in UTF-16", "save it as UTF-8"},
};

cellar_status cellar_recognise_refuse(const char *name, const char *bytes, size_t length,
                                      cellar_error *err)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length >= kinds[i].length && memcmp(bytes, kinds[i].magic, kinds[i].length) == 0)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is %s; %s", name, kinds[i].what,
                               kinds[i].remedy);
    return CELLAR_OK;
}
