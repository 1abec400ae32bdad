# SPDX-License-Identifier: GPL-3.0-or-later
# Columns to publish together and values to redact, against the command line.

test_that("columns and redactions are those of the command line", {
  folder <- scratch()
  set.seed(5)
  people <- data.frame(age = sample(0:11, 300, TRUE), sex = sample(c("F", "M"), 300, TRUE),
                       job = sample(c(rep(c("cook", "nurse", "smith"), 9), "pilot"), 300, TRUE))
  write.csv(people, file.path(folder, "rows.csv"), row.names = FALSE, quote = FALSE)
  table <- tabulate(people, names(people), codelists = lapply(people, function(x) sort(unique(as.character(x)))))
  common <- c("--columns", "age,sex,job", "--k", "5")

  found <- select_columns(table, k = 5, exposure = 0.1, weights = c(job = 1.5), must_not = "sex")
  said <- run("exposure", "select", file.path(folder, "rows.csv"), common, "--exposure", "0.1", "--weight", "job=1.5",
              "--must-not", "sex")
  for (set in found$columns) expect_match(said, set, fixed = TRUE, all = FALSE)
  expect_true(all(found$exposure <= 0.1) && found$weight[1] == max(found$weight))
  expect_identical(attr(found, "gap"), 0)
  expect_output(print(found), "confidential")
  expect_error(select_columns(table, k = 5, exposure = 0.1, must = "height"), "not among the variables")
  expect_error(select_columns(table, k = 0, exposure = 0.1), class = "cellar_error")

  redacted <- suppress_values(table, k = 5, exposure = 0.05, hide = 1)
  said <- run("exposure", "suppress", file.path(folder, "rows.csv"), common, "--exposure", "0.05", "--hide", "1")
  expect_true(attr(redacted, "met") && attr(redacted, "exposure")[["after"]] <= 0.05 && nrow(redacted) > 0)
  for (i in seq_len(nrow(redacted)))
    expect_true(any(grepl(redacted$column[i], said, fixed = TRUE) & grepl(redacted$value[i], said, fixed = TRUE)))
  expect_error(suppress_values(table, k = 5, exposure = 0.05, hide = 0), class = "cellar_error")
})
