# SPDX-License-Identifier: GPL-3.0-or-later
# Ledgers that are added to, and what a guarantee means, against the command line.

test_that("datasets, editions, shares and entries are added", {
  folder <- scratch()
  path <- file.path(folder, "budget")
  budget <- create_ledger(path, "census", unit = "person", neighbours = "add-remove", epsilon = "1", delta = "1e-9",
                          population = 1e6)
  ledger_add(budget, "survey", unit = "household", neighbours = "substitute", rho = "0.5")
  ledger_add(path, "census", edition = "2026")
  ledger_add(path, "survey", analyst = "ann", rho = "0.25")
  found <- ledger_enter(budget, "census", "elsewhere", "a table in the yearbook")
  expect_identical(found$history$kind, c("create", "dataset", "dataset", "edition", "analyst", "uncharged"))
  expect_identical(as.data.frame(found)$cap, c("epsilon 1, delta 0.000000001", "rho 0.5", "rho 0.25"))
  expect_identical(as.data.frame(found)$analyst, c(NA, NA, "ann"))
  expect_true(verify_ledger(path))
  expect_match(run("ledger", "history", path), "a table in the yearbook", all = FALSE)
  expect_error(ledger_add(path, "census"), "need a cap")
  expect_error(ledger_add(path, "other", epsilon = "1"), "`unit` and `neighbours`")
  expect_error(ledger_add(path, "nobody", edition = "2"), class = "cellar_error")
  expect_error(ledger_enter(path, "census", "gossip", "x"), "cell-key")
})

test_that("the cap of a sample is the command line's", {
  path <- file.path(scratch(), "budget")
  create_ledger(path, "survey", unit = "person", neighbours = "add-remove", epsilon = "1")
  found <- ledger_amplify(path, "survey", "poisson", rate = 0.1, unit = "person")
  expect_equal(found$epsilon, log(1 + 0.1 * (exp(1) - 1)), tolerance = 1e-6)
  said <- run("ledger", "amplify", path, "--dataset", "survey", "--sampling", "poisson", "--sampling-rate", "0.1", "--unit", "person")
  expect_match(said, format(found$epsilon, digits = 6), fixed = TRUE, all = FALSE)
  for (sentence in attr(found, "assumptions")) expect_match(said, sentence, fixed = TRUE, all = FALSE)
  expect_error(ledger_amplify(path, "survey", "poisson", 0.1, "person", panel = TRUE), class = "CELLAR_ERR_RULE")
})

test_that("a ledger that its witness does not know is adopted", {
  folder <- scratch()
  path <- file.path(folder, "budget")
  create_ledger(path, "census", unit = "person", neighbours = "add-remove", epsilon = "1", witness = file.path(folder, "witness"))
  file.copy(path, file.path(folder, "copy"))
  ledger_add(path, "census", edition = "2")
  file.copy(file.path(folder, "copy"), path, overwrite = TRUE)
  expect_error(ledger(path), class = "CELLAR_ERR_RULE")
  expect_identical(tail(ledger_adopt(path)$history$kind, 1), "adopt")
})

test_that("membership is the command line's", {
  skip_if_not_installed("jsonlite")
  found <- membership("discrete-laplace:epsilon=0.5", levels = c(0.01, 0.2), cells = 3)
  said <- jsonlite::fromJSON(run("risk", "membership", "--mechanism", "discrete-laplace:epsilon=0.5", "--level", "0.01,0.2",
                                 "--cells", "3", "--json"), simplifyVector = FALSE)
  powers <- unlist(said)
  expect_equal(as.numeric(powers[grepl("power$", names(powers))]), found$power)
  expect_true(all(found$advantage > 0))
})

test_that("a ledger pays whose key lies elsewhere", {
  folder <- scratch()
  opened <- create_ledger(file.path(folder, "budget"), "x", unit = "person", neighbours = "add-remove", epsilon = "1",
                          key = file.path(folder, "other"))
  protect(plain_table(), "discrete-laplace", negatives = "keep", total_epsilon = "1", unit = "person", ledger = opened,
          dataset = "x", request = "first", output = file.path(folder, "a.csv"))
  expect_identical(ledger(opened$path, opened$key)$balances[[1]]$spent$epsilon, "1")
})
