# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables, releases, intervals and certificates: the way of the data."""
from __future__ import annotations

import html
import importlib
import json
import os
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING, Any, Mapping, NoReturn, Optional, Sequence, Union

from . import _cellar
from ._cellar import Error as Error
from ._databases import asking, dialect_of, is_connection
from ._frames import columns_of
from ._words import Cells, flag, need, need_if, quoted, several, set_of_cells, whole

if TYPE_CHECKING:
    from ._ledgers import Ledger

__version__: str = _cellar.version

Exact = Union[str, int, Decimal]
CodeList = Union[str, "os.PathLike[str]", Sequence[str]]
_MISSING = {None: 0, "drop": 1, "level": 2}
_ENCODINGS = {"utf-8": 0, "latin1": 1, "windows-1252": 2}
_CHOSEN = {None: 0, "in-advance": 1, "public-data": 2, "confidential-data": 3}


def exact(value: Optional[Exact]) -> Optional[str]:
    if isinstance(value, float):
        raise TypeError("give epsilon and delta as text or Decimal: a float is not the decimal that was typed")
    if value is not None and not isinstance(value, (str, Decimal, Integral)):
        raise TypeError(f"a decimal is text, a whole number or Decimal, not {type(value).__name__}")
    return None if value is None else str(value)


def exacts(name: str, given: Union[Exact, Sequence[Exact]]) -> list[Optional[str]]:
    return [exact(value) for value in several(name, given, (str, int, Decimal, float))]


def choice(name: str, value: Any, choices: Mapping[Any, int]) -> int:
    if not isinstance(value, (str, type(None))) or value not in choices:
        known = ", ".join(str(choice) for choice in choices if choice is not None)
        given = repr(value) if isinstance(value, str) else type(value).__name__
        raise ValueError(f"{name} cannot be {given}; it is one of {known}")
    return choices[value]


def _no_pickle(what: str) -> NoReturn:
    raise TypeError(f"a {what} cannot be pickled or copied: it holds what must not reach a file unseen")


class Assessment:
    """Computed from true counts: confidential. Attributes have the numbers; what is shown has none, and neither a
    pickle nor a copy can be made."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<cellar.{type(self).__name__}: computed from true counts, confidential>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    def __reduce__(self) -> NoReturn:
        _no_pickle(type(self).__name__)


def html_table(head: Sequence[str], rows: Sequence[Sequence[Any]], shown: int = 20) -> str:
    """The first rows of a table that is public."""
    def text(cell: Any) -> str:
        return "" if cell is None else f"{cell:.10g}" if isinstance(cell, float) else html.escape(str(cell))
    heads = "".join(f"<th>{html.escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{text(cell)}</td>" for cell in row) + "</tr>" for row in rows[:shown])
    more = f"<p>{len(rows) - shown} more rows</p>" if len(rows) > shown else ""
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>{more}"


def positions(variables: Mapping[str, Any], names: Union[str, Sequence[str]]) -> list[int]:
    """Where these variables stand in a table or release."""
    order, found = list(variables), several("variables", names)
    for name in found:
        if name not in variables:
            raise ValueError(f"there is no variable '{name}': {', '.join(order)} are here")
    return [order.index(name) for name in found]


def frame_of(variables: Mapping[str, Sequence[str]], rows: Sequence[Sequence[Any]], values: Sequence[str]) -> Any:
    """Codes as pandas categories, and values beside them."""
    pandas: Any = importlib.import_module("pandas")  # Debian's has no types
    frame = pandas.DataFrame(rows, columns=[*variables, *values])
    for name, codes in variables.items():
        frame[name] = pandas.Categorical(frame[name], categories=codes)
    return frame


# ---- what to count ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """A column as a variable: recoded, banded, with a policy of its own for missing values."""

    column: str
    name: Optional[str] = None
    map: Optional[Mapping[str, str]] = None
    bottom: Optional[Exact] = None
    top: Optional[Exact] = None
    band: Optional[Exact] = None
    band_origin: Optional[Exact] = None
    band_closed: str = "left"
    level: int = 0
    missing_as: Optional[str] = None


@dataclass(frozen=True)
class RowReport:
    """What became of the rows. Confidential."""

    read: int = field(repr=False)
    bad: int = field(repr=False)
    filtered: int = field(repr=False)
    missing: int = field(repr=False)
    over_unit: int = field(repr=False)
    counted: int = field(repr=False)


class Table:
    """True counts: confidential. Shows its shape; true_counts() is the one way to what was counted."""

    __slots__ = ("_handle", "_report")

    def __init__(self, handle: _cellar.Handle, report: Optional[RowReport] = None) -> None:
        self._handle = handle
        self._report = report

    @property
    def variables(self) -> dict[str, list[str]]:
        """The categories of each variable, totals last."""
        return {name: codes for name, _, codes in _cellar.shape(self._handle)}

    @property
    def domains(self) -> dict[str, str]:
        """Where the categories of each variable come from: declared, drafted, asserted or observed."""
        return {name: domain for name, domain, _ in _cellar.shape(self._handle)}

    def row_report(self) -> Optional[RowReport]:
        """What became of the rows: confidential. None for a table that was not counted here."""
        return self._report

    def true_counts(self) -> list[tuple[Any, ...]]:
        """The true counts, confidential: for each cell with records its codes and its count."""
        return _cellar.true_counts(self._handle)

    def write(self, path: Union[str, "os.PathLike[str]"], *, zeros: bool = False, replace: bool = False) -> None:
        """Writes the true counts, confidential, in the format of the file's ending; nobody else may read the file."""
        _cellar.write_table(self._handle, os.fspath(path), zeros, replace)

    def __repr__(self) -> str:
        shape = " x ".join(f"{name} ({len(codes)})" for name, codes in self.variables.items())
        return f"<cellar.Table of {shape}: true counts, confidential>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"

    def __reduce__(self) -> NoReturn:
        _no_pickle("table")


