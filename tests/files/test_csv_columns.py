"""Tables with titles of their own: which unit counts, what is left out, and what is said of doubtful ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from files.campaign_desk import TABLE
from files.import_desk import DEFLECTION, EXPORTS, ImportDesk
from oracle.refusals import refused

COLUMNS = "{A1: Achse 1, A2: Achse 2, fz: Kraft, dx: X, dy: Y, dz: Z, name: Stellung}"
GERMAN = (EXPORTS / "pruefstand.csv").read_bytes()
ENTRY = f"{{file: p.csv, header_line: 3, units_line: 4, encoding: cp1252, columns: {COLUMNS}}}"
TITLES = "Joint 1 (deg),Joint 2 (deg),Fz [N],DX [mm],DY [mm],DZ [mm],Note\n"
PLAIN = TITLES + "".join(f"{line},ok\n" for line in TABLE.splitlines()[1:])
NAMES = '{A1: "Joint 1 (deg)", A2: "Joint 2 (deg)", fz: "Fz [N]", dx: "DX [mm]", dy: "DY [mm]", dz: "DZ [mm]"}'


@pytest.fixture
def desk(tmp_path: Path) -> ImportDesk:
    return ImportDesk(tmp_path)


def test_a_german_file_with_a_line_of_units(desk: ImportDesk) -> None:
    """cp1252, decimal commas, two lines above the titles, kN and µm: the same campaign as in plain columns."""
    read = desk.read(DEFLECTION, ENTRY, {"p.csv": GERMAN})
    native = desk.read(DEFLECTION, "native.csv", {"native.csv": TABLE})
    np.testing.assert_allclose(read.campaign.readings, native.campaign.readings, rtol=1e-15)
    setup, own = read.campaign.measurement.setup, native.campaign.measurement.setup
    np.testing.assert_array_equal(setup.q, own.q)
    np.testing.assert_allclose(setup.wrenches, own.wrenches, rtol=1e-15)
    assert read.campaign.place(1, 0) == "p.csv line 6 (B), tool.dx"


def test_units_in_titles(desk: ImportDesk) -> None:
    read = desk.read(DEFLECTION, f"{{file: p.csv, columns: {NAMES}}}", {"p.csv": PLAIN})
    native = desk.read(DEFLECTION, "native.csv", {"native.csv": TABLE})
    assert np.array_equal(read.campaign.readings, native.campaign.readings)
    assert "p.csv: not used: Note." in read.notes


def test_a_line_of_units_below_plain_names(desk: ImportDesk) -> None:
    text = TABLE.replace("_deg", "").replace("_N", "").replace("_mm", "").replace("dz\n", "dz\ndeg,deg,N,mm,mm,mm\n")
    read = desk.read(DEFLECTION, "{file: p.csv, units_line: 2}", {"p.csv": text})
    native = desk.read(DEFLECTION, "native.csv", {"native.csv": TABLE})
    assert np.array_equal(read.campaign.readings, native.campaign.readings)


@pytest.mark.parametrize(
    ("old", "new", "code", "value", "column"),
    [
        ('dx: "DX [mm]"', 'dx_m: "DX [mm]"', "unit", "DX [mm]", "table.columns.dx_m"),
        ('dx: "DX [mm]"', 'dx_mm: "DX"', "missing", "DX", "table.columns.dx_mm"),
        ('dx: "DX [mm]"', 'dx_deg: "DX [mm]"', "unit", "DX [mm]", "table.columns.dx_deg"),
        ("{file: p.csv", "{header_line: 3, file: p.csv", "missing", "Joint 1 (deg)", "table.columns.A1"),
        ("{file: p.csv", "{units_line: 3, file: p.csv", "range", 3, "table.units_line"),
    ],
)
def test_refusals(desk: ImportDesk, old: str, new: str, code: str, value: Any, column: str) -> None:
    entry = f"{{file: p.csv, columns: {NAMES}}}"
    assert old in entry
    with refused(code, value, file="campaign.yaml", line=5, column=column):
        desk.read(DEFLECTION, entry.replace(old, new, 1), {"p.csv": PLAIN})


@pytest.mark.parametrize(
    ("old", "new", "code", "value"),
    [
        ('dx: "DX [mm]"', 'du: "DX [mm]"', "unknown-column", "du_mm"),
        ('"Joint 1 (deg)"', '"Fz [N]"', "unit", ("A1_N", "N", "A1")),
        ("{file: p.csv", "{encoding: klingon, file: p.csv", "format", "klingon"),
        ("{file: p.csv", "{format: xls, file: p.csv", "unknown-format-of-tables", "xls"),
    ],
)
def test_words_that_do_not_exist(desk: ImportDesk, old: str, new: str, code: str, value: Any) -> None:
    entry = f"{{file: p.csv, columns: {NAMES}}}"
    assert old in entry
    with refused(code, value):
        desk.read(DEFLECTION, entry.replace(old, new, 1), {"p.csv": PLAIN})


def test_a_table_is_of_a_file(desk: ImportDesk) -> None:
    said = desk.refused(DEFLECTION, f"{{columns: {NAMES}}}", {"p.csv": PLAIN})
    assert "should name a file, or be such as {file: export.csv, format: csv}" in said


def test_an_unknown_unit_is_asked_for(desk: ImportDesk) -> None:
    feet = PLAIN.replace("DX [mm]", "DX [ft]")
    with refused("unit", ("dx_ft", "ft", "dx")):
        desk.read(DEFLECTION, f"{{file: p.csv, columns: {NAMES.replace('DX [mm]', 'DX [ft]')}}}", {"p.csv": feet})


def test_two_columns_of_one_title(desk: ImportDesk) -> None:
    text = PLAIN.replace("DY [mm]", "DX [mm]")
    with refused("duplicate", "DX [mm]", file="campaign.yaml", line=5, column="table.columns.dx"):
        desk.read(DEFLECTION, f"{{file: p.csv, columns: {NAMES}}}", {"p.csv": text})


def test_a_remark_is_no_header(desk: ImportDesk) -> None:
    with refused("missing", 1, file="campaign.yaml", line=5, column="table.header_line"):
        desk.read(DEFLECTION, f"{{file: p.csv, header_line: 1, columns: {NAMES}}}", {"p.csv": "# 2026\n" + PLAIN})


def test_what_is_wrong_is_told_by_the_titles_of_the_file(desk: ImportDesk) -> None:
    entry = f"{{file: p.csv, columns: {NAMES}}}"
    said = desk.refused(DEFLECTION, entry, {"p.csv": PLAIN.replace("0.4", "")})
    assert said.startswith("p.csv, line 3, column DY [mm]: an empty cell is no reading")
    said = desk.refused(DEFLECTION, entry, {"p.csv": PLAIN.replace("-3.0", "-3000")})
    assert said.startswith("p.csv, line 2, column DZ [mm]: -3000 gives a deflection of 3 m")
