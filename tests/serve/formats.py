# SPDX-License-Identifier: GPL-3.0-or-later
"""formats.py CELLAR: one question over HTTP in every format and protocol. Readers that know nothing of Cellar
must find the values that the command line writes, what an interval means, and the certificate."""
import csv
import html.parser
import importlib.util
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree
import zipfile

import builder

CONTENTS = ["count", "se", "noise_low95", "noise_high95"]
DATA = "/api/v2/tables/country/data?valuecodes[region]=*&valuecodes[age]=*&stub=region,age,period"
NOTE = "Bounds do not add."
ODS = "{urn:oasis:names:tc:opendocument:xmlns:"


def expected(cellar, cube, folder):
    """{(region, age): (count, se)} as the command line has it."""
    out = pathlib.Path(folder, "expected.csv")
    subprocess.run([cellar, "cube", "table", cube, "--by", "region,age", "-o", out], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out, newline="", encoding="utf-8") as file:
        return {(row["region"], row["age"]): (float(row["estimate"]), float(row["se"])) for row in csv.DictReader(file)}


def split(numbers):
    """[[count, se, low, high], ...] of a list in the order of the question."""
    return [numbers[i:i + 4] for i in range(0, len(numbers), 4)]


def read_jsonstat(body):
    found = json.loads(body)
    assert found["id"] == ["region", "age", "period", "ContentsCode"], found["id"]
    assert found["role"]["metric"] == ["ContentsCode"] and found["role"]["time"] == ["period"]
    assert list(found["dimension"]["ContentsCode"]["category"]["index"]) == CONTENTS
    assert found["extension"]["px"]["tableid"] == "country" and found["extension"]["px"]["language"] == "en"
    assert any(NOTE in note for note in found["note"])
    certificate = found["extension"]["cellar"]["certificate"]
    keys = [(region, age) for region in found["dimension"]["region"]["category"]["index"]
            for age in found["dimension"]["age"]["category"]["index"]]
    return certificate, keys, split(found["value"])


def read_csv(body):
    rows = list(csv.reader(io.StringIO(body.decode("utf-8"))))
    assert rows[0][-1] == "note" and NOTE in rows[1][-1] and all(row[-1] == "" for row in rows[2:])
    return rows[1][-1], [[float(word) for word in row[3:7]] for row in rows[1:]]


def read_px(body):
    text = body.decode("utf-8")
    head, data = text.split("DATA=\r\n")
    assert 'CONTVARIABLE="contents"' in head
    return head.replace('"\r\n"', ""), split([float(word) for word in data.rstrip("; \r\n").split()])


def read_xlsx(body):
    import openpyxl
    book = openpyxl.load_workbook(io.BytesIO(body))
    sheet = book["Table"]
    assert sheet.print_title_rows == "$3:$3" and sheet.print_title_cols == "$A:$C" and not sheet.merged_cells.ranges
    assert book.properties.language in ("en", "sv") and book.properties.title.startswith("People")
    rows = list(book["Table"].iter_rows(values_only=True))[3:]
    about = " ".join(str(word) for row in book["About"].iter_rows(values_only=True) for word in row)
    return about, [list(row[3:]) for row in rows]


def read_ods(body):
    """The values of cells that are typed as numbers, with the standard library alone; says what the sheet About does."""
    with zipfile.ZipFile(io.BytesIO(body)) as book:
        first = book.infolist()[0]
        assert (first.filename, first.compress_type, first.extra) == ("mimetype", zipfile.ZIP_STORED, b"")
        assert book.read("mimetype") == b"application/vnd.oasis.opendocument.spreadsheet" == body[38:84]
        parts = {name: xml.etree.ElementTree.fromstring(book.read(name)) for name in book.namelist()[1:]}
    listed = {entry.get(ODS + "manifest:1.0}full-path") for entry in parts["META-INF/manifest.xml"]}
    assert listed == set(parts) - {"META-INF/manifest.xml"} | {"/"}, listed
    style = next(parts["styles.xml"].iter(ODS + "style:1.0}text-properties"))
    assert style.get(ODS + "xsl-fo-compatible:1.0}language") in ("en", "sv")
    table, about = parts["content.xml"].iter(ODS + "table:1.0}table")
    assert [sheet.get(ODS + "table:1.0}name") for sheet in (table, about)] == ["Table", "About"]
    rows = list(table.iter(ODS + "table:1.0}table-row"))
    heading = table.findall(f"{ODS}table:1.0}}table-header-rows/{ODS}table:1.0}}table-row")
    assert heading == rows[2:2 + len(heading)] and len(heading) == 1
    widths = list(table.iter(ODS + "table:1.0}table-column"))
    assert len(table.find(ODS + "table:1.0}table-header-columns")) == 3
    assert all(len(row) == len(widths) for row in rows[2:]), "a heading or a value for each column"
    assert not [cell for cell in table.iter() if "spanned" in " ".join(cell.attrib)], "cells are merged"
    said = " ".join("".join(row.itertext()) for row in about.iter(ODS + "table:1.0}table-row"))
    assert said.startswith("Protection")
    return said, [[float(cell.get(ODS + "office:1.0}value")) for cell in row[3:]
                   if cell.get(ODS + "office:1.0}value-type") == "float"] for row in rows[3:]]


