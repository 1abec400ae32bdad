/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/statfile.h"

const char *cellar_statfile_kind(cellar_data_format format)
{
    switch (format) {
    case CELLAR_DATA_SAV:
        return "an SPSS file";
    case CELLAR_DATA_POR:
        return "an SPSS portable file";
    case CELLAR_DATA_DTA:
        return "a Stata file";
    case CELLAR_DATA_SAS:
        return "a SAS file";
    case CELLAR_DATA_XPT:
        return "a SAS transport file";
    default:
        return "an SPSS, Stata or SAS file";
    }
}
