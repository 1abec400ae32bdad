# SPDX-License-Identifier: GPL-3.0-or-later
# Certificates and mechanisms, which need no data.

certify <- function(mechanism, epsilons = character(), deltas = character(), cells = 1, per_unit = 1, max_weight = 1,
                    population = 0, unit = NULL, negatives = NULL, neighbours = NULL, chosen = NULL, effort = 1) {
  spec <- spec_of(mechanism)
  options <- list(
    epsilons = exacts(epsilons, "epsilons"), deltas = exacts(deltas, "deltas"), cells = whole(cells, "cells"),
    per_unit = whole(per_unit, "per_unit"), max_weight = whole(max_weight, "max_weight"),
    population = whole(population, "population"), unit = text(unit, "unit"),
    negatives = choice(negatives, "negatives", NEGATIVES), neighbours = choice(neighbours, "neighbours", NEIGHBOURS),
    chosen = chosen_code(chosen), effort = effort)
  found <- ask(.Call(C_certify, spec, options))
  structure(list(
    mechanism = spec, verdict = found$verdict, reason = found$reason, pure_epsilon = found$pure_epsilon,
    pure_epsilon_exact = found$pure_exact, rho = found$rho,
    deltas = named_columns(found$points, c("epsilon", "delta", "delta_lower")),
    epsilons = named_columns(found$at_deltas, c("delta", "epsilon", "epsilon_lower")), warnings = found$warnings,
    text = certificate_lines(found$handle, FALSE), explanation = certificate_lines(found$handle, TRUE),
    options = options), class = "cellar_certificate")
}

membership <- function(mechanism, levels = c(0.01, 0.05, 0.1), cells = 1, per_unit = 1, max_weight = 1, negatives = NULL,
                       neighbours = NULL) {
  if (!is.numeric(levels) || anyNA(levels)) refuse("`levels` are numbers between 0 and 1")
  options <- list(cells = whole(cells, "cells"), per_unit = whole(per_unit, "per_unit"),
                  max_weight = whole(max_weight, "max_weight"), negatives = choice(negatives, "negatives", NEGATIVES),
                  neighbours = choice(neighbours, "neighbours", NEIGHBOURS))
  power <- ask(.Call(C_membership, spec_of(mechanism), as.numeric(levels), options))
  data.frame(level = levels, power = power, advantage = power - levels)
}

named_columns <- function(matrix, names) {
  list2frame(stats::setNames(lapply(seq_along(names), function(j) matrix[, j]), names))
}

# Nothing in a certificate is confidential, so that it may pass through a file.
certificate_lines <- function(handle, explain) {
  path <- tempfile("certificate")
  on.exit(unlink(path))
  ask(.Call(C_certificate_text, handle, path, explain))
  readLines(path, encoding = "UTF-8")
}

print.cellar_certificate <- function(x, explain = FALSE, ...) {
  writeLines(if (explain) x$explanation else x$text)
  invisible(x)
}

summary.cellar_certificate <- function(object, ...) {
  data.frame(mechanism = object$mechanism, verdict = object$verdict, pure_epsilon = object$pure_epsilon, rho = object$rho)
}

as.data.frame.cellar_certificate <- function(x, ...) x$deltas

plot.cellar_certificate <- function(x, epsilons = NULL, ...) {
  if (is.null(epsilons) && nrow(x$deltas) < 2) {
    most <- if (is.finite(x$pure_epsilon)) x$pure_epsilon else 4
    epsilons <- format(signif(seq(0, most, length.out = 21), 3), scientific = FALSE, trim = TRUE)
  }
  deltas <- x$deltas
  if (!is.null(epsilons)) {
    again <- x$options
    again$epsilons <- epsilons
    again$chosen <- NULL # it changes no number
    deltas <- do.call(certify, c(list(mechanism = x$mechanism), again))$deltas
  }
  plot(deltas$epsilon, deltas$delta, type = "o", xlab = "epsilon", ylab = "delta", main = x$mechanism, ...)
  invisible(x)
}

# ---- mechanisms ------------------------------------------------------------------------------------------------

mechanism <- function(spec, counts = 0:10, negatives = "keep") {
  if (!is.numeric(counts) || anyNA(counts) || any(counts < 0 | counts != floor(counts) | counts > 2^53))
    refuse("`counts` are whole numbers that are not negative")
  found <- ask(.Call(C_mechanism, text(spec, "spec"), as.numeric(counts), choice(negatives, "negatives", NEGATIVES)))
  moments <- named_columns(found$moments, c("presence", "mean", "variance", "entropy"))
  structure(list(spec = found$spec, revision = found$revision, parameters = list2frame(found$parameters),
                 moments = cbind(count = counts, moments)), class = "cellar_mechanism")
}

probabilities <- function(mechanism, count, released) {
  if (!is.numeric(released) || anyNA(released) || any(released != floor(released) | abs(released) > 2^53))
    refuse("`released` are whole numbers")
  count <- whole(count, "count")
  found <- ask(.Call(C_probabilities, spec_of(mechanism), number(count, "count"), as.numeric(released)))
  list2frame(list(released = as.vector(released), probability = found))
}

known_mechanisms <- function() list2frame(.Call(C_known_mechanisms))

print.cellar_mechanism <- function(x, ...) {
  cat(x$spec, "\n", sep = "")
  print(x$moments, row.names = FALSE, ...)
  invisible(x)
}

as.data.frame.cellar_mechanism <- function(x, ...) x$moments

plot.cellar_mechanism <- function(x, count = x$moments$count[1], width = 20, ...) {
  found <- probabilities(x, count, count + seq(-width, width))
  plot(found$released, found$probability, type = "h", xlab = "released", ylab = "probability",
       main = paste0(x$spec, ", count ", count), ...)
  invisible(x)
}
