# SPDX-License-Identifier: GPL-3.0-or-later
# Tables that a connection counts are those that the command line counts of the same records in a file.

JOBS <- c("nurse", "Nurse", "nurse ", "O'Neill", "the \"boss\"", "back\\slash", "M\u00fcller", "10", "x'; DROP TABLE people; --")

connect <- function(frame, envir = parent.frame()) {
  skip_if_not_installed("RSQLite")
  con <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")
  do.call(on.exit, list(substitute(suppressWarnings(DBI::dbDisconnect(con)), list(con = con)), add = TRUE), envir = envir)
  DBI::dbWriteTable(con, "people", frame)
  con
}

make_people <- function(seed, n = 800) {
  set.seed(seed)
  pick <- function(from) sample(from, n, TRUE)
  data.frame(id = as.character(seq_len(n)), region = pick(c(NA, "", REGIONS)), job = pick(JOBS),
             age = pick(c(0:99, " 17 ", "29.99", "+15", "?", NA)), weight = sprintf("%.3f", pick(0:9999) / 1000),
             person = paste0("p", pick(seq_len(n / 2))), mark = as.character(pick(0:255)))
}

# One random question, as arguments of the command line and of tabulate().
draw_question <- function(folder) {
  by <- sample(c("region", "job", "age"), sample(3, 1))
  lists <- list(region = file.path(folder, "region.csv"), job = file.path(folder, "job.csv"))[intersect(by, c("region", "job"))]
  margins <- sample(c("none", "all"), 1)
  words <- c("--by", paste(by, collapse = ","), "--missing", "?", "--missing-as", "drop", "--margins", margins,
             if (length(lists)) rbind("--domain", paste0(names(lists), "=", unlist(lists))))
  given <- list(by = by, codelists = lists, missing = "?", missing_as = "drop", margins = margins)
  add <- function(more, ...) {
    words <<- c(words, more)
    given <<- c(given, list(...))
  }
  if ("age" %in% by)
    add(c("--bottom", "age=15", "--top", "age=75", "--band", "age=2.5"),
        recodes = list(age = recode(bottom = 15, top = 75, band = "2.5")))
  if (runif(1) < 0.5) {
    where <- sample(c("age>=18", "job!=nurse|10", "weight<5.125", "job=O'Neill|back\\slash"), 1)
    add(c("--where", where), where = where)
  }
  if (runif(1) < 0.5) add(c("--weight", "weight", "--max-weight", "7"), weight = "weight", max_weight = 7)
  if (runif(1) < 0.4) add(c("--record-key", "mark", "--key-range", "256"), record_key = "mark", key_range = 256)
  if (runif(1) < 0.4) add(c("--unit", "person", "--max-per-unit", "1"), unit = "person", max_per_unit = 1)
  list(words = words, given = given)
}

test_that("tables have the bytes of the command line's", {
  folder <- scratch()
  here <- function(name) file.path(folder, name)
  write_lists <- function(name, codes) write.csv(data.frame(code = codes), here(name), row.names = FALSE, fileEncoding = "UTF-8")
  write_lists("region.csv", REGIONS)
  write_lists("job.csv", JOBS)
  people <- make_people(1)
  con <- connect(people)
  write.csv(people, here("people.csv"), row.names = FALSE, na = "", fileEncoding = "UTF-8")
  for (number in 1:25) {
    question <- draw_question(folder)
    run("tabulate", here("people.csv"), question$words, "--force", "-o", here("file.json"))
    more <- if (!is.null(question$given$unit)) list(order_by = "rowid")
    table <- do.call(tabulate, c(list(con, table = "people"), question$given, more))
    write_table(table, here("connection.json"), replace = TRUE)
    expect_identical(bytes(here("connection.json")), bytes(here("file.json")), info = paste(question$words, collapse = " "))
  }
})

test_that("a formula, a release and the row report are those of the data frame", {
  people <- data.frame(sex = c("F", "M", "F", NA), job = c("cook", "cook", "nurse", "nurse"))
  con <- connect(people)
  lists <- list(sex = c("F", "M"), job = c("cook", "nurse"))
  there <- tabulate(con, ~ sex * job, lists, table = "people", missing_as = "drop")
  here <- tabulate(people, ~ sex * job, lists, missing_as = "drop")
  expect_identical(true_counts(there), true_counts(here))
  expect_identical(row_report(there), row_report(here))
  expect_s3_class(protect(there, "discrete-laplace", negatives = "keep", total_epsilon = "2"), "cellar_release")
})

