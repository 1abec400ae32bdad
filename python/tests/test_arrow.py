# SPDX-License-Identifier: GPL-3.0-or-later
"""What pyarrow, pandas 2.2 and DuckDB send through __arrow_c_stream__ gives the table of the same rows in CSV. Debian 12 has
none of them (tools/chroot-test); what a hostile or unusual producer sends is tested in C (tests/unit, tests/fuzz)."""
import ctypes
import ctypes.util
import random

import pandas
import pytest

import cellar

REGIONS = ["north", "south", 'a,"b"', "München", "a text that is longer than twelve bytes"]
BY = ["region", "sex", cellar.Variable("age", bottom="10", top="80", band="10")]


def make_frame(seed, n=500):
    rng = random.Random(seed)
    return pandas.DataFrame({
        "region": [rng.choice([None, *REGIONS]) for _ in range(n)],
        "sex": [rng.choice(["F", "M"]) for _ in range(n)],
        "age": [rng.randrange(100) for _ in range(n)],
    })


def counts(data):
    return sorted(map(repr, cellar.tabulate(data, BY, missing_as="drop", where=["age>=18"], threads=2).true_counts()))


@pytest.fixture
def rows(tmp_path):
    frame = make_frame(1)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return frame, counts(tmp_path / "rows.csv")


def test_pandas_exports_a_stream(rows):
    frame, want = rows
    if not hasattr(frame, "__arrow_c_stream__"):
        pytest.skip("this pandas has no __arrow_c_stream__")
    pytest.importorskip("pyarrow")  # with which pandas makes it

    class Stream:  # pandas' own frames are read by their columns
        def __arrow_c_stream__(self, requested_schema=None):
            return frame.__arrow_c_stream__(requested_schema)

    assert counts(Stream()) == want
    assert counts(frame) == want


def test_pandas_columns_backed_by_arrow(rows):
    frame, want = rows
    pyarrow = pytest.importorskip("pyarrow")
    kinds = {"region": pyarrow.string(), "sex": pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), "age": pyarrow.int16()}
    assert counts(frame.astype({name: pandas.ArrowDtype(kind) for name, kind in kinds.items()})) == want


TYPES = {"string": lambda pa: pa.string(), "large_string": lambda pa: pa.large_string(),
         "string_view": lambda pa: pa.string_view(), "dictionary8": lambda pa: pa.dictionary(pa.int8(), pa.string()),
         "dictionary64": lambda pa: pa.dictionary(pa.uint64(), pa.large_string())}


@pytest.mark.parametrize("texts", TYPES)
@pytest.mark.parametrize("whole", ["int8", "uint16", "int64", "float32", "float64", "decimal128"])
def test_tables_of_pyarrow(rows, texts, whole):
    frame, want = rows
    pyarrow = pytest.importorskip("pyarrow")
    kind = pyarrow.decimal128(5, 0) if whole == "decimal128" else getattr(pyarrow, whole)()
    types = {"region": TYPES[texts](pyarrow), "sex": TYPES[texts](pyarrow), "age": kind}
    values = {name: pyarrow.array(list(frame[name]), type=types[name]) for name in frame}
    table = pyarrow.table(values)
    assert counts(table) == want
    parts = pyarrow.concat_tables([table.slice(0, 1), table.slice(1, 0), table.slice(1, 300), table.slice(301)])
    assert counts(parts) == want  # several batches with offsets, one of them empty
    assert counts(pyarrow.RecordBatchReader.from_batches(parts.schema, iter(parts.to_batches()))) == want


def test_a_dictionary_may_differ_between_batches(rows):
    frame, want = rows
    pyarrow = pytest.importorskip("pyarrow")
    batches = []
    for start in range(0, len(frame), 90):
        part = pyarrow.RecordBatch.from_pandas(frame[start:start + 90], preserve_index=False)
        batches.append(part.set_column(0, "region", part.column("region").dictionary_encode()))
    assert counts(pyarrow.RecordBatchReader.from_batches(batches[0].schema, batches)) == want