def read_sdmx_csv(body):
    rows = list(csv.DictReader(io.StringIO(body.decode("utf-8"))))
    assert [row["ContentsCode"] for row in rows[:4]] == CONTENTS and rows[0]["sex"] == "_T"
    return rows[0]["COMMENT_DSET"], split([float(row["OBS_VALUE"]) for row in rows])


def read_sdmx_ml(body):
    generic = "{http://www.sdmx.org/resources/sdmxml/schemas/v2_1/data/generic}"
    root = xml.etree.ElementTree.fromstring(body)
    values = [float(value.get("value")) for value in root.iter(generic + "ObsValue")]
    return body.decode("utf-8"), split(values)


class Cells(html.parser.HTMLParser):
    """The texts of <td> and <dd>."""

    def __init__(self):
        super().__init__()
        self.texts, self.inside = {"td": [], "dd": []}, None

    def handle_starttag(self, tag, _):
        self.inside = tag if tag in self.texts else None
        if self.inside:
            self.texts[tag].append("")

    def handle_data(self, data):
        if self.inside:
            self.texts[self.inside][-1] += data


def read_html(body):
    cells = Cells()
    cells.feed(body.decode("utf-8"))
    return " ".join(cells.texts["dd"]), split([float(text) for text in cells.texts["td"]])


def read_v1(body):
    found = json.loads(body)
    return found["columns"][3]["comment"], [[float(word) for word in row["values"]] for row in found["data"]]


# What the configuration says, in two languages; each must be in every format.
TEXTS = {
    "en": ["A made-up census", "nobody@example.org", "Nobody in it is real.", "In years at the end of the year.",
           "With two harbours.", "The school was closed.", "Standard error (noise)", "2027"],
    "sv": ["En påhittad folkräkning", "nobody@example.org", "Ingen i den finns.", "I år vid årets slut.",
           "Med två hamnar.", "Skolan var stängd.", "Medelfel (brus)", "2027"],
}
CELL = 'CELLNOTE("Harbour and its suburbs","<=15","*","*")='


def check_codelist(cellar, folder, structure):
    """The structure that the server writes serves as a code list: the same table as from our own."""
    path = pathlib.Path(folder, "structure.xml")
    path.write_bytes(structure)
    tables = []
    for i, domain in enumerate((f"region={path}#CL_country_region", f"{folder}/codelists")):
        out = pathlib.Path(folder, f"counted{i}.csv")
        subprocess.run([cellar, "tabulate", f"{folder}/people.csv", "--by", "region", "--domain", domain, "--hierarchy",
                        "region", "-o", out], check=True, stderr=subprocess.DEVNULL)
        tables.append(sorted(out.read_text(encoding="utf-8").splitlines()))
    assert tables[0] == tables[1] and len(tables[0]) > 8, tables


CONFIG = """serve: 1
site:
  title: Tables
  languages: [en, sv]
  limits: {calls: 1000000, seconds: 1}
  contents: {se: {en: Standard error (noise), sv: Medelfel (brus)}}
datasets:
  - id: country
    kind: cube
    cube: ../country.cube
    population: the small country
    title: People
    updated: 2026-07-01
    next_update: 2027-07-01
    source: {en: A made-up census, sv: En påhittad folkräkning}
    contact: nobody@example.org
    note: {en: Nobody in it is real., sv: Ingen i den finns.}
    cell_notes: [{cells: {region: Harbour, age: "<=15"}, note: {en: The school was closed., sv: Skolan var stängd.}}]
    variables:
      - {name: age, note: {en: In years at the end of the year., sv: I år vid årets slut.}}
      - {name: region, role: geo, notes: {Harbour: {en: With two harbours., sv: Med två hamnar.}}}
"""


