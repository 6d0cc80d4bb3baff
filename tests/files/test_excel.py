"""Excel sheets are tables: read and written through openpyxl, with places for complaints."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from openpyxl import Workbook
from oracle.refusals import refused

from elastocal.errors import InputError
from elastocal.files.tables.csv_file import read_csv
from elastocal.files.tables.excel import excel_bytes
from elastocal.files.tables.raw import Field, si_number


def test_a_sheet_is_read_like_a_text_table(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "empty"
    page = book.create_sheet("readings")
    page.append(["# tracker AT500"])
    page.append([])
    page.append(["A1_deg", "x_mm", "name", None])
    page.append([1.25, "12,5", "p1"])
    page.append([None, 3, "p2"])
    page["A6"] = "=1+1"
    page["B6"] = 4
    book.save(tmp_path / "a.xlsx")
    raw = read_csv(tmp_path / "a.xlsx")
    assert raw.header == ("A1_deg", "x_mm", "name")
    assert [line for line, _ in raw.rows] == [4, 5, 6]
    assert si_number(raw, raw.rows[0], Field(1, 1e-3)) == pytest.approx(0.0125)
    with pytest.raises(InputError, match="line 5, column A1_deg: is empty"):
        si_number(raw, raw.rows[1], Field(0, 1.0))
    assert "sheet 'readings' is read" in raw.notes[0]
    with refused("unknown-sheet", "other"):
        read_csv(tmp_path / "a.xlsx", sheet="other")


def test_a_cover_sheet_is_passed_over(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "Info"
    book.active.append(["Kunde", "ACME"])
    page = book.create_sheet("Werte")
    page.append(["A1_deg", "A2_deg", "x_mm"])
    page.append([1, 2, 3])
    book.save(tmp_path / "a.xlsx")
    raw = read_csv(tmp_path / "a.xlsx")
    assert raw.header == ("A1_deg", "A2_deg", "x_mm")
    assert raw.notes == ("a.xlsx: sheet 'Werte' is read, of Info, Werte.",)
    again = book.create_sheet("Werte 2")
    again.append(["A1_deg", "A2_deg", "x_mm"])
    book.save(tmp_path / "a.xlsx")
    assert read_csv(tmp_path / "a.xlsx").header == ("Kunde", "ACME")


def test_a_cover_sheet_is_passed_over_where_joints_have_names_of_their_own(tmp_path: Path) -> None:
    book = Workbook()
    book.active.title = "Info"
    book.active.append(["see the second sheet"])
    book.active.append(["room 4"])
    page = book.create_sheet("Data")
    page.append(["shoulder_pan_deg", "elbow_deg", "x_mm"])
    page.append([1, -2.5, 3e-7])
    book.save(tmp_path / "a.xlsx")
    assert read_csv(tmp_path / "a.xlsx").header == ("shoulder_pan_deg", "elbow_deg", "x_mm")
    book.create_sheet("More").append(["p", "q", "r"])
    book["More"].append([1, 2, 3])
    book.save(tmp_path / "a.xlsx")
    assert read_csv(tmp_path / "a.xlsx").header == ("see the second sheet",)


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_text("A1_deg,x_mm\n1,2\n")
    with refused("not-excel", file="a.xlsx"):
        read_csv(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as packed:
        packed.writestr("something.txt", "x")
    with refused("not-excel", file="b.xlsx"):
        read_csv(tmp_path / "b.xlsx")
    book = Workbook()
    book.save(tmp_path / "c.xlsx")
    with refused("missing", file="c.xlsx"):
        read_csv(tmp_path / "c.xlsx")
    (tmp_path / "d.xlsx").write_bytes(excel_bytes(["a"], [["1", "2"]]))
    with refused("ragged", 2, file="d.xlsx", line=2):
        read_csv(tmp_path / "d.xlsx")


def test_written_tables_come_back_and_hold_no_formulas_and_no_time(tmp_path: Path) -> None:
    made = excel_bytes(["name", "x_mm"], [["=1+1", "2.5"], ["p2", 1e-7]])
    assert made == excel_bytes(["name", "x_mm"], [["=1+1", "2.5"], ["p2", 1e-7]])
    (tmp_path / "a.xlsx").write_bytes(made)
    raw = read_csv(tmp_path / "a.xlsx")
    assert raw.rows[0][1] == ("'=1+1", "2.5")
    assert si_number(raw, raw.rows[1], Field(1, 1.0)) == 1e-7


def numbers(tmp_path: Path, *cells: object) -> tuple[list[float], tuple[str, ...]]:
    book = Workbook()
    book.active.append(["x_mm", "name"])
    for cell in cells:
        book.active.append([cell, "p"])
    book.save(tmp_path / "a.xlsx")
    raw = read_csv(tmp_path / "a.xlsx")
    return [si_number(raw, row, Field(0, 1.0)) for row in raw.rows], raw.notes


def test_points_between_thousands_of_texts_are_told_by_other_texts_and_said(tmp_path: Path) -> None:
    values, notes = numbers(tmp_path, "1.234", "1.234,5", "-2.000")
    assert values == [1234, 1234.5, -2000]
    assert notes == ("a.xlsx: 1.234 is read as 1234, by the other numbers of the table.",)
    values, notes = numbers(tmp_path, "1,234", "1,234.5")
    assert values == [1234, 1234.5]
    assert "1,234 is read as 1234" in notes[0]
    assert numbers(tmp_path, "1.234", "2.345") == ([1.234, 2.345], ())


def test_a_number_beside_such_texts_stays_and_is_said(tmp_path: Path) -> None:
    """A spreadsheet in English makes a number of 1.234 and a text of 1.234,5."""
    values, notes = numbers(tmp_path, 1.234, "1.234,5", 5, 0.125, 2.5)
    assert values == [1.234, 1234.5, 5, 0.125, 2.5]
    assert len(notes) == 1
    assert "1.234 in row 2 is a number, which is taken as it is: check" in notes[0]


def test_points_and_commas_before_decimals_are_said(tmp_path: Path) -> None:
    values, notes = numbers(tmp_path, "1.234", "12,5", "3.75")
    assert values == [1.234, 12.5, 3.75]
    assert notes == (
        "a.xlsx: 1.234 is read as 1.234: the table has points and commas before decimals; check that thousands were "
        "not meant.",
    )