def test_a_reader_that_fails_is_an_error(rows):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pandas(rows[0], preserve_index=False)

    def batches():
        yield table.to_batches()[0]
        raise ValueError("the disk is gone")

    with pytest.raises(cellar.Error, match="the disk is gone"):
        counts(pyarrow.RecordBatchReader.from_batches(table.schema, batches()))


class DuckResult:
    """What a query gives in DuckDB, as its Python package would send it. Debian has DuckDB's C library alone, which gives
    a schema and arrays; the stream around them is made here."""

    POINTER = ctypes.c_void_p
    GET = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER)
    ERROR = ctypes.CFUNCTYPE(POINTER, POINTER)
    RELEASE = ctypes.CFUNCTYPE(None, POINTER)

    class Stream(ctypes.Structure):
        pass  # ArrowArrayStream

    Stream._fields_ = [("get_schema", GET), ("get_next", GET), ("get_last_error", ERROR), ("release", RELEASE),
                       ("private_data", POINTER)]

    def __init__(self, library, statements):
        self.library, self.result = library, ctypes.c_void_p()
        database, connection = ctypes.c_void_p(), ctypes.c_void_p()
        assert library.duckdb_open(None, ctypes.byref(database)) == 0
        assert library.duckdb_connect(database, ctypes.byref(connection)) == 0
        library.duckdb_query_arrow_error.restype = ctypes.c_char_p
        for statement in statements:
            failed = library.duckdb_query_arrow(connection, statement.encode(), ctypes.byref(self.result))
            assert not failed, library.duckdb_query_arrow_error(self.result)
        self.stream = self.Stream(self.GET(self.get_schema), self.GET(self.get_next), self.ERROR(lambda stream: None),
                                  self.RELEASE(self.release), None)

    def get_schema(self, stream, out):
        return self.library.duckdb_query_arrow_schema(self.result, ctypes.byref(ctypes.c_void_p(out)))

    def get_next(self, stream, out):
        ctypes.memset(out, 0, 80)  # an ArrowArray that stays so is the end
        return self.library.duckdb_query_arrow_array(self.result, ctypes.byref(ctypes.c_void_p(out)))

    def release(self, stream):
        self.Stream.from_address(stream).release = self.RELEASE()

    def __arrow_c_stream__(self, requested_schema=None):
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)


@pytest.mark.parametrize("settings", [[], ["SET arrow_output_version = '1.4'", "SET produce_arrow_string_view = true"],
                                      ["SET arrow_large_buffer_size = true"]])
@pytest.mark.parametrize("kinds", [("VARCHAR", "VARCHAR", "TINYINT"), ("VARCHAR", "ENUM('F', 'M')", "DECIMAL(18, 2)"),
                                   ("VARCHAR", "ENUM('F', 'M')", "UBIGINT"), ("VARCHAR", "VARCHAR", "DOUBLE")])
def test_results_of_duckdb(rows, tmp_path, settings, kinds):
    _, want = rows
    found = ctypes.util.find_library("duckdb")
    if found is None:
        pytest.skip("there is no library of DuckDB (libduckdb-dev)")
    columns = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in zip(("region", "sex", "age"), kinds))
    assert counts(DuckResult(ctypes.CDLL(found), [
        *settings, f"SELECT {columns} FROM read_csv('{tmp_path}/rows.csv', header = true, all_varchar = true)"])) == want


def test_other_types_are_refused_by_name(rows):
    pyarrow = pytest.importorskip("pyarrow")
    nested = pyarrow.table({"region": [["a"], ["b"]], "sex": ["F", "M"], "age": [1, 2]})
    with pytest.raises(cellar.Error, match="region"):
        counts(nested)


def test_releases_go_out_as_streams():
    pyarrow = pytest.importorskip("pyarrow")
    table = cellar.tabulate(make_frame(2), ["sex"], domain_public=True)
    release = cellar.protect(table, "discrete-laplace:epsilon=1", negatives="keep")
    sent = pyarrow.RecordBatchReader.from_stream(release).read_all()
    assert sent.num_rows == len(release.rows())
    assert sent.column("sex").to_pylist() == [row[0] for row in release.rows()]
