# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns of data frames as buffers: pandas, NumPy, or mappings from names to sequences."""
from __future__ import annotations

import array
import collections
import importlib
from typing import Any, Iterable, Mapping, Sequence


def _text(name: str, value: Any) -> str:
    """A value as the same column of numbers would have it: whole floats without a point."""
    if isinstance(value, (bytes, bytearray)):
        raise TypeError(f"column '{name}' holds bytes: make it a column of texts or numbers")
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else str(value)


def _factorize(name: str, values: Iterable[Any]) -> dict[str, Any]:
    """Any values: each distinct text gets a number; None and NaN are missing."""
    numbers: dict[Any, int] = {}
    try:
        codes = array.array("i", (-1 if value is None or value != value else numbers.setdefault(value, len(numbers))
                                  for value in values))
    except TypeError:  # values that cannot be told apart
        raise TypeError(f"column '{name}' holds objects: make it a column of texts or numbers") from None
    return {"name": name, "values": codes, "levels": [_text(name, value) for value in numbers], "missing": -1}


def _numpy_column(name: str, values: Any) -> dict[str, Any]:
    import numpy

    kind = values.dtype.kind
    if values.ndim != 1:
        raise TypeError(f"column '{name}' has {values.ndim} dimensions, not one")
    if kind == "b":
        return {"name": name, "values": numpy.ascontiguousarray(values).view(numpy.uint8),
                "levels": ["False", "True"]}
    if kind in "iu":
        return {"name": name, "values": numpy.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))}
    if kind == "f":
        return {"name": name, "values": numpy.ascontiguousarray(
            values, dtype="f4" if values.dtype.itemsize <= 4 else "f8")}
    if kind in "UO":
        return _factorize(name, values.tolist())
    raise TypeError(f"column '{name}' holds {values.dtype}: make it a column of texts or numbers")


def _pandas_column(name: str, series: Any) -> dict[str, Any]:
    import numpy
    pandas: Any = importlib.import_module("pandas")  # Debian's has no types

    if isinstance(series.dtype, pandas.CategoricalDtype):
        return {"name": name, "values": numpy.ascontiguousarray(series.cat.codes.to_numpy()),
                "levels": [_text(name, level) for level in series.cat.categories], "missing": -1}
    if isinstance(series.dtype, numpy.dtype):
        if series.dtype.kind != "O":
            return _numpy_column(name, series.to_numpy())
    elif series.dtype.kind in "biuf":  # a nullable column: values and a mask
        column = _numpy_column(name, series.to_numpy(dtype=series.dtype.numpy_dtype, na_value=0))
        column["mask"] = numpy.ascontiguousarray(series.isna().to_numpy()).view(numpy.uint8)
        return column
    try:
        codes, levels = pandas.factorize(series)
    except TypeError:
        raise TypeError(f"column '{name}' holds objects: make it a column of texts or numbers") from None
    return {"name": name, "values": numpy.ascontiguousarray(codes), "levels": [_text(name, level) for level in levels],
            "missing": -1}


def columns_of(data: Any, used: set[str], where: Sequence[str]) -> tuple[list[dict[str, Any]], int]:
    """The columns of a data frame, and how many rows it has. Of those that nobody needs the plain numbers alone are
    there: by their names the library refuses data that look counted already."""
    def is_needed(name: str) -> bool:
        return name in used or any(name in text for text in where)

    def is_plain(values: Any) -> bool:
        kind = getattr(values, "dtype", None)
        return getattr(kind, "kind", "O") in "iuf" and hasattr(kind, "newbyteorder") and values.ndim == 1

    is_pandas = hasattr(data, "iloc") and hasattr(data, "columns")
    if not is_pandas and not isinstance(data, Mapping):
        raise TypeError("`data` is a pandas data frame, a mapping from names to columns, an object with "
                        "__arrow_c_stream__, or the path of a file")
    names = [str(key) for key in (data.columns if is_pandas else data)]
    for name, times in collections.Counter(names).items():
        if times > 1:
            raise ValueError(f"the data frame has two columns '{name}'")
    absent = sorted(used - set(names))
    if absent:
        raise ValueError(f"the data frame has no column '{absent[0]}'")
    columns = []
    n_rows = len(data) if is_pandas else -1
    for position, key in enumerate(data.columns if is_pandas else data):
        name = str(key)
        values = data.iloc[:, position] if is_pandas else data[key]
        if not hasattr(values, "__len__") or isinstance(values, (str, bytes)):
            raise TypeError(f"column '{name}' is no column: make it a list or an array")
        if not is_pandas and n_rows < 0:
            n_rows = len(values)
        if len(values) != n_rows:
            raise ValueError(f"column '{name}' has {len(values)} rows, not {n_rows}")
        if not is_needed(name) and not is_plain(values):
            continue
        if is_pandas or hasattr(values, "cat"):
            columns.append(_pandas_column(name, values))
        elif hasattr(values, "categories") and hasattr(values, "codes"):  # a bare Categorical
            columns.append({"name": name, "values": values.codes, "levels": [_text(name, c) for c in values.categories],
                            "missing": -1})
        elif hasattr(values, "dtype"):
            columns.append(_numpy_column(name, values))
        else:
            columns.append(_factorize(name, values))
    return columns, max(n_rows, 0)
