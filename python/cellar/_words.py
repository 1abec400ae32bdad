# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments and messages in the words of Python."""
from __future__ import annotations

import operator
import re
from typing import Any, Mapping, Optional, Sequence, TypeVar, Union

T = TypeVar("T")
Cells = Union[str, Mapping[str, Union[str, int, Sequence[Union[str, int]]]]]

_OTHER = {"--domain": "`codelists`", "--force": "`replace`", "--map": "Variable(map=...)", "--top": "Variable(top=...)",
          "--bottom": "Variable(bottom=...)", "--band": "Variable(band=...)"}
_ADVICE = {"; cellar describe lists them": "", "'cellar fit RELEASE -o fitted.csv'": "fit()",
           "'cellar ledger create'": "create_ledger()", "--domain VARIABLE=FILE": "`codelists`",
           "--missing-as drop or level, or VARIABLE=level for one; in a plan missing_as":
               "`missing_as` drop or level, or Variable(missing_as=...) for one"}


def in_words_of_python(message: str) -> str:
    """The library names the options of the command line; most of them are arguments here, under the same name."""
    message = re.sub(r"--missing-as [^()]*=drop\)", "`missing_as`, or Variable(missing_as=...) for one)", message)
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


def quoted(given: Any) -> str:
    return '"' + str(given).replace('"', '""') + '"'


def set_of_cells(name: str, given: Cells) -> str:
    """A set as text, "sex=F; region=1,2", or as a mapping: {"sex": "F", "region": ["1", "2"]}."""
    if isinstance(given, str):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f'`{name}` is a set of cells, "sex=F" or {{"sex": "F"}}, not {type(given).__name__}')
    return "; ".join(f"{quoted(variable)}={','.join(map(quoted, several(variable, codes, (str, int))))}"
                     for variable, codes in given.items())


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
