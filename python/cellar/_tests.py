# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests that know the noise."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional, Sequence, Union

from . import _cellar
from ._core import Release, choice, positions
from ._estimates import Cube
from ._words import flag, need, quoted, several


@dataclass(frozen=True)
class ModelTest:
    """A likelihood ratio test of a log-linear model, and the naive one, which takes released values for counts."""

    model: str
    statistic: float
    df: float
    p_value: float
    naive_statistic: float
    naive_p_value: float
    information: float
    """what the noise leaves of the information of the counts, 0 to 1"""
    smallest_expected: float
    converged: bool
    chi_square_is_off: bool
    """True: chi-square is no reference to rely on; ask for the bootstrap"""
    cells: list[tuple[tuple[str, ...], int, float, Optional[float]]] = field(repr=False)
    """codes, released value, expected count, standardised residual (with residuals=True)"""
    cramers_v: Optional[tuple[float, float, float]]
    """value and interval (with association=True)"""
    odds_ratios: list[tuple[str, str, str, str, tuple[float, float, float]]] = field(repr=False)
    """two rows, two columns, value and interval (with association=True)"""


def loglinear(data: Union[Release, Cube], model: str, *, variables: Union[str, Sequence[str], None] = None,
              against: Optional[str] = None, reference: Optional[str] = None, replicates: int = 999, seed: int = 1,
              residuals: bool = False, association: bool = False, confidence: float = 0.95,
              threads: int = 0) -> ModelTest:
    """Tests a model such as "a*b + c" within another one (None: the saturated one) from a release or a table of a
    cube. `reference` is "chi-square" or "bootstrap", which a cube needs."""
    if not isinstance(data, Cube):
        need("data", data, Release, "protect()")
    names = list(data.variables) if variables is None else several("variables", variables)
    if association and len(names) != 2:
        raise ValueError("association is of two variables: name them")
    if reference is None:
        reference = "bootstrap" if isinstance(data, Cube) else "chi-square"
    asked: dict[str, Any] = {
        "model": model, "against": against,
        "reference": choice("reference", reference, {"chi-square": 0, "bootstrap": 1}), "replicates": replicates,
        "seed": seed, "residuals": flag("residuals", residuals), "confidence": confidence,
        "association": flag("association", association), "threads": threads}
    if isinstance(data, Cube):
        found = _cellar.test(None, data._handle, {**asked, "names": names})
    else:
        found = _cellar.test(data._handle, None, {**asked, "variables": positions(data.variables, names)})
    aware, naive, beside = found["aware"], found["naive"], found["association"]
    return ModelTest(
        model, aware["statistic"], aware["df"], aware["p_value"], naive["statistic"], naive["p_value"],
        found["information"], found["smallest_expected"], found["converged"], found["chi_square_is_off"],
        [(tuple(codes), released, expected, residual) for codes, released, expected, residual in found["cells"]],
        None if beside is None else beside[0],
        [] if beside is None else [(a, b, c, d, aware_ratio) for a, b, c, d, aware_ratio, _ in beside[2]])


def independence(data: Union[Release, Cube], rows: str, columns: str, *, association: bool = False,
                 reference: Optional[str] = None, replicates: int = 999, seed: int = 1, residuals: bool = False,
                 confidence: float = 0.95, threads: int = 0) -> ModelTest:
    """Tests whether two variables are independent (`cellar infer independence`)."""
    return loglinear(data, f"{quoted(rows)} + {quoted(columns)}", variables=[rows, columns], reference=reference,
                     replicates=replicates, seed=seed, residuals=residuals, association=association,
                     confidence=confidence, threads=threads)


@dataclass(frozen=True)
class BinomialTest:
    """A released value of a known number of trials, tested against a probability."""

    statistic: float
    p_value: float
    exact_p_value: Optional[float]
    estimate: float
    naive_p_value: float
    critical_value: Optional[float]
    level: Optional[float]
    power: Optional[float]


def binomial_test(released: int, trials: int, null: float, mechanism: str, *, alternative: Optional[float] = None,
                  level: float = 0.05, negatives: str = "keep") -> BinomialTest:
    """Tests that a ~ Binomial(trials, null) was released as `released` (`cellar infer binomial`)."""
    found = _cellar.binomial(released, {"trials": trials, "null": null, "alternative": alternative, "level": level,
                                        "mechanism": mechanism, "negatives": negatives})
    aware = found["aware"]
    return BinomialTest(aware[0], aware[1], aware[2], aware[3], found["naive"][1], found["critical_value"],
                        found["level"], found["power"])
