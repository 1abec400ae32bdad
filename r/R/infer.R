# SPDX-License-Identifier: GPL-3.0-or-later
# What released values say about counts: intervals and tests that know the exact distribution of the noise.

COMPARISONS <- c("difference", "ratio", "proportion")
PRIORS <- c("uniform", "reciprocal")

infer <- function(release, of = "", compare = NULL, other = NULL, target = "table", prior = NULL, confidence = 0.95,
                  pooled = TRUE) {
  if (is.null(compare) != is.null(other)) refuse("a comparison needs both `compare` and `other`")
  if (!is.character(of) && !is.list(of) || length(of) == 0) refuse("`of` is a set of cells, or several; \"\" is everything")
  comparison <- match(choice(compare, "compare", COMPARISONS), COMPARISONS)
  number(confidence, "confidence")
  of <- if (is.list(of) && !is.null(names(of))) set_text(of) else unlist(lapply(of, function(one) set_text(if (is.null(one)) NA else one)), use.names = FALSE)
  if (inherits(release, "cellar_cube"))
    return(infer_cube(release, of, if (length(comparison)) comparison else 0, set_text(other), confidence))
  options <- list(comparison = if (length(comparison)) comparison else 0, other = set_text(other),
                  target = place_of(target, "target", c("table", "population")),
                  prior = if (is.null(prior)) 0 else match(choice(prior, "prior", PRIORS), PRIORS),
                  confidence = confidence, pools = flag(pooled, "pooled"))
  releases <- if (inherits(release, "data.frame")) list(release) else release
  if (!is.list(releases) || length(releases) == 0) refuse("expected a release, a list of releases, or a cube")
  several <- length(releases) > 1
  if (several && (!pooled || isTRUE(comparison > 1) || target != "table" || !is.null(prior)))
    refuse("several releases are pooled, for counts and differences of the table, without a prior")
  handles <- unname(lapply(releases, release_handle))
  found <- lapply(of, function(one) ask(.Call(C_interval, handles, c(options, list(of = one)))))
  bind_findings(of, found)
}

# A set as text, "sex=F; region=1,2", or as a list: list(sex = "F", region = c("1", "2")).
set_text <- function(set) {
  if (is.null(set) || is.character(set) && length(set) == 1 && is.null(names(set))) return(set)
  if (!is.list(set) || is.null(names(set)) || !all(vapply(set, is.atomic, NA))) refuse("a set of cells is a text such as \"sex=F; region=1,2\", or a list such as list(sex = \"F\")")
  code <- function(x) paste0("\"", gsub("\"", "\"\"", as.character(x), fixed = TRUE), "\"", collapse = ",")
  paste0(code_names(names(set)), "=", vapply(set, code, ""), collapse = "; ")
}

code_names <- function(x) ifelse(grepl("[=;,\"]", x), paste0("\"", gsub("\"", "\"\"", x, fixed = TRUE), "\""), x)

bind_findings <- function(of, found) {
  frame <- do.call(rbind, lapply(found, function(one) list2frame(one)))
  cbind(data.frame(of = ifelse(nzchar(of), of, "everything")), frame)
}

# ---- tests -------------------------------------------------------------------------------------------------------

test_options <- function(reference, replicates, seed, threads) {
  list(reference = place_of(reference, "reference", c("chi-square", "bootstrap")),
       replicates = whole(replicates, "replicates"), seed = whole(seed, "seed"), threads = whole(threads, "threads"))
}

# What is tested: a table of a release, or of a cube, whose noise only the bootstrap knows.
tested <- function(x, variables) {
  is_cube <- inherits(x, "cellar_cube")
  all <- if (is_cube) cube_facts(x)$variables else vapply(attr(x, "facts")$variables, function(v) v$name, "")
  names <- if (is.null(variables)) all else texts(variables, "variables")
  list(handle = if (is_cube) need_cube(x) else release_handle(x), names = names,
       given = list(is_cube = as.integer(is_cube), variables = if (is_cube) names else variables))
}

test_model <- function(release, model = NULL, against = NULL, variables = NULL, reference = NULL,
                       replicates = 999, seed = 1, residuals = TRUE, threads = 0) {
  if (is.null(reference)) reference <- if (inherits(release, "cellar_cube")) "bootstrap" else "chi-square"
  what <- tested(release, variables)
  handle <- what$handle
  names <- what$names
  if (inherits(model, "formula")) model <- formula_text(model)
  if (is.null(model)) model <- paste(quoted_names(names), collapse = " + ")
  if (inherits(against, "formula")) against <- formula_text(against)
  found <- ask(.Call(C_test_model, handle,
                     c(what$given, list(model = text(model, "model"), against = text(against, "against"),
                                        residuals = flag(residuals, "residuals")),
                       test_options(reference, replicates, seed, threads))))
  found$cells <- list2frame(found$cells)
  structure(c(list(model = model, against = against, reference = reference), found), class = "cellar_test")
}

quoted_names <- function(names) {
  ifelse(grepl("^[[:alnum:]_.-]+$", names), names, paste0("\"", gsub("\"", "\"\"", names, fixed = TRUE), "\""))
}

# ~ a * b + c as the library reads it.
formula_text <- function(formula) {
  labels <- strsplit(attr(terms(formula), "term.labels"), ":", fixed = TRUE)
  if (length(labels) == 0) return("1")
  paste(vapply(labels, function(term) paste(quoted_names(gsub("`", "", term)), collapse = "*"), ""), collapse = " + ")
}

print.cellar_test <- function(x, ...) {
  cat("Model ", x$model, if (!is.null(x$against)) paste0(" within ", x$against), ", reference: ", x$reference, "\n", sep = "")
  print(as.data.frame(x), row.names = FALSE, ...)
  if (!x$converged) cat("The maximisation did not converge from every start: do not rely on this.\n")
  if (x$chi_square_is_off && x$reference == "chi-square")
    cat("Chi-square is no reference to rely on here: ask for reference = \"bootstrap\".\n")
  invisible(x)
}

as.data.frame.cellar_test <- function(x, ...) {
  cbind(data.frame(test = c("knows the noise", "naive")), rbind(list2frame(x$aware), list2frame(x$naive)))
}

cramers_v <- function(release, variables = NULL, confidence = 0.95, replicates = 999, seed = 1, threads = 0) {
  what <- tested(release, variables)
  found <- ask(.Call(C_cramers_v, what$handle,
                     c(what$given, list(confidence = confidence),
                       test_options("bootstrap", replicates, seed, threads))))
  data.frame(value = found[1], low = found[2], high = found[3], naive = found[4])
}

odds_ratios <- function(release, variables = NULL, confidence = 0.95) {
  what <- tested(release, variables)
  if (length(what$names) != 2) refuse("odds ratios are of two variables: name them by `variables`")
  list2frame(ask(.Call(C_odds_ratios, what$handle, c(what$given, list(confidence = confidence)))))
}

test_binomial <- function(released, trials, mechanism, null = 0.5, alternative = NA, level = 0.05, negatives = "keep") {
  if (!is.numeric(released) || length(released) != 1 || is.na(released) || released != floor(released))
    refuse("`released` is one whole number")
  list2frame(ask(.Call(C_test_binomial, as.numeric(released),
                       list(trials = whole(trials, "trials"), null = null, alternative = if (is.atomic(alternative) && identical(is.na(alternative), TRUE)) NA_real_ else number(alternative, "alternative"),
                            level = level, mechanism = spec_of(mechanism),
                            negatives = choice(negatives, "negatives", NEGATIVES)))))
}
