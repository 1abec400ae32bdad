# SPDX-License-Identifier: GPL-3.0-or-later
"""The package against the command line: same tables, same keyed releases byte for byte, and no true count anywhere
but where it was asked for."""
import copy
import io
import json
import math
import os
import pathlib
import pickle
import random
import subprocess

import numpy
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cellar

PROGRAM = os.environ["CELLAR_PROGRAM"]
REGIONS = ["north", "south", "east", "west", 'a,"b"', "München"]


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def make_frame(seed, n=400):
    rng = random.Random(seed)
    frame = pandas.DataFrame({
        "region": pandas.Categorical.from_codes([rng.choice([-1, 0, 1, 2, 3, 4, 5]) for _ in range(n)], REGIONS),
        "sex": [rng.choice(["F", "M"]) for _ in range(n)],
        "age": numpy.array([rng.randrange(100) for _ in range(n)], dtype="i2"),
        "person": [f"p{rng.randrange(n)}" for _ in range(n)],
        "weight": [rng.randrange(40) / 8 for _ in range(n)],
        "old": pandas.array([rng.choice([True, False, None]) for _ in range(n)], dtype="boolean"),
    })
    return frame


def write_codes(path, codes):
    pandas.DataFrame({"code": codes}).to_csv(path, index=False)
    return path


# ---- the same bytes as the command line ------------------------------------------------------------------

def questions():
    """Twenty fixtures: arguments of the command line, and of the package."""
    band = cellar.Variable("age", bottom="10", top="80", band="10")
    steps = ["--bottom", "age=10", "--top", "age=80", "--band", "age=10"]
    tables = [
        (["region", "sex"], []),
        (["sex"], []),
        (["sex", band], steps),
        (["region", "sex", band], steps),
        (["sex", cellar.Variable("region", missing_as="drop")], []),
    ]
    for number, (by, arguments) in enumerate(tables):
        for margins in ("none", "all"):
            for extra in (([], {}), (["--where", "age>=18", "--unit", "person", "--max-per-unit", "1"],
                                     {"where": ["age>=18"], "unit": "person", "max_per_unit": 1})):
                yield pytest.param(by, margins, arguments + extra[0], extra[1],
                                   id=f"{number}-{margins}-{'where' if extra[0] else 'plain'}")


MECHANISMS = ["discrete-laplace:epsilon=0.5", "discrete-gaussian:sigma=2", "laplace:epsilon=1"]


@pytest.mark.parametrize("by,margins,arguments,more", list(questions()))
def test_keyed_releases_are_the_command_lines(tmp_path, by, margins, arguments, more):
    frame = make_frame(len(arguments) + len(by))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    lists = {"region": write_codes(tmp_path / "region.csv", REGIONS), "sex": write_codes(tmp_path / "sex.csv", ["F", "M"])}
    key = tmp_path / "key"
    cellar.create_key(key, "2026")
    names = [v if isinstance(v, str) else v.column for v in by]
    domains = [word for name in names if name in lists for word in ("--domain", f"{name}={lists[name]}")]
    mechanism = MECHANISMS[len(names) % len(MECHANISMS)]
    run("tabulate", tmp_path / "rows.csv", "--by", ",".join(names), "--missing-as", "drop", "--margins", margins,
        *domains, *arguments, "-o", tmp_path / "table.json")
    run("protect", tmp_path / "table.json", "--mechanism", mechanism, "--negatives", "keep", "--per-cell", "--noise",
        "keyed", "--key", key, "--edition", "2026", "--date", "2026-11-18", "-o", tmp_path / "cli.csv")

    table = cellar.tabulate(frame, by, codelists=lists, missing_as="drop", margins=margins, **more)
    release = cellar.protect(table, mechanism, negatives="keep", per_cell=True, key=cellar.read_key(key),
                             edition="2026", date="2026-11-18")
    release.write(tmp_path / "package.csv")
    for ending in ("", ".cellar.json"):
        assert (tmp_path / f"package.csv{ending}").read_bytes() == (tmp_path / f"cli.csv{ending}").read_bytes()
    assert cellar.read_release(tmp_path / "cli.csv").rows() == release.rows()


# ---- the same table whatever the columns are -----------------------------------------------------------------

def counts(data, **more):
    return sorted(cellar.tabulate(data, ["x", "y"], missing_as="drop", **more).true_counts())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(["a", "b c", "ü", 'q"', None])), min_size=1, max_size=40))
def test_every_kind_of_column_gives_the_file(tmp_path_factory, rows):
    xs, ys = [x for x, _ in rows], [y for _, y in rows]
    if all(y is None for y in ys):
        return
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    pandas.DataFrame({"x": xs, "y": ys}).to_csv(path, index=False)
    want = counts(path)
    assert counts({"x": xs, "y": ys}) == want
    assert counts(pandas.DataFrame({"x": xs, "y": ys})) == want
    assert counts(pandas.DataFrame({"x": xs, "y": pandas.Categorical(ys)})) == want
    assert counts(pandas.DataFrame({"x": pandas.array(xs, dtype="Int8"), "y": pandas.array(ys, dtype="string")})) == want
    assert counts({"x": numpy.array(xs, dtype="f4"), "y": numpy.array(ys, dtype=object)}) == want
    assert counts({"x": numpy.array(xs, dtype=">i4")[::1], "y": pandas.Categorical(ys)}) == want


