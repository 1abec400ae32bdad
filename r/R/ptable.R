# SPDX-License-Identifier: GPL-3.0-or-later
# Perturbation tables: designed in the words of the R package ptable, read, written.

ptable <- function(D, V, js = 0, pstay = NULL, optim = 1, mono = TRUE) {
  lists <- function(values, name) paste(design_decimals(values, name), collapse = ":")
  if (!is.logical(mono) || anyNA(mono)) refuse("`mono` is TRUE or FALSE, or a value for each count from 1")
  if (!is.numeric(optim) || length(optim) != 1 || !optim %in% 1:4) refuse("`optim` is 1, 2, 3 or 4")
  parts <- c(variance = text(design_decimals(V, "V"), "V"), m = exact(D, "D"), min = exact(js, "js"),
             stay = if (!is.null(pstay)) lists(pstay, "pstay"),
             mono = if (any(mono)) paste(ifelse(mono, "yes", "no"), collapse = ":"),
             form = if (optim < 4) "at-most")
  spec <- paste0("max-entropy:", paste0(names(parts), "=", parts, collapse = ","))
  path <- tempfile("ptable") # a design depends on no data
  on.exit(unlink(path))
  new_ptable(.Call(C_design_matrix, spec, path), spec)
}

# Fractions as the package ptable takes them, 0.5: nothing that a certificate states hangs on their last digit.
design_decimals <- function(values, name) {
  if (is.numeric(values) && length(values) && all(is.finite(values)))
    values <- vapply(as.vector(values), format, "", digits = 15, scientific = FALSE)
  exacts(values, name)
}

read_ptable <- function(path, large = NULL) {
  rule <- match(choice(large, "large", c("last", "rotate")), c("last", "rotate"))
  new_ptable(.Call(C_read_matrix, path_of(path), if (length(rule)) rule else 0L), NULL)
}

# Rows i (count), j (released), p, v (change): the columns that the R package ptable has.
new_ptable <- function(answer, spec) {
  handle <- ask(answer)
  facts <- .Call(C_matrix_facts, handle)
  facts$rows <- list2frame(facts$rows)
  cells <- facts$cells
  facts$cells <- NULL
  structure(list2frame(cells), class = c("cellar_ptable", "data.frame"), facts = c(list(spec = spec), facts), handle = handle)
}

LAYOUTS <- c("ptable", "ons", "cantabular")

write_ptable <- function(x, path, layout = "ptable", keys = NULL, replace = FALSE) {
  if (!inherits(x, "cellar_ptable")) refuse("expected a perturbation table, which ptable() or read_ptable() makes")
  kind <- place_of(layout, "layout", LAYOUTS)
  if (is.null(keys) && kind > 0 && attr(x, "facts")$keys == 0) keys <- 256
  ask(.Call(C_write_matrix, attr(x, "handle"), path_of(path),
            list(layout = kind, keys = whole(keys, "keys"), replace = flag(replace, "replace"))))
  invisible(x)
}

print.cellar_ptable <- function(x, ...) {
  facts <- attr(x, "facts")
  cat("Perturbation table ", substr(facts$digest, 1, 8), if (!is.null(facts$spec)) paste0(", ", facts$spec), "\n", sep = "")
  print(facts$rows, row.names = FALSE, ...)
  cat("Counts beyond the last row: ", if (facts$large == "last") "as the last row" else "rows 501 to 750 in turn",
      ". Two cells that differ by one record differ in a release with probability at most ",
      format(facts$difference, digits = 4), ": cell keys have no differential privacy.\n", sep = "")
  invisible(x)
}

summary.cellar_ptable <- function(object, ...) attr(object, "facts")$rows

as.data.frame.cellar_ptable <- function(x, ...) {
  attr(x, "facts") <- attr(x, "handle") <- NULL
  class(x) <- "data.frame"
  x
}

plot.cellar_ptable <- function(x, ...) {
  last <- max(x$i)
  cells <- as.data.frame(x)[x$i == last, ]
  plot(cells$v, cells$p, type = "h", xlab = "change", ylab = "probability", main = paste("counts from", last), ...)
  invisible(x)
}
