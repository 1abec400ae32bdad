# SPDX-License-Identifier: GPL-3.0-or-later

test_that("values agree with those that were computed independently with many digits", {
  skip_if_not_installed("jsonlite")
  vectors <- jsonlite::read_json(root_file("python/tests/vectors.json"))
  spec <- function(m) {
    rest <- m[names(m) != "name"]
    paste0(m$name, if (length(rest)) ":", paste0(names(rest), "=", vapply(rest, format, "", scientific = FALSE), collapse = ","))
  }
  numbers <- function(texts) vapply(texts, as.numeric, 0)
  group_of <- function(counts) { # a table with one group of these counts
    codes <- as.character(seq_along(counts))
    tabulate(data.frame(g = "x", y = codes, n = counts), n ~ g * y, codelists = list(g = "x", y = codes))
  }
  risk_of <- function(a, counts, measure, method, ...) {
    risk(group_of(counts), "g", "y", spec(a$mechanism), measure = measure, method = method, ...)$value
  }
  shrinkage <- function(a, method) {
    risk_of(a, c(a$n, rep(0, length(a$alpha) - 1)), "shrinkage", method, prior = numbers(a$alpha))
  }
  global <- function(a, method) {
    risk_of(a, rep(1, length(a$alpha)), "global", method, prior = numbers(a$alpha), size = spec(a$size))
  }
  shares <- function(a) group_of(round(1000 * numbers(a$p)))
  answer <- list(
    presence = function(a) mechanism(spec(a$mechanism), a$n)$moments$presence,
    kernel = function(a) probabilities(spec(a$mechanism), a$a, a$b)$probability,
    adp_delta = function(a) certify(spec(a$mechanism), epsilons = format(a$epsilon))$deltas$delta,
    ha_local = function(a) risk_of(a, unlist(a$counts), "local", "exact"),
    ha_shrinkage_exact = function(a) shrinkage(a, "exact"),
    ha_shrinkage_published = function(a) shrinkage(a, "published"),
    ha_global_exact = function(a) global(a, "exact"),
    ha_global_published = function(a) global(a, "published"),
    exposure = function(a) exposure(shares(a), thresholds = a$t)$exposure,
    statistical_exposure = function(a) exposure(shares(a), k = a$k, population = a$n)$statistical,
    entropy = function(a) attr(exposure(shares(a)), "entropy"))
  expect_identical(length(vectors), 174L) # what Python is asked, and nothing passed over
  for (v in vectors) {
    want <- as.numeric(v$value)
    expect_lte(abs(answer[[v$fn]](v$args) - want), 1e-9 * abs(want) + 1e-300)
  }
})

test_that("discrete Laplace noise is what its closed form says", {
  a <- exp(-0.5)
  found <- probabilities("discrete-laplace:epsilon=0.5", 1, -5:5)
  expect_equal(found$probability, (1 - a) / (1 + a) * a^abs(-5:5 - 1), tolerance = 1e-13)
  expect_equal(mechanism("discrete-laplace:epsilon=0.5", 4)$moments$variance, 2 * a / (1 - a)^2, tolerance = 1e-12)
  expect_equal(mechanism("discrete-laplace:epsilon=0.5", 4)$parameters$value, 0.5)
})

test_that("bounds are ordered and certificates explain themselves", {
  found <- certify("discrete-gaussian:sigma=3", epsilons = c("0.5", "1"), deltas = c("1e-6", "1e-9"))
  expect_identical(found$verdict, "holds")
  expect_true(all(found$deltas$delta >= found$deltas$delta_lower), all(found$deltas$delta_lower > 0))
  expect_lt(found$epsilons$epsilon[1], found$epsilons$epsilon[2])
  expect_gt(length(found$explanation), length(found$text))
  expect_error(certify("gaussian:sigma=-1"), "sigma", class = "CELLAR_ERR_ARGUMENT")
  expect_error(probabilities("laplace:epsilon=1", 1, 0.5), "whole")
  expect_true("cell-key" %in% known_mechanisms()$name || nrow(known_mechanisms()) > 10)
})