def test_bools_masks_and_strides():
    frame = make_frame(3)
    table = cellar.tabulate(frame, ["old"], missing_as="drop")
    assert dict(table.true_counts()) == {str(k): n for k, n in frame["old"].value_counts().items()}
    thin = {"x": frame["age"].to_numpy()[::7], "y": ["a"] * len(frame["age"][::7])}
    assert sum(row[-1] for row in counts(thin)) == len(frame["age"][::7])


def test_a_release_goes_out_and_in_as_arrow():
    frame = make_frame(4)
    table = cellar.tabulate(frame, ["sex", "old"], missing_as="drop", domain_public=True)
    release = cellar.protect(table, "discrete-laplace:epsilon=2", negatives="zero", per_cell=True)
    back = cellar.tabulate(release, ["sex", "old"], count="released")
    assert back.true_counts() == release.rows()
    assert release.to_pandas()["released"].tolist() == [row[-1] for row in release.rows()]


def test_partial_tables_add_up():
    frame = make_frame(5)
    how = {"by": ["sex"], "codelists": {"sex": ["F", "M"]}, "margins": "all"}
    whole = cellar.tabulate(frame, **how)
    parts = [cellar.tabulate(frame[:100], **how), cellar.tabulate(frame[100:], **how)]
    assert cellar.merge(parts).true_counts() == whole.true_counts()
    with pytest.raises(cellar.Error, match="not counted like"):
        cellar.merge([parts[0], cellar.tabulate(frame, ["sex"], codelists={"sex": ["F", "M"]})])


# ---- promises ------------------------------------------------------------------------------------------------

SENTINEL = 987653


def sentinel_table():
    codes = numpy.zeros(SENTINEL, dtype="i1")
    return cellar.tabulate({"x": pandas.Categorical.from_codes(codes, ["only"])}, ["x"], margins="all",
                           codelists={"x": ["only", "other"]})


def test_no_true_count_is_shown_or_kept():
    table = sentinel_table()
    shown = [repr(table), str(table), table._repr_html_(), f"{table}", repr(table.row_report()), repr(table._handle),
             str([table]), repr(vars(cellar).get("table"))]
    assert all(str(SENTINEL) not in text for text in shown)
    for keep in (pickle.dumps, copy.copy, copy.deepcopy, lambda o: pickle.dumps(o, 2), lambda o: pickle.dumps([o])):
        for secret in (table, table._handle):
            with pytest.raises(TypeError):
                keep(secret)
    with pytest.raises(TypeError):
        pickle.Pickler(io.BytesIO()).dump({"table": table})
    assert (SENTINEL) in [row[-1] for row in table.true_counts()]


def test_keys_do_not_survive_fork(tmp_path):
    cellar.create_key(tmp_path / "key", "1")
    key = cellar.read_key(tmp_path / "key")
    child = os.fork()
    if child == 0:
        try:
            key.id
        except RuntimeError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert len(key.id) == 16


def test_numbers_of_a_guarantee_are_exact():
    with pytest.raises(TypeError, match="as text"):
        cellar.certify("laplace:epsilon=1", deltas=[1e-6])
    assert cellar.certify("discrete-laplace:epsilon=0.1", cells=3).pure_epsilon_exact == "0.3"


def test_a_total_is_split_over_cells():
    table = cellar.tabulate(make_frame(9), ["sex"], codelists={"sex": ["F", "M"]}, margins="all")
    release = cellar.protect(table, "discrete-laplace", negatives="keep", total_epsilon="1")
    assert release.mechanism == "discrete-laplace:epsilon=0.5"
    release = cellar.protect(table, "discrete-laplace", negatives="keep", total_epsilon="1", neighbours="substitute")
    assert release.mechanism == "discrete-laplace:epsilon=0.25"


def test_refusals_are_sentences():
    frame = make_frame(6)
    with pytest.raises(cellar.Error, match="missing") as refusal:
        cellar.tabulate(frame, ["region"])
    assert refusal.value.status == "CELLAR_ERR_INPUT"
    with pytest.raises(ValueError, match="no column 'colour'"):
        cellar.tabulate(frame, ["colour"])
    with pytest.raises(ValueError, match="margins"):
        cellar.tabulate(frame, ["sex"], margins="some")
    table = cellar.tabulate(frame, ["sex"])
    with pytest.raises(cellar.Error, match="public"):
        cellar.protect(table, "laplace:epsilon=1", negatives="keep")
    with pytest.raises(ValueError, match="negatives"):
        cellar.protect(table, "laplace:epsilon=1", negatives="maybe")
    with pytest.raises(TypeError):
        cellar.protect(None, "laplace:epsilon=1", negatives="keep")
    with pytest.raises(TypeError, match="is a pandas"):
        cellar.tabulate(3, ["x"])


