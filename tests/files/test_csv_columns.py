"""Tables with titles of their own: which unit counts, what is left out, and what is said of doubtful ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from files.campaign_desk import TABLE
from files.import_desk import DEFLECTION, EXPORTS, ImportDesk

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
    ("old", "new", "said"),
    [
        ('dx: "DX [mm]"', 'dx_m: "DX [mm]"', "columns.dx_m: 'DX [mm]' is in mm, as the file says, not in m"),
        ('dx: "DX [mm]"', 'dx_mm: "DX"', "p.csv, line 1 has no column 'DX'; did you mean 'DX [mm]'? it has"),
        ('dx: "DX [mm]"', 'du: "DX [mm]"', "line 5, table.columns: there is no column 'du_mm'"),
        ('dx: "DX [mm]"', 'dx_deg: "DX [mm]"', "'DX [mm]' is in mm, as the file says, not in deg"),
        ('"Joint 1 (deg)"', '"Fz [N]"', "table.columns: column 'A1_N': unit 'N' does not fit A1; use rad, deg"),
        ("{file: p.csv", "{header_line: 3, file: p.csv", "p.csv, line 3 has no column"),
        ("{file: p.csv", "{units_line: 3, file: p.csv", "units_line: 3 must be the line below the titles of p.csv"),
        ("{file: p.csv", "{encoding: klingon, file: p.csv", "p.csv: encoding 'klingon' is not known"),
        ("{file: p.csv", "{format: xls, file: p.csv", "there is no format of tables 'xls'"),
        ("file: p.csv, ", "", "should name a file, or be such as {file: export.csv, format: csv}"),
    ],
)  # fmt: skip
def test_refusals(desk: ImportDesk, old: str, new: str, said: str) -> None:
    entry = f"{{file: p.csv, columns: {NAMES}}}"
    assert old in entry
    assert said in desk.refused(DEFLECTION, entry.replace(old, new, 1), {"p.csv": PLAIN})


def test_an_unknown_unit_is_asked_for(desk: ImportDesk) -> None:
    feet = PLAIN.replace("DX [mm]", "DX [ft]")
    said = desk.refused(DEFLECTION, f"{{file: p.csv, columns: {NAMES.replace('DX [mm]', 'DX [ft]')}}}", {"p.csv": feet})
    assert said.endswith("column 'dx_ft': unit 'ft' does not fit dx; use m, mm, um, in")


def test_two_columns_of_one_title(desk: ImportDesk) -> None:
    text = PLAIN.replace("DY [mm]", "DX [mm]")
    said = desk.refused(DEFLECTION, f"{{file: p.csv, columns: {NAMES}}}", {"p.csv": text})
    assert "2 columns 'DX [mm]'" in said


def test_a_remark_is_no_header(desk: ImportDesk) -> None:
    said = desk.refused(DEFLECTION, f"{{file: p.csv, header_line: 1, columns: {NAMES}}}", {"p.csv": "# 2026\n" + PLAIN})
    assert "table.header_line: line 1 of p.csv is empty or a remark" in said


def test_what_is_wrong_is_told_by_the_titles_of_the_file(desk: ImportDesk) -> None:
    entry = f"{{file: p.csv, columns: {NAMES}}}"
    said = desk.refused(DEFLECTION, entry, {"p.csv": PLAIN.replace("0.4", "")})
    assert said.startswith("p.csv, line 3, column DY [mm]: an empty cell is no reading")
    said = desk.refused(DEFLECTION, entry, {"p.csv": PLAIN.replace("-3.0", "-3000")})
    assert said.startswith("p.csv, line 2, column DZ [mm]: -3000 gives a deflection of 3 m")
