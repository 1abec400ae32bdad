# SPDX-License-Identifier: GPL-3.0-or-later
# The call that users of the Office for National Statistics' cell key method know.

create_perturbed_table <- function(data, geog, tab_vars, record_key, ptable, threshold = 10) {
  if (!is.data.frame(data)) refuse("`data` is a data frame of records")
  whole(number(threshold, "threshold"), "threshold")
  by <- c(texts(geog, "geog"), texts(tab_vars, "tab_vars"))
  if (length(by) == 0) refuse("`geog` and `tab_vars` name the variables of the table")
  text(record_key, "record_key")
  path <- ons_file(ptable)
  if (!identical(path, ptable)) on.exit(unlink(path))
  keys <- attr(read_ptable(path), "facts")$keys
  table <- tabulate(as.data.frame(data), by, record_key = record_key, key_range = keys, missing_as = "level",
                    rows_are_records = TRUE, domain_public = TRUE)
  how <- if (threshold > 0) list(negatives = "zero", threshold = threshold, below = "suppress") else list(negatives = "zero")
  release <- do.call(protect, c(list(table, paste0("cell-key:file=", path), domain_public = TRUE), how))
  cells <- as.data.frame(release, zeros = TRUE)
  names(cells)[ncol(cells)] <- "count"
  cells
}

# A perturbation table as a file: one with pcv, ckey, pvalue is written down, one of ours in ONS's layout.
ons_file <- function(ptable) {
  if (is.character(ptable)) return(path_of(ptable, "ptable"))
  path <- tempfile("ptable", fileext = ".csv")
  if (inherits(ptable, "cellar_ptable")) {
    write_ptable(ptable, path, layout = "ons")
    return(path)
  }
  if (!is.data.frame(ptable) || !all(c("pcv", "ckey", "pvalue") %in% names(ptable)))
    refuse("`ptable` is a data frame with pcv, ckey and pvalue, a perturbation table, or the path of a file")
  utils::write.csv(as.data.frame(ptable)[c("pcv", "ckey", "pvalue")], path, row.names = FALSE, quote = FALSE)
  path
}
