# SPDX-License-Identifier: GPL-3.0-or-later
# Arrow streams give the table of the same data frame. Debian 12 has neither of the two packages.

test_that("a stream can be read once", {
  expect_error(tabulate(.Call(cellar:::C_new_stream), "sex"), "make it again")
  skip_if_not_installed("nanoarrow")
  stream <- nanoarrow::as_nanoarrow_array_stream(make_frame(20))
  tabulate(stream, "sex")
  expect_error(tabulate(stream, "sex"), "make it again")
  stream <- nanoarrow::as_nanoarrow_array_stream(make_frame(20))
  expect_error(tabulate(stream, "height"), "height")
  expect_error(tabulate(stream, "sex"), "make it again")
})

expect_same <- function(stream, d) {
  how <- list(by = c("region", "sex", "age"), missing_as = "drop", where = "age>=18")
  expect_identical(true_counts(do.call(tabulate, c(list(stream), how))), true_counts(do.call(tabulate, c(list(d), how))))
}

test_that("nanoarrow: frames, several batches, string views", {
  skip_if_not_installed("nanoarrow")
  d <- make_frame(21)
  expect_same(nanoarrow::as_nanoarrow_array_stream(d), d)
  parts <- lapply(list(1:100, 101:101, 102:400), function(rows) d[rows, ])
  expect_same(nanoarrow::basic_array_stream(parts), d)
  # nanoarrow 0.6 makes integers of 16 bits by arrow.
  whole <- if (requireNamespace("arrow", quietly = TRUE)) nanoarrow::na_int16() else nanoarrow::na_int32()
  views <- nanoarrow::na_struct(list(region = nanoarrow::na_string_view(), sex = nanoarrow::na_string_view(), age = whole))
  plain <- transform(d[names(views$children)], region = as.character(region))
  expect_same(nanoarrow::as_nanoarrow_array_stream(plain, schema = views), d)
})

test_that("arrow: tables, batches, readers, datasets, queries, string views", {
  skip_if_not_installed("arrow")
  d <- make_frame(22)
  table <- arrow::arrow_table(d)
  expect_same(table, d)
  expect_same(arrow::record_batch(d), d)
  expect_same(arrow::as_record_batch_reader(table), d)
  expect_same(table$cast(arrow::schema(region = arrow::large_utf8(), sex = arrow::utf8(), age = arrow::int8(),
                                       person = arrow::utf8(), weight = arrow::float32(), old = arrow::boolean())), d)
  path <- file.path(scratch(), "rows.parquet")
  arrow::write_parquet(table, path)
  expect_same(arrow::open_dataset(path), d)
  expect_same(path, d)
  skip_if_not_installed("dplyr")
  select <- getExportedValue("dplyr", "select") # that package is no other business of this one
  expect_same(select(table, age, sex, region), d)
})
