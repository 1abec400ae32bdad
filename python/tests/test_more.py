# SPDX-License-Identifier: GPL-3.0-or-later
"""What is computed from tables and releases: against the command line, against reference values, and confidential
where true counts go in."""
import copy
import json
import math
import os
import pathlib
import pickle
import re
import signal
import subprocess
import time
import zipfile

import numpy
import pandas
import pytest

import cellar

PROGRAM = os.environ["CELLAR_PROGRAM"]
VECTORS = json.loads((pathlib.Path(__file__).parent / "vectors.json").read_text())
LISTS = {"region": ["n", "s", "e", "w"], "sex": ["F", "M"], "dx": ["a", "b", "c"]}


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def make_frame(n=600, seed=8):
    rng = numpy.random.default_rng(seed)
    return pandas.DataFrame({name: pandas.Categorical.from_codes(rng.integers(0, len(codes), n), codes)
                             for name, codes in LISTS.items()})


def write_inputs(folder, by):
    make_frame().to_csv(folder / "rows.csv", index=False)
    domains = []
    for name in by:
        pandas.DataFrame({"code": LISTS[name]}).to_csv(folder / f"{name}.csv", index=False)
        domains += ["--domain", f"{name}={folder / name}.csv"]
    return domains


@pytest.fixture(scope="module")
def table():
    return cellar.tabulate(make_frame(), ["region", "sex", "dx"], codelists=LISTS)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The same table and a release of it with margins, as the command line writes them."""
    folder = tmp_path_factory.mktemp("files")
    domains = write_inputs(folder, ["region", "sex", "dx"])
    for margins in ("none", "all"):
        run("tabulate", folder / "rows.csv", "--by", "region,sex,dx", *domains, "--margins", margins, "-o",
            folder / f"{margins}.json")
    run("protect", folder / "all.json", "--mechanism", "discrete-laplace:epsilon=0.5", "--negatives", "keep",
        "--per-cell", "-o", folder / "release.csv")
    return folder


# ---- reference values ----------------------------------------------------------------------------------------

def spec_of(mechanism):
    rest = ",".join(f"{name}={value}" for name, value in mechanism.items() if name != "name")
    return mechanism["name"] + (":" + rest if rest else "")


def group_of(counts):
    """A table with one group of these counts."""
    codes = [str(i) for i in range(len(counts))]
    return cellar.tabulate({"g": ["x"] * len(counts), "y": codes, "n": counts}, ["g", "y"], count="n",
                           codelists={"g": ["x"], "y": codes})


def risk_of(args, counts, measure, method, **more):
    return cellar.risk(group_of(counts), ["g"], ["y"], spec_of(args["mechanism"]), measure=measure, method=method,
                       **more)[0].value


def answer(fn, args):
    if fn == "ha_local":
        return risk_of(args, args["counts"], "local", "exact")
    if fn.startswith("ha_shrinkage"):
        counts = [args["n"]] + [0] * (len(args["alpha"]) - 1)
        return risk_of(args, counts, "shrinkage", fn.split("_")[2], prior=[float(a) for a in args["alpha"]])
    if fn.startswith("ha_global"):
        return risk_of(args, [1] * len(args["alpha"]), "global", fn.split("_")[2],
                       prior=[float(a) for a in args["alpha"]], size_model=spec_of(args["size"]))
    curve = cellar.exposure(group_of([round(float(p) * 1000) for p in args["p"]]))
    if fn == "exposure":
        return curve.at(args["t"])
    return curve.entropy if fn == "entropy" else curve.statistical(args["n"], args["k"])


@pytest.mark.parametrize("fn,n", [("ha_local", 25), ("ha_shrinkage_exact", 10), ("ha_shrinkage_published", 6),
                                  ("ha_global_exact", 10), ("ha_global_published", 6), ("exposure", 8),
                                  ("statistical_exposure", 8), ("entropy", 2)])
def test_reference_vectors(fn, n):
    asked = [vector for vector in VECTORS if vector["fn"] == fn]
    assert len(asked) == n
    for vector in asked:
        assert answer(fn, vector["args"]) == pytest.approx(float(vector["value"]), rel=1e-9, abs=1e-300), vector


# ---- the command line's numbers ------------------------------------------------------------------------------

def test_risk_is_the_command_lines(table, files):
    found = cellar.risk(table, ["region", "sex"], ["dx"], ["laplace:epsilon=1", "laplace:epsilon=3"],
                        measure="expected")
    want = json.loads(run("risk", "table", files / "none.json", "--qid", "region,sex", "--sensitive", "dx", "--mechanism",
                          "laplace", "--epsilon", "1,3", "--measure", "expected", "--json"))
    values = [row["value"] for row in want["results"] if row["measure"] == "expected"]
    assert [one.value for one in found] == pytest.approx(values, rel=1e-12) and len(values) == 2
    groups = cellar.exposed_groups(table, ["region", "sex"], ["dx"], "laplace:epsilon=1", most=3)
    assert [g.risk for g in groups] == sorted((g.risk for g in groups), reverse=True) and len(groups) == 3


def test_utility_is_the_command_lines(table, files):
    found = cellar.utility(table, "discrete-laplace:epsilon=0.5", copies=7, seed=3)
    want = json.loads(run("utility", files / "none.json", "--mechanism", "discrete-laplace:epsilon=0.5", "--copies",
                          "7", "--seed", "3", "--json"))
    rows = {(r["measure"], r.get("variables"), r.get("count"), r.get("radius")): r for r in want["results"]}
    assert found.expected("l1") == pytest.approx(rows["l1", None, None, None]["expected"], rel=1e-12)
    compared = cellar.utility(cellar.read_table(files / "all.json"), release=cellar.read_release(files / "release.csv"))
    assert compared.copies == 1 and len(compared.distances) == 6


def test_tests_are_the_command_lines(files):
    release = cellar.read_release(files / "release.csv")
    found = cellar.independence(release, "region", "dx", association=True, replicates=49)
    want = json.loads(run("infer", "independence", files / "release.csv", "--rows", "region", "--columns", "dx",
                          "--association", "--replicates", "49", "--json"))
    assert found.p_value == pytest.approx(want["aware"]["p_value"], rel=1e-12)
    assert found.naive_p_value == pytest.approx(want["naive"]["p_value"], rel=1e-12)
    assert len(found.odds_ratios) == 6 and found.converged
    assert "cells=" not in repr(found) and found.cells
    pooled, alone = cellar.infer(release, "region=n"), cellar.infer(release, "region=n", pooled=False)
    assert pooled.pooled and not alone.pooled and pooled.high - pooled.low <= alone.high - alone.low
    said = json.loads(run("infer", "interval", files / "release.csv", "--of", "region=n", "--json"))["intervals"][0]
    assert (pooled.estimate, pooled.low, pooled.high) == pytest.approx((said["estimate"], said["low"], said["high"]))
    assert cellar.infer(release, {"region": ["n"]}) == pooled
    ratio = cellar.infer(release, {"region": "n"}, compare="ratio", other={"region": "s"})
    assert not ratio.pooled and ratio == cellar.infer(release, "region=n", compare="ratio", other="region=s")
    binomial = json.loads(run("infer", "binomial", "--released", "60", "--trials", "100", "--null", "0.5",
                              "--mechanism", "discrete-laplace:epsilon=1", "--json"))
    by_package = cellar.binomial_test(60, 100, 0.5, "discrete-laplace:epsilon=1")
    assert by_package.exact_p_value == pytest.approx(binomial["aware"]["exact_p_value"], rel=1e-12)


def sheet_numbers(values, path, **options):
    values.write(path, **options)
    assert path.with_name(path.name + ".cellar.json").exists()
    with zipfile.ZipFile(path) as book:
        text = book.read("content.xml" if path.suffix == ".ods" else "xl/worksheets/sheet2.xml").decode()
    return [float(number) for number in re.findall(r'(?:office:value="|<v>)([-0-9.]+)', text)]


def test_a_fit_adds_and_is_the_command_lines(files, tmp_path):
    fitted = cellar.fit(cellar.read_release(files / "release.csv"), errors=True)
    want = json.loads(run("fit", files / "release.csv", "--sd", "--limit", "0", "--json"))
    rows = {tuple(row[:3]): row[3:] for row in fitted.rows()}
    for row in want["rows"]:
        estimate, se, whole = rows[row["region"], row["sex"], row["dx"]]
        assert (estimate, whole) == (pytest.approx(row["unbiased"], abs=1e-6), row["fitted"])
        assert se == pytest.approx(row["sd"], abs=1e-6)
    assert fitted.whole_total == want["total"]["fitted"] and fitted.proof == "optimal"
    frame = fitted.to_pandas()
    inner = frame[(frame.region != "_T") & (frame.sex != "_T") & (frame.dx != "_T")]
    assert inner.fitted.sum() == fitted.whole_total
    fitted.write(tmp_path / "whole.csv", whole=True)
    for ending in ("ods", "xlsx"):
        assert sheet_numbers(fitted, tmp_path / f"whole.{ending}", whole=True) == [row[5] for row in fitted.rows()]
        both = sheet_numbers(fitted, tmp_path / f"estimates.{ending}")
        assert both == [pytest.approx(number, abs=1e-6) for row in fitted.rows() for number in row[3:5]]
        release = cellar.read_release(files / "release.csv")
        listed = [number for number in sheet_numbers(release, tmp_path / f"release.{ending}") if number != 0]
        assert listed == [row[-1] for row in release.rows()]
        with pytest.raises(cellar.Error, match="written and not read"):
            cellar.read_release(tmp_path / f"release.{ending}")
    back = cellar.read_estimate(tmp_path / "whole.csv")
    assert [row[3] for row in back.rows()] == [float(row[5]) for row in fitted.rows()]
    assert "<table>" in fitted._repr_html_()
    # out as an Arrow stream, and in again
    assert sum(row[-1] for row in cellar.tabulate(fitted, ["region"], count="fitted").true_counts()) > 0


def test_synthetic_records_give_the_release_back(files, tmp_path):
    fitted = cellar.fit(cellar.read_release(files / "release.csv"))
    records = cellar.synthesize(fitted)
    assert len(records.to_pandas()) == records.n_records == fitted.whole_total
    again = cellar.tabulate(records.to_pandas(), ["region", "sex", "dx"], codelists=LISTS)
    assert again.true_counts() == [(*row[:3], row[5]) for row in fitted.rows() if "_T" not in row[:3] and row[5] > 0]
    records.write(tmp_path / "people.csv")
    assert (tmp_path / "people.csv.synthetic.json").exists() and "no record was copied" in records.description["statement"]
    with pytest.raises(cellar.Error, match="negative|margins"):
        cellar.synthesize(cellar.read_release(files / "release.csv"))


def test_matrices_are_the_command_lines(tmp_path):
    designed = cellar.ptable(variance="3", m=5, min=2, mono=True, form="at-most")
    want = json.loads(run("ptable", "design", "--D", "5", "--V", "3", "--js", "2", "--json"))
    assert (designed.digest, designed.forbidden) == (want["digest"], want["forbidden"])
    designed.write(tmp_path / "m.csv")
    assert cellar.read_ptable(tmp_path / "m.csv").digest == designed.digest
    designed.write(tmp_path / "ons.csv", format="ons", keys=64)
    assert cellar.read_ptable(tmp_path / "ons.csv").keys == 64
    for row in designed.rows:
        assert sum(p for _, p in row.changes) == pytest.approx(1, abs=1e-12)
    with pytest.raises(cellar.Error, match="matrix"):
        cellar.Ptable("laplace:epsilon=1", None)


# ---- plans and cubes ------------------------------------------------------------------------------------------

PLAN = """plan: 1
title: A small list
data: {file: rows.csv}
unit: {name: person}
variables:
  - {name: region, codelist: region.csv}
  - {name: sex, codelist: sex.csv}
