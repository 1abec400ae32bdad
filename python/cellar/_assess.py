# SPDX-License-Identifier: GPL-3.0-or-later
"""Risk, exposure and utility: computed from true counts, and confidential."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

from . import _cellar
from ._core import Assessment, Exact, Release, Table, choice, exact, positions
from ._words import flag, need, need_if, several, whole

_MEASURES = {name: n for n, name in enumerate(
    ("local", "expected", "shrinkage", "global", "global_fixed", "hard", "soft"))}
Names = Union[str, Sequence[str]]
_METHODS = {"exact": 0, "published": 1, "published-2020": 2, "simulate": 3}


# ---- risk -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Risk(Assessment):
    """How likely a released table gives away what the members of a group have in common. Confidential. A number that
    the method does not give is None."""

    mechanism: str
    value: float
    original: float
    """the same before protection"""
    maximum: float
    quantiles: tuple[tuple[float, float], ...]
    claim: Optional[float]
    right: Optional[float]
    false_claim: Optional[float]
    precision: Optional[float]
    baseline: float
    difference: Optional[float]
    sd: Optional[float]
    scenarios: tuple[Optional[float], ...]


def _asked(table: Table, known: Names, sensitive: Names, mechanisms: Names, zeros_stay: bool) -> dict[str, Any]:
    need("table", table, Table, "tabulate()")
    return {"known": positions(table.variables, known), "sensitive": positions(table.variables, sensitive),
            "mechanisms": several("mechanisms", mechanisms), "zeros_stay": flag("zeros_stay", zeros_stay)}


def risk(table: Table, known: Names, sensitive: Names, mechanisms: Names, *,
         measure: str = "local", method: str = "exact", average: str = "group",
         prior: Optional[Sequence[float]] = None, size_model: Optional[str] = None, zeros_stay: bool = False,
         copies: int = 500, seed: int = 1, threads: int = 0) -> list[Risk]:
    """How likely somebody who knows the variables `known` of a person reads off the `sensitive` ones, for each
    mechanism (`cellar risk table`). A prior of the shares and a model of the sizes are fitted to the table where the
    measure needs them and none is given."""
    found = _cellar.risk(need("table", table, Table, "tabulate()")._handle, {
        **_asked(table, known, sensitive, mechanisms, zeros_stay), "measure": choice("measure", measure, _MEASURES),
        "method": choice("method", method, _METHODS), "average": choice("average", average, {"group": 0, "person": 1}),
        "prior": None if prior is None else [float(p) for p in prior], "size": size_model, "copies": copies,
        "seed": seed, "threads": threads})
    for one in found:
        one.update(quantiles=tuple(one["quantiles"]), scenarios=tuple(one["scenarios"]))
    return [Risk(**one) for one in found]


@dataclass(frozen=True, repr=False)
class ExposedGroup(Assessment):
    """One group and its local risk. Confidential."""

    codes: dict[str, str]
    size: int
    values_present: int
    risk: float


def exposed_groups(table: Table, known: Names, sensitive: Names, mechanism: str, *, most: int = 20,
                   zeros_stay: bool = False) -> list[ExposedGroup]:
    """The groups with the largest local risk, the worst first."""
    asked = _asked(table, known, sensitive, mechanism, zeros_stay)
    found = _cellar.exposed(table._handle, asked, whole("most", most))
    return [ExposedGroup(dict(zip(several("known", known), codes)), size, present, value)
            for codes, size, present, value in found]


# ---- exposure ---------------------------------------------------------------------------------------------


class Exposure(Assessment):
    """How many people share their values with few others, at every threshold at once. Confidential. It bounds no
    attribute disclosure: what a group has in common is known about each of its members."""

    __slots__ = ("_curve", "people", "cells", "possible_cells", "entropy")

    def __init__(self, made: Any) -> None:
        self._curve: _cellar.Handle = made[0]
        self.people: int = made[1]
        self.cells: int = made[2]
        self.possible_cells: float = made[3]
        self.entropy: float = made[4]

    def below(self, k: int) -> float:
        """The share of people in cells of fewer than k: those who are not k-anonymous."""
        return _cellar.exposure_below(self._curve, whole("k", k))[1]

    def at(self, threshold: Exact) -> float:
        """The share of people in cells whose share is below the threshold, a decimal."""
        return _cellar.exposure_at(self._curve, exact(threshold) or "")[2]

    def statistical(self, population: int, k: int) -> float:
        """The chance that somebody among so many people drawn from the shares has fewer than k alike."""
        return _cellar.exposure_statistical(self._curve, whole("population", population), whole("k", k))

    def steps(self) -> list[tuple[int, int, int]]:
        """The whole curve: a count, how many cells have it, people in cells with smaller counts."""
        return _cellar.exposure_steps(self._curve)


def exposure(table: Table, variables: Optional[Names] = None) -> Exposure:
    """The exposure of the people of a table by some of its variables, or all (`cellar exposure table`)."""
    need("table", table, Table, "tabulate()")
    names = list(table.variables) if variables is None else variables
    return Exposure(_cellar.exposure(table._handle, {"variables": positions(table.variables, names)}))


@dataclass(frozen=True, repr=False)
class ExposureBound(Assessment):
    """What single columns bound the exposure of all of them by, at one threshold. Confidential."""

    lower: float
    upper: float
    theorem: int
    """which theorem gives `upper`"""
    gap: float
    """`upper` is at most so far above the theorem's minimum"""


