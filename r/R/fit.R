# SPDX-License-Identifier: GPL-3.0-or-later
# One table that adds, from releases that do not; estimates as data frames.

fit <- function(..., official = "fitted", margins = "released", sd = FALSE, max_move = NULL, max_cells = NULL) {
  releases <- list(...)
  named <- names(releases)[!vapply(releases, is.list, NA)] # an argument that fit() has not, such as Python's
  if (length(named) && nzchar(named[1])) refuse("fit() has no argument '", named[1], "'")
  if (length(releases) == 1 && !is.data.frame(releases[[1]]) && is.list(releases[[1]])) releases <- releases[[1]]
  if (length(releases) == 0) refuse("fit() needs a release, which protect() or read_release() makes")
  new_estimate(.Call(C_fit, unname(lapply(releases, release_handle)),
                     list(official = place_of(official, "official", c("fitted", "released")),
                          all_margins = place_of(margins, "margins", c("released", "all")),
                          sd = flag(sd, "sd"), max_move = max_move, max_cells = whole(max_cells, "max_cells"))))
}

# A data frame: the variables, `observed` where it comes from releases, `estimate`, `se`, `fitted`.
new_estimate <- function(answer) {
  found <- ask(answer)
  cells <- found$cells
  names(cells) <- c(vapply(found$variables, function(v) v$name, ""), "estimate", "se", "fitted", "observed")
  cells <- cells[!vapply(cells, is.null, NA)]
  cells <- cells[order(match(names(cells), c("estimate", "se", "fitted", "observed"), nomatch = 0))]
  structure(list2frame(cells), class = c("cellar_estimate", "data.frame"),
            facts = found[c("variables", "method", "description")], handle = found$handle)
}

read_estimate <- function(path) new_estimate(.Call(C_read_estimate, path_of(path)))

write_estimate <- function(estimate, path, whole = FALSE, replace = FALSE, title = NULL, source = NULL, note = NULL) {
  if (!inherits(estimate, "cellar_estimate")) refuse("expected an estimate, which fit(), cube_table() or read_estimate() makes")
  ask(.Call(C_write_estimate, attr(estimate, "handle"), path_of(path),
            list(whole = flag(whole, "whole"), replace = flag(replace, "replace"), title = text(title, "title"),
                 source = text(source, "source"), note = text(note, "note"))))
  invisible(estimate)
}

`[.cellar_estimate` <- function(x, ...) {
  part <- NextMethod()
  if (is.data.frame(part)) as.data.frame.cellar_estimate(part) else part
}

as.data.frame.cellar_estimate <- function(x, ...) {
  attr(x, "facts") <- attr(x, "handle") <- NULL
  class(x) <- "data.frame"
  x
}

print.cellar_estimate <- function(x, n = 20, ...) {
  facts <- attr(x, "facts")
  writeLines(c(paste0("Estimates of ", shape_text(facts$variables)), strwrap(facts$method, 100)))
  print(head(as.data.frame(x), n), ...)
  if (nrow(x) > n) cat("... and ", nrow(x) - n, " more cells\n", sep = "")
  invisible(x)
}