"""


def test_a_plan_runs_once(tmp_path):
    write_inputs(tmp_path, ["region", "sex"])
    run("ledger", "create", tmp_path / "l", "--dataset", "census", "--epsilon", "1", "--unit", "person", "--neighbours",
        "add-remove")
    (tmp_path / "plan.yaml").write_text(PLAN + """tables:
  - {name: people, by: [region, sex], epsilon: 1}
mechanism: discrete-laplace
negatives: zero
parameter_choice: advance
ledger: {file: l, dataset: census, request: r1}
outputs: {folder: pack, formats: [csv]}
""")
    plan = cellar.read_plan(tmp_path / "plan.yaml")
    figures = plan.check()
    assert figures.refusals == [] and figures.certificate.pure_epsilon_exact == "1" and plan.tables == ["people"]
    assert "confidential" in repr(figures)
    compared = plan.compare()
    assert compared.recommended in [strategy["name"] for strategy in compared.strategies]
    first, second = plan.run(date="2026-11-18"), plan.run(date="2026-11-18")
    assert first.drawn_now and not second.drawn_now and first.charge == second.charge
    names = {path.name for path in (tmp_path / "pack").iterdir()}
    assert {"people.csv", "certificate.json", "index.html"} <= names


def test_a_cube_answers(tmp_path):
    write_inputs(tmp_path, ["region", "sex", "dx"])
    (tmp_path / "u.yaml").write_text(PLAN + """  - {name: dx, codelist: dx.csv}