# ---- guarantees and inference ------------------------------------------------------------------------------------

VECTORS = json.loads((pathlib.Path(__file__).parent / "vectors.json").read_text())


def spec_of(mechanism):
    rest = ",".join(f"{name}={value}" for name, value in mechanism.items() if name != "name")
    return mechanism["name"] + (":" + rest if rest else "")


def answer(fn, args):
    spec = spec_of(args["mechanism"])
    if fn == "presence":
        return cellar.mechanism(spec, count=args["n"]).presence
    if fn == "kernel":
        return cellar.pmf(spec, args["a"], args["b"], args["b"])[0]
    return cellar.certify(spec, epsilons=[args["epsilon"]]).deltas[0][1]


@pytest.mark.parametrize("fn", ["presence", "kernel", "adp_delta"])
def test_reference_vectors(fn):
    """Values that were computed independently with many digits."""
    asked = [vector for vector in VECTORS if vector["fn"] == fn]
    assert len(asked) >= 15
    for vector in asked:
        assert answer(fn, vector["args"]) == pytest.approx(float(vector["value"]), rel=1e-9, abs=1e-300), vector


def test_a_certificate_is_the_command_lines():
    for spec in ("discrete-laplace:epsilon=0.5", "discrete-gaussian:sigma=3"):
        want = json.loads(run("certify", spec, "--epsilon", "0.25", "--json"))
        found = cellar.certify(spec, epsilons=["0.25"])
        assert found.verdict == want["verdict"] == "holds"
        assert found.deltas[0][1] == pytest.approx(want["profile"][0]["delta"], rel=1e-14)
        assert found.deltas[0][1] >= found.deltas[0][2] > 0


def test_discrete_laplace_by_hand():
    """delta(epsilon) of two-sided geometric noise, and its mass: closed forms."""
    a = math.exp(-0.5)
    for released, found in zip(range(-5, 6), cellar.pmf("discrete-laplace:epsilon=0.5", 1, -5, 5)):
        assert found == pytest.approx((1 - a) / (1 + a) * a ** abs(released - 1), rel=1e-13)
    assert cellar.mechanism("discrete-laplace:epsilon=0.5").variance == pytest.approx(2 * a / (1 - a) ** 2, rel=1e-12)


def test_an_interval_is_that_of_the_noise():
    table = sentinel_table()
    release = cellar.protect(table, "discrete-laplace:epsilon=0.5", negatives="keep", per_cell=True)
    found = cellar.infer(release, "x=only", pooled=False)
    released = release.value({"x": "only"})
    assert (found.low, found.high, found.released) == (released - 6, released + 6, released)
    assert release.value({}) is not None
    assert abs(released - SENTINEL) < 100
    with pytest.raises(ValueError, match="no variable"):
        release.value({"y": "a"})


def test_html_is_escaped():
    data = {"x": ["<b>", "<b>", "&"]}
    table = cellar.tabulate(data, ["x"], domain_public=True)
    release = cellar.protect(table, "discrete-laplace:epsilon=5", negatives="keep")
    assert "<b>" not in table._repr_html_() and "&lt;b&gt;" in release._repr_html_()
    assert release.guarantee == "The released values are differentially private for one record: epsilon 5, rho 12.5 (add-remove)."
    assert release.guarantee in repr(release)
    assert "<table>" in cellar.certify("laplace:epsilon=1", epsilons=["0.5"])._repr_html_()


def test_a_ledger_pays(tmp_path):
    ledger = tmp_path / "budget"
    run("ledger", "create", ledger, "--dataset", "census", "--epsilon", "1", "--unit", "person", "--neighbours",
        "add-remove")
    table = cellar.tabulate(make_frame(7), ["sex"], codelists={"sex": ["F", "M"]})
    how = {"negatives": "keep", "ledger": ledger, "dataset": "census"}
    first = cellar.protect(table, "discrete-laplace:epsilon=0.6", request="one", output=tmp_path / "one.csv", **how)
    again = cellar.protect(table, "discrete-laplace:epsilon=0.6", request="one", output=tmp_path / "one.csv", **how)
    assert first.rows() == again.rows() and first.ledger.startswith("cellar-ledger ")
    with pytest.raises(cellar.Error) as refusal:
        cellar.protect(table, "discrete-laplace:epsilon=0.6", request="two", output=tmp_path / "two.csv", **how)
    assert refusal.value.status == "CELLAR_ERR_BUDGET" and not pathlib.Path(tmp_path / "two.csv").exists()


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (pathlib.Path(__file__).parents[2] / "docs/python.md").read_text()
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    assert len(blocks) >= 4
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {})
