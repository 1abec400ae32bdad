# SPDX-License-Identifier: GPL-3.0-or-later

test_that("the page runs", {
  page <- readLines(root_file("docs/r.md"), encoding = "UTF-8")
  first <- which(page == "```r")
  expect_length(first, 1)
  last <- which(page == "```")
  code <- page[(first + 1):(last[last > first][1] - 1)]
  pdf(NULL)
  on.exit(dev.off())
  expect_output(eval(parse(text = code), new.env()), NA)
})
