# SPDX-License-Identifier: GPL-3.0-or-later
"""Intervals from several releases of the same people, against the command line."""
import json

import pytest

import cellar
from test_cellar import run


def members(said, name):
    """The values of that name, wherever they stand."""
    found = [value for key, value in said.items() if key == name] if isinstance(said, dict) else []
    inside = list(said.values()) if isinstance(said, dict) else said if isinstance(said, list) else []
    return found + [value for one in inside for value in members(one, name)]


@pytest.fixture(name="pair")
def make_pair(tmp_path):
    people = {"region": ["n", "s", "e"] * 100, "sex": ["F", "M"] * 150}
    lists = {"region": ["n", "s", "e"], "sex": ["F", "M"]}
    releases = []
    for number, by in enumerate((["region", "sex"], ["region"])):
        table = cellar.tabulate(people, by, codelists=lists, margins="all")
        releases.append(cellar.protect(table, "discrete-laplace:epsilon=0.5", negatives="keep", per_cell=True))
        releases[-1].write(tmp_path / f"{number}.csv")
    return releases, [tmp_path / "0.csv", tmp_path / "1.csv"]


def test_several_releases_are_pooled(pair):
    releases, files = pair
    for compare, other, words in ((None, None, []), ("difference", "region=s", ["--minus", "region=s"])):
        said = json.loads(run("infer", "interval", *files, "--of", "region=n", *words, "--json"))
        found = cellar.infer(releases, "region=n", compare=compare, other=other)
        assert pytest.approx(found.low) in members(said, "low") and pytest.approx(found.high) in members(said, "high")
    alone, both = cellar.infer(releases[0], "region=n"), cellar.infer(releases, "region=n")
    assert both.high - both.low < alone.high - alone.low


def test_several_releases_that_cannot_be_pooled(pair):
    releases, _ = pair
    with pytest.raises(ValueError, match="pooled intervals"):
        cellar.infer(releases, "region=n", compare="ratio", other="region=s")
    with pytest.raises(cellar.Error):
        cellar.infer(releases[::-1], "sex=F")  # the first has all variables
    with pytest.raises(ValueError, match="or several"):
        cellar.infer([])
