# SPDX-License-Identifier: GPL-3.0-or-later
# The same table whatever the columns are, and data frames that nobody here made.

counts <- function(data, by = c("x", "y"), ...) true_counts(tabulate(data, by, missing_as = "drop", ...))

test_that("every kind of column gives the file's table", {
  set.seed(5)
  x <- sample(-3:3, 200, TRUE)
  y <- sample(c("a", "b c", "\u00fc", "q\"", NA), 200, TRUE)
  path <- file.path(scratch(), "rows.csv")
  write.csv(data.frame(x, y), path, row.names = FALSE, na = "", fileEncoding = "UTF-8")
  want <- counts(path)
  latin <- iconv(y, "UTF-8", "latin1")
  expect_identical(counts(data.frame(x, y)), want)
  expect_identical(counts(data.frame(x = as.numeric(x), y = factor(y))), want)
  expect_identical(counts(data.frame(x = as.character(x), y = latin)), want)
  expect_identical(counts(data.frame(x = factor(x), y = factor(latin))), want)
  expect_identical(counts(data.frame(x, y, stringsAsFactors = TRUE)[sample(200), ]), want)
})

test_that("logical values, dates and fractions are written as R writes them", {
  d <- data.frame(x = c(TRUE, FALSE, NA, TRUE), y = as.Date("2026-11-18") + c(0, 1, 1, 0), z = c(0.5, 2, NaN, 0.5))
  found <- counts(d, c("x", "y", "z"))
  found <- found[order(found$count), ]
  expect_identical(as.character(found$x), c("FALSE", "TRUE"))
  expect_identical(as.character(found$y), c("2026-11-19", "2026-11-18"))
  expect_identical(as.character(found$z), c("2", "0.5"))
  expect_identical(found$count, c(1, 2))
})

test_that("many distinct texts are counted as table() counts them", {
  set.seed(6)
  d <- data.frame(x = paste0("code", sample(3000, 20000, TRUE)), y = "a")
  found <- counts(d)
  want <- table(d$x)
  expect_identical(found$count[match(names(want), found$x)], as.numeric(want))
})

test_that("texts that turn up late are counted, and those of units and keys read", {
  d <- data.frame(x = c(rep("a", 70000), paste0("b", 1:70000)), y = "k")
  expect_identical(sort(counts(d)$count), c(rep(1, 70000), 70000))
  units <- data.frame(x = rep(c("a", "b"), 30000), y = "k", id = rep(1:40000, length.out = 60000))
  want <- counts(units, unit = "id", max_per_unit = 1)
  expect_identical(counts(transform(units, id = as.character(id)), unit = "id", max_per_unit = 1), want)
  expect_identical(sum(want$count), 40000)
})

test_that("bytes that are no text are refused by the column's name", {
  broken <- rawToChar(as.raw(c(0x61, 0xff)))
  Encoding(broken) <- "bytes"
  expect_error(tabulate(data.frame(x = c("a", broken)), "x"), "column 'x': the text is not valid UTF-8")
})

test_that("tibbles, data tables and labelled columns are counted", {
  d <- make_frame(8)
  want <- counts(d, c("sex", "age"))
  skip_if_not_installed("tibble")
  expect_identical(counts(tibble::as_tibble(d), c("sex", "age")), want)
  skip_if_not_installed("data.table")
  expect_identical(counts(data.table::as.data.table(d), c("sex", "age")), want)
  skip_if_not_installed("haven")
  sex <- haven::labelled(match(d$sex, c("F", "M")), labels = c(women = 1, men = 2))
  found <- counts(tibble::tibble(sex = sex, age = d$age), c("sex", "age"), codelists = list(sex = attr(sex, "labels")))
  expect_identical(found$count, want$count)
  expect_identical(levels(found$sex), c("1", "2"))
  user <- haven::labelled_spss(c(1, 2, 9, 8, NA, 1), labels = c(a = 1), na_values = 9, na_range = c(7, 8))
  expect_identical(counts(data.frame(x = user, y = "k"))$count, c(2, 1))
  expect_identical(counts(data.frame(x = haven::tagged_na("a", "b"), y = "k", z = 1:2), c("y", "z"))$count, c(1, 1))
})

test_that("formulas, dimVar and margins say the same", {
  d <- make_frame(9)
  lists <- list(sex = c("F", "M"), old = c("FALSE", "TRUE"))
  all <- true_counts(tabulate(d, ~ sex * old, codelists = lists))
  expect_identical(true_counts(tabulate(d, dimVar = c("sex", "old"), codelists = lists)), all)
  expect_identical(true_counts(tabulate(d, c("sex", "old"), codelists = lists, margins = "all")), all)
  expect_identical(true_counts(tabulate(d, ~ sex:old + sex - 1, codelists = lists)),
                   true_counts(tabulate(d, c("sex", "old"), codelists = lists, margins = list("sex"))))
  expect_identical(true_counts(tabulate(d, ~ sex:old, codelists = lists)),
                   true_counts(tabulate(d, c("sex", "old"), codelists = lists, margins = list(character()))))
  cells <- as.data.frame(base::table(sex = d$sex, old = d$old))
  expect_identical(true_counts(tabulate(cells, Freq ~ sex * old, codelists = lists)), all)
  expect_identical(true_counts(tabulate(cells, dimVar = c("sex", "old"), freqVar = "Freq", codelists = lists)), all)
})

