# SPDX-License-Identifier: GPL-3.0-or-later
# Risk, exposure, utility, inference, fits, perturbation tables, ledgers: against the command line and closed forms.

people <- function(n = 300) {
  set.seed(4)
  data.frame(age = sample(1:20, n, TRUE), ill = sample(c("no", "yes", "flu"), n, TRUE, prob = c(0.7, 0.2, 0.1)))
}
table_of <- function() {
  tabulate(people(), ~ age * ill, codelists = list(age = 1:20, ill = c("no", "yes", "flu")))
}
cli_json <- function(...) {
  skip_if_not_installed("jsonlite")
  jsonlite::fromJSON(paste(run(..., "--json"), collapse = "\n"), simplifyVector = FALSE)
}
files <- function(folder) {
  table <- table_of()
  write_table(table, file.path(folder, "t.json"))
  release <- protect(table, "discrete-laplace:epsilon=1", negatives = "keep", per_cell = TRUE)
  write_release(release, file.path(folder, "r.csv"))
  list(table = table, release = release, t = file.path(folder, "t.json"), r = file.path(folder, "r.csv"))
}

test_that("assessments are the command line's", {
  f <- files(scratch())
  want <- cli_json("risk", "table", f$t, "--qid", "age", "--sensitive", "ill", "--mechanism", "discrete-laplace",
                   "--epsilon", "0.5,1", "--measure", "local")$results
  found <- risk(f$table, "age", "ill", "discrete-laplace", epsilons = c("0.5", "1"))
  for (i in 1:2)
    for (name in c("value", "precision", "claim", "maximum", "baseline", "original"))
      expect_equal(found[[name]][i], want[[i]][[name]], tolerance = 1e-14)
  expect_output(print(found), "confidential")
  ranked <- risk_groups(f$table, "age", "ill", "discrete-laplace:epsilon=1", n = 3)
  expect_equal(ranked$risk[1], found$maximum[2])
  expect_identical(nrow(ranked), 3L)

  want <- cli_json("exposure", "table", f$t, "--columns", "age,ill", "--k", "3,5")$results
  expect_equal(exposure(f$table, k = c(3, 5))$exposure, c(want[[1]]$value, want[[2]]$value))
  sizes <- table(people())
  expect_equal(exposure(f$table, k = 4)$exposure, sum(sizes[sizes < 4]) / 300)

  curve <- exposure_curve(f$table)
  expect_equal(sum(curve$count * curve$cells), 300)
  expect_equal(curve$count, sort(unique(sizes[sizes > 0])), ignore_attr = TRUE)

  want <- cli_json("utility", f$t, "--mechanism", "discrete-laplace:epsilon=1", "--copies", "20")$results
  found <- utility(f$table, "discrete-laplace:epsilon=1", copies = 20)
  for (i in 1:6) {
    expect_identical(found$measure[i], want[[i]]$measure)
    expect_equal(found$mean[i], want[[i]]$mean, tolerance = 1e-14)
  }
  expect_s3_class(utility(f$table, f$release), "cellar_assessment")
})

test_that("shrinkage takes one prior for all values or one for each", {
  t <- table_of()
  one <- risk(t, "age", "ill", "discrete-laplace:epsilon=1", measure = "shrinkage", prior = 0.5)
  expect_identical(risk(t, "age", "ill", "discrete-laplace:epsilon=1", measure = "shrinkage", prior = rep(0.5, 3)), one)
  expect_error(risk(t, "age", "ill", "discrete-laplace:epsilon=1", measure = "shrinkage", prior = c(1, 2)), "`prior` has")
})