def exposure_bounds(table: Table, threshold: float, variables: Optional[Names] = None) -> ExposureBound:
    """Bounds from single columns alone, as if nobody could see them together (`cellar exposure bounds`)."""
    need("table", table, Table, "tabulate()")
    names = list(table.variables) if variables is None else several("variables", variables)
    curves = [exposure(table, [name])._curve for name in names]
    lower, bounds = _cellar.exposure_bounds(curves, threshold)
    return ExposureBound(lower, bounds[0][1], bounds[0][0], bounds[0][2])


# ---- utility ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Utility(Assessment):
    """What analysts lose. Confidential. `results` has a dict for each measure, which docs/utility.md defines."""

    mechanism: str
    copies: int
    cells: int
    chi_square: Optional[float]
    df: Optional[float]
    cramers_v: Optional[float]
    p_value: Optional[float]
    results: list[dict[str, Any]]
    distances: list[dict[str, Any]]
    notes: list[str]

    def expected(self, measure: str) -> Optional[float]:
        """The exact expectation of a measure over the whole table; the mean over copies where there is none."""
        for one in self.results:
            if one["measure"] == measure and one["count"] == -1 and one["variables"] is None:
                number: Optional[float] = one["mean"] if one["expected"] is None else one["expected"]
                return number
        raise ValueError(f"there is no measure '{measure}'")


def utility(table: Table, mechanism: Optional[str] = None, *, release: Optional[Release] = None,
            file: Union[str, "os.PathLike[str]", None] = None, negatives: str = "keep", threshold: int = 0,
            copies: int = 100, seed: int = 1, max_ways: int = 3, threads: int = 0) -> Utility:
    """Compares a table with seeded copies of it under a mechanism, with a release that was made from it, or with a
    file of perturbed counts (`cellar utility`)."""
    need("table", table, Table, "tabulate()")
    if sum(given is not None for given in (mechanism, release, file)) != 1:
        raise ValueError("give a mechanism, a release or a file")
    need_if("release", release, Release, "protect()")
    return Utility(**_cellar.utility(
        table._handle, mechanism, None if release is None else release._handle,
        None if file is None else os.fspath(file),
        {"negatives": negatives, "threshold": threshold, "copies": copies, "seed": seed, "max_ways": max_ways,
         "threads": threads}))
