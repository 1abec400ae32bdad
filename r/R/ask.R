# SPDX-License-Identifier: GPL-3.0-or-later
# What passes between R and the library: refusals become errors, and arguments are checked once, here.

# The answer of a routine; what the library refuses is an error of class "cellar_error", whose `status` is the name of
# the library's status.
ask <- function(answer) {
  if (!inherits(answer, "cellar_failure")) return(answer)
  # The library was left in good order; now R is interrupted as its own functions are, which no handler of errors stops.
  if (answer$status == "CELLAR_ERR_CANCELLED") {
    tools::pskill(Sys.getpid(), tools::SIGINT)
    Sys.sleep(0.1)
  }
  stop(errorCondition(in_words_of_r(answer$message), class = c(answer$status, "cellar_error"), status = answer$status))
}

# The library names the options of the command line; most of them are arguments here, under the same name.
in_words_of_r <- function(message) {
  other <- c("--count" = "`freqVar`", "--domain" = "`codelists`", "--force" = "`replace`", "--map" = "recode(map)",
             "--top" = "recode(top)", "--bottom" = "recode(bottom)", "--band" = "recode(band)")
  advice <- c("; cellar describe lists them" = "", "'cellar fit RELEASE -o fitted.csv'" = "fit()",
              "'cellar ledger create'" = "create_ledger()", "--domain VARIABLE=FILE" = "`codelists`",
              "--missing-as drop or level, or VARIABLE=level for one; in a plan missing_as" =
                "`missing_as` drop or level, or recode(missing_as) for one")
  message <- sub("--missing-as [^()]*=drop)", "`missing_as`, or recode(missing_as) for one)", message)
  for (one in names(advice)) message <- sub(one, advice[[one]], message, fixed = TRUE)
  options <- regmatches(message, gregexpr("(?<![-[:alnum:]])--[a-z]+(-[a-z]+)*", message, perl = TRUE))[[1]]
  for (option in options) {
    word <- if (option %in% names(other)) other[[option]] else paste0("`", gsub("-", "_", substring(option, 3)), "`")
    message <- sub(option, word, message, fixed = TRUE)
  }
  message
}

refuse <- function(...) stop(paste0(...), call. = FALSE)

# One text, or NULL.
text <- function(value, name) {
  if (is.null(value)) return(NULL)
  if (is.factor(value)) value <- as.character(value)
  if (!is.character(value) || length(value) != 1 || is.na(value)) refuse("`", name, "` is one text")
  value
}

# Texts, any number.
texts <- function(value, name) {
  if (is.factor(value)) value <- as.character(value)
  if (!is.null(value) && (!is.character(value) || anyNA(value))) refuse("`", name, "` are texts, none of them missing")
  value
}

# The path of a file as the library needs it.
path_of <- function(value, name = "path") {
  if (is.null(value)) NULL else path.expand(text(value, name))
}

# A decimal as it was typed. A fraction that R holds as a double is not the decimal that was typed, so it is refused.
exact <- function(value, name) {
  if (is.null(value) || is.character(value)) return(text(value, name))
  if (!is.numeric(value) || length(value) != 1 || !is.finite(value) || value != floor(value) || abs(value) > 2^53)
    refuse("give `", name, "` as text, such as \"0.5\": a number that R holds is not the decimal that was typed")
  format(value, scientific = FALSE, trim = TRUE)
}

exacts <- function(values, name) {
  if (is.null(values)) return(character())
  if (is.character(values)) return(texts(values, name))
  if (!is.numeric(values)) refuse("`", name, "` are decimals, as text")
  vapply(as.vector(values), exact, "", name = name, USE.NAMES = FALSE)
}

# A day: a text, or a date of R.
day <- function(value, name) text(if (inherits(value, c("Date", "POSIXt"))) as.character(value) else value, name)

flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1 || is.na(value)) refuse("`", name, "` is TRUE or FALSE")
  as.integer(value)
}

whole <- function(value, name) {
  if (is.null(value)) return(NULL)
  if (!is.numeric(value) || length(value) != 1 || is.na(value) || value < 0 || value != floor(value))
    refuse("`", name, "` is a whole number that is not negative")
  as.numeric(value)
}

# One number, not missing.
number <- function(value, name) {
  if (!is.numeric(value) || length(value) != 1 || is.na(value)) refuse("`", name, "` is one number")
  as.numeric(value)
}

# One of a few words.
choice <- function(value, name, words) {
  if (is.null(value)) return(NULL)
  if (!is.character(value) || length(value) != 1 || !value %in% words)
    refuse("`", name, "` is one of ", paste0("\"", words, "\"", collapse = ", "))
  value
}

# The same, as its place from 0; it has to be said.
place_of <- function(value, name, words) {
  if (is.null(value)) value <- NA_character_
  match(choice(value, name, words), words) - 1
}

# How parameters were chosen, as the library numbers it.
chosen_code <- function(chosen) {
  if (is.null(chosen)) 0 else match(choice(chosen, "chosen", CHOICES), CHOICES)
}

is_table <- function(x) inherits(x, "cellar_table") && typeof(x) == "externalptr"

need_table <- function(x) {
  if (!is_table(x)) refuse("expected a true table, which tabulate() or read_table() makes")
  x
}

need_key <- function(x) {
  if (!is.null(x) && !(inherits(x, "cellar_key") && typeof(x) == "externalptr"))
    refuse("`key` is a key that read_key() made")
  x
}

ENCODINGS <- c("utf-8", "latin1", "windows-1252")
MISSING <- c(drop = 1, level = 2)
NEGATIVES <- c("keep", "zero")
NEIGHBOURS <- c("add-remove", "substitute")
CHOICES <- c("in-advance", "public-data", "confidential-data")
