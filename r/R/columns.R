# SPDX-License-Identifier: GPL-3.0-or-later
# Columns of a data frame as frame.c reads them: factors by their codes, characters and numbers as they are.

# Values as the same column of a CSV file would have them.
column_of <- function(name, values) {
  column <- list(name = name, values = values)
  if (is.factor(values)) {
    column$levels <- levels(values)
    column$first <- 1
  } else if (inherits(values, "haven_labelled")) {
    column <- labelled_column(column)
  } else if (inherits(values, "integer64")) {
    column$is_long <- 1
  } else if (is.logical(values)) {
    column$levels <- c("FALSE", "TRUE")
    column$first <- 0
  } else if (inherits(values, c("Date", "POSIXt"))) {
    column$values <- as.character(values)
  } else if (!is.null(dim(values)) && length(dim(values)) > 1 || !is.character(values) && !is.numeric(values)) {
    refuse("column '", name, "' holds ", class(values)[1], ": make it a column of texts, factors or numbers")
  }
  column
}

# haven's labelled columns count by their values, as the SPSS or Stata file would; declared missing values are missing.
labelled_column <- function(column) {
  values <- column$values
  bare <- unclass(values)
  missing <- rep(FALSE, length(bare))
  user <- attr(values, "na_values")
  range <- attr(values, "na_range")
  if (!is.null(user)) missing <- missing | bare %in% user
  if (!is.null(range)) missing <- missing | !is.na(bare) & bare >= range[1] & bare <= range[2]
  if (any(missing)) column$missing_at <- missing
  column
}

# The columns that are needed, and no other: those named, and those that a condition may be about.
columns_of <- function(data, used, where) {
  if (anyDuplicated(names(data))) refuse("the data frame has two columns '", names(data)[anyDuplicated(names(data))], "'")
  absent <- setdiff(used, names(data))
  if (length(absent)) refuse("the data frame has no column '", absent[1], "'")
  asked <- names(data)[vapply(names(data), function(name) any(grepl(name, where, fixed = TRUE, useBytes = TRUE)), NA)]
  wanted <- union(used, asked)
  # the library refuses data that look counted already by the names of all columns
  bare <- lapply(setdiff(names(data), wanted), function(name) list(name = name, values = data[[name]]))
  bare <- Filter(function(column) is.numeric(column$values) && !is.object(column$values), bare)
  c(lapply(wanted, function(name) column_of(name, data[[name]])), bare)
}
