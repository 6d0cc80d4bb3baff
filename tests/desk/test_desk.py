"""A cell at the desk: made, judged and worked on from Python; files that are changed whole, or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from oracle.refusals import refused

import elastocal as ec
from elastocal.errors import InputError, NumberError, RangeError

STEPS = (["plan", "--restarts", "1"], ["simulate"], ["calibrate"])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cells") / "one"
    ec.desk.new(str(out), "cylindrical")
    for command, *options in STEPS:
        assert ec.desk.run([command, str(out), *options]) == 0
    return out


def marks(folder: Path) -> dict[str, str]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_a_cell_says_what_is_next(tmp_path: Path) -> None:
    made = ec.desk.new(tmp_path / "cell", "cylindrical")
    assert made.assumptions
    found = ec.desk.status(str(tmp_path / "cell"))
    assert {line.step: line.state for line in found.lines}["plan"] == "not run yet"
    assert "plan" in found.next_step
    with refused("not-empty", file="cell"):
        ec.desk.new(tmp_path / "cell", "cylindrical")
    assert ec.desk.run(["calibrate", str(tmp_path / "cell")]) == 2


def test_progress_is_heard(place: Path) -> None:
    heard: list[str] = []
    assert ec.desk.run(["calibrate", str(place)], lambda done, total, stage="": heard.append(stage)) == 0
    assert any(heard)


def test_columns_and_readings_of_a_cell(place: Path) -> None:
    cell = ec.desk.read_cell(str(place))
    _, readings = ec.read_campaign(cell.path("campaign"))
    shown = ec.desk.readings.read_table(cell, cell.path("campaign"))
    found = ec.desk.columns(cell.path("robot"), cell.path("campaign").parent / shown.file).recognised
    assert shown.problem == ""
    assert found.rows == shown.count >= readings.count
    assert [c.name for c in shown.columns] == [c.name for c in found.columns]
    (cell.root / "bad.yaml").write_text("table: none.csv\n", encoding="utf-8")
    assert "none.csv" in ec.desk.readings.read_table(cell, cell.root / "bad.yaml").problem


def test_what_a_check_refuses_is_not_written(place: Path) -> None:
    cell, before = ec.desk.read_cell(place), marks(place)

    def refuse(path: Path) -> None:
        assert path.read_text(encoding="utf-8") == "new"
        raise InputError(f"{path}: no", code="no", file=str(path))

    with pytest.raises(InputError) as refused:
        ec.desk.files.edit(cell, Path("cell.yaml"), "new", refuse)
    assert str(refused.value) == "cell.yaml: no"
    assert marks(place) == before
    for wrong in ({"tolerance_mm": "wide"}, {"date": "soon"}, {"tolerance_mm": "-1"}):
        with pytest.raises(InputError):
            ec.desk.cell.certify(cell, wrong)
        assert marks(place) == before
    with pytest.raises(InputError) as outside:
        ec.desk.files.write(cell, {Path("..") / "escaped.txt": "x"})
    assert outside.value.code == "outside"
    assert not (place.parent / "escaped.txt").exists()


def test_a_statement_for_the_certificate_keeps_all_else(place: Path) -> None:
    cell = ec.desk.read_cell(place)
    text = (place / "cell.yaml").read_text(encoding="utf-8")
    ec.desk.cell.certify(cell, {"tolerance_mm": "0,25", "operator": " A. Meier "})
    again = ec.desk.read_cell(place)
    assert (again.certificate.tolerance, again.certificate.operator) == (pytest.approx(0.25e-3), "A. Meier")
    assert ec.desk.cell.stated(again)["operator"] == "A. Meier"
    ec.desk.cell.certify(again, {})
    assert (place / "cell.yaml").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("text", "kind"),
    [("", NumberError), ("nan", NumberError), ("1e99", NumberError), ("0", RangeError), ("9", RangeError)],
)
def test_a_number_that_is_none_is_refused(text: str, kind: type[InputError]) -> None:
    assert ec.desk.files.number(" 2,5 ", "mass", 0, 9, "kg") == 2.5
    with pytest.raises(kind) as refused:
        ec.desk.files.number(text, "mass", 0, 9, "kg")
    assert refused.value.value == text


def test_practice_leaves_the_cell_as_it_is_and_ends_when_told(place: Path) -> None:
    before, count = marks(place), [0]
    ec.desk.work.practise(lambda: count.__setitem__(0, count[0] + 1), place)
    assert count[0] > len(ec.desk.work.COMMANDS)
    assert marks(place) == before

    class Called(Exception):
        pass

    def stop() -> None:
        if count[0] <= 0:
            raise Called
        count[0] -= 1

    count[0] = len(ec.desk.work.COMMANDS) + 1
    with pytest.raises(Called):
        ec.desk.work.practise(stop, place)
    assert marks(place) == before