def _codelist(name: str, given: CodeList) -> _cellar.Handle:
    if isinstance(given, (str, os.PathLike)):
        return _cellar.read_codelist(os.fspath(given))
    try:  # a data frame or a mapping would give its columns or keys
        codes = [] if isinstance(given, Mapping) or hasattr(given, "columns") else list(given)
    except TypeError:
        codes = []
    if not codes or any(code is None or code != code for code in codes):
        raise TypeError(f"the code list of '{name}' is the path of a file, or the codes in order, none of them missing")
    return _cellar.make_codelist({"codes": [str(code) for code in codes]})


def _recode_map(pairs: Mapping[str, str]) -> _cellar.Handle:
    if not isinstance(pairs, Mapping):
        raise TypeError('`map` is a mapping from values to codes: {"f": "F"}')
    return _cellar.make_recode_map("from,to\n" + "".join(f"{quoted(k)},{quoted(v)}\n" for k, v in pairs.items()))


def _variable(variable: Variable, codelists: Mapping[str, CodeList], domain_public: bool) -> dict[str, Any]:
    name = variable.name or variable.column
    given = codelists.get(name)
    return {"name": variable.name, "column": variable.column, "level": variable.level,
            "domain_public": flag("domain_public", domain_public), "missing": choice("missing_as", variable.missing_as, _MISSING),
            "codelist": None if given is None else _codelist(name, given),
            "map": None if variable.map is None else _recode_map(variable.map),
            "bottom": exact(variable.bottom), "top": exact(variable.top), "band": exact(variable.band),
            "band_origin": exact(variable.band_origin),
            "band_closed_right": choice("band_closed", variable.band_closed, {"left": 0, "right": 1})}


def _margin_masks(margins: Union[str, Sequence[Sequence[str]]], names: list[str]) -> list[int]:
    if isinstance(margins, str):
        choice("margins", margins, {"none": 0, "all": 1})
        return []
    if not isinstance(margins, Sequence) or any(isinstance(margin, str) for margin in margins):
        raise TypeError('`margins` is "none", "all", or for each margin a list of the variables that it keeps')
    unknown = [name for margin in margins for name in margin if name not in names]
    if unknown:
        raise ValueError(f"margins name '{unknown[0]}', which is no variable of the table")
    return [sum(1 << names.index(name) for name in margin) for margin in margins]