test_that("inference is the command line's", {
  f <- files(scratch())
  want <- cli_json("infer", "interval", f$r, "--of", "ill=yes")$intervals[[1]]
  found <- infer(f$release, "ill=yes")
  for (name in c("estimate", "low", "high")) expect_equal(found[[name]], want[[name]])
  expect_identical(infer(f$release, list(ill = "yes"))$low, found$low)
  expect_gte(diff(unlist(infer(f$release, "ill=yes", pooled = FALSE)[c("low", "high")])), found$high - found$low)
  ratio <- infer(f$release, "ill=yes", compare = "ratio", other = "ill=no")
  want <- cli_json("infer", "interval", f$r, "--of", "ill=yes", "--over", "ill=no")$intervals[[1]]
  expect_equal(ratio$high, want$high)
  expect_error(infer(f$release, "ill=maybe"), "maybe", class = "CELLAR_ERR_ARGUMENT")
  expect_error(infer(f$release, compare = "ratio"), "`other`")

  want <- cli_json("infer", "loglinear", f$r, "--model", "age + ill")
  found <- test_model(f$release, ~ age + ill)
  text <- unlist(want)
  expect_true(any(abs(suppressWarnings(as.numeric(text)) - found$aware$statistic) < 1e-9, na.rm = TRUE))
  expect_equal(found$aware$df, 38)
  expect_equal(test_model(f$release)$aware, found$aware)
  expect_output(print(found), "naive")
  counts <- xtabs(released ~ age + ill, subset(as.data.frame(f$release, zeros = TRUE), age != "_T" & ill != "_T"), drop.unused.levels = TRUE)
  counts[counts < 0] <- 0
  expected <- outer(rowSums(counts), colSums(counts)) / sum(counts)
  expect_equal(found$naive$statistic, 2 * sum(ifelse(counts > 0, counts * log(counts / expected), 0)), tolerance = 1e-6)
  ratios <- odds_ratios(f$release)
  expect_equal(nrow(ratios), prod(vapply(attr(f$release, "facts")$variables, function(v) as.integer(v$leaves) - 1L, 0L)))
  known <- !is.na(ratios$value) # a release may have no estimate, and then no bounds
  expect_true(all((ratios$low <= ratios$value & ratios$value <= ratios$high)[known]))
  expect_true(all(ratios$low[!known] == 0 & ratios$high[!known] == Inf))
  expect_error(odds_ratios(f$release, "age"), "two variables")
  expect_true(all(unlist(cramers_v(f$release, replicates = 49)[c("low", "value", "high")]) >= 0))
})

test_that("the binomial test without noise is the exact one", {
  found <- test_binomial(60, 100, "identity")
  expect_equal(found$estimate, 0.6)
  expect_equal(found$p_value, pchisq(2 * (60 * log(60 / 50) + 40 * log(40 / 50)), 1, lower.tail = FALSE), tolerance = 1e-8)
})

test_that("fits add", {
  f <- files(scratch())
  found <- as.data.frame(fit(f$release, sd = TRUE))
  total <- found$age == "_T" & found$ill == "_T"
  inner <- found$age != "_T" & found$ill != "_T"
  expect_equal(sum(found$estimate[inner]), found$estimate[total], tolerance = 1e-6)
  expect_identical(sum(found$fitted[inner]), found$fitted[total])
  expect_true(all(found$fitted >= 0), all(found$se > 0))
  want <- cli_json("fit", f$r, "--sd", "--limit", "1")$rows[[1]]
  expect_equal(found$estimate[1], want$unbiased, tolerance = 1e-6)
  expect_equal(found$se[1], want$sd, tolerance = 1e-6)
  path <- file.path(scratch(), "e.json")
  write_estimate(fit(f$release), path, whole = TRUE)
  expect_identical(read_estimate(path)$estimate, as.data.frame(fit(f$release))$fitted)
})

test_that("perturbation tables are designed, written and read", {
  folder <- scratch()
  run("ptable", "design", "--D", "3", "--V", "2", "--js", "1", "-o", file.path(folder, "cli.csv"))
  design <- ptable(D = 3, V = 2, js = 1)
  write_ptable(design, file.path(folder, "r.csv"))
  expect_identical(bytes(file.path(folder, "r.csv")), bytes(file.path(folder, "cli.csv")))
  expect_equal(as.vector(tapply(design$p, design$i, sum)), rep(1, 6))
  expect_false(1 %in% design$j)
  expect_equal(summary(design)$variance[4], 2, tolerance = 1e-9)
  write_ptable(design, file.path(folder, "ons.csv"), layout = "ons")
  expect_identical(readLines(file.path(folder, "ons.csv"), 1), "pcv,ckey,pvalue")
  expect_error(ptable(D = 3, V = c(0.5, 1)), "`V` is one text")
})

