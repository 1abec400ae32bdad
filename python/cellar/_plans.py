# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans, the pages that people read, and matrices of transition probabilities."""
from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

from . import _cellar
from ._core import (Assessment, Certificate, Exact, Release, Table, certificate_of, choice, exact, html_table,
                    positions, releases_of)
from ._estimates import Cube, CubeTable, read_cube
from ._words import flag, need, need_if, several, whole

Path = Union[str, "os.PathLike[str]"]
Names = Union[str, Sequence[str]]


# ---- plans ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanRun:
    """What a run did. `drawn_now` is False when an earlier run of the request had drawn it."""

    path: str
    drawn_now: bool
    charge: Optional[str]
    """the ledger's stamp; None: unaccounted, not for publication"""


@dataclass(frozen=True, repr=False)
class PlanFigures(Assessment):
    """What a plan will do. Confidential unless it was checked without counts."""

    tables: list[dict[str, Any]]
    cells_per_record: int
    cells: int
    confidential: bool
    certificate: Optional[Certificate]
    refusals: list[str]
    """why the plan may not run, with the remedy; empty: it may"""
    remarks: list[str]


@dataclass(frozen=True)
class PlanComparison:
    """Ways to spend the budget of a plan. They depend on no count."""

    budget: str
    unit: str
    """of the budget: epsilon or rho"""
    targets: list[tuple[str, str, int, float]]
    """table, margin, cells and weight of what is wanted"""
    strategies: list[dict[str, Any]]
    """name, about, possible, sd (of a cell of each target), loss"""
    recommended: str
    reason: str


@dataclass(frozen=True)
class CubeDesign:
    """What the cube of a plan will be. Depends on no count."""

    tables: list[CubeTable]
    certificate: Certificate
    together: Optional[Certificate]
    """with the published cube that is extended"""
    loss_to_bound: Optional[float]


class Plan:
    """A set of tables, or a cube, that is released together (docs/plans.md)."""

    __slots__ = ("_handle", "title", "tables", "folder", "cube_file")

    def __init__(self, handle: _cellar.Handle) -> None:
        self._handle = handle
        self.title, self.tables, self.folder, self.cube_file = _cellar.plan_about(handle)

    def check(self, *, without_counts: bool = False, threads: int = 0) -> PlanFigures:
        """Counts the data and says what the plan will do; nothing is drawn."""
        found = _cellar.check_plan(self._handle, without_counts, threads)
        if found["certificate"] is not None:
            found["certificate"] = certificate_of("the plan", found["certificate"])
        return PlanFigures(**found)

    def compare(self, *, threads: int = 0) -> PlanComparison:
        """Sets the natural ways to spend the same budget side by side."""
        found = _cellar.compare_plan(self._handle, threads)
        return PlanComparison(**{**found, "recommended": found["strategies"][found["recommended"]]["name"]})

    def run(self, *, date: Optional[str] = None, threads: int = 0) -> PlanRun:
        """Charges the ledger, draws, and lets the release pack appear. Asked again, nothing is drawn twice."""
        return PlanRun(self.folder or "", *_cellar.run_plan(self._handle, date, threads))

    def design_cube(self) -> CubeDesign:
        """Which tables the cube measures, and how precise each of its tables will be."""
        tables, certificate, together, loss = _cellar.design_cube(self._handle)
        return CubeDesign([CubeTable(*table) for table in tables], certificate_of("the cube", certificate),
                          together and certificate_of("both cubes", together), loss)

    def build_cube(self, *, date: Optional[str] = None, threads: int = 0) -> Cube:
        """Counts, charges the ledger once, draws, and opens the cube. Asked again, nothing is drawn twice."""
        _cellar.build_cube(self._handle, date, threads)
        return read_cube(self.cube_file or "")

    def __repr__(self) -> str:
        return f"<cellar.Plan {self.title or ''}: {', '.join(self.tables) or 'a cube'}>"


def read_plan(path: Path) -> Plan:
    """Reads a plan and the code lists it names; no data are read."""
    return Plan(_cellar.read_plan(os.fspath(path)))


# ---- pages ------------------------------------------------------------------------------------------------


def report(what: Union[Release, Cube, Sequence[Release]], path: Path, *, title: Optional[str] = None,
           names: Optional[Sequence[str]] = None, max_rows: int = 200, replace: bool = False) -> None:
    """Writes the page for the public about releases or a cube (`cellar report --public`)."""
    options = {"title": title, "names": None if names is None else several("names", names), "max_rows": max_rows,
               "replace": flag("replace", replace)}
    if isinstance(what, Cube):
        _cellar.report_cube(what._handle, os.fspath(path), options)
        return
    _cellar.report([release._handle for release in releases_of(what)], os.fspath(path), options)


