# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the notebooks as a kernel would, keeps what they show, and searches it for true counts."""
import ast
import json
import pathlib
import re

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "notebooks"


def shown(value):
    """What a notebook keeps of a value."""
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = value._repr_html_()
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": None}


def run_cell(source, names):
    """Executes a cell; what its last expression gives is its output."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return []
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    return [] if value is None else [shown(value)]


def run_notebook(notebook):
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = run_cell("".join(cell["source"]), names)
    return names


@pytest.mark.parametrize("name", ["release", "before", "cube"])
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text())
    assert all(cell.get("outputs", []) == [] for cell in notebook["cells"])  # none is stored
    names = run_notebook(notebook)
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    assert len(outputs) >= 6
    if name == "release":
        assert not (tmp_path / "more.csv").exists() and (tmp_path / "regions.csv.cellar.json").exists()
        assert names["again"].ledger == names["release"].ledger


SENTINEL = 987653
CELLS = ["""
import cellar
import numpy
import pandas
import pickle
import copy
codes = pandas.Categorical.from_codes(numpy.zeros(987653, dtype="i1"), ["only", "other"])
table = cellar.tabulate({"x": codes, "y": codes}, ["x", "y"], codelists={"x": ["only", "other"], "y": ["only", "other"]})
table
""", "table.row_report()", "table.variables, table.domains", """
made = [cellar.risk(table, ["x"], ["y"], "laplace:epsilon=1"), cellar.exposure(table),
        cellar.exposed_groups(table, ["x"], ["y"], "laplace:epsilon=1"), cellar.exposure_bounds(table, 0.5),
        cellar.utility(table, "laplace:epsilon=1", copies=2)]
made
""", "made[1]", "made[0][0]", "made[4]", """
def kept(value):
    try:
        return pickle.dumps(value)
    except TypeError as refusal:
        return str(refusal)
[kept(value) for value in [table, *made, {"t": table}, [table]]]
""", "release = cellar.protect(table, 'discrete-laplace:epsilon=0.001', negatives='keep', per_cell=True)", """
try:
    release.value({"x": "nowhere"})
except cellar.Error as refusal:
    print(refusal)
"""]


def test_no_true_count_gets_into_a_notebook_or_a_pickle(tmp_path, capsys):
    notebook = {"cells": [{"cell_type": "code", "source": [source.strip()]} for source in CELLS[:1]]}
    names = run_notebook(notebook)
    for source in CELLS[1:]:
        cell = {"cell_type": "code", "source": [source.strip()]}
        cell["outputs"] = run_cell(source.strip(), names)
        notebook["cells"].append(cell)
    assert names["table"].true_counts() == [("only", "only", SENTINEL)]
    for cell in notebook["cells"]:
        del cell["source"]  # the first one says the number
    (tmp_path / "notebook.ipynb").write_text(json.dumps(notebook))
    text = (tmp_path / "notebook.ipynb").read_text() + capsys.readouterr().out
    assert len(text) > 1000 and not re.search(r"987[,.]?653", text)
    assert SENTINEL.to_bytes(4, "little").decode("latin-1") not in text
