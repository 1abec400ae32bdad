# SPDX-License-Identifier: GPL-3.0-or-later
# What several tests need. The command line and the project's folder are those that the variables name; without them
# (a check outside the project's own build) the tests that compare with them are skipped.

REGIONS <- c("north", "south", "east", "west", "a,\"b\"", "M\u00fcnchen")

make_frame <- function(seed, n = 400) {
  set.seed(seed)
  pick <- function(from) sample(from, n, TRUE)
  data.frame(region = factor(pick(c(NA, REGIONS)), levels = REGIONS), sex = pick(c("F", "M")), age = pick(0:99),
             person = paste0("p", pick(seq_len(n))), weight = pick(0:39) / 8, old = pick(c(TRUE, FALSE)))
}

run <- function(...) {
  program <- Sys.getenv("CELLAR_PROGRAM")
  if (!nzchar(program)) skip("CELLAR_PROGRAM names no command line")
  output <- suppressWarnings(system2(program, shQuote(c(...)), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(output, "status"))) stop(paste(output, collapse = "\n"))
  output
}

root_file <- function(name) {
  root <- Sys.getenv("CELLAR_ROOT")
  if (!nzchar(root)) skip("CELLAR_ROOT names no sources")
  file.path(root, name)
}

scratch <- function(envir = parent.frame()) {
  folder <- tempfile("test")
  dir.create(folder, mode = "0700")
  do.call(on.exit, list(substitute(unlink(folder, recursive = TRUE), list(folder = folder)), add = TRUE), envir = envir)
  folder
}

bytes <- function(path) readBin(path, "raw", file.size(path))

plain_table <- function(seed = 1) {
  tabulate(make_frame(seed), ~ sex * old, codelists = list(sex = c("F", "M"), old = c("FALSE", "TRUE")))
}
