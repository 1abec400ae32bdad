# SPDX-License-Identifier: GPL-3.0-or-later
# Plans: tables that are released together.

plan <- function(path) {
  found <- ask(.Call(C_plan, path_of(path)))
  structure(c(list(path = path), found), class = "cellar_plan")
}

print.cellar_plan <- function(x, ...) {
  cat("Plan ", x$path, if (!is.na(x$title)) paste0(": ", x$title), "\n", sep = "")
  if (length(x$tables)) cat("tables: ", paste(x$tables, collapse = ", "), "\n", sep = "")
  if (!is.na(x$cube)) cat("cube: ", x$cube, "\n", sep = "")
  invisible(x)
}

summary.cellar_plan <- function(object, ...) plan_check(object, ...)

plan_path <- function(x) path_of(if (inherits(x, "cellar_plan")) x$path else x, "plan")

plan_check <- function(plan, without_counts = FALSE, threads = 0) {
  found <- ask(.Call(C_plan_check, plan_path(plan), list(without_counts = flag(without_counts, "without_counts"),
                                                         threads = whole(threads, "threads"))))
  found$margins <- list2frame(found$margins)
  structure(found, class = "cellar_plan_check")
}

print.cellar_plan_check <- function(x, ...) {
  if (x$confidential) cat("Computed from true counts, confidential\n")
  cat("a record touches ", x$cells_per_record, " cells; certificate of all tables together: ", x$verdict,
      if (is.finite(x$pure_epsilon)) paste0(", epsilon ", format(x$pure_epsilon)), "\n", sep = "")
  print(x$margins, row.names = FALSE, ...)
  writeLines(c(if (length(x$refusals)) paste("refused:", x$refusals), x$remarks))
  invisible(x)
}

as.data.frame.cellar_plan_check <- function(x, ...) x$margins

plan_compare <- function(plan, threads = 0) {
  found <- ask(.Call(C_plan_compare, plan_path(plan), list(threads = whole(threads, "threads"))))
  targets <- list2frame(found[c("table", "margin", "cells", "weight")])
  sd <- matrix(found$sd, nrow(targets), length(found$name), dimnames = list(NULL, found$name))
  structure(list(budget = found$budget, unit = found$unit, targets = targets,
                 strategies = list2frame(found[c("name", "about", "loss")]), sd = sd, recommended = found$recommended,
                 reason = found$reason), class = "cellar_plan_comparison")
}

as.data.frame.cellar_plan_comparison <- function(x, ...) cbind(x$targets, as.data.frame(x$sd))

print.cellar_plan_comparison <- function(x, ...) {
  cat("Ways to spend ", x$unit, " ", x$budget, "; standard deviation of a cell:\n", sep = "")
  print(as.data.frame(x), row.names = FALSE, ...)
  cat("recommended: ", x$recommended, ": ", x$reason, "\n", sep = "")
  invisible(x)
}

plan_run <- function(plan, date = NULL, threads = 0) {
  invisible(ask(.Call(C_plan_run, plan_path(plan), list(date = day(date, "date"),
                                                        threads = whole(threads, "threads")))))
}

# ---- pages ---------------------------------------------------------------------------------------------------------

report <- function(x, path, ...) UseMethod("report")

page_options <- function(title, replace, charts, max_rows) {
  list(title = text(title, "title"), replace = flag(replace, "replace"), charts = path_of(charts, "charts"),
       max_rows = whole(max_rows, "max_rows"))
}

report.cellar_release <- function(x, path, title = NULL, names = NULL, replace = FALSE, charts = NULL, max_rows = NULL, ...) {
  report.list(list(x), path, title = title, names = names, replace = replace, charts = charts, max_rows = max_rows)
}

report.list <- function(x, path, title = NULL, names = base::names(x), replace = FALSE, charts = NULL, max_rows = NULL, ...) {
  ask(.Call(C_report_public, unname(lapply(x, release_handle)), path_of(path),
            c(page_options(title, replace, charts, max_rows), list(names = texts(names, "names")))))
  invisible(path)
}

report.cellar_cube <- function(x, path, title = NULL, replace = FALSE, charts = NULL, max_rows = NULL, ...) {
  ask(.Call(C_report_cube, need_cube(x), path_of(path),
            c(page_options(title, replace, charts, max_rows), list(names = basename(x$path)))))
  invisible(path)
}

report.cellar_table <- function(x, path, known, sensitive, mechanisms, epsilons = NULL, release = NULL, negatives = "keep",
                                copies = 30, seed = 1, title = NULL, replace = FALSE, charts = NULL, ...) {
  ask(.Call(C_report_committee, need_table(x), path_of(path),
            c(page_options(title, replace, charts, NULL),
              list(known = texts(known, "known"), sensitive = texts(sensitive, "sensitive"),
                   mechanisms = specs_of(mechanisms, NULL), epsilons = if (!is.null(epsilons)) exacts(epsilons, "epsilons"),
                   release = if (!is.null(release)) release_handle(release),
                   negatives = choice(negatives, "negatives", NEGATIVES), copies = whole(copies, "copies"),
                   seed = whole(seed, "seed")))))
  invisible(path)
}

# ---- synthetic records -----------------------------------------------------------------------------------------------

synthesize <- function(x, records = NULL, ignore_margins = FALSE) {
  kind <- if (inherits(x, "cellar_cube")) "cube" else if (inherits(x, "cellar_estimate")) "estimate" else "release"
  handle <- switch(kind, cube = need_cube(x), estimate = attr(x, "handle"), release_handle(x))
  if (kind != "cube" && !is.null(records)) refuse("`records` is for cubes: a release has as many records as it says")
  found <- ask(.Call(C_synthesize, handle, kind, list(records = whole(records, "records"),
                                                      ignore_margins = flag(ignore_margins, "ignore_margins"))))
  structure(list2frame(found$records), class = c("cellar_synthesis", "data.frame"), handle = found$handle,
            description = found$description)
}

write_synthesis <- function(x, path, labels = FALSE, count = NULL, shuffle = FALSE, replace = FALSE) {
  if (!inherits(x, "cellar_synthesis")) refuse("expected records that synthesize() made")
  ask(.Call(C_write_synthesis, attr(x, "handle"), path_of(path),
            list(labels = flag(labels, "labels"), count = text(count, "count"), shuffle = flag(shuffle, "shuffle"),
                 replace = flag(replace, "replace"))))
  invisible(x)
}

`[.cellar_synthesis` <- function(x, ...) {
  part <- NextMethod()
  if (is.data.frame(part)) as.data.frame.cellar_synthesis(part) else part
}

as.data.frame.cellar_synthesis <- function(x, ...) {
  attr(x, "handle") <- attr(x, "description") <- NULL
  class(x) <- "data.frame"
  x
}

print.cellar_synthesis <- function(x, n = 10, ...) {
  cat(nrow(x), " synthetic records: no record was copied; one may coincide with a real person; what protects people is the certificate\n", sep = "")
  print(head(as.data.frame(x), n), ...)
  invisible(x)
}
