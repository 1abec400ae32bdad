# SPDX-License-Identifier: GPL-3.0-or-later
"""server_pxwebpy.py URL CSV: pxwebpy reads metadata, code lists and data of PxWebApi 2; every value must be that of
the CSV."""
import csv
import os
import sys

if os.environ.get("PXWEBPY_SOURCE"):
    sys.path.insert(0, os.path.join(os.environ["PXWEBPY_SOURCE"], "src"))
try:
    from pxweb import PxApi
except ImportError:
    sys.exit(77)

api = PxApi(sys.argv[1] + "/api/v2")
with open(sys.argv[2], newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
want = {(row["region"], row["age"], code): float(row[column])
        for row in rows for code, column in (("count", "estimate"), ("se", "se"))}
assert api.number_of_tables == 1
assert list(api.get_table_variables("country")) == ["region", "sex", "age", "occupation", "diagnosis", "ContentsCode",
                                                    "period"]
assert [value["code"] for value in api.get_code_list("country.region^1")["values"]] == ["Mainland", "Islands"]
found = api.get_table_data("country", {"region": ["*"], "age": ["*"], "ContentsCode": ["count", "se"]}, show="code")
got = {(row["region"], row["age"], row["contents"]): row["value"] for row in found}
assert got == want, f"{len(got)} values, not the {len(want)} of the command line"
coarse = api.get_table_data("country", {"region": ["*"], "ContentsCode": "count"}, {"region": "country.region^1"})
assert len(coarse) == 2
print(f"{len(want)} values equal")
