# SPDX-License-Identifier: GPL-3.0-or-later
# Ledgers: the budget of data sets. protect() charges them.

create_ledger <- function(path, dataset, unit, neighbours, epsilon = NULL, delta = NULL, rho = NULL, edition = "1",
                          population = 0, key = paste0(path, ".key"), witness = NULL, accept_delta = FALSE) {
  options <- list(dataset = text(dataset, "dataset"), unit = text(unit, "unit"),
                  neighbours = choice(neighbours, "neighbours", NEIGHBOURS), epsilon = exact(epsilon, "epsilon"),
                  delta = exact(delta, "delta"), rho = exact(rho, "rho"), edition = text(edition, "edition"),
                  population = whole(population, "population"), witness = path_of(witness, "witness"),
                  accept_delta = flag(accept_delta, "accept_delta"))
  ask(.Call(C_create_ledger, path_of(path), path_of(key, "key"), options))
  ledger(path, key)
}

ledger <- function(path, key = paste0(path, ".key")) {
  found <- ask(.Call(C_ledger, path_of(path), path_of(key, "key")))
  found$history <- list2frame(found$history)
  structure(c(list(path = path), found), class = "cellar_ledger")
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
