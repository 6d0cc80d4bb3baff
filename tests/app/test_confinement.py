"""A cell that was received writes only inside itself, whatever it says and links to; one command at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from app.cell_desk import typed, well

from elastocal.app.cells.roles import USES
from elastocal.app.cli import options as o
from elastocal.app.cli.command import declared as declared_commands
from elastocal.files.cell import CellEntry
from elastocal.files.confined import JOURNAL, part_prefix
from elastocal.files.lock import NAME

ROBOT = """\
format: elastocal-robot/1
name: arm
source: written for a test
joints:
  - {name: J, type: revolute, axis: [0, 1, 0], limits_deg: [-90, 90]}
frames:
  - {name: tip, xyz_m: [1, 0, 0]}
elements:
  - {kind: joint_compliance, joint: J, k_rad_per_Nm: 1.0e-6}
"""
POINTS = "x_mm,y_mm,marker,q_deg\n" + "".join(
    f"{1000 * c},{1000 * s},P1,{q}\n"
    for q, c, s in ((0, 1, 0), (30, 0.8660254, 0.5), (60, 0.5, 0.8660254), (90, 0, 1), (120, -0.5, 0.8660254))
)
PUSH = ("--at", "10", "--force", "0,0,-1")


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    folder = tmp_path / "received" / "cell"
    for place in ("robot", "tables"):
        (folder / place).mkdir(parents=True)
    (folder / "cell.yaml").write_text("format: elastocal-cell/1\nname: received\n")
    (folder / "robot" / "robot.yaml").write_text(ROBOT)
    (folder / "tables" / "points.csv").write_text(POINTS)
    (tmp_path / "precious").write_text("precious")
    return folder


def outside(cell: Path) -> list[str]:
    """All files but those of the cell."""
    top = cell.parent.parent
    return sorted(p.relative_to(top).as_posix() for p in top.rglob("*") if not p.is_relative_to(cell) and p.is_file())


def option(cell: Path, command: str, name: str, place: str) -> None:
    text = f"format: elastocal-cell/1\nname: received\noptions:\n  {command}: {{{name}: {place}}}\n"
    (cell / "cell.yaml").write_text(text)


@pytest.mark.parametrize("name", ["report", "csv"])
@pytest.mark.parametrize("place", ["../../{}", "../../new/{}", "{top}/{}", "tables/../../../{}", "reports/../../x.{}"])
def test_options_of_a_cell_cannot_write_elsewhere(cell: Path, name: str, place: str) -> None:
    ending = {"report": "out.html", "csv": "out.csv"}[name]
    option(cell, "arcs", name, place.format(ending, top=cell.parent.parent.as_posix()))
    said = typed("arcs", cell)
    assert said.code == 2, said.out
    assert "outside of the cell" in said.err or "does not exist" in said.err
    assert outside(cell) == ["precious"]


def targets() -> list[tuple[str, str]]:
    """Every parameter of every command on a cell that names what is written."""
    out = []
    for name, declared in ((c.name, c) for c in declared_commands()):
        if name in USES:
            marks = {p: getattr(h, "__metadata__", ()) for p, h in declared.hints.items()}
            own = [p for p, m in marks.items() if o.WRITTEN in m or o.FOLDER in m]
            out += [(name, p) for p in own if p not in USES[name].roles]
            out += [(name, p) for p in ("report", "csv") if getattr(declared, p)]
    return sorted(set(out))


@pytest.mark.parametrize(("command", "parameter"), targets())
def test_no_option_of_any_command_writes_elsewhere(cell: Path, command: str, parameter: str) -> None:
    """Many fail for want of data before they would write; none may have written, whatever it says."""
    (declared,) = declared_commands(command)
    if declared.hints.get(parameter) is not None and "Argument" in str(declared.hints[parameter]):
        pytest.skip("is typed by the user")
    option(cell, command, parameter, f"../../precious{ {'report': '.html', 'csv': '.csv'}.get(parameter, '') }")
    said = typed(command, cell, *(PUSH if command in ("deflect", "predict") else ()))
    assert said.code == 2, said.out
    assert outside(cell) == ["precious"]
    assert (cell.parent.parent / "precious").read_text() == "precious"


ROLES = ("reports", "records", "robot", "tables", "calibration", "campaign", "plan", "programs")


@pytest.mark.parametrize("folder", ["reports", "records"])
def test_links_in_a_cell_are_not_followed(cell: Path, folder: str) -> None:
    away = cell.parent.parent / "away"
    away.mkdir()
    (cell / folder).symlink_to(away, target_is_directory=True)
    said = typed("arcs", cell)
    assert said.code == 2
    assert "outside of the cell" in said.err
    assert list(away.iterdir()) == []
    (cell / folder).unlink()
    (cell / folder).mkdir()
    ending = {"reports": "arcs.html", "records": "arcs.json"}[folder]
    (cell / folder / ending).symlink_to(cell.parent.parent / "precious")
    assert typed("arcs", cell).code == 2
    assert (cell.parent.parent / "precious").read_text() == "precious"


def test_a_place_that_links_away_is_refused_for_every_role(cell: Path) -> None:
    for role, place in ((f.name, f.default) for f in CellEntry.__dataclass_fields__.values() if f.name in ROLES):
        assert not Path(str(place)).is_absolute()
        text = f"format: elastocal-cell/1\nname: x\n{role}: ../../precious\n"
        (cell / "cell.yaml").write_text(text)
        said = typed("arcs", cell)
        assert (said.code, "leads out of the cell" in said.err) == (2, True)


def test_what_the_user_types_may_go_elsewhere(cell: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = cell.parent.parent
    monkeypatch.chdir(top)
    well("arcs", cell, "--report", "mine.html", "--csv", top / "mine.csv")
    assert outside(cell) == ["mine.csv", "mine.html", "precious"]


def test_a_typed_place_within_the_cell_does_not_lead_out_by_a_link(cell: Path) -> None:
    (cell / "reports").symlink_to(cell.parent.parent, target_is_directory=True)
    assert typed("arcs", cell, "--report", cell / "reports" / "mine.html").code == 2
    assert outside(cell) == ["precious"]


def test_a_cell_behind_a_link_takes_typed_places_from_where_they_were_typed(cell: Path, monkeypatch) -> None:
    top = cell.parent.parent
    (top / "link").symlink_to(cell, target_is_directory=True)
    monkeypatch.chdir(top)
    well("arcs", "link", "--csv", "mine.csv")
    assert (top / "mine.csv").is_file()


def test_lock_and_journal_that_are_links_are_not_written_through(cell: Path) -> None:
    (cell / NAME).symlink_to(cell.parent.parent / "precious")
    said = typed("arcs", cell)
    assert (said.code, "is a link" in said.err) == (2, True)
    (cell / NAME).unlink()
    os.link(cell.parent.parent / "precious", cell / NAME)
    assert typed("arcs", cell).code == 2
    (cell / NAME).unlink()
    part = f"{part_prefix()}x.part"
    (cell / part).write_text("bad")
    (cell / JOURNAL).write_text(json.dumps({part: "../../precious", "../../precious": "mine", "/etc/x": 3}))
    well("arcs", cell)
    assert (cell.parent.parent / "precious").read_text() == "precious"
    assert not (cell / JOURNAL).exists()
    assert not (cell / part).exists()


def test_a_device_among_the_inputs_is_refused(cell: Path) -> None:
    if not Path("/dev/zero").exists():
        pytest.skip("no devices here")
    (cell / "tables" / "points.csv").unlink()
    (cell / "tables" / "points.csv").symlink_to("/dev/zero")
    said = typed("arcs", cell)
    assert (said.code, "is a device or a pipe" in said.err) == (2, True)
    (cell / "tables" / "points.csv").unlink()
    os.mkfifo(cell / "tables" / "points.csv")
    assert typed("arcs", cell).code == 2


def test_what_a_killed_run_left_is_finished_or_removed(cell: Path) -> None:
    well("arcs", cell)
    report, part = cell / "reports" / "arcs.html", f"reports/{part_prefix()}one.part"
    (cell / part).write_text("new")
    (cell / f"reports/{part_prefix()}two.part").write_text("half")
    (cell / JOURNAL).write_text(json.dumps({part: "reports/other.html"}))
    os.utime(report, (1, 1))
    well("arcs", cell)
    assert (cell / "reports" / "other.html").read_text() == "new"
    assert list(cell.rglob(".elastocal*")) == []


HOLD = """\
import sys, time
from pathlib import Path
from elastocal.files.lock import locked
with locked(Path(sys.argv[1]), "plan x", print):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_two_commands_on_a_cell_wait_for_each_other(cell: Path) -> None:
    pipe = subprocess.PIPE
    first, words = [sys.executable, "-c", HOLD, str(cell)], [sys.executable, "-m", "elastocal", "arcs", str(cell)]
    with subprocess.Popen(first, stdin=pipe, stdout=pipe, text=True) as held:
        assert held.stdout is not None
        assert held.stdout.readline() == "held\n"
        with subprocess.Popen(words, stderr=pipe, stdout=subprocess.DEVNULL, text=True) as second:
            assert second.stderr is not None
            said = second.stderr.readline()
            assert said.startswith("elastocal: waiting for 'elastocal plan x' (process ")
            assert f"process {held.pid} on " in said
            assert second.poll() is None
            assert not (cell / "reports").exists()
            held.kill()  # a killed owner holds nothing
            held.wait()
            assert second.wait(60) == 0
    assert (cell / "reports" / "arcs.html").is_file()
    assert not (cell / NAME).exists()
