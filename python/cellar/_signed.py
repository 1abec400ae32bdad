# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders of releases, signed by who publishes them and verified by who reads them."""
from __future__ import annotations

import os
import pathlib
from dataclasses import dataclass
from typing import Sequence, Union

from . import _cellar
from ._core import Key
from ._estimates import read_cube
from ._words import need, several

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Signed:
    """What the files of a signed folder say about themselves, and the public name of the key."""

    files: int
    releases: int
    recomputed: int
    """releases whose certificate was computed again"""
    estimates: int
    unaccounted: int
    """files that no ledger was charged for"""
    unrecognised: int
    """files of no known kind, for which the signer answers"""
    key: str


def sign(folder: Path, key: Key, *, accept: Union[str, Sequence[str]] = (),
         accept_files: Union[str, Sequence[str]] = ()) -> Signed:
    """Reads every file of a folder of releases, writes the digest of each and signs these (`cellar sign`). Refused is
    what is confidential or claims more than can be computed. `accept` names what you answer for ("no-protection",
    "large-epsilon", "unaccounted"), `accept_files` the files that are not recognised; the signature says both."""
    return Signed(*_cellar.sign(os.fspath(folder), need("key", key, Key, "read_key()")._handle, {
        "accept": several("accept", accept), "files": several("accept_files", accept_files)}))


def verify_release(folder: Path, public_key: Path) -> Signed:
    """Checks a signed folder, its cubes too, without a network (`cellar verify-release`): raises Error where a file is
    missing, was changed or added, or where somebody else signed. `public_key` is the publisher's file."""
    found = Signed(*_cellar.verify_folder(os.fspath(folder), os.fspath(public_key)))
    for cube in sorted(pathlib.Path(folder).rglob("*.cube")):
        read_cube(cube).verify()
    return found
