# SPDX-License-Identifier: GPL-3.0-or-later
# What attackers learn and analysts lose. All of it is computed from true counts, so it is confidential, and says so.

MEASURES <- c("local", "expected", "shrinkage", "global", "global-fixed", "hard", "soft")
METHODS <- c("exact", "published", "published-2020", "simulate")

assessment <- function(frame, title) {
  structure(frame, class = c("cellar_assessment", "data.frame"), title = title)
}

# What fits a line: without columns that follow from others or hold nothing here, and without measures of no cells.
print.cellar_assessment <- function(x, n = 40, digits = 3, ...) {
  title <- attr(x, "title") # a part of one has none
  cat(if (is.null(title)) "Figures" else title, ": computed from true counts, confidential\n", sep = "")
  frame <- shown <- as.data.frame(x)
  if (all(c("measure", "radius", "cells") %in% names(shown))) shown <- measures_shown(shown)
  if (any(c("mechanism", "measure") %in% names(shown))) {
    aside <- c("minimum", "median", "maximum", "q90", "q95", "q99", "right", "precision", "difference")
    shown <- shown[!names(shown) %in% aside & !vapply(shown, function(v) all(is.na(v)), NA)]
  }
  print(head(shown, n), row.names = FALSE, digits = digits, ...)
  if (ncol(shown) < ncol(frame) || nrow(shown) > n)
    cat("as.data.frame() has all: ", nrow(frame), " rows, ", ncol(frame), " columns\n", sep = "")
  invisible(x)
}

# Measures of utility, with what they are about in their names: "total_variation of a,b", "within 1, counts above 10".
measures_shown <- function(frame) {
  frame <- frame[frame$cells > 0, ]
  about <- function(given, ...) ifelse(is.na(given), "", paste0(...))
  frame$measure <- paste0(frame$measure, about(frame$variables, " of ", frame$variables), about(frame$radius, " ", frame$radius),
                          about(frame$count, ", counts ", ifelse(frame$above, "above ", "of "), frame$count))
  numbers <- c("original", "expected", "mean", "sd")
  frame[numbers] <- lapply(frame[numbers], function(v) ifelse(is.na(v), NA, signif(v, 3)))
  frame[c("measure", numbers)]
}

summary.cellar_assessment <- function(object, ...) object

as.data.frame.cellar_assessment <- function(x, ...) {
  for (name in setdiff(names(attributes(x)), c("names", "row.names", "class"))) attr(x, name) <- NULL
  class(x) <- "data.frame"
  x
}

# A mechanism for each epsilon, where epsilons are given.
specs_of <- function(mechanisms, epsilons) {
  specs <- if (inherits(mechanisms, "cellar_mechanism")) mechanisms$spec else texts(mechanisms, "mechanism")
  if (is.null(epsilons)) return(specs)
  epsilons <- exacts(epsilons, "epsilons")
  unlist(lapply(specs, function(spec) paste0(spec, if (grepl(":", spec, fixed = TRUE, useBytes = TRUE)) "," else ":", "epsilon=", epsilons)))
}

risk <- function(table, known, sensitive, mechanism, epsilons = NULL, measure = "local", method = "exact",
                 average = "group", prior = NULL, size = NULL, zeros_stay = FALSE, copies = 500, seed = 1, threads = 0) {
  specs <- specs_of(mechanism, epsilons)
  found <- ask(.Call(C_risk, need_table(table), list(
    known = texts(known, "known"), sensitive = texts(sensitive, "sensitive"), mechanisms = specs,
    measure = place_of(measure, "measure", MEASURES), method = place_of(method, "method", METHODS),
    average = place_of(average, "average", c("group", "person")),
    prior = prior_of(prior, table, sensitive), size = text(size, "size"), zeros_stay = flag(zeros_stay, "zeros_stay"),
    copies = whole(copies, "copies"), seed = whole(seed, "seed"), threads = whole(threads, "threads"))))
  out <- assessment(cbind(data.frame(mechanism = specs), list2frame(found)), paste0("Risk (", measure, ")"))
  attr(out, "epsilons") <- if (!is.null(epsilons)) as.numeric(exacts(epsilons, "epsilons"))
  out
}

