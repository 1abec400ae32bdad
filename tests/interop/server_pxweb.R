# SPDX-License-Identifier: GPL-3.0-or-later
# server_pxweb.R URL CSV: R's pxweb reads levels, metadata and data of PxWebApi 1; every value must be that of the CSV.
source_folder <- Sys.getenv("PXWEB_SOURCE")
if (source_folder != "" && all(sapply(c("httr", "checkmate", "jsonlite", "digest"), requireNamespace, quietly = TRUE))) {
    for (file in list.files(file.path(source_folder, "R"), full.names = TRUE)) source(file)
} else if (requireNamespace("pxweb", quietly = TRUE)) {
    suppressMessages(library(pxweb))
} else quit(status = 77)
arguments <- commandArgs(trailingOnly = TRUE)
root <- paste0(arguments[1], "/api/v1/en")
want <- read.csv(arguments[2])
stopifnot(pxweb_get(root)[[1]]$id == "tables", pxweb_get(file.path(root, "tables"))[[1]]$id == "country")
table <- file.path(root, "tables", "country")
metadata <- pxweb_get(table)
stopifnot("ContentsCode" %in% sapply(metadata$variables, function(variable) variable$code))
data <- pxweb_get(table, list(region = "*", age = "*", ContentsCode = c("count", "se"), period = "2026"))
got <- as.data.frame(data, column.name.type = "code", variable.value.type = "code")
both <- merge(got, want, by = c("region", "age"))
stopifnot(nrow(both) == nrow(want), both$count == both$estimate, both$se.x == both$se.y)
stopifnot(grepl("Certificate", as.data.frame(pxweb_data_comments(data))$comment[2]))
cat(2 * nrow(want), "values equal\n")
