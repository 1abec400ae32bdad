# SPDX-License-Identifier: GPL-3.0-or-later

release_of <- function(...) protect(plain_table(), "discrete-laplace:epsilon=1", negatives = "keep", per_cell = TRUE, ...)

test_that("a release is a data frame", {
  release <- release_of()
  expect_s3_class(release, "data.frame")
  expect_identical(names(release), c("sex", "old", "released"))
  expect_identical(class(as.data.frame(release)), "data.frame")
  expect_identical(class(release[1:2, ]), "data.frame")
  expect_identical(class(within(release, released <- 1)), "data.frame")
  expect_identical(nrow(as.data.frame(release, zeros = TRUE)), 9L)
  expect_identical(value_of(release, sex = "F", old = "TRUE"),
                   release$released[release$sex == "F" & release$old == "TRUE"])
  expect_identical(value_of(release), release$released[release$sex == "_T" & release$old == "_T"])
})

test_that("a release that was edited is refused", {
  release <- release_of()
  edited <- release
  attr(edited, "row.names") <- NULL
  class(edited) <- "list"
  edited$released[1] <- 7e6
  attributes(edited) <- attributes(release)
  expect_error(write_release(edited, tempfile(fileext = ".csv")), "changed after")
  expect_error(value_of(as.data.frame(release)), "expected a release")
})

test_that("files come back as they were written", {
  release <- release_of(threshold = 0)
  for (ending in c(".csv", ".json", ".px")) {
    path <- file.path(scratch(), paste0("r", ending))
    write_release(release, path)
    expect_identical(as.data.frame(read_release(path), zeros = TRUE), as.data.frame(release, zeros = TRUE))
    expect_error(write_release(release, path), class = "CELLAR_ERR_EXISTS")
    write_release(release, path, replace = TRUE)
  }
  expect_error(read_table(path), "release")
})

test_that("spreadsheets are written, and true counts are not", {
  release <- release_of(threshold = 0)
  for (ending in c(".ods", ".xlsx")) {
    path <- file.path(scratch(), paste0("sheet", ending))
    write_release(release, path, title = "A <title>")
    parts <- unzip(path, exdir = file.path(scratch(), paste0("parts", ending)))
    sheet <- grep("content.xml$|sheet2.xml$", parts, value = TRUE)
    text <- paste(readLines(sheet, encoding = "UTF-8", warn = FALSE), collapse = "")
    numbers <- regmatches(text, gregexpr('(office:value="|<v>)[-0-9]+', text))[[1]]
    expect_identical(as.numeric(sub('.*[>"]', "", numbers)), as.numeric(as.data.frame(release, zeros = TRUE)$released))
    expect_true(file.exists(paste0(path, ".cellar.json")))
    expect_error(read_release(path), "written and not read", class = "CELLAR_ERR_UNSUPPORTED")
    expect_error(write_table(tabulate(make_frame(6), "sex", codelists = list(sex = c("F", "M"))), path, replace = TRUE),
                 "true counts")
  }
})

test_that("suppressed values are NA", {
  d <- data.frame(x = rep(c("a", "b"), c(1, 500)))
  table <- tabulate(d, "x", codelists = list(x = c("a", "b")))
  release <- protect(table, "discrete-laplace:epsilon=5", negatives = "zero", threshold = 100, below = "suppress")
  expect_identical(is.na(as.data.frame(release, zeros = TRUE)$released), c(TRUE, FALSE))
  expect_identical(value_of(release, x = "a"), NA_real_)
})

test_that("refusals are sentences", {
  d <- make_frame(6)
  expect_error(tabulate(d, "region"), "missing", class = "CELLAR_ERR_INPUT")
  expect_error(tabulate(d, "colour"), "no column 'colour'")
  expect_error(tabulate(d, "sex", margins = "some"), "margins name 'some'")
  expect_error(tabulate(d, "sex", nonsense = 1), "no argument 'nonsense'")
  expect_error(tabulate(d), "say which variables")
  expect_error(tabulate(d, ~ sex + old), "inner cells")
  expect_error(tabulate(d, ~ log(age)), "recodes")
  expect_error(tabulate(d, ~ sex, codelists = list(age = "x")), "no variable")
  expect_error(tabulate(d, ~ sex, codelists = list(sex = c("F", "F"))), "code list of 'sex'")
  expect_error(tabulate(data.frame(x = I(list(1, 2))), "x"), "column 'x'")
  expect_error(tabulate("no such file.csv", ~ x), "no such file.csv")
  expect_error(protect(tabulate(d, ~ sex), "laplace:epsilon=1", "keep", per_cell = TRUE), "public")
  expect_error(protect(plain_table(), "laplace:epsilon=1", "maybe"), "negatives")
  expect_error(protect(plain_table(), "laplace:epsilon=1"), "negative released values")
  expect_error(protect(NULL, "laplace:epsilon=1", "keep"), "true table")
  expect_error(protect(plain_table(), "laplace:epsilon=1", "keep"), "`total_epsilon`")
  expect_error(protect(plain_table(), "lapplace:epsilon=1", "keep", TRUE), "laplace", class = "CELLAR_ERR_ARGUMENT")
})

test_that("the release says how its parameters were chosen", {
  said <- function(chosen) attr(release_of(chosen = chosen), "facts")$description
  expect_match(said(NULL), "\"parameter_choice\":\"not stated\"")
  expect_match(said("in-advance"), "\"parameter_choice\":\"declared in advance\"")
  expect_match(said("public-data"), "\"parameter_choice\":\"from public data\"")
  expect_match(said("confidential-data"), "\"parameter_choice\":\"from the confidential data")
  expect_match(certify("laplace:epsilon=1", chosen = "in-advance")$text, "declared in advance", all = FALSE)
  expect_error(release_of(chosen = "later"), "in-advance")
})

test_that("a counted cell without records stays out of a message", {
  d <- data.frame(x = "a", n = c(-1, 2))
  expect_error(tabulate(d, n ~ x), "n")
})

test_that("printing and plotting work", {
  release <- release_of()
  expect_output(print(release), "Release of sex \\(3\\) x old \\(3\\)")
  expect_output(print(release), "are differentially private for one .*: epsilon [0-9.]+")
  expect_output(print(summary(release)), "add-remove")
  pdf(NULL)
  on.exit(dev.off())
  expect_silent(plot(release))
  expect_silent(plot(mechanism("discrete-laplace:epsilon=1")))
  expect_silent(plot(certify("discrete-laplace:epsilon=1")))
  expect_output(print(mechanism("laplace:epsilon=1", 0:2)), "presence")
})
