# SPDX-License-Identifier: GPL-3.0-or-later
"""Columns to publish together and values to redact, against the command line."""
import json
import random

import pytest

import cellar
from test_cellar import run


@pytest.fixture(name="people")
def make_people(tmp_path):
    rng = random.Random(5)
    rows = {"age": [str(rng.randrange(12)) for _ in range(300)], "sex": [rng.choice("FM") for _ in range(300)],
            "job": [rng.choice(["cook", "nurse", "smith"] * 9 + ["pilot"]) for _ in range(300)]}
    lists = {name: sorted(set(values)) for name, values in rows.items()}
    (tmp_path / "rows.csv").write_text("age,sex,job\n" + "".join(",".join(row) + "\n" for row in zip(*rows.values())))
    return cellar.tabulate(rows, list(rows), codelists=lists), tmp_path / "rows.csv"


def test_columns_are_those_of_the_command_line(people):
    table, path = people
    said = run("exposure", "select", path, "--columns", "age,sex,job", "--k", "5", "--exposure", "0.1", "--weight", "job=1.5",
               "--must-not", "sex", "--json")
    found = cellar.select_columns(table, k=5, exposure=0.1, weights={"job": 1.5}, must_not=["sex"])
    text = json.dumps(json.loads(said))
    best = found.sets[0]
    assert ",".join(best.columns) in text and "sex" not in best.columns
    assert all(one.exposure <= 0.1 for one in found.sets) and best.weight == max(one.weight for one in found.sets)
    assert found.gap == 0 and set(found.additions) == {"age", "sex", "job"} - set(best.columns)
    assert "0.1" not in repr(found) and "age" not in repr(best)
    with pytest.raises(ValueError, match="not among the variables"):
        cellar.select_columns(table, k=5, exposure=0.1, must=["height"])
    with pytest.raises(cellar.Error):
        cellar.select_columns(table, k=0, exposure=0.1)


def test_redactions_are_those_of_the_command_line(people):
    table, path = people
    said = json.dumps(json.loads(run("exposure", "suppress", path, "--columns", "age,sex,job", "--k", "5", "--exposure", "0.05",
                                     "--hide", "1", "--json")))
    found = cellar.suppress_values(table, k=5, exposure=0.05, hide=1)
    assert found.met and found.after <= 0.05 < found.before and found.rules and 0 < found.lost_to_rules < 1
    for column, value in found.rules:
        assert f'"column": "{column}", "value": "{value}"' in said
    assert set(found.chances.values()) <= {0.0, 1.0} and found.lost_to_chance >= 0
    hidden = cellar.suppress_values(table, k=5, exposure=0.05, hide=0.5)
    assert hidden.lost_to_rules + hidden.lost_to_chance >= found.lost_to_rules
    with pytest.raises(cellar.Error):
        cellar.suppress_values(table, k=5, exposure=0.05, hide=0)