def tabulate(data: Any, by: Union[str, Variable, Sequence[Union[str, Variable]]], *, codelists: Optional[Mapping[str, CodeList]] = None,
             where: Union[str, Sequence[str]] = (), missing: Union[str, Sequence[str]] = (), missing_as: Optional[str] = None,
             margins: Union[str, Sequence[Sequence[str]]] = "none", weight: Optional[str] = None,
             max_weight: int = 0, unit: Optional[str] = None, max_per_unit: int = 0,
             record_key: Optional[str] = None, record_id: Optional[str] = None, key: Optional[Key] = None,
             key_range: int = 0, count: Optional[str] = None, rows_are_records: bool = False,
             domain_public: bool = False, threads: int = 0, table: Optional[str] = None,
             order_by: Union[str, Sequence[str]] = (), dialect: Optional[str] = None, delimiter: Optional[str] = None,
             encoding: str = "utf-8") -> Table:
    """Counts the rows of a pandas data frame, of a mapping from names to columns (NumPy arrays, lists), of anything
    with __arrow_c_stream__, of a file (its path), or of a `table` of a database (a DB-API 2 connection: the database
    counts, and only cells leave it). The table is that of `cellar tabulate` for the same rows in CSV.

    `by` names columns, or has Variable objects. `codelists` declares categories: a file, or the codes in order. Without
    one the categories are those that occur, and protecting the table needs domain_public. Whole floats are written
    without a point. In a database `order_by` names the columns that say which records of a unit come first, and
    `dialect` whose SQL it understands, where its driver does not say. `delimiter` and `encoding` ("utf-8", "latin1",
    "windows-1252") are those of a text file."""
    variables = [Variable(v) if isinstance(v, str) else v for v in several("by", by, (str, Variable))]
    where = several("where", where)
    if codelists is not None and not isinstance(codelists, Mapping):
        raise TypeError('`codelists` is a mapping from variables to code lists: {"sex": ["F", "M"]}')
    if (unit is None) != (whole("max_per_unit", max_per_unit) == 0):
        raise ValueError("`unit` and `max_per_unit`, how many records of a unit count, go together")
    need_if("key", key, Key, "read_key()")
    spec: dict[str, Any] = {
        "variables": [_variable(v, codelists or {}, domain_public) for v in variables], "where": where,
        "missing": several("missing", missing), "missing_as": choice("missing_as", missing_as, _MISSING),
        "all_margins": int(isinstance(margins, str) and margins == "all"),
        "margins": _margin_masks(margins, [v.name or v.column for v in variables]), "weight": weight,
        "max_weight": max_weight, "unit": unit, "max_per_unit": max_per_unit, "record_key": record_key,
        "record_id": record_id, "key": None if key is None else key._handle, "key_range": key_range, "count": count,
        "rows_are_records": flag("rows_are_records", rows_are_records), "threads": threads}
    if isinstance(data, (str, os.PathLike)):
        spec.update(path=os.fspath(data), delimiter=delimiter, encoding=choice("encoding", encoding, _ENCODINGS))
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter.encode()) != 1):
            raise ValueError('`delimiter` is one character, such as ";" or "\\t"')
    elif delimiter is not None or not isinstance(encoding, str) or encoding != "utf-8":
        raise ValueError("`delimiter` and `encoding` are for a file")
    if is_connection(data):
        if table is None:
            raise ValueError("`table` names the table of the database: 'people' or 'schema.people'")
        name = dialect_of(data, dialect)
        counted = _cellar.tabulate_database(spec, {"table": table, "order_by": several("order_by", order_by), "dialect": name},
                                            asking(data, name))
    elif table is not None:
        raise TypeError("`table` is for a connection to a database, which has cursor() and commit()")
    elif isinstance(data, (str, os.PathLike)):
        counted = _cellar.tabulate_file(spec)
    elif hasattr(data, "__arrow_c_stream__") and not hasattr(data, "iloc"):
        counted = _cellar.tabulate_stream(spec, data.__arrow_c_stream__())
    else:
        beside = {name for name in (weight, unit, record_key, record_id, count) if name is not None}
        columns, n_rows = columns_of(data, {v.column for v in variables} | beside, where)
        counted = _cellar.tabulate_columns(spec, columns, n_rows)
    return Table(counted[0], RowReport(*counted[1:]))


def read_table(path: Union[str, "os.PathLike[str]"]) -> Table:
    """A table that `cellar tabulate` wrote."""
    return Table(_cellar.read_table(os.fspath(path)))


def merge(tables: Sequence[Table]) -> Table:
    """Adds up partial tables that were counted alike over declared categories."""
    return Table(_cellar.merge_tables([need("tables", table, Table, "tabulate()")._handle for table in tables]))