# One number for each value of the sensitive variables, which the library reads without a length of its own.
prior_of <- function(prior, table, sensitive) {
  if (is.null(prior)) return(NULL)
  leaves <- vapply(shape_of(table), function(v) as.numeric(v$leaves), 0)
  names(leaves) <- vapply(shape_of(table), function(v) v$name, "")
  n <- prod(leaves[intersect(sensitive, names(leaves))]) # the library refuses a variable that is not there
  if (!is.numeric(prior) || anyNA(prior) || any(prior < 0)) refuse("`prior` are numbers that are not negative")
  if (length(prior) == 1) prior <- rep(prior, n)
  if (!identical(as.numeric(length(prior)), n)) refuse("`prior` has one number, or ", n, ", one for each value")
  as.numeric(prior)
}

risk_groups <- function(table, known, sensitive, mechanism, n = 20, zeros_stay = FALSE) {
  found <- ask(.Call(C_risk_groups, need_table(table), spec_of(mechanism), list(
    known = texts(known, "known"), sensitive = texts(sensitive, "sensitive"), n = whole(n, "n"),
    zeros_stay = flag(zeros_stay, "zeros_stay"))))
  names(found) <- c(known, "size", "values_present", "risk")
  assessment(list2frame(found), "The most exposed groups")
}

exposure <- function(table, variables = NULL, k = c(2, 3, 5, 10), population = NULL, thresholds = NULL) {
  if (!is.numeric(k) || anyNA(k) || any(k < 1 | k != floor(k) | k > 2^53)) refuse("`k` are whole numbers from 1")
  thresholds <- exacts(thresholds, "thresholds")
  found <- curve_of(table, variables, k, population, thresholds)
  out <- assessment(list2frame(c(if (length(thresholds)) list(threshold = thresholds),
                                 list(k = found$k, exposure = found$exposure),
                                 if (!is.null(population)) list(statistical = found$statistical))), "Exposure")
  attr(out, "entropy") <- found$entropy
  out
}

exposure_curve <- function(table, variables = NULL) {
  steps <- list2frame(curve_of(table, variables, numeric(), NULL)$steps)
  out <- assessment(steps, "The exposure curve, true counts")
  attr(out, "is_curve") <- TRUE
  out
}

curve_of <- function(table, variables, k, population, thresholds = character()) {
  need_table(table)
  if (is.null(variables)) variables <- vapply(shape_of(table), function(v) v$name, "")
  ask(.Call(C_exposure, table, list(variables = texts(variables, "variables"), k = as.numeric(k),
                                    population = whole(population, "population"), thresholds = thresholds)))
}

exposure_bounds <- function(table, variables = NULL, thresholds) {
  need_table(table)
  if (is.null(variables)) variables <- vapply(shape_of(table), function(v) v$name, "")
  if (!is.numeric(thresholds) || anyNA(thresholds) || any(thresholds <= 0 | thresholds > 1))
    refuse("`thresholds` are shares above 0 and up to 1")
  found <- ask(.Call(C_exposure_bounds, table, list(variables = texts(variables, "variables"),
                                                    thresholds = as.numeric(thresholds))))
  assessment(cbind(data.frame(threshold = thresholds), list2frame(found)), "Bounds of exposure from single columns")
}

utility <- function(table, mechanism, negatives = "keep", threshold = 0, copies = 100, seed = 1, max_ways = 3,
                    threads = 0) {
  what <- if (inherits(mechanism, "cellar_release")) release_handle(mechanism) else spec_of(mechanism)
  found <- ask(.Call(C_utility, need_table(table), what, list(
    negatives = choice(negatives, "negatives", NEGATIVES), threshold = whole(threshold, "threshold"),
    copies = whole(copies, "copies"), seed = whole(seed, "seed"), max_ways = whole(max_ways, "max_ways"),
    threads = whole(threads, "threads"))))
  results <- list2frame(found$results)
  results$above <- results$above == 1
  out <- assessment(results, paste0("Utility of ", found$mechanism, ", ", found$copies,
                                    if (found$copies == 1) " copy" else " copies"))
  attr(out, "notes") <- found$notes
  out
}

plot.cellar_assessment <- function(x, ...) {
  epsilons <- attr(x, "epsilons")
  if (!is.null(epsilons)) {
    plot(rep_len(epsilons, nrow(x)), x$value, log = "x", type = "b", xlab = "epsilon", ylab = "risk", ...)
  } else if (isTRUE(attr(x, "is_curve"))) {
    people <- sum(x$count * x$cells)
    plot(x$count, x$below / people, type = "s", log = "x", xlab = "people with the same values",
         ylab = "share of people in smaller cells", ...)
  } else refuse("there is a picture of risk() at several epsilons and of exposure_curve()")
  invisible(x)
}
