# SPDX-License-Identifier: GPL-3.0-or-later
# Ledgers: the budget of data sets. protect() charges them.

create_ledger <- function(path, dataset, unit, neighbours, epsilon = NULL, delta = NULL, rho = NULL, edition = "1",
                          population = 0, key = paste0(path, ".key"), witness = NULL, accept_delta = FALSE) {
  options <- c(new_dataset(dataset, unit, neighbours, epsilon, delta, rho, edition, population, accept_delta),
               list(witness = path_of(witness, "witness")))
  ask(.Call(C_create_ledger, path_of(path), path_of(key, "key"), options))
  ledger(path, key)
}

new_dataset <- function(dataset, unit, neighbours, epsilon, delta, rho, edition, population, accept_delta) {
  list(dataset = text(dataset, "dataset"), unit = text(unit, "unit"),
       neighbours = choice(neighbours, "neighbours", NEIGHBOURS), epsilon = exact(epsilon, "epsilon"),
       delta = exact(delta, "delta"), rho = exact(rho, "rho"), edition = text(edition, "edition"),
       population = whole(population, "population"), accept_delta = flag(accept_delta, "accept_delta"))
}

# Ledgers go by their path; one that was opened here names it and its key.
ledger_files <- function(ledger, key) {
  path <- if (inherits(ledger, "cellar_ledger")) ledger$path else text(ledger, "ledger")
  if (is.null(key)) key <- if (inherits(ledger, "cellar_ledger")) ledger$key else paste0(path, ".key")
  list(path = path_of(path, "ledger"), key = path_of(key, "key"))
}

ledger_add <- function(ledger, dataset, edition = NULL, analyst = NULL, unit = NULL, neighbours = NULL, epsilon = NULL,
                       delta = NULL, rho = NULL, population = 0, accept_delta = FALSE, key = NULL) {
  files <- ledger_files(ledger, key)
  has_cap <- !is.null(epsilon) || !is.null(delta) || !is.null(rho)
  if (!has_cap && (!is.null(analyst) || is.null(edition)))
    refuse("a dataset and the share of an analyst need a cap (`epsilon`, `delta` or `rho`), an edition its name")
  if (has_cap && is.null(analyst) && (is.null(unit) || is.null(neighbours)))
    refuse("a new dataset needs `unit` and `neighbours`: what is protected")
  given <- new_dataset(dataset, unit, neighbours, epsilon, delta, rho, if (is.null(edition)) "1" else edition, population,
                       accept_delta)
  ask(.Call(C_add_to_ledger, files$path, files$key,
            c(given, list(analyst = text(analyst, "analyst"), has_cap = as.integer(has_cap)))))
  invisible(ledger_of(files))
}

ledger_enter <- function(ledger, dataset, kind, what, edition = NULL, key = NULL) {
  files <- ledger_files(ledger, key)
  ask(.Call(C_enter_in_ledger, files$path, files$key,
            list(dataset = text(dataset, "dataset"), edition = text(edition, "edition"), what = text(what, "what"),
                 kind = place_of(kind, "kind", UNCHARGED))))
  invisible(ledger_of(files))
}

ledger_adopt <- function(ledger, witness = NULL, key = NULL) {
  files <- ledger_files(ledger, key)
  ask(.Call(C_adopt_ledger, files$path, files$key, path_of(witness, "witness")))
  invisible(ledger_of(files))
}

ledger_amplify <- function(ledger, dataset, sampling, rate, unit, panel = FALSE, calibrated_weights = FALSE, key = NULL) {
  files <- ledger_files(ledger, key)
  found <- ask(.Call(C_amplify_ledger, files$path, files$key,
                     list(dataset = text(dataset, "dataset"), unit = text(unit, "unit"), rate = rate,
                          scheme = place_of(sampling, "sampling", SCHEMES),
                          panel = flag(panel, "panel"), calibrated_weights = flag(calibrated_weights, "calibrated_weights"))))
  structure(data.frame(dataset = dataset, epsilon = found$epsilon, delta = found$delta), assumptions = found$assumptions)
}

ledger_of <- function(files) ledger(files$path, files$key)

UNCHARGED <- c("cell-key", "invariant", "elsewhere")
SCHEMES <- c("poisson", "without-replacement")

ledger <- function(path, key = paste0(path, ".key")) {
  found <- ask(.Call(C_ledger, path_of(path), path_of(key, "key")))
  found$history <- list2frame(found$history)
  structure(c(list(path = path, key = key), found), class = "cellar_ledger")
}

verify_ledger <- function(path, against = NULL, key = paste0(path, ".key")) {
  entry <- ask(.Call(C_verify_ledger, path_of(path), path_of(key, "key"), path_of(against, "against")))
  invisible(if (is.null(against)) TRUE else entry)
}

amount_text <- function(amounts) {
  given <- amounts[!vapply(amounts, is.na, NA)]
  paste(names(given), unlist(given), collapse = ", ")
}

as.data.frame.cellar_ledger <- function(x, ...) {
  rows <- lapply(x$balances, function(b) {
    data.frame(dataset = b$dataset, analyst = b$analyst, unit = b$unit, neighbours = b$neighbours, cap = amount_text(b$cap),
               spent = amount_text(b$spent), left = amount_text(b$left), charges = b$charges)
  })
  do.call(rbind, rows)
}

print.cellar_ledger <- function(x, ...) {
  cat("Ledger ", x$id, ", ", nrow(x$history), " entries", if (is.na(x$witness)) ", no witness", "\n", sep = "")
  print(as.data.frame(x), row.names = FALSE, ...)
  invisible(x)
}

summary.cellar_ledger <- function(object, ...) {
  statements <- vapply(object$balances, function(b) if (is.na(b$statement)) "" else b$statement, "")
  writeLines(statements[nzchar(statements)])
  invisible(object)
}
