# SPDX-License-Identifier: GPL-3.0-or-later
# From data frames and files to true tables.

tabulate <- function(data, ...) UseMethod("tabulate")

# base's function of that name counts whole numbers; attached packages should not take it away
tabulate.default <- function(data, ...) {
  if (!is.numeric(data) && !is.factor(data) || length(setdiff(names(list(...)), c("", "nbins")))) refuse("`data` is a data frame, the path of a file, or a connection of DBI")
  base::tabulate(data, ...)
}

tabulate.data.frame <- function(data, by = NULL, codelists = NULL, ..., margins = NULL, dimVar = NULL, freqVar = NULL,
                                hierarchies = NULL, recodes = NULL, where = character(), missing = character(),
                                missing_as = NULL, weight = NULL, max_weight = 0, unit = NULL, max_per_unit = 0,
                                record_key = NULL, record_id = NULL, key = NULL, key_range = 0,
                                rows_are_records = FALSE, domain_public = FALSE, structural_zeros = NULL,
                                threads = 0) {
  no_dots(...)
  spec <- tabulation(by, codelists, margins, dimVar, freqVar, hierarchies, recodes, where, missing, missing_as, weight,
                     max_weight, unit, max_per_unit, record_key, record_id, key, key_range, rows_are_records,
                     domain_public, structural_zeros, threads)
  beside <- c(spec$weight, spec$unit, spec$record_key, spec$record_id, spec$count)
  used <- unique(c(vapply(spec$variables, function(v) v$column, ""), beside))
  new_table(if (inherits(data, "nanoarrow_array_stream")) .Call(C_tabulate_stream, spec, data)
            else .Call(C_tabulate_frame, spec, columns_of(data, used, spec$where), as.numeric(nrow(data))))
}

# Arrow: a stream of nanoarrow's, and tables, readers and datasets of the package arrow. Whoever has one of these has
# loaded that package. A stream can be read once.
tabulate.nanoarrow_array_stream <- function(data, by = NULL, ...) tabulate.data.frame(data, by, ...)

tabulate.ArrowObject <- function(data, by = NULL, ...) {
  stream <- .Call(C_new_stream)
  asNamespace("arrow")$as_record_batch_reader(data)$export_to_c(stream)
  tabulate.data.frame(stream, by, ...)
}

tabulate.arrow_dplyr_query <- tabulate.ArrowObject

tabulate.character <- function(data, by = NULL, codelists = NULL, ..., margins = NULL, dimVar = NULL, freqVar = NULL,
                               hierarchies = NULL, recodes = NULL, where = character(), missing = character(),
                               missing_as = NULL, weight = NULL, max_weight = 0, unit = NULL, max_per_unit = 0,
                               record_key = NULL, record_id = NULL, key = NULL, key_range = 0,
                               rows_are_records = FALSE, domain_public = FALSE, structural_zeros = NULL, threads = 0,
                               delimiter = NULL, encoding = NULL) {
  no_dots(...)
  if (length(data) != 1) refuse("`data` is a data frame, or the path of one file")
  spec <- tabulation(by, codelists, margins, dimVar, freqVar, hierarchies, recodes, where, missing, missing_as, weight,
                     max_weight, unit, max_per_unit, record_key, record_id, key, key_range, rows_are_records,
                     domain_public, structural_zeros, threads)
  spec$path <- path_of(data, "data")
  spec$delimiter <- text(delimiter, "delimiter")
  if (!is.null(delimiter) && nchar(delimiter, "bytes") != 1) refuse("`delimiter` is one character, such as \";\" or \"\\t\"")
  if (!is.null(encoding)) spec$encoding <- place_of(encoding, "encoding", ENCODINGS)
  new_table(.Call(C_tabulate_file, spec))
}

no_dots <- function(...) {
  if (...length() == 0) return(invisible())
  given <- names(list(...))
  refuse("tabulate() has no argument ", if (is.null(given) || !nzchar(given[1])) "after `codelists` that goes without its name"
         else paste0("'", given[1], "'"))
}