# ---- keys ---------------------------------------------------------------------------------------------------


class Key:
    """The secret behind keyed noise and record keys. It does not survive fork()."""

    __slots__ = ("_secret", "_process")

    def __init__(self, handle: _cellar.Handle) -> None:
        self._secret = handle
        self._process = os.getpid()

    @property
    def _handle(self) -> _cellar.Handle:
        if os.getpid() != self._process:
            raise RuntimeError("a key does not survive fork(): read it again in this process")
        return self._secret

    @property
    def id(self) -> str:
        """The public name of the key."""
        return _cellar.key_id(self._handle)

    def write_public(self, path: Union[str, "os.PathLike[str]"], *, replace: bool = False) -> None:
        """Writes the public half, which others verify signatures with."""
        _cellar.write_public_key(self._handle, os.fspath(path), replace)

    def __repr__(self) -> str:
        return "<cellar.Key>"

    def __reduce__(self) -> NoReturn:
        _no_pickle("key")


def create_key(path: Union[str, "os.PathLike[str]"], edition: Optional[str] = None) -> None:
    """Makes a key file, which must not exist."""
    _cellar.create_key(os.fspath(path), edition)


def read_key(path: Union[str, "os.PathLike[str]"]) -> Key:
    """Reads a key file that only its owner can read."""
    return Key(_cellar.read_key(os.fspath(path)))


# ---- releases -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Interval:
    """What is known of a count, a sum or a comparison behind released values."""

    estimate: float
    low: float
    high: float
    confidence: float
    released: float
    conservative: bool
    pooled: bool = False
    """from all released values together"""


COMPARISONS = {None: 0, "difference": 1, "ratio": 2, "proportion": 3}


