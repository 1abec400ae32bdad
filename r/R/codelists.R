# SPDX-License-Identifier: GPL-3.0-or-later
# Code lists, hierarchies and recodes: from files, vectors and data frames to what the library holds.

csv_field <- function(x) {
  x <- as.character(x)
  ifelse(is.na(x), "", paste0("\"", gsub("\"", "\"\"", x, fixed = TRUE), "\""))
}

csv_text <- function(frame) {
  rows <- do.call(paste, c(lapply(frame, csv_field), sep = ","))
  paste0(paste(c(paste(csv_field(names(frame)), collapse = ","), rows), collapse = "\n"), "\n")
}

parse_codelist <- function(frame, name) {
  ask(.Call(C_parse_codelist, paste0("code list of '", name, "'"), enc2utf8(csv_text(frame))))
}

# A file, or FILE#NAME: a list of an XML file that may have several.
names_file <- function(given) any(file.exists(c(given, sub("#[^#]*$", "", given))))

# A code list: the path of a file, the codes in order (names, where there are some, are their labels, as in haven), or a
# data frame with `code` and, as in files, `parent`, `label`, `role`, `order`.
codelist_of <- function(given, name) {
  if (is.data.frame(given)) {
    if ("level" %in% names(given) || "levels" %in% names(given)) return(hierarchy_of(given, name))
    if (!"code" %in% names(given)) refuse("the code list of '", name, "' has no column 'code'")
    return(parse_codelist(given, name))
  }
  if (is.character(given) && length(given) == 1 && is.null(names(given)) && names_file(given)) {
    hrc <- grepl("\\.hrc$", given, ignore.case = TRUE)
    return(ask(.Call(C_read_codelist, path_of(given), if (hrc) "@")))
  }
  if (is.character(given) && length(given) == 1 && is.null(names(given)) && grepl("\\.(csv|tsv|json|xml|hrc)$", given, ignore.case = TRUE))
    refuse("the code list of '", name, "': there is no file '", given, "'")
  if (is.factor(given)) given <- levels(given)
  if (!is.atomic(given) || length(given) == 0 || anyNA(given))
    refuse("the code list of '", name, "' is a file that exists, a vector of codes, or a data frame with a column 'code'")
  frame <- data.frame(code = as.character(unname(given)))
  if (!is.null(names(given))) frame$label <- names(given)
  parse_codelist(frame, name)
}

# A hierarchy as sdcHierarchies, SSBtools and sdcTable write it: levels "@", "@@", ... beside codes; the first row may
# be the total.
hierarchy_of <- function(given, name) {
  depth <- nchar(as.character(given[[intersect(c("levels", "level"), names(given))[1]]]))
  column <- intersect(c("codes", "code", "name"), names(given))
  if (length(column) == 0) refuse("the hierarchy of '", name, "' has levels and no column 'codes'")
  codes <- as.character(given[[column[1]]])
  if (anyNA(codes) || !all(depth >= 1)) refuse("the hierarchy of '", name, "' has a row without level or code")
  if (sum(depth == 1) == 1 && depth[1] == 1) {
    depth <- depth[-1] - 1
    codes <- codes[-1]
  }
  parents <- rep(NA_character_, length(codes))
  path <- character()
  for (i in seq_along(codes)) {
    if (depth[i] > length(path) + 1) refuse("the hierarchy of '", name, "': '", codes[i], "' lies two levels below the row before it")
    if (depth[i] > 1) parents[i] <- path[depth[i] - 1]
    path <- c(path[seq_len(depth[i] - 1)], codes[i])
  }
  parse_codelist(data.frame(code = codes, parent = parents), name)
}

# How a column becomes a variable.
recode <- function(column = NULL, map = NULL, bottom = NULL, top = NULL, band = NULL, band_origin = NULL,
                   band_closed = "left", level = 0, missing_as = NULL) {
  if (!is.null(map) && (!is.character(map) || is.null(names(map)) || anyNA(map)))
    refuse("`map` is a named vector: names are the values of the data, its elements the new values")
  structure(list(column = text(column, "column"), map = map, bottom = exact(bottom, "bottom"), top = exact(top, "top"),
                 band = exact(band, "band"), band_origin = exact(band_origin, "band_origin"),
                 band_closed_right = place_of(band_closed, "band_closed", c("left", "right")),
                 level = whole(level, "level"), missing = missing_code(missing_as)),
            class = "cellar_recode")
}

missing_code <- function(missing_as) {
  if (is.null(missing_as)) 0 else MISSING[[choice(missing_as, "missing_as", names(MISSING))]]
}

recode_map <- function(map, name) {
  if (is.null(map)) return(NULL)
  ask(.Call(C_parse_recode_map, paste0("map of '", name, "'"), enc2utf8(csv_text(data.frame(from = names(map), to = unname(map))))))
}
