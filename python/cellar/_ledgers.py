# SPDX-License-Identifier: GPL-3.0-or-later
"""Ledgers: the privacy budget of datasets. protect() and plans charge them."""
from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _cellar
from ._core import Exact, choice, create_key, exact
from ._words import flag, text

Path = Union[str, "os.PathLike[str]"]
_UNCHARGED = {"cell-key": 0, "invariant": 1, "elsewhere": 2}
_SCHEMES = {"poisson": 0, "without-replacement": 1}


@dataclass(frozen=True)
class Amounts:
    """Of a budget, as exact decimals: epsilon and delta, or rho."""

    epsilon: Optional[str]
    delta: Optional[str]
    rho: Optional[str]


@dataclass(frozen=True)
class Balance:
    """The budget of a dataset, or of one analyst's share in it."""

    dataset: str
    analyst: Optional[str]
    unit: str
    neighbours: str
    cap: Amounts
    spent: Amounts
    left: Amounts
    charges: int
    uncharged: int
    """what is known about the dataset outside the budget"""
    statement: Optional[str]
    """what the dataset guarantees, in words that can be published"""


@dataclass(frozen=True)
class LedgerEntry:
    """One line of the history."""

    number: int
    kind: str
    time: str
    dataset: Optional[str]
    edition: Optional[str]
    analyst: Optional[str]
    request: Optional[str]
    mechanism: Optional[str]
    what: Optional[str]


@dataclass(frozen=True)
class Amplified:
    """What the whole cap is for a unit of the population that the data are a sample of."""

    epsilon: float
    delta: float
    assumptions: tuple[str, ...]


class Ledger:
    """A ledger by its path. Every call opens it, verifies its history, and closes it."""

    __slots__ = ("path", "key")

    def __init__(self, path: Path, *, key: Optional[Path] = None) -> None:
        self.path = os.fspath(path)
        self.key = self.path + ".key" if key is None else os.fspath(key)

    def _about(self) -> tuple[str, str, Optional[str], list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        return _cellar.ledger_about(self.path, self.key)

    @property
    def id(self) -> str:
        return self._about()[0]

    @property
    def head(self) -> str:
        """Of the history: what a release is stamped with."""
        return self._about()[1]

    @property
    def witness(self) -> Optional[str]:
        return self._about()[2]

    def balances(self) -> list[Balance]:
        """Datasets and the shares of analysts, in the order of the history."""
        return [Balance(*row[:4], *(Amounts(*amounts) for amounts in row[4:7]), *row[7:]) for row in self._about()[3]]

    def history(self) -> list[LedgerEntry]:
        return [LedgerEntry(*entry) for entry in self._about()[4]]

    def add_dataset(self, dataset: str, *, unit: str, neighbours: str, epsilon: Optional[Exact] = None,
                    delta: Optional[Exact] = None, rho: Optional[Exact] = None, edition: str = "1", population: int = 0,
                    accept_delta: bool = False) -> None:
        """Adds a dataset with its cap, which is never changed."""
        _cellar.add_to_ledger(self.path, self.key, {
            **_dataset(dataset, unit, neighbours, epsilon, delta, rho, edition, population, accept_delta), "has_cap": 1})

    def add_edition(self, dataset: str, edition: str) -> None:
        _cellar.add_to_ledger(self.path, self.key, {"dataset": dataset, "edition": edition})

    def add_analyst(self, dataset: str, analyst: str, *, epsilon: Optional[Exact] = None,
                    delta: Optional[Exact] = None, rho: Optional[Exact] = None) -> None:
        """Gives an analyst a share; from then on every charge to the dataset must name one who has a share."""
        _cellar.add_to_ledger(self.path, self.key, {
            "dataset": dataset, "analyst": text("analyst", analyst), "epsilon": exact(epsilon), "delta": exact(delta), "rho": exact(rho),
            "has_cap": 1})

    def enter(self, dataset: str, kind: str, what: str, *, edition: Optional[str] = None) -> None:
        """Notes what is known outside the budget: `kind` is "cell-key" (a release of cell keys), "invariant" (a true
        count that is published) or "elsewhere" (a table published without this ledger)."""
        _cellar.enter_in_ledger(self.path, self.key, dataset, edition, choice("kind", kind, _UNCHARGED), what)

    def verify(self, against: Optional[Path] = None) -> Optional[int]:
        """Reads everything again. With the file of a release the number of its entry: a release that is not the
        recorded output of a charge in this history is refused."""
        found = _cellar.verify_ledger(self.path, self.key, None if against is None else os.fspath(against))
        return None if against is None else found

    def amplify(self, dataset: str, *, sampling: str, rate: float, unit: str, panel: bool = False,
                calibrated_weights: bool = False) -> Amplified:
        """What the whole cap is for the population that the data are a sample of: `sampling` is "poisson" or
        "without-replacement". Charges stay what they are."""
        epsilon, delta, assumptions = _cellar.amplify_ledger(
            self.path, self.key, dataset, choice("sampling", sampling, _SCHEMES), rate, unit, panel, calibrated_weights)
        return Amplified(epsilon, delta, tuple(assumptions))

    def adopt(self, witness: Optional[Path] = None) -> None:
        """Goes on with a ledger that does not fit its witness, or gives it another one; the history says so."""
        _cellar.adopt_ledger(self.path, self.key, None if witness is None else os.fspath(witness))

    def __repr__(self) -> str:
        return f"<cellar.Ledger {self.path}>"


def _dataset(dataset: str, unit: str, neighbours: str, epsilon: Optional[Exact], delta: Optional[Exact],
             rho: Optional[Exact], edition: str, population: int, accept_delta: bool) -> dict[str, Any]:
    choice("neighbours", neighbours, {"add-remove": 0, "substitute": 1})
    return {"dataset": dataset, "unit": unit, "neighbours": neighbours, "epsilon": exact(epsilon),
            "delta": exact(delta), "rho": exact(rho), "edition": edition, "population": population,
            "accept_delta": flag("accept_delta", accept_delta)}


def create_ledger(path: Path, dataset: str, *, unit: str, neighbours: str, epsilon: Optional[Exact] = None,
                  delta: Optional[Exact] = None, rho: Optional[Exact] = None, edition: str = "1", population: int = 0,
                  accept_delta: bool = False, key: Optional[Path] = None, witness: Optional[Path] = None) -> Ledger:
    """Makes a ledger with its first dataset and cap, and its key, unless there is one. `witness` is a file elsewhere
    that receives every new head, so that an older copy of the ledger is refused."""
    ledger = Ledger(path, key=key)
    made_key = not os.path.exists(ledger.key)
    if made_key:
        create_key(ledger.key)
    try:
        _cellar.create_ledger(ledger.path, ledger.key,
                              _dataset(dataset, unit, neighbours, epsilon, delta, rho, edition, population, accept_delta),
                              None if witness is None else os.fspath(witness))
    except Exception:
        if made_key and not os.path.exists(ledger.path):
            os.unlink(ledger.key)  # nothing is chained under it
        raise
    return ledger