def plain_text(name, body):
    """All that an answer says, whatever its format."""
    if name == "xlsx":
        import openpyxl
        book = openpyxl.load_workbook(io.BytesIO(body))
        return " ".join(str(word) for sheet in book for row in sheet.iter_rows(values_only=True) for word in row)
    if name == "ods":
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            return " ".join(xml.etree.ElementTree.fromstring(book.read("content.xml")).itertext())
    text = body.decode("utf-8")
    if name.startswith("json"):
        return json.dumps(json.loads(text), ensure_ascii=False)
    return html.unescape(text.replace('"\r\n"', ""))


def check_texts(get):
    for language, texts in TEXTS.items():
        for name in ["json-stat2", *READERS]:
            said = plain_text(name, get(f"{DATA}&lang={language}&outputFormat={name}&outputFormatParams=UseTexts"))
            if name.startswith("sdmx"):  # labels are in the structure
                said += get("/sdmx/datastructure/CELLAR/country/1.0?references=children").decode("utf-8")
            missing = [text for text in texts if text not in said]
            assert not missing, f"{name}, {language} lacks {missing}"
    px = get(f"{DATA}&outputFormat=px").decode("utf-8")
    assert CELL in px, re.findall("CELLNOTE.*", px)
    without = get(DATA.replace("valuecodes[region]=*", "valuecodes[region]=Plain")).decode("utf-8")
    assert TEXTS["en"][5] not in without, "a note of a cell that is not shown"


READERS = {"csv": read_csv, "px": read_px, "xlsx": read_xlsx, "ods": read_ods, "sdmx-csv": read_sdmx_csv, "sdmx-ml": read_sdmx_ml,
           "html": read_html}


def check(name, found, want, tolerance=0):
    assert len(found) == len(want), f"{name}: {len(found)} cells, not {len(want)}"
    for i, (one, two) in enumerate(zip(found, want)):
        assert all(abs(a - b) <= tolerance for a, b in zip(one, two)), f"{name}: cell {i}: {one}, not {two}"


def main():
    cellar = sys.argv[1]
    if importlib.util.find_spec("openpyxl") is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        config = builder.make(cellar, folder)
        config.write_text(CONFIG, encoding="utf-8")
        want = expected(cellar, f"{folder}/country.cube", folder)
        with builder.Server([cellar, "serve", config, "--listen", "127.0.0.1:0"]) as server:
            def get(path, **words):
                status, _, body = server.ask(urllib.parse.quote(path, safe="/?&=[],*."), **words)
                assert status == 200, f"{path}: {status}: {body[:300]}"
                return body
            certificate, keys, values = read_jsonstat(get(DATA))
            assert re.fullmatch("[0-9a-f]{32}", certificate), certificate
            check("json-stat2", [cell[:2] for cell in values], [want[key] for key in keys])
            assert all(cell[2] <= cell[0] <= cell[3] for cell in values)
            for name, reader in READERS.items():
                said, found = reader(get(f"{DATA}&outputFormat={name}"))
                check(name, found, values, 0.1 if name == "html" else 0)
                assert certificate in said and NOTE in said, f"{name} lacks certificate or note"
                assert get(f"{DATA}&outputFormat={name}") == get(f"{DATA}&outputFormat={name}"), name
            query = {"query": [{"code": code, "selection": {"filter": "all", "values": ["*"]}}
                               for code in ("region", "age", "ContentsCode")], "response": {"format": "json"}}
            said, found = read_v1(get("/api/v1/en/tables/country", method="POST", body=json.dumps(query)))
            check("PxWebApi 1", found, values)
            assert certificate in said and NOTE in said
            said, found = read_sdmx_ml(get("/sdmx/data/country/._T.._T._T."))
            check("SDMX REST", found, values)
            check_texts(get)
            check_codelist(cellar, folder, get("/sdmx/datastructure/CELLAR/country/1.0?references=children"))
    print(f"{len(values)} cells in {len(READERS) + 3} ways")


if __name__ == "__main__":
    main()