# What to count, as tabulate.c reads it.
tabulation <- function(by, codelists, margins = NULL, dimVar = NULL, freqVar = NULL, hierarchies = NULL, recodes = NULL,
                       where = character(), missing = character(), missing_as = NULL, weight = NULL, max_weight = 0,
                       unit = NULL, max_per_unit = 0, record_key = NULL, record_id = NULL, key = NULL, key_range = 0,
                       rows_are_records = FALSE, domain_public = FALSE, structural_zeros = NULL, threads = 0) {
  if (!is.null(dimVar)) {
    if (!is.null(by)) refuse("say which variables by `by` or by `dimVar`, not by both")
    by <- texts(dimVar, "dimVar")
    if (is.null(margins)) margins <- "all"
  }
  if (is.null(by)) refuse("say which variables: a formula such as ~ region * sex, or names of columns")
  asked <- read_by(by, margins)
  if (!is.null(freqVar)) asked$count <- text(freqVar, "freqVar")
  lists <- read_lists(asked$variables, codelists, hierarchies)
  if (!is.null(recodes) && (!is.list(recodes) || is.null(names(recodes))))
    refuse("`recodes` is a named list of recode(): list(age = recode(band = 5))")
  variables <- lapply(asked$variables, variable_of, recodes = recodes, lists = lists$codelists,
                      domain_public = flag(domain_public, "domain_public"))
  if (is.null(unit) != identical(whole(max_per_unit, "max_per_unit"), 0)) refuse("`unit` and `max_per_unit`, how many records of a unit count, go together")
  unknown <- setdiff(names(recodes), asked$variables)
  if (length(unknown)) refuse("`recodes` names '", unknown[1], "', which is no variable of the table")
  c(list(variables = variables, hierarchies = lists$inner_nodes, count = asked$count, where = texts(where, "where"),
         missing = texts(missing, "missing"), missing_as = missing_code(missing_as), weight = text(weight, "weight"),
         max_weight = whole(max_weight, "max_weight"), unit = text(unit, "unit"),
         max_per_unit = whole(max_per_unit, "max_per_unit"), record_key = text(record_key, "record_key"),
         record_id = text(record_id, "record_id"), key = need_key(key), key_range = whole(key_range, "key_range"),
         rows_are_records = flag(rows_are_records, "rows_are_records"),
         structural_zeros = path_of(structural_zeros, "structural_zeros"), threads = whole(threads, "threads")),
    read_margins(asked$margins, asked$variables))
}

# Code lists by variable, and the sum of 2^position of those whose inner nodes are counted, too.
read_lists <- function(variables, codelists, hierarchies) {
  for (given in list(codelists, hierarchies)) {
    if (is.null(given)) next
    if (!is.list(given) || is.null(names(given))) refuse("code lists and hierarchies are named lists: list(region = \"region.csv\")")
    unknown <- setdiff(names(given), variables)
    if (length(unknown)) refuse("a code list is for '", unknown[1], "', which is no variable of the table")
  }
  both <- intersect(names(codelists), names(hierarchies))
  if (length(both)) refuse("'", both[1], "' has a code list and a hierarchy: give one of them")
  # "Total" alone, as SSBtools has it: no more than the margin
  named <- vapply(hierarchies, function(h) is.character(h) && length(h) == 1 && !file.exists(h), NA)
  hierarchies <- hierarchies[!named]
  lists <- c(codelists, hierarchies)
  list(codelists = Map(codelist_of, lists, names(lists)),
       inner_nodes = sum(2^(match(names(hierarchies), variables) - 1)))
}

variable_of <- function(name, recodes, lists, domain_public) {
  how <- recodes[[name]]
  if (is.null(how)) how <- recode()
  if (!inherits(how, "cellar_recode")) refuse("`recodes` is a named list of recode(): list(age = recode(band = 5))")
  how <- unclass(how)
  how$name <- name
  if (is.null(how$column)) how$column <- name
  how$map <- recode_map(how$map, name)
  how$codelist <- lists[[name]]
  how$domain_public <- domain_public
  how
}

# ---- tables ---------------------------------------------------------------------------------------------------

new_table <- function(answer) {
  handle <- ask(answer)
  class(handle) <- "cellar_table"
  handle
}

read_table <- function(path) new_table(.Call(C_read_table, path_of(path)))

write_table <- function(table, path, zeros = FALSE, replace = FALSE) {
  ask(.Call(C_write_table, need_table(table), path_of(path),
            list(zeros = flag(zeros, "zeros"), replace = flag(replace, "replace"))))
  invisible(table)
}

merge_tables <- function(...) {
  tables <- list(...)
  if (length(tables) == 1 && is.list(tables[[1]])) tables <- tables[[1]]
  new_table(.Call(C_merge_tables, unname(lapply(tables, need_table))))
}

true_counts <- function(table) {
  cells <- ask(.Call(C_true_counts, need_table(table)))
  names(cells) <- c(vapply(shape_of(table), function(v) v$name, ""), "count", "weighted")[seq_along(cells)]
  list2frame(cells)
}

row_report <- function(table) {
  report <- .Call(C_row_report, need_table(table))
  if (is.null(report)) return(NULL)
  counts <- unlist(report)
  if (all(counts <= .Machine$integer.max)) storage.mode(counts) <- "integer" # R prints 100000 as 1e+05
  counts
}

list2frame <- function(columns) {
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns[[1]])))
}

shape_of <- function(table) .Call(C_table_shape, need_table(table))

# "region (3) x sex (2)"
shape_text <- function(variables) {
  paste0(vapply(variables, function(v) v$name, ""), " (", vapply(variables, function(v) length(v$codes), 0L), ")",
         collapse = " x ")
}

format.cellar_table <- function(x, ...) {
  shape <- tryCatch(shape_text(shape_of(x)), error = conditionMessage)
  paste0("<true table: ", shape, "; confidential, no count is shown>")
}

print.cellar_table <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

str.cellar_table <- function(object, ...) cat("", format(object), "\n")

summary.cellar_table <- function(object, ...) {
  variables <- shape_of(object)
  list2frame(list(variable = vapply(variables, function(v) v$name, ""),
                  categories = vapply(variables, function(v) length(v$codes), 0L),
                  domain = vapply(variables, function(v) v$domain, "")))
}

as.data.frame.cellar_table <- function(x, ...) {
  refuse("a true table is confidential: true_counts() takes its counts out, protect() makes a release of it")
}
