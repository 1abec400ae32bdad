# SPDX-License-Identifier: GPL-3.0-or-later
# server_rsdmx.R URL CSV: rsdmx reads dataflows, a structure and data; every value must be that of the CSV.
if (!requireNamespace("rsdmx", quietly = TRUE)) quit(status = 77)
suppressMessages(library(rsdmx))
arguments <- commandArgs(trailingOnly = TRUE)
url <- paste0(arguments[1], "/sdmx")
want <- read.csv(arguments[2])
provider <- SDMXServiceProvider(agencyId = "CELLAR", name = "Cellar",
    builder = SDMXREST21RequestBuilder(regUrl = url, repoUrl = url, compliant = TRUE))
invisible(addSDMXServiceProvider(provider))
read <- function(...) readSDMX(providerId = "CELLAR", ..., logger = NULL)
flows <- as.data.frame(read(resource = "dataflow"))
stopifnot("country" %in% flows$id)
lists <- slot(read(resource = "datastructure", resourceId = "country"), "codelists")
stopifnot("Mainland" %in% as.data.frame(lists, codelistId = "CL_country_region")$id)
got <- as.data.frame(read(resource = "data", flowRef = "country", key = "._T.._T._T.count+se", key.mode = "SDMX",
    dsd = TRUE), labels = TRUE)
stopifnot("Harbour and its suburbs" %in% got$region_label.en)
for (pair in list(c("count", "estimate"), c("se", "se"))) {
    both <- merge(got[got$ContentsCode == pair[1], c("region", "age", "obsValue")], want, by = c("region", "age"))
    stopifnot(nrow(both) == nrow(want), both$obsValue == both[[pair[2]]])
}
cat(2 * nrow(want), "values equal\n")