test_that("hierarchies count their inner nodes", {
  d <- data.frame(area = c("n1", "n2", "s1", "n1"))
  levels <- data.frame(level = c("@", "@@", "@@@", "@@@", "@@"), code = c("Total", "N", "n1", "n2", "s1"))
  parents <- data.frame(code = c("N", "n1", "n2", "s1"), parent = c(NA, "N", "N", NA))
  for (hierarchy in list(levels, parents)) {
    found <- true_counts(tabulate(d, ~ area, hierarchies = list(area = hierarchy)))
    expect_identical(found$count[found$area == "N"], 3)
  }
  expect_identical(nrow(true_counts(tabulate(d, dimVar = "area", hierarchies = list(area = "Total")))), 4L)
})

test_that("partial tables add up", {
  d <- make_frame(10)
  how <- list(by = "sex", codelists = list(sex = c("F", "M")), margins = "all")
  part <- function(rows) do.call(tabulate, c(list(d[rows, ]), how))
  expect_identical(true_counts(merge_tables(part(1:100), part(101:400))), true_counts(part(1:400)))
  expect_error(merge_tables(part(1:9), tabulate(d, "sex", codelists = list(sex = c("F", "M")))), "not counted like")
})

test_that("base's tabulate still counts whole numbers", {
  expect_identical(tabulate(c(1, 3, 3), 4), c(1L, 0L, 2L, 0L))
  expect_identical(tabulate(factor(c("a", "b", "a"))), c(2L, 1L))
})

test_that("mistakes are answered with the argument that helps", {
  d <- data.frame(x = c("a", "b"), u = 1:2)
  expect_error(tabulate(list(x = "a"), "x"), "`data` is a data frame")
  expect_error(tabulate(NULL), "`data` is a data frame")
  expect_error(tabulate(as.matrix(d), "x"), "`data` is a data frame")
  expect_identical(tabulate(c(1, 2, 2)), c(1L, 2L))
  expect_error(tabulate(d, "x", unit = "u"), "`max_per_unit`")
  expect_error(tabulate(d, "x", codelists = list(x = "none.csv")), "there is no file 'none.csv'")
  expect_error(tabulate(d, "x", where = "z=1"), "no column 'z' among its 2 columns$")
  path <- file.path(scratch(), "latin1.csv")
  writeBin(c(charToRaw("x\nm"), as.raw(0xe4), charToRaw("nnlich\n")), path)
  expect_error(tabulate(path, "x"), "`encoding` latin1")
  expect_identical(levels(true_counts(tabulate(path, "x", encoding = "latin1"))$x)[1], "m\u00e4nnlich")
  expect_error(tabulate(path, "x", delimiter = "::"), "`delimiter` is one character")
  t <- plain_table()
  r <- protect(t, "discrete-laplace:epsilon=1", negatives = "keep", per_cell = TRUE)
  expect_error(value_of(r, sex = c("F", "M")), "`sex` is one text")
  expect_error(infer(r, character()), "`of` is a set of cells")
  expect_error(risk(t, "sex", "old", "laplace:epsilon=1", measure = NULL), "`measure` is one of")
  expect_error(risk(t, "sex", "age", "laplace:epsilon=1", measure = "shrinkage", prior = 1), "no variable 'age'")
  expect_error(test_binomial(1, 2, NULL), "`mechanism` is a spec") # it crashed R
  expect_error(certify("laplace:epsilon=1", epsilons = list(1)), "`epsilons` are decimals")
  expect_error(tabulate(d, "x", recodes = "u"), "`recodes` is a named list")
  expect_error(tabulate(1:3, by = "x"), "`data` is a data frame")
  expect_error(infer(r, list(sex = t)), "a set of cells is")
  expect_error(create_perturbed_table(1, "a", "b", "k", ptable(D = 3, V = 2)), "`data` is a data frame")
  expect_error(protect(t, "laplace:epsilon=1", "keep", per_cell = TRUE, date = 1), "`date` is one text")
  expect_error(exposure(t, k = Inf), "`k` are whole numbers")
  expect_error(select_columns(t, k = 3, exposure = 0.5, weights = 2), "`weights` are numbers by variable")
})

test_that("missing values are explained in words of R, and reports are read", {
  d <- data.frame(sex = rep(c("F", "M", NA, "F"), 25000))
  expect_error(tabulate(d, ~ sex), "(`missing_as` drop or level, or recode(missing_as) for one)", fixed = TRUE)
  expect_error(tabulate(d, ~ sex, list(sex = c("F", "M")), missing_as = "level"),
               "(`missing_as`, or recode(missing_as) for one)", fixed = TRUE)
  table <- tabulate(d, ~ sex, missing_as = "drop")
  expect_error(protect(table, "discrete-laplace:epsilon=1", negatives = "keep"), "code list (`codelists`), or", fixed = TRUE)
  expect_output(print(row_report(table)), "100000")
})

test_that("work that was interrupted interrupts R", {
  cancelled <- structure(list(status = "CELLAR_ERR_CANCELLED", message = "cancelled"), class = "cellar_failure")
  expect_identical(tryCatch(ask(cancelled), error = function(e) "error", interrupt = function(i) "interrupt"), "interrupt")
})
