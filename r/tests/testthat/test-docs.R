# SPDX-License-Identifier: GPL-3.0-or-later

test_that("the page runs", {
  skip_if_not_installed("RSQLite")
  page <- readLines(root_file("docs/r.md"), encoding = "UTF-8")
  first <- which(page == "```r")
  expect_gte(length(first), 2)
  last <- vapply(first, function(line) which(page == "```" & seq_along(page) > line)[1], 0L)
  code <- unlist(Map(function(from, to) page[(from + 1):(to - 1)], first, last))
  folder <- scratch()
  before <- setwd(folder)
  on.exit(setwd(before), add = TRUE)
  pdf(NULL)
  on.exit(dev.off(), add = TRUE)
  expect_output(eval(parse(text = code), new.env()), NA)
})
