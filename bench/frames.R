#!/usr/bin/env Rscript
# SPDX-License-Identifier: GPL-3.0-or-later
# Data frames of R against the same rows in a CSV file, and against data.table:
#     bench/frames.R CENSUS.csv [REPEATS]
# Needs the packages cellar and data.table. Every figure is the least time of the repeats, in one run, with two threads, on
# the wall and of the processor. Memory is what the peak of a process that has just read the frame grows by while it counts it.
arguments <- commandArgs(TRUE)
path <- arguments[1]

peak_mib <- function() {
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

# In a process of its own: frames.R --memory FRAME
if (path == "--memory") {
  data <- readRDS(arguments[2])
  cat("5", file = "/proc/self/clear_refs") # the peak begins anew
  before <- peak_mib()
  invisible(cellar::tabulate(data, names(data), threads = 2))
  cat(peak_mib() - before)
  quit()
}
memory <- function(label, data) {
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(data, file, compress = FALSE)
  script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
  more <- system2(file.path(R.home("bin"), "Rscript"), c(script, "--memory", file), stdout = TRUE)
  cat(sprintf("%-50s %5.1f MiB beyond the data\n", label, as.numeric(more)))
}

repeats <- if (length(arguments) > 1) as.integer(arguments[2]) else 5L
suppressPackageStartupMessages({
  library(data.table)
  library(cellar)
})
setDTthreads(2)

measure <- function(label, work) {
  work()
  times <- replicate(repeats, {
    took <- system.time(work())
    c(took[["elapsed"]], took[["user.self"]] + took[["sys.self"]])
  })
  least <- apply(times, 1, min)
  cat(sprintf("%-34s %7.3f s %7.3f s of the processor\n", label, least[1], least[2]))
  least
}
ratios <- function(label, ours, theirs) {
  cat(sprintf("%-50s %5.1f times as fast on the wall, %5.1f of the processor\n", label, theirs[1] / ours[1], theirs[2] / ours[2]))
}

head <- names(fread(path, nrows = 0))
by <- head[seq_len(min(5, length(head)))]
texts <- fread(path, colClasses = "character", na.strings = NULL, strip.white = FALSE)
factors <- as.data.frame(lapply(texts[, ..by], as.factor))
texts <- as.data.frame(texts)[by]
cat(nrow(texts), "rows,", length(by), "columns, least of", repeats, "\n")
count <- function(data) tabulate(data, by, threads = 2)
file <- measure("the CSV file", function() count(path))
in_factors <- measure("a data frame of factors", function() count(factors))
in_texts <- measure("a data frame of characters", function() count(texts))
table <- as.data.table(factors)
theirs <- measure("data.table, factors: [, .N, by]", function() table[, .N, by = by])
ratios("factors against the file", in_factors, file)
ratios("factors against data.table", in_factors, theirs)
ratios("characters against the file", in_texts, file)
memory("a data frame of factors", factors)
memory("a data frame of characters", texts)
