# SPDX-License-Identifier: GPL-3.0-or-later
"""What is computed from releases alone: fits, cubes, synthetic records. All of it is public."""
from __future__ import annotations

import html
import importlib
import json
import math
import os
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

from . import _cellar
from ._core import COMPARISONS, Release, choice, frame_of, html_table, releases_of
from ._words import Cells, set_of_cells, several, whole

Path = Union[str, "os.PathLike[str]"]


class Estimate:
    """A table of estimates with their standard errors; a fit also has whole numbers that add."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _cellar.Handle) -> None:
        self._handle = handle

    @property
    def variables(self) -> dict[str, list[str]]:
        return {name: codes for name, _, codes in _cellar.estimate_shape(self._handle)}

    @property
    def method(self) -> str:
        """How it was computed, in a sentence."""
        return _cellar.estimate_about(self._handle)[0]

    @property
    def description(self) -> dict[str, Any]:
        """How it was computed, and the descriptions and certificates of what it was computed from."""
        found: dict[str, Any] = json.loads(_cellar.estimate_about(self._handle)[1])
        return found

    def rows(self) -> list[tuple[Any, ...]]:
        """The cells: codes, then estimate, standard error and whole number (None where there is none)."""
        return _cellar.estimate_rows(self._handle)

    def _columns(self) -> list[str]:
        _, _, has_errors, has_whole = _cellar.estimate_about(self._handle)
        return ["estimate"] + ["se"] * has_errors + ["fitted"] * has_whole

    def to_pandas(self) -> Any:
        """The cells as a data frame with categories: estimate, and se and fitted where it has them."""
        frame = frame_of(self.variables, self.rows(), ["estimate", "se", "fitted"])
        return frame[[*self.variables, *self._columns()]]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _cellar.estimate_stream(self._handle)

    def write(self, path: Path, *, whole: bool = False, replace: bool = False) -> None:
        """Writes estimates, or the whole numbers, as .csv, .json (JSON-stat), .px, .ods or .xlsx."""
        _cellar.write_estimate(self._handle, os.fspath(path), whole, replace)

    def __repr__(self) -> str:
        shape = " x ".join(f"{name} ({len(codes)})" for name, codes in self.variables.items())
        return f"<cellar.{type(self).__name__} of {shape or 'the total'}>"

    def _repr_html_(self) -> str:
        rows = [tuple(number for number in row if number is not None) for row in self.rows()]
        return (f"<p>{html.escape(repr(self))}; {html.escape(self.method)}</p>"
                + html_table([*self.variables, *self._columns()], rows))


class Fit(Estimate):
    """One table that adds up, from releases."""

    __slots__ = ("total", "whole_total", "proof", "variances_are_exact")

    def __init__(self, found: Any) -> None:
        super().__init__(found[0])
        self.total: float = found[1]
        self.whole_total: int = found[2]
        self.proof: str = found[3]
        self.variances_are_exact: bool = found[4]


def fit(releases: Union[Release, Sequence[Release]], *, margins: str = "none", errors: bool = False,
        official: str = "fitted", max_move: Optional[float] = None) -> Fit:
    """Makes one table that adds up from releases of the same people, by weighted least squares, and whole numbers that
    add beside it (`cellar fit`). The first release has all variables. `errors` adds standard errors."""
    return Fit(_cellar.fit([release._handle for release in releases_of(releases)],
                           bool(choice("margins", margins, {"none": 0, "all": 1})),
                           choice("official", official, {"fitted": 0, "released": 1}), errors,
                           math.nan if max_move is None else max_move))


def read_estimate(path: Path) -> Estimate:
    """A table of estimates from its file."""
    return Estimate(_cellar.read_estimate(os.fspath(path)))


# ---- cubes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Side:
    """A variable of a table: a level of its hierarchy (0: the finest, 1: the top one), or some of its codes."""

    variable: str
    level: int = 0
    codes: Optional[Sequence[str]] = None


Sides = Union[str, Side, Sequence[Union[str, Side]]]


@dataclass(frozen=True)
class CubeTable:
    """One table of a cube."""

    name: str
    variables: int
    cells: int
    mechanism: Optional[str]
    """that it was measured with; None: it has no noise of its own"""
    exact: bool
    sd: float


@dataclass(frozen=True)
class CubeInterval:
    """What is known of a count of a cube, or of two compared. `undetermined`: no bounded interval has the confidence."""

    estimate: float
    se: float
    low: float
    high: float
    p_value: Optional[float]
    undetermined: bool


class Cube:
    """Every table of a universe, measured together under one guarantee. Public."""

    __slots__ = ("_handle", "path")

    def __init__(self, handle: _cellar.Handle, path: str) -> None:
        self._handle = handle
        self.path = path

    @property
    def description(self) -> dict[str, Any]:
        """Unit, certificate, ledger, and how it was made."""
        found: dict[str, Any] = json.loads(_cellar.cube_about(self._handle)[0])
        return found

    @property
    def variables(self) -> dict[str, list[int]]:
        """How many categories each variable has at each level of its hierarchy, the top one first."""
        return dict(_cellar.cube_about(self._handle)[1])

    def tables(self) -> list[CubeTable]:
        return [CubeTable(*table) for table in _cellar.cube_tables(self._handle)]

    def verify(self) -> None:
        """Checks every digest, every estimate, every sum and the certificate; raises Error where one is wrong."""
        _cellar.verify_cube(self._handle, self.path)

    def table(self, by: Sides = (), *, margins: bool = False, whole: bool = False) -> Estimate:
        """A table with its standard errors; no variable: the total. Values add exactly between all tables."""
        return Estimate(_cellar.ask_cube(self._handle, _sides(by), margins, whole))

    def intervals(self, by: Sides = (), *, margins: bool = False, confidence: float = 0.95,
                  simultaneous: bool = False) -> Any:
        """A table as a pandas data frame with the interval of every cell."""
        estimate = self.table(by, margins=margins)
        frame = estimate.to_pandas()
        widths = _cellar.cube_half_widths(self._handle, _sides(by), margins, confidence, simultaneous, len(frame))
        frame["low"] = frame["estimate"] - widths
        frame["high"] = frame["estimate"] + widths
        return frame

    def infer(self, of: Cells = "", *, compare: Optional[str] = None, other: Optional[Cells] = None,
              confidence: float = 0.95) -> CubeInterval:
        """The interval of the count behind "sex=F; region=1,2", or of two compared."""
        if (compare is None) != (other is None):
            raise ValueError("a comparison needs `compare` and `other`")
        return CubeInterval(*_cellar.compare_cube(
            self._handle, set_of_cells("of", of), choice("compare", compare, COMPARISONS),
            None if other is None else set_of_cells("other", other), confidence))

    def __repr__(self) -> str:
        return f"<cellar.Cube of {', '.join(self.variables)}: {len(self.tables())} tables>"

    def _repr_html_(self) -> str:
        rows = [(t.name, t.cells, t.mechanism or "-", t.sd) for t in self.tables()]
        return f"<p>{html.escape(repr(self))}</p>" + html_table(["table", "cells", "measured with", "sd"], rows)


def _sides(by: Sides) -> list[dict[str, Any]]:
    sides = [Side(side) if isinstance(side, str) else side for side in several("by", by, (str, Side))]
    return [{"variable": side.variable, "level": side.level,
             "codes": None if side.codes is None else [str(code) for code in side.codes]} for side in sides]


def read_cube(path: Path) -> Cube:
    """Opens a cube that `cellar cube build` or Plan.build_cube() made."""
    return Cube(_cellar.read_cube(os.fspath(path)), os.fspath(path))


# ---- synthetic records --------------------------------------------------------------------------------------


class Synthetic:
    """Made-up records whose tables are those of a release or near those of a cube. No record was copied; one may
    coincide with a real person; what protects people is the certificate."""

    __slots__ = ("_handle", "n_records", "description", "variables", "_combinations")

    def __init__(self, handle: _cellar.Handle) -> None:
        self._handle = handle
        found = _cellar.synthetic_records(handle)
        self.n_records: int = found[0]
        self.description: Mapping[str, Any] = json.loads(found[1])
        self.variables: dict[str, list[str]] = dict(found[2])
        self._combinations = found[3]

    def to_pandas(self, *, counts: bool = False) -> Any:
        """A row for each record; with `counts` one for each combination, with a column `count`."""
        numpy: Any = importlib.import_module("numpy")
        pandas: Any = importlib.import_module("pandas")
        table = numpy.array(self._combinations, dtype="i8").reshape(-1, len(self.variables) + 1)
        times = table[:, -1]
        if not counts:
            table = numpy.repeat(table, times, axis=0)
        frame = pandas.DataFrame({name: pandas.Categorical.from_codes(table[:, v], codes)
                                  for v, (name, codes) in enumerate(self.variables.items())})
        if counts:
            frame["count"] = times
        return frame

    def write(self, path: Path, *, count_column: Optional[str] = None, shuffle: bool = False,
              replace: bool = False) -> None:
        """Writes .csv or .tsv (with .gz behind it too), and the description beside it."""
        _cellar.write_synthetic(self._handle, os.fspath(path), count_column, shuffle, replace)

    def __repr__(self) -> str:
        return f"<cellar.Synthetic: {self.n_records} made-up records of {', '.join(self.variables)}>"


def synthesize(source: Union[Release, Estimate, Cube], *, records: int = 0, ignore_margins: bool = False) -> Synthetic:
    """Synthetic records from a release, from the whole numbers of a fit, or from a cube (`cellar synthesize`).
    `records` is for cubes (0: the total that it estimates)."""
    if not isinstance(source, (Release, Estimate, Cube)):
        raise TypeError(f"`source` is a Release, what fit() made of one, or a Cube, not {type(source).__name__}")
    if records and not isinstance(source, Cube):
        raise ValueError("a release or a fit decides how many records there are")
    return Synthetic(_cellar.synthesize(
        source._handle if isinstance(source, Release) else None,
        source._handle if isinstance(source, Estimate) else None,
        source._handle if isinstance(source, Cube) else None, ignore_margins, whole("records", records)))
