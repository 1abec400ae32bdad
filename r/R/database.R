# SPDX-License-Identifier: GPL-3.0-or-later
# Counting where the data live: the library writes one SQL question, the connection answers it with cells.

# Rows of the answer that are held at a time.
PIECE <- 10000L

tabulate.DBIConnection <- function(data, by = NULL, codelists = NULL, ..., table, order_by = NULL, dialect = NULL) {
  if (!requireNamespace("DBI", quietly = TRUE)) refuse("a connection is asked through the package DBI, which is not here")
  if (base::missing(table)) refuse("`table` names the table of the database: \"people\" or \"schema.people\"")
  place <- list(table = text(table, "table"), order_by = texts(order_by, "order_by"), dialect = dialect_of(data, dialect))
  spec <- tabulation(by, codelists, ...)
  asked <- asking(data, place$dialect)
  on.exit(asked$close())
  new_table(.Call(C_tabulate_database, spec, place, asked$fetch))
}

# Whose SQL the connection understands: by its class, or by what its driver calls the database.
dialect_of <- function(con, dialect) {
  if (!is.null(dialect)) {
    found <- .Call(C_find_dialect, text(dialect, "dialect"))
    if (!identical(found, dialect)) refuse("`dialect` is one of those of `cellar sql`, such as \"postgresql\" or \"sqlite\"")
    return(found)
  }
  facts <- tryCatch(DBI::dbGetInfo(con)$dbms.name, error = function(e) NULL)
  names <- c(if (is(con, "PqConnection")) "postgresql", class(con)[1], as.character(facts))
  found <- .Call(C_find_dialect, names)
  if (is.null(found))
    refuse("whose SQL a connection of class '", class(con)[1], "' understands is not known: name it by `dialect`")
  found
}

# One question to a connection: fetch(sql) answers the next piece of the answer as columns of texts, NULL at its end;
# close() is for whatever happens between.
asking <- function(con, name) {
  result <- NULL
  try_it <- function(expr) {
    tryCatch(expr, error = function(e) {
      said <- strsplit(conditionMessage(e), "\n", fixed = TRUE)[[1]][1]
      stop(errorCondition(paste0(name, ": ", said), class = c("CELLAR_ERR_IO", "cellar_error"), status = "CELLAR_ERR_IO"))
    })
  }
  close <- function() {
    if (!is.null(result)) suppressWarnings(try(DBI::dbClearResult(result), silent = TRUE))
    result <<- NULL
  }
  fetch <- function(sql) {
    if (is.null(result)) result <<- try_it(DBI::dbSendQuery(con, sql))
    piece <- try_it(DBI::dbFetch(result, n = PIECE))
    if (nrow(piece) > 0) lapply(unname(as.list(piece)), field_texts)
  }
  list(fetch = fetch, close = close)
}

# Whole numbers as texts, however the driver holds them; sums are texts already. Drivers that answer integer64 have
# loaded its package.
field_texts <- function(values) {
  texts <- as.character(values)
  if (is.double(values) && !is.object(values)) {
    whole <- which(values == floor(values))
    texts[whole] <- sprintf("%.0f", values[whole])
  }
  texts
}
