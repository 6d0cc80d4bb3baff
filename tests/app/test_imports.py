"""Commands read files of other programs: the same calibration, and notes on what was assumed in all renderings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from oracle.exports import EXPORTS

SA_ARC = """\
// Working Frame: A2
// Units: mm
// Group  Point  X  Y  Z
Arc P1_1 -31.84 183.86 0.0
Arc P1_2 -118.44 143.42 0.0
Arc P1_3 -173.30 65.12 0.0
Arc P1_4 -181.76 -30.14 0.0
Arc P1_5 -142.51 -117.31 0.0
"""
ARC = 'format: elastocal-table/1\ntable: {file: arc.txt, format: spatial-analyzer, points: "{marker}_{pose}"}\n'
FRAME = "arc.txt: coordinates are of the working frame (its line 1 says 'Working Frame: A2')."


def values(path: Path) -> dict[str, object]:
    """The calibration without the marks of the files that it was made from."""
    found = json.loads(path.read_text())
    assert found.pop("inputs")
    return found


@pytest.mark.parametrize("kind", EXPORTS)
def test_the_calibration_is_that_of_the_native_table(run, tmp_path, kind):
    export = EXPORTS[kind]()
    for path, name in ((export.write(tmp_path), "other"), (export.write_native(tmp_path), "native")):
        result = run("calibrate", path, "--out", tmp_path / f"{name}.json")
        assert result.code == 0, result.err
    other, native = values(tmp_path / "other.json"), values(tmp_path / "native.json")
    assert json.dumps(other) == json.dumps(native)
    assert len(json.dumps(other)) > 10_000
    marks = json.loads((tmp_path / "other.json").read_text())["inputs"]
    assert set(marks) == {"campaign.yaml", *export.files}


def test_notes_are_in_text_report_and_json(run, tmp_path):
    export = EXPORTS["robodk"]()
    path = export.write(tmp_path)
    said = run("assess", path, "--report", tmp_path / "report.html")
    assert said.code == 0, said.err
    answer = run("assess", path, "--json").data
    page = (tmp_path / "report.html").read_text()
    for note in export.said:
        assert note in answer["notes"]
        assert note in " ".join(said.out.split())
        assert note.replace("'", "&#39;") in page


def test_arcs_of_an_export(run, tmp_path):
    """The same points in a table of Elastocal's own give the same numbers."""
    (tmp_path / "arc.txt").write_text(SA_ARC)
    (tmp_path / "arc.yaml").write_text(ARC)
    rows = [line.split() for line in SA_ARC.splitlines()[3:]]
    native = "".join(f"{name.replace('_', ',')},{x},{y},{z}\n" for _, name, x, y, z in rows)
    (tmp_path / "arc.csv").write_text(f"marker,pose,x_mm,y_mm,z_mm\n{native}")
    other, own = (run("arcs", tmp_path / f"arc.{e}", "--json").data for e in ("yaml", "csv"))
    assert other["arcs"] == own["arcs"]
    assert abs(other["arcs"][0]["radius_mm"] - 185.8) < 1
    assert FRAME in other["notes"]
    assert not any("arc.csv" in n for n in own["notes"])


def test_iso9283_of_a_spreadsheet(run, tmp_path):
    text = "Pose;Soll X [mm];Soll Y [mm];Soll Z [mm];Ist X;Ist Y;Ist Z;Temp\n;;;;mm;mm;mm;C\n"
    text += "".join(f"P1;1000;0;500;{1000.1 + d};{d};499,9;20\n".replace(".", ",") for d in (0.0, 0.02, -0.01))
    (tmp_path / "ist.csv").write_text(text)
    columns = "pose: Pose, " + ", ".join(f"command_{c.lower()}: 'Soll {c} [mm]', {c.lower()}: Ist {c}" for c in "XYZ")
    path = tmp_path / "ist.yaml"
    path.write_text(f"format: elastocal-table/1\ntable: {{file: ist.csv, units_line: 2, columns: {{{columns}}}}}\n")
    answer = run("iso9283", path, "--json").data
    mean = (0.0 + 0.02 - 0.01) / 3
    want = ((0.1 + mean) ** 2 + mean**2 + 0.1**2) ** 0.5
    assert abs(answer["poses"][0]["AP_mm"] - want) < 1e-9
    assert "ist.csv: not used: Temp." in answer["notes"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("format: elastocal-campaign/1\ntable: a.csv\n", "this is a campaign file (elastocal-campaign/1); a file"),
        ("format: elastocal-table/1\n", "'table' is missing; add it"),
        ("format: elastocal-table/1\ntable: {file: arc.txt, format: robodk}\n", "joint values, which need a robot"),
    ],
)  # fmt: skip
def test_a_table_file_that_cannot_be_used(run, tmp_path, text, said):
    (tmp_path / "arc.txt").write_text(SA_ARC)
    (tmp_path / "arc.yaml").write_text(text)
    result = run("arcs", tmp_path / "arc.yaml")
    assert result.code == 2
    assert said in " ".join(result.err.split())