universe: {file: small.cube, up_to: 2}
budget: {epsilon: 4, delta: 1e-6}
negatives: keep
parameter_choice: advance
""")
    plan = cellar.read_plan(tmp_path / "u.yaml")
    design = plan.design_cube()
    assert len(design.tables) == 7 and design.certificate.verdict == "holds"
    cube = plan.build_cube(date="2026-11-18")
    cube.verify()
    assert [t.name for t in cube.tables()] == [t.name for t in design.tables]
    by_two, total = cube.table(["region", "sex"]), cube.table()
    assert sum(row[2] for row in by_two.rows()) == pytest.approx(total.rows()[0][-3], abs=1e-6)
    path = tmp_path / "small.cube"
    want = json.loads(run("cube", "table", path, "--by", "region,sex", "--interval", "0.9", "--limit", "0", "--json"))
    found = cube.intervals(["region", "sex"], confidence=0.9)
    assert found.estimate.tolist() == pytest.approx([row["estimate"] for row in want["cells"]], rel=1e-12)
    assert found.low.tolist() == pytest.approx([row["low"] for row in want["cells"]], rel=1e-9)
    ratio = cube.infer("region=n", compare="proportion", other="")
    assert 0 < ratio.low < ratio.estimate < ratio.high < 1
    assert cellar.independence(cube, "sex", "dx", replicates=49).p_value > 0
    only = cube.table([cellar.Side("dx", codes=["c", "a"])])
    assert [row[0] for row in only.rows()] == ["a", "c"]
    assert cellar.synthesize(cube, records=50).n_records == 50
    with pytest.raises(cellar.Error, match="nearest it has"):
        cube.table(["region", "sex", "dx"])
    cellar.report(cube, tmp_path / "cube.html")
    assert "<html" in (tmp_path / "cube.html").read_text()


def test_pages(table, files, tmp_path):
    cellar.report(cellar.read_release(files / "release.csv"), tmp_path / "page.html", names=["release.csv"])
    assert "release.csv" in (tmp_path / "page.html").read_text()
    cellar.report_committee(table, tmp_path / "committee.html", ["region", "sex"], ["dx"], "laplace:epsilon=1", copies=5)
    assert (tmp_path / "committee.html").stat().st_mode & 0o77 == 0


# ---- what was computed from true counts stays here ------------------------------------------------------------

def test_assessments_are_not_shown_or_kept(table):
    made = [cellar.risk(table, ["region"], ["dx"], "laplace:epsilon=1")[0],
            cellar.exposed_groups(table, ["region"], ["dx"], "laplace:epsilon=1", most=1)[0],
            cellar.exposure(table), cellar.exposure_bounds(table, 0.01),
            cellar.utility(table, "laplace:epsilon=1", copies=2)]
    for one in made:
        for shown in (repr(one), str(one), one._repr_html_(), f"{one}", str([one])):
            assert "confidential" in shown and not any(letter.isdigit() for letter in shown)
        for keep in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="confidential|pickled"):
                keep(one)


def test_refusals_are_sentences(table):
    with pytest.raises(ValueError, match="no variable 'age'"):
        cellar.risk(table, ["age"], ["dx"], "laplace:epsilon=1")
    with pytest.raises(cellar.Error, match="prior"):
        cellar.risk(table, ["region"], ["dx"], "laplace:epsilon=1", measure="shrinkage", prior=[1.0])
    with pytest.raises(ValueError, match="measure cannot be 'odd'"):
        cellar.risk(table, ["region"], ["dx"], "laplace:epsilon=1", measure="odd")
    with pytest.raises(ValueError, match="a mechanism, a release or a file"):
        cellar.utility(table)
    with pytest.raises(TypeError, match="as text"):
        cellar.exposure(table).at(0.01)
    with pytest.raises(ValueError, match="a release or a fit decides"):
        cellar.synthesize(cellar.fit(cellar.protect(table, "laplace:epsilon=1", negatives="keep", per_cell=True)), records=3)
    with pytest.raises(cellar.Error):
        cellar.read_cube("/nonexistent.cube")
    assert math.isfinite(cellar.exposure(table).possible_cells)


def test_a_folder_is_signed_and_verified(files, tmp_path):
    pack = tmp_path / "pack"
    pack.mkdir()
    cellar.read_release(files / "release.csv").write(pack / "release.csv")
    cellar.create_key(tmp_path / "key")
    key = cellar.read_key(tmp_path / "key")
    with pytest.raises(cellar.Error, match="unaccounted") as refusal:
        cellar.sign(pack, key)
    assert refusal.value.status == "CELLAR_ERR_RULE"
    done = cellar.sign(pack, key, accept="unaccounted")
    assert (done.releases, done.recomputed, done.unaccounted, done.key) == (1, 1, 2, key.id)
    key.write_public(tmp_path / "pub")
    run("key", "public", tmp_path / "key", "-o", tmp_path / "cli.pub")
    assert (tmp_path / "pub").read_bytes() == (tmp_path / "cli.pub").read_bytes()
    assert cellar.verify_release(pack, tmp_path / "pub") == done
    assert "verified" in run("verify-release", pack, "--key", tmp_path / "pub")
    (pack / "release.csv").write_text("changed")
    with pytest.raises(cellar.Error, match="release.csv"):
        cellar.verify_release(pack, tmp_path / "pub")


def test_a_refusal_notes_no_cell_keys(tmp_path):
    rows = pandas.DataFrame({"released": ["a", "b"] * 20, "key": range(40)})
    table = cellar.tabulate(rows, "released", codelists={"released": ["a", "b"]}, record_key="key", key_range=256,
                            rows_are_records=True)
    cellar.ptable(variance="2", m=3).write(tmp_path / "m.csv")
    ledger = cellar.create_ledger(tmp_path / "l", "census", unit="person", neighbours="add-remove", epsilon="1")
    how = {"negatives": "zero", "ledger": ledger.path, "dataset": "census", "request": "one"}
    with pytest.raises(cellar.Error, match="released"):  # a CSV file has a column of that name already
        cellar.protect(table, f"cell-key:file={tmp_path}/m.csv", output=tmp_path / "one.csv", **how)
    assert "uncharged" not in [entry.kind for entry in ledger.history()]
    cellar.protect(table, f"cell-key:file={tmp_path}/m.csv", output=tmp_path / "one.px", **how)
    assert "uncharged" in [entry.kind for entry in ledger.history()]


def test_what_nobody_needs_is_not_read():
    frame = pandas.DataFrame({"sex": ["F", "M"], "seen": pandas.to_datetime(["2026-01-01", "2026-01-02"]),
                              "wave": numpy.array([1j, 2j]), "list": [[1], [2]]})
    assert cellar.tabulate(frame, "sex").true_counts() == [("F", 1), ("M", 1)]
    deep = {"sex": ["F", "M"], "deep": numpy.zeros((2, 2))}
    assert cellar.tabulate(deep, "sex").true_counts() == [("F", 1), ("M", 1)]


def test_whole_floats_have_no_point_wherever_they_are():
    ages = [12.0, 12.5]
    for column in (ages, numpy.array(ages), pandas.Categorical(ages), numpy.array(ages, dtype=object)):
        assert cellar.tabulate({"age": column}, "age").variables["age"] == ["12", "12.5"]


MAN = pathlib.Path(__file__).parents[2] / "man"


def test_the_page_names_every_verb_of_the_command_line():
    page = (MAN.parent / "docs/python.md").read_text()
    verbs = {page_of.stem.removeprefix("cellar-") for page_of in MAN.glob("cellar-*.1")}
    found = {verb for verb in verbs if re.search(f"`{verb}[` ,]", page)}
    assert found == verbs and len(verbs) > 20
    neither = page[page.index("The command line has these"):page.index("R has and Python")]
    assert neither in (MAN.parent / "docs/r.md").read_text()


def test_mistakes_are_told_in_the_words_of_python(tmp_path):
    rows = pandas.DataFrame({"sex": ["F", "M", None], "list": [[1], [2], [3]]})
    double = pandas.DataFrame([["F", "M"]], columns=["sex", "sex"])
    table = cellar.tabulate(rows, "sex", where="sex=F|M", codelists={"sex": ["F", "M"]})  # one text will do
    release = cellar.protect(table, "discrete-laplace:epsilon=1", negatives="keep")
    (tmp_path / "latin1.csv").write_bytes("sex;age\nm\u00e4nnlich;1\n".encode("latin1"))
    assert cellar.tabulate(tmp_path / "latin1.csv", "sex", delimiter=";", encoding="latin1").variables["sex"][0] == "m\u00e4nnlich"
    mistakes = [
        (lambda: cellar.tabulate(rows, "sex"), r"\(`missing_as` drop or level, or Variable\(missing_as=...\) for one\)$"),
        (lambda: cellar.tabulate(rows, "sex", missing_as="level", codelists={"sex": ["F", "M"]}),
         r"\(`missing_as`, or Variable\(missing_as=...\) for one\)$"),
        (lambda: cellar.protect(cellar.tabulate(rows, "sex", missing_as="drop"), "discrete-laplace:epsilon=1",
                                negatives="keep"), r"code list \(`codelists`\), or"),
        (lambda: cellar.infer(release, 7), "`of` is a set of cells"),
        (lambda: cellar.tabulate(rows, "sex", codelists={"sex": {"F": "women"}}), "the code list of 'sex' is"),
        (lambda: cellar.tabulate(rows, "sex", codelists={"sex": pandas.DataFrame({"code": ["F"]})}),
         "the code list of 'sex' is"),
        (lambda: cellar.tabulate(rows, "sex", missing_as="drop", codelists={"sex": ["M"]}), r"\(`missing`\)"),
        (lambda: cellar.tabulate(double, "sex"), "two columns 'sex'"),
        (lambda: cellar.tabulate(rows, "list"), "'list' holds objects"),
        (lambda: cellar.tabulate(rows["sex"], "sex"), "`data` is a pandas data frame"),
        (lambda: cellar.tabulate(rows, [1]), "`by` is a str or Variable, or several: int is neither"),
        (lambda: cellar.tabulate(rows, None), "`by` is a str or Variable, or several, not NoneType"),
        (lambda: cellar.tabulate(rows, "sex", codelists=["F"]), "`codelists` is a mapping"),
        (lambda: cellar.tabulate(rows, "sex", codelists={"sex": ["F", None]}), "the code list of 'sex' is"),
        (lambda: cellar.tabulate(rows, "sex", codelists={"sex": 5}), "the code list of 'sex' is"),
        (lambda: cellar.tabulate(rows, "sex", unit="list"), "`max_per_unit`"),
        (lambda: cellar.tabulate(rows, "sex", encoding="latin1"), "`encoding` are for a file"),
        (lambda: cellar.tabulate(rows, "sex", where="age=1"), "no column 'age' among its 1 column$"),
        (lambda: cellar.protect(rows, "discrete-laplace:epsilon=1", negatives="keep"), "`table` is a Table"),
        (lambda: cellar.protect(table, "discrete-laplace", negatives="no"), "it is one of keep, zero"),
        (lambda: cellar.protect(table, "discrete-laplace", negatives="keep", key="k"), "`key` is a Key, which read_key"),
        (lambda: cellar.infer(rows, "sex=F"), "`release` is a Release, or several"),
        (lambda: cellar.fit(table), "`release` is a Release, or several, not Table"),
        (lambda: cellar.synthesize(table), "`source` is a Release, what fit"),
        (lambda: cellar.merge([release]), "`tables` is a Table, which tabulate"),
        (lambda: cellar.risk(release, "sex", "sex", "discrete-laplace:epsilon=1"), "`table` is a Table"),
        (lambda: cellar.loglinear(table, "sex"), "`data` is a Release"),
        (lambda: cellar.certify("discrete-laplace:epsilon=1", deltas=1e-6), "a float is not the decimal"),
        (lambda: cellar.loglinear(release, None), "`model` is a str, not NoneType"),  # these two crashed Python
        (lambda: cellar.binomial_test(1, 2, 0.5, None), "`mechanism` is a str"),
        (lambda: cellar.certify("laplace:epsilon=1", deltas=[None]), "`deltas` is a str or int or Decimal or float"),
        (lambda: cellar.protect(table, "laplace", negatives="keep", total_epsilon=rows), "a decimal is text"),
        (lambda: cellar.tabulate(rows, "sex", rows_are_records="yes"), "`rows_are_records` is True or False, not str"),
        (lambda: cellar.tabulate(rows, cellar.Variable("sex", map=["F"])), "`map` is a mapping"),
        (lambda: release.value("sex"), "`codes` is a mapping"),
        (lambda: cellar.protect(table, "laplace:epsilon=1", negatives="keep", unit="\udce4"), "`unit`: a text is no UTF-8"),
        (lambda: cellar.certify("laplace:epsilon=1", cells=-1), "`cells` is a whole number that is not negative"),
        (lambda: cellar.certify("laplace:epsilon=1", cells="4"), "`cells` is a whole number, not str"),
        (lambda: cellar.certify("laplace:epsilon=1", cells=2**70), "`cells` is a whole number within 63 bits"),
        (lambda: cellar.certify("laplace:epsilon=1", unit=3), "`unit` is a str, not int"),
        (lambda: cellar.pmf("laplace:epsilon=1", 0, -2**63, 2**63 - 1), "1 to 10000000 values"),
        (lambda: cellar.pmf("laplace:epsilon=1", -1, 0, 1), "`count` is a whole number"),
        (lambda: cellar.mechanism("laplace:epsilon=1", count=-1), "`count` is a whole number"),
        (lambda: cellar.exposed_groups(table, "sex", "sex", "laplace:epsilon=1", most=-1), "`most` is a whole"),
        (lambda: cellar.exposure(table).below(-1), "`k` is a whole number that is not negative"),
        (lambda: cellar.utility(table, release="r.csv"), "`release` is a Release"),
        (lambda: cellar.binomial_test(1, "10", 0.5, "laplace:epsilon=1"), "`trials` is a whole number, not str"),
        (lambda: cellar.tabulate(rows, "sex", margins=["sex"]), "for each margin a list"),
        (lambda: cellar.tabulate(rows, "sex", threads=-1), "`threads` is a whole number"),
        (lambda: cellar.tabulate({"sex": 3}, "sex"), "'sex' is no column"),
        (lambda: cellar.tabulate({"sex": [b"F"]}, "sex"), "'sex' holds bytes"),
        (lambda: cellar.tabulate({"sex": ["m\udce4"]}, "sex"), "'sex' has a text that is no UTF-8"),
        (lambda: cellar.tabulate(tmp_path / "latin1.csv", "sex", delimiter="::"), "`delimiter` is one character"),
    ]
    for mistake, words in mistakes:
        with pytest.raises((TypeError, ValueError, cellar.Error), match=words):
            mistake()
    assert cellar.certify("discrete-laplace:epsilon=1", deltas="0").epsilons


def test_a_signal_ends_long_work():
    def stop(number, frame):
        raise TimeoutError("enough")
    codes = [str(i) for i in range(60)]
    table = cellar.tabulate({"a": codes, "b": codes}, ["a", "b"], codelists={"a": codes, "b": codes})
    before = signal.signal(signal.SIGALRM, stop)
    start = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(TimeoutError):
            cellar.utility(table, "discrete-laplace:epsilon=1", copies=50000, threads=1)  # some 20 s
        assert time.monotonic() - start < 8
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
