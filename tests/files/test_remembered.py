"""What titles of tables mean, recognised, said once and remembered; and wrong files of it in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle.refusals import refused

from elastocal.files.campaign.observed import observed_tables
from elastocal.files.campaign.recognise import NO_UNIT, UNKNOWN, recognise
from elastocal.files.robot.read import read_robot
from elastocal.files.tables.csv_file import as_written, read_csv
from elastocal.files.tables.excel import excel_bytes
from elastocal.files.tables.remembered import with_layout

# a tracker export as a German spreadsheet saves it: remarks above, semicolons, decimal commas, byte order mark
EXPORT = """Tracker export\nDatum;17.11.2026
Punkt;Achse 1;Achse 2;Achse 3;Achse 4;Achse 5;Achse 6;X Ist [mm];Y Ist [mm];Z Ist [mm];RMS
P1;10,0;-60,0;70,0;5,0;40,0;0,0;2214,742;640,753;1184,952;0,010
P2;-20,0;-70,0;80,0;5,0;50,0;10,0;2241,385;607,766;1322,067;0,012
P3;30,0;-80,0;90,0;-5,0;60,0;20,0;1372,232;319,669;2958,660;0,009
"""
AXES = {f"A{i}_deg": f"Achse {i}" for i in range(1, 7)}
PLACE = {f"{c}_mm": f"{c.upper()} Ist [mm]" for c in "xyz"}
TOLD = {"name": "Punkt", **AXES, **PLACE}


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    (tmp_path / "cell.yaml").write_text("format: elastocal-cell/1\nname: cell\n")
    (tmp_path / "campaign").mkdir()
    return tmp_path


def export(folder: Path, name: str = "export.csv", text: str = EXPORT) -> Path:
    (folder / name).write_text(text, encoding="utf-8-sig")
    return folder / name


def test_guesses_are_proposals_and_nothing_is_refused(tmp_path: Path) -> None:
    found = recognise(export(tmp_path), read_robot("kuka-kr270"))
    assert found.header_line == 3
    assert not found.missing
    assert not found.sure
    assert found.proposal == {k: v for k, v in TOLD.items() if k not in PLACE}
    assert {c.doubt for c in found.columns} == {UNKNOWN, NO_UNIT, ""}
    told = recognise(export(tmp_path), read_robot("kuka-kr270"), told=TOLD)
    assert told.sure
    assert [(c.name, c.unit) for c in told.columns][:2] == [("name", ""), ("A1", "deg")]
    assert [(c.name, c.unit) for c in told.columns][-2:] == [("z", "mm"), ("", "")]


def test_a_column_without_unit_is_known_and_in_doubt(tmp_path: Path) -> None:
    file = export(tmp_path, text="A1,A2,A3,A4,A5,A6,x,y,z\n0.1,0,0,0,0,0,1.2,0.1,0.5\n")
    robot = read_robot("kuka-kr270")
    found = recognise(file, robot)
    assert {(c.name, c.doubt) for c in found.columns if c.name == "x"} == {("x", NO_UNIT)}
    assert not found.missing
    assert found.proposal["A1_rad"] == "A1"
    assert found.proposal["x_m"] == "x"
    stated = recognise(file, robot, units={"length": "m", "angle": "rad"})
    assert stated.sure
    assert {c.by for c in stated.columns} == {"declared unit"}


def test_positions_with_no_words_of_their_own_are_no_readings(tmp_path: Path) -> None:
    file = export(tmp_path, text="actual_q_0,actual_q_5,target_q_0,X nominal,Pos X,X sigma\n3.5,-7,1,1000,1001,0.02\n")
    guesses = [c.guess for c in recognise(file, read_robot("kuka-kr270")).columns]
    assert guesses == ["A1_deg", "A6_deg", "", "", "x_mm", ""]


def test_units_that_are_stated_otherwise_than_remembered_are_refused(tmp_path: Path) -> None:
    text = "A1,A2,A3,A4,A5,A6,x,y,z [mm]\n10,-60,70,5,40,0,1200,100,500\n20,-70,80,5,50,9,1100,100,500\n"
    file, robot = export(tmp_path, text=text), "kuka-kr270"
    names = {**{f"A{i}_deg": f"A{i}" for i in range(1, 7)}, "x_mm": "x", "y_mm": "y", "z_mm": "z [mm]"}
    (tmp_path / "columns.yaml").write_text(with_layout(tmp_path / "columns.yaml", names, {}), encoding="utf-8")
    for units, title in (({"length": "m", "angle": "deg"}, "x"), ({"length": "mm", "angle": "rad"}, "A1")):
        stated = units["length" if title == "x" else "angle"]
        with refused("conflict", stated, file="export.csv", column=title, parameter="units"):
            observed_tables([file], robot, {"units": units})
    anew = recognise(file, read_robot(robot), units={"length": "m"})
    assert [(c.name, c.unit) for c in anew.columns if c.name in "A1xz"] == [
        ("A1", "deg"), ("x", "m"), ("z", "mm")
    ]  # fmt: skip
    same = observed_tables([file], robot, {"units": {"length": "mm", "angle": "deg"}})
    assert same.readings.read["position"][0, 0] == pytest.approx([1.2, 0.1, 0.5])
    assert observed_tables([file], robot, {}).readings.read["position"][0, 0] == pytest.approx([1.2, 0.1, 0.5])


def test_what_is_remembered_serves_the_next_export(cell: Path) -> None:
    first = export(cell / "campaign")
    assert read_csv(first).header_line == 3
    assert read_csv(first).notes == ("export.csv: the titles are taken to stand in line 3; what is above is not used.",)
    (cell / "columns.yaml").write_text(with_layout(cell / "columns.yaml", TOLD, {"header_line": 3}), encoding="utf-8")
    raw = read_csv(export(cell / "campaign", "second.csv"))
    assert raw.header == (*TOLD, "RMS")
    assert raw.origin(1).title == "Achse 1"
    assert any("by columns.yaml: Punkt is name, Achse 1 is A1_deg" in note for note in raw.notes)
    read = observed_tables([first], "kuka-kr270", {})
    assert [round(v, 3) for v in read.readings.read["position"][0, 0]] == [2.215, 0.641, 1.185]
    assert cell / "columns.yaml" in read.files
    assert as_written(first, header_line=3).header[1] == "Achse 1"


def test_another_table_and_one_outside_are_left_alone(cell: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (cell / "columns.yaml").write_text(with_layout(cell / "columns.yaml", {"x_mm": "X pos"}, {}))
    assert read_csv(export(cell, text="X,Y\n1,2\n")).header == ("X", "Y")
    other = tmp_path_factory.mktemp("elsewhere")
    assert read_csv(export(other, text="X pos,Y\n1,2\n")).header == ("X pos", "Y")
    assert read_csv(export(cell, text="X pos,Y\n1,2\n")).header == ("x_mm", "Y")


def test_excel_is_read_by_it_too(cell: Path) -> None:
    book = cell / "campaign" / "a.xlsx"
    book.write_bytes(excel_bytes(["X pos", "A1_deg"], [[10, 12.5]]))
    (cell / "columns.yaml").write_text(with_layout(cell / "columns.yaml", {"x_mm": "X pos"}, {}))
    assert read_csv(book).header == ("x_mm", "A1_deg")


def test_the_same_titles_replace_what_was_said_of_them(cell: Path) -> None:
    file = cell / "columns.yaml"
    file.write_text(with_layout(file, {"x_m": "X pos"}, {}))
    file.write_text(with_layout(file, {"y_mm": "Y pos"}, {"header_line": 2}))
    file.write_text(with_layout(file, {"x_mm": "X pos"}, {}))
    assert read_csv(export(cell, text="X pos\n1\n")).header == ("x_mm",)
    assert "x_m:" not in file.read_text()
    assert read_csv(export(cell, text="remark\nY pos,Z\n1,2\n")).header == ("y_mm", "Z")


@pytest.mark.parametrize(
    ("text", "code", "value", "line", "column"),
    [
        ("tables: []\n", "missing", "format", None, None),
        ("format: elastocal-columns/1\ntables: [{length: mm}]\n", "input", {"length": "mm"}, 2, "tables[1]"),
        (
            "format: elastocal-columns/1\ntables: [{columns: {x_mm: X}, length: mm}]\n",
            "input",
            "mm",
            2,
            "tables[1].length",
        ),
        ("format: elastocal-columns/1\ntables: [{columns: {y_mm: X}}]\n", "column-twice", "y_mm", None, None),
    ],
)
def test_a_wrong_file_in_one_sentence(
    cell: Path, text: str, code: str, value: str | None, line: int | None, column: str | None
) -> None:
    (cell / "columns.yaml").write_text(text)
    with refused(code, value, line=line, column=column):
        read_csv(export(cell, text="X,y_mm\n1,2\n"))


def test_a_title_that_is_not_there_is_named(tmp_path: Path) -> None:
    with refused("missing-column", "Achse 7", file="export.csv") as error:
        recognise(export(tmp_path), read_robot("kuka-kr270"), told={"A1_deg": "Achse 7"})
    assert error.value.value == "Achse 7"


@pytest.mark.parametrize(("length", "angle"), [("mm", "deg"), ("m", "rad")])
def test_declared_units_are_told_by_what_a_column_is_of(tmp_path: Path, length: str, angle: str) -> None:
    """A slide and a deflection are lengths, a joint that turns is an angle."""
    table = tmp_path / "bare.csv"
    table.write_text("q1,q2,q3,fz_N,dx,dy,dz\n1,2,3,900,0.1,0.2,0.3\n", encoding="utf-8")
    found = recognise(table, read_robot("cylindrical"), units={"length": length, "angle": angle})
    assert [c.unit for c in found.columns] == [length, angle, length, "N", length, length, length]
