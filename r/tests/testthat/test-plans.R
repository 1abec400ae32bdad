# SPDX-License-Identifier: GPL-3.0-or-later
# Cubes, plans, pages, synthetic records, and ONS's call.

country <- function(folder) {
  set.seed(7)
  n <- 2000
  people <- data.frame(region = sample(c("n", "s", "e"), n, TRUE), sex = sample(c("F", "M"), n, TRUE),
                       work = sample(c("farm", "shop", "none"), n, TRUE))
  write.csv(people, file.path(folder, "people.csv"), row.names = FALSE, quote = FALSE)
  for (v in names(people))
    write.csv(data.frame(code = sort(unique(people[[v]]))), file.path(folder, paste0(v, ".csv")), row.names = FALSE, quote = FALSE)
  head <- c("plan: 1", "data:", "  file: people.csv", "  edition: \"1\"", "unit:", "  name: person", "variables:",
            unlist(lapply(names(people), function(v) c(paste("  - name:", v), paste0("    codelist: ", v, ".csv")))))
  tail <- c("negatives: keep", "parameter_choice: advance")
  writeLines(c(head, "universe:", "  file: small.cube", "  up_to: 2", "budget:", "  rho: 0.5", tail), file.path(folder, "cube.yaml"))
  writeLines(c(head, "tables:", "  - name: work", "    by: [region, work]", "    margins: all", "budget:", "  epsilon: 2",
               "mechanism: discrete-laplace", tail, "outputs:", "  folder: pack", "  formats: [csv]"), file.path(folder, "plan.yaml"))
  people
}

test_that("a cube is planned, built, asked", {
  folder <- scratch()
  people <- country(folder)
  design <- cube_plan(file.path(folder, "cube.yaml"))
  expect_identical(design$verdict, "holds")
  expect_identical(nrow(as.data.frame(design)), 7L)
  built <- cube_build(file.path(folder, "cube.yaml"))
  expect_true(built$new)
  expect_output(print(built), "7 tables")
  asked <- cube_table(cube(built$path, verify = TRUE), c("region", "sex"), margins = TRUE)
  total <- asked$region == "_T" & asked$sex == "_T"
  inner <- asked$region != "_T" & asked$sex != "_T"
  expect_equal(sum(asked$estimate[inner]), asked$estimate[total], tolerance = 1e-9)
  expect_lt(abs(asked$estimate[total] - 2000), 50)
  with <- cube_table(built, ~ region, confidence = 0.95)
  expect_true(all(with$low < with$estimate & with$estimate < with$high))
  found <- infer(built, "region=n")
  expect_equal(found$estimate, with$estimate[with$region == "n"], tolerance = 1e-5)
  expect_equal(c(found$low, found$high), c(with$low[with$region == "n"], with$high[with$region == "n"]), tolerance = 1e-4)
  two <- cube_table(built, "region", group = list(region = list(ns = c("n", "s"))))
  expect_equal(two$estimate, sum(with$estimate[with$region %in% c("n", "s")]), tolerance = 1e-5)
  expect_true(all(cube_table(built, "work", whole = TRUE)$fitted >= 0))
  expect_error(cube_table(built, c("region", "sex", "work")), "does not have this table", class = "CELLAR_ERR_RULE")
  records <- synthesize(built, records = 500)
  expect_identical(dim(records), c(500L, 3L))
  expect_output(print(records), "no record was copied")
  write_synthesis(records, file.path(folder, "made.csv"))
  expect_true(file.exists(file.path(folder, "made.csv.synthetic.json")))
  report(built, file.path(folder, "cube.html"))
  expect_gt(file.size(file.path(folder, "cube.html")), 5000)
  pdf(NULL)
  on.exit(dev.off(), add = TRUE)
  expect_silent(plot(built))
})

test_that("a plan is checked and run", {
  folder <- scratch()
  country(folder)
  p <- plan(file.path(folder, "plan.yaml"))
  expect_output(print(p), "work")
  checked <- plan_check(p, without_counts = TRUE)
  expect_false(checked$confidential)
  expect_length(checked$refusals, 0)
  expect_equal(checked$pure_epsilon, 2)
  expect_true(summary(p)$confidential)
  done <- plan_run(p, date = "2026-11-18")
  expect_true(done$new)
  expect_true(all(c("work.csv", "certificate.json", "index.html") %in% list.files(file.path(folder, "pack"))))
  expect_s3_class(read_release(file.path(folder, "pack", "work.csv")), "cellar_release")
  writeLines("plan: 1\ntables: 3", file.path(folder, "bad.yaml"))
  expect_error(plan(file.path(folder, "bad.yaml")), "bad.yaml:", class = "cellar_error")
})

test_that("pages are written for the public and for the committee", {
  folder <- scratch()
  release <- protect(plain_table(), "discrete-laplace:epsilon=1", negatives = "keep", per_cell = TRUE)
  report(release, file.path(folder, "one.html"), title = "One <b>table</b>")
  page <- paste(readLines(file.path(folder, "one.html"), encoding = "UTF-8"), collapse = "\n")
  expect_match(page, "One &lt;b&gt;table", fixed = TRUE)
  report(list(a = release, b = release), file.path(folder, "two.html"))
  expect_error(report(release, file.path(folder, "one.html")), class = "CELLAR_ERR_EXISTS")
  t <- tabulate(make_frame(2), c("sex", "old"), codelists = list(sex = c("F", "M"), old = c("FALSE", "TRUE")))
  path <- report(t, file.path(folder, "committee.html"), known = "sex", sensitive = "old",
                 mechanisms = "discrete-laplace:epsilon=1", epsilons = c("0.5", "1"), copies = 2)
  expect_identical(format(file.info(path)$mode), "600")
})

test_that("synthetic records count back to the release", {
  t <- tabulate(make_frame(2), c("sex", "old"), codelists = list(sex = c("F", "M"), old = c("FALSE", "TRUE")))
  release <- protect(t, "discrete-laplace:epsilon=1", negatives = "zero")
  records <- synthesize(release)
  again <- true_counts(tabulate(as.data.frame(records), c("sex", "old"), codelists = list(sex = c("F", "M"), old = c("FALSE", "TRUE"))))
  expect_identical(again$count, release$released)
})

test_that("ONS's call changes counts as its table says", {
  set.seed(3)
  ptable <- expand.grid(pcv = 1:750, ckey = 0:255)
  ptable$pvalue <- pmax(-ptable$pcv, (ptable$pcv + ptable$ckey) %% 5 - 2)
  people <- data.frame(area = sample(c("a", "b"), 600, TRUE), age = sample(1:8, 600, TRUE), key = sample(0:255, 600, TRUE))
  found <- create_perturbed_table(people, "area", "age", "key", ptable, threshold = 0)
  want <- aggregate(cbind(n = 1, key = key) ~ area + age, people, sum)
  want$count <- want$n + with(want, pmax(-n, (n + key %% 256) %% 5 - 2))
  both <- merge(found, want, by = c("area", "age"))
  expect_identical(nrow(both), 16L)
  expect_equal(both$count.x, both$count.y)
  few <- create_perturbed_table(people, "area", "age", "key", ptable, threshold = 40)
  both <- merge(few, want, by = c("area", "age"))
  expect_identical(is.na(both$count.x), both$count.y < 40)
  expect_error(create_perturbed_table(people, "area", "age", "key", data.frame(x = 1)), "pcv")
})
