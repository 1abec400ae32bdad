# SPDX-License-Identifier: GPL-3.0-or-later
# Which variables and margins a formula asks for.

# Variables, margins (positions that are kept) and the column of counts of `by`: a formula or names of columns.
read_by <- function(by, margins) {
  if (inherits(by, "formula")) {
    asked <- read_formula(by)
    if (!is.null(margins)) asked$margins <- margins
    return(asked)
  }
  by <- texts(by, "by")
  if (length(by) == 0) refuse("`by` names the variables of the table: a formula such as ~ region * sex, or names of columns")
  if (anyDuplicated(by)) refuse("`by` names '", by[anyDuplicated(by)], "' twice")
  list(variables = by, margins = if (is.null(margins)) "none" else margins, count = NULL)
}

read_formula <- function(by) {
  parsed <- tryCatch(terms(by), error = function(e) refuse("the formula cannot be read: ", conditionMessage(e)))
  symbols <- as.list(attr(parsed, "variables"))[-1]
  plain <- vapply(symbols, is.name, NA)
  if (!all(plain))
    refuse("the formula computes '", deparse(symbols[[which(!plain)[1]]]), "': name columns, and recode them by `recodes`")
  names <- vapply(symbols, as.character, "")
  factors <- attr(parsed, "factors") > 0
  response <- attr(parsed, "response")
  kept <- if (response > 0) seq_along(names)[-response] else seq_along(names)
  if (length(kept) == 0 || length(factors) == 0) refuse("the formula names no variable: write ~ region * sex")
  factors <- factors[kept, , drop = FALSE]
  if (!any(colSums(factors) == length(kept)))
    refuse("the formula has no term of all its variables (", paste(names[kept], collapse = ":"),
           "); a table always has its inner cells: write ~ ", paste(names[kept], collapse = " * "))
  margins <- lapply(seq_len(ncol(factors)), function(term) which(unname(factors[, term])))
  margins <- margins[lengths(margins) < length(kept)]
  if (attr(parsed, "intercept") == 1) margins <- c(margins, list(integer()))
  list(variables = names[kept], margins = margins, count = if (response > 0) names[response])
}

# As the library reads them: all of them, or positions.
read_margins <- function(margins, variables) {
  if (is.character(margins) && length(margins) == 1 && margins %in% c("none", "all"))
    return(list(all_margins = as.integer(margins == "all"), margins = NULL))
  if (is.character(margins)) margins <- list(margins)
  if (!is.list(margins)) refuse("`margins` is \"none\", \"all\", or a list of the variables that each margin keeps")
  positions <- lapply(margins, function(margin) {
    if (is.numeric(margin)) margin <- variables[match(margin, seq_along(variables))]
    unknown <- setdiff(margin, variables)
    if (length(unknown)) refuse("margins name '", unknown[1], "', which is no variable of the table")
    match(margin, variables)
  })
  all <- length(variables) <= 20 && length(unique(lapply(positions, sort))) == 2^length(variables) - 1
  list(all_margins = as.integer(all), margins = if (!all && length(positions)) positions)
}
