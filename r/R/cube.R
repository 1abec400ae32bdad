# SPDX-License-Identifier: GPL-3.0-or-later
# Cubes: every table of a universe, from one measurement. A cube is public.

cube <- function(path, verify = FALSE) {
  handle <- ask(.Call(C_open_cube, path_of(path), as.logical(flag(verify, "verify"))))
  structure(list(path = path, handle = handle), class = "cellar_cube")
}

need_cube <- function(x) {
  if (!inherits(x, "cellar_cube")) refuse("expected a cube, which cube() opens")
  x$handle
}

cube_facts <- function(x) ask(.Call(C_cube_facts, need_cube(x)))

print.cellar_cube <- function(x, ...) {
  facts <- cube_facts(x)
  cat("Cube of ", paste(facts$variables, collapse = ", "), ": ", length(facts$tables$name), " tables, ",
      sum(!is.na(facts$tables$mechanism)), " of them measured\n", sep = "")
  invisible(x)
}

summary.cellar_cube <- function(object, ...) list2frame(cube_facts(object)$tables)
as.data.frame.cellar_cube <- function(x, ...) summary(x)

cube_table <- function(cube, by = character(), level = NULL, only = NULL, group = NULL, margins = FALSE, whole = FALSE,
                       confidence = NULL, simultaneous = FALSE) {
  handle <- need_cube(cube)
  by <- if (inherits(by, "formula")) all.vars(by) else texts(by, "by")
  if (!is.null(confidence)) number(confidence, "confidence")
  for (given in list(level, only, group)) {
    if (!is.null(given) && !is.list(given) && !is.numeric(given) && !is.character(given))
      refuse("levels, categories and groups are lists by variable, such as list(region = 1)")
    unknown <- setdiff(names(given), by)
    if (length(given) && (is.null(names(given)) || length(unknown)))
      refuse("levels, categories and groups are by variable, such as list(region = 1): '", unknown[1], "' is none of `by`")
  }
  level <- as.list(level)
  only <- as.list(only)
  group <- as.list(group)
  sides <- lapply(by, function(v) {
    list(variable = v, level = if (!is.null(level[[v]])) whole(level[[v]], "level"),
         only = if (!is.null(only[[v]])) as.character(only[[v]]),
         groups = if (!is.null(group[[v]])) lapply(group[[v]], as.character))
  })
  found <- ask(.Call(C_cube_table, handle, list(
    sides = sides, margins = flag(margins, "margins"), whole = as.integer(isTRUE(whole)), confidence = confidence,
    simultaneous = flag(simultaneous, "simultaneous"))))
  estimate <- new_estimate(found$estimate)
  if (is.null(confidence)) return(estimate)
  cbind(as.data.frame(estimate), low = estimate$estimate - found$half_widths, high = estimate$estimate + found$half_widths)
}

infer_cube <- function(cube, of, comparison, other, confidence) {
  handle <- need_cube(cube)
  options <- list(comparison = comparison, other = other, confidence = confidence)
  bind_findings(of, lapply(of, function(one) ask(.Call(C_cube_interval, handle, c(options, list(of = one))))))
}

plot.cellar_cube <- function(x, ...) {
  tables <- summary(x)
  plot(tables$cells, tables$sd, log = "x", xlab = "cells of the table", ylab = "standard deviation of a cell", ...)
  invisible(x)
}

# ---- from a plan with a universe -----------------------------------------------------------------------------------

cube_plan <- function(path) {
  found <- ask(.Call(C_cube_plan, path_of(path), FALSE, list()))
  found$tables <- list2frame(found$tables)
  structure(found[c("tables", "measured", "verdict", "loss_to_bound", "file")], class = "cellar_cube_plan")
}

print.cellar_cube_plan <- function(x, ...) {
  cat(nrow(x$tables), " tables, of which ", x$measured, " are measured; certificate: ", x$verdict,
      if (is.finite(x$loss_to_bound)) paste0("; loss ", format(x$loss_to_bound, digits = 4), " times a lower bound"), "\n", sep = "")
  print(x$tables, row.names = FALSE, ...)
  invisible(x)
}

as.data.frame.cellar_cube_plan <- function(x, ...) x$tables

cube_build <- function(path, date = NULL, threads = 0) {
  found <- ask(.Call(C_cube_plan, path_of(path), TRUE, list(date = day(date, "date"),
                                                            threads = whole(threads, "threads"))))
  built <- cube(found$file)
  built$new <- found$new
  built$stamp <- found$stamp
  built
}
