#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""check_sheets.py TABLE.csv BOOK...: reads spreadsheets with openpyxl, or as XML out of a zip, and compares them with
the CSV of the same table that has all cells. Prints what it found."""
import csv
import sys
import xml.etree.ElementTree
import zipfile

import openpyxl

ODS = "{urn:oasis:names:tc:opendocument:xmlns:"
TABLE, OFFICE, TEXT = ODS + "table:1.0}", ODS + "office:1.0}", ODS + "text:1.0}"
NUMBERS = ("released", "estimate", "se", "fitted")


def ods_text(paragraph):
    return (paragraph.text or "") + "".join(" " + (blank.tail or "") for blank in paragraph)


def ods_cell(cell):
    if cell.get(OFFICE + "value-type") == "float":
        return float(cell.get(OFFICE + "value"))
    return "\n".join(ods_text(paragraph) for paragraph in cell.iter(TEXT + "p"))


def read_ods(path):
    with zipfile.ZipFile(path) as book:
        assert book.testzip() is None
        for name in book.namelist()[1:]:
            xml.etree.ElementTree.fromstring(book.read(name))
        root = xml.etree.ElementTree.fromstring(book.read("content.xml"))
    assert not [cell for cell in root.iter() if "spanned" in " ".join(cell.attrib)], "cells are merged"
    heads = [len(list(rows)) for rows in root.iter(TABLE + "table-header-rows")]
    assert heads == [1], "one row of headings, which is repeated"
    return {sheet.get(TABLE + "name"): [[ods_cell(cell) for cell in row.iter(TABLE + "table-cell")]
                                        for row in sheet.iter(TABLE + "table-row")] for sheet in root.iter(TABLE + "table")}


def read_xlsx(path):
    book = openpyxl.load_workbook(path)
    for sheet in book:
        assert not sheet.merged_cells.ranges, "cells are merged"
        assert all(cell.data_type in ("s", "n", "inlineStr") for row in sheet.iter_rows() for cell in row), "a formula"
    table = book["Table"]
    assert table.print_title_rows == "$3:$3" and book.properties.language == "en"
    ranges = [each.ref for each in table.tables.values()]
    assert ranges == [f"A3:{table.dimensions.split(':')[1]}"], ranges
    return {sheet.title: [["" if value is None else value for value in row] for row in sheet.iter_rows(values_only=True)]
            for sheet in book}


def check(path, header, rows):
    book = (read_ods if path.endswith(".ods") else read_xlsx)(path)
    assert list(book) == ["About", "Table"], list(book)
    about = [(row + [""])[:2] for row in book["About"]]
    found = book["Table"]
    assert about[0][0] == found[0][0] and about[1][0] in ("Warning", "Protection"), about[:2]
    kept = [i for i, name in enumerate(found[2]) if name in header]
    names = [found[2][i] for i in kept]
    assert names == [name for name in header if name != "status"], names
    assert len(found) - 3 == len(rows), f"{len(found) - 3} rows, not {len(rows)}"
    n = 0
    for got, want in zip(found[3:], rows):
        for name, i, text in zip(names, kept, want):
            if name not in NUMBERS:
                assert got[i] == text, (got[i], text)
            elif isinstance(got[i], str):
                assert got[i] in ("[c]", "[x]", "[z]") and text in ("", "0"), (got[i], text)
            else:
                assert float(got[i]) == float(text), (got[i], text)
                n += 1
    print(f"{path}: {', '.join(str(name) for name in found[2])}: {len(rows)} cells, {n} numbers as in the CSV")
    return about


def main():
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    said = [check(path, header, rows) for path in sys.argv[2:]]
    assert all(about == said[0] for about in said), "they say the same"
    for name, text in said[0]:
        print(f"  {name}: {text}")


main()
