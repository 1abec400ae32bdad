# SPDX-License-Identifier: GPL-3.0-or-later
# No true count anywhere but where it was asked for.

SENTINEL <- 987653L

sentinel_table <- function() {
  tabulate(data.frame(x = rep(factor("only", levels = c("only", "other")), SENTINEL)), ~ x,
           codelists = list(x = c("only", "other")))
}

# 1 where the count stands in these bytes: as text, or as R's integer or double, in either order of bytes.
holds_sentinel <- function(bytes) {
  patterns <- c(list(charToRaw("987653")), list(charToRaw("987,653")),
                lapply(c("big", "little"), function(e) writeBin(SENTINEL, raw(), endian = e)),
                lapply(c("big", "little"), function(e) writeBin(as.numeric(SENTINEL), raw(), endian = e)[if (e == "big") 1:5 else 4:8]))
  any(vapply(patterns, function(p) length(grepRaw(p, bytes, fixed = TRUE)) > 0, NA))
}

test_that("the search finds a count where there is one", {
  expect_true(holds_sentinel(serialize(SENTINEL, NULL)))
  expect_true(holds_sentinel(serialize(as.numeric(SENTINEL), NULL)))
  expect_true(holds_sentinel(charToRaw("n = 987653 people")))
})

test_that("no true count is shown or saved", {
  table <- sentinel_table()
  release <- protect(table, "discrete-laplace:epsilon=0.01", negatives = "keep", per_cell = TRUE)
  shown <- c(capture.output(print(table), str(table), str(list(a = table)), print(summary(table)), dput(table),
                            print(list(table)), message(format(table)), type = "output"), format(table))
  expect_false(any(grepl("987[,]?653", shown)))
  folder <- scratch()
  saved <- file.path(folder, c("a.rds", "b.RData", "c.rds", "d.txt"))
  saveRDS(table, saved[1], compress = FALSE)
  save(table, file = saved[2], compress = FALSE)
  saveRDS(list(table = table, summary = summary(table), attributes = attributes(table)), saved[3], compress = FALSE)
  suppressWarnings(dump("table", saved[4], envir = environment())) # a pointer cannot be written as code
  for (path in saved) expect_false(holds_sentinel(bytes(path)), info = path)
  expect_false(holds_sentinel(serialize(table, NULL)))
  if (all(as.data.frame(release)$released != SENTINEL)) expect_false(holds_sentinel(serialize(release, NULL)))
  expect_identical(max(true_counts(table)$count), as.numeric(SENTINEL))
})

test_that("what was saved and loaded says so", {
  path <- tempfile()
  saveRDS(plain_table(), path)
  expect_error(true_counts(readRDS(path)), "saved and loaded")
  expect_output(print(readRDS(path)), "saved and loaded")
  expect_error(as.data.frame(plain_table()), "confidential")
  release <- protect(plain_table(), "discrete-laplace:epsilon=1", negatives = "keep", per_cell = TRUE)
  saveRDS(release, path)
  again <- readRDS(path)
  expect_identical(as.data.frame(again), as.data.frame(release))
  expect_error(value_of(again), "read_release")
  expect_output(print(again), "discrete-laplace")
})

test_that("a notebook's cache holds no count", {
  skip_if_not_installed("knitr")
  folder <- scratch()
  old <- setwd(folder)
  on.exit(setwd(old), add = TRUE)
  writeLines(c("```{r, cache = TRUE}", "library(cellar)",
               "t <- tabulate(data.frame(x = rep('only', 987653)), ~ x, codelists = list(x = c('only', 'other')))",
               "t", "summary(t)", "```"), "note.Rmd")
  knitr::knit("note.Rmd", quiet = TRUE)
  source <- c("note.Rmd", "note.md") # these hold the number because the source says it
  files <- setdiff(list.files(recursive = TRUE), source)
  expect_gt(length(files), 1)
  for (path in files) {
    if (grepl("\\.rdb$", path)) { # compressed: read what it holds
      env <- new.env()
      lazyLoad(sub("\\.rdb$", "", path), env)
      expect_false(holds_sentinel(serialize(as.list(env, all.names = TRUE), NULL)), info = path)
    }
    expect_false(holds_sentinel(bytes(path)), info = path)
  }
  expect_length(grep("987653", readLines("note.md")), 1)
})

test_that("keys do not survive fork()", {
  skip_on_os("windows")
  folder <- scratch()
  create_key(file.path(folder, "key"), "1")
  key <- read_key(file.path(folder, "key"))
  table <- plain_table()
  draw <- function() {
    protect(table, "discrete-laplace:epsilon=1", negatives = "keep", per_cell = TRUE, key = key, edition = "1")
  }
  expect_s3_class(draw(), "cellar_release")
  child <- parallel::mccollect(parallel::mcparallel(tryCatch(draw(), error = conditionMessage)))[[1]]
  expect_match(child, "fork")
  expect_false(any(grepl("secret", capture.output(print(key), str(key)))))
  saveRDS(key, file.path(folder, "key.rds"))
  expect_error(protect(table, "discrete-laplace:epsilon=1", "keep", TRUE, key = readRDS(file.path(folder, "key.rds"))),
               "saved and loaded")
})

test_that("numbers of a guarantee are exact", {
  expect_error(certify("laplace:epsilon=1", deltas = 1e-6), "as text")
  expect_error(protect(plain_table(), "laplace", "keep", total_epsilon = 0.1), "as text")
  expect_identical(certify("discrete-laplace:epsilon=0.1", cells = 3)$pure_epsilon_exact, "0.3")
})