class Release:
    """Released values and how they were made. Can be published."""

    __slots__ = ("_handle",)

    def __init__(self, handle: _cellar.Handle) -> None:
        self._handle = handle

    @property
    def variables(self) -> dict[str, list[str]]:
        return {name: codes for name, _, codes in _cellar.release_shape(self._handle)}

    @property
    def mechanism(self) -> str:
        return _cellar.release_texts(self._handle)[0]

    @property
    def verdict(self) -> str:
        return _cellar.release_texts(self._handle)[1]

    @property
    def ledger(self) -> str:
        return _cellar.release_texts(self._handle)[2]

    @property
    def guarantee(self) -> str:
        """What the certificate promises for one unit, in a sentence for those who see the table."""
        return _cellar.release_texts(self._handle)[5]

    @property
    def certificate(self) -> dict[str, Any]:
        """The certificate, as docs/certificates.md describes it."""
        found: dict[str, Any] = json.loads(_cellar.release_texts(self._handle)[3])
        return found

    @property
    def description(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(_cellar.release_texts(self._handle)[4])
        return found

    def rows(self) -> list[tuple[Any, ...]]:
        """The listed cells: codes, then the released value (None: suppressed)."""
        return _cellar.release_rows(self._handle)

    def to_pandas(self) -> Any:
        """The listed cells as a data frame with categories."""
        return frame_of(self.variables, self.rows(), ["released"])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _cellar.release_stream(self._handle, False)

    def value(self, codes: Mapping[str, str]) -> Optional[int]:
        """The released value of the cell with these codes; variables that are not named are summed up (where the
        release holds that total). None: suppressed."""
        if not isinstance(codes, Mapping):
            raise TypeError('`codes` is a mapping from variables to codes: {"sex": "F"}')
        unknown = [name for name in codes if name not in self.variables]
        if unknown:
            raise ValueError(f"the release has no variable '{unknown[0]}'")
        return _cellar.release_at(self._handle, {"codes": [str(codes.get(name, "")) for name in self.variables]})

    def write(self, path: Union[str, "os.PathLike[str]"], *, zeros: bool = False, replace: bool = False) -> None:
        """Writes .csv, .json (JSON-stat), .px, .ods or .xlsx, with the certificate. Spreadsheets are not read back."""
        _cellar.write_release(self._handle, os.fspath(path), zeros, replace)

    def __repr__(self) -> str:
        shape = " x ".join(f"{name} ({len(codes)})" for name, codes in self.variables.items())
        return f"<cellar.Release of {shape} by {self.mechanism}. {self.guarantee}>"

    def _repr_html_(self) -> str:
        return (f"<p>{html.escape(repr(self))}; {html.escape(self.ledger)}</p>"
                + html_table([*self.variables, "released"], self.rows()))

    def __reduce__(self) -> NoReturn:
        raise TypeError("a release is not pickled: write() keeps its certificate with it")


def protect(table: Table, mechanism: str, *, negatives: str, per_cell: bool = False,
            total_epsilon: Optional[Exact] = None, delta: Optional[Exact] = None, threshold: int = 0,
            below: str = "zero", unit: Optional[str] = None, neighbours: Optional[str] = None, per_unit: int = 1,
            max_weight: int = 0, domain_public: bool = False, chosen: Optional[str] = None,
            accept: Sequence[str] = (), date: Optional[str] = None, key: Optional[Key] = None,
            edition: Optional[str] = None, dataset: Optional[str] = None,
            ledger: Union[Ledger, str, "os.PathLike[str]", None] = None,
            ledger_key: Union[str, "os.PathLike[str]", None] = None, request: Optional[str] = None,
            analyst: Optional[str] = None, accept_delta: bool = False,
            output: Union[str, "os.PathLike[str]", None] = None, max_cells: Optional[int] = None,
            threads: int = 0) -> Release:
    """Perturbs every cell of a table. `mechanism` is a spec such as "discrete-laplace:epsilon=0.5", whose parameters
    are those of one cell; where a record touches several cells say per_cell=True, or the total that may not be
    exceeded. `chosen` says how its parameters were chosen: "in-advance", from "public-data" or "confidential-data".
    With `key` the noise is keyed. With `ledger` (or its path) the release is charged, and appears in `output`.
    """
    need("table", table, Table, "tabulate()")
    need("mechanism", mechanism, str, 'writing it down, "discrete-laplace:epsilon=1",')
    need_if("key", key, Key, "read_key()")
    choice("negatives", negatives, {"keep": 0, "zero": 1})
    from ._ledgers import Ledger  # which needs this module
    if isinstance(ledger, Ledger):
        ledger_key = ledger.key if ledger_key is None else ledger_key
        ledger = ledger.path
    if ledger is not None and ledger_key is None:
        ledger_key = os.fspath(ledger) + ".key"
    options = {
        "negatives": negatives, "per_cell": flag("per_cell", per_cell), "total_epsilon": exact(total_epsilon),
        "delta": exact(delta), "threshold": threshold, "below": below, "unit": unit, "neighbours": neighbours,
        "per_unit": per_unit, "max_weight": max_weight, "domain_public": flag("domain_public", domain_public),
        "chosen": choice("chosen", chosen, _CHOSEN), "accept": several("accept", accept), "date": date,
        "key": None if key is None else key._handle, "edition": edition, "dataset": dataset,
        "ledger": None if ledger is None else os.fspath(ledger),
        "ledger_key": None if ledger_key is None else os.fspath(ledger_key), "request": request, "analyst": analyst,
        "accept_delta": flag("accept_delta", accept_delta), "output": None if output is None else os.fspath(output),
        "max_cells": max_cells, "threads": threads}
    release = Release(_cellar.protect(table._handle, mechanism, options))
    if output is not None and ledger is None:
        release.write(output)
    return release


def read_release(path: Union[str, "os.PathLike[str]"]) -> Release:
    """A release from its file, with its certificate."""
    return Release(_cellar.read_release(os.fspath(path)))


def releases_of(given: Any) -> list[Release]:
    releases = several("release", given, (Release,))
    if not releases:
        raise ValueError("expected a release, or several")
    return releases


def infer(release: Union[Release, Sequence[Release]], of: Cells = "", *, compare: Optional[str] = None,
          other: Optional[Cells] = None, target: str = "table", prior: Optional[str] = None, confidence: float = 0.95,
          pooled: bool = True) -> Interval:
    """The interval of the count behind "sex=F; region=1,2" ("": everything), or of two such sets compared: difference,
    ratio, or proportion of the first in the second. It knows the exact distribution of the noise. A set may be a
    mapping, too: {"sex": "F", "region": ["1", "2"]}. With `pooled` all values of a release with margins are used
    together where that can be done (counts and differences); several releases of the same people, the first of which
    has all variables, always are."""
    releases = releases_of(release)
    pooled = flag("pooled", pooled) == 1 or len(releases) > 1
    if len(releases) > 1 and (compare not in (None, "difference") or target != "table" or prior is not None):
        raise ValueError("pooled intervals are of counts and differences of the table, without a prior")
    if (compare is None) != (other is None):
        raise ValueError("a comparison needs `compare` and `other`")
    return Interval(*_cellar.release_interval(
        [one._handle for one in releases], set_of_cells("of", of), choice("compare", compare, COMPARISONS),
        None if other is None else set_of_cells("other", other),
        choice("target", target, {"table": 0, "population": 1}),
        choice("prior", prior, {None: 0, "uniform": 1, "reciprocal": 2}), confidence, pooled))


# ---- guarantees ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Certificate:
    """What a mechanism guarantees. Every number is a proven bound."""

    mechanism: str
    verdict: str
    reason: Optional[str]
    pure_epsilon: float
    pure_epsilon_exact: Optional[str]
    rho: float
    deltas: tuple[tuple[float, float, float], ...]
    """(epsilon, delta, a bound that the true delta is not below)"""
    epsilons: tuple[tuple[float, float, float], ...]
    """(delta, epsilon, a bound that the true epsilon is not below)"""
    warnings: tuple[str, ...]

    def _repr_html_(self) -> str:
        lines = [f"{self.mechanism}: {self.verdict}", *([self.reason] if self.reason else []),
                 f"pure epsilon: {self.pure_epsilon_exact or format(self.pure_epsilon, '.10g')}", *self.warnings]
        return ("".join(f"<p>{html.escape(line)}</p>" for line in lines)
                + (html_table(["epsilon", "delta", "at least"], self.deltas) if self.deltas else "")
                + (html_table(["delta", "epsilon", "at least"], self.epsilons) if self.epsilons else ""))


def certificate_of(mechanism: str, found: Any) -> Certificate:
    verdict, reason, pure, pure_exact, rho, deltas, epsilons, warnings = found
    return Certificate(mechanism, verdict, reason, pure, pure_exact, rho, tuple(deltas), tuple(epsilons), tuple(warnings))


def certify(mechanism: str, *, epsilons: Union[Exact, Sequence[Exact]] = (), deltas: Union[Exact, Sequence[Exact]] = (), cells: int = 1,
            per_unit: int = 1, max_weight: int = 1, population: int = 0, unit: Optional[str] = None,
            negatives: Optional[str] = None, neighbours: Optional[str] = None) -> Certificate:
    """The certificate of a mechanism: delta at each epsilon, epsilon at each delta, for all cells that one unit
    touches."""
    found = _cellar.certify(mechanism, {
        "epsilons": exacts("epsilons", epsilons), "deltas": exacts("deltas", deltas), "cells": cells,
        "per_unit": per_unit, "max_weight": max_weight, "population": population, "unit": unit,
        "negatives": negatives, "neighbours": neighbours})
    return certificate_of(mechanism, found)


@dataclass(frozen=True)
class Membership:
    """No test of that level, the chance of a false alarm, has more power to decide whether somebody is in the data."""

    level: float
    power: float

    @property
    def advantage(self) -> float:
        return self.power - self.level


def membership(mechanism: str, *, levels: Union[float, Sequence[float]] = (0.01, 0.05, 0.1), cells: int = 1, per_unit: int = 1,
               max_weight: int = 1, negatives: Optional[str] = None, neighbours: Optional[str] = None) -> list[Membership]:
    """How well the best of all tests decides whether somebody is in the data, whatever the attacker knows about
    everybody else: an upper bound for every attack."""
    options = {"cells": cells, "per_unit": per_unit, "max_weight": max_weight, "negatives": negatives,
               "neighbours": neighbours}
    return [Membership(level, _cellar.membership(mechanism, options, level))
            for level in several("levels", levels, (int, float))]


@dataclass(frozen=True)
class Mechanism:
    """A mechanism at one count."""

    spec: str
    mean: float
    variance: float
    entropy: float
    presence: float


def mechanism(spec: str, *, count: int = 0, negatives: str = "keep") -> Mechanism:
    """The canonical spec, and moments of the released value at a count."""
    return Mechanism(*_cellar.mechanism(spec, whole("count", count), negatives))


def pmf(spec: str, count: int, first: int, last: int) -> list[float]:
    """P(released | count) for released = first, ..., last."""
    return _cellar.pmf(spec, whole("count", count), first, last)