def report_committee(table: Table, path: Path, known: Names, sensitive: Names,
                     mechanisms: Names, *, release: Optional[Release] = None,
                     negatives: str = "keep", title: Optional[str] = None, copies: int = 30, seed: int = 1,
                     replace: bool = False) -> None:
    """Writes the page for a release committee: computed from true counts, confidential, readable by you alone."""
    need("table", table, Table, "tabulate()")
    need_if("release", release, Release, "protect()")
    _cellar.report_committee(table._handle, None if release is None else release._handle, os.fspath(path), {
        "known": positions(table.variables, known), "sensitive": positions(table.variables, sensitive),
        "mechanisms": several("mechanisms", mechanisms), "negatives": negatives, "title": title, "copies": copies, "seed": seed,
        "replace": flag("replace", replace)})


# ---- matrices ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PtableRow:
    """What happens to one true count: moments of the change, and each change with its probability."""

    count: int
    bias: float
    variance: float
    entropy: float
    stay: float
    changes: tuple[tuple[int, float], ...]


class Ptable:
    """A matrix of transition probabilities, designed or read."""

    __slots__ = ("_handle", "_spec", "digest", "keys", "forbidden", "difference", "rows")

    def __init__(self, spec: Optional[str], handle: Optional[_cellar.Handle]) -> None:
        self._spec = spec
        self._handle = handle
        found = _cellar.matrix(spec, handle)
        self.digest: str = found[0]
        self.keys: int = found[1]
        """keys that its ranges are counted in; 0: fractions of any key range"""
        self.forbidden: list[int] = found[2]
        """values that are never released"""
        self.difference: float = found[3]
        """with cell keys: how likely a cell and the same with one record more differ"""
        self.rows: list[PtableRow] = [
            PtableRow(count, bias, variance, entropy, stay, tuple(changes))
            for count, bias, variance, entropy, stay, changes in found[4]]

    @property
    def mechanism(self) -> Optional[str]:
        """The spec of the mechanism with this matrix; None for one that was read (write and name the file)."""
        return self._spec

    def write(self, path: Path, *, format: str = "ptable", keys: Optional[int] = None, replace: bool = False) -> None:
        """Writes the layout of ptable (which tau-Argus reads), of ONS, or of Cantabular."""
        layout = choice("format", format, {"ptable": 0, "ons": 1, "cantabular": 2})
        if keys is None:
            keys = 256 if layout > 0 and self.keys == 0 else 0
        _cellar.write_matrix(self._spec, self._handle, os.fspath(path), layout, whole("keys", keys), replace)

    def __repr__(self) -> str:
        return f"<cellar.Ptable of {len(self.rows)} rows, digest {self.digest[:8]}>"

    def _repr_html_(self) -> str:
        rows = [(row.count, row.bias, row.variance, row.entropy, row.stay) for row in self.rows]
        return (f"<p>{html.escape(repr(self))}</p>"
                + html_table(["count", "bias", "variance", "entropy", "stay"], rows))


def ptable(*, variance: Exact, m: int, min: int = 0, stay: Union[Exact, Sequence[Exact], None] = None,
           mono: Union[bool, Sequence[bool]] = False, form: str = "equality") -> Ptable:
    """Designs the matrix of largest entropy (`cellar ptable design`). In the words of the R package ptable: D is m, V is
    variance, js is min, pstay is stay; its defaults are form="at-most" and mono=True."""
    def listed(values: Sequence[Any]) -> str:
        return ":".join(str(value) for value in values)
    parts = [f"variance={exact(variance)}", f"m={whole('m', m)}", f"min={whole('min', min)}"]
    if stay is not None:
        parts.append("stay=" + listed([exact(p) for p in ([stay] if isinstance(stay, (str, int)) or not isinstance(
            stay, Sequence) else stay)]))
    parts.append("mono=" + listed(["yes" if rule else "no" for rule in ([mono] if isinstance(mono, bool) else mono)]))
    if choice("form", form, {"equality": 0, "at-most": 1}):
        parts.append("form=at-most")
    return Ptable("max-entropy:" + ",".join(parts), None)


def read_ptable(path: Path, *, large: Optional[str] = None) -> Ptable:
    """Reads a matrix of R's ptable, tau-Argus, ONS or Cantabular."""
    return Ptable(None, _cellar.read_matrix(os.fspath(path), choice("large", large, {None: 0, "last": 1, "rotate": 2})))
