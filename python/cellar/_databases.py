# SPDX-License-Identifier: GPL-3.0-or-later
"""Counting where the data live: the library writes one SQL question, a DB-API 2 connection answers it with cells."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Optional, Sequence

from . import _cellar
from ._cellar import Error

_PIECE = 10000  # rows of the answer that are held at a time
_SQL_DBMS_NAME = 17  # of ODBC's SQLGetInfo()
_DRIVERS = {"psycopg": "postgresql", "psycopg2": "postgresql", "pg8000": "postgresql", "google": "bigquery",
            "databricks": "spark"}
Row = tuple[Optional[str], ...]


def is_connection(data: Any) -> bool:
    return hasattr(data, "cursor") and hasattr(data, "commit")


def dialect_of(connection: Any, dialect: Optional[str]) -> str:
    """Whose SQL a connection understands: by the module of its class, or by what its driver calls the database."""
    if dialect is not None:
        if _cellar.find_dialect(dialect) != dialect:
            raise ValueError(f"dialect cannot be {dialect!r}; `cellar sql --help` names those that it can be")
        return dialect
    names = [kind.__module__.split(".")[0] for kind in type(connection).__mro__]
    names = [_DRIVERS.get(name, name) for name in names if name != "builtins"]
    if hasattr(connection, "getinfo"):
        names.append(str(connection.getinfo(_SQL_DBMS_NAME)))
    for name in names:
        found = _cellar.find_dialect(name)
        if found is not None:
            return found
    raise ValueError(f"whose SQL a connection of {names[0] if names else 'this kind'} understands is not known: "
                     "name it by `dialect`")


def _text(field: Any) -> Optional[str]:
    return field.decode("ascii", "replace") if isinstance(field, (bytes, bytearray)) else \
        None if field is None else str(field)


def _rows(rows: Sequence[Any]) -> list[Row]:
    """Rows are sequences, or mappings where the connection is set up so."""
    return [tuple(map(_text, row.values() if isinstance(row, Mapping) else row)) for row in rows]


def asking(connection: Any, name: str) -> Callable[[str], Iterator[list[Row]]]:
    """What sends a question and yields the pieces of its answer. What the driver reports becomes an Error."""
    def said(error: Exception) -> Error:
        lines = str(error).splitlines()
        found = Error(f"{name}: {lines[0] if lines else type(error).__name__}")
        found.status = "CELLAR_ERR_IO"
        return found

    def ask(sql: str) -> Iterator[list[Row]]:
        try:
            cursor = connection.cursor()
            try:
                cursor.execute(sql)
                while rows := cursor.fetchmany(_PIECE):
                    yield _rows(rows)
            finally:
                cursor.close()
        except Exception as error:
            raise said(error) from None
    return ask
