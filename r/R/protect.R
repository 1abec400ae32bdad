# SPDX-License-Identifier: GPL-3.0-or-later
# Keys, and from true tables to releases.

create_key <- function(path, edition = NULL) {
  ask(.Call(C_create_key, path_of(path), text(edition, "edition")))
  invisible(path)
}

read_key <- function(path) {
  handle <- ask(.Call(C_read_key, path_of(path)))
  class(handle) <- "cellar_key"
  handle
}

format.cellar_key <- function(x, ...) {
  paste0("<key ", tryCatch(.Call(C_key_id, x), error = function(e) "of another session or process"), ">")
}

print.cellar_key <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

str.cellar_key <- function(object, ...) cat("", format(object), "\n")

protect <- function(table, mechanism, negatives, per_cell = FALSE, total_epsilon = NULL, delta = NULL, threshold = 0,
                    below = "zero", unit = NULL, neighbours = NULL, per_unit = 1, max_weight = 0,
                    domain_public = FALSE, chosen = NULL, accept = character(), date = NULL, key = NULL,
                    edition = NULL, ledger = NULL, ledger_key = NULL, dataset = NULL, request = NULL, analyst = NULL,
                    accept_delta = FALSE, output = NULL, max_cells = NULL, threads = 0) {
  need_table(table)
  if (missing(negatives)) refuse("say what becomes of negative released values: negatives = \"keep\" or \"zero\"")
  unknown <- setdiff(texts(accept, "accept"), c("no-protection", "large-epsilon"))
  if (length(unknown)) refuse("`accept` is \"no-protection\" or \"large-epsilon\", not \"", unknown[1], "\"")
  if (!is.null(ledger) && (is.null(output) || is.null(request) || is.null(dataset)))
    refuse("a release that a ledger pays for needs `dataset`, `request` and `output`: the file is its record")
  files <- if (is.null(ledger)) list(key = path_of(ledger_key, "ledger_key")) else ledger_files(ledger, ledger_key)
  options <- list(
    negatives = choice(negatives, "negatives", NEGATIVES), per_cell = flag(per_cell, "per_cell"),
    total_epsilon = exact(total_epsilon, "total_epsilon"), delta = exact(delta, "delta"),
    threshold = whole(threshold, "threshold"), below = choice(below, "below", c("zero", "suppress")),
    unit = text(unit, "unit"), neighbours = choice(neighbours, "neighbours", NEIGHBOURS),
    per_unit = whole(per_unit, "per_unit"), max_weight = whole(max_weight, "max_weight"),
    domain_public = flag(domain_public, "domain_public"), chosen = chosen_code(chosen),
    accept = texts(accept, "accept"), date = day(date, "date"), key = need_key(key),
    edition = text(edition, "edition"), ledger = files$path, ledger_key = files$key,
    dataset = text(dataset, "dataset"),
    request = text(request, "request"), analyst = text(analyst, "analyst"),
    accept_delta = flag(accept_delta, "accept_delta"), output = path_of(output, "output"),
    max_cells = whole(max_cells, "max_cells"), threads = whole(threads, "threads"))
  release <- new_release(.Call(C_protect, table, spec_of(mechanism), options))
  if (!is.null(output) && is.null(ledger)) write_release(release, output)
  release
}

# A mechanism by its spec, or as mechanism() made it.
spec_of <- function(mechanism) {
  if (is.null(mechanism)) refuse("`mechanism` is a spec such as \"discrete-laplace:epsilon=0.5\", or what mechanism() made")
  if (inherits(mechanism, "cellar_mechanism")) mechanism$spec else text(mechanism, "mechanism")
}
