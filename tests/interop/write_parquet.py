#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the columns of FOLDER/texts.csv, each as its type in TYPES, by pyarrow: every compression, version of the format
and of its pages, with dictionaries and without; every encoding; pages and row groups of a few rows; other types of
Arrow for the same texts; a file without rows. Names the files on standard output, each with the columns it lacks.

usage: write_parquet.py FOLDER NAME=TYPE...     (types as DuckDB calls them)
"""
import itertools
import pathlib
import re
import sys

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

TYPES = {
    "BOOLEAN": pa.bool_(), "TINYINT": pa.int8(), "SMALLINT": pa.int16(), "INTEGER": pa.int32(), "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(), "USMALLINT": pa.uint16(), "UINTEGER": pa.uint32(), "UBIGINT": pa.uint64(),
    "FLOAT": pa.float32(), "DOUBLE": pa.float64(), "VARCHAR": pa.string(), "BLOB": pa.binary(), "DATE": pa.date32(),
    "TIME": pa.time64("us"), "TIMESTAMP": pa.timestamp("us"), "TIMESTAMP_S": pa.timestamp("s"),
    "TIMESTAMP_MS": pa.timestamp("ms"), "TIMESTAMP_NS": pa.timestamp("ns"), "TIMESTAMPTZ": pa.timestamp("us"),
}
COMPRESSIONS = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
# Other types of Arrow for the same texts.
OTHERS = {
    "word": pa.large_string(), "bytes": pa.large_binary(), "choice": pa.string_view(), "day": pa.date64(),
    "clock": pa.time64("ns"), "d4": pa.decimal32(4, 2), "d9": pa.decimal64(9, 3), "d38": pa.decimal256(38, 10),
    "u8": pa.dictionary(pa.int16(), pa.uint8()),
}


def type_of(name):
    decimal = re.fullmatch(r"DECIMAL\((\d+), (\d+)\)", name)
    if decimal:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    return pa.string() if name.startswith("ENUM") else TYPES[name]


def read_texts(folder, kinds):
    options = pa.csv.ConvertOptions(column_types={name: type_of(kind) for name, kind in kinds.items()}, null_values=[""],
                                    strings_can_be_null=True)
    table = pa.csv.read_csv(folder / "texts.csv", convert_options=options)
    for name, kind in kinds.items():
        at = table.column_names.index(name)
        if kind.startswith("ENUM"):
            table = table.set_column(at, name, table[name].dictionary_encode())
        if kind == "TIMESTAMPTZ":
            table = table.set_column(at, name, pa.compute.assume_timezone(table[name], "UTC"))
    return table


def encodings(column):
    """Those that this column can be written in, beside PLAIN and a dictionary."""
    kind = column.type
    found = []
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        found.append("DELTA_BINARY_PACKED")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        found.append("BYTE_STREAM_SPLIT")
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        found += ["DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]
    if pa.types.is_decimal(kind):  # bytes of a fixed width
        found.append("DELTA_BYTE_ARRAY")
    if pa.types.is_boolean(kind):
        found.append("RLE")
    return found


def variants(table):
    """Name, table and options of each file."""
    for compression, version, page, dictionary in itertools.product(COMPRESSIONS, ["1.0", "2.4", "2.6"], ["1.0", "2.0"],
                                                                    [True, False]):
        yield (f"{compression}-{version}-page{page}-{'dictionary' if dictionary else 'plain'}", table,
               {"compression": compression, "version": version, "data_page_version": page, "use_dictionary": dictionary})
    for turn, page in itertools.product(range(2), ["1.0", "2.0"]):
        chosen = {name: encodings(table[name])[turn % len(encodings(table[name]))] for name in table.column_names
                  if encodings(table[name])}
        yield (f"encodings{turn}-page{page}", table,
               {"use_dictionary": False, "column_encoding": chosen, "data_page_version": page})
    yield "split-zstd", table, {"use_dictionary": False, "use_byte_stream_split": [
        name for name in table.column_names if "BYTE_STREAM_SPLIT" in encodings(table[name])], "compression": "zstd"}
    yield "small-groups", table, {"row_group_size": 37}
    yield "small-pages", table, {"data_page_size": 100, "write_batch_size": 50, "write_page_index": True}
    yield "checksums", table, {"write_page_checksum": True, "data_page_version": "2.0"}
    yield "dictionary-ends", table, {"dictionary_pagesize_limit": 500, "data_page_size": 1000, "write_batch_size": 50}
    yield "int96", table, {"use_deprecated_int96_timestamps": True}
    yield "integers-as-decimals", table, {"store_decimal_as_integer": True}
    yield "without-schema", table, {"store_schema": False, "write_statistics": False, "compression": "none"}
    others = table
    for name, kind in OTHERS.items():
        at = others.column_names.index(name)
        column = others[name].cast(pa.string()) if name == "choice" else others[name]
        column = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
        others = others.set_column(at, name, column)
    nested = others.append_column("list", pa.array([[i] for i in range(len(others))]))
    yield "other-types", nested, {}
    yield "other-types-plain", nested, {"use_dictionary": False, "data_page_version": "2.0"}
    required = [field.with_nullable(table[field.name].null_count > 0) for field in table.schema]
    yield "required", table.cast(pa.schema(required)), {}
    yield "required-plain", table.cast(pa.schema(required)), {"use_dictionary": False, "data_page_version": "2.0"}
    yield "empty", table.slice(0, 0), {}


def main():
    folder = pathlib.Path(sys.argv[1])
    table = read_texts(folder, dict(argument.split("=", 1) for argument in sys.argv[2:]))
    for name, rows, options in variants(table):
        # Before 2.6 there are no billionths of a second.
        lacks = ["stamp_ns"] if options.get("version") in ("1.0", "2.4") else []
        file = folder / f"{name}.parquet"
        pa.parquet.write_table(rows.drop_columns(lacks), file, **options)
        print(file, *lacks)


if __name__ == "__main__":
    main()