test_that("what cannot be counted is refused in the words of a file", {
  people <- make_people(2, 50)
  people$age[7] <- "x"
  con <- connect(people)
  age <- list(age = recode(bottom = 15, top = 75, band = 5))
  jobs <- list(job = JOBS)
  ask_for <- function(...) tabulate(con, table = "people", ...)
  expect_error(ask_for("job", list(job = "cook")), "^sqlite: column 'job': ", class = "CELLAR_ERR_INPUT")
  expect_error(ask_for("age", recodes = age), "^sqlite: column 'age': ", class = "CELLAR_ERR_INPUT")
  expect_error(ask_for("job", jobs, unit = "person", max_per_unit = 1), "`order_by`", class = "CELLAR_ERR_UNSUPPORTED")
  expect_error(ask_for("job", jobs, unit = "person", max_per_unit = 1, order_by = "mark"), NA)
  tied <- connect(data.frame(job = rep("nurse", 2), person = "p", at = 1))
  expect_error(tabulate(tied, "job", jobs, table = "people", unit = "person", max_per_unit = 1, order_by = "at"), "has ties")
  expect_error(ask_for("job", jobs, freqVar = "mark"), "every row is one record", class = "CELLAR_ERR_UNSUPPORTED")
  key <- file.path(scratch(), "key")
  create_key(key, "2026")
  expect_error(ask_for("job", jobs, record_id = "id", key = read_key(key)), "would have to know the secret")
  expect_error(ask_for("job", jobs, weight = "age", missing_as = "drop"), "^sqlite: column 'age': ")
  expect_error(tabulate(con, "job", jobs), "`table` names the table")
  expect_error(ask_for("job", jobs, dialect = "oracle"), "`dialect` is one of")
  expect_error(ask_for("job", jobs, delimiter = ";"), "unused argument")
})

test_that("names are only names", {
  frame <- data.frame(sex = c("F", "M"))
  frame[["a\"b`c"]] <- "x"
  con <- connect(frame)
  sexes <- list(sex = c("F", "M"))
  for (name in c("people; DROP TABLE people", "people\" WHERE 1=1; DROP TABLE people; --", "people` --", "\"people",
                 "people.", "people'", "people) --", "peeple"))
    expect_error(tabulate(con, "sex", sexes, table = name), class = "cellar_error")
  for (name in c("sex\" FROM people; DROP TABLE people; --", "sex` FROM people; DROP TABLE people; --", "sex'--", "nosuch"))
    expect_error(tabulate(con, name, setNames(list("F"), name), table = "people"), "^sqlite: no such column",
                 class = "CELLAR_ERR_IO")
  table <- tabulate(con, "a\"b`c", setNames(list("x"), "a\"b`c"), table = "people", margins = "none")
  expect_identical(true_counts(table)$count, 2)
})

test_that("a connection that dies in the middle is one error", {
  con <- connect(data.frame(sex = c("F", "M", "F")))
  sexes <- list(sex = c("F", "M"))
  asked <- cellar:::asking(con, "sqlite")
  first <- asked$fetch("SELECT sex, count(*), 0.5 AS h FROM people GROUP BY sex ORDER BY sex")
  expect_identical(first, list(c("F", "M"), c("2", "1"), c("0.5", "0.5")))
  expect_null(asked$fetch("")) # the answer is at its end
  asked$close()
  suppressWarnings(DBI::dbDisconnect(con))
  refusal <- expect_error(tabulate(con, "sex", sexes, table = "people"), "^sqlite: ", class = "CELLAR_ERR_IO")
  expect_identical(length(strsplit(conditionMessage(refusal), "\n")[[1]]), 1L)
})

test_that("an answer that breaks off, is cut off or is another's is refused", {
  spec <- cellar:::tabulation("sex", list(sex = c("F", "M")))
  place <- list(table = "people", dialect = "sqlite")
  answer <- function(...) {
    pieces <- list(...)
    call <- 0
    .Call(cellar:::C_tabulate_database, spec, place, function(sql) {
      call <<- call + 1
      if (call > length(pieces)) NULL else if (is.function(pieces[[call]])) pieces[[call]]() else pieces[[call]]
    })
  }
  one <- function(leaf, of) list("0", leaf, "3", of)
  expect_identical(true_counts(cellar:::new_table(answer(one("0", "2"), one("1", "2"))))$count, c(3, 3))
  expect_match(answer(one("0", "2"))$message, "cut off")
  expect_match(answer(one("7", "1"))$message, "is not one to this question")
  expect_match(answer(list(NA_character_, "0", "1", "1"))$message, "is not one to this question")
  expect_match(answer(list("0", "1"))$message, "other columns")
  expect_error(answer(one("0", "2"), function() stop("the connection is gone")), "is gone")
})

test_that("the dialect follows from the connection", {
  skip_if_not_installed("DBI")
  of <- function(class) {
    where <- new.env()
    methods::setClass(class, contains = "DBIConnection", where = where)
    on.exit(methods::removeClass(class, where = where))
    cellar:::dialect_of(methods::new(class), NULL)
  }
  loadNamespace("DBI")
  expect_identical(vapply(c("SQLiteConnection", "PqConnection", "PostgreSQLConnection", "MariaDBConnection",
                            "duckdb_connection", "Spark SQL", "Snowflake", "BigQueryConnection"), of, "", USE.NAMES = FALSE),
                   c("sqlite", "postgresql", "postgresql", "mariadb", "duckdb", "spark", "snowflake", "bigquery"))
  expect_error(of("Elsewhere"), "name it by `dialect`")
})
