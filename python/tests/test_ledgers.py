# SPDX-License-Identifier: GPL-3.0-or-later
"""Ledgers, and what a guarantee means, against the command line."""
import json

import pytest

import cellar
from test_cellar import run


def test_a_ledger_pays_whose_key_lies_elsewhere(tmp_path):
    ledger = cellar.create_ledger(tmp_path / "budget", "x", unit="person", neighbours="add-remove", epsilon="1",
                                  key=tmp_path / "other")
    table = cellar.tabulate({"a": ["x", "y"]}, "a", codelists={"a": ["x", "y"]})
    cellar.protect(table, "discrete-laplace", negatives="keep", total_epsilon="1", unit="person", ledger=ledger,
                   dataset="x", request="first", output=tmp_path / "a.csv")
    assert ledger.balances()[0].spent.epsilon == "1"


def test_ledgers_are_the_command_lines(tmp_path):
    path = tmp_path / "budget"
    ledger = cellar.create_ledger(path, "census", unit="person", neighbours="add-remove", epsilon="1", delta="1e-9",
                                  population=1000000)
    ledger.add_dataset("survey", unit="household", neighbours="substitute", rho="0.5")
    ledger.add_edition("census", "2026")
    ledger.add_analyst("survey", "ann", rho="0.25")
    census, survey, ann = ledger.balances()
    assert census.cap == cellar.Amounts("1", "0.000000001", None) == census.left and census.spent.epsilon == "0"
    assert (survey.unit, survey.neighbours, survey.cap.rho, ann.analyst, ann.cap.rho) == (
        "household", "substitute", "0.5", "ann", "0.25")
    assert [entry.kind for entry in ledger.history()] == ["create", "dataset", "dataset", "edition", "analyst"]
    shown = json.loads(run("ledger", "show", path, "--json"))
    assert ledger.id in json.dumps(shown) and ledger.witness is None
    twin = json.loads(run("ledger", "amplify", path, "--dataset", "census", "--sampling", "poisson", "--sampling-rate", "0.1",
                          "--unit", "person", "--json"))
    found = ledger.amplify("census", sampling="poisson", rate=0.1, unit="person")
    assert (found.epsilon, found.delta, list(found.assumptions)) == (twin["epsilon"], twin["delta"], twin["assumptions"])
    with pytest.raises(cellar.Error) as refusal:
        ledger.amplify("census", sampling="poisson", rate=0.1, unit="person", panel=True)
    assert refusal.value.status == "CELLAR_ERR_RULE"
    ledger.enter("census", "elsewhere", "a table in the yearbook")
    assert ledger.history()[-1].what == "a table in the yearbook" and ledger.balances()[0].uncharged == 1
    assert ledger.verify() is None and ledger.head in run("ledger", "verify", path) + run("ledger", "history", path, "--json")
    with pytest.raises(ValueError, match="kind cannot be"):
        ledger.enter("census", "gossip", "x")
    with pytest.raises(cellar.Error):
        ledger.add_edition("nobody", "2026")


def test_a_ledger_that_cannot_be_made_leaves_no_key(tmp_path):
    with pytest.raises(cellar.Error):
        cellar.create_ledger(tmp_path / "budget", "census", unit="person", neighbours="add-remove", epsilon="-1")
    assert not list(tmp_path.iterdir())
    witness = tmp_path / "witness"
    ledger = cellar.create_ledger(tmp_path / "budget", "census", unit="person", neighbours="add-remove", epsilon="1",
                                  witness=witness)
    before = (tmp_path / "budget").read_bytes()
    ledger.add_edition("census", "2")
    (tmp_path / "budget").write_bytes(before)
    with pytest.raises(cellar.Error):
        ledger.history()
    ledger.adopt()
    assert ledger.history()[-1].kind == "adopt"


def test_cell_keys_are_noted_in_a_ledger(tmp_path):
    (tmp_path / "ids.csv").write_text("id,sex\n" + "".join(f"{i},{'FM'[i % 2]}\n" for i in range(60)))
    cellar.create_key(tmp_path / "key", "2026")
    key = cellar.read_key(tmp_path / "key")
    table = cellar.tabulate(tmp_path / "ids.csv", ["sex"], codelists={"sex": ["F", "M"]}, record_id="id", key=key,
                            key_range=256)
    cellar.ptable(variance=1, m=2).write(tmp_path / "matrix.csv", keys=256)
    ledger = cellar.create_ledger(tmp_path / "budget", "census", unit="person", neighbours="add-remove", epsilon="1")
    how = {"negatives": "zero", "ledger": ledger.path, "dataset": "census", "request": "yearbook"}
    release = cellar.protect(table, f"cell-key:file={tmp_path / 'matrix.csv'}", output=tmp_path / "out.csv", **how)
    assert release.ledger.startswith("uncharged, in entry 3 of ledger ")
    assert cellar.read_release(tmp_path / "out.csv").rows() == release.rows()
    balance, = ledger.balances()
    assert (balance.charges, balance.uncharged, balance.spent.epsilon) == (0, 1, "0")
    assert ledger.history()[-1].kind == "uncharged"


def test_membership_is_the_command_lines():
    said = json.loads(run("risk", "membership", "--mechanism", "discrete-laplace:epsilon=0.5", "--level", "0.01,0.2", "--cells",
                          "3", "--json"))
    found = cellar.membership("discrete-laplace:epsilon=0.5", levels=[0.01, 0.2], cells=3)
    for one in found:
        assert 0 < one.advantage < 1 and f'"power": {one.power!r}' in json.dumps(said)


def test_how_parameters_were_chosen():
    table = cellar.tabulate({"sex": ["F", "M"]}, ["sex"], codelists={"sex": ["F", "M"]})
    for word, said in (("in-advance", "declared in advance"), ("public-data", "from public data"), (None, "not stated")):
        release = cellar.protect(table, "laplace:epsilon=1", negatives="keep", chosen=word)
        assert release.description["parameter_choice"] == said
    with pytest.raises(ValueError, match="in-advance"):
        cellar.protect(table, "laplace:epsilon=1", negatives="keep", chosen="later")
