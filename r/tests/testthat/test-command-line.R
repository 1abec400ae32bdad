# SPDX-License-Identifier: GPL-3.0-or-later
# Twenty fixtures: the package and the command line draw the same keyed releases, byte for byte.

write_codes <- function(path, codes) {
  write.csv(data.frame(code = codes), path, row.names = FALSE, fileEncoding = "UTF-8")
  path
}

fixtures <- function() {
  bands <- list(age = recode(bottom = 10, top = 80, band = "10"))
  steps <- c("--bottom", "age=10", "--top", "age=80", "--band", "age=10")
  tables <- list(list(by = c("region", "sex")), list(by = "sex"), list(by = c("sex", "age"), recodes = bands),
                 list(by = c("region", "sex", "age"), recodes = bands), list(by = c("sex", "region")))
  cases <- list()
  for (table in tables)
    for (margins in c("none", "all"))
      for (few in c(FALSE, TRUE)) {
        case <- c(table, list(margins = margins, arguments = if (is.null(table$recodes)) character() else steps))
        if (few) {
          case$where <- "age>=18"
          case$unit <- "person"
          case$max_per_unit <- 1
          case$arguments <- c(case$arguments, "--where", "age>=18", "--unit", "person", "--max-per-unit", "1")
        }
        cases <- c(cases, list(case))
      }
  cases
}

MECHANISMS <- c("discrete-laplace:epsilon=0.5", "discrete-gaussian:sigma=2", "laplace:epsilon=1")

test_that("keyed releases are the command line's", {
  folder <- scratch()
  here <- function(name) file.path(folder, name)
  lists <- list(region = write_codes(here("region.csv"), REGIONS), sex = write_codes(here("sex.csv"), c("F", "M")))
  create_key(here("key"), "2026")
  key <- read_key(here("key"))
  cases <- fixtures()
  expect_length(cases, 20)
  for (number in seq_along(cases)) {
    case <- cases[[number]]
    frame <- make_frame(number)
    write.csv(frame, here("rows.csv"), row.names = FALSE, na = "", fileEncoding = "UTF-8")
    used <- lists[intersect(names(lists), case$by)]
    mechanism <- MECHANISMS[length(case$by) %% 3 + 1]
    run("tabulate", here("rows.csv"), "--by", paste(case$by, collapse = ","), "--missing-as", "drop", "--margins",
        case$margins, rbind("--domain", paste0(names(used), "=", used)), case$arguments, "--force", "-o", here("table.json"))
    run("protect", here("table.json"), "--mechanism", mechanism, "--negatives", "keep", "--per-cell", "--noise", "keyed",
        "--key", here("key"), "--edition", "2026", "--date", "2026-11-18", "--force", "-o", here("cli.csv"))
    table <- do.call(tabulate, c(list(frame, codelists = used, missing_as = "drop"), case[names(case) != "arguments"]))
    release <- protect(table, mechanism, negatives = "keep", per_cell = TRUE, key = key, edition = "2026",
                       date = "2026-11-18")
    write_release(release, here("package.csv"), replace = TRUE)
    for (ending in c("", ".cellar.json"))
      expect_identical(bytes(here(paste0("package.csv", ending))), bytes(here(paste0("cli.csv", ending))), info = number)
    expect_identical(as.data.frame(read_release(here("cli.csv"))), as.data.frame(release), info = number)
  }
})

test_that("the total is split as the command line splits it", {
  folder <- scratch()
  frame <- make_frame(3)
  frame$region <- NULL
  write.csv(frame, file.path(folder, "rows.csv"), row.names = FALSE)
  write_codes(file.path(folder, "sex.csv"), c("F", "M"))
  run("tabulate", file.path(folder, "rows.csv"), "--by", "sex", "--margins", "all", "--domain",
      paste0("sex=", folder, "/sex.csv"), "-o", file.path(folder, "t.json"))
  table <- read_table(file.path(folder, "t.json"))
  for (case in list(list("discrete-laplace", NULL), list("discrete-gaussian", "1e-6"))) {
    out <- file.path(folder, "out.json")
    run("protect", file.path(folder, "t.json"), "--mechanism", case[[1]], "--total-epsilon", "1", "--negatives", "keep",
        if (!is.null(case[[2]])) c("--delta", case[[2]]), "--force", "-o", out)
    ours <- protect(table, case[[1]], negatives = "keep", total_epsilon = "1", delta = case[[2]])
    expect_identical(attr(ours, "facts")$mechanism, attr(read_release(out), "facts")$mechanism)
    expect_identical(attr(ours, "facts")$total_epsilon, attr(read_release(out), "facts")$total_epsilon)
  }
})

test_that("a certificate is the command line's, word for word", {
  for (spec in c("discrete-laplace:epsilon=0.5", "discrete-gaussian:sigma=3"))
    expect_identical(certify(spec, epsilons = "0.25", deltas = "1e-6")$text,
                     run("certify", spec, "--epsilon", "0.25", "--delta", "1e-6"))
})

test_that("a ledger pays once", {
  folder <- scratch()
  ledger <- file.path(folder, "budget")
  run("ledger", "create", ledger, "--dataset", "census", "--epsilon", "1", "--unit", "person", "--neighbours", "add-remove")
  ask_for <- function(request) {
    protect(plain_table(), "discrete-laplace", negatives = "keep", total_epsilon = "0.6", ledger = ledger,
            dataset = "census", request = request, output = file.path(folder, paste0(request, ".csv")))
  }
  first <- ask_for("one")
  expect_match(attr(first, "facts")$ledger, "^cellar-ledger ")
  expect_identical(as.data.frame(ask_for("one")), as.data.frame(first))
  refusal <- expect_error(ask_for("two"), class = "CELLAR_ERR_BUDGET")
  expect_identical(refusal$status, "CELLAR_ERR_BUDGET")
  expect_false(file.exists(file.path(folder, "two.csv")))
})
