# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments and messages in the words of Python."""
from __future__ import annotations

import operator
import re
from typing import Any, Optional, TypeVar

T = TypeVar("T")

_OTHER = {"--domain": "`codelists`", "--force": "`replace`", "--map": "Variable(map=...)", "--top": "Variable(top=...)",
          "--bottom": "Variable(bottom=...)", "--band": "Variable(band=...)"}
_ADVICE = {"; cellar describe lists them": "", "'cellar fit RELEASE -o fitted.csv'": "fit()",
           "'cellar ledger create'": "create_ledger()"}


def in_words_of_python(message: str) -> str:
    """The library names the options of the command line; most of them are arguments here, under the same name."""
    for advice, instead in _ADVICE.items():
        message = message.replace(advice, instead)
    return re.sub(r"(?<![-\w])--[a-z]+(?:-[a-z]+)*",
                  lambda found: _OTHER.get(found[0], f"`{found[0][2:].replace('-', '_')}`"), message)


def several(name: str, given: Any, kinds: tuple[type, ...] = (str,)) -> list[Any]:
    """One value, or several."""
    if isinstance(given, kinds):
        return [given]
    words = " or ".join(kind.__name__ for kind in kinds)
    try:
        values = list(given)
    except TypeError:
        raise TypeError(f"`{name}` is a {words}, or several, not {type(given).__name__}") from None
    for value in values:
        if not isinstance(value, kinds):
            raise TypeError(f"`{name}` is a {words}, or several: {type(value).__name__} is neither")
    return values


def text(name: str, given: Any) -> str:
    if not isinstance(given, str):
        raise TypeError(f"`{name}` is a str, not {type(given).__name__}")
    return given


def whole(name: str, given: Any) -> int:
    """A whole number that is not negative."""
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"`{name}` is a whole number, not {type(given).__name__}") from None
    if not 0 <= number < 2**63:
        raise ValueError(f"`{name}` is a whole number that is not negative, within 63 bits")
    return number


def flag(name: str, given: Any) -> int:
    """True or False, NumPy's too."""
    if not isinstance(given, (bool, int)) and type(given).__name__ != "bool_":
        raise TypeError(f"`{name}` is True or False, not {type(given).__name__}")
    return int(bool(given))


def need(name: str, given: Any, kind: type[T], maker: str) -> T:
    """An argument that only we can make."""
    if not isinstance(given, kind):
        raise TypeError(f"`{name}` is a {kind.__name__}, which {maker} makes, not {type(given).__name__}")
    return given


def need_if(name: str, given: Any, kind: type[T], maker: str) -> Optional[T]:
    return None if given is None else need(name, given, kind, maker)
