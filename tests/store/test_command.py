"""``elastocal history``: from cells to a released calibration, as somebody types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from store.readings import calibrated, loaded_readings
from typer.testing import CliRunner, Result

import elastocal as ec
from elastocal.app.cli.main import app
from elastocal.errors import InputError

CELL = """format: elastocal-cell/1
name: cell-7
certificate: {operator: M. Meier, date: 2025-03-01, temperature_C: 21.5}
"""


@pytest.fixture
def desk(tmp_path: Path, cals: tuple[ec.Calibration, ...], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cell with a calibration, two more files, and the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ELASTOCAL_STORE", raising=False)
    (tmp_path / "c" / "calibration").mkdir(parents=True)
    (tmp_path / "c" / "cell.yaml").write_text(CELL)
    cals[0].save(tmp_path / "c" / "calibration" / "calibration.json")
    cals[1].save(tmp_path / "two.json")
    cals[3].save(tmp_path / "four.json")
    return tmp_path


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["history", *map(str, words)], catch_exceptions=True)


def good(*words: object) -> str:
    result = run(*words)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_a_certificate_comes_with_a_release_and_is_written_again(desk: Path) -> None:
    good("import", "c")
    words = ["release", "cell-7", "--name", "2026", "--reason", "service", "--who", "K. Kurz"]
    assert isinstance(run(*words, "--validate", "c/x.csv").exception, InputError)  # means nothing without a certificate
    good(*words, "--certificate", "c")
    good("show", "cell-7", 2, "--out", "c.html")
    page = (desk / "c.html").read_text(encoding="utf-8")
    for word in ("NOT DECIDED", "M. Meier", "K. Kurz", "21.5"):  # no validation poses; stated by cell and release
        assert word in page
    good("show", "cell-7", "--out", "c.pdf")
    assert (desk / "c.pdf").read_bytes().startswith(b"%PDF-")


def test_the_whole_way(desk: Path) -> None:
    assert "Recorded as number 1 of cell-7" in good("import", "c", "--reason", "yearly")
    assert "there already, as number 1; nothing was added" in good("import", "c")
    good("import", "two.json", "--robot", "cell-7", "--date", "2026-03-01", "--who", "K. Kurz")
    good("import", "four.json", "--robot", "cell-7", "--date", "2026-09-01")
    said = good(
        "release", "cell-7", 2, "--name", "2026", "--reason", "service", "--who", "K. Kurz", "--due", "2020-01-01"
    )
    assert "Calibration 2 of cell-7 is released as '2026'" in said
    shown = good("show", "cell-7", "--report", "h.html", "--csv", "h.csv")
    assert "Released is calibration 2 as '2026' (service; K. Kurz" in shown
    assert "OVERDUE" in shown
    assert "21.5" in shown
    page = (desk / "h.html").read_text()
    assert "The unloaded tool is at the same places at all 24 fixed poses" in page
    assert "M. Meier" in page
    assert len((desk / "h.csv").read_text().splitlines()) == 5
    good("show", "cell-7", "--out", "out.json")
    assert (desk / "out.json").read_bytes() == (desk / "two.json").read_bytes()
    assert "DIFFERS" in good("compare", "cell-7", 2, 3)
    assert "is withdrawn" in good("withdraw", "cell-7", 3, "--reason", "wrong tool", "--who", "K. Kurz")
    late = run("due")
    assert late.exit_code == 1
    assert "2020-01-01" in late.output
    data = json.loads(run("list", "--json").stdout)
    assert [r["robot"] for r in data["robots"]] == ["cell-7"]
    assert data["robots"][0]["entries"] == 5
    assert "Every entry is as it was recorded" in good("verify")


def test_a_cell_tells_who_when_and_how_warm(desk: Path) -> None:
    good("import", "c")
    with ec.history("history.db") as histories:
        (entry,) = histories["cell-7"].entries
        assert (entry.who, entry.time, entry.temperature) == ("M. Meier", "2025-03-01T00:00:00Z", 21.5)
        assert any("no record of the run" in n for n in entry.notes)
        assert (
            histories.content(entry.inputs["calibration.json"])
            == (desk / "c/calibration/calibration.json").read_bytes()
        )


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("lst",), "unknown-action"),
        (("import", "two.json"), "no-robot"),
        (("show", "cell-8"), "unknown-robot"),
        (("show", "cell-7", "one"), "number"),
        (("show", "cell-7", "9"), "unknown-number"),
        (("show", "cell-7", "--name", "x"), "option"),
        (("release", "cell-7", "--name", "x", "--who", "y"), "missing"),
        (("compare", "cell-7", "1"), "items"),
        (("list", "--store", "none.db"), "no-store"),
        (("import", "none"), "no-file"),
    ],
)
def test_wrong_words_get_one_sentence(desk: Path, words: tuple[str, ...], code: str) -> None:
    good("import", "c")
    error = run(*words).exception
    assert isinstance(error, InputError)
    assert error.code == code
    assert len(ec.history("history.db")["cell-7"].entries) == 1


def test_without_the_extra_one_sentence_names_it(desk: Path) -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; sys.argv = ['elastocal', 'history']\n"
        "from elastocal.app.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        'elastocal: the history of robots needs a database library; pip install "elastocal[fleet]"\n'
    )


def test_a_record_that_names_files_outside_of_its_cell_keeps_none_of_them(desk: Path) -> None:
    import hashlib

    secret = desk / "secret.txt"
    secret.write_text("secret")
    cal = desk / "c" / "calibration" / "calibration.json"
    marks = {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in (secret, cal)}
    (desk / "c" / "records").mkdir()
    record = {
        "format": "elastocal-record/1", "command": ["calibrate"], "cell": {}, "seed": None,
        "inputs": {"../secret.txt": marks[secret]}, "outputs": {"calibration/calibration.json": marks[cal]},
        "versions": {"elastocal": "0.1.0"}, "time": "2025-03-01T00:00:00Z",
    }  # fmt: skip
    (desk / "c" / "records" / "calibrate.json").write_text(json.dumps(record))
    good("import", "c")
    with ec.history("history.db") as histories:
        (entry,) = histories["cell-7"].entries
        assert list(entry.inputs) == ["calibration.json"]
        assert "../secret.txt lies outside of the cell" in entry.notes[0]


def test_drift_is_an_alarm_in_the_terminal(desk: Path) -> None:
    """A joint that becomes softer and softer."""
    with ec.history("history.db") as histories:
        for i in range(6):
            cal = calibrated(20 + i, 1.2e-7 + 4e-8 * max(0, i - 2))
            histories.add("cell-9", cal, time=f"2020-0{i + 1}-01")
        assert [a.data["chart"] for a in histories["cell-9"].alarms] == ["q1.k"]
    assert "WARNING DRIFT: cell-9: parameter q1.k" in good("list")
    good("release", "cell-9", "--name", "n", "--reason", "softer, and seen", "--who", "Meier")
    assert "DRIFT" not in good("list")


def test_a_check_takes_the_units_of_a_table_that_tells_none(desk: Path, cals: tuple[ec.Calibration, ...]) -> None:
    read, robot = loaded_readings(7), cals[0].robot
    assert read.deflection is not None
    assert read.wrench is not None
    scale = np.array([180 / np.pi if m.kind == "revolute" else 1e3 for m in robot.motions])
    numbers = np.hstack([read.q * scale, read.wrench[:, :3], 1e3 * read.deflection[:, 0]])
    titles = [*robot.controller.axes, "fx_N", "fy_N", "fz_N", "dx", "dy", "dz"]
    rows = [",".join(titles), *(",".join(map(repr, row)) for row in numbers.tolist())]
    (desk / "later.csv").write_text("\n".join(rows) + "\n")
    good("import", "c")
    assert isinstance(run("check", "cell-7", "later.csv").exception, InputError)
    good("check", "cell-7", "later.csv", "--units", "mm,deg")
    with ec.history("history.db") as histories:
        checked = histories["cell-7"].entries[-1].check
    assert checked is not None
    assert checked.after.mean == pytest.approx(cals[0].validate(read).after.mean, rel=1e-9)
    assert isinstance(run("list", "--units", "mm,deg").exception, InputError)