test_that("a ledger is made, charged, shown and verified", {
  folder <- scratch()
  path <- file.path(folder, "budget")
  made <- create_ledger(path, "census", unit = "person", neighbours = "add-remove", epsilon = "1")
  expect_identical(as.data.frame(made)$spent, "epsilon 0, delta 0")
  out <- file.path(folder, "out.csv")
  protect(plain_table(), "discrete-laplace", "keep", total_epsilon = "0.4", ledger = path, dataset = "census",
          request = "one", output = out)
  expect_identical(as.data.frame(ledger(path))$left, "epsilon 0.6, delta 0")
  expect_identical(verify_ledger(path, out), 3)
  expect_output(summary(ledger(path)), "add-remove")
  cat("\n", file = out, append = TRUE)
  expect_error(verify_ledger(path, out), class = "cellar_error")
  expect_error(create_ledger(path, "census", "person", "add-remove", epsilon = "1"), class = "cellar_error")
})

test_that("several releases of the same people are pooled", {
  skip_if_not_installed("jsonlite")
  folder <- scratch()
  people <- data.frame(region = rep(c("n", "s", "e"), 100), sex = rep(c("F", "M"), 150))
  lists <- list(region = c("n", "s", "e"), sex = c("F", "M"))
  releases <- lapply(list(c("region", "sex"), "region"), function(by)
    protect(tabulate(people, by, lists[by], margins = "all"), "discrete-laplace:epsilon=0.5", negatives = "keep", per_cell = TRUE))
  files <- file.path(folder, c("0.csv", "1.csv"))
  Map(write_release, releases, files)
  for (minus in list(NULL, "region=s")) {
    said <- unlist(jsonlite::fromJSON(run("infer", "interval", files, "--of", "region=n", if (!is.null(minus)) c("--minus", minus),
                                          "--json"), simplifyVector = FALSE))
    found <- infer(releases, "region=n", compare = if (!is.null(minus)) "difference", other = minus)
    expect_true(found$pooled)
    for (end in c("low", "high"))
      expect_true(any(abs(suppressWarnings(as.numeric(said[grepl(paste0("(^|\\.)", end, "$"), names(said))])) - found[[end]]) < 1e-6))
  }
  alone <- infer(releases[[1]], "region=n", pooled = FALSE)
  both <- infer(releases, "region=n")
  expect_lt(both$high - both$low, alone$high - alone$low)
  expect_error(infer(releases, "region=n", compare = "ratio", other = "region=s"), "counts and differences")
  expect_error(infer(rev(releases), "sex=F"), class = "cellar_error")
  expect_error(infer(list()), "a list of releases")
  expect_error(fit(releases[[1]], errors = TRUE), "fit() has no argument 'errors'", fixed = TRUE)
})

test_that("what is shown of risks and measures can be read", {
  f <- files(scratch())
  lines <- capture.output(print(utility(f$table, "discrete-laplace:epsilon=1", copies = 2)))
  expect_lt(length(lines), 100)
  expect_match(lines[length(lines)], "as.data.frame() has all", fixed = TRUE)
  expect_false(any(grepl("q90", capture.output(print(risk(f$table, "age", "ill", "discrete-laplace:epsilon=1"))))))
  edited <- f$release
  edited$released[1] <- 5
  expect_error(infer(edited, ""), "one that was edited, is none")
})

test_that("a perturbation table is designed from the numbers of ptable", {
  expect_identical(as.data.frame(ptable(D = 5, V = 2.5, js = 2, pstay = 0.3)), as.data.frame(ptable(5, "2.5", 2, "0.3")))
})
