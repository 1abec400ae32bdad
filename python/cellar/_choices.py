# SPDX-License-Identifier: GPL-3.0-or-later
"""Which columns to publish together, and which values to redact, so that few people stand out: confidential."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Mapping, Optional, Sequence, Union

from . import _cellar
from ._core import Assessment, Table, choice, positions
from ._words import need, several

Names = Union[str, Sequence[str]]
_MEASURES = {"known": 0, "bounded": 1, "estimated": 2, "independent": 3}


@dataclass(frozen=True, repr=False)
class ColumnSet(Assessment):
    """Columns that may be published together. Confidential."""

    columns: tuple[str, ...]
    weight: float
    exposure: float


@dataclass(frozen=True, repr=False)
class Selection(Assessment):
    """The best set of columns, then the runners-up; none: not even those that must be there are allowed."""

    sets: list[ColumnSet]
    additions: dict[str, float]
    """the exposure of the best set with one more column"""
    gap: float
    """how much heavier than the best set an allowed one may be: 0 when the search ended"""


@dataclass(frozen=True, repr=False)
class Suppression(Assessment):
    """Whoever has a value of a rule redacts it; everybody else redacts the column with its chance. Confidential."""

    rules: list[tuple[str, str]]
    """column and value"""
    chances: dict[str, float]
    before: float
    """exposure with nothing redacted"""
    after_rules: float
    after: float
    lost_to_rules: float
    """share of all entries"""
    lost_to_chance: float
    """share of all entries, expected"""
    met: bool


def _mask(names: Sequence[str], what: str, chosen: Names) -> int:
    found = several(what, chosen)
    unknown = [name for name in found if name not in names]
    if unknown:
        raise ValueError(f"'{unknown[0]}' is not among the variables")
    return sum(1 << names.index(name) for name in set(found))


def select_columns(table: Table, variables: Optional[Names] = None, *, k: int, exposure: float,
                   measure: str = "known", population: int = 0, tolerance: float = 0,
                   weights: Optional[Mapping[str, float]] = None, must: Names = (),
                   must_not: Names = (), runners_up: int = 3, threads: int = 0) -> Selection:
    """The set of columns with the largest sum of weights of whose people at most the share `exposure` has fewer than k
    alike (`cellar exposure select`). `measure` is "known", "bounded" (from single columns), "estimated" (for a
    `population` of other people) or "independent" (but for the `tolerance`)."""
    need("table", table, Table, "tabulate()")
    names = list(table.variables) if variables is None else several("variables", variables)
    if weights is not None and not isinstance(weights, Mapping):
        raise TypeError('`weights` is a mapping from variables to numbers: {"age": 2}')
    _mask(names, "weights", list(weights or {}))
    sets, additions, gap = _cellar.select_columns(table._handle, {
        "variables": positions(table.variables, names), "k": k, "exposure": exposure,
        "measure": choice("measure", measure, _MEASURES), "population": population, "tolerance": tolerance,
        "weights": [float((weights or {}).get(name, 1)) for name in names], "must": _mask(names, "must", must),
        "must_not": _mask(names, "must_not", must_not), "runners_up": runners_up, "threads": threads})
    return Selection([ColumnSet(tuple(columns), weight, share) for columns, weight, share in sets],
                     {name: share for name, share in additions if share is not None}, gap)


def suppress_values(table: Table, variables: Optional[Names] = None, *, k: int, exposure: float,
                    hide: float) -> Suppression:
    """Redactions that lose as few entries as possible and leave at most the share `exposure` of people with fewer than
    k alike (`cellar exposure suppress`). At most the share `hide` of a column's redactions may come from the rules, on
    average, the others being random; 1: none are random."""
    need("table", table, Table, "tabulate()")
    names = list(table.variables) if variables is None else several("variables", variables)
    rules, chances, before, after_rules, after, by_rules, by_chance, met = _cellar.suppress_values(table._handle, {
        "variables": positions(table.variables, names), "k": k, "exposure": exposure, "hide": hide})
    return Suppression(rules, dict(chances), before, after_rules, after, by_rules, by_chance, met)
