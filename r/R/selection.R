# SPDX-License-Identifier: GPL-3.0-or-later
# Which columns to publish together, and which values to redact, so that few people stand out. Confidential.

select_columns <- function(table, variables = NULL, k, exposure, measure = "known", population = 0, tolerance = 0,
                           weights = NULL, must = NULL, must_not = NULL, runners_up = 3, threads = 0) {
  names <- variables_of(table, variables)
  all <- stats::setNames(rep(1, length(names)), names)
  if (!is.null(weights) && (!is.numeric(weights) || is.null(names(weights)) || anyNA(weights)))
    refuse("`weights` are numbers by variable: c(age = 2)")
  unknown <- setdiff(c(names(weights), texts(must, "must"), texts(must_not, "must_not")), names)
  if (length(unknown)) refuse("'", unknown[1], "' is not among the variables")
  all[names(weights)] <- as.numeric(weights)
  mask <- function(chosen) sum(2^(match(unique(chosen), names) - 1))
  found <- ask(.Call(C_select_columns, table, list(
    variables = names, k = whole(k, "k"), exposure = share(exposure, "exposure"),
    measure = place_of(measure, "measure", MEASURED), population = whole(population, "population"),
    tolerance = tolerance, weights = unname(all), must = mask(must), must_not = mask(must_not),
    runners_up = whole(runners_up, "runners_up"), threads = whole(threads, "threads"))))
  members <- matrix(found$members, length(found$weight), length(names), dimnames = list(NULL, names))
  columns <- apply(members, 1, function(row) paste(names[row], collapse = ","))
  out <- assessment(data.frame(columns = as.character(columns), weight = found$weight, exposure = found$exposure),
                    "Columns to publish together")
  attr(out, "additions") <- stats::setNames(found$additions, names)[!is.na(found$additions)]
  attr(out, "gap") <- found$gap
  out
}

suppress_values <- function(table, variables = NULL, k, exposure, hide) {
  names <- variables_of(table, variables)
  found <- ask(.Call(C_suppress_values, table, list(variables = names, k = whole(k, "k"),
                                                    exposure = share(exposure, "exposure"), hide = share(hide, "hide"))))
  out <- assessment(list2frame(found[c("column", "value")]), "Values to redact")
  attr(out, "chances") <- stats::setNames(found$chances, names)
  attr(out, "exposure") <- stats::setNames(found$numbers[1:3], c("before", "after_rules", "after"))
  attr(out, "lost") <- stats::setNames(found$numbers[4:5], c("rules", "chance"))
  attr(out, "met") <- found$met
  out
}

MEASURED <- c("known", "bounded", "estimated", "independent")

variables_of <- function(table, variables) {
  all <- vapply(shape_of(need_table(table)), function(v) v$name, "")
  if (is.null(variables)) all else texts(variables, "variables")
}

share <- function(value, name) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) refuse("`", name, "` is a share of 0 to 1")
  as.numeric(value)
}
