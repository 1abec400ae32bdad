# SPDX-License-Identifier: GPL-3.0-or-later
# Releases: data frames of codes and released values, which say how they were made.

# The data frame, with what the release says about itself and a handle for what needs all of it.
new_release <- function(answer) {
  handle <- ask(answer)
  facts <- .Call(C_release_facts, handle)
  structure(release_frame(handle, facts), class = c("cellar_release", "data.frame"), facts = facts, handle = handle)
}

release_frame <- function(handle, facts, zeros = FALSE) {
  cells <- .Call(C_release_cells, handle, zeros)
  names(cells) <- c(vapply(facts$variables, function(v) v$name, ""), "released")
  list2frame(cells)
}

# The handle of a release that is still what the library made: one that was edited, or came from a file of R's, is not.
release_handle <- function(release) {
  if (is.data.frame(release) && !inherits(release, "cellar_release"))
    refuse("expected a release, which protect() or read_release() makes; a part of one, and one that was edited, is none")
  if (!inherits(release, "cellar_release")) refuse("expected a release, which protect() or read_release() makes")
  handle <- attr(release, "handle")
  now <- release_frame(handle, attr(release, "facts"))
  if (!identical(unclass(plain(release))[names(now)], unclass(now)[names(now)]))
    refuse("this release was changed after it was made: use the one that protect() or read_release() answered")
  handle
}

plain <- function(x) {
  class(x) <- setdiff(class(x), "cellar_release")
  attr(x, "facts") <- attr(x, "handle") <- NULL
  x
}

read_release <- function(path) new_release(.Call(C_read_release, path_of(path)))

write_release <- function(release, path, zeros = FALSE, replace = FALSE, title = NULL, source = NULL, note = NULL,
                          units = NULL, updated = NULL) {
  ask(.Call(C_write_release, release_handle(release), path_of(path),
            list(zeros = flag(zeros, "zeros"), replace = flag(replace, "replace"), title = text(title, "title"),
                 source = text(source, "source"), note = text(note, "note"), units = text(units, "units"),
                 updated = day(updated, "updated"))))
  invisible(release)
}

value_of <- function(release, ...) {
  handle <- release_handle(release)
  codes <- list(...)
  variables <- vapply(attr(release, "facts")$variables, function(v) v$name, "")
  unknown <- setdiff(names(codes), variables)
  if (length(codes) && (is.null(names(codes)) || length(unknown)))
    refuse("the release has no variable '", if (length(unknown)) unknown[1] else "", "'")
  asked <- vapply(variables, function(v) {
    code <- codes[[v]]
    if (is.null(code)) "" else text(if (is.atomic(code)) as.character(code) else code, v)
  }, "")
  ask(.Call(C_release_at, handle, list(codes = asked)))
}

# ---- S3 --------------------------------------------------------------------------------------------------------

# Part of a release, or one that was edited, is an ordinary data frame.
`[.cellar_release` <- function(x, ...) {
  part <- NextMethod()
  if (is.data.frame(part)) plain(part) else part
}
`[<-.cellar_release` <- function(x, ..., value) plain(NextMethod())
`[[<-.cellar_release` <- function(x, ..., value) plain(NextMethod())
`$<-.cellar_release` <- function(x, name, value) plain(NextMethod())

as.data.frame.cellar_release <- function(x, ..., zeros = FALSE) {
  if (!zeros) return(plain(x))
  release_frame(release_handle(x), attr(x, "facts"), zeros = TRUE)
}

release_title <- function(facts) {
  c(paste0("Release of ", shape_text(facts$variables), " by ", facts$mechanism),
    facts$guarantee, paste("account:", facts$ledger))
}

print.cellar_release <- function(x, n = 20, ...) {
  writeLines(release_title(attr(x, "facts")))
  print(head(plain(x), n), ...)
  if (nrow(x) > n) cat("... and ", nrow(x) - n, " more cells\n", sep = "")
  invisible(x)
}

summary.cellar_release <- function(object, ...) {
  facts <- attr(object, "facts")
  structure(list(facts = facts, cells = nrow(object), suppressed = sum(is.na(object$released)),
                 values = summary(object$released)), class = "cellar_release_summary")
}

print.cellar_release_summary <- function(x, ...) {
  facts <- x$facts
  writeLines(release_title(facts))
  writeLines(c(paste0("hidden about one ", facts$unit, ": ", facts$neighbours),
               paste0("noise: ", facts$noise, "; negatives: ", facts$negatives, "; date: ", facts$date),
               paste0("cells listed: ", x$cells, if (x$suppressed) paste0(", suppressed: ", x$suppressed)),
               "released values:"))
  print(x$values)
  invisible(x)
}

plot.cellar_release <- function(x, n = 40, ...) {
  cells <- head(plain(x), n)
  variables <- setdiff(names(cells), "released")
  labels <- do.call(paste, c(lapply(cells[variables], as.character), sep = ", "))
  room <- par("mar") # for the longest label, in lines of the margin
  room[1] <- min(1 + max(strwidth(labels, "inches")) / par("csi"), 0.6 * par("din")[2] / par("csi"))
  room[2] <- room[2] + 1
  before <- par(mar = room, mgp = c(room[2] - 1, 1, 0))
  on.exit(par(before))
  barplot(cells$released, names.arg = labels, las = 2, ylab = "released", ...)
  invisible(x)
}
